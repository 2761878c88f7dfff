"""Logarithms of tails that floats cannot hold. This module has the incomplete beta function, and what is a case of it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln

__all__ = ["log_binomial_tail", "log_binomial_term", "log_student_tail"]

_SAFE = 1e-280
_SMALL = 2.0**-53


def log_binomial_tail(hits: NDArray[np.integer], trials: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return log P(X ≥ hits) of a binomial with chance ½: what `scipy.stats.binom.sf` gives, however small.

    Examples
    --------
    >>> np.exp(log_binomial_tail(np.array([8, 0]), np.array([12, 12]))).round(4)
    array([0.1938, 1.    ])
    """
    k = np.maximum(np.asarray(hits, np.float64), 1.0)
    logs = _log_betainc(k, np.asarray(trials, np.float64) - k + 1, np.full(k.shape, 0.5))
    return np.where(np.asarray(hits) > 0, logs, 0.0)


def log_binomial_term(hits: NDArray[np.integer], trials: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return log P(X = hits) of a binomial with chance ½."""
    k, m = np.asarray(hits, np.float64), np.asarray(trials, np.float64)
    return np.asarray(-betaln(k + 1, m - k + 1) - np.log(m + 1) - m * math.log(2))


def log_student_tail(t: NDArray[np.float64], freedom: float) -> NDArray[np.float64]:
    """Return log P(T ≥ t), t ≥ 0, of Student's law: what `scipy.stats.t.sf` gives, however small.

    Examples
    --------
    >>> np.exp(log_student_tail(np.array([0.0, 2.228]), 10)).round(3)
    array([0.5  , 0.025])
    """
    x = freedom / (freedom + t * t)
    return _log_betainc(np.full(x.shape, freedom / 2), np.full(x.shape, 0.5), x) - math.log(2)


def _log_betainc(a: NDArray[np.float64], b: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log I_x(a, b); where it is small by a series of positive terms, https://dlmf.nist.gov/8.17#E8."""
    value = betainc(a, b, x)
    result = np.log(value, out=np.zeros(value.shape), where=value > 0)
    small = value < _SAFE
    if small.any():
        result[small] = _series(a[small], b[small], x[small])
    return np.asarray(result)


def _series(a: NDArray[np.float64], b: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    # I_x(a, b) = xᵃ (1 − x)ᵇ / (a B(a, b)) · Σ (a + b)ₖ / (a + 1)ₖ · xᵏ; scipy.special.hyp2f1 overflows at large a.
    term, total, k = np.ones_like(x), np.ones_like(x), 0
    while np.any(term > _SMALL * total):
        term = term * (a + b + k) / (a + 1 + k) * x
        total += term
        k += 1
    return np.asarray(a * np.log(x) + b * np.log1p(-x) - np.log(a) - betaln(a, b) + np.log(total))
