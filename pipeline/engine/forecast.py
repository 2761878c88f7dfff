"""What the open part of a study should take here. This module brings together what exists, what is measured and what follows."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pipeline.engine.calibration import RUN_SECONDS, is_short, measure_rates, read_rates
from pipeline.engine.history import past_trainings
from pipeline.store.runs import RunDirectory, Store
from pipeline.study.costs import TaskCosts
from pipeline.study.footprint import Footprint, estimate_footprint
from pipeline.study.inventory import Inventory
from pipeline.study.plan import Plan, plan_study
from pipeline.study.rates import Rates
from pipeline.study.task import Task
from pipeline.study.timeline import Estimate, estimate_time
from pipeline.tasks.manifest import Manifest
from pipeline.tasks.survey import StudySurvey
from pipeline.tasks.time_trainings import time_trainings

__all__ = ["Forecast", "forecast_study"]

PLAN_SECONDS = 1.2
"""What a plan spends on measuring, beside imports and the loading of compiled code."""


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
    """

    everything: Plan
    left: Plan
    estimate: Estimate
    footprint: Footprint
    block_seconds: tuple[float, float] | None


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
        done = plan(inventory)
        nothing = estimate_time((), TaskCosts(study, inputs, Rates()), workers=workers)
        return Forecast(plan(Inventory()), done, nothing, estimate_footprint(study, inputs, ()), None)
    kept = read_rates(run)
    calibrates = kept is None and block_cells is None and not is_short(manifest)
    start = time.perf_counter()
    rates = kept or _measure(manifest, survey)
    if calibrates:
        # The run will measure too, but not for as long.
        before += max(time.perf_counter() - start - (PLAN_SECONDS - RUN_SECONDS), 0.0)
    # As `settle_rates` would have it.
    grid = rates if calibrates or kept else Rates()
    left = plan(inventory, rates=grid)
    rates = _with_trainings(rates, run.root.parent, left.tasks)
    costs = TaskCosts(study, inputs, rates)
    side_by_side = min(workers, os.cpu_count() or 1) if local else workers
    blocks = [seconds for task in left.tasks if task.kind == "resample" and (seconds := costs.seconds(task)) is not None]
    return Forecast(
        everything=plan(Inventory(), rates=grid),
        left=left,
        estimate=estimate_time(left.tasks, costs, workers=side_by_side, start=before),
        footprint=estimate_footprint(study, inputs, left.tasks),
        block_seconds=(min(blocks), max(blocks)) if blocks else None,
    )


def _measure(manifest: Manifest, survey: StudySurvey) -> Rates:
    with tempfile.TemporaryDirectory(prefix="pipeline-plan-") as scratch:
        store = Store(Path(scratch))
        survey.store_frames(store)
        return measure_rates(manifest, store, seconds=PLAN_SECONDS)


def _with_trainings(rates: Rates, runs: Path, tasks: Sequence[Task]) -> Rates:
    """Add what open trainings take: what they took beside this run, else what one of each takes now."""
    open_ = [task for task in tasks if task.kind == "train"]
    known = past_trainings(runs, open_)
    untold = [task for task in open_ if getattr(task.spec, "model", "") not in known]
    timed, unknown = time_trainings(untold)
    return replace(rates, trainings={**known, **timed}, unknown={**rates.unknown, **unknown})
