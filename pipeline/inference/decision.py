"""The p-value that decides a pair's verdict, and whether other random draws could change the decision.

Every verdict, rank, letter and table comes from `decide_family`. A decision is *stable* if it is the same for all p-values within
their bounds at level 1 − .01/K, for K decisions. All K bounds hold together with a chance of at least 99 %.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.multiple_comparisons.multiplicity import benjamini_hochberg, holm
from pipeline.inference.p_values import clopper_pearson
from pipeline.inference.unit_diagnostics.few_units import SMALLEST, holm_within_reach
from pipeline.numerics.special import ndtri

__all__ = [
    "AdjustedBy",
    "Bounds",
    "Decision",
    "Decisions",
    "bound_computed",
    "bound_counted",
    "decide",
    "decide_family",
    "decide_max_t",
    "stable_alone",
    "stable_level",
    "without_zero",
]

AdjustedBy = Literal["max_t", "holm"]

_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Decision:
    """The adjusted p-values of one family.

    Parameters
    ----------
    by : {"max_t", "holm"}
        Which adjustment decides. It depends on what was requested, never on the pairs.
    p : (pair,) float64
        The adjusted p-values that decide; nan where a pair has none, and outside the family.
    own : (pair,) float64
        Two-sided p-values of each pair by itself, by the test that decides and not below their floors; never above ``p``. Pairs
        outside the family have one too.
    max_t, holm, benjamini_hochberg : (pair,) float64
        By each adjustment; Holm's and Benjamini and Hochberg's adjust ``own``.
    """

    by: AdjustedBy
    p: _Floats
    own: _Floats
    max_t: _Floats
    holm: _Floats
    benjamini_hochberg: _Floats


def decide_family(
    p: _Floats,
    *,
    corrected: _Floats,
    floor: _Floats,
    max_t: _Floats,
    alone: _Floats,
    replicates: int,
    alpha: float,
    member: NDArray[np.bool_] | None = None,
) -> Decision:
    """Return the p-values by which the pairs of one family are judged.

    By studentised step-down max-T if enough replicates were kept that its smallest p, 1/(b + 1), is at most α, even for a family of
    one pair; otherwise by Holm over p-values corrected for few units. Neither goes below the floor for few discordant units.

    Parameters
    ----------
    p : (pair,) float64
        Two-sided, of the procedure itself; nan where there is none.
    corrected : (pair,) float64
        The same, corrected for few units; nan where no correction applies.
    floor : (pair,) float64
        From `pipeline.inference.unit_diagnostics.few_units.evidence_floor`.
    max_t, alone : (pair,) float64
        From `pipeline.inference.multiple_comparisons.studentised_max_t`, adjusted and of each pair by itself; nan for pairs without
        a standard error, for which no difference is claimed.
    replicates : int
        b of max-T; 0 if no replicate was kept, or if those kept belong to another family.
    alpha : float
    member : (pair,) bool, optional
        The pairs that are tested together; all by default.

    Examples
    --------
    >>> nothing = np.full(2, np.nan)
    >>> given = {"corrected": np.array([0.03, 0.2]), "floor": np.array([0.07, 0.0]), "alpha": 0.05}
    >>> decide_family(np.array([0.01, 0.1]), **given, max_t=nothing, alone=nothing, replicates=0).p.tolist()
    [0.14, 0.2]
    >>> max_t = {"max_t": np.array([0.05, 0.21]), "alone": np.array([0.04, 0.21]), "replicates": 999}
    >>> found = decide_family(np.array([0.01, 0.1]), **given, **max_t)
    >>> found.own.tolist(), found.p.tolist()
    ([0.07, 0.21], [0.07, 0.21])
    """
    if not p.shape == corrected.shape == floor.shape == max_t.shape == alone.shape:
        shapes = f"p {p.shape}, corrected {corrected.shape}, floor {floor.shape}, max_t {max_t.shape}, alone {alone.shape}"
        raise ValueError(f"{shapes} are of other pairs")
    there = np.isfinite(p)
    by: AdjustedBy = "max_t" if (replicates + 1) * alpha >= 1 else "holm"
    if by == "max_t":
        own = np.maximum(np.where(np.isnan(alone), 1.0, alone), floor)
    else:
        own = np.maximum(np.fmax(without_zero(p), corrected), floor)
    own = np.where(there, own, np.nan)
    tested = there if member is None else there & member
    inside = np.where(tested, own, np.nan)
    by_holm = holm(inside)
    adjusted = np.where(tested & (replicates > 0), np.maximum(np.where(np.isnan(max_t), 1.0, max_t), floor), np.nan)
    return Decision(by, adjusted if by == "max_t" else by_holm, own, adjusted, by_holm, benjamini_hochberg(inside))


def without_zero(p: _Floats) -> _Floats:
    """Return p-values with the smallest float in place of 0: nothing that was observed has probability 0.

    Examples
    --------
    >>> without_zero(np.array([0.0, 0.5])).tolist()
    [5e-324, 0.5]
    """
    return np.where(p == 0, SMALLEST, p)


_UNSTABLE_SHARE = 0.01  # chance of wrongly calling any of K decisions stable
_STATED = 0.95  # level of the errors that stand beside computed p-values


def stable_level(decisions: int) -> float:
    """Return 1 − .01/K, the level of the bounds of each of K p-values.

    Examples
    --------
    >>> round(stable_level(10), 6)
    0.999
    """
    return 1 - _UNSTABLE_SHARE / max(decisions, 1)


@dataclass(frozen=True, eq=False)
class Bounds:
    """Lower and upper bounds of p-values.

    Parameters
    ----------
    lo, hi : (..., pair) float64
        Equal where p is known; nan where there is none.
    """

    lo: NDArray[np.float64]
    hi: NDArray[np.float64]


def bound_counted(hits: NDArray[np.integer], replicates: NDArray[np.integer], *, p: NDArray[np.float64]) -> Bounds:
    """Bound the p-values that infinitely many replicates would give for one family (Clopper and Pearson).

    Parameters
    ----------
    hits : (pair,) int
        Replicates that count against the observed gain.
    replicates : (pair,) int
        Replicates in which both scores were defined; 0 where p is known without any.
    p : (pair,) float64
        The p-values themselves: nan where a pair is not in the family; exactly 1 where p is known by definition.

    Examples
    --------
    >>> found = bound_counted(np.array([480, 0]), np.array([10_000, 10_000]), p=np.array([0.0481, 1.0]))
    >>> found.lo.round(4).tolist(), found.hi.round(4).tolist()
    ([0.0422, 1.0], [0.0543, 1.0])
    """
    if not hits.shape == replicates.shape == p.shape:
        raise ValueError(f"hits {hits.shape}, replicates {replicates.shape} and p-values {p.shape} are not of the same pairs")
    there = np.isfinite(p)
    counted = there & (replicates > 0) & (p != 1.0)
    trials = np.where(counted, replicates, 1).astype(np.int64)
    lo, hi = clopper_pearson(np.where(counted, np.clip(hits, 0, trials), 0), trials, stable_level(int(there.sum())))
    return Bounds(*(np.where(counted, bound, np.where(there, p, np.nan)) for bound in (lo, hi)))


def bound_computed(p: NDArray[np.float64], error: NDArray[np.float64], *, random: NDArray[np.bool_], decisions: int) -> Bounds:
    """Bound p-values that were computed, by their stated error.

    Parameters
    ----------
    p : (..., pair) float64
        nan where there is none.
    error : (..., pair) float64
        Half the width of an enclosure, which is certain, or of a 95 % interval.
    random : (..., pair) bool
        The error is that of a 95 % interval: it is widened to level 1 − .01/K as for a Gaussian.
    decisions : int
        K.

    Examples
    --------
    >>> p, error = np.full(2, 0.04), np.full(2, 0.008)
    >>> found = bound_computed(p, error, random=np.array([False, True]), decisions=1)
    >>> found.lo.round(4).tolist(), found.hi.round(4).tolist()
    ([0.032, 0.0295], [0.048, 0.0505])
    """
    wider = float(ndtri((1 + stable_level(decisions)) / 2) / ndtri((1 + _STATED) / 2))
    reach = np.nan_to_num(error) * np.where(random, wider, 1.0)
    return Bounds(np.clip(p - reach, 0.0, 1.0), np.clip(p + reach, 0.0, 1.0))


def stable_alone(bounds: Bounds, alpha: float) -> NDArray[np.bool_]:
    """Tell for each p alone, without adjustment, whether p ≤ α is equally true at both bounds. False where there is no p."""
    with np.errstate(invalid="ignore"):  # comparisons with nan are False
        return np.asarray((bounds.hi <= alpha) | (bounds.lo > alpha))


@dataclass(frozen=True, eq=False)
class Decisions:
    """Which pairs a family separates for all p-values that infinitely many replicates may give.

    Parameters
    ----------
    surely : (pair,) bool
        Separated when every p is at the end that is worst for it.
    possibly : (pair,) bool
        Separated when every p is at the end that is best for it.
    """

    surely: NDArray[np.bool_]
    possibly: NDArray[np.bool_]

    @property
    def stable(self) -> NDArray[np.bool_]:
        """The decision is the same at both ends, and so anywhere between."""
        return np.equal(self.surely, self.possibly)


def decide(bounds: Bounds, *, alpha: float, floor: NDArray[np.float64] | None = None) -> Decisions:
    """Bound Holm's decisions in one family.

    A pair is separated if Holm rejects it, also when floors replace smaller p-values. A rise of any p never makes this True, so the
    decisions at the bounds of all p-values, including those of other pairs, bound it.

    Parameters
    ----------
    bounds : Bounds
        Of the p-values of the family; nan where a pair is not in it.
    alpha : float
        Level of the family.
    floor : (pair,) float64, optional
        Smaller p-values are raised to it: the larger of `pipeline.inference.unit_diagnostics.few_units.evidence_floor` and a p
        corrected for few units.

    Examples
    --------
    >>> hits, b, p = np.array([0, 480]), np.array([10_000, 10_000]), np.array([0.0001, 0.0481])
    >>> found = decide(bound_counted(hits, b, p=p), alpha=0.05)
    >>> found.stable.tolist(), found.surely.tolist()
    ([True, False], [True, False])
    """
    least = np.zeros(len(bounds.lo)) if floor is None else floor
    surely, possibly = (holm_within_reach(end, least, alpha) for end in (bounds.hi, bounds.lo))
    return Decisions(surely=surely, possibly=possibly)


def decide_max_t(max_t: Bounds, *, alpha: float, floor: NDArray[np.float64]) -> Decisions:
    """Bound max-T's decisions in one family: a pair is separated where its adjusted p and its floor are at most α.

    Parameters
    ----------
    max_t : Bounds
        Of the adjusted p-values, each by itself.
    alpha : float
    floor : (pair,) float64

    Examples
    --------
    >>> decide_max_t(Bounds(np.array([0.001]), np.array([0.001])), alpha=0.05, floor=np.array([0.0625])).possibly.tolist()
    [False]
    """
    with np.errstate(invalid="ignore"):  # nan is not rejected
        surely, possibly = (np.maximum(end, floor) <= alpha for end in (max_t.hi, max_t.lo))
    return Decisions(surely=surely, possibly=possibly)
