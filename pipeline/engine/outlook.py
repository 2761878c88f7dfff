"""How long a run still takes. This module corrects what was predicted of tasks by what those that ended have taken."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from pipeline.study.task import Receipt, Task

__all__ = ["Outlook"]

PRIOR_SECONDS = 2.0
"""How much of observation outweighs the prediction: the first task of a worker also imports what it needs."""


class Outlook:
    """Open tasks by stage, and the time they still take.

    Parameters
    ----------
    predict : callable
        Gives the seconds a task should take; None where nothing is known.
    """

    def __init__(self, predict: Callable[[Task], float | None]) -> None:
        self._predict = predict
        self.open: Counter[str] = Counter()
        self._left: defaultdict[str, float] = defaultdict(float)
        self._unknown: Counter[str] = Counter()
        self._ended: Counter[str] = Counter()
        self._observed: defaultdict[str, float] = defaultdict(float)
        self._compared: defaultdict[str, float] = defaultdict(float)
        self._foreseen: defaultdict[str, float] = defaultdict(float)

    def plan(self, tasks: Iterable[Task]) -> None:
        """Take these tasks for all that is open; what was observed stays."""
        self.open, self._left, self._unknown = Counter(), defaultdict(float), Counter()
        for task in tasks:
            self._add(task, 1)

    def _add(self, task: Task, number: int) -> float | None:
        seconds = self._predict(task)
        self.open[task.kind] += number
        if seconds is None:
            self._unknown[task.kind] += number
        else:
            self._left[task.kind] += number * seconds
        return seconds

    def finish(self, task: Task, receipt: Receipt) -> None:
        """Take a task off that has ended, and remember what it took."""
        foreseen = self._add(task, -1)
        self._ended[task.kind] += 1
        self._observed[task.kind] += receipt.seconds
        if foreseen is not None:
            self._compared[task.kind] += receipt.seconds
            self._foreseen[task.kind] += foreseen

    def seconds(self, workers: int) -> float | None:
        """Give the time left with so many workers; None while nothing is known of a stage."""
        total = 0.0
        for kind, number in self.open.items():
            if number <= 0:
                continue
            slower = (self._compared[kind] + PRIOR_SECONDS) / (self._foreseen[kind] + PRIOR_SECONDS)
            left = max(self._left[kind], 0.0) * slower
            if self._unknown[kind]:
                if not self._ended[kind]:
                    return None
                left += self._unknown[kind] * self._observed[kind] / self._ended[kind]
            total += left / max(min(workers, number), 1)
        return total
