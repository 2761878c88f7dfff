"""Open tasks in the order of the plan; each becomes ready once its needs are done."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable
from typing import NamedTuple

from pipeline.plan.task import Task

__all__ = ["TaskQueue"]


class _Gate(NamedTuple):
    """Keys of tasks with the same needs, and those of the needs that are not done yet."""

    needs: set[str]
    keys: list[str]


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
        # All blocks of a test set need the same thousand statistics: they wait at one gate.
        gates: dict[tuple[str, ...], _Gate] = {}
        for key, task in plan.items():
            if task.needs not in gates:
                gates[task.needs] = _Gate({need for need in task.needs if need not in done}, [])
            gates[task.needs].keys.append(key)
        self._gates_of: dict[str, list[_Gate]] = {}
        for gate in gates.values():
            for need in gate.needs:
                self._gates_of.setdefault(need, []).append(gate)
        self._ready = [self._order[key] for gate in gates.values() if not gate.needs for key in gate.keys if key in self._tasks]
        heapq.heapify(self._ready)

    def __len__(self) -> int:
        return len(self._tasks)

    def take(self) -> Task | None:
        """Return the first ready task and forget it; None if none is ready."""
        if not self._ready:
            return None
        return self._tasks.pop(self._keys[heapq.heappop(self._ready)])

    def give_back(self, task: Task) -> None:
        """Put a task back in its old place, to be tried once more; one that the plan no longer has is forgotten."""
        if task.key not in self._order or task.key in self._tasks:
            return
        self._tasks[task.key] = task
        heapq.heappush(self._ready, self._order[task.key])

    def finish(self, key: str) -> None:
        """Record that a need is done: tasks that waited only for it become ready."""
        for gate in self._gates_of.pop(key, ()):
            gate.needs.discard(key)
            if not gate.needs:
                for waiting in gate.keys:
                    if waiting in self._tasks:
                        heapq.heappush(self._ready, self._order[waiting])
