"""What tasks take: seconds by measured rates, bytes on disk and in a worker's memory. This module is pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from pipeline.plan.comparisons import sizes_of
from pipeline.plan.inputs import Inputs, TestSetInputs
from pipeline.plan.rates import Rates
from pipeline.plan.task import CollectSpec, ComparisonSpec, ExtractSpec, ResampleSpec, Task, TrainSpec
from pipeline.procedures.registry import PROCEDURES
from pipeline.resampling.address import CELL, cell_bounds
from pipeline.resampling.exact.budget import POINT_SECONDS, QUICK, tails_budget
from pipeline.resampling.measures import BINS, COUNTS, LANES, SUMS
from pipeline.resampling.studentise import products
from pipeline.study.schema import Study

__all__ = ["STORED_BYTES", "Footprint", "TaskCosts", "estimate_footprint", "resampling_seconds"]

# Seconds where `Rates.machine` is 1, measured there over studies of 6 to 150 systems, 1 to 4 test sizes and 2 to 62 cells.
COLLECT_CUBE, COLLECT_SYSTEM, COLLECT_SLICE, COLLECT_PAIR, COLLECT_CELL, COLLECT_SCORE = 0.11, 1.3e-3, 0.06, 2e-5, 1.1e-6, 5.7e-8
"""A cube; statistics of a system; a metric, procedure and test size (a slice); a pair of it; its cell; a kept score of it."""

COLLECT_READ = 3e-9
"""A pair on a kept replicate: intervals and max-T."""

COLLECT_PRODUCT = 1.5e-10
"""A pair on a unit of a replicate that bootstrap-t draws again: between that of equal and of unequal denominators."""

REPORT_ALL, REPORT_SLICE, REPORT_SLICE_PAIR, REPORT_PAIR = 0.1, 0.08, 1.5e-5, 8e-5
"""A report; a slice; a pair of it; a pair at full size. Slices are told twice where a relation splits the pairs."""

EXTRACT_FILES = 0.003
"""Receipt and file of an extraction."""

STORE_CELL = 6e-7
"""A pair's counts in a cell, on their way to the disk."""

HELD_BYTES = 4 * len(COUNTS) + 8 * len(SUMS) + 2 * BINS + 4
"""One pair in one cell, as a resample task holds it."""

FILLED_BINS = 40
"""Of a histogram, of most pairs: ±5 standard errors."""

STORED_BYTES = 2 * len(COUNTS) + 8 * len(SUMS) + 2 * FILLED_BINS + 2
"""One pair in one cell, as a resample task stores it."""

CUBE_BYTES = 30
"""One pair in one cell in a cube: histograms are summed and counts compressed. Measured."""

STATISTIC_BYTES = 8
STATISTICS = 18
"""Statistics of an item: those of chrF, which has more than the other metrics that are here as they are by default."""

WORKER_BYTES = 300 * 2**20
"""A worker before it holds anything: interpreter and imports. Measured."""

BATCH_BYTES = 2 * 2**26
"""Weights, sums and scores of one batch, and what is made on the way."""


class TaskCosts:
    """What each task of a study should take on one core, by measured rates.

    Parameters
    ----------
    guess : bool
        Take a slow machine's rates for passes that were not measured, in place of None.
    """

    def __init__(self, study: Study, inputs: Inputs, rates: Rates, *, guess: bool = False) -> None:
        self.study, self.inputs, self.rates, self.guess = study, inputs, rates, guess
        self._test_sets = {test_set.name: test_set for test_set in inputs.test_sets}

    def seconds(self, task: Task) -> float | None:
        """Return the seconds of a task; None where nothing is known of it."""
        spec = task.spec
        if isinstance(spec, TrainSpec):
            return self.rates.training(spec.model, spec.fraction)
        if isinstance(spec, ExtractSpec):
            rates = self.rates.outputs.get(spec.test_set, {}).get(spec.metric)
            if rates is None:
                return None
            files = self.rates.machine * EXTRACT_FILES
            return files + rates.load + rates.extract * self._test_sets[spec.test_set].n_items
        if isinstance(spec, ResampleSpec):
            if not self.guess and not all(self.rates.has_pass(spec.procedure, column.metric) for column in spec.columns):
                return None
            return _resample_seconds(spec, self.rates)
        if isinstance(spec, CollectSpec):
            return self.rates.machine * self._collect_seconds(self._test_sets[spec.test_set])
        return self.rates.machine * (REPORT_ALL + sum(self._report_seconds(t) for t in self.inputs.test_sets))

    def _collect_seconds(self, test_set: TestSetInputs) -> float:
        slices, pairs, systems = self._slices(test_set), _pairs(test_set), len(test_set.outputs)
        cells = -(-self.study.resampling.replicates // CELL)
        one = COLLECT_SLICE + pairs * (COLLECT_PAIR + COLLECT_CELL * cells)
        kept = self.study.resampling.scores_kept * (COLLECT_SCORE * systems + COLLECT_READ * pairs)
        return COLLECT_CUBE + COLLECT_SYSTEM * systems * len(self.inputs.metrics) + slices * (one + kept) + self._beside(test_set)

    def _beside(self, test_set: TestSetInputs) -> float:
        return self._again(test_set) + self._tails(test_set)

    def _tails(self, test_set: TestSetInputs) -> float:
        """Return the seconds of exact tails; at most, as only some pairs have one, and those of 0/1 scores take next to none."""
        resampling = self.study.resampling
        if (
            not any(PROCEDURES[name].has_tails for name in resampling.procedures)
            or resampling.tails == "none"
            or resampling.strata is not None
        ):
            return 0.0
        pairs, sizes = _pairs(test_set), sizes_of(self.study, test_set)
        each = [(size.label == "full", pairs * (8 * size.n_units + 2 * QUICK.points)) for size in sizes]
        budget = {"replicates": resampling.replicates, "pairs": pairs}
        points = sum(min(tails_budget(is_full=is_full, **budget), most) for is_full, most in each)
        return POINT_SECONDS * points * sum(metric.form == "ratio" for metric in self.inputs.metrics)

    def _again(self, test_set: TestSetInputs) -> float:
        """Return the seconds of bootstrap-t; at most, as metrics that are no ratios take none."""
        resampling = self.study.resampling
        if not any(name.endswith("studentised") for name in resampling.intervals):
            return 0.0
        systems, units = len(test_set.outputs), sum(size.n_units for size in sizes_of(self.study, test_set))
        return COLLECT_PRODUCT * len(self.inputs.metrics) * products(systems=systems, units=units, kept=resampling.scores_kept)

    def _report_seconds(self, test_set: TestSetInputs) -> float:
        sizes = len(sizes_of(self.study, test_set))
        pairs, times = _pairs(test_set), 2 if self.study.systems.relation else 1
        slices = self._slices(test_set)
        return slices * (times * (REPORT_SLICE + REPORT_SLICE_PAIR * pairs) + REPORT_PAIR * pairs / sizes)

    def _slices(self, test_set: TestSetInputs) -> int:
        return len(sizes_of(self.study, test_set)) * len(self.inputs.metrics) * len(self.study.resampling.procedures)


def _pairs(test_set: TestSetInputs) -> int:
    systems = len(test_set.outputs)
    return systems * (systems - 1) // 2


def _resample_seconds(spec: ResampleSpec, rates: Rates) -> float:
    replicates = cell_bounds(spec.stop_cell - 1, spec.replicates)[1] - spec.first_cell * CELL
    draw, setup, replicate = 0.0, 0.0, 0.0
    for column in spec.columns:
        own = rates.of_pass(spec.procedure, column.metric)
        shape = spec.n_units, len(column.systems), _count_pairs(column.pairs, len(column.systems))
        draw = max(draw, own.draw * spec.n_units)
        setup += own.task(*shape) + rates.machine * STORE_CELL * shape[2] * (spec.stop_cell - spec.first_cell)
        replicate += own.replicate(*shape)
    return setup + replicates * (draw + replicate)


@lru_cache(maxsize=64)
def _count_pairs(mask: str, systems: int) -> int:
    # All blocks of a test size have one mask: unpacking half a million bits for each would take longer than planning.
    return int(ComparisonSpec("", "", {}, None, ("",) * systems, mask, "").pair_mask().sum())


def resampling_seconds(study: Study, inputs: Inputs, rates: Rates) -> float:
    """Return the seconds of all replicates of a study on one core, whatever of it is done."""
    metrics = [metric.name for metric in inputs.metrics]
    seconds = 0.0
    for test_set in inputs.test_sets:
        systems, pairs = len(test_set.outputs), _pairs(test_set)
        for size in sizes_of(study, test_set):
            for procedure in study.resampling.drawn:
                seconds += rates.replicate(procedure, metrics, units=size.n_units, systems=systems, pairs=pairs)
    return seconds * study.resampling.replicates


@dataclass(frozen=True)
class Footprint:
    """Bytes: what open tasks add to the folder of runs, and the most that one worker should hold."""

    disk: int
    memory: int


def estimate_footprint(study: Study, inputs: Inputs, tasks: Iterable[Task]) -> Footprint:
    """Return what open tasks should write, and what a worker should need for the largest of them."""
    items = {test_set.name: test_set.n_items for test_set in inputs.test_sets}
    disk, memory = 0, 0
    for task in tasks:
        spec = task.spec
        if isinstance(spec, ExtractSpec):
            disk += items[spec.test_set] * STATISTICS * STATISTIC_BYTES
        elif isinstance(spec, ResampleSpec):
            cells = spec.stop_cell - spec.first_cell
            pairs = sum(len(column.systems) * (len(column.systems) - 1) // 2 for column in spec.columns)
            systems = sum(len(column.systems) for column in spec.columns)
            kept = sum(int(column.kept_mask().sum()) for column in spec.columns)
            scores, stored = kept * cells * CELL * 8, pairs * cells * STORED_BYTES
            disk += stored + scores
            # The arrays once more as bytes while they are written; running sums; statistics in int64 and in floats.
            arrays = pairs * cells * HELD_BYTES + stored + 2 * scores
            running = pairs * len(SUMS) * LANES * 8
            memory = max(memory, arrays + running + systems * spec.n_units * STATISTICS * 2 * STATISTIC_BYTES)
        elif isinstance(spec, CollectSpec):
            disk += _cube_bytes(study, inputs, spec.test_set)
    return Footprint(disk, WORKER_BYTES + BATCH_BYTES + memory if memory else WORKER_BYTES)


def _cube_bytes(study: Study, inputs: Inputs, name: str) -> int:
    test_set = next(t for t in inputs.test_sets if t.name == name)
    systems = len(test_set.outputs)
    slices = len(sizes_of(study, test_set)) * len(inputs.metrics) * len(study.resampling.procedures)
    cells = -(-study.resampling.replicates // CELL)
    counts = systems * (systems - 1) // 2 * cells * CUBE_BYTES
    scores = systems * study.resampling.scores_kept * 8
    return int(slices * (counts + scores))
