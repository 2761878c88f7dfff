"""The influence of each unit on a score: the jackknife of systems and of pairs, and counts of discordant units."""

from __future__ import annotations

import math
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.compiled.small_work import suited
from pipeline.dataclass import dataclass
from pipeline.resampling.measures import Measure, ScoreFunction

__all__ = ["PairMoments", "count_discordant", "leave_one_out", "left_out_of", "pair_errors", "pair_moments", "score_errors"]

_ROUNDING = 2.0**-48  # of the scores: differences that vary by less vary only by rounding

# Pairs, and their statistics, that NumPy compares in some 5 ms: a kernel takes as long to load, and .7 s to compile.
_FEW_PAIRS, _FEW_COMPARED = 500, 2**22

_KEPT_BYTES = 2**26  # of scores without a unit, of one measure
_kept: WeakKeyDictionary[Measure, NDArray[np.float64]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class PairMoments:
    """Second, third and fourth moments of the jackknife of each pair's difference of scores.

    Parameters
    ----------
    se : (pair,) float64
        As from `pair_errors`, bit for bit.
    acceleration : (pair,) float64
        A sixth of the skewness of the influence values, divided by √n; nan where ``se`` is undefined, or 0 up to rounding.
    kurtosis : (pair,) float64
        n Σu⁴ / (Σu²)² of the influence values, 3 for a Gaussian; nan where the acceleration is.
    """

    se: NDArray[np.float64]
    acceleration: NDArray[np.float64]
    kurtosis: NDArray[np.float64]


def leave_one_out(statistics: NDArray[np.int64], score: ScoreFunction) -> NDArray[np.float64]:
    """Score each system without each unit.

    Parameters
    ----------
    statistics : (unit, system, statistic) int64
    score : ScoreFunction

    Returns
    -------
    (system, unit) float64
        nan where the rest has no score.
    """
    out = np.empty((statistics.shape[1], statistics.shape[0]))
    for system in range(statistics.shape[1]):
        # One system at a time: the bits of its scores cannot depend on the others. Sums of what lies together take a fifth.
        own = np.ascontiguousarray(statistics[:, system].T)
        with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is a defined outcome: nan
            out[system] = score((own.sum(axis=1, keepdims=True) - own).astype(np.float64))
    out[~np.isfinite(out)] = np.nan
    return out


def left_out_of(measure: Measure) -> NDArray[np.float64]:
    """Return `leave_one_out` of a measure. Do not write into it: if it is small, it is kept with the measure.

    Errors, moments, leverage and influence of a measure all use it.
    """
    found = _kept.get(measure)
    if found is None:
        found = leave_one_out(measure.statistics, measure.score)
        if found.nbytes <= _KEPT_BYTES:
            _kept[measure] = found
    return found


def pair_errors(
    scores: NDArray[np.float64], pairs: NDArray[np.int64], *, stratum: NDArray[np.integer] | None = None
) -> NDArray[np.float64]:
    """Return the jackknife standard error of each pair's difference of scores.

    With d_i the difference without unit i of n: se = √((n − 1)/n · Σ(d_i − mean d)²). Where n_h units are drawn of each stratum h:
    se = √(Σ_h (n_h − 1)/n_h · Σ_i (e_hi − mean_h e)²), with e_hi the difference without unit i where the others of its stratum
    are weighted n_h/(n_h − 1) to stand for it. To first order, and exactly for means, e_hi is (n − 1)/n · n_h/(n_h − 1) times
    as far from its mean as d_hi, so that the same leave-one-outs serve: se = (n − 1)/n √(Σ_h n_h/(n_h − 1) Σ_i (d_hi − mean_h d)²),
    which is √Σ n_h s_h² / n for a mean (Efron & Tibshirani 1993, chapter 11, doi:10.1201/9780429246593; Davison & Hinkley 1997,
    section 3.2, doi:10.1017/CBO9780511802843). One stratum gives the plain formula.

    Parameters
    ----------
    scores : (system, unit) float64
        From `leave_one_out`.
    pairs : (pair, 2) int64
    stratum : (unit,) int, optional
        The stratum of each unit, numbered 0 … H − 1 without a gap. A unit alone in its stratum never varies: it adds nothing, and
        the score without it is not needed.

    Returns
    -------
    (pair,) float64
        nan with one unit, if every unit is alone in its stratum, or if a leave-one-out score is undefined.

    Examples
    --------
    >>> pair_errors(np.array([[1.0, 2.0], [0.0, 0.0]]), np.array([[0, 1]])).round(3)
    array([0.5])
    """
    if stratum is not None:
        return pair_moments(scores, pairs, stratum=stratum).se
    errors, fill = np.empty(len(pairs)), suited(_pair_errors, steps=2 * max(len(pairs), 4) * scores.shape[1])
    fill(np.ascontiguousarray(scores), np.ascontiguousarray(pairs, np.int64), errors)
    return errors


def score_errors(scores: NDArray[np.float64], *, stratum: NDArray[np.integer] | None = None) -> NDArray[np.float64]:
    """Return the jackknife standard error of each system's own score, as `pair_errors` for its difference from a constant.

    Parameters
    ----------
    scores : (system, unit) float64
        From `leave_one_out`.
    stratum : (unit,) int, optional
        As of `pair_errors`.

    Returns
    -------
    (system,) float64

    Examples
    --------
    The mean of 1, 1 and 4 has the standard error √3 / √3.

    >>> score_errors(np.array([[2.5, 2.5, 1.0]])).round(12).tolist()
    [1.0]
    """
    systems = len(scores)
    constant = np.vstack([scores, np.zeros((1, scores.shape[1]))])
    return pair_errors(constant, np.column_stack([np.arange(systems), np.full(systems, systems)]), stratum=stratum)


def pair_moments(
    scores: NDArray[np.float64], pairs: NDArray[np.int64], *, stratum: NDArray[np.integer] | None = None
) -> PairMoments:
    """Return the jackknife standard error of each pair's difference of scores, its acceleration and its kurtosis.

    With u_i = mean d − d_i, d_i the difference without unit i: a = Σ u_i³ / (6 (Σ u_i²)^(3/2)) (Efron 1987,
    doi:10.1080/01621459.1987.10478410). It changes its sign with the order of the pair, and if lower scores are better. Within
    strata u_hi = mean_h d − d_hi, and the sums go over all units (Davison & Hinkley 1997, section 5.3,
    doi:10.1017/CBO9780511802843).

    Parameters
    ----------
    scores : (system, unit) float64
        From `leave_one_out`.
    pairs : (pair, 2) int64
    stratum : (unit,) int, optional
        As of `pair_errors`.

    Returns
    -------
    PairMoments

    Examples
    --------
    The mean of 1, 1 and 4, against 0: u = (1 − 2) / 2, twice, and (4 − 2) / 2.

    >>> found = pair_moments(np.array([[2.5, 2.5, 1.0], [0.0, 0.0, 0.0]]), np.array([[0, 1]]))
    >>> found.se.tolist(), (6 * found.acceleration * 1.5**1.5).round(12).tolist()
    ([1.0], [0.75])
    """
    pairs, found = np.ascontiguousarray(pairs, np.int64), np.full((3, len(pairs)), np.nan)
    if stratum is None:
        suited(_pair_moments, steps=2 * len(pairs) * scores.shape[1])(np.ascontiguousarray(scores), pairs, found)
        return PairMoments(*found)
    if stratum.shape != scores.shape[1:]:
        raise ValueError(f"strata are of {stratum.shape} units, scores of {scores.shape[1:]}")
    # Units of a stratum side by side: a stratum is one run, and nothing is scattered.
    ordered = np.ascontiguousarray(scores[:, np.argsort(stratum, kind="stable")])
    _stratified_moments(ordered, pairs, np.bincount(stratum).astype(np.int64), found)
    return PairMoments(*found)


def count_discordant(statistics: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the units on which any statistic differs between the two systems of each pair.

    Parameters
    ----------
    statistics : (unit, system, statistic) int64
    pairs : (pair, 2) int64

    Returns
    -------
    (pair,) int64
    """
    # In bytes where they hold everything: what is read is most of the time.
    kind = np.uint8 if statistics.min(initial=0) >= 0 and statistics.max(initial=0) <= 255 else np.int64
    by_system = np.ascontiguousarray(statistics.transpose(1, 2, 0), kind)
    pairs = np.ascontiguousarray(pairs, np.int64)
    if len(pairs) <= _FEW_PAIRS and len(pairs) * by_system[:1].size <= _FEW_COMPARED:
        differ = (by_system[a] != by_system[b] for a, b in pairs.tolist())
        return np.array([np.count_nonzero(each.any(axis=0)) for each in differ], np.int64)
    found = np.empty(len(pairs), np.int64)
    _count_discordant(by_system, pairs, found)
    return found


@bare_kernel
def _pair_errors(scores: NDArray[np.float64], pairs: NDArray[np.int64], errors: NDArray[np.float64]) -> None:
    units, last = scores.shape[1], len(pairs) - 1
    if units < 2:
        errors[:] = np.nan
        return
    # Four pairs at a time, the last one again where there are fewer: an addition waits for the one before, not for other pairs'.
    for first in range(0, len(pairs), 4):
        second, third, fourth = min(first + 1, last), min(first + 2, last), min(first + 3, last)
        a, b = scores[pairs[first, 0]], scores[pairs[first, 1]]
        c, d = scores[pairs[second, 0]], scores[pairs[second, 1]]
        e, f = scores[pairs[third, 0]], scores[pairs[third, 1]]
        g, h = scores[pairs[fourth, 0]], scores[pairs[fourth, 1]]
        total_0 = total_1 = total_2 = total_3 = 0.0
        for unit in range(units):
            total_0 += a[unit] - b[unit]
            total_1 += c[unit] - d[unit]
            total_2 += e[unit] - f[unit]
            total_3 += g[unit] - h[unit]
        mean_0, mean_1, mean_2, mean_3 = total_0 / units, total_1 / units, total_2 / units, total_3 / units
        squares_0 = squares_1 = squares_2 = squares_3 = 0.0
        for unit in range(units):
            away_0, away_1 = (a[unit] - b[unit]) - mean_0, (c[unit] - d[unit]) - mean_1
            away_2, away_3 = (e[unit] - f[unit]) - mean_2, (g[unit] - h[unit]) - mean_3
            squares_0, squares_1 = squares_0 + away_0 * away_0, squares_1 + away_1 * away_1
            squares_2, squares_3 = squares_2 + away_2 * away_2, squares_3 + away_3 * away_3
        for pair, squares in ((first, squares_0), (second, squares_1), (third, squares_2), (fourth, squares_3)):
            errors[pair] = math.sqrt((units - 1) / units * squares)


@bare_kernel
def _pair_moments(scores: NDArray[np.float64], pairs: NDArray[np.int64], found: NDArray[np.float64]) -> None:
    # Beside `_pair_errors`, not in its place: callers that need only errors do not pay for the cubes.
    units, errors, accelerations, kurtoses = scores.shape[1], found[0], found[1], found[2]
    if units < 2:
        return
    for pair in range(len(pairs)):
        a, b = scores[pairs[pair, 0]], scores[pairs[pair, 1]]
        total = 0.0
        for unit in range(units):
            total += a[unit] - b[unit]
        mean = total / units
        squares = cubes = fourth = 0.0
        for unit in range(units):
            deviation = (a[unit] - b[unit]) - mean
            squares += deviation * deviation
            cubes -= deviation * deviation * deviation
            fourth += deviation * deviation * (deviation * deviation)
        errors[pair] = math.sqrt((units - 1) / units * squares)
        noise = _ROUNDING * (abs(a[0]) + abs(b[0]))
        if squares > units * noise * noise:
            accelerations[pair] = cubes / (6.0 * squares * math.sqrt(squares))
            kurtoses[pair] = units * fourth / (squares * squares)


@bare_kernel
def _stratified_moments(
    scores: NDArray[np.float64], pairs: NDArray[np.int64], sizes: NDArray[np.int64], found: NDArray[np.float64]
) -> None:
    units, errors, accelerations, kurtoses = scores.shape[1], found[0], found[1], found[2]
    if sizes.max() < 2:
        return
    for pair in range(len(pairs)):
        a, b = scores[pairs[pair, 0]], scores[pairs[pair, 1]]
        variance = squares = cubes = fourth = 0.0
        varying = begin = 0
        for size in sizes:
            if size > 1:
                total = 0.0
                for unit in range(begin, begin + size):
                    total += a[unit] - b[unit]
                mean = total / size
                within = 0.0
                for unit in range(begin, begin + size):
                    deviation = (a[unit] - b[unit]) - mean
                    within += deviation * deviation
                    cubes -= deviation * deviation * deviation
                    fourth += deviation * deviation * (deviation * deviation)
                variance += size / (size - 1) * within
                squares += within
                varying = begin
            begin += size
        errors[pair] = (units - 1) / units * math.sqrt(variance)
        noise = _ROUNDING * (abs(a[varying]) + abs(b[varying]))
        if squares > units * noise * noise:
            accelerations[pair] = cubes / (6.0 * squares * math.sqrt(squares))
            kurtoses[pair] = units * fourth / (squares * squares)


@bare_kernel
def _count_discordant(statistics: NDArray[Any], pairs: NDArray[np.int64], found: NDArray[np.int64]) -> None:
    differs = np.empty(statistics.shape[2], np.uint8)
    for pair in range(len(pairs)):
        a, b = statistics[pairs[pair, 0]], statistics[pairs[pair, 1]]
        differs[:] = 0
        for statistic in range(statistics.shape[1]):
            for unit in range(statistics.shape[2]):
                differs[unit] |= a[statistic, unit] != b[statistic, unit]
        count = 0
        for unit in range(statistics.shape[2]):
            count += int(differs[unit])
        found[pair] = count
