"""Exact quantiles of gains, located with scores rounded to 16 bits: a quarter of the memory traffic, and no float arithmetic.

Scores are rounded to whole steps from the middle of their system's scores, so a gain is a difference of two small integers, off by
less than two steps. If such differences are put into bins of eight steps, an order statistic of the gains lies in the bin of the
order statistic of the differences, or in one beside it. Only the gains in these three bins are computed exactly and selected among,
so the result has the bits of ``numpy.quantile`` on the gains themselves.

`pipeline.resampling.quantiles` treats the other pairs: those with scores that are not finite, or so far apart that most gains of a
pair share a bin.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass
from pipeline.resampling.order_statistics import interpolate, select_two

__all__ = ["RoundedScores", "find_among_rounded", "round_scores"]

_MOST = 12_000  # steps from the middle of a system's scores: gains, and their distances from δ, fit 16 bits
_FAR = 8_000  # steps from the middle of a pair to δ, at most
_SHIFT = 3  # a bin has 2 ** _SHIFT steps: more than all rounding together, 5.5 steps
_BINS = 2**16 >> _SHIFT
_HALF = _BINS // 2  # bins on either side of δ
_GROUP = 64  # bins whose sum is checked before the single bins
_FEW = 1 / 8  # of the gains: where more are in the bins that are wanted, bins of floats are finer
_DIGITS = 2.0**48  # steps up to the largest score: beyond, the floats' own rounding is no longer small beside a step


@dataclass(frozen=True, eq=False)
class RoundedScores:
    """Scores in whole steps.

    Parameters
    ----------
    steps : (system, replicate) int16
        From the middle of the system's scores.
    middle : (system,) float64
    scale : float
        Steps per unit.
    is_sound : (system,) bool
        The others have no steps.
    """

    steps: NDArray[np.int16]
    middle: NDArray[np.float64]
    scale: float
    is_sound: NDArray[np.bool_]

    def away(self, pairs: NDArray[np.int64], delta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return steps from the middle of each pair to δ: 0 where δ is undefined, nan where a score has no steps."""
        middle = self.middle[pairs[:, 0]] - self.middle[pairs[:, 1]]
        with np.errstate(all="ignore"):
            steps = (np.where(np.isfinite(delta), delta, middle) - middle) * self.scale
        return np.where(self.is_sound[pairs].all(axis=1), steps, np.nan)


def round_scores(scores: NDArray[np.float64]) -> RoundedScores:
    """Round (system, replicate) scores to steps that all systems share."""
    low, high = (reduce(scores, axis=1) if scores.size else np.zeros(len(scores)) for reduce in (np.min, np.max))
    with np.errstate(all="ignore"):  # what is not finite is not sound
        middle, reach = (low + high) / 2, (high - low) / 2
        is_sound = np.isfinite(middle) & np.isfinite(reach)
        scale = _MOST / np.max(reach, where=is_sound, initial=0.0)
        is_sound &= np.isfinite(scale) & (np.maximum(np.abs(low), np.abs(high)) * scale < _DIGITS)
    steps, row = np.zeros(scores.shape, np.int16), np.empty(scores.shape[1])
    for system in np.flatnonzero(is_sound):
        np.subtract(scores[system], middle[system], out=row)
        np.multiply(row, scale, out=row)
        steps[system] = np.rint(row, out=row)
    return RoundedScores(steps, middle, float(scale), is_sound)


@bare_kernel
def find_among_rounded(
    steps: NDArray[np.int16],
    away: NDArray[np.float64],
    order: NDArray[np.int64],
    scores: NDArray[np.float64],
    pairs: NDArray[np.int64],
    delta: NDArray[np.float64],
    probabilities: NDArray[np.float64],
    distances: NDArray[np.float64],
    gain: NDArray[np.float64],
    distance: NDArray[np.float64],
    left: NDArray[np.bool_],
) -> None:
    """Fill quantiles as `pipeline.resampling.quantiles.gain_quantiles` has them; ``left`` are the pairs that this does not suit.

    ``steps`` and ``away`` are those of `RoundedScores`.
    """
    kept = scores.shape[1]
    gains, all_ = probabilities.shape[1], probabilities.shape[1] + len(distances)
    bins = np.empty(kept, np.uint16)
    counts, near = np.empty(_BINS, np.int64), np.empty(_HALF, np.int64)
    # For each quantile: its rank among the gains of its bins, and the first and last of these, of a distance on either side of δ.
    ranks, lows, highs = np.empty(all_, np.int64), np.empty((2, all_), np.int64), np.empty((2, all_), np.int64)
    runs, wanted = np.empty((2, 2), np.int64), np.empty(_BINS, np.uint8)
    flags = np.zeros(-(-kept // 8) * 8, np.uint8)
    found, places, merged = np.empty(kept), np.empty(len(flags), np.int64), np.empty(kept)
    for pair in order:
        if not abs(away[pair]) <= _FAR:
            left[pair] = True
            continue
        first, second = pairs[pair, 0], pairs[pair, 1]
        known = np.isfinite(delta[pair])
        _bin_differences(steps[first], steps[second], 2**15 - int(np.rint(away[pair])), bins, counts)
        for place in range(_HALF):
            near[place] = counts[_HALF + place] + counts[_HALF - 1 - place]
        for k in range(all_):
            p = probabilities[pair, k] if k < gains else distances[k - gains] if known else np.nan
            ranks[k], low, high = _locate(p, kept, counts if k < gains else near)
            lows[0, k], highs[0, k] = (low, high) if k < gains else (_HALF + low, _HALF + high)
            # Mirrored bins are empty for a gain: the first is beyond the last.
            lows[1, k], highs[1, k] = (1, 0) if k < gains else (_HALF - 1 - high, _HALF - 1 - low)
        if _span(ranks, lows, highs, counts, runs, wanted) > _FEW * kept:
            left[pair] = True
            continue
        size = _collect(scores[first], scores[second], bins, runs, wanted, flags, found, places)
        for k in range(all_):
            if ranks[k] < 0:
                continue
            p = probabilities[pair, k] if k < gains else distances[k - gains]
            same = 0  # the first that is the same: basic and percentile intervals have the same levels
            while same < min(k, gains) and probabilities[pair, same] != p:
                same += 1
            if same < k < gains:
                gain[pair, k] = gain[pair, same]
                continue
            width, further = np.uint64(highs[0, k] - lows[0, k] + 1), np.uint64(highs[1, k] - lows[1, k] + 1)
            several = 0
            for i in range(size):
                merged[several] = found[i] if k < gains else abs(found[i] - delta[pair])
                # Below the first is beyond the last, as a number without a sign: both ends at once, and no branch.
                several += bool(np.uint64(places[i] - lows[0, k]) < width) | bool(np.uint64(places[i] - lows[1, k]) < further)
            low_value, high_value = select_two(merged[:several], ranks[k])
            value = interpolate(low_value, high_value, p, kept)
            if k < gains:
                gain[pair, k] = value
            else:
                distance[pair, k - gains] = value


@kernel
def _bin_differences(
    a: NDArray[np.int16], b: NDArray[np.int16], shift: int, bins: NDArray[np.uint16], counts: NDArray[np.int64]
) -> None:
    for i in range(len(a)):
        bins[i] = np.uint16(a[i] - b[i] + shift) >> np.uint16(_SHIFT)
    # Two tables: the same bin twice in a row does not wait for itself. Four bins are read at once.
    odd, even = np.zeros(_BINS, np.int32), np.zeros(_BINS, np.int32)
    fours, lowest = bins[: len(bins) // 4 * 4].view(np.uint64), np.uint64(0xFFFF)
    for i in range(len(fours)):
        four = fours[i]
        even[four & lowest] += 1
        odd[(four >> np.uint64(16)) & lowest] += 1
        even[(four >> np.uint64(32)) & lowest] += 1
        odd[four >> np.uint64(48)] += 1
    for i in range(len(bins) // 4 * 4, len(bins)):
        even[np.uint64(bins[i])] += 1
    for place in range(_BINS):
        counts[place] = even[place] + odd[place]


@kernel
def _locate(p: float, kept: int, counts: NDArray[np.int64]) -> tuple[int, int, int]:
    """Return the lower order statistic's rank among the gains of a quantile's bins, and the first and last of these bins."""
    if not 0.0 <= p <= 1.0:
        return -1, 1, 0
    rank = int(np.floor((kept - 1) * p))
    before, place = 0, 0
    while True:
        group = 0
        for i in range(place, place + _GROUP):
            group += counts[i]
        if before + group > rank:
            break
        before += group
        place += _GROUP
    while before + counts[place] <= rank:
        before += counts[place]
        place += 1
    low, last = max(place - 1, 0), place
    own = rank - before + (counts[low] if low < place else 0)
    upto, next_ = before + counts[place], min(rank + 1, kept - 1)
    while upto <= next_:
        last += 1
        upto += counts[last]
    return own, low, min(last + 1, len(counts) - 1)


@kernel
def _span(
    ranks: NDArray[np.int64],
    lows: NDArray[np.int64],
    highs: NDArray[np.int64],
    counts: NDArray[np.int64],
    runs: NDArray[np.int64],
    wanted: NDArray[np.uint8],
) -> int:
    """Mark all bins that are wanted, cover them by two runs of bins, and return how many gains these hold.

    Quantiles are mostly those of two tails, so that little lies between the bins of a run that is wanted by none.
    """
    runs[:, 0], runs[:, 1] = 1, 0
    least, most = _BINS, -1
    for side in range(2):
        for k in range(len(ranks)):
            if lows[side, k] <= highs[side, k]:
                least, most = min(least, lows[side, k]), max(most, highs[side, k])
    for place in range(len(wanted)):  # also where nothing is wanted: the array then holds another pair's values, or anything
        wanted[place] = 0
    if most < 0:
        return 0
    for side in range(2):
        for k in range(len(ranks)):
            for place in range(lows[side, k], highs[side, k] + 1):
                wanted[place] = 1
    # The widest gap between two neighbouring bins that are wanted parts the runs.
    widest, start, gap = 0, 0, 0
    for place in range(least, most + 1):
        gap = 0 if wanted[place] else gap + 1
        if gap > widest:
            widest, start = gap, place - gap + 1
    runs[0, 0], runs[0, 1] = least, most
    if widest:
        runs[0, 1] = start - 1
        runs[1, 0], runs[1, 1] = start + widest, most
    size = 0
    for run in range(2):
        for place in range(runs[run, 0], runs[run, 1] + 1):
            size += counts[place]
    return size


@kernel
def _collect(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    bins: NDArray[np.uint16],
    runs: NDArray[np.int64],
    wanted: NDArray[np.uint8],
    flags: NDArray[np.uint8],
    found: NDArray[np.float64],
    places: NDArray[np.int64],
) -> int:
    """Collect the gains of the wanted bins, with their bins, and return how many there are.

    They are looked for in two runs of bins, of all replicates at once; ``flags`` are room for eights of replicates, and 0.
    """
    low, other = np.uint16(runs[0, 0]), np.uint16(runs[1, 0])
    width, further = np.uint16(runs[0, 1] - runs[0, 0] + 1), np.uint16(runs[1, 1] - runs[1, 0] + 1)
    for i in range(len(bins)):
        flags[i] = np.uint8(np.uint16(bins[i] - low) < width) | np.uint8(np.uint16(bins[i] - other) < further)
    eights = flags.view(np.uint64)
    total = 0
    for k in range(len(eights)):
        if eights[k]:
            for i in range(8 * k, 8 * k + 8):  # each is written and most are written over: no branch is guessed wrong
                places[total] = i
                total += flags[i]
    size = 0
    for i in range(total):  # each is kept and written over where its bin lies between those that are wanted
        at = places[i]
        places[size] = at
        size += wanted[bins[at]]
    for i in range(size):
        at = places[i]
        found[i], places[i] = a[at] - b[at], bins[at]
    return size
