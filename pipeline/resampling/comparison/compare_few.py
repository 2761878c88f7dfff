"""Compare the gains of few pairs in NumPy, which takes less time than compiling or loading a kernel.

It does what `pipeline.resampling.comparison.compare.compare_values` does, operation by operation, with the same bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.comparison.compare import Tally, Thresholds
from pipeline.resampling.comparison.gain_counts import LAST, MIDDLE
from pipeline.resampling.measures import BINS, LANES

__all__ = ["FEW_GAINS", "compare_few"]

FEW_GAINS = 2**19
"""Gains of a pass that are compared here, in some 30 ms: pairs times replicates."""


def compare_few(values: NDArray[np.float64], thresholds: Thresholds, tally: Tally, cell: int) -> None:
    """Count δ* = values[first] − values[second] of a batch; nan on either side is an empty replicate.

    Parameters
    ----------
    values : (row, replicate) float64
        The first replicate is at a multiple of `LANES` within the cell.
    """
    with np.errstate(all="ignore"):
        for row, pair in enumerate(thresholds.pair.tolist()):
            gain = values[thresholds.first[row]] - values[thresholds.second[row]]
            known, counts = ~np.isnan(gain), tally.counts[pair, cell]
            less = [np.count_nonzero(gain < low) for low in thresholds.low[row]]
            upto = [np.count_nonzero(gain <= high) for high in thresholds.high[row]]
            defined = np.count_nonzero(known)
            counts[:4] += np.array([less[0], upto[0] - less[0], less[1], upto[1] - less[1]], np.int32)
            counts[4:6] += np.array([upto[2] - less[2], defined - upto[2]], np.int32)
            tally.empty[pair, cell] += len(gain) - defined
            gain = gain / thresholds.step[row]
            if len(thresholds.above):
                counts[6] += np.count_nonzero(gain >= thresholds.above[row])
                counts[7] += np.count_nonzero(gain <= thresholds.below[row])
            shift = gain - thresholds.center[row]
            _add_sums(np.where(known, gain, 0.0), np.where(known, shift, 0.0), tally.lanes[pair])
            place = shift[known] * thresholds.bin_scale[row] + MIDDLE
            place = np.where(place > 0.0, place, 0.0)
            place = np.where(place < LAST, place, LAST).astype(np.int64)
            tally.histogram[pair, cell] += np.bincount(place, minlength=BINS).astype(np.uint16)


def _add_sums(gain: NDArray[np.float64], shift: NDArray[np.float64], lanes: NDArray[np.float64]) -> None:
    """Add Σ(x − center), Σ(x − center)² and Σ|x|, replicate i to number i mod `LANES`, one after the other."""
    rest = len(gain) % LANES
    whole = len(gain) - rest
    shift[:whole] = np.where(np.isnan(shift[:whole]), 0.0, shift[:whole])
    sums = np.stack([shift, shift * shift, np.abs(gain)])
    blocks = np.concatenate([lanes[:, None], sums[:, :whole].reshape(3, -1, LANES)], axis=1)
    lanes[:] = np.add.accumulate(blocks, axis=1)[:, -1]  # in order, as a sum need not be
    lanes[:, :rest] += sums[:, whole:]
