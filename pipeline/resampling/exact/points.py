"""The mass of one point of a sum, however small. This module adds positive terms only, so that no digit is lost.

A point that a lattice all but misses has a mass far below that of its neighbours, and in a transform, where the terms cancel, it
drowns. Powers of a law by plain convolution keep the relative error of every point, and show which points no sum reaches.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.exact.factors import Factors, expected_hits, highest
from pipeline.resampling.exact.tilt import log_scale, tilt

__all__ = ["mass_at"]

_WIDEST = 2**14  # points of the sum: some 50 ms
_SMALLEST = -600.0  # logarithm of more than all that underflow can take away


def mass_at(law: Factors, x: int, theta: float) -> tuple[float, float] | None:
    """Return bounds of log P(S = x), equal where it is known; None where plain convolution is too long.

    Parameters
    ----------
    law : Factors
        One factor.
    x : int
        Where the law is tilted to, by θ.
    theta : float

    Returns
    -------
    tuple of two floats, or None
    """
    if len(law.powers) > 1 or highest(law) >= _WIDEST:
        return None
    draws = int(law.powers[0])
    chances, share = tilt(law, theta)
    hollow = np.bincount(law.atoms, weights=chances * law.hollow).astype(np.float64)
    solid = np.bincount(law.atoms, weights=chances * ~law.hollow).astype(np.float64)
    mass = _coefficient(solid, hollow, share, draws, x) * expected_hits(draws, share) / draws
    scale = log_scale(law, theta, x)
    if mass > 0:
        log_mass = min(scale + math.log(mass), 0.0)
        return log_mass, log_mass
    # Nothing, or below the smallest float: ones in place of chances tell whether a sum is x.
    if _coefficient((solid > 0).astype(float), (hollow > 0).astype(float), 1.0, draws, x) == 0:
        return -math.inf, -math.inf
    return -math.inf, min(scale + _SMALLEST, 0.0)


def _coefficient(solid: NDArray[np.float64], hollow: NDArray[np.float64], share: float, power: int, x: int) -> float:
    """Return the coefficient at x of ((share·solid + hollow)ⁿ − hollowⁿ) / share, as `ring.power_of_both` does."""
    if power == 1:
        return float(solid[x])
    both, rest = _raise(solid, hollow, share, power // 2)
    twice = 2 * rest + share * both
    if power % 2 == 0:
        return _product_at(both, twice, x)
    # Bₘ₊₁ = Bₘ·whole + hollowᵐ·solid, at x alone
    whole = hollow + share * solid
    return _product_at(np.convolve(both, twice), whole, x) + _product_at(np.convolve(rest, rest), solid, x)


def _raise(
    solid: NDArray[np.float64], hollow: NDArray[np.float64], share: float, power: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    both, rest, whole = solid, hollow, hollow + share * solid
    for bit in bin(power)[3:]:
        both, rest = np.convolve(both, 2 * rest + share * both), np.convolve(rest, rest)
        if bit == "1":
            both, rest = np.convolve(both, whole) + np.convolve(rest, solid), np.convolve(rest, hollow)
        if max(both.max(), rest.max()) > 4 * power:  # of ones only, as these need not be chances: all that matters is what is 0
            both, rest = np.minimum(both, 1.0), np.minimum(rest, 1.0)
    return both, rest


def _product_at(one: NDArray[np.float64], other: NDArray[np.float64], x: int) -> float:
    first, last = max(0, x - len(other) + 1), min(x, len(one) - 1)
    return float(one[first : last + 1] @ other[x - last : x - first + 1][::-1]) if first <= last else 0.0
