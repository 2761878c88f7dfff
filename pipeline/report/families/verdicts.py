"""The verdict of each pair of a family, and whether another seed could change it; decided once for the whole report.

A difference is shown by the adjustment that decides for the family; a margin adds Holm over the p-values of equivalence, asked
first. Both come from `pipeline.inference`, and nothing else in a report makes a verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.decision import Bounds, Decisions, bound_computed, bound_counted, decide, decide_max_t
from pipeline.inference.equivalence import VERDICTS, Equivalence, equivalence, judge, within_margin_by_t, within_margin_by_wins
from pipeline.inference.intervals.compatible_intervals import Wins
from pipeline.inference.multiple_comparisons.multiplicity import holm_of_decided
from pipeline.inference.unit_diagnostics.few_units import StudentTails
from pipeline.report.families.adjustment import Adjusted
from pipeline.report.pairs.columns import Column, coded, constant, known_flags, unless
from pipeline.report.pairs.cube_facts import NOT_TESTABLE, count_of
from pipeline.report.rows import PairVerdict

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Evidence", "Judged", "judge_pairs", "read_equivalence"]

TWO_SIDED = ("above_twice_delta", "at_twice_delta", "below_zero", "at_zero")
"""Counts whose sum is #(|δ* − δ| ≥ δ), after swaps #(|δ°| ≥ δ)."""

_Floats = NDArray[np.float64]
_Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence on the pairs of a family before any verdict, each ordered so that δ is not negative.

    Parameters
    ----------
    gain, se : (pair,) float64
        The standard error is the jackknife's, which tests of few units divide by.
    identical : (pair,) bool
    flat : (pair,) bool
        All units differ by the same: there is nothing to resample, and no verdict of a test that rests on their spread.
    p, one_sided, error : (pair,) float64
        By the conventions that verdicts use, and the stated error of the first; p is 1 where ``flat``.
    replicates : (pair,) float64
        b; negative where nothing is drawn.
    estimated : (pair,) bool
        p is computed, and its error that of an estimate.
    adjusted : Adjusted
    undecided : (pair,) bool
        Neither a difference nor equivalence is claimed, however small p is.
    """

    gain: _Floats
    se: _Floats
    identical: _Flags
    flat: _Flags
    p: _Floats
    one_sided: _Floats
    error: _Floats
    replicates: _Floats
    estimated: _Flags
    adjusted: Adjusted
    undecided: _Flags


@dataclass(frozen=True, eq=False)
class Judged:
    """The verdict of each pair, and its stability.

    Parameters
    ----------
    separated : (pair,) bool
        The better system is shown to be better.
    against : (pair,) bool
        The test rejects in favour of the system that is behind: its null is not about the gain.
    verdict : Column
        Words of `PairVerdict`; none outside the family.
    differs_within_margin : Column
        Not known where there is no margin, and outside the family.
    stable : Column
        Other draws would not change the verdict, where that is known.
    equivalence_holm : (pair,) float64
    """

    separated: _Flags
    against: _Flags
    verdict: Column
    differs_within_margin: Column
    stable: Column
    equivalence_holm: _Floats


def read_equivalence(
    cube: xr.Dataset,
    known: Evidence,
    *,
    margin: float,
    tails: StudentTails | None,
    corrected: _Floats,
    acceleration: _Floats,
    wins: Wins,
    **where: str,
) -> Equivalence | None:
    """Return the test of a margin from a cube's counts; None where nothing was counted, nan outside the family.

    Parameters
    ----------
    cube : Dataset
    known : Evidence
    margin : float
        In metric points.
    tails : StudentTails or None
        Of the units of the test set; None where they are not known, and nothing is corrected by Student's law.
    corrected : (pair,) float64
        p of the difference corrected for few units; what is nan there is not corrected by Student's law here.
    acceleration : (pair,) float64
        Of the gain ≥ 0; nan where it is not known.
    wins : Wins
    **where : str
        Metric, test size and procedure.
    """
    above, below = (count_of(cube, f"margin_{side}", **where) for side in ("above", "below"))
    if above is None or below is None:
        return None
    outside = np.int64(-1)
    above, below = (np.where(known.adjusted.member, counts, outside) for counts in (above, below))
    least = within_margin_by_wins(known.gain, wins, margin=margin)
    if tails is not None:
        by_t = within_margin_by_t(known.gain, known.se, margin=margin, tails=tails, acceleration=acceleration)
        least = np.where(np.isfinite(corrected), np.maximum(by_t, least), least)
    return equivalence(above, below, _trials(known), identical=known.identical, least=least)


def judge_pairs(
    cube: xr.Dataset, known: Evidence, within: Equivalence | None, *, alpha: float, margin: bool, **where: str
) -> Judged:
    """Judge all pairs of a family.

    Parameters
    ----------
    cube : Dataset
    known : Evidence
    within : Equivalence or None
        From `read_equivalence`.
    alpha : float
    margin : bool
        A margin was asked for: the verdicts of equivalence, whether or not anything was counted against it.
    **where : str
        Metric, test size and procedure.
    """
    adjusted = known.adjusted
    with np.errstate(invalid="ignore"):  # nan is neither rejected nor counts against a pair
        rejected = adjusted.decision.p <= alpha
        against = rejected & (known.one_sided > 0.5)
        separated = rejected & ~against & (known.gain > 0) & ~known.identical & np.isfinite(known.se)
        separated &= ~known.flat
    held, separated = separated & known.undecided, separated & ~known.undecided
    measured = np.isfinite(adjusted.decision.own)
    p_holm = holm_of_decided(within.own, known.undecided) if within is not None else np.full(len(measured), np.nan)
    nothing, inside = np.zeros(len(measured), np.bool_), adjusted.member
    if margin:
        words = {"better": separated | held, "worse": nothing, "measured": measured, "identical": known.identical}
        found = judge(p_holm, **words, alpha=alpha, undecided=known.undecided)
        verdict = coded(found.verdict, VERDICTS)
        differs = known_flags(found.differs_within_margin, inside)
    else:
        verdict = _separations(known, separated=separated, held=held, measured=measured)
        differs = constant(None, len(measured))
    verdict = unless(known.flat, verdict, NOT_TESTABLE)
    return Judged(
        separated=separated,
        against=against,
        verdict=unless(~inside, verdict),
        differs_within_margin=differs,
        stable=_stable(cube, known, within, alpha, **where),
        equivalence_holm=p_holm,
    )


def _separations(known: Evidence, *, separated: _Flags, held: _Flags, measured: _Flags) -> Column:
    """Return the words of pairs that are judged without a margin."""
    cases: dict[PairVerdict, _Flags] = {
        "identical": known.identical,
        "not measured": ~measured,
        "better": separated,
        "not decided": held,
    }
    codes = np.select(list(cases.values()), range(len(cases)), len(cases))
    return coded(codes.astype(np.int8), (*cases, "not separated"))


def _stable(cube: xr.Dataset, known: Evidence, within: Equivalence | None, alpha: float, **where: str) -> Column:
    """Say whether other draws would leave each verdict as it is: first equivalence, then the difference, at the report's own α."""
    adjusted = known.adjusted
    p = np.where(adjusted.member, known.p, np.nan)
    there = np.isfinite(p)
    difference = _difference(cube, known, p, alpha, **where)
    if difference is None:
        return constant(None, len(p))
    # Without a standard error no difference is claimed, whatever p is.
    holds = difference.stable | ~np.isfinite(known.se)
    if within is not None:
        floor = np.where(known.undecided, 1.0, within.least)  # leaves no share to others, as in Holm's own
        other = decide(bound_counted(within.hits, _trials(known), p=within.p_plus_one), alpha=alpha, floor=floor)
        holds = other.surely | (~other.possibly & holds)
    holds |= known.undecided  # other draws claim nothing either
    return known_flags(holds, there)


def _difference(cube: xr.Dataset, known: Evidence, p: _Floats, alpha: float, **where: str) -> Decisions | None:
    adjusted = known.adjusted
    if (known.replicates < 0).all() and adjusted.decision.by == "holm":
        random, members = known.estimated, int(np.isfinite(p).sum())
        return decide(bound_computed(p, known.error, random=random, decisions=members), alpha=alpha, floor=adjusted.least)
    if adjusted.decision.by == "holm":
        counts = [count_of(cube, name, **where) for name in TWO_SIDED]
        found = [np.maximum(count, 0) for count in counts if count is not None]
        if len(found) < len(TWO_SIDED):
            return None
        return decide(bound_counted(np.sum(found, axis=0), _trials(known), p=p), alpha=alpha, floor=adjusted.least)
    max_t: Bounds | None = adjusted.max_t_bounds
    return None if max_t is None else decide_max_t(max_t, alpha=alpha, floor=adjusted.floor)


def _trials(known: Evidence) -> NDArray[np.int64]:
    return known.replicates.astype(np.int64)
