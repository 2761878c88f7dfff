"""Correlations with intervals, and how often one of two numbers is the larger."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.numerics.special import ndtri

__all__ = ["Estimate", "correlate", "share_above"]

_FEWEST = 4  # Fisher's z has the variance 1 / (n − 3)


@dataclass(frozen=True)
class Estimate:
    """A number with a 95 % interval.

    Parameters
    ----------
    value : float
    low, high : float or None
        None where there is no interval.
    """

    value: float
    low: float | None
    high: float | None


def correlate(x: NDArray[np.float64], y: NDArray[np.float64], *, level: float = 0.95) -> Estimate | None:
    """Return Pearson's correlation of independent pairs of numbers, with Fisher's interval tanh(artanh r ± z / √(n − 3)).

    Returns
    -------
    Estimate or None
        None where either does not vary; without an interval below four pairs, and where r is ±1.

    Examples
    --------
    >>> found = correlate(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([1.0, 3.0, 2.0, 5.0, 4.0]))
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.8, -0.28, 0.986)
    """
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    a, b = x - x.mean(), y - y.mean()
    r = float(np.clip(a @ b / math.sqrt(float(a @ a) * float(b @ b)), -1, 1))
    if len(x) < _FEWEST or abs(r) >= 1 - 1e-12:
        return Estimate(r, None, None)
    reach = float(ndtri((1 + level) / 2)) / math.sqrt(len(x) - 3)
    return Estimate(r, math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach))


def share_above(x: NDArray[np.float64], y: NDArray[np.float64], *, level: float = 0.95) -> Estimate:
    """Return how often the first of independent pairs of numbers is the larger, a tie counting one half, with Wilson's interval.

    Wilson 1927, doi:10.1080/01621459.1927.10502953. With ties the share varies less than the interval assumes.

    Examples
    --------
    >>> found = share_above(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 2.0, 0.0, 0.0]))
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.875, 0.396, 0.987)
    """
    n = len(x)
    share = float(np.mean((x > y) + 0.5 * (x == y)))
    z = float(ndtri((1 + level) / 2))
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # With no or all successes an end is exactly 0 or 1; rounding would leave it a little off.
    return Estimate(share, 0.0 if share == 0 else max(middle - reach, 0.0), 1.0 if share == 1 else min(middle + reach, 1.0))
