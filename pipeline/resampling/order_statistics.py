"""One order statistic of an array, and a quantile between two, for use in other kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel

__all__ = ["interpolate", "read_off", "select", "select_two"]


@kernel
def select(values: NDArray[np.float64], rank: int) -> float:
    """Return the order statistic of a rank, reordering the values; ties are gathered, so many of them take no longer."""
    low, high = 0, len(values)  # it is among values[low:high]
    while high - low > 1:
        first, middle, last = values[low], values[(low + high) // 2], values[high - 1]
        pivot = max(min(first, middle), min(max(first, middle), last))
        less, i, more = low, low, high
        while i < more:
            x = values[i]
            if x < pivot:
                values[i], values[less] = values[less], x
                less += 1
                i += 1
            elif x > pivot:
                more -= 1
                values[i], values[more] = values[more], x
            else:
                i += 1
        if rank < less:
            high = less
        elif rank >= more:
            low = more
        else:
            return float(pivot)
    return float(values[low])


@kernel
def select_two(values: NDArray[np.float64], rank: int) -> tuple[float, float]:
    """Return the order statistic of a rank and the next one, or the same twice at the end; ``values`` is overwritten.

    No processor can predict which values are smaller than another. So they are counted, and those of the side to search next are
    gathered, without a branch. None may be nan.
    """
    size, next_, is_known = len(values), np.inf, False
    while True:
        first, middle, last = values[0], values[size // 2], values[size - 1]
        pivot = max(min(first, middle), min(max(first, middle), last))
        less, upto = 0, 0
        for i in range(size):
            less += values[i] < pivot
            upto += values[i] <= pivot
        kept = 0
        if rank < less:
            next_, is_known = pivot, True  # the smallest of those that are left out
            for i in range(size):
                x = values[i]
                values[kept] = x
                kept += x < pivot
        elif rank >= upto:
            rank -= upto
            for i in range(size):
                x = values[i]
                values[kept] = x
                kept += x > pivot
        else:
            if rank + 1 < upto:
                return float(pivot), float(pivot)
            for i in range(size):
                next_ = values[i] if pivot < values[i] < next_ else next_
                is_known |= pivot < values[i]
            return float(pivot), float(next_ if is_known else pivot)
        size = kept


@kernel
def interpolate(low: float, high: float, p: float, defined: int) -> float:
    """Return the type 7 quantile from the two order statistics about it, by the operations, and so with the bits, of NumPy."""
    at = (defined - 1) * p
    part = at - np.floor(at)
    return float(high - (high - low) * (1.0 - part) if part >= 0.5 else low + (high - low) * part)


def read_off(values: NDArray[np.float64], probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return quantiles of values in any order, by the operations of `interpolate`; none of the values may be nan."""
    sound = (probabilities >= 0) & (probabilities <= 1) & (len(values) > 0)
    at = (len(values) - 1) * np.where(sound, probabilities, 0.0)
    ranks = np.minimum(np.floor(at).astype(np.int64) + np.array([[0], [1]]), max(len(values) - 1, 0))
    # A fourth of the time of sorting.
    low, high = np.partition(values, np.unique(ranks))[ranks] if len(values) else np.zeros(ranks.shape)
    part = at - np.floor(at)
    between = np.where(part >= 0.5, high - (high - low) * (1.0 - part), low + (high - low) * part)
    return np.where(sound, between, np.nan)
