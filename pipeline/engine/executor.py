"""The interface between the coordinator and the executor of its tasks: this process, or a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pipeline.dataclass import dataclass
from pipeline.plan.task import Failure, Receipt, Task

__all__ = ["Executor", "Outcome"]


@dataclass(frozen=True)
class Outcome:
    """How one submitted task ended."""

    task: Task
    result: Receipt | Failure


class Executor(Protocol):
    """Runs tasks: takes a task and returns a receipt or a failure, nothing else."""

    def free(self) -> int:
        """Return how many more tasks should be submitted now."""
        ...

    def submit(self, task: Task, attempt: str) -> None:
        """Start a task; no two attempts of a run have the same name."""
        ...

    def wait(self, seconds: float) -> Sequence[Outcome]:
        """Return the tasks that ended, after at most so many seconds; StopAsked where a stop gave up what ran."""
        ...

    def describe(self) -> dict[str, object]:
        """Return facts for `state.json`: how many workers; where there are none, since when and why."""
        ...

    def close(self) -> None:
        """Release the workers; running tasks are abandoned."""
        ...
