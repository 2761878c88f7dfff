"""Characteristic functions of tilted sums, frequency by frequency. This module leaves early where one vanishes.

No lattice is needed: a value enters by its own phase, 2π·(k·value mod points)/points, in integers. A frequency at which a
product is below exp(−40) is known to be so after a few dozen atoms: the others add at most what chance they have.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.resampling.exact.factors import Factors, expected_hits
from pipeline.resampling.exact.ring import power_of_both
from pipeline.resampling.exact.tilt import tilt

__all__ = ["LANES", "LOG_VANISHED", "evaluate", "evaluate_both", "sharpest_first", "tabulate_roots", "turn"]

LANES = 64
"""Frequencies at a time: 8 coarse times 8 fine roots of unity."""

LOG_VANISHED = -40.0
"""Logarithm of what is left out."""

_HALF = 8


def sharpest_first(law: Factors, theta: float) -> tuple[Factors, float]:
    """Return what `tilt` gives with the likeliest atoms and the highest powers first: so a product vanishes soonest."""
    chances, share = tilt(law, theta)
    factor = np.repeat(np.arange(len(law.powers)), np.diff(law.starts))
    rank = np.argsort(np.argsort(-law.powers, kind="stable"), kind="stable")
    order = np.lexsort((-np.where(law.hollow, 1.0, share) * chances, rank[factor]))
    powers = np.sort(law.powers)[::-1].copy()
    sizes = np.diff(law.starts)[np.argsort(rank)]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return Factors(law.atoms[order], chances[order], law.hollow[order], starts, powers), share


@kernel
def turn(k: int, step: int, points: int) -> float:
    """Return 2π·k·step/points less whole turns, between ±π: the product may overflow int64, its remainder does not."""
    rest = k * step - round(k * (step / points)) * points
    return 2 * math.pi * (rest / points)


@kernel
def tabulate_roots(steps: NDArray[np.int64], points: int) -> NDArray[np.float64]:
    """Tabulate cos and sin of 0 to 7 steps, and of 0, 8, … 56 steps, of each atom."""
    roots = np.empty((len(steps), 4, _HALF))
    for a in range(len(steps)):
        for j in range(_HALF):
            fine, coarse = turn(j, steps[a], points), turn(_HALF * j, steps[a], points)
            roots[a, 0, j], roots[a, 1, j] = math.cos(fine), math.sin(fine)
            roots[a, 2, j], roots[a, 3, j] = math.cos(coarse), math.sin(coarse)
    return roots


@kernel
def evaluate(
    law: Factors,
    steps: NDArray[np.int64],
    roots: NDArray[np.float64],
    first: int,
    points: int,
    real: NDArray[np.float64],
    imaginary: NDArray[np.float64],
) -> bool:
    """Fill the characteristic function of consecutive frequencies; tell whether one of them is not below the floor."""
    real[:] = 1
    imaginary[:] = 0
    part, other = np.empty(LANES), np.empty(LANES)
    for j in range(len(law.powers)):
        power = law.powers[j]
        floor = math.exp(LOG_VANISHED / power) if power >= _HALF else 0.0  # a floor near rounding decides nothing
        rest = 1.0
        part[:] = 0
        other[:] = 0
        for a in range(law.starts[j], law.starts[j + 1]):
            _add_atom(part, other, law.chances[a], turn(first, steps[a], points), roots, a)
            rest -= law.chances[a]
            if (a & 7) == 7 and rest < floor and _largest(part, other) < floor - rest:
                return False
        if power > 1:
            for lane in range(LANES):
                part[lane], other[lane] = _power(part[lane], other[lane], power)
        for lane in range(LANES):
            x = real[lane] * part[lane] - imaginary[lane] * other[lane]
            imaginary[lane] = real[lane] * other[lane] + imaginary[lane] * part[lane]
            real[lane] = x
        if ((j & 7) == 7 or j == len(law.powers) - 1) and _largest(real, imaginary) < math.exp(LOG_VANISHED):
            return False
    return True


@kernel
def evaluate_both(
    law: Factors,
    share: float,
    steps: NDArray[np.int64],
    roots: NDArray[np.float64],
    first: int,
    points: int,
    real: NDArray[np.float64],
    imaginary: NDArray[np.float64],
) -> bool:
    """Do the same for a law with hollow atoms: |fⁿ − gⁿ| ≤ n·share·max(|f|, |g|)^(n − 1)."""
    power = law.powers[0]
    part, other = np.zeros((2, LANES)), np.zeros((2, LANES))
    floor = math.exp((LOG_VANISHED - math.log(expected_hits(power, share))) / (power - 1)) if power > _HALF else 0.0
    rest = 1.0
    for a in range(len(law.atoms)):
        row = 1 if law.hollow[a] else 0
        _add_atom(part[row], other[row], law.chances[a], turn(first, steps[a], points), roots, a)
        rest -= law.chances[a] if law.hollow[a] else share * law.chances[a]
        if (a & 7) == 7 and rest < floor:
            whole = _largest(share * part[0] + part[1], share * other[0] + other[1])
            if max(whole, _largest(part[1], other[1])) < floor - rest:
                return False
    for lane in range(LANES):
        value = power_of_both(complex(part[0, lane], other[0, lane]), complex(part[1, lane], other[1, lane]), share, power)
        real[lane], imaginary[lane] = value.real, value.imag
    return _largest(real, imaginary) >= math.exp(LOG_VANISHED)


@kernel
def _add_atom(
    part: NDArray[np.float64], other: NDArray[np.float64], chance: float, angle: float, roots: NDArray[np.float64], a: int
) -> None:
    c, s = chance * math.cos(angle), chance * math.sin(angle)
    for i in range(_HALF):
        up, down = roots[a, 2, i], roots[a, 3, i]
        x, y = c * up - s * down, c * down + s * up
        for lane in range(_HALF):
            part[_HALF * i + lane] += x * roots[a, 0, lane] - y * roots[a, 1, lane]
            other[_HALF * i + lane] += x * roots[a, 1, lane] + y * roots[a, 0, lane]


@kernel
def _largest(real: NDArray[np.float64], imaginary: NDArray[np.float64]) -> float:
    largest = 0.0
    for lane in range(len(real)):
        largest = max(largest, real[lane] * real[lane] + imaginary[lane] * imaginary[lane])
    return math.sqrt(largest)


@kernel
def _power(x: float, y: float, power: int) -> tuple[float, float]:
    result, base = complex(1.0, 0.0), complex(x, y)
    while power > 0:
        if power & 1:
            result *= base
        base *= base
        power >>= 1
    return result.real, result.imag
