"""Run one task on a worker and bring back a receipt or a failure, never an exception."""

from __future__ import annotations

import importlib
import os
import resource
import socket
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.compiled.notice import hearing_of_compilation
from pipeline.errors import PipelineError, Problem
from pipeline.plan.task import Failure, Receipt, Task
from pipeline.store.files import store_error
from pipeline.tasks.freed_memory import give_back

__all__ = ["run_heard", "run_task"]

FUNCTIONS = {
    "train": "pipeline.tasks.train:train",
    "extract": "pipeline.tasks.extract:extract",
    "resample": "pipeline.tasks.resample:resample_block",
    "shard": "pipeline.tasks.collect.shard:collect_shard",
    "collect": "pipeline.tasks.collect.task:collect",
    "report": "pipeline.tasks.report:report",
}
"""What runs each kind; imported by the first task of the kind, so that a worker pays only for what it does."""


def run_task(task: Task, runs: str) -> Receipt | Failure:
    """Run a task below the folder of runs.

    Parameters
    ----------
    task : Task
        What to do.
    runs : str
        The folder of runs, as this machine sees it.

    Returns
    -------
    Receipt or Failure
        A failure carries the problems of a `PipelineError`, or a traceback of an internal error.
    """
    start, processors = time.perf_counter(), _processor_seconds()
    result = _run(task, runs)
    seconds, cpu_seconds = round(time.perf_counter() - start, 4), round(_processor_seconds() - processors, 4)
    # Kilobytes on Linux; the high-water mark of the process, not of the task alone.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if isinstance(result, Failure):
        return replace(result, seconds=seconds, peak_memory_bytes=peak)
    worker = f"{socket.gethostname()}:{os.getpid()}"
    return replace(result, seconds=seconds, cpu_seconds=cpu_seconds, worker=worker, peak_memory_bytes=peak)


def run_heard(
    run: Callable[[Task, str], Receipt | Failure], task: Task, runs: str, find_worker: Callable[[], Any], topic: str
) -> Receipt | Failure:
    """Run a task on a worker, whose cluster is told when kernels are compiled: somebody may wait for that at another machine.

    Parameters
    ----------
    run : callable
        `run_task`, which gets ``task`` and ``runs``.
    task : Task
    runs : str
    find_worker : callable
        What returns the worker that this is: the cluster's own function, since a worker imports nothing for it.
    topic : str
        What the cluster's events are called.
    """
    worker = find_worker()
    with hearing_of_compilation(lambda: worker.log_event(topic, "compiling"), elsewhere=False):
        return run(task, runs)


def _processor_seconds() -> float:
    """Return what this process has taken of processors so far, with the programs that it started and waited for."""
    taken = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in taken)


def _run(task: Task, runs: str) -> Receipt | Failure:
    from threadpoolctl import threadpool_limits

    try:
        # One thread of BLAS a worker: two would fight for a core.
        with threadpool_limits(1):
            _make_room(task.kind)
            return _function(task.kind)(task, Path(runs))
    except PipelineError as error:
        return Failure(task.key, task.label, error.exit_code, error.problems, _told_besides(error), facts=error.facts)
    except OSError as error:
        mapped = store_error(error, error.filename or runs)
        return Failure(task.key, task.label, mapped.exit_code, mapped.problems, traceback.format_exc())
    except MemoryError:
        problem = Problem(
            "P403", "the worker ran out of memory", where=task.label, help="give workers more memory, or fewer threads"
        )
        return Failure(task.key, task.label, 4, (problem,), traceback.format_exc())
    except Exception as error:  # the border of a worker: whatever broke is recorded, reported, and decides the exit code
        problem = Problem("P401", f"{type(error).__name__}: {error}", where=task.label, help="`pipeline logs` has the traceback")
        return Failure(task.key, task.label, 70, (problem,), traceback.format_exc())


def _told_besides(error: PipelineError) -> str:
    """Return what the record of a failure has besides its message: what a command printed, or where other people's code broke.

    An error of ours says in its message what is wrong: how it came out of our own functions helps nobody.
    """
    if hasattr(error, "log"):  # a command outside, whose lines are what there is to read
        log = str(error.log).rstrip()
        return f"It printed:\n{log}" if log else ""
    return "" if error.__cause__ is None else traceback.format_exc()


def _make_room(kind: str) -> None:
    """Let go, before a task that needs the room, of what blocks of resampling have in common and of what earlier tasks have freed.

    All blocks come before the others.
    """
    resample = sys.modules.get("pipeline.tasks.resample")
    if kind in ("shard", "collect", "report") and resample is not None:
        resample.forget(statistics=kind == "report")
    known = sys.modules.get("pipeline.record.known_runs")
    if kind not in ("shard", "collect") and known is not None:
        known.forget_runs()
    if kind not in ("train", "extract"):  # of these there are many, and they are small
        give_back()


def _function(kind: str) -> Callable[[Task, Path], Receipt]:
    module, name = FUNCTIONS[kind].split(":")
    function: Callable[[Task, Path], Receipt] = getattr(importlib.import_module(module), name)
    return function
