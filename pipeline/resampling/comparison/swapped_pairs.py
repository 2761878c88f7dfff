"""Pairs compared by their scores after swaps, many pairs at a time in a buffer that stays in the cache.

A score may have an estimate with a proven bound on its error, as BLEU has in single precision: counts then stay exact at half the
cost. If that error cannot carry the gain of a replicate across a threshold, every comparison has the outcome that the score itself
would give; otherwise the replicate is scored. So counts are those of the scores on every replicate, and estimates enter only the
sums and the histogram.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel
from pipeline.compiled.loops import lowest_bit, subtract_estimates
from pipeline.compiled.sizes import ESTIMATES
from pipeline.resampling.comparison.assemble import (
    Packed,
    chunk_pairs,
    compare_gains,
    compare_scores,
    fill_sums,
    gather_sums,
    pack_thresholds,
)
from pipeline.resampling.comparison.compare import Tally
from pipeline.resampling.comparison.comparison_rules import Rule
from pipeline.resampling.measures import Measure, Observed, ScoreFunction
from pipeline.resampling.products.columns import Sums
from pipeline.resampling.products.contract import FLOAT32_LIMIT, largest_magnitude

__all__ = ["EstimatedPairs", "EstimatedScore", "SwappedPairs", "bound_errors", "find_doubtful", "scores_single"]

_SMALL = 2.0**-8  # of the standard error: what an estimated gain may miss
_ROUNDING = 2.0**-48  # of |a| + |b|: far more than gains and their bounds lose in double precision
_EVALUATIONS = 2**18  # of a chunk: so many that calls from Python cost little
_TILE = 1024  # replicates of a chunk
_APART = 48  # numbers between rows of M: rows a power of two apart would share cache lines


@runtime_checkable
class EstimatedScore(Protocol):
    """A score that can be estimated after swaps, from sums that are whole numbers from 0 to 2^24."""

    @property
    def relative_error(self) -> float:
        """How far an estimate may be from the score, as a share of the estimate."""

    def __call__(self, statistics: NDArray[Any], /) -> NDArray[np.float64]:
        """Score sums (statistic, …)."""

    def estimate_swaps(
        self, totals: NDArray[Any], moved: NDArray[Any], rows: NDArray[np.int64], start: int, out: NDArray[np.float32]
    ) -> None:
        """Estimate the scores of both systems of pairs, of T_a − M_a + M_b and of T_b − M_b + M_a.

        Parameters
        ----------
        totals : (system, statistic) float
            T.
        moved : (system, statistic, replicate) float
            M, of the type of the totals.
        rows : (pair, 2) int64
            Positions of systems.
        start : int
            First replicate; M may have more replicates than are estimated.
        out : (2 × pair, replicate) float32
            Both estimates of a pair, one after the other; nan where the bound does not hold.
        """


def bound_errors(measure: Measure, observed: Observed, rule: Rule) -> NDArray[np.float64]:
    """Bound the errors of estimates, as a share, for each pair of a rule; infinite where all replicates of a pair must be scored.

    A pair is estimated if errors are small beside the standard error of its gain, so that few replicates are doubtful and sums stay
    meaningful, and if both observed scores have an estimate. This depends on the two systems alone.
    """
    pair = rule.thresholds.pair
    if not isinstance(measure.score, EstimatedScore):
        return np.full(len(pair), np.inf)
    error = measure.score.relative_error + _ROUNDING
    statistics, systems = measure.statistics, measure.pairs[pair]
    fits = (statistics.min(axis=(0, 2)) >= 0) & (len(statistics) * statistics.max(axis=(0, 2)) < FLOAT32_LIMIT)
    small = error * np.abs(observed.score[systems]).sum(axis=1) <= _SMALL * observed.se[pair]  # false for nan
    served = small & (fits & _has_estimate(measure.score, statistics.sum(axis=0).astype(np.float64)))[systems].all(axis=1)
    return np.where(served, error, np.inf)


def _has_estimate(score: EstimatedScore, totals: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell for which systems the observed score, without swaps, can be estimated."""
    each = np.arange(len(totals))
    out = np.empty((2 * len(totals), 1), np.float32)
    single = totals.astype(np.float32)  # as the sums of swaps are: doubles would compile the score once more
    score.estimate_swaps(single, np.zeros((*totals.shape, 1), np.float32), np.stack([each, each], axis=1), 0, out)
    return np.isfinite(out[::2, 0])


class EstimatedPairs:
    """Pairs for which estimates decide most replicates.

    Parameters
    ----------
    score : EstimatedScore
    totals : (system, statistic) float
    rows : (pair, 2) int64
        Positions of systems.
    packed : Packed
        Thresholds of these pairs.
    errors : (pair,) float64
        Those of `bound_errors` that are finite.
    """

    def __init__(
        self, score: EstimatedScore, totals: NDArray[Any], rows: NDArray[np.int64], packed: Packed, errors: NDArray[np.float64]
    ) -> None:
        self._score, self._totals, self._rows, self._packed, self._errors = score, totals, rows, packed, errors
        self._rooms: dict[tuple[int, int], tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.int64]]] = {}

    def compare(self, moved: NDArray[Any], count: int, tally: Tally, cell: int) -> None:
        """Count all pairs in a batch; ``moved`` is M, (system, statistic, ≥ replicate)."""
        for first, last, start, stop in chunk_pairs(len(self._rows), count, evaluations=_EVALUATIONS, tile=_TILE):
            compare_gains(self._gains(moved, slice(first, last), start, stop), self._packed, first, tally, cell)

    def _gains(self, moved: NDArray[Any], chunk: slice, start: int, stop: int) -> NDArray[np.float64]:
        rows = self._rows[chunk]
        estimates, gains, places = self._room(len(rows), stop - start)
        self._score.estimate_swaps(self._totals, moved, rows, start, estimates)
        found = find_doubtful(estimates, self._errors[chunk], self._packed.bounds[chunk], gains, places)
        if found:
            sums = np.empty((self._totals.shape[1], 2, found), self._totals.dtype)
            gather_sums(self._totals, moved, rows, start, stop, places[:found], sums)
            first, second = self._score(sums)
            exact = first - second
            gains.reshape(-1)[places[:found]] = np.where(np.isfinite(exact), exact, np.nan)
        return gains

    def _room(self, pairs: int, replicates: int) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.int64]]:
        """Return arrays for estimates, gains and places, the last row of gains with zeros; few shapes occur."""
        if (pairs, replicates) not in self._rooms:
            gains = np.zeros((pairs + 1, replicates))
            room = np.empty((2 * pairs, replicates), np.float32), gains, np.empty(pairs * replicates, np.int64)
            self._rooms[pairs, replicates] = room
        return self._rooms[pairs, replicates]


@bare_kernel
def find_doubtful(
    estimates: NDArray[np.float32],
    errors: NDArray[np.float64],
    bounds: NDArray[np.float64],
    gains: NDArray[np.float64],
    places: NDArray[np.int64],
) -> int:
    """Subtract estimates, and list the flat places of gains that may be on either side of a threshold or are not finite.

    Parameters
    ----------
    estimates : (2 × pair, replicate) float32
    errors : (pair,) float64
    bounds : (pair, at least 6) float64
        The three thresholds, ``low`` and then ``high``.
    gains : (at least pair, replicate) float64
        Filled.
    places : (pair × replicate,) int64
        Filled from the front.

    Returns
    -------
    int
        How many are listed.
    """
    if estimates.strides[1] != 4 or gains.strides[1] != 8:
        raise ValueError("estimates and gains of a pair lie side by side")
    found, replicates = 0, gains.shape[1]
    whole = replicates // ESTIMATES * ESTIMATES
    doubts = np.empty(whole // ESTIMATES + 1, np.uint16)
    for pair in range(len(errors)):
        error, bound = errors[pair], bounds[pair]
        a, b, gain = estimates[2 * pair], estimates[2 * pair + 1], gains[pair]
        doubtful = 0
        if whole > 0:
            doubtful = subtract_estimates(
                a.ctypes.data, b.ctypes.data, whole // ESTIMATES, error,
                bound[0], bound[1], bound[2], bound[3], bound[4], bound[5], gain.ctypes.data, doubts.ctypes.data,
            )  # fmt: skip
        for block in range(whole // ESTIMATES if doubtful != 0 else 0):
            bits = np.uint64(doubts[block])
            while bits:
                places[found] = pair * replicates + block * ESTIMATES + lowest_bit(bits)
                found += 1
                bits &= bits - np.uint64(1)
        for i in range(whole, replicates):
            one, other = np.float64(a[i]), np.float64(b[i])
            gain[i] = one - other
            if not _is_sure(gain[i], error * (abs(one) + abs(other)), bound):
                places[found] = pair * replicates + i
                found += 1
    return found


@kernel
def _is_sure(gain: float, reach: float, bound: NDArray[np.float64]) -> bool:
    """Say whether no gain within ``reach`` of this one is on another side of any threshold; false for nan."""
    least, most = gain - reach, gain + reach
    sure = (most < bound[0]) | (least > bound[3])
    sure &= (most < bound[1]) | (least > bound[4])
    return bool(sure & ((most < bound[2]) | (least > bound[5])))


_CACHE_BYTES = 3 * 2**19  # sums and scores of a chunk: near the cores, and many enough that calls from Python cost little


def scores_single(score: ScoreFunction, n_statistics: int) -> bool:
    """Say whether a score is the same, bit for bit, if its sums are given in float32 instead of float64.

    The package's kernels convert each sum before they compute with it. A NumPy expression computes in float32, which loses ties.
    """
    place, statistic = np.arange(97), np.arange(n_statistics)[:, None]
    sums = (place * 7919 + statistic * 104729 + place * statistic * 613) % 9973 + 1.0
    sums[(place + statistic) % 13 == 0] = 0.0
    with np.errstate(all="ignore"):  # these are no sums of anything
        single, double = score(sums.astype(np.float32)), np.asarray(score(sums), np.float64)
    return getattr(single, "dtype", None) == np.float64 and np.array_equal(single, double, equal_nan=True)


class SwappedPairs:
    """The pairs of one measure under the tolerance rule, ready for their sums to be assembled.

    Parameters
    ----------
    index : int
        Number of the measure.
    measure : Measure
    observed : Observed
    rule : Rule
        Its ``systems`` are the rows here.
    """

    def __init__(self, index: int, measure: Measure, observed: Observed, rule: Rule) -> None:
        self.index, self.systems = index, rule.systems
        statistics = measure.statistics[:, rule.systems]
        self.n_statistics: int = statistics.shape[2]
        fits = len(statistics) * largest_magnitude(statistics) < FLOAT32_LIMIT
        # Sums are exact in both: the narrower one moves no bit.
        self._type = np.float32 if fits and scores_single(measure.score, self.n_statistics) else np.float64
        self._totals = statistics.sum(axis=0).astype(self._type)
        packed = pack_thresholds(rule.thresholds)
        rows = np.stack([rule.thresholds.first, rule.thresholds.second], axis=1)
        errors = bound_errors(measure, observed, rule)
        scored = np.flatnonzero(np.isinf(errors))
        self._moved = np.empty((0, 0, 0), self._type)
        self._parts: list[_ScoredPairs | EstimatedPairs] = []
        if scored.size:
            # A statistic that all systems share, such as the length of the references, is not moved by any swap.
            moving = np.flatnonzero((statistics != statistics[:, :1]).any(axis=(0, 1)))
            self._parts.append(_ScoredPairs(measure.score, self._totals, rows[scored], packed.choose(scored), moving))
        if isinstance(measure.score, EstimatedScore) and scored.size < len(rows):
            rest = np.flatnonzero(np.isfinite(errors))
            self._parts.append(EstimatedPairs(measure.score, self._totals, rows[rest], packed.choose(rest), errors[rest]))

    @property
    def bytes_per_replicate(self) -> int:
        """Memory of one replicate: the moved sums of every system."""
        return int(self._totals.nbytes) + 8 * self.n_statistics

    def compare(self, sums: Sums, count: int, tally: Tally, cell: int) -> None:
        """Count all pairs in a batch of ``count`` replicates, the first of which is at a multiple of `LANES` in its cell."""
        if count + _APART != self._moved.shape[2]:
            self._moved = np.zeros((len(self.systems), self.n_statistics, count + _APART), self._type)
        one = np.empty((self.n_statistics, count))
        for row, system in enumerate(self.systems.tolist()):
            self._moved[row, :, :count] = sums.statistics(self.index, system, out=one)
        for part in self._parts:
            # Those that are estimated have sums that single precision holds, whatever sums others have.
            single = isinstance(part, EstimatedPairs)
            part.compare(self._moved.astype(np.float32, copy=False) if single else self._moved, count, tally, cell)


class _ScoredPairs:
    """Pairs that are scored on every replicate; ``moving`` are the statistics that swaps can change."""

    def __init__(
        self, score: ScoreFunction, totals: NDArray[Any], rows: NDArray[np.int64], packed: Packed, moving: NDArray[np.int64]
    ) -> None:
        self._score, self._totals, self._rows, self._packed, self._moving = score, totals, rows, packed, moving
        self._buffers: dict[tuple[int, int], NDArray[Any]] = {}

    def compare(self, moved: NDArray[Any], count: int, tally: Tally, cell: int) -> None:
        evaluations = _CACHE_BYTES // (self._totals.shape[1] * self._totals.itemsize + 8)
        for first, last, start, stop in chunk_pairs(len(self._rows), count, evaluations=evaluations, tile=_TILE):
            buffer = self._buffer(last - first, stop - start)
            fill_sums(self._totals, moved, self._rows, self._moving, (first, last), start, buffer)
            scores = np.ascontiguousarray(self._score(buffer), np.float64)
            if scores.shape != buffer.shape[1:]:
                raise ValueError(f"the score of {buffer.shape} statistics has shape {scores.shape}, not {buffer.shape[1:]}")
            compare_scores(scores, self._packed, first, tally, cell)

    def _buffer(self, pairs: int, replicates: int) -> NDArray[Any]:
        """Return a (statistic, 2 × pair, replicate) buffer already filled with what never moves; few shapes occur."""
        if (pairs, replicates) not in self._buffers:
            buffer = np.empty((self._totals.shape[1], 2 * pairs, replicates), self._totals.dtype)
            buffer[:] = self._totals[0, :, None, None]
            self._buffers[pairs, replicates] = buffer
        return self._buffers[pairs, replicates]
