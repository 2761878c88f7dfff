"""Many pairs, one family: p-values adjusted for their number. Many families: adjusted once more. nan is not in the family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass

__all__ = [
    "ACROSS",
    "ADJUSTMENTS",
    "AcrossFamilies",
    "Adjustment",
    "adjust_across_families",
    "any_false_rejection",
    "benjamini_hochberg",
    "bonferroni",
    "holm",
    "holm_of_decided",
]


def bonferroni(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjust p-values so that the expected number of false rejections is at most the level, whatever their dependence.

    p · K, at most 1 (Dunn 1961, doi:10.1080/01621459.1961.10482090). Holm rejects everything that this does, and more.

    Parameters
    ----------
    p : (pair,) float64
        nan where a pair has none; it stays nan and is not counted in K.

    Examples
    --------
    >>> bonferroni(np.array([0.01, 0.04, np.nan, 0.03])).tolist()
    [0.03, 0.12, nan, 0.09]
    """
    return np.minimum(p * np.count_nonzero(_members(p)), 1.0)


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjust p-values so that the chance of any false rejection is at most the level, whatever their dependence.

    Step-down: p_(i) · (K − i + 1), made monotone, at most 1 (Holm 1979, https://www.jstor.org/stable/4615733).

    Parameters
    ----------
    p : (pair,) float64
        nan where a pair has none; it stays nan and is not counted in K.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, np.nan, 0.03])).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    return _adjust(p, lambda ordered: np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1)))


def holm_of_decided(p: NDArray[np.float64], undecided: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Adjust p-values as `holm` does, where some are no evidence however small: these release no share of the level to others.

    Parameters
    ----------
    p : (pair,) float64
        nan where a pair has none.
    undecided : (pair,) bool
        The pair has no verdict (`pipeline.inference.unit_diagnostics.undecided`): its own adjusted p shows what would have been
        claimed, and for the others it counts among the K with p = 1.

    Examples
    --------
    >>> holm_of_decided(np.array([0.01, 0.04]), np.array([True, False])).tolist()
    [0.02, 0.08]
    """
    return np.where(undecided, holm(p), holm(np.where(undecided & ~np.isnan(p), 1.0, p)))


def benjamini_hochberg(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjust p-values so that the expected share of false rejections is at most the level.

    Step-up: p_(i) · K / i, made monotone from the largest (Benjamini & Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x).
    Valid under independence or positive dependence.

    Parameters
    ----------
    p : (pair,) float64
        nan where a pair has none; it stays nan and is not counted in K.

    Examples
    --------
    >>> benjamini_hochberg(np.array([0.01, 0.04, np.nan, 0.02])).tolist()
    [0.03, 0.04, nan, 0.03]
    """

    def step_up(ordered: NDArray[np.float64]) -> NDArray[np.float64]:
        scaled = ordered * len(ordered) / np.arange(1, len(ordered) + 1)
        return np.minimum.accumulate(scaled[::-1])[::-1]

    return _adjust(p, step_up)


def _members(p: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which pairs of a family have a p-value, and refuse what is none."""
    if p.ndim != 1:
        raise ValueError(f"p-values of one family have 1 dimension, not {p.ndim}")
    if np.any((p < 0) | (p > 1)):
        raise ValueError(f"p-values lie in 0 … 1, not {np.nanmin(p)} … {np.nanmax(p)}")
    return ~np.isnan(p)


def _adjust(p: NDArray[np.float64], adjust_ordered: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> NDArray[np.float64]:
    members = np.flatnonzero(_members(p))
    order = members[np.argsort(p[members], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(adjust_ordered(p[order]), 1.0)
    return adjusted


@dataclass(frozen=True)
class Adjustment:
    """What an adjustment guarantees.

    Parameters
    ----------
    controls : str
        What is at most α.
    assumes : str
        Under which condition.
    reference : str
    of_p : callable or None
        The function of the p-values of a family; None if it needs the replicates of all pairs at once.
    """

    controls: str
    assumes: str
    reference: str
    of_p: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None


_ANY_ERROR = "the chance of any false rejection in the family"

ADJUSTMENTS: Mapping[str, Adjustment] = {
    "max_t": Adjustment(
        _ANY_ERROR,
        "the replicates have the law of the errors, all pairs together; their dependence is used",
        "Westfall and Young 1993; Romano and Wolf 2005, doi:10.1198/016214504000000539",
        None,
    ),
    "holm": Adjustment(_ANY_ERROR, "valid p-values, any dependence", "Holm 1979, https://www.jstor.org/stable/4615733", holm),
    "benjamini_hochberg": Adjustment(
        "the expected share of false ones among the rejections",
        "valid p-values, independent or positively dependent; pairs that share a system are not always so",
        "Benjamini and Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x",
        benjamini_hochberg,
    ),
    "bonferroni": Adjustment(
        "the expected number of false rejections in the family",
        "valid p-values, any dependence",
        "Dunn 1961, doi:10.1080/01621459.1961.10482090",
        bonferroni,
    ),
}
"""By name. `pipeline.inference.multiple_comparisons.max_t` computes the first, which is no function of p-values."""


@dataclass(frozen=True, eq=False)
class AcrossFamilies:
    """Families that are tested together: each at one level, ``share`` · α, by p-values that are adjusted within it.

    Parameters
    ----------
    p : tuple of (pair,) float64
        For each family, adjusted within and across: compare with α; nan where a pair has none.
    any_pair : (family,) float64
        p of "no pair of the family differs": its smallest p, corrected over the families by Holm or Benjamini and Hochberg; nan
        without a p.
    families : int
        F, those with a p.
    share : float
        The share of α at which each family is tested; 1 for a single family.
    """

    p: tuple[NDArray[np.float64], ...]
    any_pair: NDArray[np.float64]
    families: int
    share: float


def _holm_across(within: Sequence[NDArray[np.float64]], alpha: float) -> AcrossFamilies:
    """Test each family at α / (families that are not rejected as a whole), until no more are."""
    largest, smallest = _ends(within)
    whole = holm(largest)  # at what level a family is rejected as a whole
    total = int(np.isfinite(whole).sum())
    # With j families gone, which takes the j-th smallest of those levels, F − j of them share α.
    gone = np.concatenate([[0.0], np.sort(whole[np.isfinite(whole)])])[: max(total, 1)]
    left = max(total, 1) - np.arange(len(gone))
    p = tuple(
        np.where(np.isfinite(of), np.minimum(np.maximum(gone, left * of[:, None]).min(axis=1), min(end, 1.0)), np.nan)
        for of, end in zip(within, whole.tolist(), strict=True)
    )
    return AcrossFamilies(p, holm(smallest), total, float(1 / left[gone <= alpha][-1]))


def _benjamini_bogomolov(within: Sequence[NDArray[np.float64]], alpha: float) -> AcrossFamilies:
    """Select R families by Benjamini and Hochberg, and test each of them at R α / F."""
    selected = benjamini_hochberg(_ends(within)[1])
    total = int(np.isfinite(selected).sum())
    # From the r-th smallest of these levels on, r families or more are selected.
    at, ranks = np.sort(selected[np.isfinite(selected)]), np.arange(1, total + 1)
    p = tuple(
        np.where(np.isfinite(of), np.maximum(at, total * of[:, None] / ranks).min(axis=1, initial=1.0), np.nan) for of in within
    )
    return AcrossFamilies(p, selected, total, max(int((at <= alpha).sum()), 1) / max(total, 1))


def _ends(within: Sequence[NDArray[np.float64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest and the smallest p of each family; nan of one without any."""
    finite = [p[np.isfinite(p)] for p in within]
    largest = np.array([p.max() if len(p) else np.nan for p in finite], np.float64)
    return largest, np.array([p.min() if len(p) else np.nan for p in finite], np.float64)


ACROSS: Mapping[str, Adjustment] = {
    "holm": Adjustment(
        "the chance of any false rejection in any family",
        "p-values adjusted within each family for the chance of any false rejection; any dependence",
        "Holm 1979, https://www.jstor.org/stable/4615733; Goeman and Solari 2010, doi:10.1214/10-AOS829",
        None,
    ),
    "benjamini-bogomolov": Adjustment(
        "the expected share of families with a false rejection among the families with any rejection",
        "the same p-values, of families that are independent or positively dependent",
        "Benjamini and Bogomolov 2014, doi:10.1111/rssb.12028",
        None,
    ),
}
"""Corrections across families, by name; none of them is a function of the p-values of one family."""

_COMPUTED = {"holm": _holm_across, "benjamini-bogomolov": _benjamini_bogomolov}


def adjust_across_families(within: Sequence[NDArray[np.float64]], *, by: str, alpha: float) -> AcrossFamilies:
    """Adjust p-values once more, for the number of families.

    *holm*: each of F families is tested at α/F; one that is rejected as a whole leaves, and the others share its part. This is a
    sequentially rejective procedure (Goeman and Solari 2010, doi:10.1214/10-AOS829), and Holm's own where each family has one pair.
    Rejecting families by Holm over their smallest p and then testing within them at α would be wrong: with F families that have one
    large effect each, some true null would be rejected with a chance near 1 − (1 − α)^F.

    *benjamini-bogomolov*: the R families that Benjamini and Hochberg's procedure selects by their smallest p, each tested at
    R α/F (Benjamini and Bogomolov 2014, doi:10.1111/rssb.12028).

    Parameters
    ----------
    within : sequence of (pair,) float64
        For each family, adjusted within it by max-T or Holm, so that rejecting at p ≤ α makes any false rejection with a chance of
        at most α, for every α. nan where a pair has none.
    by : str
        A name in `ACROSS`.
    alpha : float
        The level for which ``share`` is given; no p depends on it.

    Examples
    --------
    >>> families = [np.array([0.001, 0.012]), np.array([0.02, 0.6]), np.array([0.03])]
    >>> found = adjust_across_families(families, by="holm", alpha=0.05)
    >>> [p.round(3).tolist() for p in found.p], round(found.share, 3)
    ([[0.003, 0.036], [0.04, 0.6], [0.06]], 0.5)
    >>> found = adjust_across_families(families, by="benjamini-bogomolov", alpha=0.05)
    >>> [p.round(3).tolist() for p in found.p], found.share
    ([[0.003, 0.03], [0.03, 0.6], [0.03]], 1.0)
    """
    if by not in _COMPUTED:
        raise ValueError(f"corrections across families are {', '.join(_COMPUTED)}, not {by}")
    for p in within:
        if np.any((p < 0) | (p > 1)):
            raise ValueError(f"p-values lie in 0 … 1, not {np.nanmin(p)} … {np.nanmax(p)}")
    return _COMPUTED[by](within, alpha)


def any_false_rejection(alpha: float, families: int) -> float:
    """Return 1 − (1 − α)^F: the chance that any of F independent families without a difference rejects at α.

    Examples
    --------
    >>> round(any_false_rejection(0.05, 8), 4)
    0.3366
    """
    return float(-np.expm1(families * np.log1p(-alpha)))
