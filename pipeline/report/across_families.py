"""Many families: what their number does to p-values and verdicts, as a study asks.

All families of a procedure at the full size, one a test set and metric, are corrected together; tests of equivalence are families
of their own among them. Each family is tested at one level (`pipeline.inference.multiplicity.adjust_across_families`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.multiplicity import adjust_across_families, any_false_rejection
from pipeline.report.facts import AcrossFamilies, FamilyCounts, FamilyP
from pipeline.report.intervals import hold
from pipeline.report.rows import FamilyKey, PairRow

__all__ = ["Correction", "correct_across", "count_families"]

By: TypeAlias = Literal["holm", "benjamini-bogomolov"]


@dataclass(frozen=True, eq=False)
class Correction:
    """What a correction across the families of one procedure makes of each of their pairs.

    Parameters
    ----------
    by : str
    alpha : float
        Of all families together.
    families : int
    level : float
        At what each family is tested by p-values that are adjusted within it.
    p : mapping of FamilyKey to mapping of (str, str) to (float or None, float or None)
        Of each pair: p of the difference and of equivalence, adjusted within and across families.
    any_pair : mapping of FamilyKey to float or None
        The p of "some pair of the family differs".
    """

    by: By
    alpha: float
    families: int
    level: float
    p: Mapping[FamilyKey, Mapping[tuple[str, str], tuple[float | None, float | None]]]
    any_pair: Mapping[FamilyKey, float | None]

    def apply(self, row: PairRow, *, stable: bool | None) -> PairRow:
        """Return the row of a pair judged by p-values that are adjusted across families too.

        Parameters
        ----------
        row : PairRow
            As it is judged within its family.
        stable : bool or None
            Other draws would not change the verdict at ``level``.
        """
        p, p_equivalence = self.p[FamilyKey(row.test_set, row.metric, row.procedure)][row.system_a, row.system_b]
        if row.undecided is not None:  # what would be claimed at the level of each family
            p, p_equivalence = (self._raise(within) for within in (row.p_adjusted, row.p_equivalence_holm))
        separated = row.separated and p is not None and p <= self.alpha
        verdict = row.verdict
        claimed = {"better": separated, "not decided": any(of is not None and of <= self.alpha for of in (p, p_equivalence))}
        if verdict == "equivalent" and not row.identical and (p_equivalence is None or p_equivalence > self.alpha):
            verdict = "better" if separated else "inconclusive"
        elif not claimed.get(verdict or "", True):
            verdict = "not separated" if row.margin is None else "inconclusive"
        return replace(
            row,
            p_adjusted=p,
            p_equivalence_holm=p_equivalence,
            adjustment=replace(row.adjustment, across=AcrossFamilies(self.by, self.families, self.level, row.p_adjusted)),
            separated=separated,
            interval=hold(row.interval, separated=separated),
            verdict=verdict,
            differs_within_margin=None if row.differs_within_margin is None else verdict == "equivalent" and separated,
            stable=stable,
        )

    def _raise(self, p: float | None) -> float | None:
        return None if p is None else min(1.0, p * self.alpha / self.level)


def correct_across(families: Mapping[FamilyKey, Sequence[PairRow]], *, by: By, alpha: float) -> Correction:
    """Return the correction across the families of one procedure, from their rows as they are judged within each."""
    names = [[(row.system_a, row.system_b) for row in rows] for rows in families.values()]
    # What is not decided is not rejected, whatever its p: it leaves no share of α to others, and selects no family.
    differences = [_floats(_evidence(row, row.p_adjusted) for row in rows) for rows in families.values()]
    equivalences = [_floats(_evidence(row, row.p_equivalence_holm) for row in rows) for rows in families.values()]
    found = adjust_across_families([*differences, *equivalences], by=by, alpha=alpha)
    both = zip(found.p[: len(names)], found.p[len(names) :], strict=True)
    p = [
        dict(zip(pairs, zip(_plain(of), _plain(equivalent), strict=True), strict=True))
        for pairs, (of, equivalent) in zip(names, both, strict=True)
    ]
    any_pair = dict(zip(families, _plain(found.any_pair[: len(names)]), strict=True))
    return Correction(by, alpha, found.families, found.share * alpha, dict(zip(families, p, strict=True)), any_pair)


def _evidence(row: PairRow, p: float | None) -> float | None:
    return p if row.undecided is None or p is None else 1.0


def _floats(values: Iterable[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _plain(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]


def count_families(
    families: Mapping[FamilyKey, Sequence[PairRow]],
    corrections: Mapping[str, Correction],
    *,
    first: str | None,
    total: int,
    alpha: float,
) -> FamilyCounts:
    """Count the families of a report.

    Parameters
    ----------
    families : mapping of FamilyKey to sequence of PairRow
        At the full size.
    corrections : mapping of str to Correction
        By procedure; none where nothing is corrected across families.
    first : str or None
        The procedure that verdicts come from.
    total : int
        Families at all test sizes.
    alpha : float
    """
    judged = sum(any(row.p_adjusted is not None for row in rows) for place, rows in families.items() if place.procedure == first)
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
