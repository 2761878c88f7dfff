"""Many pairs, one family: adjusted p-values. This module offers Holm and Benjamini-Hochberg; nan is not in the family."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["benjamini_hochberg", "holm"]


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
