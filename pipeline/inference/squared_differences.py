"""Sums of squared differences of many pairs of systems, accurate also for systems that are nearly equal on all units."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["SAME", "sum_squared_differences"]

_CANCELS = 1e-9  # of the squares of both: below, a product of matrices has too few digits of what is left
SAME = 1e-9
"""Systems whose values differ by less than this share of their own spread differ by rounding."""


def sum_squared_differences(
    centred: NDArray[np.float64], pairs: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return Σ_u (z_su − z_tu)² of each pair, 0 if it is only rounding, and which pairs were summed unit by unit.

    A product of matrices gives all of them at once, Σz_s² + Σz_t² − 2Σz_s z_t. Where that nearly cancels, as for a system and a
    copy with one unit changed, the differences themselves are summed.

    Parameters
    ----------
    centred : (system, unit) float64
        Values less their mean.
    pairs : (pair, 2) int64

    Examples
    --------
    >>> z = np.array([[3.0, -3.0], [1.0, -1.0], [1.0 + 1e-7, -1.0 - 1e-7]])
    >>> squares, alone = sum_squared_differences(z, np.array([[0, 1], [1, 2]]))
    >>> squares.round(20).tolist(), alone.tolist()
    ([8.0, 2e-14], [False, True])
    """
    first, second = pairs.T
    product = centred @ centred.T
    own = np.diag(product)
    both = own[first] + own[second]
    squares = both - 2 * product[first, second]
    alone = squares <= _CANCELS * both
    for place in np.flatnonzero(alone).tolist():
        difference = centred[first[place]] - centred[second[place]]
        squares[place] = difference @ difference
    return np.where(squares > SAME**2 * both, squares, 0.0), alone
