"""Weights times columns in exact products: distinct columns are stored in the narrowest safe form and multiplied.

Sums of integers are exact in a float, in any order, while every partial sum stays below 2**24 (float32) or 2**53
(float64). A partial sum is at most n_draws · max|statistic|, which is known before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass

__all__ = [
    "FLOAT32_LIMIT",
    "FLOAT64_LIMIT",
    "FORM_VARIABLE",
    "Contraction",
    "DistinctColumns",
    "Product",
    "is_sparse",
    "largest_magnitude",
    "plan_contraction",
]

FORM_VARIABLE = "PIPELINE_PRODUCT"
"""Names the form of products whatever the work: one of those in bytes that this processor has, or ``float`` for none of them."""

FLOAT32_LIMIT = 2**24
FLOAT64_LIMIT = 2**53

_FACTOR = 6364136223846793005  # odd, with 2⁶² different powers modulo 2⁶⁴, as which they wrap

_SPARSE_SHARE = 16  # a column that is not 0 in at most one unit of so many is summed over such units alone


def largest_magnitude(values: NDArray[np.signedinteger[Any]]) -> int:
    """Return max|value| as a Python integer, 0 for an empty array; ``abs`` of the smallest integer would overflow."""
    return max(int(values.max()), -int(values.min())) if values.size else 0


class DistinctColumns:
    """Columns of whole numbers, equal ones once: only columns with the same product with one fixed column are compared.

    Attributes
    ----------
    columns : list of (unit,) int64
        As they were added.
    """

    def __init__(self) -> None:
        self.columns: list[NDArray[np.int64]] = []
        self._numbers: dict[int, list[int]] = {}
        self._factors = np.empty(0, np.int64)

    def number(self, column: NDArray[np.int64]) -> int:
        """Return the number of the column that is equal to this one, which is added if there is none.

        Examples
        --------
        >>> distinct = DistinctColumns()
        >>> [distinct.number(np.array(column)) for column in ([1, 2], [2, 1], [1, 2])]
        [0, 1, 0]
        """
        if len(self._factors) != len(column):
            self._factors = np.cumprod(np.full(len(column), _FACTOR))
        alike = self._numbers.setdefault(int(np.dot(column, self._factors)), [])
        for number in alike:
            if np.array_equal(self.columns[number], column):
                return number
        alike.append(len(self.columns))
        self.columns.append(column)
        return alike[-1]


def is_sparse(column: NDArray[np.int64]) -> bool:
    """Say whether a column is 0 in so many units that it is summed over the other units alone."""
    return int(np.count_nonzero(column)) * _SPARSE_SHARE <= len(column)


@dataclass(frozen=True, eq=False)
class Product:
    """Summed columns of a batch of replicates; columns are numbered through the three arrays in this order.

    Parameters
    ----------
    narrow : (column, ≥ replicate) float32 or int32
    sparse : (column, ≥ replicate) float32 or int32
    wide : (column, ≥ replicate) float64
        Columns that float32 cannot sum exactly.
    replicates : int
        How many replicates have sums; what lies beyond has no meaning.
    """

    narrow: NDArray[Any]
    sparse: NDArray[Any]
    wide: NDArray[np.float64]
    replicates: int


@dataclass(frozen=True, eq=False)
class Contraction:
    """Distinct columns, ready to be multiplied.

    Parameters
    ----------
    narrow : (column, unit) float32
    sparse : (column, some unit) float32
        Columns that are 0 elsewhere.
    units : (some unit,) int64
        In which units a sparse column is not 0.
    wide : (column, unit) float64
    position : (asked column,) int64
        Where each column that was asked for is among the distinct ones: narrow, then sparse, then wide.
    """

    narrow: NDArray[np.float32]
    sparse: NDArray[np.float32]
    units: NDArray[np.int64]
    wide: NDArray[np.float64]
    position: NDArray[np.int64]

    @property
    def bytes_per_replicate(self) -> int:
        """Memory of one replicate: weights (again in float64 where there are wide columns) and sums."""
        units = int(self.narrow.shape[1])
        narrow = 4 * (units + len(self.units) + len(self.narrow) + len(self.sparse))
        return narrow + (8 * units + 8 * len(self.wide) if len(self.wide) else 0)

    def multiply(self, weights: NDArray[np.float32], *, out: NDArray[np.float32] | None = None) -> Product:
        """Sum the columns over (replicate, unit) weights; the replicate axis of the result is contiguous.

        ``out``, (narrow column, replicate), is filled if given: fresh memory costs a few per cent of the product.
        """
        empty = np.empty((0, len(weights)))
        return Product(
            narrow=np.matmul(self.narrow, weights.T, out=out),
            sparse=self.sparse @ weights[:, self.units].T if len(self.sparse) else empty.astype(np.float32),
            wide=self.wide @ weights.T.astype(np.float64) if len(self.wide) else empty,
            replicates=len(weights),
        )


def plan_contraction(columns: Sequence[NDArray[np.int64]], *, n_units: int, n_draws: int) -> Contraction:
    """Collect the distinct columns and choose a form for each before anything is drawn.

    Parameters
    ----------
    columns : sequence of (unit,) int64
        Statistics of systems; equal columns are multiplied once.
    n_units, n_draws : int
        Units of a column, and the largest sum of a row of weights.

    Raises
    ------
    ValueError
        If ``n_draws · max|statistic|`` reaches 2**53.

    Examples
    --------
    >>> twice = [np.array([1, 2]), np.array([1, 2]), np.array([2**30, 0])]
    >>> plan = plan_contraction(twice, n_units=2, n_draws=2)
    >>> plan.position, plan.narrow.shape, plan.wide.shape
    (array([0, 0, 1]), (1, 2), (1, 2))
    """
    distinct = DistinctColumns()
    numbers = [distinct.number(column) for column in columns]
    kept: tuple[list[NDArray[np.int64]], ...] = ([], [], [])  # narrow, sparse, wide
    places: list[tuple[int, int]] = []
    for column in distinct.columns:
        form = _form_of(column, n_draws)
        places.append((form, len(kept[form])))
        kept[form].append(column)
    first = np.cumsum([0, *map(len, kept)])
    sparse, wide = (np.array(chosen, np.int64).reshape(-1, n_units) for chosen in kept[1:])
    units = np.flatnonzero(sparse.any(axis=0))
    return Contraction(
        narrow=np.array(kept[0], np.float32).reshape(-1, n_units),  # exact: only what float32 holds is narrow
        sparse=np.ascontiguousarray(sparse[:, units], np.float32),
        units=units,
        wide=wide.astype(np.float64),
        position=np.array([first[form] + place for form, place in places], np.int64)[np.array(numbers, np.int64)],
    )


def _form_of(column: NDArray[np.int64], n_draws: int) -> int:
    largest = largest_magnitude(column)
    bound = n_draws * largest
    if bound >= FLOAT64_LIMIT:
        raise ValueError(
            f"sums up to {bound} ({n_draws} draws of a statistic of magnitude {largest}) are not exact: "
            f"float64 holds integers below {FLOAT64_LIMIT}"
        )
    if bound >= FLOAT32_LIMIT:
        return 2
    return 1 if is_sparse(column) else 0
