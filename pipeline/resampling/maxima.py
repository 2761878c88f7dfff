"""Successive maxima of a family of pairs, for max-T. This module counts them from scores, in the pass or from kept ones.

Step-down max-T (Westfall and Young 1993; Romano and Wolf 2005, doi:10.1198/016214504000000539) asks for pair (j) of a family
ordered by t, the largest first, how often u_(j) = max_{k ≥ j} t*_(k) reaches t_(j), with t = |δ| / se and t* = |δ* − δ| / se.
All pairs of a replicate are needed at once, so a family cannot be added to later: it is counted anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.observe import TOLERANCE

__all__ = ["Family", "count_maxima", "family_maxima", "make_family"]

_TILE = 1024  # replicates, as in `compare`


@dataclass(frozen=True, eq=False)
class Family:
    """The pairs tested together, the largest t first.

    Parameters
    ----------
    pair : (member,) int64
        Positions among the pairs of the measure. A pair without a standard error, or with one of 0 or of the rounding error of its
        scores, is no member.
    systems : (row,) int64
        Who takes part.
    first, second : (member,) int64
        Rows of ``systems``.
    delta : (member,) float64
        score[first] − score[second] as observed, whatever the direction of the metric.
    se : (member,) float64
    t : (member,) float64
        |delta| / se, never rising.
    least : (member,) float64
        What t* must reach: t less the `TOLERANCE` of the two scores, within which the rest of the package sees a tie.
    """

    pair: NDArray[np.int64]
    systems: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    delta: NDArray[np.float64]
    se: NDArray[np.float64]
    t: NDArray[np.float64]
    least: NDArray[np.float64]


def make_family(measure: Measure, observed: Observed, pairs: NDArray[np.int64] | None = None) -> Family:
    """Order the pairs of a family by t; ties keep the order of the pairs.

    Parameters
    ----------
    measure, observed
        The pairs, their gains and standard errors.
    pairs : (chosen,) int64, optional
        Positions of the family's pairs; all by default.
    """
    chosen = np.arange(len(measure.pairs)) if pairs is None else np.asarray(pairs, np.int64)
    noise = TOLERANCE * np.abs(observed.score[measure.pairs[chosen]]).sum(axis=1)
    with np.errstate(invalid="ignore"):  # undefined scores and errors are nan, and no members
        member = chosen[(observed.se[chosen] > noise) & np.isfinite(observed.se[chosen]) & np.isfinite(observed.delta[chosen])]
    direction = 1.0 if measure.higher_is_better else -1.0
    t = np.abs(observed.delta[member]) / observed.se[member]
    order = np.argsort(-t, kind="stable")
    member = member[order]
    delta, se = direction * observed.delta[member], observed.se[member]
    slack = TOLERANCE * np.abs(observed.score[measure.pairs[member]]).sum(axis=1)
    systems, rows = np.unique(measure.pairs[member], return_inverse=True)
    first, second = rows.reshape(-1, 2).T
    return Family(
        pair=member,
        systems=systems,
        first=np.ascontiguousarray(first),
        second=np.ascontiguousarray(second),
        delta=delta,
        se=se,
        t=t[order],
        least=t[order] - slack / se,
    )


def count_maxima(scores: NDArray[np.float64], family: Family, counts: NDArray[np.int64]) -> None:
    """Add to ``counts`` how many replicates have u_(j) ≥ t_(j).

    Parameters
    ----------
    scores : (row, replicate) float64
        Of the family's systems. An undefined one, nan, reaches every t: the p-values of its pairs, and of those with a larger
        t, are then too large rather than too small.
    family : Family
    counts : (member,) int64
        In the order of the family. Any division of the replicates gives the same counts.

    Examples
    --------
    One pair with δ = 1 and se = ½ has t = 2; replicates with δ* = 3, 1, −1 and 0 have t* = 4, 0, 4 and 2.

    >>> one, two = np.array([1]), np.array([2.0])
    >>> family = Family(one, np.array([0, 1]), np.array([0]), one, np.array([1.0]), np.array([0.5]), two, two)
    >>> counts = np.zeros(1, np.int64)
    >>> count_maxima(np.array([[3.0, 1.0, -1.0, 0.0], [0.0, 0.0, 0.0, 0.0]]), family, counts)
    >>> counts
    array([3])
    """
    if len(counts) != len(family.pair):
        raise ValueError(f"counts of {len(counts)} pairs, the family has {len(family.pair)}")
    _count_maxima(scores, family.first, family.second, family.delta, family.se, family.least, counts)


@njit(nogil=True, cache=True)
def _count_maxima(
    scores: NDArray[np.float64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    delta: NDArray[np.float64],
    se: NDArray[np.float64],
    least: NDArray[np.float64],
    counts: NDArray[np.int64],
) -> None:
    maxima = np.empty(_TILE)
    for start in range(0, scores.shape[1], _TILE):
        stop = min(start + _TILE, scores.shape[1])
        maxima[:] = -1.0
        # From the smallest t up: the running maximum over the members seen is u of the one at hand.
        for member in range(len(first) - 1, -1, -1):
            a, b = scores[first[member], start:stop], scores[second[member], start:stop]
            center, times, threshold = delta[member], 1.0 / se[member], least[member]
            reached = 0
            for i in range(stop - start):
                t = abs((a[i] - b[i]) - center) * times
                highest = maxima[i]
                t = t if t == t else np.inf
                highest = t if t > highest else highest
                maxima[i] = highest
                reached += highest >= threshold
            counts[member] += reached


def family_maxima(scores: NDArray[np.float64], family: Family) -> NDArray[np.float64]:
    """Give the largest t* = |δ* − δ| / se of the whole family in each replicate, u_(1), for its quantiles.

    Parameters
    ----------
    scores : (row, replicate) float64
        Of the family's systems.
    family : Family

    Returns
    -------
    (replicate,) float64
        Infinite where a score of any pair is undefined, as in `count_maxima`; 0 of a family without members.

    Examples
    --------
    >>> one, two = np.array([1]), np.array([2.0])
    >>> family = Family(one, np.array([0, 1]), np.array([0]), one, np.array([1.0]), np.array([0.5]), two, two)
    >>> family_maxima(np.array([[3.0, 1.0, -1.0, np.nan], [0.0, 0.0, 0.0, 0.0]]), family).tolist()
    [4.0, 0.0, 4.0, inf]
    """
    scores = np.ascontiguousarray(scores, np.float64)
    maxima = np.zeros(scores.shape[1])
    _fill_maxima(scores, family.first, family.second, family.delta, family.se, maxima)
    return maxima


@njit(nogil=True, cache=True)
def _fill_maxima(
    scores: NDArray[np.float64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    delta: NDArray[np.float64],
    se: NDArray[np.float64],
    maxima: NDArray[np.float64],
) -> None:
    for start in range(0, scores.shape[1], _TILE):
        stop = min(start + _TILE, scores.shape[1])
        own = maxima[start:stop]
        for member in range(len(first)):
            a, b = scores[first[member], start:stop], scores[second[member], start:stop]
            center, times = delta[member], 1.0 / se[member]
            for i in range(stop - start):
                t = abs((a[i] - b[i]) - center) * times
                highest = own[i]
                t = t if t == t else np.inf
                own[i] = t if t > highest else highest
