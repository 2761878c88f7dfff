"""The paths of a run's files, and how runs are found again; nothing here knows the content."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from pipeline.dataclass import dataclass
from pipeline.errors import Problem, RunNotFound, StoreError
from pipeline.store.files import other_owner, store_error
from pipeline.store.seals import read_sealed

__all__ = ["RunDirectory", "Store", "find_run", "list_runs"]

STORE_NAME = ".store"


@dataclass(frozen=True)
class Store:
    """The shared, content-addressed results below ``runs/.store``."""

    root: Path

    def path(self, kind: str, key: str, suffix: str) -> Path:
        """Return where a result of this kind and key lives."""
        return self.root / kind / key[:2] / f"{key}{suffix}"

    def relative(self, path: Path) -> str:
        """Return a path as receipts name it."""
        return path.relative_to(self.root).as_posix()


@dataclass(frozen=True)
class RunDirectory:
    """One run's directory."""

    root: Path

    @property
    def id(self) -> str:
        """The run's id: its directory's name."""
        return self.root.name

    @property
    def store(self) -> Store:
        """The store this run shares with its neighbours."""
        return Store(self.root.parent / STORE_NAME)

    @property
    def plan(self) -> Path:
        """The resolved study and the inputs that were found."""
        return self.root / "plan.json"

    @property
    def study(self) -> Path:
        """The study file as it was."""
        return self.root / "study.yaml"

    @property
    def origin(self) -> Path:
        """Where the study file came from: with it and `study.yaml` the plan can be made again."""
        return self.root / "origin.json"

    @property
    def versions(self) -> Path:
        """The versions of packages that a run was made with, where an earlier version of this package wrote it."""
        return self.root / "versions.json"

    @property
    def launch(self) -> Path:
        """Where and with how many workers it runs: no part of what it computes."""
        return self.root / "launch.json"

    @property
    def state(self) -> Path:
        """Its current state."""
        return self.root / "state.json"

    @property
    def ledger(self) -> Path:
        """The tasks that are done."""
        return self.root / "ledger.jsonl"

    @property
    def events(self) -> Path:
        """The events, for people."""
        return self.root / "events.jsonl"

    @property
    def cancel(self) -> Path:
        """A file whose presence asks the coordinator to stop for good."""
        return self.root / "cancel"

    @property
    def log(self) -> Path:
        """The output of a detached coordinator."""
        return self.root / "logs" / "coordinator.log"

    @property
    def cubes(self) -> Path:
        """The numbers."""
        return self.root / "cubes.zarr"

    @property
    def report(self) -> Path:
        """The report's folder."""
        return self.root / "report"

    @property
    def page(self) -> Path | None:
        """The page of the report, or another file to read where it has none; None where there is no report."""
        pages = (self.report / name for name in ("index.html", "report.md", "report.json"))
        return next((page for page in pages if page.is_file()), None)

    def read_state(self) -> dict[str, Any]:
        """Return the last state the coordinator wrote; ``UNKNOWN`` where it cannot be read, for nothing depends on it."""
        with suppress(StoreError):
            facts = read_sealed(self.state)
            if isinstance(facts.get("run"), str) and isinstance(facts.get("state"), str):
                return facts
        return {"schema_version": 1, "run": self.id, "state": "UNKNOWN", "phase": "unknown", "done": 0, "total": 0}


def list_runs(runs: Path) -> list[RunDirectory]:
    """Return the runs in a folder by their absolute paths, the latest started last."""
    try:
        folders = list(runs.resolve().iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise store_error(error, runs) from error
    found = [(when, RunDirectory(folder)) for folder in folders if (when := _made(folder)) is not None]
    return [run for _, run in sorted(found, key=lambda pair: (pair[0], pair[1].id))]


def _made(folder: Path | str) -> int | None:
    """Return when a run was made; None where a folder is no run: it has neither a plan nor a study that gives one."""
    for name in ("plan.json", "study.yaml"):
        # Unlike those of Path this says no to what can be no path at all: a name that is too long, or holds a zero byte.
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with suppress(FileNotFoundError):  # removed just now
                return os.stat(path).st_mtime_ns
    return None


def _refuse_closed(name: str) -> None:
    """Raise StoreError P702 where a name is that of a folder in which this user may not look."""
    try:
        os.stat(os.path.join(name, "plan.json"))
    except PermissionError as error:
        owner = other_owner(name)
        if owner is None:
            raise store_error(error, name) from error
        cause, help = f"no permission: this belongs to {owner}", f"{owner} can pack the run for you: `pipeline export RUN FILE`"
        raise StoreError(Problem("P702", cause, name, help)) from error
    except (OSError, ValueError):  # nothing is there, or it can be no path at all
        return


def find_run(runs: Path, name: str | None) -> RunDirectory:
    """Return the run with this id, unique prefix or path; without a name the latest.

    Raises
    ------
    RunNotFound
        P501 no run answers; P502 several do.
    StoreError
        P702 this user may not look there.
    """
    if name is not None and _made(name) is not None:
        return RunDirectory(Path(name).resolve())
    known = list_runs(runs)
    if name is None:
        if not known:
            raise RunNotFound.of(
                "P501",
                f"there are no runs in {runs}",
                help="start one with `pipeline run STUDY`, or name another place with --runs",
            )
        return known[-1]
    exact = [run for run in known if run.id == name]
    matches = exact or [run for run in known if run.id.startswith(name)]
    if not matches:
        _refuse_closed(name)
        raise RunNotFound.of("P501", f"there is no run {name!r} in {runs}", help="`pipeline list` shows the runs")
    if len(matches) > 1:
        raise RunNotFound.of(
            "P502", f"{name!r} fits several runs: {', '.join(run.id for run in matches)}", help="give more of the id"
        )
    return matches[0]


def iterate_ledgers(runs: Path) -> Iterator[Path]:
    """Yield the ledgers of all runs in a folder."""
    for run in list_runs(runs):
        if run.ledger.is_file():
            yield run.ledger
