"""What tasks take, and how many cells a task should have. This module turns rates into seconds; it is pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, floor

from pipeline.resampling.address import CELL, cell_bounds
from pipeline.study.columns import sizes_of
from pipeline.study.inputs import Inputs, TestSetInputs
from pipeline.study.rates import PassRates, Rates
from pipeline.study.schema import Study
from pipeline.study.task import CollectSpec, ColumnSpec, ExtractSpec, ResampleSpec, Task, TrainSpec

__all__ = ["LONGEST_BLOCK", "SHORTEST_BLOCK", "TASKS_A_SECOND", "TaskCosts", "choose_block_cells", "resampling_seconds"]

BLOCK_SECONDS = 2.0
"""What a resample task should take: long against 2 ms of scheduling, short against a lost worker."""

SHORTEST_BLOCK, LONGEST_BLOCK = 0.5, 5.0
"""Seconds between which a resample task stays, unless one cell takes longer or the whole test size less."""

TASKS_A_SECOND = 100.0
"""What a study asks of a scheduler at most: beyond 500 workers blocks grow past `LONGEST_BLOCK`."""

# Seconds where `Rates.machine` is 1, measured there over studies of 6 to 150 systems, 1 to 4 test sizes and 2 to 62 cells.
COLLECT_CUBE, COLLECT_SYSTEM, COLLECT_SLICE, COLLECT_PAIR, COLLECT_CELL, COLLECT_SCORE = 0.11, 1.3e-3, 0.06, 2e-5, 1.1e-6, 5.7e-8
"""A cube; statistics of a system; a metric, procedure and test size (a slice); a pair of it; its cell; a kept score of it."""

REPORT_ALL, REPORT_SLICE, REPORT_SLICE_PAIR, REPORT_PAIR = 0.1, 0.08, 1.5e-5, 8e-5
"""A report; a slice; a pair of it; a pair at full size. Slices are told twice where a relation splits the pairs."""

EXTRACT_FILES = 0.003
"""Receipt and file of an extraction."""

STORE_CELL = 6e-7
"""A pair's counts in a cell, on their way to the disk."""


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
        """Give the seconds of a task; None where nothing is known of it."""
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
        kept = COLLECT_SCORE * self.study.resampling.scores_kept * systems
        return COLLECT_CUBE + COLLECT_SYSTEM * systems * len(self.inputs.metrics) + slices * (one + kept)

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
    return int(ColumnSpec("", "", {}, None, ("",) * systems, mask, "").pair_mask().sum())


def resampling_seconds(study: Study, inputs: Inputs, rates: Rates) -> float:
    """Give the seconds of all replicates of a study on one core, whatever of it is done."""
    seconds = 0.0
    for test_set in inputs.test_sets:
        systems, pairs = len(test_set.outputs), _pairs(test_set)
        for size in sizes_of(study, test_set):
            for procedure in study.resampling.procedures:
                each = [rates.of_pass(procedure, metric.name) for metric in inputs.metrics]
                seconds += _replicate(each, size.n_units, systems, pairs)
    return seconds * study.resampling.replicates


def _replicate(each: Sequence[PassRates], units: int, systems: int, pairs: int) -> float:
    """Give the seconds of one replicate of metrics that share their draws."""
    draws = max((one.draw for one in each), default=0.0) * units
    return draws + sum(one.replicate(units, systems, pairs) for one in each)


def choose_block_cells(
    rates: Rates, *, procedure: str, metrics: Sequence[str], n_units: int, systems: int, cells: int, workers: int
) -> int:
    """Give the number of cells of a resample task.

    They should take about `BLOCK_SECONDS`, less where workers would stand idle, but not below `SHORTEST_BLOCK` nor above
    `LONGEST_BLOCK`; with very many workers as long as keeps the study at `TASKS_A_SECOND`. A cell is the smallest piece and the
    test size the largest, whatever they take. Nothing that is done already plays a part: a study has one grid.

    Examples
    --------
    >>> job = dict(procedure="paired-bootstrap", metrics=["bleu"], n_units=2000, systems=30, cells=62)
    >>> [choose_block_cells(Rates(), workers=workers, **job) for workers in (1, 16, 1000)]
    [4, 2, 21]
    """
    pairs = systems * (systems - 1) // 2
    each = [rates.of_pass(procedure, metric) for metric in metrics]
    cell = CELL * _replicate(each, n_units, systems, pairs)
    setup = sum(one.task(n_units, systems, pairs) for one in each)
    most = max(1, floor((LONGEST_BLOCK - setup) / cell), ceil(min(setup, LONGEST_BLOCK) / cell) if setup > BLOCK_SECONDS else 1)
    least = max(1, ceil((max(SHORTEST_BLOCK, workers / TASKS_A_SECOND) - setup) / cell))
    # What comes before the first replicate is never most of a block.
    wanted = max(1, round((BLOCK_SECONDS - setup) / cell), ceil(min(setup, LONGEST_BLOCK) / cell))
    if workers > 1:
        wanted = min(wanted, ceil(cells / (2 * workers)))
    wanted = max(least, min(wanted, most))
    # Even blocks, since what were left over at the end would be a short one; one fewer where they would all be short.
    even = ceil(cells / ceil(cells / wanted))
    if even < least:
        even = ceil(cells / max(1, cells // least))
    return even if even <= max(least, most) else wanted
