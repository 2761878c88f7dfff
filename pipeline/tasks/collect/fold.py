"""Add up stored cells, whichever blocks made them, a range of pairs and cells at a time, within a byte budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.variables import CHUNKS
from pipeline.dataclass import dataclass
from pipeline.plan.comparisons import Comparison
from pipeline.plan.inventory import Coverage
from pipeline.plan.task import Receipt
from pipeline.resampling.address import cell_bounds, count_cells
from pipeline.resampling.measures import BINS, COUNTS, SUMS
from pipeline.store.addresses import digest_file
from pipeline.store.array_files import map_arrays, read_arrays
from pipeline.store.container import StoredArrays
from pipeline.store.runs import Store
from pipeline.tasks.cell_files import StoredCounts, packed_scores, stored_scores

__all__ = ["Block", "Cells", "chunks_at_once", "find_packed_scores", "fold", "kept_scores", "opening_once", "read_scores"]

FOLD_BYTES = 2**25
"""For the counts of a range of pairs and cells; at least a chunk of the cube. It changes no number."""

_BYTES_OF_A_CELL = 4 * len(COUNTS) + 8 * len(SUMS) + 4 + 1

SYSTEMS_AT_ONCE = 16 * CHUNKS["system"]
"""Whose kept scores are read at a time."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The stored cells of one column.

    Parameters
    ----------
    column : Comparison
    label : str
        The test size, for messages.
    flat : (pair,) int64
        Position of each pair of the cube among the pairs of the column's systems; −1 if both have the same statistics.
        Several pairs of the cube may share one.
    coverage : sequence of Coverage
        The receipts whose files have cells of it.
    replicates : int
    """

    column: Comparison
    label: str
    flat: NDArray[np.int64]
    coverage: Sequence[Coverage]
    replicates: int


@dataclass(frozen=True, eq=False)
class Block:
    """The cells from ``first_cell`` on of a range of pairs; histograms of the pairs are summed over these cells."""

    first_cell: int
    counts: NDArray[np.int32]  # (pair, cell, 8)
    sums: NDArray[np.float64]  # (pair, cell, 3)
    empty: NDArray[np.int32]  # (pair, cell)
    histogram: NDArray[np.int64]  # (pair, BINS)

    @classmethod
    def of(cls, pairs: int, cells: range) -> Block:
        """Return an empty block."""
        return cls(
            cells.start,
            np.zeros((pairs, len(cells), len(COUNTS)), np.int32),
            np.zeros((pairs, len(cells), len(SUMS))),
            np.zeros((pairs, len(cells)), np.int32),
            np.zeros((pairs, BINS), np.int64),
        )


def chunks_at_once(cells: Cells) -> int:
    """Return how many chunks of pairs are folded together: as many as fit into the budget with all their cells, and at least one.

    Each file has its own order of pairs, so the pairs of a chunk are spread over it: it is read whole, however many are wanted.
    """
    of_a_pair = count_cells(cells.replicates) * _BYTES_OF_A_CELL + 2 * 8 * BINS
    return max(1, FOLD_BYTES // (of_a_pair * CHUNKS["pair"]))


def fold(cells: Cells, rows: slice, store: Store) -> Iterator[Block]:
    """Yield the blocks of a range of pairs, all cells in their order.

    Raises
    ------
    RuntimeError
        If receipts do not cover all of them.
    StoreError
        If a stored file is gone or damaged.
    """
    flat = cells.flat[rows]
    total, step = count_cells(cells.replicates), _cells_at_once(flat.size)
    for first in range(0, total, step):
        yield _fold(cells, flat, range(first, min(first + step, total)), store)


def _cells_at_once(pairs: int) -> int:
    """Return how many cells of these pairs fit into the budget, in whole chunks of the cube."""
    chunk = CHUNKS["cell"]
    return max(1, FOLD_BYTES // (max(pairs, 1) * _BYTES_OF_A_CELL * chunk)) * chunk


def _fold(cells: Cells, flat: NDArray[np.int64], there: range, store: Store) -> Block:
    block = Block.of(flat.size, there)
    filled = np.zeros((flat.size, len(there)), np.bool_)
    _fill_identical(block, filled, flat < 0, margin=cells.column.margin is not None, replicates=cells.replicates)
    for covered in cells.coverage:
        wanted = [cell for cell in covered.cells if cell in there]
        source = _find(covered, flat) if wanted else np.empty(0, np.int64)
        held = source >= 0
        if not held.any():
            continue
        pairs = range(int(source[held].min()), int(source[held].max()) + 1)
        stored = StoredCounts(_open(store, covered.receipt), covered.slot, pairs)
        offset = int(covered.receipt.covers["first_cell"])
        for cell in wanted:
            place, local = cell - there.start, cell - offset
            new = np.flatnonzero(held & ~filled[:, place])
            if not new.size:
                continue
            at = source[new] - pairs.start
            block.counts[new, place] = stored.counts[at, local]
            block.sums[new, place] = stored.sums[at, local]
            block.empty[new, place] = stored.empty[at, local]
            stored.add_histogram(block.histogram, new, at, local)
            filled[new, place] = True
    if not filled.all():
        lost = f"{int((~filled).sum())} of {filled.size} cells of {cells.column.metric.name} by {cells.column.procedure}"
        raise RuntimeError(f"{lost} [{cells.label}] are not there")
    return block


def _find(covered: Coverage, flat: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the position of each pair in a receipt's file; −1 if it is not there."""
    if not covered.pairs.size:
        return np.full(flat.size, -1)
    # Receipt and study both list their pairs in the order of the statistics: the positions are sorted.
    place = np.minimum(np.searchsorted(covered.pairs, flat), covered.pairs.size - 1)
    return np.where(covered.pairs[place] == flat, covered.source_pairs[place], -1)


def _fill_identical(block: Block, filled: NDArray[np.bool_], same: NDArray[np.bool_], *, margin: bool, replicates: int) -> None:
    """Count pairs of systems with the same statistics: every difference is 0, whatever is drawn."""
    for place in range(filled.shape[1]):
        first, stop = cell_bounds(block.first_cell + place, replicates)
        ties = [0, stop - first, 0, stop - first, stop - first, 0, *([0, 0] if margin else [-1, -1])]
        block.counts[same, place] = ties
        block.histogram[same, BINS // 2] += stop - first
    filled[same] = True


def kept_scores(
    cells: Cells, kept: int, systems: NDArray[np.int64], store: Store
) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
    """Yield the first ``kept`` replicate scores of systems in blocks: the first system and replicate, and (system, replicate).

    ``systems`` are positions among the column's own.
    """
    for first_system in range(0, len(systems), SYSTEMS_AT_ONCE):
        asked = systems[first_system : first_system + SYSTEMS_AT_ONCE]
        for cell in range(count_cells(kept)):
            first, stop = cell_bounds(cell, kept)
            yield first_system, first, read_scores(cells, cell, asked, stop - first, store)


def read_scores(cells: Cells, cell: int, systems: NDArray[np.int64], length: int, store: Store) -> NDArray[np.float64]:
    """Return the (system, replicate) scores of the first ``length`` replicates of a kept cell."""
    scores = np.empty((0, length))
    missing = np.ones(systems.size, np.bool_)
    for covered, rows in _holders(cells, cell, systems):
        held = np.flatnonzero(missing & (rows >= 0))
        if not held.size:
            continue
        local = cell - int(covered.receipt.covers["first_cell"])
        stored = stored_scores(_open(store, covered.receipt), covered.slot, local, rows[held])
        if held.size == systems.size:  # nearly always: all are in one file
            scores = stored[:, :length]
        else:
            scores = scores if len(scores) else np.full((systems.size, length), np.nan)
            scores[held] = stored[:, :length]
        missing[held] = False
    if missing.any():
        raise RuntimeError(f"kept scores of cell {cell} of {cells.column.metric.name} [{cells.label}] are not there")
    return scores


def find_packed_scores(cells: Cells, cell: int, systems: NDArray[np.int64], length: int, store: Store) -> list[memoryview] | None:
    """Return the scores of each system in a kept cell as they are packed; None if a cube would pack those of any differently.

    They are packed as in a cube if the first file with all of the systems packed the ``length`` replicates of each separately.
    """
    for covered, rows in _holders(cells, cell, systems):
        if (rows >= 0).all():
            local = cell - int(covered.receipt.covers["first_cell"])
            return packed_scores(_open(store, covered.receipt), covered.slot, local, rows, length)
    return None


def _holders(cells: Cells, cell: int, systems: NDArray[np.int64]) -> Iterator[tuple[Coverage, NDArray[np.int64]]]:
    """Yield the receipts that have kept scores of a cell, with the row of each system in their files; −1 if it has none."""
    for covered in cells.coverage:
        if cell in covered.cells and covered.kept.size:
            row = np.full(len(cells.column.systems), -1)
            row[covered.kept] = covered.source_kept
            yield covered, row[systems]


@lru_cache(maxsize=2**16)
def _is_sound(path: Path, checksum: str, modified: int) -> bool:
    """Read a whole file, once, in pieces, and raise if its bytes are not those that were written."""
    if not checksum.startswith(digest_file(path)):
        read_arrays(path, checksum)  # says what is wrong
    return True


@contextmanager
def opening_once() -> Iterator[None]:
    """Open each file of cells once in a block; afterwards none is open: a mapped file takes up disk space when removed."""
    try:
        yield
    finally:
        _map_sound.cache_clear()


@lru_cache(maxsize=64)  # each holds a file open
def _map_sound(path: Path, checksum: str, modified: int) -> StoredArrays:
    """Map a file that has been found sound; its description is kept for later reads."""
    _is_sound(path, checksum, modified)
    return map_arrays(path)


def _open(store: Store, receipt: Receipt) -> StoredArrays:
    """Map a file of cells: rows are read when they are needed, but only after the whole file was found sound."""
    path = store.root / receipt.file
    return _map_sound(path, receipt.checksum, path.stat().st_mtime_ns) if path.is_file() else map_arrays(path)
