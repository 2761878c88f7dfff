"""Laws without hollow atoms, tilted. This module has the kernels of the many: plain loops, as what is compiled first is short.

Most laws have none. What is compiled for those that have (`hollow`) would double the time of the first comparison.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.resampling.exact.factors import Factors

__all__ = ["cumulants_of_whole", "log_scale_of_whole", "tilt_whole"]


@kernel
def cumulants_of_whole(law: Factors, theta: float) -> tuple[float, float, float]:
    """Return K(θ), K'(θ) and K''(θ) of the sum."""
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


@kernel
def log_scale_of_whole(law: Factors, theta: float, x: int) -> float:
    """Return K(θ) − θx, each law taken about its own tilted mean so that nothing large cancels."""
    value, moved = 0.0, -x
    for j in range(len(law.powers)):
        centre = _centre(law, theta, j)
        mass = 0.0
        for a in range(law.starts[j], law.starts[j + 1]):
            mass += law.chances[a] * math.exp(theta * (law.atoms[a] - centre))
        value += law.powers[j] * math.log(mass)
        moved += law.powers[j] * centre
    return value + theta * moved


@kernel
def tilt_whole(law: Factors, theta: float) -> NDArray[np.float64]:
    """Return the chances of the atoms under the tilted law; they sum to 1 within a law."""
    tilted = np.empty(len(law.chances), np.float64)
    for j in range(len(law.powers)):
        centre, mass = _centre(law, theta, j), 0.0
        for a in range(law.starts[j], law.starts[j + 1]):
            tilted[a] = law.chances[a] * math.exp(theta * (law.atoms[a] - centre))
            mass += tilted[a]
        for a in range(law.starts[j], law.starts[j + 1]):
            tilted[a] /= mass
    return tilted


@kernel
def _centre(law: Factors, theta: float, j: int) -> int:
    """Return the tilted mean of one law, rounded."""
    start, stop = law.starts[j], law.starts[j + 1]
    peak = law.atoms[stop - 1] if theta >= 0 else law.atoms[start]  # exponents ≤ 0 cannot overflow
    mass, first = 0.0, 0.0
    for a in range(start, stop):
        away = float(law.atoms[a] - peak)
        weight = law.chances[a] * math.exp(theta * away)
        mass += weight
        first += weight * away
    centre: int = round(peak + first / mass)
    return centre
