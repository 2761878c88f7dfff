"""What a training leaves beside its outputs. This module keeps its log, its most memory, and what is known of its failure."""

from __future__ import annotations

import math
import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.errors import PipelineError, StoreError
from pipeline.plan.task import Task
from pipeline.store.files import write_bytes
from pipeline.store.runs import Store
from pipeline.store.scratch import scratch_directory

__all__ = ["forget_peak", "keep_failure", "keep_log", "log_of", "peak_memory", "printable", "told_by_model", "work_directory"]

_PROCESS = Path("/proc/self")
_MOST_SHOWN = 2000
"""Characters of what foreign code says of itself: the log has all of it."""


@contextmanager
def work_directory() -> Iterator[Path]:
    """Yield a folder that is removed afterwards; a trainer that made it the current one is moved back, and its process with it."""
    before = os.getcwd()
    with scratch_directory("train") as made:
        try:
            yield made
        finally:
            os.chdir(before)


def keep_log(store: Store, task: Task, text: str) -> str:
    """Keep what a training printed, in place of what an earlier attempt did; give the file's place in the store, or nothing."""
    path = store.path("logs", task.key, ".txt")
    if text:
        write_bytes(path, text.encode("utf-8", "backslashreplace"))
        return store.relative(path)
    path.unlink(missing_ok=True)
    return ""


def keep_failure(error: PipelineError, store: Store, task: Task, *, printed: str = "", status: int | None = None) -> None:
    """Complete the error of a training, from within its ``except``: whose it is, its log, its exit status, its memory.

    Parameters
    ----------
    error : PipelineError
        Its problems say where they are; ``log`` and ``exit_status``, where it has them, are those of a command.
    printed : str
        What the training had printed before. Where nothing was printed at all the traceback is kept.
    status : int, optional
        An exit status that is known otherwise.
    """
    error.problems = tuple(problem if problem.where else replace(problem, where=task.label) for problem in error.problems)
    told = "\n".join(filter(None, [printed, str(getattr(error, "log", ""))]))
    facts: dict[str, Any] = {"exit_status": getattr(error, "exit_status", status), "memory_bytes": peak_memory()}
    # A store that is full is met again by the ledger, and said there.
    with suppress(StoreError):
        facts["log"] = keep_log(store, task, told or traceback.format_exc())
    error.facts = facts


def printable(said: object) -> str:
    r"""Return what foreign code says, an error or a note, so that it can be shown, stored and sent: it may hold anything.

    Examples
    --------
    >>> printable(ValueError("no\x1b[31m \ud800")), printable("a note")
    ('ValueError: no\\x1b[31m \\ud800', 'a note')
    """
    try:
        text = f"{type(said).__name__}: {said}" if isinstance(said, BaseException) else str(said)
    except Exception:  # an error that cannot say what is wrong
        text = f"{type(said).__name__} (which cannot be printed)"
    shown = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
    return "".join(sign if sign.isprintable() or sign == "\n" else repr(sign)[1:-1] for sign in shown)


def told_by_model(model: object) -> dict[str, Any]:
    """Return the notes of a model; of a program outside, which this process cannot measure, what its training took."""
    notes = getattr(model, "notes", ())
    told: dict[str, Any] = {"notes": [printable(note) for note in ([notes] if isinstance(notes, str) else notes)]}
    for name, attribute in (("fit_seconds", "seconds"), ("fit_memory_bytes", "memory_bytes")):
        value = getattr(model, attribute, None)
        if isinstance(value, (int, float)) and 0 < value < math.inf:
            told[name] = float(value) if isinstance(value, float) else int(value)
    return told


def log_of(model: object) -> str:
    """Return what a model says that was printed when it was made; it may be unable to say so."""
    with suppress(Exception):
        return str(getattr(model, "log", "") or "")
    return ""


def forget_peak() -> None:
    """Let `peak_memory` begin anew, where the system can: a worker runs many trainings."""
    with suppress(OSError):
        (_PROCESS / "clear_refs").write_text("5")  # resets the high-water mark and nothing else


def peak_memory() -> int:
    """Return the most bytes this process has held since `forget_peak`; 0 where the system does not tell."""
    with suppress(OSError):
        for line in (_PROCESS / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0
