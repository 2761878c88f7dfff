"""Phases of atoms at many frequencies, in integers, and a test of whether a law has vanished there without all its cosines.

At nearly all frequencies of an enclosure a characteristic function is below what is left out, and to find that took all the time:
two cosines for each of some fifty atoms, at 64 frequencies at a time. Here the phases of the atoms are multiplied on from one 64 to
the next, and what they add up to is compared with the same limit, less a margin far above their rounding. Where it is close the
exact phases decide, so that no number depends on it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.resampling.exact.factors import Factors

__all__ = [
    "HALF",
    "LANES",
    "LOG_VANISHED",
    "has_surely_vanished",
    "keep_turning",
    "start_turning",
    "tabulate_roots",
    "turn",
]

LANES = 64
"""Frequencies at a time: 8 coarse times 8 fine roots of unity."""

HALF = 8
"""Roots of either kind."""

LOG_VANISHED = -40.0
"""Logarithm of what is left out."""

_CLOSE = 1e-9  # to the limit: phases that are multiplied on 2**15 times are off by some 10**-11


@kernel
def turn(k: int, step: int, points: int) -> float:
    """Return 2π·k·step/points less whole turns, between ±π: the product may overflow int64, its remainder does not."""
    rest = k * step - round(k * (step / points)) * points
    return 2 * math.pi * (rest / points)


@kernel
def tabulate_roots(steps: NDArray[np.int64], points: int) -> NDArray[np.float64]:
    """Tabulate cos and sin of 0 to 7 steps, and of 0, 8, … 56 steps, of each atom."""
    roots = np.empty((len(steps), 4, HALF))
    for a in range(len(steps)):
        for j in range(HALF):
            fine, coarse = turn(j, steps[a], points), turn(HALF * j, steps[a], points)
            roots[a, 0, j], roots[a, 1, j] = math.cos(fine), math.sin(fine)
            roots[a, 2, j], roots[a, 3, j] = math.cos(coarse), math.sin(coarse)
    return roots


@kernel
def start_turning(
    steps: NDArray[np.int64], roots: NDArray[np.float64], points: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the phases of atoms at frequency 0 and how they turn: by `LANES` frequencies, and by each of fewer.

    Returns
    -------
    turns : (4, atom) float64
        Cosine and sine of both.
    lanes : (atom, 2, lane) float64
    """
    turns, lanes = np.empty((4, len(steps))), np.empty((len(steps), 2, LANES))
    for a in range(len(steps)):
        angle = turn(LANES, steps[a], points)
        turns[0, a], turns[1, a], turns[2, a], turns[3, a] = 1.0, 0.0, math.cos(angle), math.sin(angle)
        for i in range(HALF):
            up, down = roots[a, 2, i], roots[a, 3, i]
            for lane in range(HALF):
                lanes[a, 0, HALF * i + lane] = up * roots[a, 0, lane] - down * roots[a, 1, lane]
                lanes[a, 1, HALF * i + lane] = up * roots[a, 1, lane] + down * roots[a, 0, lane]
    return turns, lanes


@kernel
def keep_turning(turns: NDArray[np.float64]) -> None:
    """Turn the phases on by `LANES`."""
    for a in range(turns.shape[1]):
        x = turns[0, a] * turns[2, a] - turns[1, a] * turns[3, a]
        turns[1, a] = turns[0, a] * turns[3, a] + turns[1, a] * turns[2, a]
        turns[0, a] = x


@kernel
def has_surely_vanished(
    law: Factors, turns: NDArray[np.float64], lanes: NDArray[np.float64], real: NDArray[np.float64], imaginary: NDArray[np.float64]
) -> bool:
    """Tell whether a law of one factor is below the limit at all lanes, by exact phases too; False where it is close.

    ``real`` and ``imaginary``, (lane,), are room.
    """
    limit = math.exp(LOG_VANISHED / law.powers[0]) - _CLOSE
    real[:] = 0
    imaginary[:] = 0
    rest = 1.0
    for a in range(len(law.chances)):
        c, s = law.chances[a] * turns[0, a], law.chances[a] * turns[1, a]
        x, y = lanes[a, 0], lanes[a, 1]
        for lane in range(LANES):
            real[lane] += c * x[lane] - s * y[lane]
            imaginary[lane] += c * y[lane] + s * x[lane]
        rest -= law.chances[a]
        if ((a & 7) == 7 or a == len(law.chances) - 1) and rest < limit:
            least, above = (limit - max(rest, 0.0)) ** 2, 0
            for lane in range(LANES):
                above += real[lane] * real[lane] + imaginary[lane] * imaginary[lane] >= least
            if above == 0:
                return True
    return False
