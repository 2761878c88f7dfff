"""Exponential tilting of a sum of independent integers. This module moves the law of a sum to where it is asked about.

A sum S of independent integers has the cumulant K(θ) = log E exp(θS), and the tilted law q(s) = P(S = s) exp(θs − K(θ)) has
mean K'(θ). With K'(θ) = x a tail beyond x is no longer small: P(S > x) = exp(K(θ) − θx) Σ_{s > x} exp(−θ(s − x)) q(s), for
*every* θ. So θ decides what floating point loses, never what is computed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["Factors", "aim", "cumulants", "highest", "log_scale", "make_factor", "reflect", "tilt", "window"]

LOG_ALIAS = math.log(1e-30)
"""Logarithm of the mass that may wrap around: about 12 standard deviations on each side of a normal law."""

_CLOSE = 0.05  # of a standard deviation: any θ near the saddle point is as good as the saddle point
_STEPS = 200


class Factors(NamedTuple):
    """The law of a sum of independent draws from one or more small laws.

    Parameters
    ----------
    atoms : (atom,) int64
        Values of all laws one after the other; ascending within a law, from 0.
    chances : (atom,) float64
        Their probabilities; they sum to 1 within a law.
    starts : (factor + 1,) int64
        Where each law begins.
    powers : (factor,) int64
        How often each law is drawn from.
    """

    atoms: NDArray[np.int64]
    chances: NDArray[np.float64]
    starts: NDArray[np.int64]
    powers: NDArray[np.int64]


def make_factor(values: NDArray[np.int64], counts: NDArray[np.int64] | NDArray[np.float64], *, draws: int) -> Factors:
    """Make the law of ``draws`` draws of distinct ascending values, the first of them 0, that occur in proportion to ``counts``."""
    starts, powers = np.array([0, len(values)], np.int64), np.array([draws], np.int64)
    return Factors(values.astype(np.int64), counts / counts.sum(), starts, powers)


@njit(nogil=True, cache=True)
def highest(law: Factors) -> int:
    """Give the largest value of the sum; the smallest is 0."""
    total = 0
    for j in range(len(law.powers)):
        total += law.powers[j] * law.atoms[law.starts[j + 1] - 1]
    return total


@njit(nogil=True, cache=True)
def reflect(law: Factors) -> Factors:
    """Give the law of highest − S."""
    atoms, chances = np.empty_like(law.atoms), np.empty_like(law.chances)
    for j in range(len(law.powers)):
        start, stop = law.starts[j], law.starts[j + 1]
        for a in range(start, stop):
            atoms[start + stop - 1 - a] = law.atoms[stop - 1] - law.atoms[a]
            chances[start + stop - 1 - a] = law.chances[a]
    return Factors(atoms, chances, law.starts, law.powers)


@njit(nogil=True, cache=True)
def cumulants(law: Factors, theta: float) -> tuple[float, float, float]:
    """Give K(θ), K'(θ) and K''(θ) of the sum."""
    value, mean, variance = 0.0, 0.0, 0.0
    for j in range(len(law.powers)):
        start, stop = law.starts[j], law.starts[j + 1]
        peak = law.atoms[stop - 1] if theta >= 0 else law.atoms[start]  # exponents ≤ 0 cannot overflow
        mass, first, second = 0.0, 0.0, 0.0
        for a in range(start, stop):
            away = float(law.atoms[a] - peak)
            weight = law.chances[a] * math.exp(theta * away)
            mass += weight
            first += weight * away
            second += weight * away * away
        first /= mass
        power = law.powers[j]
        value += power * (math.log(mass) + theta * peak)
        mean += power * (peak + first)
        variance += power * max(second / mass - first * first, 0.0)
    return value, mean, variance


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def log_scale(law: Factors, theta: float, x: int) -> float:
    """Give K(θ) − θx, each law taken about its own tilted mean so that nothing large cancels."""
    value, moved = 0.0, -x
    for j in range(len(law.powers)):
        start, stop = law.starts[j], law.starts[j + 1]
        centre = _centre(law, theta, j)
        mass = 0.0
        for a in range(start, stop):
            mass += law.chances[a] * math.exp(theta * (law.atoms[a] - centre))
        value += law.powers[j] * math.log(mass)
        moved += law.powers[j] * centre
    return value + theta * moved


@njit(nogil=True, cache=True)
def tilt(law: Factors, theta: float) -> NDArray[np.float64]:
    """Give the chances of the atoms under the tilted law."""
    tilted = np.empty_like(law.chances)
    for j in range(len(law.powers)):
        start, stop = law.starts[j], law.starts[j + 1]
        centre = _centre(law, theta, j)
        mass = 0.0
        for a in range(start, stop):
            tilted[a] = law.chances[a] * math.exp(theta * (law.atoms[a] - centre))
            mass += tilted[a]
        for a in range(start, stop):
            tilted[a] /= mass
    return tilted


@njit(nogil=True, cache=True)
def window(law: Factors, theta: float, log_alias: float = LOG_ALIAS) -> tuple[int, int]:
    """Bound the tilted sum: the first and last of the values outside which it has a mass of at most 2e-30, or 2 exp(log_alias).

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
        high = min(high, (cumulants(law, theta + t)[0] - value - log_alias) / t)
        low = max(low, (value - cumulants(law, theta - t)[0] + log_alias) / t)
    return int(max(math.floor(low), 0)), int(min(math.ceil(high), top))


@njit(nogil=True, cache=True)
def _centre(law: Factors, theta: float, j: int) -> int:
    start, stop = law.starts[j], law.starts[j + 1]
    peak = law.atoms[stop - 1] if theta >= 0 else law.atoms[start]
    mass, first = 0.0, 0.0
    for a in range(start, stop):
        weight = law.chances[a] * math.exp(theta * (law.atoms[a] - peak))
        mass += weight
        first += weight * (law.atoms[a] - peak)
    return int(peak) + round(first / mass)
