"""Estimate the bytes that open tasks write and that a worker holds, from constants."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from pipeline.dataclass import dataclass
from pipeline.plan.comparisons import list_sizes
from pipeline.plan.inputs import Inputs
from pipeline.plan.methods import list_methods
from pipeline.plan.task import CollectSpec, ExtractSpec, ResampleSpec, Task, unpack_mask
from pipeline.resampling.address import CELL, count_cells
from pipeline.resampling.measures import BINS, COUNTS, PAIR_BYTES, PAIRS_AT_ONCE, SUMS, TABLE_WIDTH, TABLES_BYTES
from pipeline.study.schema import Study

__all__ = ["STORED_BYTES", "Footprint", "estimate_footprint"]

HELD_BYTES = 4 * len(COUNTS) + 8 * len(SUMS) + 2 * BINS + 4
"""One pair in one cell, as a resample task holds it."""

STORED_BYTES = 48
"""One pair in one cell, as a resample task stores it: packed, from 122. Measured."""

SCORE_BYTES = {True: 1, False: 6.5}
"""A kept score, packed: of a ratio, which has few values, and of any other metric. Measured; 8 before."""

CUBE_BYTES = 30
"""One pair in one cell in a cube: histograms are summed and counts compressed. Measured."""

STATISTIC_BYTES = 8
STATISTICS = 18
"""Statistics of an item: those of chrF, which has more than the other metrics that are here as they are by default."""

WORKER_BYTES = 300 * 2**20
"""A worker before it holds anything: interpreter and imports. Measured."""

BATCH_BYTES = 2 * 2**26
"""Weights, sums and scores of one batch, and what is made on the way."""


@dataclass(frozen=True)
class Footprint:
    """Bytes: what open tasks add to the folder of runs, and the most that one worker should hold."""

    disk: int
    memory: int


def estimate_footprint(study: Study, inputs: Inputs, tasks: Iterable[Task]) -> Footprint:
    """Return what open tasks should write, and what a worker should need for the largest of them."""
    # A numerator and a denominator, whose gains may be counted in tables.
    few = {metric.name for metric in inputs.metrics if metric.form == "ratio"}
    items = {test_set.name: test_set.n_items for test_set in inputs.test_sets}
    disk, memory = 0, 0
    for task in tasks:
        spec = task.spec
        if isinstance(spec, ExtractSpec):
            disk += items[spec.test_set] * STATISTICS * STATISTIC_BYTES
        elif isinstance(spec, ResampleSpec):
            cells = spec.stop_cell - spec.first_cell
            pairs = sum(len(column.systems) * (len(column.systems) - 1) // 2 for column in spec.columns)
            scores = [(_count_kept(column.kept, len(column.systems)), column.metric in few) for column in spec.columns]
            kept = sum(number for number, _ in scores)
            stored: float = pairs * cells * STORED_BYTES
            stored += sum(number * cells * CELL * SCORE_BYTES[is_few] for number, is_few in scores)
            disk += int(stored)
            # The arrays, and once more what is written of them; running sums; statistics in int64 and in floats.
            arrays = int(pairs * cells * HELD_BYTES + 8 * kept * cells * CELL + stored)
            running = min(pairs, PAIRS_AT_ONCE) * PAIR_BYTES
            running += sum(min(TABLES_BYTES, 2 * TABLE_WIDTH * pairs) for column in spec.columns if column.metric in few)
            statistics = sum(len(column.systems) * (2 if column.metric in few else STATISTICS) for column in spec.columns)
            memory = max(memory, arrays + running + statistics * spec.n_units * 2 * STATISTIC_BYTES)
        elif isinstance(spec, CollectSpec):
            disk += _cube_bytes(study, inputs, spec.test_set)
    return Footprint(disk, WORKER_BYTES + BATCH_BYTES + memory if memory else WORKER_BYTES)


@lru_cache(maxsize=64)
def _count_kept(mask: str, systems: int) -> int:
    # All blocks of a range of cells have one mask, and there may be tens of thousands of blocks.
    return int(unpack_mask(mask, systems).sum())


def _cube_bytes(study: Study, inputs: Inputs, name: str) -> int:
    test_set = next(t for t in inputs.test_sets if t.name == name)
    systems = len(test_set.outputs)
    sizes = len(list_sizes(study, test_set))
    slices = sizes * len(inputs.metrics) * len(study.resampling.procedures)
    cells = sum(count_cells(method.replicates) for _, _, method in list_methods(study, test_set, inputs.metrics))
    counts = systems * (systems - 1) // 2 * cells * CUBE_BYTES
    scores = systems * study.resampling.scores_kept * 8
    return int(sizes * counts + slices * scores)
