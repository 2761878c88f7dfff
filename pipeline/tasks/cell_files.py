"""The content of a file of cells: counts, sums and histograms of pairs, and the scores of systems on kept replicates.

What runs write most is pairs × cells, so counts are stored narrow: those of a cell fit into 16 bits, and of the histogram's bins
only those are stored that hold something (`pack_counts`). `StoredCounts` reads the same numbers back, of the pairs that are asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.address import CELL
from pipeline.resampling.measures import PairCounts
from pipeline.store.container import StoredArrays

__all__ = ["StoredCounts", "pack_counts", "packed_scores", "stored_scores"]

_NARROW = np.int16  # holds −1, where there is no margin, and CELL
assert np.iinfo(_NARROW).max >= CELL


def pack_counts(slot: int, counted: PairCounts) -> dict[str, NDArray[Any]]:
    """Return the arrays of one column of a block, by the names they have in its file."""
    bins = np.flatnonzero(counted.histogram.any(axis=(0, 1)))
    first, stop = (int(bins[0]), int(bins[-1]) + 1) if bins.size else (0, 0)
    arrays: dict[str, NDArray[Any]] = {
        f"{slot}/counts": counted.counts.astype(_NARROW),
        f"{slot}/sums": counted.sums,
        f"{slot}/empty": counted.empty.astype(_NARROW),
        f"{slot}/histogram": counted.histogram[:, :, first:stop],
        f"{slot}/first_bin": np.array([first], np.int64),
    }
    for number, start in enumerate(range(0, counted.score.shape[1], CELL)):
        arrays[f"{slot}/score/{number}"] = counted.score[:, start : start + CELL]
    return arrays


class StoredCounts:
    """Some pairs in one column of a stored block.

    Parameters
    ----------
    arrays : StoredArrays
        Of the file.
    slot : int
        Which of its columns.
    pairs : range
        Which pairs of the file; what is given of pairs is counted from the first of these.
    """

    def __init__(self, arrays: StoredArrays, slot: int, pairs: range) -> None:
        def read(name: str) -> NDArray[Any]:
            return arrays.rows(f"{slot}/{name}", pairs.start, pairs.stop)

        self.counts = read("counts")
        self.sums = read("sums")
        self.empty = read("empty")
        self._histogram = read("histogram")
        self._first_bin = int(arrays.rows(f"{slot}/first_bin", 0, 1)[0])

    def add_histogram(self, total: NDArray[np.int64], rows: NDArray[np.int64], pairs: NDArray[np.int64], cell: int) -> None:
        """Add the bins of some pairs in one cell to rows, all different, of a (row, BINS) total."""
        stop = self._first_bin + self._histogram.shape[2]
        total[rows, self._first_bin : stop] += self._histogram[pairs, cell]


def stored_scores(arrays: StoredArrays, slot: int, cell: int, systems: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the kept scores of some systems in one cell, counted from a stored block's first, (system, replicate).

    Neighbours are read together: a piece of the file holds several, and is unpacked for each reading.
    """
    name = f"{slot}/score/{cell}"
    apart = np.flatnonzero(np.diff(systems) != 1) + 1
    runs = [arrays.rows(name, int(run[0]), int(run[-1]) + 1) for run in np.split(systems, apart)]
    return runs[0] if len(runs) == 1 else np.concatenate(runs)


def packed_scores(arrays: StoredArrays, slot: int, cell: int, systems: NDArray[np.int64], length: int) -> list[memoryview] | None:
    """Return them still packed, system by system; None where they are not packed, or not of ``length`` replicates."""
    name = f"{slot}/score/{cell}"
    if arrays.shape(name)[1] != length:
        return None
    rows = [arrays.packed_row(name, system) for system in systems.tolist()]
    return None if any(row is None for row in rows) else [row for row in rows if row is not None]
