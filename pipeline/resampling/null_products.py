"""What swaps change in the sums of resamples: null data sets times resamples, column by column.

Sums are whole numbers below the limit of the type they are added in, so that no number depends on the order of additions. That is
why they may be made in bytes too, `pipeline.resampling.products.byte_product`: differences are cut into digits where they must be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.resampling.products.byte_columns import BASE, cut_digits
from pipeline.resampling.products.byte_product import MOST_DRAWS, choose_form, lay_out, multiply_bytes, pack_counts, times_digits
from pipeline.resampling.products.contract import FLOAT32_LIMIT, FLOAT64_LIMIT, largest_magnitude

__all__ = ["ByteWeighed", "Product", "Weighed", "WeighedOnce", "take_places"]

_LARGEST_COUNT = 255  # that a byte holds
_NEARLY_ALL = 16  # where fewer than one unit in so many is equal, all are summed over: picking units takes longer
_SPARSE = 8  # a column that differs from another in fewer than one of so many units is summed over those units


def take_places(table: NDArray[Any], places: NDArray[np.int64]) -> NDArray[Any]:
    """Return some columns of a table, in its order: the table itself where these are all."""
    return table if len(places) == table.shape[1] else np.take(table, places, axis=1)


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
        On which the two outputs differ; all of them where nearly all do.
    columns : tuple
        One a statistic.
    kind : type
        In which sums of either output, and of what swaps change, are exact.
    n_draws : int
        Of a resample.
    """

    units: NDArray[np.int64]
    columns: tuple[_Column, ...]
    kind: type[np.floating]
    n_draws: int

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
        if (len(difference) - len(units)) * _NEARLY_ALL < len(difference):
            units = np.arange(len(difference))
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
        return cls(units, tuple(columns), kind, n_draws)

    def weigh(self, weights: NDArray[np.float32]) -> Weighed | WeighedOnce:
        """Prepare to be multiplied with a block of resamples."""
        own = np.ascontiguousarray(take_places(weights, self.units).T)
        own = own.astype(self.kind, copy=False)
        if len(weights) == 1:
            return WeighedOnce(own * self._differences())
        return Weighed(self, tuple(own if self.is_everywhere(c) else own[c.places] for c in self.columns))

    def _differences(self) -> NDArray[np.floating]:
        """Return (place, statistic) differences, put together again."""
        table = np.zeros((len(self.units), len(self.columns)), self.kind)
        for k, column in enumerate(self.columns):
            if column.base >= 0:
                table[:, k] = table[:, column.base]
            table[column.places, k] += column.more
        return table

    def choose_form(self, sums: int) -> str | None:
        """Return the form of bytes in which so many sums of each column are to be made, None for floats."""
        return choose_form(sums * sum(len(c.places) for c in self.columns)) if self.n_draws <= MOST_DRAWS else None

    def weigh_in_bytes(self, weights: NDArray[np.float32], form: str) -> ByteWeighed | None:
        """Prepare to be multiplied in bytes; None where a count is too large for a byte."""
        if weights.max(initial=0.0) > _LARGEST_COUNT:
            return None
        together = [k for k, c in enumerate(self.columns) if len(c.places) and self.is_everywhere(c)]
        alone = [[k] for k, c in enumerate(self.columns) if len(c.places) and not self.is_everywhere(c)]
        counts = weights.astype(np.uint8)  # a fourth of the bytes to pick units from
        packed = [self._pack(counts, members, form) for members in (together, *alone) if members]
        return ByteWeighed(self, tuple(packed), len(weights))

    def _pack(self, counts: NDArray[np.uint8], members: Sequence[int], form: str) -> _Packed:
        """Pack the counts of the units that some columns have something in, all in the same ones."""
        places = self.columns[members[0]].places
        cut = [cut_digits(self.columns[k].more.astype(np.int64)) for k in members]
        rows = np.array([digit for digits in cut for digit in digits], np.int8)
        column = np.repeat(members, [len(digits) for digits in cut])
        factor = np.array([float(BASE) ** power for digits in cut for power in range(len(digits))])
        return _Packed(form, places, pack_counts(take_places(counts, self.units[places])), rows, column, factor)

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
    """

    product: Product
    weights: tuple[NDArray[np.floating], ...]

    def multiply(self, swapped: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return Σ w s D as (statistic, null, resample)."""
        columns = self.product.columns
        sums = np.zeros((len(columns), len(swapped), self.weights[0].shape[1] if self.weights else 1))
        for k, (column, weights) in enumerate(zip(columns, self.weights, strict=True)):
            if len(column.places):
                own = take_places(swapped, column.places)
                sums[k] = (own * column.more) @ weights
            if column.base >= 0:
                sums[k] += sums[column.base]
        return sums


@dataclass(frozen=True, eq=False)
class WeighedOnce:
    """Differences times one resample, all columns in one product.

    Parameters
    ----------
    table : (place, statistic) float
    """

    table: NDArray[np.floating]

    def multiply(self, swapped: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return Σ w s D as (statistic, null, 1)."""
        sums = swapped.astype(self.table.dtype) @ self.table
        return np.ascontiguousarray(sums.T, np.float64)[:, :, None]


@dataclass(frozen=True, eq=False)
class _Packed:
    """Columns that have something in the same units, as digits, and the counts of these units."""

    form: str
    places: NDArray[np.int64]
    counts: NDArray[np.uint8]
    digits: NDArray[np.int8]  # (digit, place)
    column: NDArray[np.int64]  # of each digit
    factor: NDArray[np.float64]  # what a digit counts

    def multiply(self, swapped: NDArray[np.int8]) -> NDArray[np.int32]:
        """Return (digit, ≥ null, ≥ resample) sums."""
        own = take_places(swapped, self.places)
        columns = times_digits(lay_out(own, self.form), self.digits)
        return multiply_bytes(self.counts, columns).reshape(len(self.digits), columns.columns // len(self.digits), -1)


@dataclass(frozen=True, eq=False)
class ByteWeighed:
    """Differences and a block of resamples in bytes.

    Parameters
    ----------
    product : Product
    packed : tuple
        Columns with something in the same units.
    resamples : int
    """

    product: Product
    packed: tuple[_Packed, ...]
    resamples: int

    def multiply(self, swapped: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return Σ w s D as (statistic, null, resample): the numbers of `Weighed`."""
        sums = np.zeros((len(self.product.columns), len(swapped), self.resamples))
        masks = swapped.view(np.int8)
        for some in self.packed:
            for column, factor, found in zip(some.column.tolist(), some.factor.tolist(), some.multiply(masks), strict=True):
                own = found[: len(swapped), : self.resamples]
                if factor == 1.0:
                    sums[column] = own  # the first digit of a column
                else:
                    sums[column] += factor * own
        for k, column in enumerate(self.product.columns):
            if column.base >= 0:
                sums[k] += sums[column.base]
        return sums
