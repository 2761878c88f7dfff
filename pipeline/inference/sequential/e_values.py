"""E-values: evidence that may be multiplied over looks.

An e-value has a mean of at most 1 if its null is true; 1/α or more has a chance of at most α (Markov). Logarithms are natural ones:
the capital of a thousand good bets is beyond the largest float.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["always_valid_p", "e_benjamini_hochberg", "multiply_e_values"]


def always_valid_p(log_largest: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p-values that hold at all looks together: 1 over the largest value of an e-process so far, at most 1.

    By Ville's inequality; see Ramdas and others (2023, doi:10.1214/23-STS894). The largest value itself is not an e-value: it may
    be read as this p, but neither averaged nor multiplied.

    Parameters
    ----------
    log_largest : (…,) float64
        Logarithm of the running maximum.

    Examples
    --------
    >>> always_valid_p(np.log([20.0, 0.5])).round(12).tolist()
    [0.05, 1.0]
    """
    return np.asarray(np.exp(-np.maximum(log_largest, 0.0)), np.float64)


def multiply_e_values(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logarithms of products over looks at different data, which are e-values again.

    Each e-value must have a mean of at most 1 whatever earlier looks showed, as it has with new items at every look (Vovk and Wang
    2021, doi:10.1214/20-AOS2020). E-values of the same or of overlapping items are averaged instead.

    Parameters
    ----------
    logs : (…, look) float64

    Examples
    --------
    >>> np.exp(multiply_e_values(np.log([[4.0, 0.5, 6.0]]))).round(12).tolist()
    [12.0]
    """
    return np.asarray(logs.sum(axis=-1), np.float64)


def e_benjamini_hochberg(logs: NDArray[np.float64], *, alpha: float) -> NDArray[np.bool_]:
    """Return which nulls are rejected so that the expected share of false rejections is at most α, whatever their dependence.

    e-BH (Wang and Ramdas 2022, doi:10.1111/rssb.12489): the k largest, for the largest k such that each of them is at least K/(α
    k). Use the e-values at the time of stopping, not running maxima.

    Parameters
    ----------
    logs : (hypothesis,) float64
        nan where there is none: the null is not rejected, and not counted in K.
    alpha : float

    Returns
    -------
    (hypothesis,) bool

    Examples
    --------
    >>> e_benjamini_hochberg(np.log([100.0, 35.0, 25.0, 1.0]), alpha=0.1).tolist()
    [True, True, True, False]
    >>> e_benjamini_hochberg(np.log([30.0, 15.0, 12.0, 1.0]), alpha=0.1).tolist()
    [False, False, False, False]
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is between 0 and 1, not {alpha}")
    members = np.flatnonzero(~np.isnan(logs))
    ordered = np.sort(logs[members])[::-1]
    rank = np.arange(1, len(members) + 1)
    needed = np.log(len(members) / (alpha * rank))
    enough = np.flatnonzero(ordered >= needed)
    least = ordered[enough[-1]] if len(enough) else np.inf
    return np.asarray(~np.isnan(logs) & (logs >= least), np.bool_)
