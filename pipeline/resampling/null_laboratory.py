"""The arithmetic of the null laboratory: null data sets are made from two outputs, and both tests are run on each.

A null data set has the two outputs of each unit in random order, so its two sides do not differ, whatever the systems are. With D
the difference of the statistics of a unit (second minus first), s a swap and w the draws of a resample, the sums of null data sets
on resamples are Σ w A + Σ w s D: one product of null data sets and resamples for each column of D.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.resampling.draws import Draws, draw_weights
from pipeline.resampling.measures import COUNTS, ScoreFunction
from pipeline.resampling.null_products import Product, take_places
from pipeline.resampling.observe import TOLERANCE
from pipeline.resampling.strata import StratifiedDraws, draw_stratified_weights
from pipeline.resampling.swaps import KeptSwaps

__all__ = ["SHARED", "NullCounts", "NullSwaps", "TwoOutputs", "make_nulls", "randomize_nulls", "resample_nulls"]

SHARED = 128
"""Null data sets that meet the same resamples. With few units the p-values of these are dependent: found rates of 2000 that share
all resamples spread up to 1.3 times as wide as those of independent data sets."""

_ROWS = 64  # null data sets at a time
_SCORED_TOGETHER = 2**16  # sums that stay in the second-level cache, few enough that a metric needs no kernel
_MEMORY = 2**26  # bytes of the weights of a block of resamples


@dataclass(frozen=True, eq=False)
class TwoOutputs:
    """A pair of systems.

    Parameters
    ----------
    statistics : (unit, 2, statistic) int64
    score : ScoreFunction
    """

    statistics: NDArray[np.int64]
    score: ScoreFunction

    def __post_init__(self) -> None:
        if self.statistics.ndim != 3 or self.statistics.shape[1] != 2 or self.statistics.dtype != np.int64:
            raise ValueError(f"statistics are (unit, 2, statistic) int64, not {self.statistics.shape} {self.statistics.dtype}")

    @property
    def difference(self) -> NDArray[np.int64]:
        """(unit, statistic): the second output's statistics minus the first's."""
        return self.statistics[:, 1] - self.statistics[:, 0]

    @property
    def discordant(self) -> NDArray[np.int64]:
        """Units on which the two differ: swapping others changes nothing."""
        return np.flatnonzero(self.difference.any(axis=1))


@dataclass(frozen=True, eq=False)
class NullCounts:
    """Counts of each null data set, its sides ordered so that the observed gain is not negative.

    Parameters
    ----------
    delta : (null,) float64
        Gain of the first side over the second, in points of the score; 0 exactly where it is within the package's tolerance.
    counts : (null, 8) int64
        In the order of `COUNTS`; after swaps δ* stands for δ + δ°, as in `randomize`. Margins are not tested: −1.
    defined : (null,) int64
        Replicates in which both scores are defined; 0 where the null data set itself has an undefined score.
    """

    delta: NDArray[np.float64]
    counts: NDArray[np.int64]
    defined: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NullSwaps:
    """Which units of a null data set change sides.

    Parameters
    ----------
    draws : Draws
        The stream, with one unit for each unit or group of units.
    group : (unit,) int64, optional
        The group of each unit, numbered from 0: either all units of a group change sides or none. Without it each unit is a group.
    kept : KeptSwaps, optional
        Keeps swaps for reuse: both tests of a null data set need the same ones, and so do other pairs.
    """

    draws: Draws
    group: NDArray[np.int64] | None = None
    kept: KeptSwaps | None = None

    def draw(self, first: int, count: int) -> NDArray[np.uint8]:
        """Return (null, unit): 1 where the outputs of a unit are exchanged."""
        kept = self.kept if self.kept is not None else KeptSwaps(0)
        drawn = kept.draw(self.draws, first, count)
        return drawn if self.group is None else np.take(drawn, self.group, axis=1)

    @property
    def n_units(self) -> int:
        """Number of units that may change sides."""
        return self.draws.n_units if self.group is None else len(self.group)


def make_nulls(pair: TwoOutputs, swaps: NullSwaps, first: int, count: int) -> NDArray[np.int64]:
    """Return consecutive null data sets in full: systems 2r and 2r + 1 are the sides of null ``first + r``.

    Returns
    -------
    (unit, 2 · count, statistic) int64

    Examples
    --------
    >>> pair = TwoOutputs(np.array([[[1], [5]], [[2], [6]], [[3], [7]]]), lambda sums: sums[0])
    >>> make_nulls(pair, NullSwaps(Draws(key=1, n_units=3, n_draws=3)), 6, 1)[:, :, 0].tolist()
    [[5, 1], [2, 6], [3, 7]]
    """
    swapped = swaps.draw(first, count).T.astype(np.bool_)[:, :, None]
    one, other = pair.statistics[:, None, 0], pair.statistics[:, None, 1]
    sides = np.stack([np.where(swapped, other, one), np.where(swapped, one, other)], axis=2)
    return sides.reshape(len(one), 2 * count, -1)


def resample_nulls(
    pair: TwoOutputs,
    swaps: NullSwaps,
    draws: Draws | StratifiedDraws,
    *,
    nulls: int,
    replicates: int,
    look: Callable[[int, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], None] | None = None,
) -> NullCounts:
    """Bootstrap every null data set, `SHARED` of them on the same resamples.

    The counts are those that `pipeline.resampling.resample.resample` gives for each of `make_nulls`, in a fraction of the time: for
    the first `SHARED` null data sets on replicates 0 … b − 1, for the next ones on b … 2b − 1.

    Parameters
    ----------
    pair : TwoOutputs
    swaps : NullSwaps
        Of the null data sets.
    draws : Draws or StratifiedDraws
        Of the resamples, with as many draws as units.
    nulls, replicates : int
    look : callable, optional
        Called as ``look(first, scores, score, delta)`` for the null data sets, from ``first`` on, that share resamples: their
        scores in replicates, (side, null, replicate) float64, nan where undefined, their observed scores, (side, null), and gains,
        (null,). Without it no scores are kept.
    """
    units = len(pair.statistics)
    product = Product.of(pair.statistics, draws.n_draws)
    statistics = pair.statistics.astype(product.kind)
    result = _observe(pair, swaps, nulls)
    scores = np.abs(result.score).sum(axis=0)
    block = max(_MEMORY // (4 * units), 32)
    form = product.choose_form(nulls * replicates)
    for turn, some in enumerate(range(0, nulls, SHARED)):
        held = np.empty((2, min(SHARED, nulls - some), replicates)) if look is not None else None
        for start in range(0, replicates, block):
            weights = _weights(draws, turn * replicates + start, min(block, replicates - start))
            own = _sums_of_sides(weights, statistics)
            columns = (form and product.weigh_in_bytes(weights, form)) or product.weigh(weights)
            for first, swapped in _swaps(swaps, some, min(SHARED, nulls - some), product.units):
                rows = slice(first, first + len(swapped))
                first_side, second_side = _score_sides(pair, own, columns.multiply(swapped))
                slack = TOLERANCE * scores[rows]
                _count(first_side - second_side, result.delta[rows], slack, result.counts[rows], result.defined[rows])
                if held is not None:
                    held[:, first - some : first - some + len(swapped), start : start + len(weights)] = first_side, second_side
        if held is not None and look is not None:
            look(some, held, result.score[:, some : some + held.shape[1]], result.delta[some : some + held.shape[1]])
    return NullCounts(result.delta, result.counts, result.defined)


def _weights(draws: Draws | StratifiedDraws, first: int, count: int) -> NDArray[np.float32]:
    if isinstance(draws, StratifiedDraws):
        return draw_stratified_weights(draws, first, count)
    return draw_weights(draws, first, count)


def randomize_nulls(pair: TwoOutputs, swaps: NullSwaps, reference: Draws, *, nulls: int, replicates: int) -> NullCounts:
    """Randomize every null data set unit by unit, all with the same further swaps.

    Swaps of a null data set are swaps of the original data, so all null data sets have one randomization law, which is drawn once.

    Parameters
    ----------
    pair : TwoOutputs
    swaps : NullSwaps
        Of the null data sets.
    reference : Draws
        Draws of that law, with another key than ``swaps``.
    nulls, replicates : int
    """
    result = _observe(pair, swaps, nulls)
    law = _observe(pair, NullSwaps(reference, kept=swaps.kept), replicates)
    gains = np.sort(law.delta[np.isfinite(law.delta)])
    known = np.isfinite(result.delta)
    delta, slack = np.abs(result.delta[known]), TOLERANCE * np.abs(result.score[:, known]).sum(axis=0)
    below = [np.searchsorted(gains, sign * delta - slack, "left") for sign in (-1, 0, 1)]
    upto = [np.searchsorted(gains, sign * delta + slack, "right") for sign in (-1, 0, 1)]
    found = {
        "below_zero": below[0],
        "at_zero": upto[0] - below[0],
        "below_delta": below[1],
        "at_delta": upto[1] - below[1],
        "at_twice_delta": upto[2] - below[2],
        "above_twice_delta": len(gains) - upto[2],
    }
    for name, values in found.items():
        result.counts[known, COUNTS.index(name)] = values
    return NullCounts(result.delta, result.counts, np.where(known, len(gains), 0))


@dataclass(frozen=True, eq=False)
class _Observed:
    score: NDArray[np.float64]
    delta: NDArray[np.float64]
    counts: NDArray[np.int64]
    defined: NDArray[np.int64]


def _observe(pair: TwoOutputs, swaps: NullSwaps, nulls: int) -> _Observed:
    """Score null data sets."""
    if swaps.n_units != len(pair.statistics):
        raise ValueError(f"statistics of {len(pair.statistics)} units, swaps of {swaps.n_units}")
    product = Product.of(pair.statistics, len(pair.statistics))
    columns = product.weigh(np.ones((1, swaps.n_units), np.float32))
    own = pair.statistics.sum(axis=0).astype(np.float64)[:, :, None]
    score = np.empty((2, nulls))
    together = max(_SCORED_TOGETHER // max(len(own[0]), 1), _ROWS)
    for first in range(0, nulls, together):
        last = min(first + together, nulls)
        some = [columns.multiply(swapped) for _, swapped in _swaps(swaps, first, last - first, product.units)]
        score[:, first:last] = [side[:, 0] for side in _score_sides(pair, own, np.concatenate(some, axis=1))]
    delta = score[0] - score[1]
    delta[np.abs(delta) <= TOLERANCE * np.abs(score).sum(axis=0)] = 0.0
    counts = np.zeros((nulls, len(COUNTS)), np.int64)
    counts[:, [COUNTS.index(name) for name in ("margin_above", "margin_below")]] = -1
    return _Observed(score, delta, counts, np.zeros(nulls, np.int64))


def _swaps(swaps: NullSwaps, first: int, count: int, units: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    for start in range(first, first + count, _ROWS):
        yield start, take_places(swaps.draw(start, min(_ROWS, first + count - start)), units)


def _sums_of_sides(weights: NDArray[np.float32], statistics: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the sums of both outputs in resamples, (side, statistic, resample)."""
    table = statistics.reshape(len(statistics), -1)
    sums = weights.astype(table.dtype, copy=False) @ table
    return np.ascontiguousarray(sums.T, np.float64).reshape(*statistics.shape[1:], len(weights))


def _score_sides(
    pair: TwoOutputs, own: NDArray[np.float64], moved: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score the sums that the sides of null data sets have once swaps have moved something from one to the other.

    Parameters
    ----------
    pair : TwoOutputs
    own : (side, statistic, resample) float64
        Without a swap.
    moved : (statistic, null, resample) float64

    Returns
    -------
    two of (null, resample) float64
        nan where undefined.
    """
    rows = max(_SCORED_TOGETHER * moved.shape[1] // max(moved.size, 1), 1)
    sides = np.empty(moved.shape[1:]), np.empty(moved.shape[1:])
    sums = np.empty((len(moved), min(rows, moved.shape[1]), moved.shape[2]))
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is a defined outcome: an empty replicate
        for first in range(0, moved.shape[1], rows):
            some = moved[:, first : first + rows]
            for score, of_side, move in zip(sides, own, (np.add, np.subtract), strict=True):
                score[first : first + rows] = pair.score(move(of_side[:, None], some, out=sums[:, : some.shape[1]]))
    for score in sides:
        score[~np.isfinite(score)] = np.nan
    return sides


def _count(
    gain: NDArray[np.float64],
    delta: NDArray[np.float64],
    slack: NDArray[np.float64],
    counts: NDArray[np.int64],
    defined: NDArray[np.int64],
) -> None:
    """Compare δ* with 0, δ and 2δ, three ways; of a null without a gain nothing is counted.

    In NumPy: a kernel would take longer to load than all of this does in a study.
    """
    size, room = np.abs(delta)[:, None], slack[:, None]
    with np.errstate(invalid="ignore"):
        star = np.where(delta < 0, -1.0, 1.0)[:, None] * gain
        found = [
            star < -room,
            np.abs(star) <= room,
            star < size - room,
            np.abs(star - size) <= room,
            np.abs(star - 2 * size) <= room,
            star > 2 * size + room,
        ]
    known = ~np.isnan(delta)
    for place, each in enumerate(found):
        counts[known, place] += np.count_nonzero(each, axis=1)[known]
    defined[known] += np.count_nonzero(star == star, axis=1)[known]
