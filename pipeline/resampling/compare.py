"""Hot loops of the comparison: three-way counts, sums and the histogram of a batch of replicates, for all pairs.

A pair is (first, second) rows, oriented so that its observed gain is not negative; δ* = first − second of a replicate.
Replicates are walked in tiles that stay in the cache, pairs within a tile, replicates of a pair contiguously. A sum has
`LANES` accumulators, of which replicate i of a cell meets number i mod `LANES`: they vectorise, and no batch moves a bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.resampling.measures import BINS, LANES

__all__ = ["LANES", "Crossed", "Tally", "Thresholds", "compare_crossed", "compare_values", "fold_lanes"]

_TILE = 1024  # replicates; a multiple of LANES. 75 systems are 600 kB, within a level-2 cache
_TABLES = 4  # equal neighbours would wait for each other in one table of bins
_MIDDLE = BINS / 2.0 + 2.0**-20  # ties with δ stay in the bin above it although they may miss it by a rounding error
_LAST = BINS - 1.0


class Thresholds(NamedTuple):
    """What δ* of some pairs is compared with, in the unit of the values compared.

    ``low[k] <= δ* <= high[k]`` is "equal to k·δ"; where low > high nothing is.
    """

    pair: NDArray[np.int64]  # (chosen,) row in the tally
    first: NDArray[np.int64]  # (chosen,) row of values
    second: NDArray[np.int64]
    low: NDArray[np.float64]  # (chosen, 3)
    high: NDArray[np.float64]
    center: NDArray[np.float64]  # (chosen,) δ
    bin_scale: NDArray[np.float64]  # (chosen,) bins per unit; 0 puts all in the middle
    above: NDArray[np.float64]  # (chosen,) margin_above is δ* ≥ above; (0,) without a margin
    below: NDArray[np.float64]
    step: NDArray[np.float64]  # (chosen,) gains are divided by it, exactly, before they are summed


class Crossed(NamedTuple):
    """Integers of pairs that share a denominator: δ* is k·δ where D*·C = k·D·C*."""

    denominator: NDArray[np.int64]  # (chosen,) row of the shared denominator
    total: NDArray[np.int64]  # (chosen,) C over the common divisor of C and D
    gain: NDArray[np.int64]  # (chosen,) D over it


class Tally(NamedTuple):
    """What is counted; ``lanes`` are the running sums of one cell."""

    counts: NDArray[np.int32]  # (pair, cell, 8)
    histogram: NDArray[np.uint16]  # (pair, cell, BINS)
    empty: NDArray[np.int32]  # (pair, cell)
    lanes: NDArray[np.float64]  # (pair, 3, LANES)


def fold_lanes(lanes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add the last axis in halves: one order of additions, whatever the version of NumPy."""
    while lanes.shape[-1] > 1:
        half = lanes.shape[-1] // 2
        lanes = lanes[..., :half] + lanes[..., half:]
    return np.ascontiguousarray(lanes[..., 0])


@kernel
def compare_values(values: NDArray[np.float64], thresholds: Thresholds, tally: Tally, cell: int) -> None:
    """Count δ* = values[first] − values[second] of a batch; nan on either side is an empty replicate.

    Parameters
    ----------
    values : (row, replicate) float64
        Its first replicate stands at a multiple of `LANES` within the cell.
    """
    gain = np.empty(_TILE)
    bins = np.empty(_TILE, np.uint32)
    tables = np.empty((_TABLES, BINS), np.int32)
    for start in range(0, values.shape[1], _TILE):
        stop = min(start + _TILE, values.shape[1])
        for row in range(len(thresholds.pair)):
            a, b = values[thresholds.first[row], start:stop], values[thresholds.second[row], start:stop]
            pair = thresholds.pair[row]
            low_0, low_1, low_2 = thresholds.low[row]
            high_0, high_1, high_2 = thresholds.high[row]
            less_0 = upto_0 = less_1 = upto_1 = less_2 = upto_2 = 0
            empty = int(np.int64(0))  # a plain 0 is a type of its own, for which what it is passed to would be compiled too
            for i in range(stop - start):
                x = a[i] - b[i]
                gain[i] = x
                less_0 += x < low_0
                upto_0 += x <= high_0
                less_1 += x < low_1
                upto_1 += x <= high_1
                less_2 += x < low_2
                upto_2 += x <= high_2
                empty += x != x
            # low > high of a threshold between two integers: low is the next integer above high, so less = upto.
            counts = tally.counts[pair, cell]
            counts[0] += less_0
            counts[1] += upto_0 - less_0
            counts[2] += less_1
            counts[3] += upto_1 - less_1
            counts[4] += upto_2 - less_2
            counts[5] += stop - start - empty - upto_2
            tally.empty[pair, cell] += empty
            if thresholds.step[row] != 1.0:
                for i in range(stop - start):
                    gain[i] /= thresholds.step[row]
            _tally_gains(gain[: stop - start], bins, tables, empty, thresholds, row, tally, cell)


@kernel
def compare_crossed(
    numerators: NDArray[np.generic],
    denominators: NDArray[np.generic],
    scores: NDArray[np.float64],
    crossed: Crossed,
    thresholds: Thresholds,
    tally: Tally,
    cell: int,
) -> None:
    """Count pairs with one denominator by exact cross-multiplication; a denominator of 0 is an empty replicate.

    Parameters
    ----------
    numerators, denominators : (row, replicate) float64 or int64
        Whole numbers; the caller has checked that the products fit the type.
    scores : (row, replicate) float64
        For sums and bins; nan where the denominator is 0.
    thresholds : Thresholds
        ``low`` and ``high`` are not used.
    """
    gain = np.empty(_TILE)
    bins = np.empty(_TILE, np.uint32)
    tables = np.empty((_TABLES, BINS), np.int32)
    zero = numerators.dtype.type(0)
    for start in range(0, numerators.shape[1], _TILE):
        stop = min(start + _TILE, numerators.shape[1])
        for row in range(len(thresholds.pair)):
            a, b = numerators[thresholds.first[row], start:stop], numerators[thresholds.second[row], start:stop]
            score_a, score_b = scores[thresholds.first[row], start:stop], scores[thresholds.second[row], start:stop]
            c = denominators[crossed.denominator[row], start:stop]
            total, observed = zero + crossed.total[row], zero + crossed.gain[row]
            pair = thresholds.pair[row]
            less_0 = upto_0 = less_1 = upto_1 = less_2 = upto_2 = 0
            empty = int(np.int64(0))  # a plain 0 is a type of its own, for which what it is passed to would be compiled too
            for i in range(stop - start):
                d = a[i] - b[i]
                gain[i] = score_a[i] - score_b[i]
                here, once = d * total, observed * c[i]
                twice = once + once
                defined = c[i] > 0
                less_0 += defined & (d < 0)
                upto_0 += defined & (d <= 0)
                less_1 += defined & (here < once)
                upto_1 += defined & (here <= once)
                less_2 += defined & (here < twice)
                upto_2 += defined & (here <= twice)
                empty += not defined
            counts = tally.counts[pair, cell]
            counts[0] += less_0
            counts[1] += upto_0 - less_0
            counts[2] += less_1
            counts[3] += upto_1 - less_1
            counts[4] += upto_2 - less_2
            counts[5] += stop - start - empty - upto_2
            tally.empty[pair, cell] += empty
            _tally_gains(gain[: stop - start], bins, tables, empty, thresholds, row, tally, cell)


@kernel
def _tally_gains(
    gain: NDArray[np.float64],
    bins: NDArray[np.uint32],
    tables: NDArray[np.int32],
    empty: int,
    thresholds: Thresholds,
    row: int,
    tally: Tally,
    cell: int,
) -> None:
    """Add margin counts, sums and bins of one pair's gains in one tile."""
    pair, center = thresholds.pair[row], thresholds.center[row]
    if len(thresholds.above):
        above, below = thresholds.above[row], thresholds.below[row]
        margin_above = margin_below = 0
        for i in range(len(gain)):
            margin_above += gain[i] >= above
            margin_below += gain[i] <= below
        tally.counts[pair, cell, 6] += margin_above
        tally.counts[pair, cell, 7] += margin_below
    _add_sums(gain, center, tally.lanes[pair])
    _add_bins(gain, center, thresholds.bin_scale[row], empty, bins, tables, tally.histogram[pair, cell])


@kernel
def _add_sums(gain: NDArray[np.float64], center: float, lanes: NDArray[np.float64]) -> None:
    shifts, squares, sizes = lanes[0], lanes[1], lanes[2]
    whole = len(gain) // LANES * LANES
    for start in range(0, whole, LANES):
        for lane in range(LANES):
            x = gain[start + lane]
            shift = x - center
            shift = shift if shift == shift else 0.0
            x = x if x == x else 0.0
            shifts[lane] += shift
            squares[lane] += shift * shift
            sizes[lane] += abs(x)
    for lane in range(len(gain) - whole):
        x = gain[whole + lane]
        if x == x:
            shifts[lane] += x - center
            squares[lane] += (x - center) * (x - center)
            sizes[lane] += abs(x)


@kernel
def _add_bins(
    gain: NDArray[np.float64],
    center: float,
    bin_scale: float,
    empty: int,
    bins: NDArray[np.uint32],
    tables: NDArray[np.int32],
    histogram: NDArray[np.uint16],
) -> None:
    for i in range(len(gain)):
        place = (gain[i] - center) * bin_scale + _MIDDLE
        place = place if place > 0.0 else 0.0  # nan goes to bin 0, and is taken out of it below
        place = place if place < _LAST else _LAST
        bins[i] = np.uint32(place)
    tables[:] = 0
    # Unsigned numbers: the compiler need not ask whether an index counts from the end.
    table_0, table_1, table_2, table_3 = tables[0], tables[1], tables[2], tables[3]
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    whole = len(gain) // _TABLES
    for quad in range(whole):
        start = np.uint64(_TABLES * quad)
        table_0[np.uint64(bins[start])] += 1
        table_1[np.uint64(bins[start + one])] += 1
        table_2[np.uint64(bins[start + two])] += 1
        table_3[np.uint64(bins[start + three])] += 1
    for i in range(_TABLES * whole, len(gain)):
        table_0[np.uint64(bins[i])] += 1
    table_0[0] -= empty
    for place in range(BINS):
        histogram[place] += np.uint16(table_0[place] + table_1[place] + table_2[place] + table_3[place])
