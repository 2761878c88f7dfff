"""Laws with hollow atoms, tilted. This module takes them as two parts, which have one law and the number of draws from each.

All this holds for the sum given that not every draw is hollow (`factors`): with N the number of draws that are not, K comes from
the two parts and the law of N given N > 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.resampling.exact.factors import Factors, expected_hits

__all__ = ["cumulants_of_both", "log_scale_of_both", "tilt_both"]


@kernel
def _moments(law: Factors, theta: float, hollow: bool) -> tuple[float, float, float]:
    """Return the logarithm of the mass exp(θ·atom) has in one part of a law, and the tilted mean and variance of that part."""
    start, stop = law.starts[0], law.starts[1]
    while law.hollow[start] != hollow:
        start += 1
    while law.hollow[stop - 1] != hollow:
        stop -= 1
    peak = law.atoms[stop - 1] if theta >= 0 else law.atoms[start]
    mass, first, second = 0.0, 0.0, 0.0
    for a in range(start, stop):
        if law.hollow[a] == hollow:
            away = float(law.atoms[a] - peak)
            weight = law.chances[a] * math.exp(theta * away)
            mass += weight
            first += weight * away
            second += weight * away * away
    first /= mass
    return math.log(mass) + theta * peak, peak + first, max(second / mass - first * first, 0.0)


@kernel
def cumulants_of_both(law: Factors, theta: float) -> tuple[float, float, float]:
    """Return K(θ), K'(θ) and K''(θ) of the sum, from the two parts of its one law and the law of N."""
    draws = law.powers[0]
    moments = np.empty((2, 3))
    for part in range(2):  # a flag that is no constant, for which there would be code of its own
        moments[part, 0], moments[part, 1], moments[part, 2] = _moments(law, theta, part == 1)
    log_solid, mean, variance = moments[0, 0], moments[0, 1], moments[0, 2]
    log_hollow, hollow_mean, hollow_variance = moments[1, 0], moments[1, 1], moments[1, 2]
    whole = np.logaddexp(log_solid, log_hollow)
    share = math.exp(log_solid - whole)
    hits = expected_hits(draws, share)
    spread = max(hits * (1 - share + draws * share) - hits * hits, 0.0)  # variance of N
    value = draws * whole + log_solid - whole - math.log(hits) - _log_rest(law)
    return (
        value,
        hits * mean + (draws - hits) * hollow_mean,
        hits * variance + (draws - hits) * hollow_variance + spread * (mean - hollow_mean) ** 2,
    )


@kernel
def _log_rest(law: Factors) -> float:
    """Return log P(N > 0) − log n."""
    share = 0.0
    for a in range(len(law.atoms)):
        share += 0.0 if law.hollow[a] else law.chances[a]
    return math.log(share / expected_hits(int(law.powers[0]), share))


@kernel
def _tilt_part(tilted: NDArray[np.float64], law: Factors, theta: float, hollow: bool) -> None:
    centre, mass = _centre(law, theta, hollow), 0.0
    for a in range(law.starts[0], law.starts[1]):
        if law.hollow[a] == hollow:
            tilted[a] = law.chances[a] * math.exp(theta * (law.atoms[a] - centre))
            mass += tilted[a]
    for a in range(law.starts[0], law.starts[1]):
        if law.hollow[a] == hollow:
            tilted[a] /= mass


@kernel
def _balance(law: Factors, theta: float) -> tuple[int, float, float]:
    """Return the centre of the heavier part, log E exp(θ(atom − centre)) of one draw, and log of the share that is not hollow."""
    centre, other = _centre(law, theta, False), _centre(law, theta, True)
    solid, hollow = math.log(_mass(law, theta, False, centre)), math.log(_mass(law, theta, True, other))
    if solid + theta * (centre - other) > hollow:
        hollow += theta * (other - centre)
    else:
        solid += theta * (centre - other)
        centre = other
    whole = np.logaddexp(solid, hollow)
    return centre, whole, solid - whole


@kernel
def _mass(law: Factors, theta: float, hollow: bool, centre: int) -> float:
    mass = 0.0
    for a in range(law.starts[0], law.starts[1]):
        if law.hollow[a] == hollow:
            mass += law.chances[a] * math.exp(theta * (law.atoms[a] - centre))
    return mass


@kernel
def _centre(law: Factors, theta: float, hollow: bool) -> int:
    """Return the tilted mean of one part of the law, rounded."""
    return round(_moments(law, theta, hollow)[1])


@kernel
def log_scale_of_both(law: Factors, theta: float, x: int) -> float:
    """Return K(θ) − θx, taken about the tilted mean of the heavier part so that nothing large cancels."""
    centre, log_mass, log_share = _balance(law, theta)
    draws = int(law.powers[0])
    value = draws * log_mass + log_share - math.log(expected_hits(draws, math.exp(log_share))) - _log_rest(law)
    return value + theta * (draws * centre - x)


@kernel
def tilt_both(law: Factors, theta: float) -> tuple[NDArray[np.float64], float]:
    """Return the chances of the atoms under the tilted law, and the share of what is not hollow.

    Those of hollow atoms sum to 1 − share. The others sum to 1, as the share may be too small for a float.
    """
    tilted = np.empty_like(law.chances)
    log_share = _balance(law, theta)[2]
    _tilt_part(tilted, law, theta, True)
    for a in range(len(tilted)):
        if law.hollow[a]:
            tilted[a] *= -math.expm1(log_share)
    _tilt_part(tilted, law, theta, False)
    return tilted, math.exp(log_share)
