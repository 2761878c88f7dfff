"""A line through the logarithms of gain and of the number of units, and how many units a gain needs by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pipeline.dataclass import dataclass
from pipeline.numerics.special import stdtr

__all__ = ["FEWEST_SIZES", "QUANTITIES", "Line", "fit_line", "fit_points"]

FEWEST_SIZES = 3
"""Test sizes with a value: a line needs them."""

QUANTITIES = {"gain": "threshold", "se_gain": "threshold by se", "median_se": "median se"}
"""What a line is laid through, by the keys of the points."""

_THRESHOLDS = ("gain", "se_gain")
_SQUARE_ROOT = -0.5
_EXACT = 1e-12


def fit_points(points: Sequence[Mapping[str, Any]], quantity: str, gains: Sequence[float] | None) -> dict[str, Any]:
    """Return the line through one quantity of the points of a curve, and the units that gains need by it; or why there is none.

    Parameters
    ----------
    points : sequence of mapping
        With ``units`` and the quantity; points without it are left out.
    quantity : str
        A key of `QUANTITIES`.
    gains : sequence of float, optional
        By default a quarter and a half of the quantity at the most units.
    """
    there = [(point["units"], point[quantity]) for point in points if point[quantity]]
    line = fit_line([n for n, _ in there], [value for _, value in there])
    if line is None:
        reason = f"{len(there)} test size{'' if len(there) == 1 else 's'} with a value: a line needs {FEWEST_SIZES}"
        empty = dict.fromkeys(("slope", "slope_se", "intercept", "p_square_root", "c"))
        return {"quantity": quantity, **empty, "sizes": len(there), "units_for": [], "reason": reason}
    asked = (_usual_gains(max(there)[1]) if gains is None else gains) if quantity in _THRESHOLDS else ()
    needed = [{"gain": gain, "by_fit": line.units_for(gain), "by_root": line.units_by_root(gain)} for gain in asked]
    return {
        "quantity": quantity,
        "slope": line.slope,
        "slope_se": line.slope_se,
        "intercept": line.intercept,
        "p_square_root": line.p_square_root,
        "c": line.c,
        "sizes": line.sizes,
        "units_for": needed,
        "reason": None if line.p_square_root is not None else "no test of the slope: the points lie on a line",
    }


def _usual_gains(threshold: float) -> tuple[float, float]:
    """Return a quarter and a half of a threshold, in round numbers.

    Examples
    --------
    >>> _usual_gains(0.08499)
    (0.021, 0.042)
    """
    half = float(f"{threshold / 2:.2g}")
    return half / 2, half


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
        """Return the number of units at which the line reaches a gain; None where it does not fall."""
        if self.slope >= -_EXACT:
            return None
        exponent = (float(np.log(gain)) - self.intercept) / self.slope
        return float(np.exp(exponent)) if exponent < 50 else None

    def units_by_root(self, gain: float) -> float:
        """Return the number of units at which c/√n reaches a gain."""
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
    exact = slope_se < _EXACT
    p = None if exact else 2 * float(stdtr(freedom, -abs(slope - _SQUARE_ROOT) / slope_se))
    return Line(slope, 0.0 if exact else slope_se, intercept, p, float(np.exp(np.mean(y + x / 2))), len(x))
