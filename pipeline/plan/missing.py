"""What a column lacks, cell by cell. This module compares what is asked of one metric on one test size with what receipts cover.

Most cells lack the same: a pattern is worked out once for all cells that the same groups of receipts cover, so that a plan
costs patterns × pairs, and cells × pairs never.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pipeline.plan.comparisons import Column
from pipeline.plan.inventory import Coverage, Inventory
from pipeline.plan.task import ColumnSpec, pack_mask

__all__ = ["Missing", "Pattern", "column_spec", "missing_of", "runs_of_equal_cells"]


@dataclass(frozen=True, eq=False)
class Pattern:
    """Pairs ``i < j`` in row order, and systems whose replicate scores are wanted, that a cell lacks."""

    pairs: NDArray[np.bool_]
    kept: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Missing:
    """What the cells of a column lack: the patterns that occur, no two alike, and which of them each cell has."""

    patterns: tuple[Pattern, ...]
    of_cell: NDArray[np.int64]

    def at(self, cell: int) -> Pattern:
        """Give what one cell lacks."""
        return self.patterns[int(self.of_cell[cell])]


def missing_of(column: Column, inventory: Inventory, *, cells: int, kept_cells: int, replicates: int) -> Missing:
    """Give what receipts do not cover of a column.

    Parameters
    ----------
    column : Column
        Whose pairs are all asked.
    inventory : Inventory
        What exists.
    cells, kept_cells : int
        Cells of the study, and how many of them, from the first, are to keep replicate scores.
    replicates : int
        Of the study: a cell that another study cut short is not covered.
    """
    example: dict[int, Coverage] = {}
    covering: list[set[int]] = [set() for _ in range(cells)]
    for covered in inventory.coverage(column.address, column.systems, replicates):
        example.setdefault(covered.group, covered)
        for cell in covered.cells:
            covering[cell].add(covered.group)
    number_of: dict[tuple[bool, frozenset[int]], int] = {}
    number_of_content: dict[bytes, int] = {}
    patterns: list[Pattern] = []
    of_cell = np.empty(cells, np.int64)
    for cell, groups in enumerate(covering):
        cause = (cell < kept_cells, frozenset(groups))
        if cause not in number_of:
            pattern = _pattern(len(column.systems), keep=cause[0], covered=[example[group] for group in groups])
            # Different groups may leave the same open: cells that lack the same things stand together, whatever the cause.
            content = np.packbits(np.concatenate([pattern.pairs, pattern.kept])).tobytes()
            number_of[cause] = number_of_content.setdefault(content, len(patterns))
            if number_of[cause] == len(patterns):
                patterns.append(pattern)
        of_cell[cell] = number_of[cause]
    return Missing(tuple(patterns), of_cell)


def _pattern(systems: int, *, keep: bool, covered: Sequence[Coverage]) -> Pattern:
    pairs = np.ones(systems * (systems - 1) // 2, np.bool_)
    kept = np.full(systems, keep)
    for there in covered:
        pairs[there.pairs] = False
        kept[there.kept] = False
    return Pattern(pairs, kept)


def runs_of_equal_cells(missing: Sequence[Missing], cells: int) -> Iterator[tuple[int, int]]:
    """Give ranges of neighbouring cells that lack the same things in every column."""
    changes = np.zeros(cells + 1, np.bool_)
    changes[[0, cells]] = True
    for column in missing:
        changes[1:cells] |= column.of_cell[1:] != column.of_cell[:-1]
    yield from pairwise(np.flatnonzero(changes).tolist())


def column_spec(column: Column, pattern: Pattern) -> ColumnSpec | None:
    """Give what is to be computed for one pattern, with only the systems it needs; None if nothing is."""
    n = len(column.systems)
    upper = np.triu(np.ones((n, n), np.bool_), 1)
    asked = np.zeros((n, n), np.bool_)
    asked[upper] = pattern.pairs
    used = pattern.kept | asked.any(0) | asked.any(1)
    if not used.any():
        return None
    inner = pattern.pairs if used.all() else asked[np.ix_(used, used)][upper[np.ix_(used, used)]]
    return ColumnSpec(
        column=column.address,
        metric=column.metric.name,
        options=column.metric.options,
        margin=column.margin,
        systems=tuple(key for key, use in zip(column.systems, used, strict=True) if use),
        pairs=pack_mask(inner),
        kept=pack_mask(pattern.kept[used]),
    )
