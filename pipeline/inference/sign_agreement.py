"""How often the sign of a gain on a drawn test set is that of the population: the share expected, and the error of a share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

__all__ = ["expected_agreement", "share_error"]


def expected_agreement(effects: NDArray[np.float64], low: float, high: float) -> float | None:
    """Return the share of gains with p in an interval that have the right sign, where gains are Gaussian.

    A pair with the true gain Δ_j and the standard error σ_j of its gain on a drawn test set has the effect μ_j = |Δ_j| / σ_j. Its
    observed gain over σ_j is Gaussian with mean μ_j and variance 1; the pair is turned so that it is not negative, and its p,
    one-sided, is then 1 − Φ(z). With z₁ and z₂ the values of z at p = ``high`` and ``low``, the share is

        Σ_j [Φ(z₂ − μ_j) − Φ(z₁ − μ_j)] / Σ_j [Φ(z₂ − μ_j) − Φ(z₁ − μ_j) + Φ(z₂ + μ_j) − Φ(z₁ + μ_j)].

    It is ½ without effects and 1 where all are large: the share says how large effects are, not whether p is right.

    Parameters
    ----------
    effects : (pair,) float64
        μ_j, not negative.
    low, high : float
        Ends of the interval of p.

    Returns
    -------
    float or None
        None where no such p can be expected.

    Examples
    --------
    >>> expected_agreement(np.array([0.0]), 0.04, 0.06)
    0.5
    >>> round(expected_agreement(np.array([1.6]), 0.04, 0.06), 3)
    0.995
    """
    upper = np.inf if low <= 0 else -float(ndtri(low))
    lower = max(-float(ndtri(high)), 0.0) if high < 1 else 0.0  # turned pairs have z of at least 0
    if upper <= lower or not len(effects):
        return None
    right = float(np.sum(ndtr(upper - effects) - ndtr(lower - effects)))
    wrong = float(np.sum(ndtr(upper + effects) - ndtr(lower + effects)))
    return right / (right + wrong) if right + wrong > 0 else None


def share_error(
    hits: NDArray[np.bool_], first: NDArray[np.int64], second: NDArray[np.int64], drawn: NDArray[np.int64]
) -> float | None:
    """Return the standard error of a share of pairs on drawn test sets, where pairs share systems and test sets.

    Two observations are dependent if they have a system in common or come from one test set, so

        V = V_systems + V_draws − V_both,

    each the sum of r_i r_k over such observations i and k, with r the residuals over their number. Aronow, Samii & Assenova 2015,
    doi:10.1093/pan/mpv018, for pairs; Cameron, Gelbach & Miller 2011, doi:10.1198/jbes.2010.07136, for two ways at once.

    Parameters
    ----------
    hits : (observation,) bool
    first, second : (observation,) int64
        Its systems, numbered from 0.
    drawn : (observation,) int64
        Its test set, numbered from 0.

    Returns
    -------
    float or None
        None where there is no observation, or V is not positive: too few of either, or no variation.
    """
    if not len(hits):
        return None
    residual = (hits - hits.mean()) / len(hits)
    systems, sets = int(max(first.max(), second.max())) + 1, int(drawn.max()) + 1
    by_set = np.bincount(drawn, residual, sets)
    of_system = np.zeros((systems, sets))
    np.add.at(of_system, (first, drawn), residual)
    np.add.at(of_system, (second, drawn), residual)
    _, pair = np.unique(np.minimum(first, second) * systems + np.maximum(first, second), return_inverse=True)
    by_pair = np.bincount(pair, residual)
    # What two observations of one pair share is counted twice, once for each of its systems.
    share_systems = np.sum(of_system.sum(axis=1) ** 2) - np.sum(by_pair**2)
    share_both = np.sum(of_system**2) - np.sum(residual**2)
    variance = float(share_systems + np.sum(by_set**2) - share_both)
    return float(np.sqrt(variance)) if variance > 0 else None
