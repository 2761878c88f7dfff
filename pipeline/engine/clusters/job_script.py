"""Show what a profile would start, without starting it: the script of its batch jobs, or the class and its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pipeline.engine.clusters.batch import batch_options
from pipeline.engine.clusters.cluster import fewest_workers, find_class
from pipeline.engine.clusters.jobs import refuse_odd_path
from pipeline.store.files import scratch_directory
from pipeline.study.profile import ClusterProfile

__all__ = ["describe_start"]

ADDRESS = "tls://SCHEDULER:PORT"
"""In place of an address, which is known only once there is a scheduler."""

_OF_CLUSTER = {
    "asynchronous",
    "dashboard_address",
    "host",
    "job_cls",
    "loop",
    "n_workers",
    "name",
    "protocol",
    "scheduler_cls",
    "scheduler_options",
    "security",
    "shared_temp_directory",
    "silence_logs",
}
"""Arguments of a cluster of jobs that are none of a job."""


class _Certificates:
    """Stands for the certificates that a run makes and removes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get_tls_config_for_role(self, role: str) -> dict[str, str]:
        """Return the paths at which a role would find them."""
        certificate, key = f"{self._folder}/CERTIFICATE.pem", f"{self._folder}/KEY.pem"
        return {"ca_file": certificate, "cert": certificate, "key": key}


def describe_start(profile: ClusterProfile, workers: int | None, logs: Path, configured: Callable[[str, Any], Any]) -> str:
    """Return a description of what would be started, and start nothing.

    Parameters
    ----------
    profile : ClusterProfile
        Which class, with which options.
    workers : int, optional
        How many.
    logs : Path
        The folder of the run's logs.
    configured : callable
        Gives what the configuration of Dask has under a name, or else the second argument.

    Raises
    ------
    ClusterError
        P604 the profile's class cannot be imported, or is none; P611 its jobs cannot write logs there.
    """
    if profile.cluster is None:
        return f"cluster {profile.name}: the scheduler at {profile.address or profile.scheduler_file}; nothing is started"
    factory, kind = find_class(profile)
    number = f"adapt: {dict(profile.adapt)}" if profile.adapt else f"{workers or fewest_workers(profile) or 'one a core'}"
    head = f"cluster {profile.name}: {profile.cluster}, workers: {number}"
    if kind != "batch":
        return "\n".join([head, *_lines(profile.options)])
    if "log_directory" not in profile.options:
        refuse_odd_path(logs, profile.name)
    options = batch_options(factory, profile.options, profile.environment, logs, configured)
    return f"{head}; each job is\n\n{_script(options.get('job_cls') or factory.job_cls, options, logs)}"


def _script(job_class: Any, options: Mapping[str, Any], logs: Path) -> str:
    of_job = {key: value for key, value in options.items() if key not in _OF_CLUSTER}
    with scratch_directory("script") as place:
        if "log_directory" in of_job:
            of_job["log_directory"] = str(place)  # a job makes that folder as soon as it is thought of
        certificates = _Certificates(logs / "PRIVATE")
        job = job_class(ADDRESS, "dask-worker", **of_job, protocol="tls://", security=certificates)
        return str(job.job_script()).strip().replace(str(place), str(options.get("log_directory")))


def _lines(options: Mapping[str, Any], indent: int = 2) -> list[str]:
    """Return options as the lines of a YAML file, with nothing that would be a secret."""
    lines: list[str] = []
    for key, value in options.items():
        secret = any(word in key.lower() for word in ("password", "token", "secret"))
        if isinstance(value, Mapping):
            lines += [f"{' ' * indent}{key}:", *_lines(value, indent + 2)]
        else:
            lines.append(f"{' ' * indent}{key}: {'(not shown)' if secret else value}")
    return lines
