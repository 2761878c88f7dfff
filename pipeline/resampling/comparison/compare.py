"""Hot loops of the comparison: three-way counts, sums and the histogram of a batch of replicates, for all pairs.

A pair is (first, second) rows, oriented so that its observed gain is not negative; δ* = first − second of a replicate.
Loops go over tiles of replicates that stay in the cache, then over pairs, then over contiguous replicates of a pair. A sum has
`LANES` accumulators, and replicate i of a cell is added to number i mod `LANES`: so loops vectorise, and batches change no bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel
from pipeline.compiled.loops import lowest_bit
from pipeline.compiled.sizes import GROUP
from pipeline.resampling.comparison.gain_counts import (
    DOUBTS,
    NO_LIMIT,
    ROOM,
    TILE,
    add_bins,
    add_counts,
    add_sums,
    part_of,
    parts_of,
    sum_and_bin,
)

__all__ = ["Crossed", "Tally", "Thresholds", "compare_crossed", "compare_values", "fold_lanes"]

_MANY = 64  # doubtful replicates of a tile; if there are more, all of it is compared one by one


class Thresholds(NamedTuple):
    """What δ* of some pairs is compared with, in the unit of the values compared.

    ``low[k] <= δ* <= high[k]`` is "equal to k·δ"; where low > high, nothing is equal.
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
    """The counts and sums of all pairs; ``lanes`` are the running sums of one cell."""

    counts: NDArray[np.int32]  # (pair, cell, 8)
    histogram: NDArray[np.uint16]  # (pair, cell, BINS)
    empty: NDArray[np.int32]  # (pair, cell)
    lanes: NDArray[np.float64]  # (pair, 3, LANES)


def fold_lanes(lanes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum over the last axis by halves, overwriting it: the order of additions is the same in every version of NumPy.

    With many pairs lanes take most of a pass's memory, and a copy of half of them would raise its peak by as much.
    """
    while lanes.shape[-1] > 1:
        half = lanes.shape[-1] // 2
        lanes[..., :half] += lanes[..., half:]
        lanes = lanes[..., :half]
    return np.ascontiguousarray(lanes[..., 0])


@bare_kernel
def compare_values(values: NDArray[np.float64], thresholds: Thresholds, tally: Tally, cell: int) -> None:
    """Count δ* = values[first] − values[second] of a batch; nan on either side is an empty replicate.

    Parameters
    ----------
    values : (row, replicate) float64
        The first replicate is at a multiple of `LANES` within the cell.
    """
    gain, room = np.empty(TILE), np.empty(ROOM, np.int64)
    for start in range(0, values.shape[1], TILE):
        stop = min(start + TILE, values.shape[1])
        for row in range(len(thresholds.pair)):
            pair, first, second = thresholds.pair[row], thresholds.first[row], thresholds.second[row]
            center, scale, step = thresholds.center[row], thresholds.bin_scale[row], thresholds.step[row]
            low_0, low_1, low_2 = thresholds.low[row, 0], thresholds.low[row, 1], thresholds.low[row, 2]
            high_0, high_1, high_2 = thresholds.high[row, 0], thresholds.high[row, 1], thresholds.high[row, 2]
            less_0 = upto_0 = less_1 = upto_1 = less_2 = upto_2 = 0
            empty = int(np.int64(0))  # a plain 0 is a type of its own, for which what it is passed to would be compiled too
            done = counted = 0
            if stop - start >= GROUP and step == 1.0 and values.strides[1] == 8:
                part_0, past_0 = parts_of(low_0, high_0, center, scale)
                part_1, past_1 = parts_of(low_1, high_1, center, scale)
                part_2, past_2 = parts_of(low_2, high_2, center, scale)
                width = max(past_0 - part_0, past_1 - part_1, past_2 - part_2)
                at, line = values.ctypes.data + 8 * start, values.strides[0]
                lanes, histogram = _addresses(tally, pair, cell)
                done, doubtful = sum_and_bin(
                    at + first * line, at + second * line, stop - start, center, scale, part_0, part_1, part_2, width,
                    lanes, histogram, room,
                )  # fmt: skip
                if done > 0 and doubtful <= _MANY and len(thresholds.above) == 0:
                    counted = done
                    less_0, less_1, less_2 = room[0], room[1], room[2]
                    upto_0, upto_1, upto_2 = less_0, less_1, less_2
                    for word in range(done // 64 if doubtful > 0 else 0):
                        bits = np.uint64(room[DOUBTS + word])
                        while bits:
                            i = start + 64 * word + lowest_bit(bits)
                            bits &= bits - np.uint64(1)
                            x = values[first, i] - values[second, i]
                            part = part_of(x, center, scale)
                            # Gains in a lower part are counted already, and gains beyond a threshold are not below it.
                            less_0 += (part >= part_0) & (x < low_0)
                            upto_0 += (part >= part_0) & (x <= high_0)
                            less_1 += (part >= part_1) & (x < low_1)
                            upto_1 += (part >= part_1) & (x <= high_1)
                            less_2 += (part >= part_2) & (x < low_2)
                            upto_2 += (part >= part_2) & (x <= high_2)
            a, b = values[first, start + counted : stop], values[second, start + counted : stop]
            for i in range(len(a)):
                x = a[i] - b[i]
                gain[i] = x
                less_0 += x < low_0
                upto_0 += x <= high_0
                less_1 += x < low_1
                upto_1 += x <= high_1
                less_2 += x < low_2
                upto_2 += x <= high_2
                empty += x != x
            add_counts(tally.counts[pair, cell], less_0, upto_0, less_1, upto_1, less_2, upto_2, stop - start - empty)
            tally.empty[pair, cell] += empty
            if step != 1.0:
                for i in range(len(a)):
                    gain[i] /= step
            if done < stop - start or len(thresholds.above) > 0:
                _tally_gains(gain[: len(a)], done - counted, thresholds, row, tally, cell)


@bare_kernel
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
    gain, room = np.empty(TILE), np.empty(ROOM, np.int64)
    zero = numerators.dtype.type(0)
    for start in range(0, numerators.shape[1], TILE):
        stop = min(start + TILE, numerators.shape[1])
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
            add_counts(tally.counts[pair, cell], less_0, upto_0, less_1, upto_1, less_2, upto_2, stop - start - empty)
            tally.empty[pair, cell] += empty
            done = 0
            if empty == 0 and scores.strides[1] == 8:
                lanes, histogram = _addresses(tally, pair, cell)
                done, _ = sum_and_bin(
                    score_a.ctypes.data, score_b.ctypes.data, stop - start, thresholds.center[row], thresholds.bin_scale[row],
                    NO_LIMIT, NO_LIMIT, NO_LIMIT, 0, lanes, histogram, room,
                )  # fmt: skip
            _tally_gains(gain[: stop - start], done, thresholds, row, tally, cell)


@kernel(inline="always")
def _addresses(tally: Tally, pair: int, cell: int) -> tuple[int, int]:
    """Return the addresses of the lanes and the histogram of a pair."""
    lanes, histogram = tally.lanes, tally.histogram
    place = histogram.strides[0] * pair + histogram.strides[1] * cell
    return lanes.ctypes.data + lanes.strides[0] * pair, histogram.ctypes.data + place


@kernel(inline="always")
def _tally_gains(gain: NDArray[np.float64], done: int, thresholds: Thresholds, row: int, tally: Tally, cell: int) -> None:
    """Add margin counts, and sums and bins from the gain at ``done`` on, of one pair in one tile."""
    pair, center = thresholds.pair[row], thresholds.center[row]
    if len(thresholds.above):
        above, below = thresholds.above[row], thresholds.below[row]
        margin_above = margin_below = 0
        for i in range(len(gain)):
            margin_above += gain[i] >= above
            margin_below += gain[i] <= below
        tally.counts[pair, cell, 6] += margin_above
        tally.counts[pair, cell, 7] += margin_below
    if done < len(gain):
        add_sums(gain[done:], center, tally.lanes[pair])
        add_bins(gain[done:], center, thresholds.bin_scale[row], tally.histogram[pair, cell])
