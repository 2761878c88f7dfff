"""Tails of a sum of independent integers, by Fourier transforms: a law is split at a threshold.

The transform of a law on a ring of L points is a product of small transforms raised to powers; the tail is a geometric series
against it, so no inverse transform is needed. The law is tilted before (`tilt`), hence the *relative* error is about powers ·
2^-53 however small the tail; the ring is wide enough that what wraps around has a mass below 1e-29.

The error is relative to the sum of magnitudes of the terms. Where a result is so much smaller that more than 1e-9 of it may be
lost it is given as an interval: a point that the lattice all but misses, or a threshold before a wide gap. On a short lattice
`_mass_at` finds the mass of such a point after all, by plain convolution: it adds positive terms only, so that no digit is lost,
and shows which points no sum reaches.

These sums are deterministic on one machine. They are not promised bit for bit across machines, as SciPy chooses its transform by
processor.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.numerics.fourier import next_fast_len
from pipeline.resampling.exact.chances import Chance, Event
from pipeline.resampling.exact.factors import Factors, ends, expected_hits, highest, log_end, reflect
from pipeline.resampling.exact.ring import Tail, direct_tail, reduce_tail, transform_law
from pipeline.resampling.exact.tilt import LOG_ALIAS, aim, cumulants, log_scale, tilt, window

__all__ = ["DIRECT", "MAX_POINTS", "Evaluate", "TooWideError", "bound_tail", "count_points", "split", "split_at", "split_at_ends"]

_WIDEST = 2**14  # points of the sum: some 50 ms
_SMALLEST = -600.0  # logarithm of more than underflow can lose in total


def _mass_at(law: Factors, x: int, theta: float) -> tuple[float, float] | None:
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


MAX_POINTS = 2**24
"""Widest ring that is transformed."""

DIRECT = 2**18  # atoms · points: below, the sums are taken one by one; above, through a fast transform

_ROUNDING = 2.0**-53
_EXACT = 1e-9  # relative error of what is called exact

_BELOW, _AT, _ABOVE, _UP_TO, _FROM = range(5)  # the order of `Event`
_TURNED = np.array([_ABOVE, _AT, _BELOW, _FROM, _UP_TO])


class TooWideError(ValueError):
    """A law has more points than are allowed."""


Evaluate = Callable[[Factors, int, float, bool], Tail]
"""Law, threshold, θ, whether the law is reflected → tail."""


def split(law: Factors, x: int, *, max_points: int = MAX_POINTS) -> Event:
    """Split the law of a sum at x.

    Parameters
    ----------
    law : Factors
    x : int
        Compared with the sum; may be outside its range.
    max_points : int
        Widest ring allowed.

    Returns
    -------
    Event

    Raises
    ------
    TooWideError
        Where the tilted law needs more than ``max_points``.
    """

    def evaluate(law: Factors, x: int, theta: float, _: bool) -> Tail:
        low, high = window(law, theta, LOG_ALIAS)
        if high - low + 1 > max_points:
            raise TooWideError(f"a ring of {high - low + 1} points is asked for, and {max_points} are allowed")
        if len(law.atoms) * (high - low) <= DIRECT:
            return Tail(*direct_tail(law, x, theta))
        points = next_fast_len(max(high, x) - min(low, x) + 1, real=True)
        return Tail(*reduce_tail(transform_law(law, theta, points), points, x, high, theta))

    return split_at(law, x, evaluate)


def split_at(law: Factors, x: int, evaluate: Evaluate) -> Event:
    """Split at x, given how the tilted tail above a threshold beyond the mean is evaluated."""
    known, logs = _edges(law, x)
    if not known:
        is_below = x < cumulants(law, 0.0)[1]
        turned, place = (reflect(law), highest(law) - x) if is_below else (law, x)
        theta = aim(turned, float(place))
        logs = bound_tail(log_scale(turned, theta, place), turned.powers.sum(), *evaluate(turned, place, theta, is_below))
        if logs[_AT, 0] < logs[_AT, 1]:
            found = _mass_at(turned, place, theta)
            if found is not None:
                logs[_AT] = found
        logs = logs[_TURNED] if is_below else logs
    return Event(*(Chance(low, high) for low, high in logs.tolist()))


def count_points(law: Factors, x: int) -> int:
    """Count the points of the ring on which `split` would compute at x; 0 where a closed form serves."""
    if _edges(law, x)[0]:
        return 0
    if x < cumulants(law, 0.0)[1]:
        law, x = reflect(law), highest(law) - x
    low, high = window(law, aim(law, float(x)), LOG_ALIAS)
    return high - low + 1


def _edges(law: Factors, x: int) -> tuple[bool, NDArray[np.float64]]:
    """Return what needs no transform, and whether it does: thresholds at or beyond the ends of the support."""
    low, high = ends(law)
    if low < x < high:
        return False, np.zeros((5, 2))
    log_mass = log_end(law if x == low else reflect(law)) if x in (low, high) and low < high else 0.0
    return split_at_ends(x, low, high, log_mass)


@kernel(signature="(int64, int64, int64, float64)")
def split_at_ends(x: int, low: int, high: int, log_mass: float) -> tuple[bool, NDArray[np.float64]]:
    """Split at or beyond the ends of the support, of which x, where it is one, has the mass; say whether it is there."""
    if low < x < high:
        return False, np.zeros((5, 2))
    if x < low:
        return True, _fill(-np.inf, -np.inf, 0.0)
    if x > high:
        return True, _fill(0.0, -np.inf, -np.inf)
    if low == high:
        return True, _fill(-np.inf, 0.0, -np.inf)
    at = min(log_mass, 0.0)
    rest = math.log(-math.expm1(at)) if at < 0 else -np.inf
    return True, _fill(-np.inf if x == low else rest, at, rest if x == low else -np.inf)


@kernel(signature="float64[:, ::1](float64, float64, float64)")
def _fill(below: float, at: float, above: float) -> NDArray[np.float64]:
    up_to, from_here = min(np.logaddexp(below, at), 0.0), min(np.logaddexp(above, at), 0.0)
    logs = np.empty((5, 2))
    for bound in range(2):  # one number at a time: what may be a row is compiled for seconds
        logs[_BELOW, bound], logs[_AT, bound], logs[_ABOVE, bound] = below, at, above
        logs[_UP_TO, bound], logs[_FROM, bound] = up_to, from_here
    return logs


@kernel(signature="float64[:, ::1](float64, int64, float64, float64, float64, float64)")
def bound_tail(scale: float, draws: int, above: float, at: float, above_terms: float, at_terms: float) -> NDArray[np.float64]:
    """Scale a tilted tail of so many draws back, and bound it where more than rounding is lost: (field of `Event`, bound)."""
    error = _ROUNDING * (1000 + 2 * draws)
    shrunk = math.exp(min(scale, 0.0))
    logs = np.empty((5, 2))
    for field in range(5):
        if field == _AT:
            own, value, lost = scale, at, error * at_terms
        elif field == _ABOVE:
            own, value, lost = scale, above, error * above_terms
        elif field == _FROM:
            own, value, lost = scale, above + at, error * (above_terms + at_terms)
        elif field == _UP_TO:
            own, value, lost = 0.0, 1 - shrunk * above, error * (1 + shrunk * above_terms)
        else:
            own, value, lost = 0.0, 1 - shrunk * (above + at), error * (1 + shrunk * (above_terms + at_terms))
        if lost <= _EXACT * value:
            logs[field, 0] = logs[field, 1] = min(own + math.log(value), 0.0)
            continue
        low, high = value - lost, max(value, 0.0) + lost
        logs[field, 0] = min(own + math.log(low), 0.0) if low > 0 else -np.inf
        logs[field, 1] = min(own + math.log(high), 0.0) if high > 0 else -np.inf
    return logs
