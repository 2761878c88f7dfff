"""The gain at which pairs are borderline significant. This module holds the window estimate and the curve beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

__all__ = ["Window", "fit_logistic", "gaussian_gain", "percentile_of"]

STEPS = 50
CONVERGED = 1e-10


@dataclass(frozen=True)
class Window:
    """Which pairs are borderline, and which percentile of their gains is the threshold (Berg-Kirkpatrick 2012, §3.1.1)."""

    low: float = 0.04
    high: float = 0.06
    percentile: float = 95.0

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high <= 1:
            raise ValueError(f"the window [{self.low}, {self.high}] must be two increasing numbers between 0 and 1")
        if not 0 <= self.percentile <= 100:
            raise ValueError(f"the percentile {self.percentile} must be between 0 and 100")

    @property
    def z(self) -> float:
        """The standard normal quantile at the window's middle, 1.645 by default."""
        return -float(ndtri((self.low + self.high) / 2))

    def holds(self, p: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Say which p-values are in the window, its ends included."""
        return (p >= self.low) & (p <= self.high)


def percentile_of(gains: NDArray[np.float64], percentile: float) -> float | None:
    """Give the type 7 percentile (NumPy's and R's default) of the gains, or None where there are none.

    Examples
    --------
    >>> percentile_of(np.array([4.0, 1.0, 2.0, 3.0]), 75.0)
    3.25
    """
    return float(np.percentile(gains, percentile, method="linear")) if len(gains) else None


def gaussian_gain(se: NDArray[np.float64], window: Window) -> float | None:
    """Give the median gain expected in the window if differences were Gaussian: z times the median se."""
    return window.z * float(np.median(se)) if len(se) else None


def fit_logistic(gain: NDArray[np.float64], significant: NDArray[np.bool_], *, share: float) -> tuple[float | None, str | None]:
    """Give the gain at which the fitted chance of ``p ≤ α`` reaches ``share``, or the reason why there is none.

    All pairs enter, not those in the window alone: logit P(p ≤ α) = β₀ + β₁ · gain, by Newton's method from zero, so that the
    same pairs give the same bits.
    """
    if significant.all() or not significant.any():
        return None, "no curve: every pair is on the same side of α"
    if gain[significant].min() >= gain[~significant].max():
        return None, "no curve: the gain alone separates the pairs with p ≤ α from the others"
    scale = float(gain.std())
    if scale == 0:
        return None, "no curve: all gains are equal"
    centre = float(gain.mean())
    design = np.column_stack([np.ones_like(gain), (gain - centre) / scale])
    beta = np.zeros(2)
    for _ in range(STEPS):
        fitted = expit(design @ beta)
        curvature = design.T @ (design * (fitted * (1 - fitted))[:, None])
        step = np.linalg.solve(curvature + 1e-12 * np.eye(2), design.T @ (significant - fitted))
        beta = beta + step
        if float(np.abs(step).max()) < CONVERGED:
            break
    else:
        return None, f"no curve: the fit did not settle in {STEPS} steps"
    if beta[1] <= 0:
        return None, "no curve: larger gains are not more often significant here"
    found = centre + scale * (float(logit(share)) - float(beta[0])) / float(beta[1])
    return (found, None) if found > 0 else (None, "no curve: the fit reaches the level below a gain of 0")
