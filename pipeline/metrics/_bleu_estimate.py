"""BLEU in single precision with a proven error, for comparisons that seldom need more, in a third of the time.

With u = 2^-24, the largest relative error of one operation, and sums below 2^24, which float32 holds exactly:

- A count plus the constant of add-k has 2u, because the constant is rounded too; a product of four, the first without a constant,
  6u + 3u = 9u. C is that of the matches, D that of the n-grams, h the output's length: C h has 10u, 1 / (D h) 11u, their product
  C / D 22u. Two roots halve it and round: 22u → 12u → 7u. Times 100: 8u.
- h − r, r the reference's length, is exact. (h − r) D and 1 / (D h) have the *computed* D, whose error cancels, so that only four
  operations err in x = (h − r) / h: by 4u |x| ≤ 4u, the relative error it causes in the penalty e^x.
- e^t with t = x/2 in [−½, 0] is 1 + (t + t² q): the series of q leaves out 0.1u of e^t, q has an error of 1u (Horner's, and that of
  its coefficients) and is at most ½, so that t² q has 0.5u; the addition of t rounds by 0.25u and that of 1 by 0.5u. The sum, 1.35u
  of at least 0.6, is below 2.7u; squared 5.4u + u.
- The penalty has 4u + 6.4u, the score 8u + 10.4u + u < 20u.

`RELATIVE_ERROR` is 24u: ample room for what is of second order and for the rounding of the score itself in double precision.
Products of five factors are between 2^-72 and 2^123, so that no intermediate number is subnormal; what may be is no estimate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.compiled.loops import estimate_added, estimate_plain
from pipeline.compiled.sizes import ESTIMATES, STATISTICS

__all__ = ["LARGEST_ADDED", "LEAST_ADDED", "RELATIVE_ERROR", "estimate"]

RELATIVE_ERROR = 24 * 2.0**-24
LEAST_ADDED, LARGEST_ADDED = 2.0**-24, 2.0**24  # constants of add-k, besides 0, for which the argument above holds

_TILE = 256  # replicates; what two systems give away in them fits the first-level cache


def estimate(
    totals: NDArray[Any], moved: NDArray[Any], rows: NDArray[np.int64], start: int, out: NDArray[np.float32], added: float
) -> None:
    """Estimate BLEU after swaps; nan where an order has no match or no n-grams, and where the output is below half the reference.

    Parameters
    ----------
    totals, moved, rows, start, out
        As for `pipeline.resampling.comparison.swapped_pairs.EstimatedScore`; ``moved`` may have more replicates than are estimated.
    added : float
        The constant of add-k, or 0.
    """
    width = out.shape[1]
    given = np.ascontiguousarray(totals, np.float32)
    if width < ESTIMATES:  # as many as are estimated at a time
        padded, wider = np.zeros((*moved.shape[:2], ESTIMATES), np.float32), np.empty((len(out), ESTIMATES), np.float32)
        padded[:, :, :width] = moved[:, :, start : start + width]
        _estimate_pairs(given, padded, rows, 0, wider, np.float32(added))
        out[:] = wider[:, :width]
        return
    if moved.shape[1:] < (given.shape[1], start + width) or given.shape[1] != STATISTICS or not out.flags.c_contiguous:
        raise ValueError(f"sums {given.shape} and {moved.shape} do not have {width} replicates from {start} on")
    if moved.dtype != np.float32 or not moved.flags.c_contiguous:
        moved, start = np.ascontiguousarray(moved[:, :, start : start + width], np.float32), 0
    _estimate_pairs(given, moved, np.ascontiguousarray(rows), start, out, np.float32(added))


@bare_kernel
def _estimate_pairs(
    totals: NDArray[np.float32],
    moved: NDArray[np.float32],
    rows: NDArray[np.int64],
    start: int,
    out: NDArray[np.float32],
    added: np.float32,
) -> None:
    width, line, row = out.shape[1], 4 * out.shape[1], 4 * moved.shape[2]
    for first in range(0, width, _TILE):
        count = min(_TILE, width - first)
        for pair in range(len(rows)):
            total_a = totals.ctypes.data + 4 * STATISTICS * rows[pair, 0]
            total_b = totals.ctypes.data + 4 * STATISTICS * rows[pair, 1]
            a = moved.ctypes.data + 4 * (start + first) + row * STATISTICS * rows[pair, 0]
            b = moved.ctypes.data + 4 * (start + first) + row * STATISTICS * rows[pair, 1]
            target = out.ctypes.data + 2 * line * pair + 4 * first
            blocks, back = count // ESTIMATES, 0
            if blocks * ESTIMATES < count:  # the last ones with some of those before, which come out the same
                back = 4 * (first + count - ESTIMATES) - 4 * first
            for part in range(2):
                times, skip = (blocks, 0) if part == 0 else (1, back)
                if times == 0 or (part == 1 and back == 0):
                    continue
                if added == 0.0:
                    estimate_plain(total_a, total_b, a + skip, b + skip, row, target + skip, line, times)
                else:
                    estimate_added(total_a, total_b, a + skip, b + skip, row, target + skip, line, times, added)
