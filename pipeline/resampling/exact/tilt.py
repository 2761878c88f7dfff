"""Exponential tilting of a sum of independent integers: its law, shifted towards the threshold of interest.

A sum S of independent integers has the cumulant K(θ) = log E exp(θS), and the tilted law q(s) = P(S = s) exp(θs − K(θ)) has mean
K'(θ). With K'(θ) = x a tail beyond x is no longer small: P(S > x) = exp(K(θ) − θx) Σ_{s > x} exp(−θ(s − x)) q(s), for *every* θ.
So θ decides what floating point loses, never what is computed.

There are two sets of kernels. Most laws have no hollow atoms (`factors`), and theirs (`…_of_whole`) are plain loops: compiling
the others as well would double the time of the first comparison. A law with hollow atoms (`…_of_both`) is taken as two parts,
which have one law and the number of draws from each: with N the number of draws that are not hollow, K comes from the two parts
and the law of N given N > 0. `cumulants`, `log_scale` and `tilt` choose between the two.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.resampling.exact.factors import Factors, expected_hits, highest, is_partial

__all__ = ["LOG_ALIAS", "aim", "cumulants", "log_scale", "log_scale_of_whole", "tilt", "tilt_whole", "window"]


@kernel
def _cumulants_of_whole(law: Factors, theta: float) -> tuple[float, float, float]:
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
def _cumulants_of_both(law: Factors, theta: float) -> tuple[float, float, float]:
    """Return K(θ), K'(θ) and K''(θ) of the sum, from the two parts of its one law and the law of N."""
    draws = law.powers[0]
    moments = np.empty((2, 3))
    for part in range(2):  # not a constant, for which separate code would be compiled
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
    centre, mass = _centre_of_part(law, theta, hollow), 0.0
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
    centre, other = _centre_of_part(law, theta, False), _centre_of_part(law, theta, True)
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
def _centre_of_part(law: Factors, theta: float, hollow: bool) -> int:
    """Return the tilted mean of one part of the law, rounded."""
    return round(_moments(law, theta, hollow)[1])


@kernel
def _log_scale_of_both(law: Factors, theta: float, x: int) -> float:
    """Return K(θ) − θx, taken about the tilted mean of the heavier part so that nothing large cancels."""
    centre, log_mass, log_share = _balance(law, theta)
    draws = int(law.powers[0])
    value = draws * log_mass + log_share - math.log(expected_hits(draws, math.exp(log_share))) - _log_rest(law)
    return value + theta * (draws * centre - x)


@kernel
def _tilt_both(law: Factors, theta: float) -> tuple[NDArray[np.float64], float]:
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


LOG_ALIAS = math.log(1e-30)
"""Logarithm of the mass that may wrap around: about 12 standard deviations on each side of a normal law."""

_CLOSE = 0.05  # of a standard deviation: any θ near the saddle point is as good as the saddle point
_STEPS = 200


@kernel
def cumulants(law: Factors, theta: float) -> tuple[float, float, float]:
    """Return K(θ), K'(θ) and K''(θ) of the sum."""
    return _cumulants_of_both(law, theta) if is_partial(law) else _cumulants_of_whole(law, theta)


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
    return _log_scale_of_both(law, theta, x) if is_partial(law) else log_scale_of_whole(law, theta, x)


def tilt(law: Factors, theta: float) -> tuple[NDArray[np.float64], float]:
    """Return the chances of the atoms under the tilted law, and the share of what is not hollow.

    Those of hollow atoms sum to 1 − share. The others sum to 1 within a law, as the share may be too small for a float.
    """
    return _tilt_both(law, theta) if is_partial(law) else (tilt_whole(law, theta), 1.0)


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
