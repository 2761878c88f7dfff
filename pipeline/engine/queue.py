"""Which task may start next. This module keeps the open tasks of a plan in order and opens each when what it needs is done."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable

from pipeline.study.task import Task

__all__ = ["TaskQueue"]


class TaskQueue:
    """Open tasks in the plan's order; a task is ready once all it needs is done.

    Parameters
    ----------
    tasks : iterable of Task
        Open tasks in the order they should start.
    done : collection of str
        Keys that are done.
    running : collection of str
        Keys that have been handed out already: they are not given again, but may be given back.
    """

    def __init__(self, tasks: Iterable[Task], *, done: Collection[str], running: Collection[str] = ()) -> None:
        plan = {task.key: task for task in tasks}
        self._keys = list(plan)
        self._order = {key: i for i, key in enumerate(self._keys)}
        self._tasks = {key: task for key, task in plan.items() if key not in running}
        self._needs = {key: {need for need in task.needs if need not in done} for key, task in plan.items()}
        self._dependents: dict[str, list[str]] = {}
        for key, needs in self._needs.items():
            for need in needs:
                self._dependents.setdefault(need, []).append(key)
        self._ready = [self._order[key] for key in self._tasks if not self._needs[key]]
        heapq.heapify(self._ready)

    def __len__(self) -> int:
        return len(self._tasks)

    def take(self) -> Task | None:
        """Give the first ready task and forget it; None if none is ready."""
        if not self._ready:
            return None
        return self._tasks.pop(self._keys[heapq.heappop(self._ready)])

    def give_back(self, task: Task) -> None:
        """Take a task again, to be tried once more, in its old place; one that the plan no longer has is forgotten."""
        if task.key not in self._order or task.key in self._tasks:
            return
        self._tasks[task.key] = task
        heapq.heappush(self._ready, self._order[task.key])

    def finish(self, key: str) -> None:
        """Note that something is done: whatever waited for it alone becomes ready."""
        for dependent in self._dependents.pop(key, ()):
            self._needs[dependent].discard(key)
            if not self._needs[dependent] and dependent in self._tasks:
                heapq.heappush(self._ready, self._order[dependent])
