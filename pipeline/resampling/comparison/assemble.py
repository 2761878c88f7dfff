"""Hot loops that assemble the sums of swapped pairs from products of single systems, and compare them.

For a mask w, M_s = Σ w_i x_{s,i} is what system s gives away. The pair (a, b) then has T_a − M_a + M_b and T_b − M_b + M_a: each
is a sum over units of the statistics of one system or the other, exact in a float that holds the largest such sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel
from pipeline.resampling.comparison.compare import Tally, Thresholds, compare_values
from pipeline.resampling.measures import LANES

__all__ = ["Packed", "chunk_pairs", "compare_gains", "compare_scores", "fill_sums", "gather_sums", "pack_thresholds"]


class Packed(NamedTuple):
    """Thresholds of pairs in two arrays: each array costs a call 150 ns, and a call compares only a few thousand numbers."""

    pair: NDArray[np.int64]  # (chosen,) row in the tally
    bounds: NDArray[np.float64]  # (chosen, 7): low, high, bins per unit

    def choose(self, pairs: NDArray[np.int64]) -> Packed:
        """Return the thresholds of some of these pairs."""
        return Packed(self.pair[pairs], self.bounds[pairs])


def pack_thresholds(thresholds: Thresholds) -> Packed:
    """Pack thresholds of scores, which have center 0, step 1 and no margin."""
    bounds = np.concatenate([thresholds.low, thresholds.high, thresholds.bin_scale[:, None]], axis=1)
    return Packed(thresholds.pair, bounds)


def chunk_pairs(pairs: int, count: int, *, evaluations: int, tile: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield the first and last pair, and first and last replicate, of pieces of about ``evaluations``, at least a tile long."""
    tile = max(tile, evaluations // (2 * pairs) // LANES * LANES)
    together = max(1, evaluations // (2 * min(tile, count)))
    for start in range(0, count, tile):
        for first in range(0, pairs, together):
            yield first, min(first + together, pairs), start, min(start + tile, count)


@bare_kernel
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
        M; whole numbers of the type of the totals.
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


@bare_kernel
def gather_sums(
    totals: NDArray[Any],
    moved: NDArray[Any],
    rows: NDArray[np.int64],
    start: int,
    stop: int,
    places: NDArray[np.int64],
    sums: NDArray[Any],
) -> None:
    """Fill (statistic, 2, place) sums of some replicates.

    Parameters
    ----------
    totals, moved, start
        As for `fill_sums`.
    rows : (pair, 2) int64
        Positions of systems.
    stop : int
        One after the last replicate.
    places : (place,) int64
        Flat places in a (pair, replicate) array of these pairs and replicates.
    sums : (statistic, 2, place)
        Of the type of ``totals``.
    """
    first, second, replicate = np.empty_like(places), np.empty_like(places), np.empty_like(places)
    for at in range(len(places)):
        pair = places[at] // (stop - start)
        first[at], second[at] = rows[pair, 0], rows[pair, 1]
        replicate[at] = start + places[at] % (stop - start)
    # One statistic after the other: rows of M lie a power of two apart and would share cache lines.
    for k in range(len(sums)):
        for at in range(len(places)):
            a, b, i = first[at], second[at], replicate[at]
            sums[k, 0, at] = (totals[a, k] - moved[a, k, i]) + moved[b, k, i]
            sums[k, 1, at] = (totals[b, k] - moved[b, k, i]) + moved[a, k, i]


@bare_kernel
def compare_scores(scores: NDArray[np.float64], packed: Packed, first: int, tally: Tally, cell: int) -> None:
    """Count consecutive pairs by their scores; a score that is not finite is undefined, and its replicate empty.

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
    _compare_rows(scores, 2 * np.arange(count), 2 * np.arange(count) + 1, packed, first, tally, cell)


@bare_kernel
def compare_gains(gains: NDArray[np.float64], packed: Packed, first: int, tally: Tally, cell: int) -> None:
    """Count consecutive pairs by their (pair + 1, replicate) gains; nan is an empty replicate, and the last row is zeros."""
    count = gains.shape[0] - 1
    _compare_rows(gains, np.arange(count), np.full(count, count), packed, first, tally, cell)


@kernel
def _compare_rows(
    values: NDArray[np.float64],
    row_a: NDArray[np.int64],
    row_b: NDArray[np.int64],
    packed: Packed,
    first: int,
    tally: Tally,
    cell: int,
) -> None:
    count = len(row_a)
    pair, bounds = packed.pair[first : first + count], packed.bounds[first : first + count]
    nothing = np.zeros(0)
    # Contiguous, as everywhere else: the comparison would be compiled a second time for strided arrays, which are another type.
    low, high = np.ascontiguousarray(bounds[:, 0:3]), np.ascontiguousarray(bounds[:, 3:6])
    scale = np.ascontiguousarray(bounds[:, 6])
    thresholds = Thresholds(pair, row_a, row_b, low, high, np.zeros(count), scale, nothing, nothing, np.ones(count))
    compare_values(values, thresholds, tally, cell)
