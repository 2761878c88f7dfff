"""The counts of a block of cells as they are stored. This module makes them narrow, and wide again.

What runs write most is pairs × cells: counts of a cell fit into 16 bits, and of the histogram's bins only those are stored
that hold something. The numbers are the same after as before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.address import CELL
from pipeline.resampling.measures import PairCounts

__all__ = ["StoredCounts", "pack_counts"]

_NARROW = np.int16  # holds −1, where there is no margin, and CELL
assert np.iinfo(_NARROW).max >= CELL


def pack_counts(slot: int, counted: PairCounts) -> dict[str, NDArray[Any]]:
    """Return the arrays of one column of a block, by the names they have in its file."""
    bins = np.flatnonzero(counted.histogram.any(axis=(0, 1)))
    first, stop = (int(bins[0]), int(bins[-1]) + 1) if bins.size else (0, 0)
    return {
        f"{slot}/counts": counted.counts.astype(_NARROW),
        f"{slot}/sums": counted.sums,
        f"{slot}/empty": counted.empty.astype(_NARROW),
        f"{slot}/histogram": counted.histogram[:, :, first:stop],
        f"{slot}/first_bin": np.array([first], np.int64),
        f"{slot}/score": counted.score,
    }


class StoredCounts:
    """One column of a stored block.

    Parameters
    ----------
    arrays : mapping of str to array
        Of the file.
    slot : int
        Which of its columns.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]], slot: int) -> None:
        self.counts = arrays[f"{slot}/counts"]
        self.sums = arrays[f"{slot}/sums"]
        self.empty = arrays[f"{slot}/empty"]
        self.score = arrays[f"{slot}/score"]
        self._histogram = arrays[f"{slot}/histogram"]
        self._first_bin = int(arrays[f"{slot}/first_bin"][0])

    def add_histogram(self, total: NDArray[np.int64], rows: NDArray[np.int64], pairs: NDArray[np.int64], cell: int) -> None:
        """Add the bins of some pairs in one cell to rows, all different, of a (row, BINS) total."""
        stop = self._first_bin + self._histogram.shape[2]
        total[rows, self._first_bin : stop] += self._histogram[pairs, cell]
