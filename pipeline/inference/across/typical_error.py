"""The typical standard error of many pairs, how precisely a test set estimates it, and whether several test sets share one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.squared_differences import sum_squared_differences
from pipeline.numerics.special import fdtrc

__all__ = ["WelchTest", "typical_log_error", "welch_test"]

_ROUNDING = 1e-9


def typical_log_error(influence: NDArray[np.float64], pairs: NDArray[np.int64]) -> float | None:
    """Return the standard error of the mean logarithm of the standard errors of pairs, as units of a test set are drawn.

    With z_su the influence of unit u on the score of system s, centred, and σ_p² the variance of z_su − z_tu of the pair p = (s,
    t), a unit moves the mean of log σ_p by ½ mean_p ((z_su − z_tu)² / σ_p² − 1) / n: the infinitesimal jackknife (Efron &
    Tibshirani 1993, chapter 21, doi:10.1201/9780429246593). All pairs share the units, so a thousand pairs estimate it no better
    than one.

    Parameters
    ----------
    influence : (system, unit) float64
        Scores without each unit, or anything linear in them.
    pairs : (pair, 2) int64
        Pairs whose differences do not vary are left out.

    Returns
    -------
    float or None
        None if no pair varies, if there are fewer than three units, or if all units agree up to rounding.

    Examples
    --------
    >>> z = np.array([[1.0, -1.0, 3.0, -3.0], [0.0, 0.0, 0.0, 0.0]])
    >>> round(typical_log_error(z, np.array([[0, 1]])), 6)  # ½ (d²/σ² − 1) is −.4, −.4, .4, .4
    0.23094
    """
    systems, units = influence.shape
    if units < 3 or not len(pairs):
        return None
    centred = influence - influence.mean(axis=1, keepdims=True)
    summed, alone = sum_squared_differences(centred, pairs)
    varies, variance = summed > 0, summed / units
    if not varies.any():
        return None
    first, second = pairs[varies & ~alone].T
    inverse = np.zeros((systems, systems))
    np.add.at(inverse, (first, second), 1 / variance[varies & ~alone])
    inverse += inverse.T
    # Σ over pairs of (z_s − z_t)² / σ², without an array of pairs × units; near copies would cancel in it.
    squares = inverse.sum(axis=1) @ centred**2 - np.einsum("su,su->u", centred, inverse @ centred)
    for place in np.flatnonzero(varies & alone).tolist():
        squares += (centred[pairs[place, 0]] - centred[pairs[place, 1]]) ** 2 / variance[place]
    moved = (squares / varies.sum() - 1) / 2
    error = float(moved.std(ddof=1) / np.sqrt(units))
    return error if error > _ROUNDING else None


@dataclass(frozen=True)
class WelchTest:
    """Whether several estimates of unequal precision agree on one value.

    Parameters
    ----------
    mean : float
        Weighted by precision.
    statistic, p : float
        F and its upper tail.
    freedom : tuple of float
        Degrees of freedom of F.
    """

    mean: float
    statistic: float
    p: float
    freedom: tuple[float, float]


def welch_test(values: Sequence[float], errors: Sequence[float], freedoms: Sequence[float]) -> WelchTest | None:
    """Test whether independent estimates have one expectation (Welch 1951, doi:10.1093/biomet/38.3-4.330).

    Parameters
    ----------
    values, errors, freedoms : sequence of float
        Estimates, their standard errors, and the degrees of freedom of these.

    Returns
    -------
    WelchTest or None
        None for fewer than two estimates, or if one has no error.

    Examples
    --------
    >>> found = welch_test([1.0, 3.0], [0.3, 0.4], [20, 20])
    >>> round(found.statistic, 6), found.freedom[0]  # Welch's t, squared
    (16.0, 1.0)
    """
    count = len(values)
    if count < 2 or min(errors) <= 0:
        return None
    weight = 1 / np.square(np.asarray(errors, np.float64))
    total = float(weight.sum())
    mean = float(weight @ np.asarray(values) / total)
    between = float(weight @ (np.asarray(values) - mean) ** 2) / (count - 1)
    lack = float(np.sum((1 - weight / total) ** 2 / np.asarray(freedoms, np.float64)))
    statistic = between / (1 + 2 * (count - 2) / (count**2 - 1) * lack)
    freedom = (float(count - 1), (count**2 - 1) / (3 * lack))
    return WelchTest(mean, statistic, float(fdtrc(*freedom, statistic)), freedom)
