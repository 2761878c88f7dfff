"""Sums of swapped pairs put together from products of single systems, and their comparison. This module holds these hot loops.

For a mask w, M_s = Σ w_i x_{s,i} is what system s gives away. The pair (a, b) then has T_a − M_a + M_b and T_b − M_b + M_a: each
is a sum over units of the statistics of one system or the other, exact in a float that holds the largest such sum.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pipeline.resampling.compare import Tally, Thresholds, compare_values

__all__ = ["Packed", "compare_scores", "fill_sums", "pack_thresholds"]


class Packed(NamedTuple):
    """Thresholds of pairs in two arrays: unpacking an array costs a call 150 ns, and a call compares few thousand numbers."""

    pair: NDArray[np.int64]  # (chosen,) row in the tally
    bounds: NDArray[np.float64]  # (chosen, 7): low, high, bins per unit


def pack_thresholds(thresholds: Thresholds) -> Packed:
    """Pack thresholds of scores, which have center 0, step 1 and no margin."""
    bounds = np.concatenate([thresholds.low, thresholds.high, thresholds.bin_scale[:, None]], axis=1)
    return Packed(thresholds.pair, bounds)


@njit(nogil=True, cache=True)
def fill_sums(
    totals: NDArray[Any],
    moved: NDArray[Any],
    rows: NDArray[np.int64],
    statistics: NDArray[np.int64],
    pairs: tuple[int, int],
    start: int,
    sums: NDArray[Any],
) -> None:
    """Fill sums of consecutive pairs in consecutive replicates.

    Parameters
    ----------
    totals : (system, statistic) float
        T.
    moved : (system, statistic, replicate) float
        M; whole numbers, as the totals, and of the same type.
    rows : (pair, 2) int64
        Positions of systems.
    statistics : (some statistic,) int64
        Those that are filled.
    pairs : tuple of int
        First pair, and the one after the last.
    start : int
        First replicate.
    sums : (statistic, 2 × pair, replicate) float
        Of both systems of a pair, one after the other.
    """
    length = sums.shape[2]
    for pair in range(pairs[0], pairs[1]):
        a, b = rows[pair, 0], rows[pair, 1]
        at = 2 * (pair - pairs[0])
        for place in range(len(statistics)):
            k = statistics[place]
            total_a, total_b = totals[a, k], totals[b, k]
            moved_a, moved_b = moved[a, k, start : start + length], moved[b, k, start : start + length]
            out_a, out_b = sums[k, at], sums[k, at + 1]
            for i in range(length):
                # In this order every step is a sum over units of statistics that are there: exact.
                m_a, m_b = moved_a[i], moved_b[i]
                out_a[i] = (total_a - m_a) + m_b
                out_b[i] = (total_b - m_b) + m_a


@njit(nogil=True, cache=True)
def compare_scores(scores: NDArray[np.float64], packed: Packed, first: int, tally: Tally, cell: int) -> None:
    """Count consecutive pairs by their scores; what is not finite is undefined, and the replicate empty.

    Parameters
    ----------
    scores : (2 × pair, replicate) float64
        Of both systems of a pair, one after the other; infinite ones become nan.
    packed : Packed
    first : int
        Position of the first pair in ``packed``.
    """
    count = scores.shape[0] // 2
    for row in range(scores.shape[0]):
        line = scores[row]
        for i in range(len(line)):
            line[i] = line[i] if abs(line[i]) < np.inf else np.nan
    pair, bounds = packed.pair[first : first + count], packed.bounds[first : first + count]
    nothing = np.zeros(0)
    row_a = 2 * np.arange(count)
    thresholds = Thresholds(
        pair, row_a, row_a + 1, bounds[:, 0:3], bounds[:, 3:6], np.zeros(count), bounds[:, 6], nothing, nothing, np.ones(count)
    )
    compare_values(scores, thresholds, tally, cell)
