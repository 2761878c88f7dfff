"""Run tasks one after the other in this process: the oracle of the distributed engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.engine.executor import Outcome
from pipeline.engine.signals import StopRequest, grace_of
from pipeline.plan.task import Task
from pipeline.tasks.run import run_task

__all__ = ["SerialExecutor"]


class SerialExecutor:
    """One task at a time, in the order given, here.

    Parameters
    ----------
    runs : Path
        The folder of runs.
    stop : StopRequest, optional
        What a signal is noted in: it ends the task that runs.
    """

    def __init__(self, runs: Path, stop: StopRequest | None = None) -> None:
        self._runs = str(runs)
        self._stop = stop or StopRequest()
        self._queue: list[Task] = []

    def free(self) -> int:
        """Take one task at a time, so that a stop is never far."""
        return 1 - len(self._queue)

    def submit(self, task: Task, attempt: str) -> None:
        """Queue a task."""
        self._queue.append(task)

    def wait(self, seconds: float) -> Sequence[Outcome]:
        """Run what is queued, however long it takes; StopAsked if that is given up."""
        queue, self._queue = self._queue, []
        with self._stop.interrupting(grace_of(task.kind for task in queue)):
            return [Outcome(task, run_task(task, self._runs)) for task in queue]

    def describe(self) -> dict[str, object]:
        """Say that it is this process."""
        return {"engine": "serial", "workers": 1}

    def close(self) -> None:
        """Nothing to let go of."""
