"""Many pairs, one family: p-values adjusted for their number. nan is not in the family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ADJUSTMENTS", "Adjustment", "benjamini_hochberg", "bonferroni", "holm"]


def bonferroni(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjust p-values so that the expected number of false rejections is at most the level, whatever their dependence.

    p · K, at most 1 (Dunn 1961, doi:10.1080/01621459.1961.10482090). Holm rejects whatever this does, and more.

    Parameters
    ----------
    p : (pair,) float64
        nan where a pair has none; it stays nan and is not counted in K.

    Examples
    --------
    >>> bonferroni(np.array([0.01, 0.04, np.nan, 0.03])).tolist()
    [0.03, 0.12, nan, 0.09]
    """
    return _adjust(p, lambda ordered: ordered * len(ordered))


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


def _adjust(p: NDArray[np.float64], adjust_ordered: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> NDArray[np.float64]:
    if p.ndim != 1:
        raise ValueError(f"p-values of one family have 1 dimension, not {p.ndim}")
    if np.any((p < 0) | (p > 1)):
        raise ValueError(f"p-values lie in 0 … 1, not {np.nanmin(p)} … {np.nanmax(p)}")
    members = np.flatnonzero(~np.isnan(p))
    order = members[np.argsort(p[members], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(adjust_ordered(p[order]), 1.0)
    return adjusted


@dataclass(frozen=True)
class Adjustment:
    """What an adjustment promises.

    Parameters
    ----------
    controls : str
        What is at most α.
    assumes : str
        Under which condition.
    reference : str
    of_p : callable or None
        The function of the p-values of a family; None where it needs the replicates of all pairs at once.
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
"""By name. `pipeline.inference.max_t` computes the first, which is no function of p-values."""
