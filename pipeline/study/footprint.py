"""What a plan would write and hold. This module estimates bytes on disk and in a worker's memory; it is pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.resampling.address import CELL
from pipeline.resampling.measures import BINS, COUNTS, LANES, SUMS
from pipeline.study.columns import sizes_of
from pipeline.study.inputs import Inputs
from pipeline.study.schema import Study
from pipeline.study.task import CollectSpec, ExtractSpec, ResampleSpec, Task

__all__ = ["Footprint", "estimate_footprint"]

CELL_PAIR_BYTES = 4 * len(COUNTS) + 8 * len(SUMS) + 2 * BINS + 4
"""One pair in one cell, as a resample task stores it."""

CUBE_SHARE = 0.12
"""A cube to the cells it is folded from: histograms are summed and counts compressed. Measured."""

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
    """Give what open tasks should write, and what a worker should need for the largest of them."""
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
            arrays = pairs * cells * CELL_PAIR_BYTES + kept * cells * CELL * 8
            disk += arrays
            # The arrays once more as bytes while they are written; running sums; statistics in int64 and in floats.
            running = pairs * len(SUMS) * LANES * 8
            memory = max(memory, 2 * arrays + running + systems * spec.n_units * STATISTICS * 2 * STATISTIC_BYTES)
        elif isinstance(spec, CollectSpec):
            disk += _cube_bytes(study, inputs, spec.test_set)
    return Footprint(disk, WORKER_BYTES + BATCH_BYTES + memory if memory else WORKER_BYTES)


def _cube_bytes(study: Study, inputs: Inputs, name: str) -> int:
    test_set = next(t for t in inputs.test_sets if t.name == name)
    systems = len(test_set.outputs)
    slices = len(sizes_of(study, test_set)) * len(inputs.metrics) * len(study.resampling.procedures)
    cells = -(-study.resampling.replicates // CELL)
    counts = systems * (systems - 1) // 2 * cells * CELL_PAIR_BYTES * CUBE_SHARE
    scores = systems * study.resampling.scores_kept * 8
    return int(slices * (counts + scores))
