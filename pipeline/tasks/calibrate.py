"""Measures how fast this machine does what a study asks. This module runs the tasks' own code on a small piece of the study.

It measures the processor's time on one core, so that other work on the machine counts little; what is compiled or imported on
the way is run once before it is measured.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pipeline.errors import PipelineError
from pipeline.interfaces import Statistics
from pipeline.items.frame import Frame
from pipeline.metrics.registry import load_metric
from pipeline.resampling.address import CELL
from pipeline.store.addresses import digest
from pipeline.store.files import write_arrays
from pipeline.store.runs import STORE_NAME, Store
from pipeline.study.columns import Column, columns_of, sizes_of
from pipeline.study.inputs import Inputs, MetricInputs, TestSetInputs
from pipeline.study.rates import OutputRates, PassRates, Rates
from pipeline.study.schema import Study
from pipeline.study.task import ColumnSpec, ResampleSpec, Task, pack_mask, triangle
from pipeline.tasks.extract import store_frame
from pipeline.tasks.resample import resample_block
from pipeline.tasks.sample_outputs import Sample, sample_outputs

__all__ = ["calibrate", "fit_rates", "is_ours", "machine_factor"]

MAX_UNITS, MAX_SYSTEMS = 2048, 64
"""The largest shape that is run; larger studies are extrapolated, every cost being linear."""

FEW = 32
"""Replicates of a task that shows what it takes before its first one."""

YARDSTICK_SECONDS = 0.0055
"""What `machine_factor` runs, on the machine where the constants of plans were measured."""


def calibrate(study: Study, inputs: Inputs, store: Store, *, seconds: float = 1.2) -> Rates:
    """Measure the rates of a study on this machine.

    Parameters
    ----------
    study, inputs
        What is asked, and what was found.
    store : Store
        Where the frames of the test sets are.
    seconds : float
        About so much time is spent on measuring, beside imports and the loading of compiled code.

    Returns
    -------
    Rates
        Without trainings. What could not be measured stands in `Rates.unknown`.
    """
    outputs: dict[str, dict[str, OutputRates]] = {}
    passes: dict[str, dict[str, PassRates]] = {}
    unknown: dict[str, str] = {}
    largest = max(inputs.test_sets, key=lambda test_set: test_set.n_units)
    pieces = max(len(inputs.test_sets) * len(inputs.metrics), 1)
    with threadpool_limits(1), tempfile.TemporaryDirectory(prefix="pipeline-calibrate-") as scratch:
        for test_set in inputs.test_sets:
            for metric in inputs.metrics:
                if not is_ours(metric):
                    # It may wait for a device or a network, fail, or last: that is for tasks, which can be ended.
                    unknown[f"{metric.name} on {test_set.name}"] = "a metric of another package is not run before the study is"
                    continue
                try:
                    sample = sample_outputs(study, inputs, test_set, metric, store, seconds=seconds / 3 / pieces)
                    outputs.setdefault(test_set.name, {})[metric.name] = sample.rates
                    if test_set is largest:
                        for column in _columns(study, inputs, test_set, metric.name):
                            budget = seconds * 2 / 3 / (len(inputs.metrics) * len(study.resampling.procedures))
                            rates = _measure_pass(study, test_set, column, sample, Path(scratch), seconds=budget)
                            passes.setdefault(column.procedure, {})[metric.name] = rates
                except PipelineError as error:
                    unknown[f"{metric.name} on {test_set.name}"] = str(error.problems[0].message)
                except ValueError as error:  # sums that are not exact, say: the tasks that meet it tell
                    unknown[f"{metric.name} on {test_set.name}"] = str(error)
        machine = machine_factor()
    return Rates(passes=passes, outputs=outputs, unknown=unknown, machine=machine)


def is_ours(metric: MetricInputs) -> bool:
    """Say whether a metric comes with this package, so that it does nothing but compute, item by item."""
    return type(load_metric(metric.name, dict(metric.options))).__module__.startswith("pipeline.")


def machine_factor() -> float:
    """Give how long plain Python takes here, as a multiple of the machine where the constants of plans were measured."""
    return min(_processor_seconds(_yardstick) for _ in range(5)) / YARDSTICK_SECONDS


def _yardstick() -> None:
    json.loads(json.dumps([{"number": number, "half": number / 2, "name": str(number)} for number in range(5000)]))


def _processor_seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def _columns(study: Study, inputs: Inputs, test_set: TestSetInputs, metric: str) -> Iterator[Column]:
    full = sizes_of(study, test_set)[-1]
    for column in columns_of(study, inputs, test_set, full, test_set.outputs):
        if column.metric.name == metric:
            yield column


def _measure_pass(
    study: Study, test_set: TestSetInputs, column: Column, sample: Sample, runs: Path, *, seconds: float
) -> PassRates:
    """Time blocks of four shapes, which tell draws, products, scores and pairs apart."""
    units = min(test_set.n_units, MAX_UNITS)
    sizes = [size.n_units for size in sizes_of(study, test_set) if size.n_units < units]
    small = min(sizes) if sizes else -(-units // 2)
    systems = max(2, min(len(test_set.outputs), MAX_SYSTEMS))
    every = systems * (systems - 1) // 2
    shapes = list(dict.fromkeys([(units, 2, 1), (units, systems, systems - 1), (units, systems, every), (small, systems, every)]))
    keys = _write_statistics(sample, systems, units, runs)
    times = {}
    for shape in shapes:
        spec = _spec(study, test_set, column, keys, *shape)
        times[shape] = _time_block(spec, runs, seconds=seconds / len(shapes))
    return fit_rates(times)


def _spec(
    study: Study, test_set: TestSetInputs, column: Column, keys: tuple[str, tuple[str, ...]], units: int, systems: int, pairs: int
) -> ResampleSpec:
    first, second = triangle(systems)
    # All pairs, or the neighbours alone: every system takes part in both.
    asked = np.ones(first.size, np.bool_) if pairs == first.size else second == first + 1
    one = ColumnSpec(
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


def _time_block(spec: ResampleSpec, runs: Path, *, seconds: float) -> tuple[float, float]:
    """Give the seconds of a task before its first replicate, and of each replicate."""

    def take(replicates: int) -> float:
        asked = replace(spec, replicates=replicates, stop_cell=-(-replicates // CELL))
        task = Task("resample", digest(["calibration"]), "calibration", asked)
        return _processor_seconds(lambda: resample_block(task, runs))

    take(FEW)  # imports, compiled code, statistics
    before = min(take(FEW) for _ in range(3))
    # No shorter than what comes before the first replicate, or the difference would be noise.
    enough = before + max(seconds / 8, before)
    replicates = 8 * FEW
    while (taken := take(replicates)) < enough or (taken := min(taken, take(replicates), take(replicates))) < enough:
        # The least of three: what else the machine does can only make it longer, or make a short one look long enough.
        if replicates >= 4 * CELL:
            break
        replicates *= 2
    each = max(taken - before, 0.0) / (replicates - FEW)
    return max(before - FEW * each, 0.0), each


def fit_rates(times: Mapping[tuple[int, int, int], tuple[float, float]]) -> PassRates:
    """Give the rates that explain what blocks of some shapes took.

    Parameters
    ----------
    times : mapping of (units, systems, pairs) to (seconds, seconds)
        Of a task before its first replicate, and of each replicate.
    """
    shapes = np.array(list(times), np.float64)
    units, systems, pairs = shapes.T
    setup, each = np.array(list(times.values())).T
    draw, product, score, pair = _non_negative(np.stack([units, units * systems, systems, pairs], axis=1), each)
    once, by_system, by_pair = _non_negative(np.stack([np.ones(len(units)), units * systems, units * pairs], axis=1), setup)
    return PassRates(draw, product, score, pair, once, by_system, by_pair)


def _non_negative(features: NDArray[np.float64], seconds: NDArray[np.float64]) -> list[float]:
    """Give the non-negative coefficients with the least relative error: the best of all subsets of so few features."""
    weight = 1.0 / np.maximum(seconds, 0.1 * seconds.max() + 1e-15)
    scaled, target = features * weight[:, None], seconds * weight
    best, least = np.zeros(features.shape[1]), float(target @ target)
    for number in range(1, features.shape[1] + 1):
        for subset in combinations(range(features.shape[1]), number):
            found = np.linalg.lstsq(scaled[:, subset], target, rcond=None)[0]
            missed = scaled[:, subset] @ found - target
            if found.min() >= 0.0 and float(missed @ missed) < least:
                least = float(missed @ missed)
                best = np.zeros(features.shape[1])
                best[list(subset)] = found
    return [float(value) for value in best]


def _write_statistics(sample: Sample, systems: int, units: int, runs: Path) -> tuple[str, tuple[str, ...]]:
    """Store statistics of so many systems on so many units, and their frame; give the keys of both."""
    store = Store(runs / STORE_NAME)
    numbers = tuple(str(number) for number in range(units))
    key = digest(["calibration", units])
    store_frame(Frame("calibration", numbers, tuple(range(units)), numbers), key, store)
    keys = tuple(digest(["calibration", sample.name, number]) for number in range(systems))
    for name, statistics in zip(keys, sample.spread(systems, units), strict=True):
        write_arrays(store.path("statistics", name, ".arrays"), _arrays(statistics))
    return key, keys


def _arrays(statistics: Statistics) -> Mapping[str, NDArray[np.generic]]:
    return {
        "values": statistics.values.astype(np.int64),
        "decimals": np.array(statistics.decimals, np.int64),
        "rounding_error": np.array([statistics.rounding_error]),
    }
