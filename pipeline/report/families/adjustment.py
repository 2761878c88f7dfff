"""The pairs of a family, and the adjusted p-values that decide their verdicts, as a report asks for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.decision import Bounds, Decision, bound_counted, decide_family
from pipeline.inference.multiple_comparisons.studentised_max_t import critical_maximum, replicates_in_use
from pipeline.inference.p_values import clopper_pearson
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.facts import TestSetRow
from pipeline.report.pairs.cube_facts import read_variable, read_wins
from pipeline.report.rows import PairRow

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "ACROSS_TITLES",
    "ADJUSTMENTS",
    "Adjusted",
    "FamilyOf",
    "adjust",
    "name_adjustment",
    "references",
    "replicates_of_max_t",
    "title_of",
    "why_no_max_t",
]

ADJUSTMENTS = {"max_t": "max-T", "holm": "Holm"}
"""The adjustments whose p can decide, by their names in ``adjustment.by``, with their titles."""

ACROSS_TITLES = {"holm": "Holm", "benjamini-bogomolov": "Benjamini and Bogomolov"}
"""Corrections across families, by their names in ``adjustment.across.by``, with their titles."""

_MAX_T = "max-t"  # in cubes
_STATED = 0.95  # level of the errors that stand beside p
_DECIDING = 4  # the first version of cubes with the max-T that decides


@dataclass(frozen=True)
class FamilyOf:
    """The pairs tested together, as a study asks.

    Parameters
    ----------
    name : str
        ``all-pairs`` or ``against-baseline``.
    baseline : str or None
        The system that the others are compared with.
    """

    name: str = "all-pairs"
    baseline: str | None = None

    def members(self, cube: xr.Dataset) -> NDArray[np.bool_]:
        """Tell which pairs of a cube are in the family."""
        if self.baseline is None:
            return np.ones(cube.sizes["pair"], np.bool_)
        first, second = (cube[name].values.astype(str) == self.baseline for name in ("system_a", "system_b"))
        return np.asarray(first | second, np.bool_)

    def is_of(self, cube: xr.Dataset) -> bool:
        """Tell whether the cube's own adjustments are of this family: a report may ask for another one."""
        return (cube.attrs.get("family") or "all-pairs", cube.attrs.get("baseline") or None) == (self.name, self.baseline)

    def sign(self, pairs: int) -> str:
        """Return the family as it appears in signatures."""
        return f"{self.name}({pairs})" if self.baseline is None else f"{self.name}({self.baseline},{pairs})"


@dataclass(frozen=True, eq=False)
class Adjusted:
    """The pairs of one family, adjusted.

    Parameters
    ----------
    member : (pair,) bool
    decision : Decision
        The p-values that decide, and those beside them; nan where a pair has none, and outside the family.
    floor : (pair,) float64
        What none of them is below.
    alone : (pair,) float64
        p of max-T of each pair by itself; nan where there is none, and where Holm decides.
    exact : (pair,) bool
        That p is exact: of right and wrong answers that differ on few units.
    max_t_se : (pair,) float64
        What max-T divides gains by; nan as above.
    replicates : int
        b of max-T; 0 where Holm decides.
    critical : float or None
        The 1 − α quantile of the largest |t*| of the family, by which all its gains differ from the true ones at most; None where
        Holm decides, and where it is infinite.
    least : (pair,) float64
        What no p of a pair by itself is below: its floor, or p corrected for few units.
    max_t_bounds : Bounds or None
        Of the max-T p, at the level of `pipeline.inference.decision`; None where Holm decides, or b is not known.
    """

    member: NDArray[np.bool_]
    decision: Decision
    floor: NDArray[np.float64]
    alone: NDArray[np.float64]
    exact: NDArray[np.bool_]
    max_t_se: NDArray[np.float64]
    replicates: int
    critical: float | None
    least: NDArray[np.float64]
    max_t_bounds: Bounds | None

    def own_error(self, counted: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return half the width of the 95 % interval of each pair's own p, over infinitely many replicates.

        ``counted`` are those of p by the procedure's convention, for pairs whose p is not of max-T's replicates. A floor has none.
        """
        studentised = self.decision.own == self.alone
        counted = np.where((self.decision.own == self.floor) & (self.floor > 0), 0.0, counted)
        if not studentised.any():
            return counted
        hits = np.where(studentised & ~self.exact, np.rint(np.nan_to_num(self.alone) * (self.replicates + 1)) - 1, 0).astype(
            np.int64
        )
        lo, hi = clopper_pearson(hits, np.full(len(hits), self.replicates), _STATED)
        return np.where(self.exact, 0.0, np.where(studentised & (self.alone < 1), (hi - lo) / 2, counted))


def adjust(
    cube: xr.Dataset,
    p: NDArray[np.float64],
    *,
    corrected: NDArray[np.float64],
    floor: NDArray[np.float64],
    family: FamilyOf,
    alpha: float,
    **where: str,
) -> Adjusted:
    """Adjust the p-values of one family as `pipeline.inference.decision` does, at the level and for the family of the report.

    Parameters
    ----------
    cube : Dataset
    p, corrected, floor
        As `decide_family` takes them.
    family : FamilyOf
    alpha : float
    **where : str
        Metric, test size and procedure.
    """
    member = family.members(cube)
    found = _max_t(cube, family, **where)
    nothing = np.full(len(member), np.nan)
    decision = decide_family(
        p,
        corrected=corrected,
        floor=floor,
        max_t=nothing if found is None else np.where(member, found.p, np.nan),
        alone=nothing if found is None else found.alone,
        replicates=0 if found is None else len(found.largest),
        alpha=alpha,
        member=member,
    )
    least = np.fmax(floor, corrected)
    if found is None or decision.by == "holm":
        return Adjusted(member, decision, floor, nothing, np.zeros(len(member), np.bool_), nothing, 0, None, least, None)
    exact = _by_exact_p(cube, found.se, metric=where["metric"], test_size=where["test_size"])
    # s is what (s + 1)/(b + 1) says.
    replicates = np.where(member, found.replicates, -1)
    if np.count_nonzero(replicates > 0) == 1:
        replicates = np.where(exact, 0, replicates)  # no other pair: p is exact
    hits = np.where(replicates > 0, np.rint(np.nan_to_num(found.p) * (replicates + 1)) - 1, 0).astype(np.int64)
    bounds = bound_counted(hits, replicates, p=np.where(member, found.p, np.nan))
    critical = critical_maximum(found.largest, alpha)
    return Adjusted(
        member,
        decision,
        floor,
        alone=found.alone,
        exact=exact,
        max_t_se=found.se,
        replicates=len(found.largest),
        critical=critical if np.isfinite(critical) else None,
        least=least,
        max_t_bounds=bounds,
    )


def _by_exact_p(cube: xr.Dataset, se: NDArray[np.float64], **where: str) -> NDArray[np.bool_]:
    """Tell which pairs max-T judges by the exact p of their wins: `pipeline.inference.unit_diagnostics.few_wins`."""
    return np.asarray(read_wins(cube, read_variable(cube, "discordant", **where), **where).few & (se > 0))


class _MaxT(NamedTuple):
    """The max-T that decides, as stored in a cube."""

    p: NDArray[np.float64]
    alone: NDArray[np.float64]
    se: NDArray[np.float64]
    largest: NDArray[np.float64]
    replicates: NDArray[np.int64]


def _max_t(cube: xr.Dataset, family: FamilyOf, **where: str) -> _MaxT | None:
    if why_no_max_t(cube, family, procedure=where["procedure"]) is not None:
        return None
    p = read_variable(cube, "p_by_adjustment", convention="two-sided-plus-one", adjustment=_MAX_T, **where)
    others = [read_variable(cube, name, **where) for name in ("p_studentised", "max_t_se", "max_t_largest", "max_t_replicates")]
    if p is None or any(values is None for values in others) or np.isnan(p).all():
        return None
    return _MaxT(*(np.asarray(values) for values in (p, *others)))


def why_no_max_t(cube: xr.Dataset, family: FamilyOf, *, procedure: str) -> str | None:
    """Say why Holm decides and not max-T, as far as cube and family tell without a look at the pairs; None where they do not.

    Cubes of older versions have another max-T than the one that decides: before version 3 one that gave all replicates of a pair
    one standard error, in version 3 one whose p of few discordant units could rise by a further win.
    """
    if not PROCEDURES[procedure].keeps_scores:
        return f"max_t: {procedure} has no replicates of all systems together; Holm controls the same error rate"
    if not family.is_of(cube):
        return "max_t: the run read it off for another family; Holm controls the same error rate"
    if not cube.attrs.get("kept"):
        return "max_t: no scores were kept"
    if int(cube.attrs.get("schema_version") or 0) < _DECIDING:
        return (
            "max_t: an older version wrote the cube, with another max-T; Holm controls the same error rate, and the study "
            "submitted again has its verdicts by max-T"
        )
    if "max_t_within" in cube.attrs:
        return _beyond_the_budget(cube)
    return None


def _beyond_the_budget(cube: xr.Dataset) -> str:
    pairs, fitting = cube.sizes["pair"], int(cube.attrs["max_t_within"])
    remedy = f"with `keep_replicates: {fitting}`" if fitting else "with fewer systems in the study"
    return f"max_t: beyond the budget for {pairs:,} pairs; {remedy} max-T decides, and Holm controls the same error rate"


def replicates_of_max_t(test_sets: Iterable[TestSetRow]) -> int:
    """Return b of p adjusted by max-T, the least of some test sets: of the kept replicates those that are drawn again."""
    return min((replicates_in_use(t.kept_replicates) for t in test_sets if t.kept_replicates), default=0)


def name_adjustment(pairs: Sequence[PairRow]) -> str:
    """Return the title of a family's adjustment, from its rows."""
    return ADJUSTMENTS[pairs[0].adjustment.by] if pairs else ADJUSTMENTS["holm"]


def title_of(pairs: Sequence[PairRow]) -> str:
    """Return adjustment and size of a family: ``max-T over 171 pairs``, and what corrects across families."""
    family = pairs[0].adjustment.family_size if pairs else 0
    across = pairs[0].adjustment.across if pairs else None
    more = f", {ACROSS_TITLES[across.by]} over {across.families:,} families" if across is not None else ""
    return f"{name_adjustment(pairs)} over {family:,} pair{'' if family == 1 else 's'}{more}"


def references(bases: Collection[str]) -> str:
    """Name the adjustments that a paragraph must cite."""
    words = {
        "max_t": "studentised step-down max-T over the kept replicates (Romano and Wolf, 2005)",
        "holm": "Holm's method over p-values corrected for few units",
    }
    return " or ".join(words[basis] for basis in ADJUSTMENTS if basis in bases) or "Holm's method"
