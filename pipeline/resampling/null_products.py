"""Sums over resamples of what swaps change: null data sets times resamples, column by column.

Sums are whole numbers below the limit of the type they are added in, so that no number depends on the order of additions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.products.contract import FLOAT32_LIMIT, FLOAT64_LIMIT, largest_magnitude

__all__ = ["Product", "Weighed"]

_SPARSE = 8  # a column that differs from another in fewer than one of so many units is summed over those units


@dataclass(frozen=True, eq=False)
class _Column:
    """A column of differences: that of an earlier one (−1: of none), and something in some of the discordant units."""

    base: int
    places: NDArray[np.int64]
    more: NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Product:
    """Differences of the discordant units, column by column.

    Parameters
    ----------
    units : (place,) int64
        On which the two outputs differ.
    columns : tuple
        One a statistic.
    kind : type
        In which sums of either output, and of what swaps change, are exact.
    """

    units: NDArray[np.int64]
    columns: tuple[_Column, ...]
    kind: type[np.floating]

    @classmethod
    def of(cls, statistics: NDArray[np.int64], n_draws: int) -> Product:
        """Write each column as an earlier one and a rest in as few units as can be: lengths and n-gram totals differ little.

        Parameters
        ----------
        statistics : (unit, 2, statistic) int64
            Of the two outputs.
        n_draws : int
            Of a resample.
        """
        difference = statistics[:, 1] - statistics[:, 0]
        units = np.flatnonzero(difference.any(axis=1))
        difference = difference[units]
        bound = n_draws * 2 * largest_magnitude(statistics)
        if bound >= FLOAT64_LIMIT:
            raise ValueError(f"sums up to {bound} are not exact: float64 holds integers below {FLOAT64_LIMIT}")
        kind = np.float32 if bound < FLOAT32_LIMIT else np.float64
        columns: list[_Column] = []
        for k in range(difference.shape[1]):
            rests = [difference[:, k]] + [difference[:, k] - difference[:, earlier] for earlier in range(k)]
            base = min(range(len(rests)), key=lambda choice: (np.count_nonzero(rests[choice]), choice))
            places = np.flatnonzero(rests[base])
            if len(places) * _SPARSE > len(units):
                base, places = 0, np.arange(len(units))  # nothing is gained
            columns.append(_Column(base - 1, places, rests[base][places].astype(kind)))
        return cls(units, tuple(columns), kind)

    def weigh(self, weights: NDArray[np.float32]) -> Weighed:
        """Make ready to be multiplied with a block of resamples."""
        own = np.ascontiguousarray(weights[:, self.units].T)
        own = own.astype(self.kind, copy=False)
        found = tuple(own if self.is_everywhere(c) else own[c.places] for c in self.columns)
        if len(weights) == 1:  # times the differences here, once, and not in every null data set
            return Weighed(self, tuple(one * c.more[:, None] for one, c in zip(found, self.columns, strict=True)), differ=True)
        return Weighed(self, found)

    def is_everywhere(self, column: _Column) -> bool:
        """Whether a column has something in all discordant units."""
        return len(column.places) == len(self.units)


@dataclass(frozen=True, eq=False)
class Weighed:
    """Differences and a block of resamples.

    Parameters
    ----------
    product : Product
    weights : tuple of (place, resample) float
        Of the units of each column.
    differ : bool
        Whether they are multiplied with the differences already.
    """

    product: Product
    weights: tuple[NDArray[np.floating], ...]
    differ: bool = False

    def multiply(self, swapped: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return Σ w s D as (statistic, null, resample)."""
        columns = self.product.columns
        sums = np.zeros((len(columns), len(swapped), self.weights[0].shape[1] if self.weights else 1))
        for k, (column, weights) in enumerate(zip(columns, self.weights, strict=True)):
            if len(column.places):
                own = swapped if self.product.is_everywhere(column) else swapped[:, column.places]
                sums[k] = (own if self.differ else own * column.more) @ weights
            if column.base >= 0:
                sums[k] += sums[column.base]
        return sums
