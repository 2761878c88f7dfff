"""Exact quantiles of gains, located with scores rounded to 16 bits: a quarter of the memory traffic, and no float arithmetic.

Scores are rounded to whole steps from the middle of their system's scores, so a gain is a difference of two small integers, off by
less than two steps. If such differences are put into bins of eight steps, an order statistic of the gains lies in the bin of the
order statistic of the differences, or in one beside it. Only the gains in these three bins are computed exactly and selected among,
so the result has the bits of ``numpy.quantile`` on the gains themselves. The bins are looked for in windows that a sample of the
replicates tells (`pipeline.resampling.quantile_windows`), and among all where they are not there.

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
from pipeline.resampling.quantile_windows import (
    BINS,
    FEW,
    HALF,
    SAMPLED,
    SHIFT,
    cover,
    find_windows,
    gather,
    locate,
    sample_of,
    share_in,
)

__all__ = ["RoundedScores", "find_among_rounded", "round_scores"]

_MOST = 12_000  # steps from the middle of a system's scores: gains, and their distances from δ, fit 16 bits
_FAR = 8_000  # steps from the middle of a pair to δ, at most
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
    steps = np.zeros(scores.shape, np.int16)
    _round_rows(scores, middle, float(scale), is_sound, steps)
    return RoundedScores(steps, middle, float(scale), is_sound)


@bare_kernel
def _round_rows(
    scores: NDArray[np.float64], middle: NDArray[np.float64], scale: float, is_sound: NDArray[np.bool_], steps: NDArray[np.int16]
) -> None:
    for system in range(len(scores)):
        if is_sound[system]:
            row, own, away = scores[system], steps[system], middle[system]
            for i in range(len(row)):
                own[i] = np.int16(np.rint((row[i] - away) * scale))


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
    # For each quantile: its rank among the gains of its bins, and the first and last of these, of a distance on either side of δ.
    ranks, lows, highs = np.empty(all_, np.int64), np.empty((2, all_), np.int64), np.empty((2, all_), np.int64)
    counts, wanted, asked = np.zeros(BINS, np.int64), np.zeros(BINS, np.uint8), np.empty(all_)
    states = np.zeros(-(-kept // 8) * 8, np.uint8)
    places, bins = np.empty(len(states), np.int64), np.empty(len(states), np.int64)
    room = places, bins
    found, merged = np.empty(kept), np.empty(kept)
    for pair in order:
        if not abs(away[pair]) <= _FAR:
            left[pair] = True
            continue
        first, second = pairs[pair, 0], pairs[pair, 1]
        for k in range(all_):
            asked[k] = probabilities[pair, k] if k < gains else distances[k - gains] if np.isfinite(delta[pair]) else np.nan
        a, b, shift = steps[first], steps[second], 2**15 - int(np.rint(away[pair]))
        size = _search_windows(a, b, shift, asked, gains, ranks, lows, highs, counts, wanted, states, room)
        if size < 0:
            size = _search_all(a, b, shift, asked, gains, ranks, lows, highs, counts, wanted, states, room)
        if size < 0:
            left[pair] = True
            continue
        for i in range(size):
            found[i] = scores[first, places[i]] - scores[second, places[i]]
        for k in range(all_):
            if ranks[k] < 0:
                continue
            same = 0  # the first that is the same: basic and percentile intervals have the same levels
            while same < min(k, gains) and asked[same] != asked[k]:
                same += 1
            if same < k < gains:
                gain[pair, k] = gain[pair, same]
                continue
            width, further = np.uint64(highs[0, k] - lows[0, k] + 1), np.uint64(highs[1, k] - lows[1, k] + 1)
            several = 0
            for i in range(size):
                merged[several] = found[i] if k < gains else abs(found[i] - delta[pair])
                # Below the first is beyond the last, as a number without a sign: both ends at once, and no branch.
                several += bool(np.uint64(bins[i] - lows[0, k]) < width) | bool(np.uint64(bins[i] - lows[1, k]) < further)
            low_value, high_value = select_two(merged[:several], ranks[k])
            value = interpolate(low_value, high_value, asked[k], kept)
            if k < gains:
                gain[pair, k] = value
            else:
                distance[pair, k - gains] = value


@kernel
def _search_windows(
    a: NDArray[np.int16],
    b: NDArray[np.int16],
    shift: int,
    asked: NDArray[np.float64],
    gains: int,
    ranks: NDArray[np.int64],
    lows: NDArray[np.int64],
    highs: NDArray[np.int64],
    counts: NDArray[np.int64],
    wanted: NDArray[np.uint8],
    states: NDArray[np.uint8],
    room: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> int:
    """Search windows for the bins of all quantiles, and return how many gains these hold, which come first in the room.

    It is −1 where a quantile is not in its window, and where windows hold too many gains.
    """
    kept, sample = len(a), sample_of(len(a))
    before, runs = np.empty(SAMPLED + 1, np.int64), np.empty((2, 2), np.int64)
    find_windows(a[:sample], b[:sample], shift, asked, gains, lows[0], highs[0], before)
    _mirror(lows, highs, gains)
    cover(lows, highs, runs)
    is_around = runs[0, 1] < HALF <= runs[1, 0]  # only then is what lies between them nearer to δ than a distance's window
    if share_in(runs, before) > FEW or (gains < len(asked) and not is_around):
        return -1
    size, below, between = gather(a, b, shift, runs, states, *room)
    if size > FEW * kept:
        return -1
    bins = room[1]
    for i in range(size):
        counts[bins[i]] += 1
    is_known = True
    for k in range(len(asked)):
        low, high = lows[0, k], highs[0, k]
        smaller = below + (between if low > runs[0, 1] else 0)
        if k < gains:
            for i in range(size):
                smaller += bins[i] < low
        elif low <= high:
            smaller, low, high = between, low - HALF, high - HALF
            for i in range(size):
                smaller += (bins[i] < HALF + low) & (bins[i] > HALF - 1 - low)
        ranks[k], lows[0, k], highs[0, k] = locate(asked[k], kept, counts, smaller, low, high, k >= gains)
        is_known &= ranks[k] > -2
    for i in range(size):
        counts[bins[i]] = 0
    if not is_known:
        return -1
    _mirror(lows, highs, gains)
    return _keep_wanted(lows, highs, wanted, size, *room)


@kernel
def _search_all(
    a: NDArray[np.int16],
    b: NDArray[np.int16],
    shift: int,
    asked: NDArray[np.float64],
    gains: int,
    ranks: NDArray[np.int64],
    lows: NDArray[np.int64],
    highs: NDArray[np.int64],
    counts: NDArray[np.int64],
    wanted: NDArray[np.uint8],
    states: NDArray[np.uint8],
    room: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> int:
    """Search all bins for those of all quantiles, and return the same; −1 where bins of floats are finer."""
    kept, runs = len(a), np.empty((2, 2), np.int64)
    _count_differences(a, b, shift, counts)
    for k in range(len(asked)):
        last = (BINS if k < gains else HALF) - 1
        ranks[k], lows[0, k], highs[0, k] = locate(asked[k], kept, counts, 0, 0, last, k >= gains)
    _mirror(lows, highs, gains)
    cover(lows, highs, runs)
    size = 0
    for run in range(2):
        for place in range(runs[run, 0], runs[run, 1] + 1):
            size += counts[place]
    for place in range(BINS):
        counts[place] = 0
    if size > FEW * kept:
        return -1
    size, _, _ = gather(a, b, shift, runs, states, *room)
    return _keep_wanted(lows, highs, wanted, size, *room)


@kernel
def _mirror(lows: NDArray[np.int64], highs: NDArray[np.int64], gains: int) -> None:
    """Give bins of distances, which are in the first row, as those on either side of δ; those of gains have none on another."""
    for k in range(lows.shape[1]):
        low, high = lows[0, k], highs[0, k]
        lows[1, k], highs[1, k] = 1, 0
        if k >= gains and low <= high:
            lows[0, k], highs[0, k] = HALF + low, HALF + high
            lows[1, k], highs[1, k] = HALF - 1 - high, HALF - 1 - low


@kernel
def _keep_wanted(
    lows: NDArray[np.int64],
    highs: NDArray[np.int64],
    wanted: NDArray[np.uint8],
    size: int,
    places: NDArray[np.int64],
    bins: NDArray[np.int64],
) -> int:
    """Keep the gains whose bins a quantile wants, and return how many these are; ``wanted`` is 0, before and after."""
    for mark in (np.uint8(1), np.uint8(0)):
        for side in range(2):
            for k in range(lows.shape[1]):
                for place in range(lows[side, k], highs[side, k] + 1):
                    wanted[place] = mark
        if mark:
            kept = 0
            for i in range(size):  # each is kept and written over where its bin lies between those that are wanted
                place, own = places[i], bins[i]
                places[kept], bins[kept] = place, own
                kept += wanted[own]
    return kept


@kernel
def _count_differences(a: NDArray[np.int16], b: NDArray[np.int16], shift: int, counts: NDArray[np.int64]) -> None:
    bins = np.empty(len(a), np.uint16)
    for i in range(len(a)):
        bins[i] = np.uint16(a[i] - b[i] + shift) >> np.uint16(SHIFT)
    # Two tables: the same bin twice in a row does not wait for itself. Four bins are read at once.
    odd, even = np.zeros(BINS, np.int32), np.zeros(BINS, np.int32)
    fours, lowest = bins[: len(bins) // 4 * 4].view(np.uint64), np.uint64(0xFFFF)
    for i in range(len(fours)):
        four = fours[i]
        even[four & lowest] += 1
        odd[(four >> np.uint64(16)) & lowest] += 1
        even[(four >> np.uint64(32)) & lowest] += 1
        odd[four >> np.uint64(48)] += 1
    for i in range(len(bins) // 4 * 4, len(bins)):
        even[np.uint64(bins[i])] += 1
    for place in range(BINS):
        counts[place] = even[place] + odd[place]
