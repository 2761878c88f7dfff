"""From a study to a run directory and its coordinator. This module prepares runs and starts them, here or detached."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.engine.coordinator import Ending, OpenExecutor, Progress, coordinate
from pipeline.engine.executor import Executor
from pipeline.engine.serial import SerialExecutor
from pipeline.engine.state import write_pending
from pipeline.engine.stock import sound_receipts
from pipeline.store.addresses import digest
from pipeline.store.files import make_directory, read_json, write_bytes, write_json
from pipeline.store.lease import read_holder, refuse_if_held
from pipeline.store.process import name_process
from pipeline.store.runs import RunDirectory
from pipeline.study.inventory import Inventory
from pipeline.study.load import ClusterProfile, LoadedStudy, load_profile
from pipeline.study.plan import plan_study
from pipeline.tasks.manifest import Manifest, read_manifest
from pipeline.tasks.survey import frames_are_sound, survey_study

__all__ = ["Launch", "execute", "forget_cancel", "is_complete", "is_held", "prepare", "read_launch", "run_id", "start_detached"]

PACKAGES = ("dask", "distributed", "numba", "numpy", "sacrebleu", "scikit-learn", "scipy", "xarray", "zarr")


@dataclass(frozen=True)
class Launch:
    """Where and how a run is executed: nothing of it changes a number.

    Parameters
    ----------
    cluster : str
        ``serial``, ``local``, or the path of a profile.
    workers : int, optional
        In place of the profile's number.
    block_cells : int, optional
        Cells of a resample task, in place of the plan's choice.
    """

    cluster: str = "local"
    workers: int | None = None
    block_cells: int | None = None


def prepare(loaded: LoadedStudy, runs: Path, launch: Launch) -> RunDirectory:
    """Survey a study's inputs and make its run directory, or find the one that is there.

    The same study on the same inputs has the same id. Nothing is written before everything was found in order.
    """
    survey = survey_study(loaded.study, loaded.base)
    manifest = Manifest(survey.study, survey.inputs, tuple(loaded.overrides))
    run = RunDirectory(runs.resolve() / run_id(manifest))
    known = run.plan.is_file()
    if not known:
        make_directory(run.root)
    survey.store_frames(run.store)
    if known and (is_complete(run) or is_held(run) or read_json(run.plan) == manifest.to_json()):
        return run
    if not known:
        write_json(run.root / "versions.json", _versions())
        write_pending(run, study=loaded.study.study)
        write_json(run.launch, asdict(launch))
    write_bytes(run.root / "study.yaml", loaded.text.encode("utf-8"))
    # Last: a directory with a plan is a run. A known one is written anew where its files have moved.
    write_json(run.plan, manifest.to_json())
    return run


def run_id(manifest: Manifest) -> str:
    """Give the id of a run: the study's slug and a digest of what is asked of which content."""
    return f"{manifest.study.slug}-{digest(manifest.identity())[:12]}"


def is_held(run: RunDirectory) -> bool:
    """Say whether a process writes the run."""
    holder = read_holder(run.root)
    return holder is not None and holder.in_force


def _versions() -> dict[str, str]:
    import pipeline

    packages = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"pipeline": pipeline.__version__, "python": platform.python_version(), **packages}


def is_complete(run: RunDirectory) -> bool:
    """Say whether a run has nothing left to do: it ended well, and this version would plan nothing for what is there of it."""
    if run.read_state().get("state") != "COMPLETED":
        return False
    manifest = read_manifest(run)
    # Keys of another version of the counting are others, and so are those of results that are gone: both are open again.
    return not plan_study(manifest.study, manifest.inputs, Inventory.of(sound_receipts(run).values()), run=run.id).tasks


def read_launch(run: RunDirectory) -> Launch:
    """Read how a run was launched."""
    return Launch(**read_json(run.launch))


def execute(run: RunDirectory, launch: Launch, *, progress: Progress = lambda state: None, verify: bool = False) -> Ending:
    """Run what is open of a run, in this process, and say how it ended."""
    profile = None if launch.cluster == "serial" else load_profile(launch.cluster)
    if verify:
        restore_frames(run)
    workers = 1 if profile is None else launch.workers or profile.workers or os.cpu_count() or 1
    if launch.cluster == "local" and profile is not None:
        launch = Launch(launch.cluster, workers, launch.block_cells)
    return coordinate(
        run,
        _opener(run, profile, launch),
        progress=progress,
        block_cells=launch.block_cells,
        workers=workers,
        verify=verify,
    )


def restore_frames(run: RunDirectory) -> None:
    """Write the frames again that the store has lost or that are damaged, from the study's files."""
    manifest = read_manifest(run)
    if frames_are_sound(manifest.inputs, run.store):
        return
    survey_study(manifest.study, Path(manifest.inputs.base)).store_frames(run.store)


def _opener(run: RunDirectory, profile: ClusterProfile | None, launch: Launch) -> OpenExecutor:
    @contextmanager
    def open_serial(stop: Callable[[], bool]) -> Iterator[Executor]:
        executor = SerialExecutor(run.root.parent)
        yield executor
        executor.close()

    @contextmanager
    def open_cluster(stop: Callable[[], bool]) -> Iterator[Executor]:
        from pipeline.engine.dask import open_executor

        assert profile is not None
        logs = run.root / "logs"
        with open_executor(profile, run.root.parent, prefix=run.id, workers=launch.workers, logs=logs, stop=stop) as executor:
            yield executor

    return open_serial if profile is None else open_cluster


def forget_cancel(run: RunDirectory) -> None:
    """Take away a request to stop that an earlier coordinator did not live to answer, before a new one is started.

    Raises
    ------
    RunLocked
        P801 another process writes this run: the request is for it.
    """
    refuse_if_held(run.root)
    run.cancel.unlink(missing_ok=True)


def start_detached(run: RunDirectory, launch: Launch, *, verify: bool = False) -> int:
    """Start a coordinator that outlives this process and this terminal; give its process id.

    Raises
    ------
    RunLocked
        P801 another process writes this run.
    """
    forget_cancel(run)
    write_json(run.launch, asdict(launch))
    make_directory(run.log.parent)
    command: list[str] = [sys.executable, "-m", "pipeline", "coordinate", str(run.root)]
    if verify:
        command.append("--verify")
    environment: dict[str, Any] = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with open(run.log, "ab") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=environment, cwd="/"
        )
    write_pending(run, study=read_manifest(run).study.study, coordinator=name_process(process.pid))
    return process.pid
