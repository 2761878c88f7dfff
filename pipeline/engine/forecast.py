"""Predict how long the open part of a study takes: from constants, corrected during the run by the times of finished tasks."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import ceil

from pipeline.dataclass import dataclass
from pipeline.engine.clusters.placement import cores_here
from pipeline.plan.costs import TaskCosts
from pipeline.plan.footprint import Footprint, estimate_footprint
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import Plan, plan_study
from pipeline.plan.task import Receipt, Task
from pipeline.plugins import in_tree, list_plugins
from pipeline.record.manifest import Manifest
from pipeline.study.schema import Study

__all__ = ["HERE_SECONDS", "Estimate", "Forecast", "Outlook", "forecast_study", "is_small", "machine_factor"]

YARDSTICK_SECONDS = 0.00095
"""What `machine_factor` runs, where the constants were measured."""

START_SECONDS, CLUSTER_SECONDS = 0.7, 1.7
"""A run's own start and end; starting and closing a cluster on this machine."""

HERE_SECONDS = 4.0
"""Work on one core, where the constants were measured, up to which a run does without a cluster of this machine's processes: those
take longer to start than they save."""

CHAIN_SECONDS = 30.0
"""The same of tasks that wait for one another, so that workers would hardly ever have two to do side by side."""

FIRST_SECONDS: Mapping[str, float] = {"train": 1.2, "extract": 0.5, "resample": 0.4, "shard": 0.5, "collect": 0.3, "report": 0.7}
"""The first task of a kind on a worker: it imports what it needs, loads compiled code and prepares the gold."""

TASK_SECONDS = 0.004
"""A task on its way: scheduled, its receipt synced. Receipts are written one after the other, whatever the workers."""

PRIOR_SECONDS = 2.0
"""How much of observation outweighs a prediction: the first task of a worker also imports what it needs."""


def machine_factor() -> float:
    """Return how long plain Python takes here, as a multiple of the machine where the constants were measured."""
    seconds = min(_yardstick_seconds() for _ in range(5))
    return seconds / YARDSTICK_SECONDS if seconds > 0 else 1.0  # a clock of long ticks tells nothing


def _yardstick_seconds() -> float:
    start = time.process_time()  # other work on the machine counts little
    json.loads(json.dumps([{"number": number, "half": number / 2, "name": str(number)} for number in range(1000)]))
    return time.process_time() - start


class Outlook:
    """Open tasks of a run by stage, and the time they still take: as predicted, corrected by what those that ended took.

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
        """Replace the open tasks by these; observed times stay."""
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
        """Remove a task that has ended, and remember the time it took."""
        foreseen = self._add(task, -1)
        if foreseen is not None:
            self._compared[task.kind] += receipt.seconds
            self._foreseen[task.kind] += foreseen
        self.learn(task, receipt)

    def learn(self, task: Task, receipt: Receipt) -> None:
        """Remember what a task took that was done before, for those of its kind of which nothing is known."""
        self._ended[task.kind] += 1
        self._observed[task.kind] += receipt.seconds

    def stage(self, kind: str) -> tuple[float, bool]:
        """Return the seconds on one core of what is open of a kind, as far as they are known, and whether all are."""
        slower = (self._compared[kind] + PRIOR_SECONDS) / (self._foreseen[kind] + PRIOR_SECONDS)
        known = max(self._left[kind], 0.0) * slower
        if not self._unknown[kind]:
            return known, True
        if not self._ended[kind]:
            return known, False
        return known + self._unknown[kind] * self._observed[kind] / self._ended[kind], True

    def seconds(self, workers: int) -> float | None:
        """Return the time left with a number of workers; None while nothing is known about a stage."""
        total = 0.0
        for kind, number in self.open.items():
            seconds, is_known = self.stage(kind)
            if number > 0 and not is_known:
                return None
            total += seconds * _share(number, workers) if number > 0 else 0.0
        return total


def _share(tasks: int, workers: int) -> float:
    """Return the part of the work of some equal tasks that the busiest worker does."""
    return ceil(tasks / max(workers, 1)) / tasks


def is_small(study: Study, outlook: Outlook, *, machine: float, workers: int) -> bool:
    """Say whether what is open of a study is done sooner in one process than so many workers are started and do it here.

    Never where code runs that is not this package's own: a worker that such code takes down is missed by nobody.
    """
    seconds, beside = outlook.seconds(1), outlook.seconds(workers)
    if seconds is None or beside is None or outlook.open["train"]:
        return False
    pays = seconds - beside > machine * CLUSTER_SECONDS
    if seconds > machine * (HERE_SECONDS if pays else CHAIN_SECONDS):
        return False
    named = (
        ("metrics", (metric.name for metric in study.metrics)),
        ("procedures", study.resampling.procedures),
        ("analyses", (spec.name for spec in study.asked_analyses)),
    )
    return all(name in list_plugins(family) and in_tree(family, name) for family, names in named for name in names)


@dataclass(frozen=True)
class Estimate:
    """The predicted cost of open tasks.

    Parameters
    ----------
    seconds : float or None
        From start to end; None where a stage is unknown.
    at_least : float
        The same without what is unknown.
    start : float
        Before the first task and after the last.
    stages : mapping of str to float or None
        Seconds of each stage; all of them with ``start`` make ``seconds``.
    unknown : mapping of str to str
        Why a stage is None.
    cpu_seconds : float
        Of all tasks together.
    tasks_a_second : mapping of str to float
        How many tasks of each stage end in a second.
    """

    seconds: float | None
    at_least: float
    start: float
    stages: Mapping[str, float | None]
    unknown: Mapping[str, str]
    cpu_seconds: float
    tasks_a_second: Mapping[str, float]


@dataclass(frozen=True)
class Forecast:
    """All tasks of a study, those that are open, and what these should take.

    ``block_seconds`` are those of the shortest and the longest open resample task; None where none is open. ``here`` says that the
    work is so little that no workers are started.
    """

    everything: Plan
    left: Plan
    estimate: Estimate
    footprint: Footprint
    block_seconds: tuple[float, float] | None
    here: bool


def forecast_study(
    manifest: Manifest,
    run: str,
    inventory: Inventory,
    *,
    workers: int,
    block_cells: int | None,
    local: bool,
    before: float,
    may_be_here: bool = False,
) -> Forecast:
    """Return the open tasks of a study and their predicted cost.

    Parameters
    ----------
    manifest, run, inventory
        What is asked, the id of its run, and what exists.
    workers, block_cells
        As the run would be given them.
    local : bool
        Whether workers are processes on this machine: more than it has cores are no faster.
    before : float
        Seconds a run takes before it can plan.
    may_be_here : bool
        Whether the run does without a cluster where its work is small.
    """
    study, inputs = manifest.study, manifest.inputs
    plan = partial(plan_study, study, inputs, run=run, block_cells=block_cells, workers=workers)
    everything, left = plan(Inventory()), plan(inventory)
    costs = TaskCosts(study, inputs, machine=machine_factor() if left.tasks else 1.0)
    outlook = Outlook(costs.seconds)
    for task in everything.tasks:
        if task.key in inventory.receipts and costs.seconds(task) is None:
            outlook.learn(task, inventory.receipts[task.key])
    outlook.plan(left.tasks)
    blocks = [costs.seconds(task) or 0.0 for task in left.tasks if task.kind == "resample"]
    side_by_side = min(workers, cores_here()) if local else workers
    here = may_be_here and is_small(study, outlook, machine=costs.machine, workers=side_by_side)
    return Forecast(
        everything=everything,
        left=left,
        estimate=_estimate(outlook, 1 if here else side_by_side, costs.machine, before, cluster=not here),
        footprint=estimate_footprint(study, inputs, left.tasks),
        block_seconds=(min(blocks), max(blocks)) if blocks else None,
        here=here,
    )


def _estimate(outlook: Outlook, workers: int, machine: float, before: float, *, cluster: bool) -> Estimate:
    if not outlook.open:
        return Estimate(0.0, 0.0, 0.0, {}, {}, 0.0, {})
    stages: dict[str, float | None] = {}
    rates: dict[str, float] = {}
    unknown: dict[str, str] = {}
    start = before + machine * (START_SECONDS + CLUSTER_SECONDS * cluster)
    at_least, busy = start, 0.0
    for kind in (kind for kind in FIRST_SECONDS if outlook.open[kind]):
        number = outlook.open[kind]
        work, is_known = outlook.stage(kind)
        share = _share(number, workers)
        taken = machine * FIRST_SECONDS[kind] + max(work * share + machine * TASK_SECONDS, machine * TASK_SECONDS * number)
        busy += work + machine * FIRST_SECONDS[kind] * min(workers, number)
        at_least += taken
        stages[kind], rates[kind] = taken if is_known else None, number / taken
        if not is_known:
            unknown[kind] = "unknown until the first is done"
    return Estimate(None if unknown else at_least, at_least, start, stages, unknown, busy, rates)
