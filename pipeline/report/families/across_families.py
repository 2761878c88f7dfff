"""Many families: correction of p-values and verdicts for their number, as a study asks.

All families of a procedure at the full size, one a test set and metric, are corrected together; tests of equivalence are families
of their own among them. Each family is tested at one level
(`pipeline.inference.multiple_comparisons.multiplicity.adjust_across_families`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.multiple_comparisons.multiplicity import adjust_across_families, any_false_rejection
from pipeline.report.facts import FamilyCounts, FamilyP
from pipeline.report.pairs.columns import Column, constant, flags, known_flags, numbers, unless
from pipeline.report.pairs.intervals import hold
from pipeline.report.pairs.pair_set import PairSet
from pipeline.report.pairs.pairs import Pairs
from pipeline.report.rows import FamilyKey

__all__ = ["Correction", "correct_across", "count_families"]

By: TypeAlias = Literal["holm", "benjamini-bogomolov"]


@dataclass(frozen=True, eq=False)
class Correction:
    """The result of a correction across the families of one procedure, for each of their pairs.

    Parameters
    ----------
    by : str
    alpha : float
        Of all families together.
    families : int
    level : float
        At what each family is tested by p-values that are adjusted within it.
    p : mapping of FamilyKey to (2, pair) float64
        Of each pair, in the order in which they were given: p of the difference and of equivalence, adjusted within and across
        families.
    any_pair : mapping of FamilyKey to float or None
        The p of "some pair of the family differs".
    """

    by: By
    alpha: float
    families: int
    level: float
    p: Mapping[FamilyKey, NDArray[np.float64]]
    any_pair: Mapping[FamilyKey, float | None]

    def apply(self, place: FamilyKey, columns: Mapping[str, Column], *, stable: Column) -> dict[str, Column]:
        """Return the columns of a family that change when p-values are adjusted across families too.

        Parameters
        ----------
        place : FamilyKey
        columns : mapping of str to Column
            The pairs as they are judged within the family, in the order in which their p-values were given.
        stable : Column
            Other draws would not change the verdict at ``level``.
        """
        everything = slice(None)
        within, within_margin = (columns[name].floats(everything) for name in ("p_adjusted", "p_equivalence_holm"))
        undecided = columns["undecided"].known(everything)
        # What is not decided has what would be claimed at the level of each family.
        p, equivalence = (
            np.where(undecided, np.minimum(1.0, of * self.alpha / self.level), own)
            for of, own in zip((within, within_margin), self.p[place], strict=True)
        )
        with np.errstate(invalid="ignore"):  # nan makes no claim
            separated = columns["separated"].equal(everything, True) & (p <= self.alpha)
            claimed, shown = (p <= self.alpha) | (equivalence <= self.alpha), equivalence <= self.alpha
        verdict = columns["verdict"]
        was = {name: verdict.equal(everything, name) for name in ("equivalent", "better", "not decided")}
        lost = was["equivalent"] & ~columns["identical"].equal(everything, True) & ~shown
        fallen = (was["better"] & ~separated) | (was["not decided"] & ~claimed) | (lost & ~separated)
        rest = "not separated" if columns["margin"].words == (None,) else "inconclusive"
        verdict = unless(fallen, unless(lost & separated, verdict, "better"), rest)
        pairs, differs = len(p), columns["differs_within_margin"]
        across = {"by": self.by, "families": self.families, "level": self.level}
        return {
            "p_adjusted": numbers(p, pairs),
            "p_equivalence_holm": numbers(equivalence, pairs),
            **{f"adjustment.across.{name}": constant(value, pairs) for name, value in across.items()},
            "adjustment.across.within": columns["p_adjusted"],
            "separated": flags(separated),
            **hold(columns, separated=separated),
            "verdict": verdict,
            "differs_within_margin": known_flags(verdict.equal(everything, "equivalent") & separated, differs.known(everything)),
            "stable": stable,
        }


def correct_across(families: Mapping[FamilyKey, PairSet], *, by: By, alpha: float) -> Correction:
    """Return the correction across the families of one procedure, from their pairs as they are judged within each."""
    # What is not decided is not rejected, whatever its p: it leaves no share of α to others, and selects no family.
    differences, equivalences = (
        [_evidence(of.columns, name) for of in families.values()] for name in ("p_adjusted", "p_equivalence_holm")
    )
    found = adjust_across_families([*differences, *equivalences], by=by, alpha=alpha)
    both = zip(found.p[: len(families)], found.p[len(families) :], strict=True)
    p = {place: np.stack(of) for place, of in zip(families, both, strict=True)}
    any_pair = dict(zip(families, _plain(found.any_pair[: len(families)]), strict=True))
    return Correction(by, alpha, found.families, found.share * alpha, p, any_pair)


def _evidence(columns: Mapping[str, Column], name: str) -> NDArray[np.float64]:
    p = columns[name].floats(slice(None))
    return np.where(columns["undecided"].known(slice(None)) & np.isfinite(p), 1.0, p)


def _plain(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]


def count_families(
    families: Mapping[FamilyKey, Pairs],
    corrections: Mapping[str, Correction],
    *,
    first: str | None,
    total: int,
    alpha: float,
) -> FamilyCounts:
    """Count the families of a report.

    Parameters
    ----------
    families : mapping of FamilyKey to Pairs
        At the full size.
    corrections : mapping of str to Correction
        By procedure; none where nothing is corrected across families.
    first : str or None
        The procedure that verdicts come from.
    total : int
        Families at all test sizes.
    alpha : float
    """
    judged = sum(bool(of.known("p_adjusted").any()) for place, of in families.items() if place.procedure == first)
    found = corrections.get(first or "")
    return FamilyCounts(
        total=total,
        full_size=len(families),
        judged=judged,
        across="none" if found is None else found.by,
        level=alpha if found is None else found.level,
        any_false_if_independent=any_false_rejection(alpha, judged),
        differing=[FamilyP(*place, p) for of in corrections.values() for place, p in of.any_pair.items()],
    )
