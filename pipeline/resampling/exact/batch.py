"""Exact probabilities of pairs with few distinct differences. This module is one compiled kernel for all of them.

The transform of a law of a few values is a sum of a few terms, taken directly; a pair costs some 40 µs.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pipeline.resampling.exact.lattice import DIRECT, count_points, direct_split
from pipeline.resampling.exact.tilt import Factors

__all__ = ["compare_short"]


@njit(nogil=True, cache=True)
def compare_short(
    by_system: NDArray[np.int64],
    pairs: NDArray[np.int64],
    reach: int,
    is_constant: bool,
    logs: NDArray[np.float64],
    gain: NDArray[np.int64],
    discordant: NDArray[np.int64],
) -> None:
    """Fill the logarithms of the pairs with a short law; leave nan for the others."""
    counts = np.zeros(2 * reach + 1, np.int64)
    for pair in range(len(pairs)):
        a, b = by_system[pairs[pair, 0]], by_system[pairs[pair, 1]]
        counts[:] = 0
        total, different, is_short = 0, 0, is_constant
        for unit in range(len(a)):
            difference = a[unit] - b[unit]
            total += difference
            different += difference != 0
            if -reach <= difference <= reach:
                counts[reach + difference] += 1
            else:
                is_short = False
        gain[pair], discordant[pair] = total, different
        if is_short:
            _fill(counts if total >= 0 else counts[::-1].copy(), reach, abs(total), len(a), logs[pair])


@njit(nogil=True, cache=True)
def _fill(counts: NDArray[np.int64], reach: int, gain: int, draws: int, logs: NDArray[np.float64]) -> None:
    values = np.flatnonzero(counts) - reach
    lowest = values[0]
    step = _step(values - lowest)
    atoms = (values - lowest) // step
    law = Factors(atoms, counts[values + reach] / draws, np.array([0, len(atoms)]), np.array([draws]))
    flips, least = _flips(counts, reach, gain)
    base = -draws * lowest
    if _is_long(law, base // step) or _is_long(law, (base + 2 * gain) // step) or _is_long(flips, least):
        return
    logs[2], logs[3], logs[0] = _split_between(law, base, step)
    up_to_zero = np.logaddexp(logs[2], logs[3])
    if gain == 0:
        logs[1], logs[4], logs[5] = logs[3], 0.0, 0.0
        return
    _, logs[1], logs[0] = _split_between(law, base + 2 * gain, step)
    logs[4] = min(np.logaddexp(np.logaddexp(logs[0], logs[1]), up_to_zero), 0.0)
    _, at, above = direct_split(flips, least)
    logs[5] = min(np.logaddexp(at, above) + math.log(2), 0.0)


@njit(nogil=True, cache=True)
def _split_between(law: Factors, x: int, step: int) -> tuple[float, float, float]:
    """Split at x/step, which need not be a point of the lattice."""
    below, at, above = direct_split(law, x // step)
    if x % step:
        return np.logaddexp(below, at), -np.inf, above
    return below, at, above


@njit(nogil=True, cache=True)
def _flips(counts: NDArray[np.int64], reach: int, gain: int) -> tuple[Factors, int]:
    """Give the law of Σbv, b = 0 or 1 for each discordant v = |d|, and what it must reach: (gain + Σv)/2."""
    sizes = counts[reach + 1 :] + counts[:reach][::-1]
    values = np.flatnonzero(sizes) + 1
    step = max(_step(values), 1)
    atoms = np.zeros(2 * len(values), np.int64)
    atoms[1::2] = values // step
    powers = sizes[values - 1]
    law = Factors(atoms, np.full(len(atoms), 0.5), np.arange(0, len(atoms) + 1, 2), powers)
    return law, (gain // step + (powers * atoms[1::2]).sum()) // 2


@njit(nogil=True, cache=True)
def _is_long(law: Factors, x: int) -> bool:
    return bool(len(law.atoms) * count_points(law, x) > DIRECT)


@njit(nogil=True, cache=True)
def _step(values: NDArray[np.int64]) -> int:
    step = 0
    for value in values:
        while value:
            step, value = value, step % value
    return max(step, 1)
