"""The p-value by which a pair is judged. Every verdict, rank, letter and table asks this module, and nothing else decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.few_units import FEW_EFFECTIVE, SMALLEST
from pipeline.inference.multiplicity import benjamini_hochberg, holm

__all__ = ["AdjustedBy", "Decision", "decide_family", "without_zero"]

AdjustedBy = Literal["max_t", "holm", "max_t_and_holm"]

_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Decision:
    """The adjusted p-values of one family.

    Parameters
    ----------
    by : {"max_t", "holm", "max_t_and_holm"}
        Which adjustment decides, or the larger of both. It depends on what was asked for, on the number of units, and on whether
        any pair of the family has a max-T: where every pair is identical or gains the same on all units, Holm decides.
    p : (pair,) float64
        The adjusted p-values that decide; nan where a pair has none, and outside the family.
    own : (pair,) float64
        Two-sided p-values of each pair by itself, corrected for few units and not below their floors: what Holm and Benjamini
        and Hochberg adjust.
    max_t, holm, benjamini_hochberg : (pair,) float64
        By each adjustment.
    """

    by: AdjustedBy
    p: _Floats
    own: _Floats
    max_t: _Floats
    holm: _Floats
    benjamini_hochberg: _Floats


def decide_family(
    p: _Floats, *, corrected: _Floats, floor: _Floats, max_t: _Floats, replicates: int, units: float | None, alpha: float
) -> Decision:
    """Return the p-values by which the pairs of one family are judged.

    Step-down max-T where enough scores were kept that its smallest p, 1/(b + 1), is at most α, also of a family of one pair; else
    Holm. Both are corrected for few units, and neither goes below the floor of few discordant units. With fewer than
    `FEW_EFFECTIVE` units no p is below Holm's either.

    Parameters
    ----------
    p : (pair,) float64
        Two-sided, of the procedure itself; nan where there is none, and outside the family.
    corrected : (pair,) float64
        The same, corrected for few units; nan where no correction applies.
    floor : (pair,) float64
        From `pipeline.inference.few_units.evidence_floor`.
    max_t : (pair,) float64
        From `pipeline.inference.max_t`, of a family that knew its floors; all nan where nothing was kept.
    replicates : int
        b of max-T.
    units : float or None
        Effective ones; None where they are not known, which are taken for many.
    alpha : float

    Notes
    -----
    The floor bounds max-T twice. Pairs are ordered, and replicates are compared, with no more than the floor allows
    (`pipeline.inference.floors.reach_of_floors`), which corrects it for the number of pairs; here the floor is held against the
    result. Both make statistics smaller, never larger, and a step-down procedure stays valid then: the error rate of
    the family is bounded by that of max-T without floors.

    Max-T is below Holm by what the pairs have in common. Few units estimate that badly, as they do skewness: 15 systems with equal
    exponential scores on 20 units are separated by max-T alone in 18 % of families, of 5.

    Examples
    --------
    >>> nothing = np.full(2, np.nan)
    >>> given = {"corrected": np.array([0.03, 0.2]), "floor": np.array([0.07, 0.0]), "units": 300.0, "alpha": 0.05}
    >>> decide_family(np.array([0.01, 0.1]), **given, max_t=nothing, replicates=0).p.tolist()
    [0.14, 0.2]
    >>> decide_family(np.array([0.01, 0.1]), **given, max_t=np.array([0.05, 0.21]), replicates=999).p.tolist()
    [0.07, 0.21]
    """
    if not p.shape == corrected.shape == floor.shape == max_t.shape:
        raise ValueError(f"p {p.shape}, corrected {corrected.shape}, floor {floor.shape}, max_t {max_t.shape} are of other pairs")
    own = np.maximum(np.fmax(without_zero(p), corrected), floor)
    own = np.where(np.isfinite(p), own, np.nan)
    adjusted = np.where(np.isfinite(p), np.maximum(max_t, floor), np.nan)
    by_holm = holm(own)
    by: AdjustedBy = "holm"
    if np.isfinite(adjusted).any() and (replicates + 1) * alpha >= 1:
        by = "max_t_and_holm" if units is not None and units < FEW_EFFECTIVE else "max_t"
    decides = {"max_t": adjusted, "holm": by_holm, "max_t_and_holm": np.maximum(adjusted, by_holm)}[by]
    return Decision(by, decides, own, adjusted, by_holm, benjamini_hochberg(own))


def without_zero(p: _Floats) -> _Floats:
    """Return p-values with the smallest float in place of 0: nothing that was observed has a chance of 0.

    Examples
    --------
    >>> without_zero(np.array([0.0, 0.5])).tolist()
    [5e-324, 0.5]
    """
    return np.where(p == 0, SMALLEST, p)
