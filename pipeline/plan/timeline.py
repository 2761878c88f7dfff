"""When the tasks of a plan would end. This module plays a plan through on so many workers; it is pure."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.plan.costs import TaskCosts
from pipeline.plan.task import ExtractSpec, ResampleSpec, Task

__all__ = ["Estimate", "estimate_time"]

# Measured where `Rates.machine` is 1.
START_SECONDS = 0.7
"""A run's own start and end: interpreter, imports, lease, ledger."""

CLUSTER_SECONDS = 1.7
"""Starting and closing a cluster on this machine."""

FIRST_SECONDS: Mapping[str, float] = {"train": 1.2, "extract": 0.3, "resample": 0.4, "collect": 0.3, "report": 0.7}
"""The first task of a kind on a worker: it imports what it needs and loads compiled code."""

TASK_SECONDS = 0.004
"""A task on its way: scheduled, its receipt synced. Receipts are written one after the other, whatever the workers."""

STAGES = tuple(FIRST_SECONDS)


@dataclass(frozen=True)
class Estimate:
    """What open tasks should take.

    Parameters
    ----------
    seconds : float or None
        From start to end; None where a stage is unknown.
    at_least : float
        The same without what is unknown.
    stages : mapping of str to float or None
        By how much each stage puts off the end; all of them with ``start`` make ``seconds``.
    start : float
        Before the first task and after the last.
    cpu_seconds : float
        Of all tasks together.
    tasks_a_second : mapping of str to float
        How many tasks of each stage end in a second.
    unknown : mapping of str to str
        Why a stage is None.
    """

    seconds: float | None
    at_least: float
    stages: Mapping[str, float | None]
    start: float
    cpu_seconds: float
    tasks_a_second: Mapping[str, float]
    unknown: Mapping[str, str]


def estimate_time(tasks: Iterable[Task], costs: TaskCosts, *, workers: int, cluster: bool = True, start: float = 0.0) -> Estimate:
    """Return what open tasks should take.

    A worker takes the next task of the plan when it has ended one; the cells of a test set wait for all its statistics, its
    cube for all its cells, the report for all cubes.

    Parameters
    ----------
    tasks : iterable of Task
        In the order they should start.
    costs : TaskCosts
        Seconds of each.
    workers : int
        That run at the same time.
    cluster : bool
        Whether workers have to be started.
    start : float
        Seconds before there is a plan.
    """
    waiting = list(tasks)
    if not waiting:
        return Estimate(0.0, 0.0, {}, 0.0, 0.0, {}, {})
    machine = costs.rates.machine
    start += machine * (START_SECONDS + (CLUSTER_SECONDS if cluster else 0.0))
    floor = _Workers(workers, costs)
    unknown: dict[str, str] = {}
    # By stage: in a plan nothing waits for what comes after it, and a worker takes what is earlier first.
    for kind in STAGES:
        for task in (task for task in waiting if task.kind == kind):
            seconds = costs.seconds(task)
            if seconds is None:
                unknown[kind] = _why(task, costs)
                seconds = 0.0
            floor.run(task, seconds)
    stages: dict[str, float | None] = {}
    reached = 0.0
    for kind in STAGES:
        if kind in floor.ends:
            stages[kind] = None if kind in unknown else max(floor.ends[kind] - reached, 0.0)
            reached = max(reached, floor.ends[kind])
    total = start + reached
    rates = {kind: floor.count[kind] / max(floor.ends[kind] - floor.begins[kind], 1e-9) for kind in stages}
    return Estimate(None if unknown else total, total, stages, start, floor.busy, rates, unknown)


class _Workers:
    """Workers that take task after task, and when each stage begins and ends."""

    def __init__(self, workers: int, costs: TaskCosts) -> None:
        self._free = [(0.0, number) for number in range(workers)]
        self._costs = costs
        self._known: set[tuple[int, str]] = set()
        self._done: dict[tuple[str, str], float] = {}  # end of a stage of a test set
        self._sent = 0
        self.begins: dict[str, float] = {}
        self.ends: dict[str, float] = {}
        self.count: dict[str, int] = {}
        self.busy = 0.0

    def run(self, task: Task, seconds: float) -> None:
        """Assign a task to the worker that is free first."""
        kind, test_set = str(task.kind), str(getattr(task.spec, "test_set", ""))
        free, number = heapq.heappop(self._free)
        seconds += self._first(number, task)
        self._sent += 1
        machine = self._costs.rates.machine
        begin = max(free, self._ready(kind, test_set), self._sent * TASK_SECONDS * machine)
        end = begin + seconds + TASK_SECONDS * machine
        heapq.heappush(self._free, (end, number))
        self.busy += seconds
        self._done[kind, test_set] = max(end, self._done.get((kind, test_set), 0.0))
        self.begins.setdefault(kind, begin)
        self.ends[kind] = max(end, self.ends.get(kind, 0.0))
        self.count[kind] = self.count.get(kind, 0) + 1

    def _first(self, number: int, task: Task) -> float:
        """Return the seconds that only the first of its kind takes on this worker."""
        seconds = 0.0
        if (number, task.kind) not in self._known:
            self._known.add((number, task.kind))
            seconds += self._costs.rates.machine * FIRST_SECONDS[task.kind]
        if isinstance(task.spec, ExtractSpec):
            what = f"{task.spec.test_set} {task.spec.metric}"
            if (number, what) not in self._known:
                self._known.add((number, what))
                rates = self._costs.rates.outputs.get(task.spec.test_set, {}).get(task.spec.metric)
                seconds += rates.prepare if rates else 0.0
        return seconds

    def _ready(self, kind: str, test_set: str) -> float:
        """Return when everything is there that a task of this stage needs."""
        if kind == "resample":
            return max(self.ends.get("train", 0.0), self._done.get(("extract", test_set), 0.0))
        if kind == "collect":
            return max(self._done.get(("resample", test_set), 0.0), self._done.get(("extract", test_set), 0.0))
        return self.ends.get("collect", 0.0) if kind == "report" else 0.0


def _why(task: Task, costs: TaskCosts) -> str:
    spec, unknown = task.spec, costs.rates.unknown
    if isinstance(spec, ResampleSpec):
        # A pass is measured on the largest test set alone.
        missing = [c.metric for c in spec.columns if not costs.rates.has_pass(spec.procedure, c.metric)]
        told = [why for what, why in unknown.items() if any(what.startswith(f"{metric} on ") for metric in missing)]
        what = f"{', '.join(missing)} by {spec.procedure}"
    else:
        what = getattr(spec, "model", None) or f"{getattr(spec, 'metric', '')} on {getattr(spec, 'test_set', '')}"
        told = [unknown[what]] if what in unknown else []
    return [*told, *filter(None, [unknown.get("calibration")]), f"{what} was not measured"][0]
