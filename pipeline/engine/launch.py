"""Prepare a run directory from a study, and start its coordinator here or detached."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline.dataclass import dataclass
from pipeline.engine.clusters.placement import expected_workers
from pipeline.engine.coordinator import OpenExecutor, Progress, coordinate
from pipeline.engine.executor import Executor
from pipeline.engine.restore import restore_frames, write_origin
from pipeline.engine.serial import SerialExecutor
from pipeline.engine.signals import StopRequest
from pipeline.engine.stock import sound_receipts
from pipeline.engine.watching.ending import Ending
from pipeline.engine.watching.state import write_pending
from pipeline.engine.watching.watch import await_end
from pipeline.errors import ClusterError, DataError, Interrupted, PipelineError, Problem, StoreError, TaskError
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import plan_study
from pipeline.record.manifest import Manifest, read_manifest
from pipeline.store.brought import note_brought
from pipeline.store.files import make_directory, open_private, store_error, write_bytes, write_json
from pipeline.store.garbage import note_linked_store
from pipeline.store.lease import hold_lease, read_holder, refuse_if_held
from pipeline.store.ledger import last_fence
from pipeline.store.process import name_process
from pipeline.store.runs import RunDirectory
from pipeline.store.seals import read_sealed, write_sealed
from pipeline.study.load import LoadedStudy, load_profile
from pipeline.study.profile import ClusterProfile
from pipeline.survey.survey import survey_loaded

__all__ = [
    "Launch",
    "execute",
    "forget_cancel",
    "is_complete",
    "is_held",
    "prepare",
    "raise_unless_done",
    "read_launch",
    "show_command",
    "start_detached",
]

BEGIN_SECONDS = 60.0
"""How long a coordinator that was started may take to begin before this process no longer waits for it."""

MOST_WORDS = 12
"""Lines of a log that are repeated."""


@dataclass(frozen=True)
class Launch:
    """Where and how a run is executed: none of it changes a number.

    Parameters
    ----------
    cluster : str
        ``serial``, ``local``, or the path of a profile.
    workers : int, optional
        In place of the profile's number. Where nobody says, little work on this machine is done without a cluster.
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
    survey = survey_loaded(loaded)
    manifest = Manifest(survey.study, survey.inputs, tuple(loaded.overrides))
    run = RunDirectory(runs.resolve() / manifest.run_id)
    known = run.plan.is_file()
    if not known:
        make_directory(run.root)
    note_linked_store(run.root.parent)
    note_brought(run.root.parent, run.store.root, survey.study.model_dump(mode="json"))
    survey.store_frames(run.store)
    if known and is_held(run):
        return run
    if not known:
        write_pending(run, study=loaded.study.study)
    if not known or read_launch(run) is None:
        write_sealed(run.launch, asdict(launch))
    plan = _plan_of(run)
    if known and (is_complete(run) or (plan is not None and plan.to_json() == manifest.to_json())):
        return run
    write_origin(run, loaded)
    write_bytes(run.study, loaded.text.encode("utf-8"))
    # Last: a directory with a plan is a run. A known one is written again where its files have moved, or it cannot be read.
    write_json(run.plan, manifest.to_json())
    return run


def show_command(run: RunDirectory, loaded: LoadedStudy) -> None:
    """Let a run say how it was asked for this time, where that was by another command: its report is written again.

    Where nothing may be written, the report that is there answers, and shows how it was asked for before.

    Raises
    ------
    RunLocked
        P801 where another process writes the run, perhaps its report: two at once would mix.
    """
    try:
        before = read_sealed(run.origin).get("command")
    except (StoreError, AttributeError):
        before = None
    if not loaded.command or loaded.command == before:
        return
    with ExitStack() as stack:
        try:
            stack.enter_context(hold_lease(run.root, above=last_fence(run.ledger)))
            write_origin(run, loaded)
        except StoreError:
            return
        write_bytes(run.study, loaded.text.encode("utf-8"))  # what the origin says was overridden is of this text
        from pipeline.tasks.report import rewrite_report  # only here: it loads what draws figures

        rewrite_report(run)


def _plan_of(run: RunDirectory) -> Manifest | None:
    """Return the manifest of a run; None where its plan cannot be read."""
    try:
        return read_manifest(run)
    except StoreError:
        return None


def is_held(run: RunDirectory) -> bool:
    """Say whether a process writes the run."""
    holder = read_holder(run.root)
    return holder is not None and holder.in_force


def is_complete(run: RunDirectory) -> bool:
    """Say whether a run has nothing left to do: it ended well, and this version would plan nothing for what is there of it."""
    manifest = _plan_of(run)
    if manifest is None or run.read_state().get("state") != "COMPLETED":
        return False
    # Keys of another version of the counting are others, and so are those of results that are gone: both are open again.
    return not plan_study(manifest.study, manifest.inputs, Inventory.of(sound_receipts(run).values()), run=run.id).tasks


def read_launch(run: RunDirectory) -> Launch | None:
    """Read how a run was launched; None where that cannot be read: nothing of it changes a number."""
    try:
        launch = Launch(**read_sealed(run.launch))
    except (StoreError, TypeError):
        return None
    counts = (launch.workers, launch.block_cells)
    sound = isinstance(launch.cluster, str) and all(n is None or (type(n) is int and n >= 1) for n in counts)
    return launch if sound else None


def execute(run: RunDirectory, launch: Launch, *, progress: Progress = lambda state: None, verify: bool = False) -> Ending:
    """Run the open tasks of a run in this process, and return how it ended."""
    profile = None if launch.cluster == "serial" else load_profile(launch.cluster)
    if verify:
        restore_frames(run)
    workers = 1 if profile is None else expected_workers(profile, launch.workers)
    may_be_here = launch.cluster == "local" and launch.workers is None
    if launch.cluster == "local" and profile is not None:
        launch = Launch(launch.cluster, workers, launch.block_cells)
    return coordinate(
        run,
        _open_cluster(run, profile, launch) if profile is not None else _open_serial(run),
        progress=progress,
        block_cells=launch.block_cells,
        workers=workers,
        verify=verify,
        open_here=_open_serial(run) if may_be_here else None,
    )


def _open_serial(run: RunDirectory) -> OpenExecutor:
    @contextmanager
    def open_serial(stop: StopRequest) -> Iterator[Executor]:
        executor = SerialExecutor(run.root.parent, stop)
        yield executor
        executor.close()

    return open_serial


def _open_cluster(run: RunDirectory, profile: ClusterProfile, launch: Launch) -> OpenExecutor:
    @contextmanager
    def open_cluster(stop: StopRequest) -> Iterator[Executor]:
        from pipeline.engine.dask import open_executor

        logs = run.root / "logs"
        with open_executor(
            profile, run.root.parent, prefix=run.id, workers=launch.workers, logs=logs, stop=lambda: stop.wanted
        ) as executor:
            yield executor

    return open_cluster


def forget_cancel(run: RunDirectory) -> None:
    """Take away a request to stop that an earlier coordinator did not live to answer, before a new one is started.

    Raises
    ------
    RunLocked
        P801 another process writes this run: the request is for it.
    """
    await_end(run)
    refuse_if_held(run.root)
    try:
        run.cancel.unlink(missing_ok=True)
    except OSError as error:
        raise store_error(error, run.cancel) from error


def start_detached(run: RunDirectory, launch: Launch, *, verify: bool = False) -> int:
    """Start a coordinator that outlives this process and this terminal; return its process id once it has begun.

    Raises
    ------
    RunLocked
        P801 another process writes this run.
    ClusterError
        P613 the coordinator ended before it started.
    """
    if not run.root.is_absolute():
        raise ValueError(f"a coordinator that works elsewhere cannot find {run.root}")
    forget_cancel(run)
    study = read_manifest(run).study.study
    write_sealed(run.launch, asdict(launch))
    make_directory(run.log.parent)
    command: list[str] = [sys.executable, "-m", "pipeline", "coordinate", str(run.root)]
    if verify:
        command.append("--verify")
    environment: dict[str, Any] = {**os.environ, "PYTHONUNBUFFERED": "1"}
    try:
        log = open(run.log, "ab", opener=open_private)  # noqa: SIM115 - closed below, where only its opening is an error of the store
    except OSError as error:
        raise store_error(error, run.log) from error
    with log:
        before = log.tell()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=environment, cwd="/"
        )
    write_pending(run, study=study, coordinator=name_process(process.pid))
    _await_coordinator(run, process, before)
    return process.pid


def _await_coordinator(run: RunDirectory, process: subprocess.Popen[bytes], before: int) -> None:
    """Wait until a coordinator has taken the run's lease, but not for ever; ClusterError where it ends before."""
    deadline = time.monotonic() + BEGIN_SECONDS
    while time.monotonic() < deadline:
        code = process.poll()  # first: it may take the lease, and end, between the two looks
        holder = read_holder(run.root)
        if holder is not None and holder.process is not None and holder.process.pid == process.pid:
            return
        if code is not None:
            raise ClusterError.of(
                "P613",
                f"the coordinator ended before it started, with exit code {code}",
                where=str(run.log),
                help=f"`pipeline resume {run.id} --runs {run.root.parent}` shows on this terminal what stops it",
                note=_last_words(run.log, before),
            )
        time.sleep(0.1)


def _last_words(log: Path, before: int) -> str | None:
    """Return the end of what was written to a log after so many bytes."""
    try:
        with open(log, "rb") as file:
            file.seek(before)
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return None
    return "\n    ".join(lines[-MOST_WORDS:]) or None


def raise_unless_done(ending: Ending, run: RunDirectory) -> None:
    """Raise what a run ended with, of the class whose exit status it has; P409 where no task says why."""
    if ending.exit_code == 130:
        raise KeyboardInterrupt
    if ending.exit_code:
        kinds = {kind.exit_code: kind for kind in (TaskError, DataError, ClusterError, StoreError, Interrupted)}
        told = Problem("P409", f"the run ended {ending.state.lower()}: {ending.told}", str(run.root))
        raise kinds.get(ending.exit_code, PipelineError)(*(ending.problems or (told,)))
