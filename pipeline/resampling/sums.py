"""Statistics of items summed by unit. This module adds them as integers, so that their order does not matter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["sum_by_unit"]


def sum_by_unit(values: NDArray[np.int64], unit_of_item: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (unit, …) sums of (item, …) statistics.

    Examples
    --------
    >>> sum_by_unit(np.array([[1], [2], [4]]), np.array([0, 1, 0])).tolist()
    [[5], [2]]
    """
    summed = np.zeros((int(unit_of_item.max()) + 1, *values.shape[1:]), np.int64)
    np.add.at(summed, unit_of_item, values)
    return summed
