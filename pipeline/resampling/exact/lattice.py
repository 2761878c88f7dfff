"""Tails of a sum of independent integers, by Fourier transforms. This module splits a law at a threshold.

The transform of a law on a ring of L points is a product of small transforms raised to powers; the tail is a geometric series
against it, so no inverse transform is needed. The law is tilted before (`tilt`), hence the *relative* error is about
powers · 2^-53 however small the tail; the ring is wide enough that what wraps around has a mass below 1e-29.

These sums are deterministic on one machine. They are not promised bit for bit across machines, as SciPy chooses its
transform by processor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.fft import next_fast_len

from pipeline.resampling.exact.ring import Tail, direct_tail, reduce_tail, transform_law
from pipeline.resampling.exact.tilt import Factors, aim, cumulants, highest, log_scale, reflect, window

__all__ = ["DIRECT", "MAX_POINTS", "Evaluate", "Split", "TooWideError", "count_points", "direct_split", "split", "split_at"]

MAX_POINTS = 2**24
"""Widest ring that is transformed."""

DIRECT = 2**18  # atoms · points: below, the sums are taken one by one; above, through a fast transform
_ROUNDING = 1e-12  # of the sum of magnitudes of its terms: a smaller mass is none


class TooWideError(ValueError):
    """A law has more points than are allowed."""


class Split(NamedTuple):
    """Natural logarithms of P(S < x), P(S = x) and P(S > x).

    The error of a point mass is relative to that of P(S ≥ x) or P(S ≤ x), the smaller: the mass of a point that is all but
    missed by the lattice is no better known.
    """

    below: float
    at: float
    above: float


Evaluate = Callable[[Factors, int, float, bool], Tail]
"""Law, threshold, θ, whether the law is reflected → tail."""


def split(law: Factors, x: int, *, max_points: int = MAX_POINTS) -> Split:
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
    Split

    Raises
    ------
    TooWideError
        Where the tilted law needs more than ``max_points``.
    """

    def evaluate(law: Factors, x: int, theta: float, _: bool) -> Tail:
        low, high = window(law, theta)
        if high - low + 1 > max_points:
            raise TooWideError(f"a ring of {high - low + 1} points is asked for, and {max_points} are allowed")
        if len(law.atoms) * (high - low) <= DIRECT:
            return Tail(*direct_tail(law, x, theta))
        points = next_fast_len(max(high, x) - min(low, x) + 1, real=True)
        return Tail(*reduce_tail(transform_law(law, theta, points), points, x, high, theta))

    return split_at(law, x, evaluate)


def split_at(law: Factors, x: int, evaluate: Evaluate) -> Split:
    """Split at x, given how the tilted tail above a threshold beyond the mean is evaluated."""
    known, *edge = _edges(law, x)
    if known:
        return Split(*edge)
    if x < cumulants(law, 0.0)[1]:
        above, at, below = _beyond(reflect(law), highest(law) - x, evaluate, True)
    else:
        below, at, above = _beyond(law, x, evaluate, False)
    return Split(below, at, above)


def _beyond(law: Factors, x: int, evaluate: Evaluate, reflected: bool) -> Split:
    theta = aim(law, float(x))
    return Split(*_logarithms(law, x, theta, *evaluate(law, x, theta, reflected)))


@njit(nogil=True, cache=True)
def count_points(law: Factors, x: int) -> int:
    """Count the points of the ring on which `split` would compute at x; 0 where a closed form serves."""
    if _edges(law, x)[0]:
        return 0
    if x < cumulants(law, 0.0)[1]:
        law, x = reflect(law), highest(law) - x
    low, high = window(law, aim(law, float(x)))
    return high - low + 1


@njit(nogil=True, cache=True)
def _edges(law: Factors, x: int) -> tuple[bool, float, float, float]:
    """Give what needs no transform, and whether it does: thresholds at or beyond the ends of the support."""
    top = highest(law)
    if x < 0:
        return True, -np.inf, -np.inf, 0.0
    if x > top:
        return True, 0.0, -np.inf, -np.inf
    if top == 0:
        return True, -np.inf, 0.0, -np.inf
    if 0 < x < top:
        return False, 0.0, 0.0, 0.0
    at = 0.0
    for j in range(len(law.powers)):
        at += law.powers[j] * math.log(law.chances[law.starts[j] if x == 0 else law.starts[j + 1] - 1])
    rest = math.log(-math.expm1(at))
    return (True, -np.inf, at, rest) if x == 0 else (True, rest, at, -np.inf)


@njit(nogil=True, cache=True)
def _logarithms(
    law: Factors, x: int, theta: float, above: float, at: float, above_terms: float, at_terms: float
) -> tuple[float, float, float]:
    """Scale a tilted tail back. A mass lost in rounding is none: the lattice has points that no sum reaches."""
    scale = log_scale(law, theta, x)
    log_at = scale + math.log(at) if at > _ROUNDING * at_terms else -np.inf
    log_above = scale + math.log(above) if above > _ROUNDING * above_terms else -np.inf
    rest = 1 - math.exp(min(log_at, 0.0)) - math.exp(min(log_above, 0.0))
    return (math.log(rest) if rest > 0 else -np.inf), log_at, log_above


@njit(nogil=True, cache=True)
def direct_split(law: Factors, x: int) -> tuple[float, float, float]:
    """Do what `split` does, compiled as a whole and without a fast transform: for many small laws."""
    known, below, at, above = _edges(law, x)
    if known:
        return below, at, above
    reflected = x < cumulants(law, 0.0)[1]
    if reflected:
        law, x = reflect(law), highest(law) - x
    theta = aim(law, float(x))
    above, at, above_terms, at_terms = direct_tail(law, x, theta)
    below, at, above = _logarithms(law, x, theta, above, at, above_terms, at_terms)
    return (above, at, below) if reflected else (below, at, above)
