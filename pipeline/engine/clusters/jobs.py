"""Watch the batch jobs of workers, and keep the refusals that dask-jobqueue drops in its event loop."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pipeline.errors import ClusterError

__all__ = ["Jobs", "refuse_odd_path"]

_PLAIN_PATH = re.compile(r"[\w./+,:=@~-]+", re.ASCII)


class Jobs:
    """The jobs of a cluster's workers: submitted, accepted, refused.

    Names are added and removed in the cluster's event loop, and only counted elsewhere.
    """

    def __init__(self) -> None:
        self._submitting: set[str] = set()
        self._accepted: set[str] = set()
        self._refused: dict[str, str] = {}

    def watch(self, job_class: type[Any]) -> type[Any]:
        """Return a subclass of this class of jobs that records what happens to each job."""
        jobs = self

        class WatchedJob(job_class):  # type: ignore[misc]
            status: Any

            async def start(self) -> None:
                name = str(self.name)
                jobs._submitting.add(name)
                try:
                    await super().start()
                except Exception as error:  # whatever it is: raised here it would be dropped, and hinder the cluster's close
                    jobs._refused[name] = _words(error)
                    self.status = type(self.status).running
                else:
                    jobs._accepted.add(name)
                    jobs._refused.pop(name, None)
                finally:
                    jobs._submitting.discard(name)

            async def close(self) -> None:
                jobs._accepted.discard(str(self.name))
                await super().close()

        return WatchedJob

    @property
    def refusal(self) -> str:
        """The message of the batch system on the job that it refused last, or nothing."""
        return next(reversed(list(self._refused.values())), "")

    @property
    def hopeless(self) -> bool:
        """Every job was refused, so that no worker can come."""
        return bool(self._refused) and not self._submitting and not self._accepted

    def retry(self, cluster: Any) -> None:
        """Let the cluster's next `scale` submit the refused jobs once more."""

        def forget() -> None:
            for name in self._refused:
                cluster.workers.pop(name, None)

        if self._refused:
            cluster.loop.add_callback(forget)


def _words(error: Exception) -> str:
    """Return what a submission command printed to its standard error, else what went wrong."""
    if isinstance(error, FileNotFoundError):
        return f"there is no command `{error.filename}` here" if error.filename else str(error)
    _, _, printed = str(error).partition("\nstderr:\n")
    lines = [line.strip() for line in (printed.strip() or str(error)).splitlines()]
    return "; ".join(line for line in lines if line)


def refuse_odd_path(logs: Path, profile: str) -> None:
    """Refuse a folder of logs that job scripts, which name it as it is, would take for something else.

    Raises
    ------
    ClusterError
        P611 the path has a blank, a quote or another character that means something to a shell or a batch system.
    """
    if not _PLAIN_PATH.fullmatch(str(logs)):
        raise ClusterError.of(
            "P611",
            f"jobs of a batch system cannot write their logs to {str(logs)!r}: only letters, digits and ./+,:=@~_- are safe there",
            where=profile,
            help="name another folder with --runs, or say `options: {log_directory: …}` in the profile",
        )
