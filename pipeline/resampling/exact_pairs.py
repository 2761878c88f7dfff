"""Exact p-values of many pairs whose denominator is one constant. This module compiles the work of a pair into one kernel.

With a constant denominator a pair is known by how often each difference of numerators occurs: wins, ties and losses for
accuracy. The transform of such a law is a sum of a few terms, taken directly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pipeline.resampling.exact import bootstrap_chances, sign_flip_chances
from pipeline.resampling.exact_lattice import DIRECT, count_points, direct_split
from pipeline.resampling.exact_tilt import Factors

__all__ = ["EXACT", "PairChances", "compare_pairs"]

EXACT = ("above_twice", "at_twice", "below_zero", "at_zero", "two_sided", "sign_flip")
"""P(δ* > 2δ), P(δ* = 2δ), P(δ* < 0), P(δ* = 0), P(|δ* − δ| ≥ δ) and the sign-flip P(|D°| ≥ |D|); δ ≥ 0."""

_WIDEST = 2**12  # differences in a histogram; beyond, a pair is computed by itself


@dataclass(frozen=True, eq=False)
class PairChances:
    """Exact probabilities of pairs, each ordered so that the observed gain is not negative.

    Parameters
    ----------
    log10_p : (pair, 6) float64
        In the order of `EXACT`; −inf where p = 0. Relative error of p about 1e-12 times n/1000.
    gain : (pair,) int64
        Σd in the order given: negative where the second of the pair is ahead.
    discordant : (pair,) int64
        Units with d ≠ 0; where there are none both two-sided p-values are 1.
    """

    log10_p: NDArray[np.float64]
    gain: NDArray[np.int64]
    discordant: NDArray[np.int64]

    @property
    def p(self) -> NDArray[np.float64]:
        """(pair, 6) probabilities; 0 below the smallest float."""
        with np.errstate(under="ignore"):
            return np.asarray(10.0**self.log10_p)


def compare_pairs(numerators: NDArray[np.int64], pairs: NDArray[np.int64]) -> PairChances:
    """Compute the exact bootstrap and sign-flip probabilities of pairs of systems over one constant denominator.

    The same numbers as `pipeline.resampling.exact.bootstrap_chances` and `sign_flip_chances`, pair by pair; those of a pair
    depend on its two systems alone.

    Parameters
    ----------
    numerators : (unit, system) int64
        Correct or not, 0/1, or any statistic whose denominator is the same for all units.
    pairs : (pair, 2) int64
        Positions of systems.

    Returns
    -------
    PairChances

    Raises
    ------
    ValueError
        Where shapes do not fit, or a sum could leave int64.

    Examples
    --------
    >>> ahead = np.repeat([[1, 0], [0, 1], [1, 1]], [8, 4, 88], axis=0)
    >>> compare_pairs(ahead, np.array([[0, 1]])).p.round(4)
    array([[0.0955, 0.0574, 0.0927, 0.0598, 0.3054, 0.3877]])
    """
    if numerators.ndim != 2 or not len(numerators) or pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"numerators (unit, system) and pairs (pair, 2) are needed, not {numerators.shape} and {pairs.shape}")
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < numerators.shape[1]:
        raise ValueError(f"pairs name systems {pairs.min()} to {pairs.max()}, and there are {numerators.shape[1]}")
    by_system = np.ascontiguousarray(numerators.T, np.int64)
    reach = int(by_system.max()) - int(by_system.min()) if by_system.size else 0
    if reach >= 2**62 // len(numerators):
        raise ValueError(f"differences up to {reach} of {len(numerators)} units do not fit: their sum could reach {2**62}")
    logs = np.full((len(pairs), len(EXACT)), np.nan)
    gain, discordant = np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.int64)
    _compare(by_system, np.ascontiguousarray(pairs, np.int64), min(reach, _WIDEST), logs, gain, discordant)
    for pair in np.flatnonzero(np.isnan(logs[:, 0])).tolist():
        first, second = pairs[pair]
        logs[pair] = _compare_alone(by_system[first] - by_system[second])
    return PairChances(logs / math.log(10), gain, discordant)


def _compare_alone(differences: NDArray[np.int64]) -> list[float]:
    found, flipped = bootstrap_chances(differences), sign_flip_chances(differences)
    chances = (found.above_twice, found.at_twice, found.below_zero, found.at_zero, found.two_sided, flipped.two_sided)
    return [chance.log10_p * math.log(10) for chance in chances]


@njit(nogil=True, cache=True)
def _compare(
    by_system: NDArray[np.int64],
    pairs: NDArray[np.int64],
    reach: int,
    logs: NDArray[np.float64],
    gain: NDArray[np.int64],
    discordant: NDArray[np.int64],
) -> None:
    """Fill the logarithms of the pairs with a short law; leave nan for the others."""
    counts = np.zeros(2 * reach + 1, np.int64)
    for pair in range(len(pairs)):
        a, b = by_system[pairs[pair, 0]], by_system[pairs[pair, 1]]
        counts[:] = 0
        total, different, is_short = 0, 0, True
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
