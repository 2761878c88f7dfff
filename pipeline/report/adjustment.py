"""Which pairs are one family, and by which adjusted p they are judged. This module decides both, once for the whole report."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.inference.few_units import beyond_reach
from pipeline.inference.multiplicity import benjamini_hochberg, holm
from pipeline.inference.stability import Bounds, bound_counted
from pipeline.report.cube_facts import read_variable

__all__ = ["ADJUSTMENTS", "Adjusted", "FamilyOf", "adjust", "adjusted_p", "name_adjustment", "references", "title_of"]

ADJUSTMENTS = {"max_t": "max-T", "holm": "Holm"}
"""Whose adjusted p decides, by the name in ``p_adjusted.basis``, and what it is called."""

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
        """Give the family as a signature has it."""
        return f"{self.name}({pairs})" if self.baseline is None else f"{self.name}({self.baseline},{pairs})"


@dataclass(frozen=True, eq=False)
class Adjusted:
    """The pairs of one family, adjusted.

    Parameters
    ----------
    basis : str
        Of `ADJUSTMENTS`: whose p decides.
    member : (pair,) bool
    max_t, holm, benjamini_hochberg : (pair,) float64
        nan where a pair has none, and outside the family.
    beyond : (pair,) bool
        Rejected, though no exact test of so few units could be.
    max_t_bounds : Bounds or None
        Of the max-T p, at the level of `pipeline.inference.stability`; None where Holm decides, or b is not known.
    """

    basis: str
    member: NDArray[np.bool_]
    max_t: NDArray[np.float64]
    holm: NDArray[np.float64]
    benjamini_hochberg: NDArray[np.float64]
    beyond: NDArray[np.bool_]
    max_t_bounds: Bounds | None

    @property
    def decisive(self) -> NDArray[np.float64]:
        """(pair,) adjusted p-values by which verdicts are made."""
        return self.max_t if self.basis == "max_t" else self.holm


def adjust(
    cube: xr.Dataset, p: NDArray[np.float64], floor: NDArray[np.float64], family: FamilyOf, *, alpha: float, **where: str
) -> Adjusted:
    """Adjust the p-values of one family, and choose by which adjustment it is judged.

    Max-T, where the family has more than one pair and enough replicates were kept that its smallest p, 1/(b + 1), is at most α;
    else Holm. The choice depends on what was asked for, never on the data.

    Parameters
    ----------
    cube : Dataset
    p : (pair,) float64
        Two-sided, as verdicts use it.
    floor : (pair,) float64
        The smallest p of any exact test.
    family : FamilyOf
    alpha : float
    **where : str
        Metric, test size and procedure.
    """
    member = family.members(cube)
    own = np.where(member, p, np.nan)
    max_t, replicates = _max_t(cube, family, member, **where)
    size = int(np.isfinite(own).sum())
    kept = int(replicates.max(initial=0)) if replicates is not None else int(cube.attrs.get("kept") or 0)
    by_max_t = size > 1 and bool(np.isfinite(max_t).any()) and (kept + 1) * alpha >= 1
    bounds = None
    if by_max_t:
        with np.errstate(invalid="ignore"):  # nan is not rejected
            rejected = max_t <= alpha
        beyond = beyond_reach(own, floor, alpha, rejected=rejected)
        if replicates is not None:
            # s is what (s + 1)/(b + 1) says.
            hits = np.where(replicates > 0, np.rint(np.nan_to_num(max_t) * (replicates + 1)) - 1, 0).astype(np.int64)
            bounds = bound_counted(hits, replicates, p=max_t)
    else:
        beyond = beyond_reach(own, floor, alpha)
    basis = "max_t" if by_max_t else "holm"
    return Adjusted(basis, member, max_t, holm(own), benjamini_hochberg(own), beyond, bounds)


def _max_t(
    cube: xr.Dataset, family: FamilyOf, member: NDArray[np.bool_], **where: str
) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    nothing = np.full(len(member), np.nan)
    if not family.is_of(cube) or "adjustment" not in cube.coords or _MAX_T not in cube["adjustment"].values.tolist():
        return nothing, None
    p = read_variable(cube, "p_adjusted", convention="two-sided-plus-one", adjustment=_MAX_T, **where)
    replicates = read_variable(cube, "max_t_replicates", **where)
    if p is None:
        return nothing, None
    return np.where(member, p, np.nan), None if replicates is None else np.where(member, replicates, -1).astype(np.int64)


def adjusted_p(row: Mapping[str, Any]) -> float | None:
    """Give the adjusted p that a pair is judged by."""
    p: float | None = row["p_adjusted"][row["p_adjusted"]["basis"]]
    return p


def name_adjustment(pairs: Sequence[Mapping[str, Any]]) -> str:
    """Give what the adjustment of a family is called, from its rows."""
    return ADJUSTMENTS[pairs[0]["p_adjusted"]["basis"]] if pairs else ADJUSTMENTS["holm"]


def title_of(pairs: Sequence[Mapping[str, Any]]) -> str:
    """Give adjustment and size of a family: ``max-T over 171 pairs``."""
    family = pairs[0]["family_size"] if pairs else 0
    return f"{name_adjustment(pairs)} over {family:,} pair{'' if family == 1 else 's'}"


def references(bases: Collection[str]) -> str:
    """Name the adjustments that a paragraph must cite."""
    words = {
        "max_t": "step-down max-T over the kept replicates, corrected for few units (Romano and Wolf, 2005)",
        "holm": "Holm's method",
    }
    return " or ".join(words[basis] for basis in ADJUSTMENTS if basis in bases) or words["holm"]
