"""Families of pairs: how often any conclusion of max-T or of ranks is wrong."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.multiple_comparisons.families import order_family
from pipeline.inference.multiple_comparisons.max_t import MaxT, StepDown
from pipeline.inference.multiple_comparisons.ranks import rank_intervals, separate
from pipeline.inference.unit_diagnostics.few_units import StudentTails, evidence_floor
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.observe import TOLERANCE

__all__ = ["FAMILY_RULES", "family_errors", "reach_of_floors"]

_PLAIN = ", not corrected"
_RULES = ("max-t", "max-t with floors", "rank intervals")

FAMILY_RULES = (*_RULES, *(rule + _PLAIN for rule in _RULES), "unadjusted, any pair")
"""A rule errs where a pair is separated that does not differ, or the wrong way round; where any rank interval misses its rank. With
floors no p is below the smallest one of an exact test of so many discordant units."""


def family_errors(
    rules: Collection[str],
    measure: Measure,
    seen: Observed,
    scores: NDArray[np.float64],
    *,
    plain: NDArray[np.float64],
    expected: NDArray[np.float64],
    levels: tuple[float, ...],
) -> dict[str, NDArray[np.float64]]:
    """Return (trial,) the smallest of ``levels`` at which a rule errs, 1 where it errs at none.

    Parameters
    ----------
    rules : collection of str
        Of `FAMILY_RULES`.
    measure, seen
        Independent data sets side by side, as many systems and pairs in each.
    scores : (system, replicate) float64
    plain : (pair,) float64
        Unadjusted p-values.
    expected : (system,) float64
        Expected scores, of one data set as of any other.
    levels : tuple of float
        Ascending.
    """
    systems = len(expected)
    trials = len(scores) // systems
    found = {rule: np.ones(trials) for rule in rules}
    for trial, pairs in enumerate(np.split(np.arange(len(measure.pairs)), trials)):
        first = trial * systems
        own = _Trial(
            units=len(measure.statistics),
            pairs=measure.pairs[pairs] - first,
            score=seen.score[first : first + systems],
            delta=seen.delta[pairs],
            se=seen.se[pairs],
            identical=seen.identical[pairs],
            floor=evidence_floor(seen.discordant[pairs]),
            plain=plain[pairs],
            scores=scores[first : first + systems],
            expected=expected,
        )
        for rule, smallest in found.items():
            smallest[trial] = next((level for level in levels if own.errs(rule, level)), 1.0)
    return found


@dataclass(frozen=True, eq=False)
class _Trial:
    """One data set, what is counted of its family, and what is true of it."""

    units: int
    pairs: NDArray[np.int64]
    score: NDArray[np.float64]
    delta: NDArray[np.float64]
    se: NDArray[np.float64]
    identical: NDArray[np.bool_]
    floor: NDArray[np.float64]
    plain: NDArray[np.float64]
    scores: NDArray[np.float64]
    expected: NDArray[np.float64]

    @cached_property
    def gain(self) -> NDArray[np.float64]:
        return np.asarray(self.expected[self.pairs[:, 0]] - self.expected[self.pairs[:, 1]])

    @cached_property
    def corrected(self) -> MaxT:
        return self._count(StudentTails(self.units))

    @cached_property
    def uncorrected(self) -> MaxT:
        return self._count(None)

    @cached_property
    def _floored(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """With tails of few units, and without."""
        tails = (StudentTails(self.units), None)
        corrected, plain = (np.maximum(self._count(own, self.floor).p, self.floor) for own in tails)
        return corrected, plain

    def _count(self, tails: StudentTails | None, floor: NDArray[np.float64] | None = None) -> MaxT:
        score, delta, se = self.score, self.delta, self.se
        reach = None
        if floor is not None:
            reach = reach_of_floors(self.scores, self.pairs, score=score, delta=delta, se=se, floor=floor)
        family = order_family(self.pairs, score=score, delta=delta, se=se, identical=self.identical, tails=tails, reach=reach)
        counts = StepDown(family)
        counts.add(self.scores)
        return counts.result()

    def errs(self, rule: str, level: float) -> bool:
        if rule == "unadjusted, any pair":
            return self._separates_wrongly(self.plain, level)
        max_t, name = self.uncorrected if rule.endswith(_PLAIN) else self.corrected, rule.removesuffix(_PLAIN)
        if name == "max-t":
            return self._separates_wrongly(max_t.p, level)
        if name == "max-t with floors":
            return self._separates_wrongly(self._floored[rule.endswith(_PLAIN)], level)
        return self._misses_a_rank(max_t.p, level)

    def _separates_wrongly(self, p: NDArray[np.float64], level: float) -> bool:
        return bool(((p <= level) & (self.delta * self.gain <= 0)).any())

    def _misses_a_rank(self, p: NDArray[np.float64], level: float) -> bool:
        found = rank_intervals(separate(self.pairs, score=self.score, delta=self.delta, p=p, identical=self.identical, alpha=level))
        better = (self.expected[:, None] > self.expected).sum(axis=0)
        worse = (self.expected[:, None] < self.expected).sum(axis=0)
        return bool(((found.low > 1 + better) | (found.high < len(self.expected) - worse)).any())


def reach_of_floors(
    scores: NDArray[np.float64],
    pairs: NDArray[np.integer],
    *,
    score: NDArray[np.float64],
    delta: NDArray[np.float64],
    se: NDArray[np.float64],
    floor: NDArray[np.float64],
    higher_is_better: bool = True,
) -> NDArray[np.float64]:
    """Return the least z that a pair's own replicates t* = |δ* − δ| / se reach in at most the floor of its p-value.

    A p of max-T that compares the replicates of all pairs with it is then the floor corrected for the number of pairs, and the
    floor itself, or less, of a pair alone. It is read off the pair's own replicates: those of few discordant units take few
    values, and Gaussian ones would have a step between two of them.

    Parameters
    ----------
    scores : (system, replicate) float64
        Kept scores, nan where undefined.
    pairs : (pair, 2) int
    score : (system,) float64
        As observed.
    delta, se : (pair,) float64
    floor : (pair,) float64
        From `pipeline.inference.unit_diagnostics.few_units.evidence_floor`.
    higher_is_better : bool, optional

    Returns
    -------
    (pair,) float64
        Infinite where the floor is below what so many replicates can tell, and where there is no standard error.

    Examples
    --------
    One replicate of four may reach it, as (1 + 1)/(4 + 1) is .4; then z is above 2:

    >>> scores = np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0]])
    >>> given = {"score": np.array([1.0, 0.0]), "delta": np.ones(1), "se": np.ones(1)}
    >>> reach_of_floors(scores, np.array([[0, 1]]), **given, floor=np.array([0.4])).round(6).tolist()
    [2.0]
    """
    reach = np.full(len(pairs), np.inf)
    sign = 1.0 if higher_is_better else -1.0
    asked = (floor * (scores.shape[1] + 1) >= 1) & (se > 0) & np.isfinite(delta)
    for pair in np.flatnonzero(asked).tolist():
        a, b = pairs[pair]
        t = np.abs(sign * (scores[a] - scores[b]) - delta[pair]) / se[pair]
        t = t[~np.isnan(t)]
        allowed = int(floor[pair] * (len(t) + 1)) - 1
        if allowed < 0:
            continue
        if allowed >= len(t):
            reach[pair] = 0.0
            continue
        slack = TOLERANCE * np.abs(score[pairs[pair]]).sum() / se[pair]
        # Above the largest that is one too many, further than what counts as equal to it.
        reach[pair] = np.partition(t, len(t) - 1 - allowed)[len(t) - 1 - allowed] + 2 * slack
    return reach
