"""Which cells are still to be counted, and in which blocks. This module cuts what is missing into resample tasks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.address import CELL, count_cells
from pipeline.store.addresses import digest
from pipeline.study.columns import Column, Size, columns_of
from pipeline.study.inputs import Inputs, OutputInputs, TestSetInputs
from pipeline.study.inventory import Inventory
from pipeline.study.schema import Study
from pipeline.study.task import ColumnSpec, ResampleSpec, Task, pack_mask, triangle

__all__ = ["choose_block_cells", "resamples_of"]

BLOCK_SECONDS = 2.0
"""What a resample task should take: long against 2 ms of scheduling, short against a lost worker."""


def resamples_of(
    study: Study,
    inputs: Inputs,
    test_set: TestSetInputs,
    size: Size,
    present: tuple[OutputInputs, ...],
    inventory: Inventory,
    block_cells: int | None,
    workers: int,
) -> list[Task]:
    """Give a task for each block of cells of one test size that lacks anything, whatever its metric.

    Cells that lack the same pairs and scores stand together; a block never spans two such ranges.
    """
    resampling = study.resampling
    columns = columns_of(study, inputs, test_set, size, present)
    cells = count_cells(resampling.replicates)
    kept_cells = min(cells, -(-resampling.keep_replicates // CELL))
    block = block_cells or choose_block_cells(size.n_units, columns, cells=cells, workers=workers)
    missing = [_missing(column, inventory, cells, kept_cells, resampling.replicates) for column in columns]
    tasks = []
    for first, stop in _runs_of_equal_cells(missing, cells):
        specs = tuple(
            _column_spec(column, pairs[first], kept[first]) for column, (pairs, kept) in zip(columns, missing, strict=True)
        )
        wanted = tuple(spec for spec in specs if spec is not None)
        if not wanted:
            continue
        # On a grid from cell 0, whatever is missing: a task that runs has the same cells when the plan is made again.
        for start in [first, *range((first // block + 1) * block, stop, block)]:
            spec = ResampleSpec(
                test_set=test_set.name,
                frame=test_set.frame,
                size=size.label,
                n_units=size.n_units,
                seed=study.seed,
                rule=resampling.test_sizes.draw,
                procedure=resampling.procedures[0],
                replicates=resampling.replicates,
                first_cell=start,
                stop_cell=min((start // block + 1) * block, stop),
                columns=wanted,
            )
            key = digest(
                [
                    "resample",
                    spec.replicates,
                    spec.first_cell,
                    spec.stop_cell,
                    [[c.column, c.systems, c.pairs, c.kept] for c in wanted],
                ]
            )
            label = f"resample {test_set.name} [{size.label}] cells {spec.first_cell}-{spec.stop_cell - 1}"
            needs = tuple(sorted({key for column in wanted for key in column.systems}))
            tasks.append(Task("resample", key, label, spec, needs))
    return tasks


def _missing(
    column: Column, inventory: Inventory, cells: int, kept_cells: int, replicates: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    n = len(column.systems)
    pairs = np.ones((cells, n * (n - 1) // 2), np.bool_)
    kept = np.zeros((cells, n), np.bool_)
    kept[:kept_cells] = True
    for covered in inventory.coverage(column.address, column.systems, replicates):
        cells_there = np.array(covered.cells)
        pairs[np.ix_(cells_there, covered.pairs)] = False
        kept[np.ix_(cells_there, covered.kept)] = False
    return pairs, kept


def _runs_of_equal_cells(missing: list[tuple[NDArray[np.bool_], NDArray[np.bool_]]], cells: int) -> Iterator[tuple[int, int]]:
    """Give ranges of neighbouring cells that lack the same things."""
    changes = np.zeros(cells + 1, np.bool_)
    changes[[0, cells]] = True
    for pairs, kept in missing:
        changes[1:cells] |= (pairs[1:] != pairs[:-1]).any(1) | (kept[1:] != kept[:-1]).any(1)
    edges = np.flatnonzero(changes).tolist()
    yield from pairwise(edges)


def _column_spec(column: Column, pairs: NDArray[np.bool_], kept: NDArray[np.bool_]) -> ColumnSpec | None:
    """Give what is to be computed for one cell pattern, with only the systems it needs; None if nothing is."""
    n = len(column.systems)
    first, second = triangle(n)
    used = kept.copy()
    used[first[pairs]] = True
    used[second[pairs]] = True
    if not used.any():
        return None
    inner = used[first] & used[second]
    return ColumnSpec(
        column=column.address,
        metric=column.metric.name,
        options=column.metric.options,
        margin=column.margin,
        systems=tuple(key for key, use in zip(column.systems, used, strict=True) if use),
        pairs=pack_mask(pairs[inner]),
        kept=pack_mask(kept[used]),
    )


def choose_block_cells(n_units: int, columns: tuple[Column, ...], *, cells: int, workers: int) -> int:
    """Give the number of cells that should take about `BLOCK_SECONDS`, fewer where workers would stand idle.

    It depends on the study and the workers alone, never on what is done. The seconds are a rough model of the kernels on one
    core: 1.5 ns a draw, 50 GFLOP/s for a product of about ten columns a system, 20 ns a score, 2 ns a comparison. A wrong
    guess costs time, never a bit.
    """
    seconds = CELL * n_units * 1.5e-9
    for column in columns:
        systems = len(column.systems)
        seconds += CELL * (systems * (10 * n_units / 25e9 + 20e-9) + systems * (systems - 1) / 2 * 2e-9)
    block = max(1, min(int(BLOCK_SECONDS / seconds), cells))
    return max(1, min(block, -(-cells // (2 * workers)))) if workers > 1 else block
