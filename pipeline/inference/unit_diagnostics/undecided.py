"""Pairs for which no available test holds its level, so that a small p is not a verdict.

A test knows about heavy tails only what was drawn. If a few scores fail totally, the standard error is too small whenever the
failures happen to be missing, and every test then rejects true nulls too often. Three signs of that can be seen:

- *few units*: graded scores on fewer than 20 units, or on units so unequal that they are worth fewer than 6.
- *rare losses*: skewness against the gain. The better system loses much on a few units, which do not show how many more there are.
- *failures of others*: with fewer than 100 units, a few units account for the variance of another pair, but not of this one. What
  happens to others may happen to these systems too, on units that were not drawn.

Differences of one size, as of 0/1 scores, are exempt from the first two: wins and losses are equally likely under the null, and
with few of them p is not below that of an exact test (`pipeline.inference.unit_diagnostics.few_units.evidence_floor`). What leaves
no trace in any pair cannot be seen: docs/levels.md says how many wrong verdicts that causes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.standard_errors.influence import PairMoments

__all__ = ["FEWEST_EFFECTIVE", "FEWEST_UNITS", "UNDECIDED", "UnitShape", "explain_undecided", "find_undecided", "units_to_decide"]

UNDECIDED = ("", "few units", "rare losses", "failures of others")
"""Why a pair is not decided, by code; 0 where it is."""

_EXPLANATIONS = {
    "few units": "graded {scores} of n = {units} units do not tell what a {system} does on others, with fewer than {fewest} units "
    "or with very unequal ones; more units would help{else_helps}",
    "rare losses": "the {system} that is ahead loses much on a few units, and n = {units} do not tell how many such units there "
    "are; more units would help",
    "failures of others": "other {system}s fail on single units as these two may on units that were not drawn, of which "
    "n = {units} do not tell enough; 100 units or more would help",
}

FEWEST_UNITS = 20
"""Units below which graded scores are not decided."""

FEWEST_EFFECTIVE = 6.0
"""Effective units below which they are not decided either: with five equal ones no exact test reaches .05."""

_ENOUGH_UNITS = 100  # a failure seen elsewhere would not be missing from so many
_LOSSES = -0.04  # acceleration towards the gain, skewness / (6 √n): t is then too large by a tenth and more
_LEAST_KURTOSIS, _CARRIERS = 6.0, 4.0  # fewer units than four carry the variance: n / kurtosis
_AT_ONCE = 2**18  # units of pairs whose differences are looked at together


@dataclass(frozen=True, eq=False)
class UnitShape:
    """The shape of the distribution of each pair's units.

    Parameters
    ----------
    units : int
        The number of units drawn.
    effective : float or None
        The number of units of equal size that vary as much; None if unknown.
    discordant : (pair,) int64
        Units on which the two systems differ; below 0 if unknown.
    acceleration : (pair,) float64
        A sixth of the skewness of the influence values, divided by √n, as for BCa intervals, in the direction of the observed gain:
        below 0 if the long tail is one of losses; nan if unknown.
    kurtosis : (pair,) float64
        Of the influence values, n Σu⁴ / (Σu²)²; nan if unknown.
    one_size : (pair,) bool
        All units on which the two differ do so by the same amount, in either direction; it matters only with few units, or if the
        long tail is one of losses.
    """

    units: int
    effective: float | None
    discordant: NDArray[np.int64]
    acceleration: NDArray[np.float64]
    kurtosis: NDArray[np.float64]
    one_size: NDArray[np.bool_]

    @classmethod
    def of(cls, measure: Measure, observed: Observed, moments: PairMoments, *, effective: float | None) -> UnitShape:
        """Describe the units of the pairs of a measure."""
        ahead = np.sign(observed.delta) * (1.0 if measure.higher_is_better else -1.0)
        toward, units = ahead * moments.acceleration, len(measure.statistics)
        with np.errstate(invalid="ignore"):
            asked = (toward < _LOSSES) | _are_few(units, effective)
        one_size = np.zeros(len(measure.pairs), np.bool_)
        if measure.form == "ratio":
            one_size[asked] = _differ_by_one_size(measure, measure.pairs[asked])
        return cls(units, effective, observed.discordant, toward, moments.kurtosis, one_size)


def find_undecided(shape: UnitShape) -> NDArray[np.int8]:
    """Find the pairs that cannot be decided, whatever their p.

    A further system may take a verdict away from a pair, but never gives it one.

    Returns
    -------
    (pair,) int8
        Position in `UNDECIDED`; the first of several reasons.

    Examples
    --------
    >>> given = {"discordant": np.array([50, 50]), "acceleration": np.zeros(2), "one_size": np.zeros(2, bool)}
    >>> find_undecided(UnitShape(50, 50.0, kurtosis=np.array([2.8, 30.0]), **given)).tolist()
    [3, 0]
    >>> find_undecided(UnitShape(12, 12.0, kurtosis=np.array([2.8, 2.9]), **given)).tolist()
    [1, 1]
    """
    found = np.zeros(len(shape.discordant), np.int8)
    many = shape.discordant >= FEW_DISCORDANT  # on fewer an exact test holds
    with np.errstate(invalid="ignore"):  # unknown values give no reason
        carried = many & (shape.kurtosis > max(_LEAST_KURTOSIS, shape.units / _CARRIERS))
        losses = shape.acceleration < _LOSSES
    if shape.units < _ENOUGH_UNITS and carried.any():
        found[many & ~carried] = UNDECIDED.index("failures of others")
    found[losses & ~shape.one_size] = UNDECIDED.index("rare losses")
    if _are_few(shape.units, shape.effective):
        found[~shape.one_size] = UNDECIDED.index("few units")
    return found


def _are_few(units: int, effective: float | None) -> bool:
    return units < FEWEST_UNITS or (effective is not None and effective < FEWEST_EFFECTIVE)


def _differ_by_one_size(measure: Measure, pairs: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Tell of each pair of ratios whether all units that differ do so by as much, over one denominator that all units have."""
    numerator, denominator = measure.statistics.transpose(2, 1, 0)
    constant = (denominator == denominator[:, :1]).all(axis=1)
    first, second = pairs.T
    found: NDArray[np.bool_] = constant[first] & constant[second] & (denominator[first, 0] == denominator[second, 0])
    alike, rows = np.flatnonzero(found), max(1, _AT_ONCE // numerator.shape[1])
    for some in (alike[start : start + rows] for start in range(0, len(alike), rows)):
        sizes = np.abs(numerator[first[some]] - numerator[second[some]])
        found[some] = ((sizes == 0) | (sizes == sizes.max(axis=1, keepdims=True))).all(axis=1)
    return found


def explain_undecided(reason: str, *, units: int, most: int | None = None, models: bool = False) -> str:
    """Say why a pair is not decided, and what would help; with ``most``, for test sets that have from ``units`` to so many units.

    For ``models`` the scores are means over runs, which are graded whatever the scores of runs are.

    Examples
    --------
    >>> explain_undecided("rare losses", units=50)[:59]
    'the system that is ahead loses much on a few units, and n ='
    """
    size = f"{units:,}" if most is None or most == units else f"{units:,} to {most:,}"
    words = {"scores": "scores", "system": "system", "else_helps": ", or scores of 0 and 1"}
    if models:
        words = {"scores": "means over runs", "system": "model", "else_helps": ""}
    return _EXPLANATIONS[reason].format(units=size, fewest=FEWEST_UNITS, **words)


def units_to_decide(reason: str, *, units: int, effective: float | None, acceleration: float | None) -> int:
    """Return how many units like these it takes before a pair is no longer undecided for a reason of `UNDECIDED`.

    Acceleration falls with the root of the number of units, and effective units grow as units do.

    Examples
    --------
    >>> given = {"units": 40, "acceleration": -0.06}
    >>> [units_to_decide(reason, effective=4.0, **given) for reason in ("few units", "rare losses", "failures of others")]
    [60, 90, 100]
    """
    if reason == "rare losses":
        return math.ceil(units * ((acceleration or 0.0) / _LOSSES) ** 2)
    if reason == "failures of others":
        return _ENOUGH_UNITS
    return max(FEWEST_UNITS, math.ceil(FEWEST_EFFECTIVE * units / effective) if effective else 0)
