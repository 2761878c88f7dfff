"""Weights times statistics in one exact product. This module finds the distinct columns and the narrowest safe float.

Sums of integers are exact in a float, in any order, while every partial sum stays below 2**24 (float32) or 2**53
(float64). A partial sum is at most n_draws · max|statistic|, which is known before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FLOAT32_LIMIT", "FLOAT64_LIMIT", "Contraction", "Product", "largest_magnitude", "plan_contraction"]

FLOAT32_LIMIT = 2**24
FLOAT64_LIMIT = 2**53


def largest_magnitude(values: NDArray[np.int64]) -> int:
    """Give max|value| as a Python integer, 0 of nothing; ``abs`` of the smallest int64 would overflow."""
    return max(int(values.max()), -int(values.min())) if values.size else 0


@dataclass(frozen=True, eq=False)
class Product:
    """Summed statistics of a batch of replicates.

    Parameters
    ----------
    narrow : (column, replicate) float32
    wide : (column, replicate) float64
        Columns that float32 cannot sum exactly; numbered after the narrow ones.
    """

    narrow: NDArray[np.float32]
    wide: NDArray[np.float64]

    def take(self, columns: Iterable[int]) -> NDArray[np.float64]:
        """Give (asked column, replicate) float64: whoever uses a sum sees the same bits, however it was summed."""
        asked = list(columns)
        out = np.empty((len(asked), self.narrow.shape[1]))
        for row, column in enumerate(asked):
            offset = column - len(self.narrow)
            out[row] = self.narrow[column] if offset < 0 else self.wide[offset]
        return out


@dataclass(frozen=True, eq=False)
class Contraction:
    """Distinct columns, ready to be multiplied.

    Parameters
    ----------
    narrow : (column, unit) float32
    wide : (column, unit) float64
    position : (asked column,) int64
        Where each column that was asked for is among the distinct ones, narrow before wide.
    """

    narrow: NDArray[np.float32]
    wide: NDArray[np.float64]
    position: NDArray[np.int64]

    @property
    def bytes_per_replicate(self) -> int:
        """Memory of one replicate: weights (again in float64 where there are wide columns) and sums."""
        units = int(self.narrow.shape[1])
        return 4 * units + 4 * len(self.narrow) + (8 * units + 8 * len(self.wide) if len(self.wide) else 0)

    def multiply(self, weights: NDArray[np.float32]) -> Product:
        """Sum the columns over (replicate, unit) weights; the replicate axis of the result is contiguous."""
        narrow = self.narrow @ weights.T
        wide = self.wide @ weights.T.astype(np.float64) if len(self.wide) else np.empty((0, len(weights)))
        return Product(narrow, wide)


def plan_contraction(columns: Sequence[NDArray[np.int64]], *, n_units: int, n_draws: int) -> Contraction:
    """Collect the distinct columns and choose a float for each before anything is drawn.

    Parameters
    ----------
    columns : sequence of (unit,) int64
        Statistics of systems; equal columns are multiplied once.
    n_units, n_draws : int
        Units of a column, and the sum of each row of the weights to come.

    Raises
    ------
    ValueError
        Where ``n_draws · max|statistic|`` reaches 2**53.

    Examples
    --------
    >>> twice = [np.array([1, 2]), np.array([1, 2]), np.array([2**30, 0])]
    >>> plan = plan_contraction(twice, n_units=2, n_draws=2)
    >>> plan.position, plan.narrow.shape, plan.wide.shape
    (array([0, 0, 1]), (1, 2), (1, 2))
    """
    seen: dict[bytes, tuple[bool, int]] = {}
    kept: tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]] = ([], [])
    places: list[tuple[bool, int]] = []
    for column in columns:
        content = column.tobytes()
        if content not in seen:
            bound = n_draws * largest_magnitude(column)
            if bound >= FLOAT64_LIMIT:
                raise ValueError(
                    f"sums up to {bound} ({n_draws} draws of a statistic of magnitude {largest_magnitude(column)}) are not exact: "
                    f"float64 holds integers below {FLOAT64_LIMIT}"
                )
            is_wide = bound >= FLOAT32_LIMIT
            seen[content] = (is_wide, len(kept[is_wide]))
            kept[is_wide].append(column)
        places.append(seen[content])
    narrow, wide = (
        np.array(chosen, dtype).reshape(-1, n_units) for chosen, dtype in zip(kept, (np.float32, np.float64), strict=True)
    )
    position = np.array([place + is_wide * len(kept[0]) for is_wide, place in places], np.int64)
    return Contraction(narrow, wide, position)
