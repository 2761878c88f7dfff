"""Is a difference too small to matter? Equivalence, non-inferiority, four verdicts and the gate, from counts.

Counted p-values are too small with few units, as they are for differences, and with skewed gains. They are never taken below the p
of the same two tests by Student's law, with t as it is and corrected for skewness; for right and wrong answers that rarely differ,
never below Tango's score test.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.intervals.compatible_intervals import Wins
from pipeline.inference.intervals.proportions import tango_tail
from pipeline.inference.p_values import clopper_pearson
from pipeline.inference.skewness import skewed_tail
from pipeline.inference.unit_diagnostics.few_units import StudentTails
from pipeline.numerics.special import stdtr

__all__ = [
    "VERDICTS",
    "Equivalence",
    "Verdicts",
    "equivalence",
    "judge",
    "two_one_sided",
    "within_margin_by_t",
    "within_margin_by_wins",
]

VERDICTS = ("not measured", "equivalent", "better", "worse", "inconclusive", "not decided")
"""The first is for pairs with neither a p of equivalence nor one of the difference, which is not the system's failure."""

_LEVEL = 0.95
_FURTHEST = 1e60  # of t


@dataclass(frozen=True, eq=False)
class Equivalence:
    """p-values against a margin; pairs are ordered so that the observed gain is not negative.

    Parameters
    ----------
    p : (pair,) float64
        max(#(δ* ≥ 2δ + margin), #(δ* ≤ 2δ − margin)) / b; nan without counts, and for identical systems, which need no test.
    p_plus_one : (pair,) float64
        (s + 1) / (b + 1) with the same s: never 0.
    own : (pair,) float64
        The larger of ``p_plus_one`` and ``least``, so corrected for few units, skewed gains and few wins: what Holm adjusts.
    lo, hi : (pair,) float64
        95 % Clopper-Pearson bounds of p, from the larger of the two counts.
    p_ahead : (pair,) float64
        That the system ahead is not worse by the margin, (#(δ* ≥ 2δ + margin) + 1)/(b + 1), corrected likewise.
    p_behind : (pair,) float64
        That the system behind is not worse by the margin, (#(δ* ≤ 2δ − margin) + 1)/(b + 1), corrected likewise: the usual test of
        non-inferiority.
    hits : (pair,) int64
        s; 0 where p is nan.
    least : (pair,) float64
        The lower limit of ``own``, whatever replicates count; 0 where nothing is corrected.
    """

    p: NDArray[np.float64]
    p_plus_one: NDArray[np.float64]
    own: NDArray[np.float64]
    lo: NDArray[np.float64]
    hi: NDArray[np.float64]
    p_ahead: NDArray[np.float64]
    p_behind: NDArray[np.float64]
    hits: NDArray[np.int64]
    least: NDArray[np.float64]


def within_margin_by_t(
    gain: NDArray[np.float64],
    se: NDArray[np.float64],
    *,
    margin: float,
    tails: StudentTails,
    acceleration: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the two one-sided p by Student's t, for the system ahead and for the one behind: P(T ≥ (margin ± δ)/se).

    They are those of Schuirmann's tests for the mean of Gaussian units, with the jackknife's standard error. The counts of a
    bootstrap reject 7.6 % of true nulls at .05 with 10 units, since its replicates have narrower tails (docs/units.md). Where the
    gain has a long tail on its own side, a gain that is too small comes with a standard error that is too small: then t corrected
    for skewness (`pipeline.inference.skewness.unskew`) has the larger p.

    Parameters
    ----------
    gain : (pair,) float64
        δ ≥ 0, of the system ahead.
    se : (pair,) float64
    margin : float
        In the units of the gain.
    tails : StudentTails
    acceleration : (pair,) float64, optional
        Of the gain; without it, and where it is nan, skewness is not corrected.

    Returns
    -------
    (2, pair) float64
        0, which is no limit, without a positive standard error.

    Examples
    --------
    >>> within_margin_by_t(np.array([0.5]), np.array([1.0]), margin=2.0, tails=StudentTails(10)).round(4).tolist()
    [[0.0169], [0.0839]]
    """
    known = np.isfinite(gain) & np.isfinite(se) & (se > 0)
    distance = np.stack([margin + gain, margin - gain])
    # An infinite margin is certain too, and its cube would be nan.
    t = np.clip(np.divide(distance, se, out=np.zeros(distance.shape), where=known), -_FURTHEST, _FURTHEST)
    # The p of the system ahead rests on a large gain, that of the one behind on a small one: their skewness has opposite signs.
    bend = np.zeros(gain.shape) if acceleration is None else acceleration
    return np.where(known, skewed_tail(t, np.stack([bend, -bend]), tails=tails), 0.0)


def within_margin_by_wins(gain: NDArray[np.float64], wins: Wins, *, margin: float) -> NDArray[np.float64]:
    """Return the two one-sided p by Tango's score test, for the system ahead and the one behind, where fewer than 20 units differ.

    A bootstrap knows only the units that were observed: one win in 100 answers and no loss look like a gain of 1 point with a
    standard error of 1, whatever the chance of a win.

    Parameters
    ----------
    gain : (pair,) float64
        δ ≥ 0 of whoever is ahead.
    wins : Wins
    margin : float
        In the units of the gain.

    Returns
    -------
    (2, pair) float64
        0, which is no limit, where no unit or 20 or more differ, and where scores are not means of two values.

    Examples
    --------
    >>> few = Wins(np.array([1, 40]), np.array([1.0, 1.0]), 100)
    >>> within_margin_by_wins(np.array([1.0, 0.0]), few, margin=3.0).round(4).tolist()
    [[0.0211, 0.0], [0.1205, 0.0]]
    """
    known = wins.few & np.isfinite(gain)
    ahead, behind = wins.split(gain, known)
    rate = margin / (wins.gain[known] * wins.units)
    found = np.zeros((2, len(gain)))
    found[0, known] = tango_tail(behind, ahead, wins.units, difference=rate)
    found[1, known] = tango_tail(ahead, behind, wins.units, difference=rate)
    return found


def two_one_sided(
    delta: NDArray[np.float64], se: NDArray[np.float64], degrees: NDArray[np.float64], *, margin: float
) -> NDArray[np.float64]:
    """Return the two one-sided p of gains that each have their own degrees of freedom: P(T ≥ (margin ± |δ|)/se).

    The larger is at most α where both ends of the interval of the gain at 1 − 2α lie within the margin (Schuirmann 1987,
    doi:10.1007/BF01068419).

    Parameters
    ----------
    delta, se, degrees : (pair,) float64
        nan where there is none.
    margin : float
        In the units of the gain.

    Returns
    -------
    (2, pair) float64
        That the system ahead is not worse by the margin, and that the one behind is not; nan without a standard error.

    Examples
    --------
    >>> two_one_sided(np.array([-0.5]), np.array([1.0]), np.array([9.0]), margin=2.0).round(4).tolist()
    [[0.0169], [0.0839]]
    """
    known = np.isfinite(delta) & np.isfinite(degrees) & (se > 0)
    distance = np.stack([margin + np.abs(delta), margin - np.abs(delta)])
    t = np.divide(distance, se, out=np.full(distance.shape, np.nan), where=known)
    return np.asarray(stdtr(degrees, -t), np.float64)


def equivalence(
    above: NDArray[np.integer],
    below: NDArray[np.integer],
    replicates: NDArray[np.integer],
    *,
    identical: NDArray[np.bool_],
    least: NDArray[np.float64] | None = None,
) -> Equivalence:
    """Test that two systems differ by the margin or more, in both directions (Schuirmann 1987, doi:10.1007/BF01068419).

    Parameters
    ----------
    above, below : (pair,) int
        #(δ* ≥ 2δ + margin) and #(δ* ≤ 2δ − margin); negative where nothing was counted.
    replicates : (pair,) int
        Replicates in which both scores were defined.
    identical : (pair,) bool
    least : (2, pair) float64, optional
        Lower limits of the p of the system ahead and of the one behind, from `within_margin_by_t` and `within_margin_by_wins`.

    Examples
    --------
    >>> found = equivalence(np.array([0]), np.array([4]), np.array([99]), identical=np.array([False]))
    >>> round(float(found.p[0]), 4), float(found.p_plus_one[0]), float(found.p_ahead[0])
    (0.0404, 0.05, 0.01)
    """
    if not above.shape == below.shape == replicates.shape == identical.shape:
        raise ValueError(
            f"counts {above.shape} and {below.shape}, replicates {replicates.shape} and identical {identical.shape} differ"
        )
    known = (above >= 0) & (below >= 0) & (replicates > 0) & ~identical
    b = np.where(known, replicates, 1).astype(np.int64)
    one, other = (np.where(known, count, 0).astype(np.int64) for count in (above, below))
    hits = np.maximum(one, other)
    lo, hi = clopper_pearson(hits, b, _LEVEL)
    floor = np.zeros((2, len(b))) if least is None else least
    p_ahead, p_behind = (np.maximum((count + 1) / (b + 1), of) for count, of in zip((one, other), floor, strict=True))
    given = (hits / b, (hits + 1) / (b + 1), np.maximum(p_ahead, p_behind), lo, hi, p_ahead, p_behind)
    p, p_plus_one, own, lo, hi, p_ahead, p_behind = (np.where(known, values, np.nan) for values in given)
    return Equivalence(p, p_plus_one, own, lo, hi, p_ahead, p_behind, hits, np.where(known, floor.max(axis=0), 0.0))


@dataclass(frozen=True, eq=False)
class Verdicts:
    """One verdict for each pair.

    Parameters
    ----------
    verdict : (pair,) int8
        Position in `VERDICTS`.
    differs_within_margin : (pair,) bool
        Equivalent although a difference is shown: it is real, but too small to matter.
    fails : (pair,) bool
        Whether a gate fails: worse, and not shown to be within the margin. Pairs that are inconclusive, not measured or not decided
        do not fail.
    """

    verdict: NDArray[np.int8]
    differs_within_margin: NDArray[np.bool_]
    fails: NDArray[np.bool_]


def judge(
    p_equivalence: NDArray[np.float64],
    *,
    better: NDArray[np.bool_],
    worse: NDArray[np.bool_],
    measured: NDArray[np.bool_],
    identical: NDArray[np.bool_],
    alpha: float,
    undecided: NDArray[np.bool_] | None = None,
) -> Verdicts:
    """Return the verdict, in this order: equivalent if p ≤ α; better or worse if that difference is shown; else inconclusive.

    Where no available test holds its level, any of the first three is replaced by ``not decided``.

    A difference is shown if the 1 − α interval of the gain excludes 0; for many pairs, if the p adjusted for the family is at most
    α, as the interval beside a verdict says too: it is held to the test.

    Parameters
    ----------
    p_equivalence : (pair,) float64
        For several pairs adjusted by Holm over the family; nan without a margin.
    better, worse : (pair,) bool
        The system that is judged is shown to be better, or worse; the caller turns the pair accordingly.
    measured : (pair,) bool
        The difference has a p or an interval.
    identical : (pair,) bool
        Equivalent at any margin, and decided.
    alpha : float
    undecided : (pair,) bool, optional
        No p of the pair is a verdict (`pipeline.inference.unit_diagnostics.undecided`).

    Examples
    --------
    >>> p, lo, hi = np.array([0.01, 0.2, np.nan, 0.2]), np.array([0.1, 0.1, -2.0, -1.0]), np.array([0.3, 2.0, -0.5, 1.0])
    >>> no = np.zeros(4, bool)
    >>> found = judge(p, better=lo > 0, worse=hi < 0, measured=~no, identical=no, alpha=0.05)
    >>> [VERDICTS[code] for code in found.verdict]
    ['equivalent', 'better', 'worse', 'inconclusive']
    >>> found.differs_within_margin.tolist(), found.fails.tolist()
    ([True, False, False, False], [False, False, True, False])
    """
    shapes = {values.shape for values in (p_equivalence, better, worse, measured, identical)}
    if len(shapes) > 1:
        raise ValueError(f"p-values of equivalence and what is known of differences have the shapes {sorted(shapes)}")
    if np.any(better & worse):
        raise ValueError(f"{np.count_nonzero(better & worse)} pairs are shown to be better and worse")
    with np.errstate(invalid="ignore"):  # comparisons with nan are False: nothing is shown
        within = identical | (p_equivalence <= alpha)
    known = identical | measured | np.isfinite(p_equivalence)
    held = np.zeros_like(known) if undecided is None else undecided & ~identical
    claimed = within | better | worse
    verdict = np.select([~known, held & claimed, within, better, worse], [0, 5, 1, 2, 3], 4).astype(np.int8)
    return Verdicts(
        verdict=verdict,
        differs_within_margin=within & (better | worse) & ~identical & ~held,
        fails=worse & ~within & ~held,
    )
