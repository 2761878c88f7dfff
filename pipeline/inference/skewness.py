"""The effect of skewed gains on the tails of t, and a one-sided p that allows for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.unit_diagnostics.few_units import StudentTails

__all__ = ["skewed_tail", "unskew"]


def unskew(t: NDArray[np.float64], acceleration: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return t corrected for the skewness of the units: t + a + 2 a t² + 4/3 a² t³.

    Hall's transformation, which rises with t (1992, On the removal of skewness by transformation, J. R. Statist. Soc. B 54,
    221-228). The acceleration a is a sixth of the skewness of the units, divided by the root of their number. Where gains have a
    long tail below, t has a long one above, and its large values are reduced.

    Parameters
    ----------
    t : (...) float64
        Of a gain in a fixed direction.
    acceleration : (...) float64
        Of the gain in the same direction, from `pipeline.resampling.standard_errors.influence`; 0 where it is nan.

    Examples
    --------
    >>> unskew(np.array([3.0, 3.0, 3.0]), np.array([-0.05, 0.0, np.nan])).round(2).tolist()
    [2.14, 3.0, 3.0]
    """
    a = np.nan_to_num(acceleration)
    return np.asarray(t + a + 2 * a * t**2 + 4 / 3 * a**2 * t**3, np.float64)


def skewed_tail(t: NDArray[np.float64], acceleration: NDArray[np.float64], *, tails: StudentTails) -> NDArray[np.float64]:
    """Return the one-sided p of a fixed direction, P(T ≥ t), by Student's law: the larger of t as it is and of `unskew`.

    The skewness of few units is poorly known, so it may only reduce the evidence, never add to it.

    Parameters
    ----------
    t, acceleration
        As of `unskew`.
    tails : StudentTails

    Examples
    --------
    >>> skewed_tail(np.array([3.0, 3.0]), np.array([-0.05, 0.05]), tails=StudentTails(20)).round(4).tolist()
    [0.0228, 0.0037]
    """
    return np.maximum(tails.tail(t), tails.tail(unskew(t, acceleration)))
