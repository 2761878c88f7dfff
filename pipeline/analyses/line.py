"""A straight line through logarithms. This module fits how a gain shrinks with the number of units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

__all__ = ["FEWEST_SIZES", "Line", "fit_line"]

FEWEST_SIZES = 3
SQUARE_ROOT = -0.5
EXACT = 1e-12


@dataclass(frozen=True)
class Line:
    """log gain = intercept + slope · log n, by least squares.

    Parameters
    ----------
    slope, slope_se : float
        The slope and its standard error from the residuals.
    intercept : float
        Natural logarithm of the gain at one unit.
    p_square_root : float or None
        Two-sided p of the t test that the slope is −½; None where the points lie on the line.
    c : float
        The constant of c/√n: the geometric mean of gain · √n.
    sizes : int
        Number of points.
    """

    slope: float
    slope_se: float
    intercept: float
    p_square_root: float | None
    c: float
    sizes: int

    def units_for(self, gain: float) -> float | None:
        """Give the number of units at which the line reaches a gain; None where it does not fall."""
        if self.slope >= -EXACT:
            return None
        exponent = (float(np.log(gain)) - self.intercept) / self.slope
        return float(np.exp(exponent)) if exponent < 50 else None

    def units_by_root(self, gain: float) -> float:
        """Give the number of units at which c/√n reaches a gain."""
        return (self.c / gain) ** 2


def fit_line(units: Sequence[float], gains: Sequence[float]) -> Line | None:
    """Fit a line through (log n, log gain), or give None for fewer than three sizes.

    Examples
    --------
    >>> line = fit_line([100, 400, 1600], [3.0, 1.5, 0.75])
    >>> round(line.slope, 12), round(line.c, 9), round(line.units_by_root(0.5))
    (-0.5, 30.0, 3600)
    """
    if len(set(units)) < FEWEST_SIZES:
        return None
    x, y = np.log(np.asarray(units, dtype=np.float64)), np.log(np.asarray(gains, dtype=np.float64))
    centred = x - x.mean()
    spread = float(centred @ centred)
    slope = float(centred @ y) / spread
    intercept = float(y.mean() - slope * x.mean())
    residual = y - intercept - slope * x
    freedom = len(x) - 2
    slope_se = float(np.sqrt(residual @ residual / freedom / spread))
    exact = slope_se < EXACT
    p = None if exact else 2 * float(stdtr(freedom, -abs(slope - SQUARE_ROOT) / slope_se))
    return Line(slope, 0.0 if exact else slope_se, intercept, p, float(np.exp(np.mean(y + x / 2))), len(x))
