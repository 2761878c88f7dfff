"""A mass that is known to lie on a threshold. This module counts it: with few discordant units it would be lost in an interval."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["log_known_mass"]

_LOSS = 2.0**-48  # more than rounding can add to a term and its share of a sum, relative and absolute


def log_known_mass(d: NDArray[np.int64], c: NDArray[np.int64], u: int, v: int) -> float:
    """Return a lower bound of log P(ΣZ = 0), Z = ud − vc, given that Σc is not 0; −inf where nothing is known.

    All draws have Z = 0; or, where c is a constant and the threshold twice the gain, each discordant unit is drawn twice.
    """
    return max(_log_all_idle(u * d == v * c, c == 0), _log_all_twice(d, c, u, v))


def _log_all_idle(idle: NDArray[np.bool_], hollow: NDArray[np.bool_]) -> float:
    n, quiet, empty = len(idle), int(idle.sum()), int(hollow.sum())
    quiet_empty = int((idle & hollow).sum())
    if quiet == quiet_empty:
        return -math.inf
    terms = [n * _log_ratio(quiet, n)]
    if empty:
        terms.append(_log_rest(n * _log_ratio(quiet_empty, quiet)))
        terms.append(-_log_rest(n * _log_ratio(empty, n)))
    return sum(terms) - _LOSS * sum(abs(term) + 1 for term in terms)


def _log_all_twice(d: NDArray[np.int64], c: NDArray[np.int64], u: int, v: int) -> float:
    n, m = len(d), int(np.count_nonzero(d))
    is_twice = v > 0 and v * int(c.sum()) == 2 * u * int(d.sum())
    if not (is_twice and 0 < 2 * m <= n and c.min() == c.max()):
        return -math.inf
    ways = np.log((n - np.arange(2 * m)) / n)  # n!/(n − 2m)!/n^2m
    rest = (n - 2 * m) * _log_ratio(n - m, n) if n > 2 * m else 0.0
    value = float(ways.sum()) - m * math.log(2) + rest
    return value - _LOSS * (2 * m + float(np.abs(ways).sum()) + m + abs(rest) + 1)


def _log_ratio(part: int, whole: int) -> float:
    """Return log(part/whole) with a small relative error."""
    if part == 0:
        return -math.inf
    return math.log1p((part - whole) / whole) if 2 * part > whole else math.log(part / whole)


def _log_rest(log_p: float) -> float:
    return math.log(-math.expm1(log_p))
