"""Exponential tilting of a sum of independent integers. This module moves the law of a sum to where it is asked about.

A sum S of independent integers has the cumulant K(θ) = log E exp(θS), and the tilted law q(s) = P(S = s) exp(θs − K(θ)) has
mean K'(θ). With K'(θ) = x a tail beyond x is no longer small: P(S > x) = exp(K(θ) − θx) Σ_{s > x} exp(−θ(s − x)) q(s), for
*every* θ. So θ decides what floating point loses, never what is computed.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.resampling.exact.factors import Factors, highest, is_partial
from pipeline.resampling.exact.hollow import cumulants_of_both, log_scale_of_both, tilt_both
from pipeline.resampling.exact.whole import cumulants_of_whole, log_scale_of_whole, tilt_whole

__all__ = ["LOG_ALIAS", "aim", "cumulants", "log_scale", "tilt", "window"]

LOG_ALIAS = math.log(1e-30)
"""Logarithm of the mass that may wrap around: about 12 standard deviations on each side of a normal law."""

_CLOSE = 0.05  # of a standard deviation: any θ near the saddle point is as good as the saddle point
_STEPS = 200


@kernel
def cumulants(law: Factors, theta: float) -> tuple[float, float, float]:
    """Return K(θ), K'(θ) and K''(θ) of the sum."""
    return cumulants_of_both(law, theta) if is_partial(law) else cumulants_of_whole(law, theta)


@kernel
def aim(law: Factors, target: float) -> float:
    """Find a θ ≥ 0 with K'(θ) close to a target between the mean and the highest value of the sum: Newton, kept in a bracket."""
    theta, low, high = 0.0, 0.0, np.inf
    for _ in range(_STEPS):
        _, mean, variance = cumulants(law, theta)
        if abs(mean - target) <= _CLOSE * math.sqrt(variance):
            break
        if mean < target:
            low = theta
        else:
            high = theta
        step = theta + (target - mean) / variance if variance > 0 else np.inf
        if high == np.inf:
            theta = min(step, max(8 * theta, 8 / highest(law)))  # far out K'' vanishes and a Newton step flies off
        elif low < step < high:
            theta = step
        else:
            theta = math.sqrt(low * high) if low > 0 else high / 2
    return theta


def log_scale(law: Factors, theta: float, x: int) -> float:
    """Return K(θ) − θx."""
    return log_scale_of_both(law, theta, x) if is_partial(law) else log_scale_of_whole(law, theta, x)


def tilt(law: Factors, theta: float) -> tuple[NDArray[np.float64], float]:
    """Return the chances of the atoms under the tilted law, and the share of what is not hollow.

    Those of hollow atoms sum to 1 − share. The others sum to 1 within a law, as the share may be too small for a float.
    """
    return tilt_both(law, theta) if is_partial(law) else (tilt_whole(law, theta), 1.0)


@kernel
def window(law: Factors, theta: float, log_alias: float) -> tuple[int, int]:
    """Bound the tilted sum: the first and last of the values outside which it has a mass of at most 2 exp(log_alias).

    Chernoff: log P(S ≥ h) ≤ K(θ + t) − K(θ) − th for every t > 0. The smallest such h of a grid of t is taken, and the
    same downwards (doi:10.1214/aoms/1177729330).
    """
    value, _, variance = cumulants(law, theta)
    top = highest(law)
    if variance <= 0:
        return 0, top
    low, high = 0.0, float(top)
    scale = math.sqrt(-2 * log_alias / variance)
    for j in range(-12, 9):
        t = scale * 2 ** (j / 3)
        up = cumulants(law, theta + t)[0]
        down = cumulants(law, theta - t)[0]
        high = min(high, (up - value - log_alias) / t)
        low = max(low, (value - down + log_alias) / t)
    return int(max(math.floor(low), 0)), int(min(math.ceil(high), top))
