"""Measures how fast this machine does what a study asks. This module runs the tasks' own code on a small piece of the study.

It measures the processor's time on one core, so that other work on the machine counts little; what is compiled or imported on
the way is run once before it is measured. Most of what a run pays for it is the loading of kernels.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from pipeline.errors import PipelineError
from pipeline.metrics.registry import is_own, load_metric
from pipeline.plan.blocks import FASTEST
from pipeline.plan.comparisons import Comparison, comparisons_of, sizes_of
from pipeline.plan.inputs import Inputs, MetricInputs, TestSetInputs
from pipeline.plan.rates import OutputRates, PassRates, Rates, fit_rates
from pipeline.plan.task import ComparisonSpec, ResampleSpec, Task, pack_mask, triangle
from pipeline.procedures.registry import PROCEDURES
from pipeline.resampling.address import CELL
from pipeline.store.addresses import digest
from pipeline.store.runs import STORE_NAME, Store
from pipeline.study.schema import Study
from pipeline.tasks.resample import resample_block
from pipeline.tasks.sample_outputs import Sample, sample_outputs, store_sample

__all__ = ["FOR_BLOCKS", "FOR_TIMES", "Effort", "calibrate", "is_ours", "machine_factor"]


@dataclass(frozen=True)
class Effort:
    """How much a calibration does.

    Parameters
    ----------
    systems, items : int
        The most that are run; larger studies are extrapolated, every cost being linear.
    sample_seconds : float
        About so much is spent on counting statistics of those items, by all metrics together.
    seconds : float
        Of each timed block, unless what comes before its first replicate takes longer.
    times : int
        That a block is timed; the least counts, since what else the machine does can only make it longer.
    everything : bool
        Measure also what tasks take that are no blocks: counting the statistics of every test set, and plain Python.
    """

    systems: int
    items: int
    sample_seconds: float
    seconds: float
    times: int
    everything: bool


FOR_BLOCKS = Effort(systems=32, items=64, sample_seconds=0.05, seconds=0.008, times=2, everything=False)
"""For a run, which only cuts blocks by it: they may be a third longer or shorter than was meant."""

FOR_TIMES = Effort(systems=64, items=1024, sample_seconds=0.4, seconds=0.025, times=3, everything=True)
"""For a plan, which tells the time."""

MAX_UNITS, FEW_UNITS = 2048, 128
"""The largest shape that is run, and one on which scores and pairs are a good part of the time."""

FEW, MANY = 32, 4 * CELL
"""Replicates of a task that shows what it takes before its first one; the most that are timed."""

YARDSTICK_SECONDS = 0.0055
"""What `machine_factor` runs, on the machine where the constants of plans were measured."""


def calibrate(
    study: Study,
    inputs: Inputs,
    store: Store,
    scratch: Path,
    *,
    effort: Effort = FOR_TIMES,
    check: Callable[[], None] = lambda: None,
) -> Rates:
    """Measure the rates of a study on this machine.

    Parameters
    ----------
    study, inputs
        What is asked, and what was found.
    store : Store
        Where the frames of the test sets are.
    scratch : Path
        A folder for temporary files, which the caller removes.
    effort : Effort
        How much is done.
    check : callable
        Called between blocks; what it raises ends the calibration.

    Returns
    -------
    Rates
        Without trainings. What could not be measured stands in `Rates.unknown`.
    """
    outputs: dict[str, dict[str, OutputRates]] = {}
    passes: dict[str, dict[str, PassRates]] = {}
    unknown: dict[str, str] = {}
    largest = max(inputs.test_sets, key=lambda test_set: test_set.n_units)
    asked = inputs.test_sets if effort.everything else (largest,)
    seconds = effort.sample_seconds / max(len(asked) * len(inputs.metrics), 1)
    with threadpool_limits(1):
        for test_set in asked:
            for metric in inputs.metrics:
                check()
                if not is_ours(metric):
                    # It may wait for a device or a network, fail, or last: that is for tasks, which can be ended.
                    unknown[f"{metric.name} on {test_set.name}"] = "a metric of another package is not run before the study is"
                    continue
                try:
                    sample = sample_outputs(study, inputs, test_set, metric, store, seconds=seconds, most=effort.items)
                    if effort.everything:
                        outputs.setdefault(test_set.name, {})[metric.name] = sample.rates
                    if test_set is largest:
                        for column in _columns(study, inputs, test_set, metric.name):
                            rates = _measure_pass(study, test_set, column, sample, scratch, effort=effort, check=check)
                            passes.setdefault(column.procedure, {})[metric.name] = rates
                except PipelineError as error:
                    unknown[f"{metric.name} on {test_set.name}"] = str(error.problems[0].message)
                except ValueError as error:  # sums that are not exact, say: the tasks that meet it tell
                    unknown[f"{metric.name} on {test_set.name}"] = str(error)
        machine = machine_factor() if effort.everything else 1.0
    return Rates(passes=passes, outputs=outputs, unknown=unknown, machine=machine)


def is_ours(metric: MetricInputs) -> bool:
    """Say whether a metric comes with this package, so that it does nothing but compute, item by item."""
    return not is_own(metric.name) and type(load_metric(metric.name, dict(metric.options))).__module__.startswith("pipeline.")


def machine_factor() -> float:
    """Return how long plain Python takes here, as a multiple of the machine where the constants of plans were measured."""
    return min(_processor_seconds(_yardstick) for _ in range(5)) / YARDSTICK_SECONDS


def _yardstick() -> None:
    json.loads(json.dumps([{"number": number, "half": number / 2, "name": str(number)} for number in range(5000)]))


def _processor_seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def _columns(study: Study, inputs: Inputs, test_set: TestSetInputs, metric: str) -> Iterator[Comparison]:
    full = sizes_of(study, test_set)[-1]
    for column in comparisons_of(study, inputs, test_set, full, test_set.outputs):
        if column.metric.name == metric and PROCEDURES[column.procedure].draws:
            yield column


def _measure_pass(
    study: Study,
    test_set: TestSetInputs,
    column: Comparison,
    sample: Sample,
    runs: Path,
    *,
    effort: Effort,
    check: Callable[[], None],
) -> PassRates:
    """Time blocks of four shapes, which tell draws, products, scores and pairs apart."""
    units = min(test_set.n_units, MAX_UNITS)
    few = min(FEW_UNITS, ceil(units / 2))
    systems = max(2, min(len(test_set.outputs), effort.systems))
    every = systems * (systems - 1) // 2
    shapes = dict.fromkeys([(units, 2, 1), (units, systems, every), (few, systems, every), (few, systems, systems - 1)])
    keys = store_sample(sample, systems, units, Store(runs / STORE_NAME))
    times = {}
    for shape in shapes:
        spec = _spec(study, test_set, column, keys, *shape)
        times[shape] = _time_block(spec, runs, shape, effort=effort, check=check)
    return fit_rates(times)


def _spec(
    study: Study,
    test_set: TestSetInputs,
    column: Comparison,
    keys: tuple[str, tuple[str, ...]],
    units: int,
    systems: int,
    pairs: int,
) -> ResampleSpec:
    first, second = triangle(systems)
    # All pairs, or the neighbours alone: every system takes part in both.
    asked = np.ones(first.size, np.bool_) if pairs == first.size else second == first + 1
    one = ComparisonSpec(
        column=column.address,
        metric=column.metric.name,
        options=column.metric.options,
        margin=column.margin,
        systems=keys[1][:systems],
        pairs=pack_mask(asked),
        kept=pack_mask(np.zeros(systems, np.bool_)),
    )
    return ResampleSpec(
        test_set=test_set.name,
        frame=keys[0],
        size="full",
        n_units=units,
        seed=study.seed,
        rule=study.resampling.test_sizes.draw,
        procedure=column.procedure,
        replicates=FEW,
        first_cell=0,
        stop_cell=1,
        columns=(one,),
    )


def _time_block(
    spec: ResampleSpec, runs: Path, shape: tuple[int, int, int], *, effort: Effort, check: Callable[[], None]
) -> tuple[float, float]:
    """Return the seconds of a task before its first replicate, and of each replicate."""

    def take(replicates: int, times: int) -> float:
        asked = replace(spec, replicates=replicates, stop_cell=-(-replicates // CELL))
        task = Task("resample", digest(["calibration"]), "calibration", asked)
        least = float("inf")
        for _ in range(times):
            check()
            least = min(least, _processor_seconds(lambda: resample_block(task, runs)))
        return least

    take(FEW, 1)  # imports, compiled code, statistics
    before = take(FEW, effort.times)
    # No shorter than what comes before the first replicate, or the difference would be noise.
    enough = max(effort.seconds, before)
    slow = PassRates()
    guess = (slow.draw * shape[0] + slow.replicate(*shape)) / FASTEST
    replicates = min(max(ceil(enough / guess), 8 * FEW), MANY)
    while (taken := take(replicates, effort.times) - before) < enough / 2 and replicates < MANY:
        replicates = min(replicates * max(2, min(8, ceil(enough / max(taken, 1e-9)))), MANY)
    each = max(taken, 0.0) / (replicates - FEW)
    return max(before - FEW * each, 0.0), each
