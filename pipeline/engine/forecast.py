"""What the open part of a study should take here: foretold before it starts, and corrected while it runs by what tasks took."""

from __future__ import annotations

import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pipeline.engine.calibration import is_short, measure_rates, read_rates
from pipeline.plan.costs import Footprint, TaskCosts, estimate_footprint
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import Plan, plan_study
from pipeline.plan.rates import Rates
from pipeline.plan.task import Receipt, Task, TrainSpec
from pipeline.plan.timeline import Estimate, estimate_time
from pipeline.record.manifest import Manifest
from pipeline.store.runs import RunDirectory, Store
from pipeline.survey.survey import StudySurvey
from pipeline.tasks.time_trainings import past_trainings, time_trainings

__all__ = ["Forecast", "Outlook", "forecast_study"]

CALIBRATION_SECONDS = 0.6
"""What a run spends on measuring before it plans, where the constants of plans were measured."""

PRIOR_SECONDS = 2.0
"""How much of observation outweighs a prediction: the first task of a worker also imports what it needs."""


@dataclass(frozen=True)
class ModelForecast:
    """What the trainings of one base model should take.

    Parameters
    ----------
    model : str
    tasks, open : int
        All of them, and those that are still to do.
    each : (float, float) or None
        Seconds of the shortest and the longest open one; None where nothing is known, or nothing is open.
    seconds : float or None
        Of all open ones, one after the other.
    why : str
        Why nothing is known.
    """

    model: str
    tasks: int
    open: int
    each: tuple[float, float] | None
    seconds: float | None
    why: str


@dataclass(frozen=True)
class Forecast:
    """All tasks of a study, those that are open, and what these should take.

    Parameters
    ----------
    everything, left : Plan
        On one grid of blocks: the one a run would have.
    estimate : Estimate
        Of time.
    footprint : Footprint
        Of disk and memory.
    block_seconds : (float, float) or None
        The shortest and the longest open resample task; None where none is open.
    trainings : tuple of ModelForecast
        One a base model.
    """

    everything: Plan
    left: Plan
    estimate: Estimate
    footprint: Footprint
    block_seconds: tuple[float, float] | None
    trainings: tuple[ModelForecast, ...] = ()


def forecast_study(
    manifest: Manifest,
    survey: StudySurvey,
    run: RunDirectory,
    inventory: Inventory,
    *,
    workers: int,
    block_cells: int | None,
    local: bool,
    before: float,
) -> Forecast:
    """Measure what is needed for an estimate, unless nothing is open, and make it.

    Parameters
    ----------
    manifest, survey, run, inventory
        What is asked, what was found, where the run is or would be, and what exists.
    workers, block_cells
        As the run would be given them.
    local : bool
        Whether workers are processes on this machine: more than it has cores are no faster.
    before : float
        Seconds a run takes before it can plan, beside what is known here.
    """
    study, inputs = manifest.study, manifest.inputs
    plan = partial(plan_study, study, inputs, run=run.id, block_cells=block_cells, workers=workers)
    if not plan(inventory).tasks:
        everything, done, costs = plan(Inventory()), plan(inventory), TaskCosts(study, inputs, Rates())
        nothing = estimate_time((), costs, workers=workers)
        footprint = estimate_footprint(study, inputs, ())
        return Forecast(everything, done, nothing, footprint, None, _by_model(everything, done, costs))
    rates = _measure(manifest, survey)
    # As `settle_rates` would have it: kept, or measured with less effort, or none.
    kept = read_rates(run, manifest)
    calibrates = kept is None and block_cells is None and not is_short(manifest)
    if calibrates:
        before += rates.machine * CALIBRATION_SECONDS
    grid = kept or (rates if calibrates else Rates())
    left = plan(inventory, rates=grid)
    rates = _with_trainings(rates, run.root.parent, left.tasks)
    costs = TaskCosts(study, inputs, rates)
    side_by_side = min(workers, os.cpu_count() or 1) if local else workers
    blocks = [seconds for task in left.tasks if task.kind == "resample" and (seconds := costs.seconds(task)) is not None]
    everything = plan(Inventory(), rates=grid)
    return Forecast(
        everything=everything,
        left=left,
        estimate=estimate_time(left.tasks, costs, workers=side_by_side, start=before),
        footprint=estimate_footprint(study, inputs, left.tasks),
        block_seconds=(min(blocks), max(blocks)) if blocks else None,
        trainings=_by_model(everything, left, costs),
    )


def _by_model(everything: Plan, left: Plan, costs: TaskCosts) -> tuple[ModelForecast, ...]:
    models = Counter(task.spec.model for task in everything.tasks if isinstance(task.spec, TrainSpec))
    seconds: dict[str, list[float | None]] = {model: [] for model in models}
    for task in left.tasks:
        if isinstance(task.spec, TrainSpec):
            seconds[task.spec.model].append(costs.seconds(task))
    forecasts = []
    for model, found in seconds.items():
        known = [taken for taken in found if taken is not None]
        whole = len(known) == len(found) > 0
        why = "" if len(known) == len(found) else costs.rates.unknown.get(model, "it was not measured")
        each = (min(known), max(known)) if whole else None
        forecasts.append(ModelForecast(model, models[model], len(found), each, sum(known) if whole else None, why))
    return tuple(forecasts)


def _measure(manifest: Manifest, survey: StudySurvey) -> Rates:
    with tempfile.TemporaryDirectory(prefix="pipeline-plan-") as scratch:  # a plan writes nothing into a folder of runs
        store = Store(Path(scratch) / "frames")
        survey.store_frames(store)
        return measure_rates(manifest, store, Path(scratch))


def _with_trainings(rates: Rates, runs: Path, tasks: Sequence[Task]) -> Rates:
    """Add what open trainings take: what they took beside this run, else what one of each takes now."""
    open_ = [task for task in tasks if task.kind == "train"]
    known = past_trainings(runs, open_)
    untold = [task for task in open_ if getattr(task.spec, "model", "") not in known]
    timed, unknown = time_trainings(untold)
    return replace(rates, trainings={**known, **timed}, unknown={**rates.unknown, **unknown})


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
        """Return the time left with so many workers; None while nothing is known of a stage."""
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
