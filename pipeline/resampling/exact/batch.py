"""Exact probabilities of pairs with few distinct differences. This module is one compiled kernel for all of them.

The transform of a law of a few values is a sum of a few terms, taken directly; a pair costs some 40 µs.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.resampling.exact.factors import Factors
from pipeline.resampling.exact.lattice import DIRECT, count_points, direct_split

__all__ = ["compare_short"]


@kernel
def compare_short(
    by_system: NDArray[np.int64],
    pairs: NDArray[np.int64],
    reach: int,
    is_constant: bool,
    resampled: bool,
    swapped: bool,
    logs: NDArray[np.float64],
    gain: NDArray[np.int64],
    discordant: NDArray[np.int64],
) -> None:
    """Fill the logarithms of what is asked of pairs with a short law, where they are exact; leave nan for the others."""
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
            turned = counts if total >= 0 else counts[::-1].copy()
            if resampled:
                _fill_resampled(turned, reach, abs(total), len(a), logs[pair])
            if swapped:
                _fill_swapped(turned, reach, abs(total), logs[pair])


@kernel
def _fill_resampled(counts: NDArray[np.int64], reach: int, gain: int, draws: int, logs: NDArray[np.float64]) -> None:
    values = np.flatnonzero(counts) - reach
    lowest = values[0]
    step = _step(values - lowest)
    atoms = (values - lowest) // step
    whole = np.zeros(len(atoms), np.bool_)
    law = Factors(atoms, counts[values + reach] / draws, whole, np.array([0, len(atoms)]), np.array([draws]))
    base = -draws * lowest
    if _is_long(law, base // step) or _is_long(law, (base + 2 * gain) // step):
        return
    zero = _split_between(law, base, step)
    twice = zero if gain == 0 else _split_between(law, base + 2 * gain, step)
    if not (_is_known(zero) and _is_known(twice)):
        return
    logs[0], logs[1], logs[2], logs[3] = twice[2, 0], twice[1, 0], zero[0, 0], zero[1, 0]
    logs[4] = min(np.logaddexp(twice[4, 0], zero[3, 0]), 0.0) if gain else 0.0


@kernel
def _fill_swapped(counts: NDArray[np.int64], reach: int, gain: int, logs: NDArray[np.float64]) -> None:
    flips, least = _flips(counts, reach, gain)
    if _is_long(flips, least):
        return
    flipped = direct_split(flips, least)
    if _is_known(flipped[4:]):
        logs[5] = min(flipped[4, 0] + math.log(2), 0.0) if gain else 0.0


@kernel
def _split_between(law: Factors, x: int, step: int) -> NDArray[np.float64]:
    """Split at x/step, which need not be a point of the lattice: bounds of what is below, at, above, up to and from there on."""
    bounds = direct_split(law, x // step)
    if x % step:
        bounds[0], bounds[1], bounds[4] = bounds[3], -np.inf, bounds[2]
    return bounds


@kernel
def _is_known(bounds: NDArray[np.float64]) -> bool:
    return bool(np.all(bounds[:, 0] == bounds[:, 1]))


@kernel
def _flips(counts: NDArray[np.int64], reach: int, gain: int) -> tuple[Factors, int]:
    """Give the law of Σbv, b = 0 or 1 for each discordant v = |d|, and what it must reach: (gain + Σv)/2."""
    sizes = counts[reach + 1 :] + counts[:reach][::-1]
    values = np.flatnonzero(sizes) + 1
    step = max(_step(values), 1)
    atoms = np.zeros(2 * len(values), np.int64)
    atoms[1::2] = values // step
    powers = sizes[values - 1]
    law = Factors(atoms, np.full(len(atoms), 0.5), np.zeros(len(atoms), np.bool_), np.arange(0, len(atoms) + 1, 2), powers)
    return law, (gain // step + (powers * atoms[1::2]).sum()) // 2


@kernel
def _is_long(law: Factors, x: int) -> bool:
    return bool(len(law.atoms) * count_points(law, x) > DIRECT)


@kernel
def _step(values: NDArray[np.int64]) -> int:
    step = 0
    for value in values:
        while value:
            step, value = value, step % value
    return max(step, 1)
