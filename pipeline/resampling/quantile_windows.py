"""Where the quantiles of a pair's gains lie, told by some of its replicates, so that few of the others are looked at twice.

Counting all gains into bins takes most of the time of their quantiles, only to learn where a few ranks are. A
sample of the replicates tells this nearly: it gives a window of bins for each quantile. One pass over all replicates, many at a
time, then counts the gains below the windows and between them, and only those in the windows are put into bins. Whether a rank is
in its window is then known: where it is not, which is so of one pair in hundreds, all gains are counted
(`pipeline.resampling.rounded_quantiles`, which says what bins are).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.loops import count_bits

__all__ = ["BINS", "FEW", "HALF", "SAMPLED", "SHIFT", "cover", "find_windows", "gather", "locate", "sample_of", "share_in"]

SHIFT = 3
"""A bin has 2 ** SHIFT steps: more than all rounding together, 5.5 steps."""

BINS = 2**16 >> SHIFT
HALF = BINS // 2
"""Bins on either side of δ."""

FEW = 1 / 8
"""Of the gains: where more are in the bins that are wanted, bins of floats are finer."""

_WIDER = 3  # the sample's bins are eight times as wide, 2 ** _WIDER: there are fewer to go through
SAMPLED = BINS >> _WIDER
"""Bins of the sample."""

_DEVIATIONS = 3.5  # of a rank in the sample, on either side: beyond are 5 of 10 000
_LEAST, _MOST = 2**11, 2**14  # replicates of the sample

_ONE = np.uint64(1)
_EIGHT_ODD, _EIGHT_FURTHER, _EIGHT_ABOVE = (np.uint64(bit * 0x0101010101010101) for bit in (1, 2, 4))


@kernel
def sample_of(kept: int) -> int:
    """Return of how many replicates windows are found: of more they are narrower, and take longer to find."""
    return min(kept, max(_LEAST, min(kept // 8, _MOST)))


@kernel
def find_windows(
    a: NDArray[np.int16],
    b: NDArray[np.int16],
    shift: int,
    asked: NDArray[np.float64],
    gains: int,
    lows: NDArray[np.int64],
    highs: NDArray[np.int64],
    before: NDArray[np.int64],
) -> None:
    """Fill the first and last bin of a window for each quantile: (1, 0) where there is none.

    ``a`` and ``b`` are the steps of two systems on the replicates of the sample. The first ``gains`` of what is ``asked`` are
    probabilities of gains, the others of distances, whose bins are counted from δ. ``before`` is room for how many gains are in
    the sample's bins before each.
    """
    size, middle = len(a), SAMPLED // 2
    nearer = np.zeros(middle + 1, np.int64)
    before[:] = 0
    for i in range(size):
        before[np.uint64(np.uint16(a[i] - b[i] + shift) >> np.uint16(SHIFT + _WIDER)) + np.uint64(1)] += 1
    for place in range(middle):
        nearer[place + 1] = nearer[place] + before[middle + place + 1] + before[middle - place]
    for place in range(SAMPLED):
        before[place + 1] += before[place]
    for k in range(len(asked)):
        lows[k], highs[k] = _window(asked[k], size, before if k < gains else nearer)


@kernel
def _window(p: float, size: int, before: NDArray[np.int64]) -> tuple[int, int]:
    if not 0.0 <= p <= 1.0:
        return 1, 0
    wide, last = 1 << _WIDER, len(before) - 2
    at, away = (size - 1) * p, _DEVIATIONS * np.sqrt(size * p * (1.0 - p)) + 2.0
    low = _bin_of(int(np.floor(at - away)), before) if at >= away else 0
    high = _bin_of(int(np.ceil(at + away)), before) if at + away < size - 1 else last
    return max(wide * low - 1, 0), min(wide * (high + 1), wide * (last + 1) - 1)  # with the bins beside it


@kernel
def _bin_of(rank: int, before: NDArray[np.int64]) -> int:
    """Return the bin that holds a rank: the last one before which there are no more."""
    low, high = 0, len(before) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if before[middle] <= rank:
            low = middle
        else:
            high = middle
    return low


@kernel
def cover(lows: NDArray[np.int64], highs: NDArray[np.int64], runs: NDArray[np.int64]) -> None:
    """Cover (side, quantile) windows by two runs of bins, with the widest gap in between; a run without a bin has (1, 0).

    Quantiles are mostly those of two tails, so that little lies between the bins of a run that is wanted by none.
    """
    runs[:, 0], runs[:, 1] = 1, 0
    least, most = BINS, -1
    for side in range(2):
        for k in range(lows.shape[1]):
            if lows[side, k] <= highs[side, k]:
                least, most = min(least, lows[side, k]), max(most, highs[side, k])
    if most < 0:
        return
    runs[0, 0], runs[0, 1] = least, most
    widest = 0
    for side in range(2):
        for k in range(lows.shape[1]):
            if lows[side, k] <= highs[side, k]:
                # What follows this window, where no other begins in it or reaches over its end.
                end, start = highs[side, k], most
                for other in range(2):
                    for j in range(lows.shape[1]):
                        if lows[other, j] <= highs[other, j] and highs[other, j] > end:
                            start = min(start, lows[other, j])
                if start - end - 1 > widest:
                    widest = start - end - 1
                    runs[0, 1], runs[1, 0], runs[1, 1] = end, start, most


@kernel
def share_in(runs: NDArray[np.int64], before: NDArray[np.int64]) -> float:
    """Return which share of the sample is in two runs of bins, or somewhat more."""
    size = 0
    for run in range(2):
        if runs[run, 0] <= runs[run, 1]:
            size += before[(runs[run, 1] >> _WIDER) + 1] - before[runs[run, 0] >> _WIDER]
    return float(size / before[SAMPLED])


@kernel
def gather(
    a: NDArray[np.int16],
    b: NDArray[np.int16],
    shift: int,
    runs: NDArray[np.int64],
    states: NDArray[np.uint8],
    places: NDArray[np.int64],
    bins: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Collect the replicates whose gains are in two runs of bins, with the bins; return how many, how many are below and between.

    ``states`` are room for eights of replicates; those beyond the last are 0.
    """
    # The first and last steps of both runs; of a run without a bin they are beyond all gains.
    starts, ends = np.full(2, 2**15 - 1), np.full(2, 2**15 - 1)
    for run in range(2):
        if runs[run, 0] <= runs[run, 1]:
            starts[run] = (runs[run, 0] << SHIFT) - 2**15
            ends[run] = (runs[run, 1] << SHIFT) + 2**SHIFT - 1 - 2**15
    start, end, other, stop = np.int16(starts[0]), np.int16(ends[0]), np.int16(starts[1]), np.int16(ends[1])
    moved = np.int16(shift - 2**15)
    for i in range(len(a)):  # 0 below, 1 in the first run, 2 between, 3 in the second, 4 above
        step = np.int16(a[i] - b[i] + moved)
        states[i] = np.uint8(np.uint8(step >= start) + np.uint8(step > end)) + np.uint8(
            np.uint8(step >= other) + np.uint8(step > stop)
        )
    eights = states.view(np.uint64)
    inside = further = above = total = 0
    for k in range(len(eights)):
        inside += count_bits(eights[k] & _EIGHT_ODD)
        further += count_bits(eights[k] & _EIGHT_FURTHER)
        above += count_bits(eights[k] & _EIGHT_ABOVE)
    for k in range(len(eights)):  # each is written and most are written over: no branch is guessed wrong
        places[total] = k
        total += (eights[k] & _EIGHT_ODD) != 0
    size = 0
    for j in range(total):
        eight = eights[places[j]] & _EIGHT_ODD
        while eight:  # of most there is one
            bins[size] = 8 * places[j] + count_bits((eight & (~eight + _ONE)) - _ONE) // 8
            eight &= eight - _ONE
            size += 1
    second = 0
    for j in range(size):
        i = places[j] = bins[j]
        bins[j] = np.uint16(a[i] - b[i] + shift) >> np.uint16(SHIFT)
        second += bins[j] > runs[0, 1]
    # Without a second run what is beyond the first was taken for between.
    beyond = further - second
    return size, len(a) - inside - beyond - above, beyond if runs[1, 0] <= runs[1, 1] else 0


@kernel
def locate(
    p: float, kept: int, counts: NDArray[np.int64], before: int, low: int, high: int, mirrored: bool
) -> tuple[int, int, int]:
    """Return the lower order statistic's rank among the gains of a quantile's bins, and the first and last of these bins.

    The bins are those that hold it and the next one, and one on either side; of distances they are ``mirrored``. The rank is −1
    where there is no quantile, −2 where not all of these bins are in the window from ``low`` to ``high``, with so many gains
    ``before`` it.
    """
    if not 0.0 <= p <= 1.0:
        return -1, 1, 0
    rank = int(np.floor((kept - 1) * p))
    last, edge = min(rank + 1, kept - 1), (HALF if mirrored else BINS) - 1
    first, end, own, upto = -1, -1, 0, before
    if before <= rank:
        for place in range(low, high + 1):
            here = counts[HALF + place] + counts[HALF - 1 - place] if mirrored else counts[place]
            if first < 0 and upto + here > rank:
                first = place
                own = rank - upto
                if place > low:
                    own += counts[HALF + place - 1] + counts[HALF - place] if mirrored else counts[place - 1]
            upto += here
            if upto > last:
                end = place
                break
    if first < 0 or end < 0 or (first == low and low > 0) or (end == high and high < edge):
        return -2, 1, 0
    return own, max(first - 1, 0), min(end + 1, edge)
