"""Which pairs are one family, and the adjusted p-values by which they are judged, as a report asks for them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.inference.decision import Bounds, Decision, bound_counted, decide_family
from pipeline.inference.studentised_max_t import replicates_again
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.cube_facts import read_variable
from pipeline.report.rows import PairRow

__all__ = ["ACROSS_TITLES", "ADJUSTMENTS", "Adjusted", "FamilyOf", "adjust", "name_adjustment", "references", "title_of"]

ADJUSTMENTS = {"max_t": "max-T", "holm": "Holm"}
"""Whose adjusted p decides, by the name in ``adjustment.by``, and what it is called."""

ACROSS_TITLES = {"holm": "Holm", "benjamini-bogomolov": "Benjamini and Bogomolov"}
"""Corrections across families, by the name in ``adjustment.across.by``, and what they are called."""

_MAX_T = "max-t"  # in cubes


@dataclass(frozen=True)
class FamilyOf:
    """What is tested together, as a study asks it.

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
        """Return the family as a signature has it."""
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
    least : (pair,) float64
        What no p of a pair by itself is below: its floor, or p corrected for few units.
    max_t_bounds : Bounds or None
        Of the max-T p, at the level of `pipeline.inference.decision`; None where Holm decides, or b is not known.
    """

    member: NDArray[np.bool_]
    decision: Decision
    floor: NDArray[np.float64]
    least: NDArray[np.float64]
    max_t_bounds: Bounds | None


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
    max_t, replicates = _max_t(cube, family, member, **where)
    own = np.where(member, p, np.nan)
    again = 0 if replicates is None else replicates_again(int(cube.attrs.get("kept") or 0))
    decision = decide_family(own, corrected=corrected, floor=floor, max_t=max_t, replicates=again, alpha=alpha)
    bounds = None
    if decision.by != "holm" and replicates is not None:
        # s is what (s + 1)/(b + 1) says.
        hits = np.where(replicates > 0, np.rint(np.nan_to_num(max_t) * (replicates + 1)) - 1, 0).astype(np.int64)
        bounds = bound_counted(hits, replicates, p=max_t)
    return Adjusted(member, decision, floor, np.fmax(floor, corrected), bounds)


def _max_t(
    cube: xr.Dataset, family: FamilyOf, member: NDArray[np.bool_], **where: str
) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    nothing = np.full(len(member), np.nan)
    if not family.is_of(cube) or "adjustment" not in cube.coords or _MAX_T not in cube["adjustment"].values.tolist():
        return nothing, None
    p = read_variable(cube, "p_by_adjustment", convention="two-sided-plus-one", adjustment=_MAX_T, **where)
    replicates = read_variable(cube, "max_t_replicates", **where)
    if p is None or replicates is None or not PROCEDURES[where["procedure"]].keeps_scores:
        return nothing, None
    return np.where(member, p, np.nan), np.where(member, replicates, -1).astype(np.int64)


def name_adjustment(pairs: Sequence[PairRow]) -> str:
    """Return what the adjustment of a family is called, from its rows."""
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
