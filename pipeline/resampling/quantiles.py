"""Exact quantiles of the gains of all pairs over kept replicates, without an array of pairs × replicates.

One pass over a pair puts each gain δ* into one of `_BINS` bins around the observed δ and remembers its bin, in two bytes. The
requested order statistics lie in a few bins; the gains in these are computed again and selected among. Bins are monotone in the
gain, rounding included, so the result is exact: it has the bits of ``numpy.quantile`` on the gains themselves.

With many replicates, rounded scores are put into bins instead (`pipeline.resampling.rounded_quantiles`), in half the time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass
from pipeline.resampling.order_statistics import interpolate, select
from pipeline.resampling.rounded_quantiles import find_among_rounded, round_scores
from pipeline.resampling.sorted_quantiles import sort_gains, suits_sorting

__all__ = ["GainQuantiles", "gain_quantiles"]

_HALF = 1024  # bins on either side of δ
_BINS = 2 * _HALF
_LAST = _HALF - 1.0
_EMPTY = _BINS  # the bin of undefined gains, beyond the others
_SPREAD = 6.0  # root mean squares of δ* − δ on either side; what is beyond is in the end bins, and no less exact
_PROBES = 1024  # replicates that the root mean square is taken of
_TILE = 1024  # replicates, as in `compare`
_BLOCK = 64  # replicates that are searched together for a bin
_FEWEST = 2**13  # replicates: with fewer, searching the bins would take longer than searching the replicates
_AT_ONCE = 2**26  # gains of a call, some .2 s: signals are handled between calls
_NEIGHBOURS = 8  # systems: pairs are walked in squares of these, whose scores stay in the last-level cache


@dataclass(frozen=True, eq=False)
class GainQuantiles:
    """Quantiles of δ* and of |δ* − δ|, pair by pair.

    Parameters
    ----------
    gain : (pair, probability) float64
        Of δ*; nan if no replicate is defined or the probability is not in 0 … 1.
    distance : (pair, probability) float64
        Of |δ* − δ|; nan also if δ is undefined.
    replicates : (pair,) int64
        Replicates in which both scores are defined, from which the quantiles come.
    """

    gain: NDArray[np.float64]
    distance: NDArray[np.float64]
    replicates: NDArray[np.int64]


def gain_quantiles(
    scores: NDArray[np.float64],
    pairs: NDArray[np.integer],
    *,
    delta: NDArray[np.float64],
    probabilities: NDArray[np.float64],
    distances: ArrayLike = (),
) -> GainQuantiles:
    """Return quantiles of δ* = scores[first] − scores[second] and of its distance from δ, linearly interpolated (type 7).

    Parameters
    ----------
    scores : (row, replicate) float64
        Kept replicates; nan where a score is undefined: the pairs of that system then leave the replicate out.
    pairs : (pair, 2) int
        Rows, first the one that gains. If lower scores are better, the second system comes first.
    delta : (pair,) float64
        Observed gains of the first over the second, of the sign of δ*.
    probabilities : (pair, probability) float64
        Of the quantiles of δ*; nan where none is wanted.
    distances : (probability,) float
        Of the quantiles of |δ* − δ|.

    Returns
    -------
    GainQuantiles

    Examples
    --------
    >>> scores = np.array([[3.0, 5.0, 4.0, np.nan], [1.0, 1.0, 1.0, 1.0]])
    >>> asked = {"probabilities": np.array([[0.0, 0.75]]), "distances": [1.0]}
    >>> found = gain_quantiles(scores, np.array([[0, 1]]), delta=np.array([2.5]), **asked)
    >>> found.gain.tolist(), found.distance.tolist(), found.replicates.tolist()
    ([[2.0, 3.5]], [[1.5]], [3])
    """
    scores = np.ascontiguousarray(scores, np.float64)
    pairs = np.ascontiguousarray(pairs, np.int64).reshape(-1, 2)
    delta, probabilities = (np.ascontiguousarray(values, np.float64) for values in (delta, probabilities))
    if scores.ndim != 2 or delta.shape != (len(pairs),) or probabilities.shape[:1] != (len(pairs),) or probabilities.ndim != 2:
        raise ValueError(
            f"scores {scores.shape}, delta {delta.shape} and probabilities {probabilities.shape} are not of {len(pairs)} pairs"
        )
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < len(scores):
        raise ValueError(f"pairs name rows {pairs.min()} … {pairs.max()}, there are {len(scores)}")
    asked = np.array(distances, np.float64).reshape(-1)
    found = GainQuantiles(
        gain=np.full(probabilities.shape, np.nan),
        distance=np.full((len(pairs), len(asked)), np.nan),
        replicates=np.zeros(len(pairs), np.int64),
    )
    filled = found.gain, found.distance, found.replicates
    if suits_sorting(len(pairs) * scores.shape[1]):
        sort_gains(np.arange(len(pairs)), scores, pairs, delta, probabilities, asked, *filled)
        return found
    squares = pairs // _NEIGHBOURS
    order = np.lexsort((pairs[:, 1], pairs[:, 0], squares[:, 1], squares[:, 0]))
    step = max(1, _AT_ONCE // max(scores.shape[1], 1))
    if scores.shape[1] >= _FEWEST:
        rounded = round_scores(scores)
        away, left = rounded.away(pairs, delta), np.zeros(len(pairs), np.bool_)
        for some in (order[first : first + step] for first in range(0, len(order), step)):
            given = (away, some, scores, pairs, delta, probabilities, asked, found.gain, found.distance, left)
            find_among_rounded(rounded.steps, *given)
        found.replicates[~left] = scores.shape[1]
        order = order[left[order]]
        if suits_sorting(len(order) * scores.shape[1]):
            sort_gains(order, scores, pairs, delta, probabilities, asked, *filled)
            return found
    for some in (order[first : first + step] for first in range(0, len(order), step)):
        _find_quantiles(some, scores, pairs, delta, probabilities, asked, *filled)
    return found


@bare_kernel
def _find_quantiles(
    order: NDArray[np.int64],
    scores: NDArray[np.float64],
    pairs: NDArray[np.int64],
    delta: NDArray[np.float64],
    probabilities: NDArray[np.float64],
    distances: NDArray[np.float64],
    gain: NDArray[np.float64],
    distance: NDArray[np.float64],
    replicates: NDArray[np.int64],
) -> None:
    kept = scores.shape[1]
    bins = np.empty(kept, np.uint16)
    found, merged = np.empty(kept), np.empty(kept)
    counts = np.empty(_BINS + 1, np.int64)
    near = np.empty(_HALF, np.int64)
    # For each order statistic: its bin, and its rank within the bin. Two for each quantile, which lies between them.
    ranks = np.empty(2 * (probabilities.shape[1] + len(distances)), np.int64)
    places = np.empty(len(ranks), np.int64)
    starts = np.empty(_BINS + 1, np.int64)
    for pair in order:
        a, b = scores[pairs[pair, 0]], scores[pairs[pair, 1]]
        center = delta[pair] if np.isfinite(delta[pair]) else 0.0
        _sort_into_bins(a, b, center, bins, counts)
        defined = kept - counts[_EMPTY]
        replicates[pair] = defined
        if defined == 0:
            continue
        for place in range(_HALF):
            near[place] = counts[_HALF + place] + counts[_HALF - 1 - place]
        gains = probabilities.shape[1]
        for k in range(gains):
            _locate(probabilities[pair, k], defined, counts[:_BINS], ranks[2 * k : 2 * k + 2], places[2 * k : 2 * k + 2])
        for k in range(gains, gains + len(distances)):
            wanted = distances[k - gains] if np.isfinite(delta[pair]) else np.nan
            _locate(wanted, defined, near, ranks[2 * k : 2 * k + 2], places[2 * k : 2 * k + 2])
        _collect(a, b, bins, counts, places, 2 * gains, starts, found)
        for k in range(gains):
            if places[2 * k] >= 0:
                low = _pick(found, starts, counts, places[2 * k], ranks[2 * k])
                high = _pick(found, starts, counts, places[2 * k + 1], ranks[2 * k + 1])
                gain[pair, k] = interpolate(low, high, probabilities[pair, k], defined)
        for k in range(gains, gains + len(distances)):
            if places[2 * k] >= 0:
                low = _pick_near(found, starts, counts, places[2 * k], ranks[2 * k], center, merged)
                high = _pick_near(found, starts, counts, places[2 * k + 1], ranks[2 * k + 1], center, merged)
                distance[pair, k - gains] = interpolate(low, high, distances[k - gains], defined)


@kernel
def _find_scale(a: NDArray[np.float64], b: NDArray[np.float64], center: float) -> float:
    """Return bins per unit. Any number would do; this one leaves few gains in each bin."""
    squares, defined = 0.0, 0
    for i in range(min(len(a), _PROBES)):  # neighbours: one of every sixteen replicates would be in every second line of the cache
        y = (a[i] - b[i]) - center
        if y == y:
            squares += y * y
            defined += 1
    span = _SPREAD * np.sqrt(squares / max(defined, 1))
    if not 0.0 < span < np.inf:
        span = 0.0  # no probe differs from δ, so few other gains do
        for i in range(len(a)):
            y = abs((a[i] - b[i]) - center)
            span = y if y > span else span
    return min(_HALF / span, 1e300) if span > 0.0 else 0.0


@kernel
def _sort_into_bins(
    a: NDArray[np.float64], b: NDArray[np.float64], center: float, bins: NDArray[np.uint16], counts: NDArray[np.int64]
) -> None:
    scale = _find_scale(a, b, center)
    table = np.zeros(_BINS + 1, np.int32)
    for start in range(0, len(a), _TILE):
        stop = min(start + _TILE, len(a))
        x_a, x_b, own = a[start:stop], b[start:stop], bins[start:stop]
        for i in range(stop - start):
            y = (x_a[i] - x_b[i]) - center
            size = abs(y) * scale
            size = size if size < _LAST else _LAST  # nan goes there too, for now
            away = np.int32(size)
            # Bins are mirror images of each other: |δ* − δ| rises with their distance from the middle.
            place = np.int32(_HALF) + away if y >= 0.0 else np.int32(_HALF - 1) - away
            own[i] = np.uint16(place if y == y else np.int32(_EMPTY))
    for i in range(len(a)):
        table[np.uint64(bins[i])] += 1
    for k in range(len(counts)):  # one by one: the assignment of a slice takes seconds to compile
        counts[k] = table[k]


@kernel
def _locate(p: float, defined: int, counts: NDArray[np.int64], ranks: NDArray[np.int64], places: NDArray[np.int64]) -> None:
    """Find the bins of the two order statistics about a quantile, and their ranks within; bins of −1 where there are none."""
    places[0] = places[1] = -1
    if not 0.0 <= p <= 1.0:
        return
    wanted = int(np.floor((defined - 1) * p))
    before = 0
    place = 0
    for which in range(2):
        rank = min(wanted + which, defined - 1)
        while before + counts[place] <= rank:
            before += counts[place]
            place += 1
        ranks[which] = rank - before
        places[which] = place


@kernel
def _collect(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    bins: NDArray[np.uint16],
    counts: NDArray[np.int64],
    places: NDArray[np.int64],
    gains: int,
    starts: NDArray[np.int64],
    found: NDArray[np.float64],
) -> None:
    """Collect the gains of all wanted bins; ``starts`` says where each bin's begin in ``found``."""
    for place in range(len(starts)):
        starts[place] = -1
    wanted = np.empty(2 * len(places), np.uint16)
    several = 0
    total = 0
    for k in range(len(places)):
        for side in range(2):
            place = places[k]
            if place < 0 or (k < gains and side == 1):
                continue
            if k >= gains:
                place = _HALF + place if side == 0 else _HALF - 1 - place
            if starts[place] < 0 and counts[place] > 0:
                starts[place] = total
                total += counts[place]
                wanted[several] = place
                several += 1
    cursor = starts.copy()
    for start in range(0, len(bins), _BLOCK):
        stop = min(start + _BLOCK, len(bins))
        own = bins[start:stop]
        present = np.uint16(0)
        for k in range(several):
            sought = wanted[k]
            for i in range(stop - start):
                present |= np.uint16(own[i] == sought)
        if present:
            for i in range(stop - start):
                place = own[i]
                if cursor[place] >= 0:
                    found[cursor[place]] = a[start + i] - b[start + i]
                    cursor[place] += 1


@kernel
def _pick(found: NDArray[np.float64], starts: NDArray[np.int64], counts: NDArray[np.int64], place: int, rank: int) -> float:
    return select(found[starts[place] : starts[place] + counts[place]], rank)


@kernel
def _pick_near(
    found: NDArray[np.float64],
    starts: NDArray[np.int64],
    counts: NDArray[np.int64],
    place: int,
    rank: int,
    center: float,
    merged: NDArray[np.float64],
) -> float:
    size = 0
    for side in (_HALF + place, _HALF - 1 - place):
        for i in range(starts[side], starts[side] + counts[side]):
            merged[size] = abs(found[i] - center)
            size += 1
    return select(merged[:size], rank)
