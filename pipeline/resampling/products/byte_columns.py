"""The columns of a contraction in signed bytes: larger numbers are cut into digits, multiplied digit by digit, and added up again.

Sums are exactly those that single and double precision give: none depends on the way it was made.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass
from pipeline.resampling.products.byte_product import (
    LANES,
    ByteColumns,
    blocks_of,
    lay_out,
    multiply_bytes,
    quads_of,
    take_units,
    zero_counts,
)
from pipeline.resampling.products.contract import Contraction, Product

__all__ = ["BASE", "ByteContraction", "cut_digits"]

BASE = 128
"""Of digits −64 … 63; the highest may be any signed byte, and a column of signed bytes is a digit by itself."""


def cut_digits(column: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return signed bytes d_0, d_1 … with column = Σ d_k · `BASE`ᵏ, unit by unit: as few as hold the largest.

    Examples
    --------
    >>> [digit.tolist() for digit in cut_digits(np.array([5, -300]))]
    [[5, -44], [0, -2]]
    """
    digits, rest = [], column
    while len(rest) and not (rest.min() >= -BASE and rest.max() < BASE):
        digit = (rest + BASE // 2) % BASE - BASE // 2
        digits.append(digit)
        rest = (rest - digit) // BASE
    return [*digits, rest]


@dataclass(frozen=True, eq=False)
class _Digits:
    """Columns as digits: the lowest of each column first, then all others.

    Parameters
    ----------
    laid : ByteColumns
        A row for each digit.
    columns : int
    column : (row beyond the first of each column,) int64
        The column that a row belongs to.
    factor : (row beyond the first of each column,) int64
        What its sums are multiplied by.
    """

    laid: ByteColumns
    columns: int
    column: NDArray[np.int64]
    factor: NDArray[np.int64]

    @classmethod
    def of(cls, columns: NDArray[np.int64], form: str) -> _Digits:
        """Cut (column, unit) whole numbers below 2⁵³ in size."""
        large = np.flatnonzero((columns.min(axis=1, initial=0) < -BASE) | (columns.max(axis=1, initial=0) >= BASE))
        lowest, higher, column, factor = columns.copy() if large.size else columns, [], [], []
        for place in large.tolist():
            digits = cut_digits(columns[place])
            lowest[place] = digits[0]
            higher += digits[1:]
            column += [place] * (len(digits) - 1)
            factor += [BASE**power for power in range(1, len(digits))]
        rows = np.concatenate([lowest, np.array(higher)]) if higher else lowest
        return cls(lay_out(rows, form), len(columns), np.array(column, np.int64), np.array(factor, np.int64))

    def narrow(self, counts: NDArray[np.uint8], out: NDArray[np.int32] | None) -> NDArray[np.int32]:
        """Return (column, replicate) sums that are below 2²⁴."""
        sums = multiply_bytes(counts, self.laid, out=out)
        if len(self.column):
            _carry(sums, self.columns, self.column, self.factor)
        return sums[: self.columns]

    def wide(self, counts: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return (column, replicate) sums that are below 2⁵³."""
        sums = multiply_bytes(counts, self.laid)
        total = sums[: self.columns].astype(np.int64)
        for row, (column, factor) in enumerate(zip(self.column.tolist(), self.factor.tolist(), strict=True)):
            total[column] += factor * sums[self.columns + row].astype(np.int64)
        return total.astype(np.float64)


@dataclass(frozen=True, eq=False)
class ByteContraction:
    """Distinct columns, ready to be multiplied by counts in bytes.

    Parameters
    ----------
    n_draws : int
        What the counts of a replicate sum to.
    narrow, sparse, wide : _Digits
        Columns as a `Contraction` has them; the last narrow one is all ones, and not a column of the contraction.
    units : (some unit,) int64
        In which units a sparse column is not 0.
    """

    n_draws: int
    narrow: _Digits
    sparse: _Digits
    units: NDArray[np.int64]
    wide: _Digits

    @classmethod
    def of(cls, contraction: Contraction, *, form: str, n_draws: int) -> ByteContraction:
        """Lay the columns of a contraction out in bytes of one of `pipeline.resampling.products.byte_product.forms`."""
        narrow, sparse, wide = (
            _Digits.of(columns.astype(np.int64), form)
            for columns in (
                np.concatenate([contraction.narrow, np.ones((1, contraction.narrow.shape[1]), np.float32)]),
                contraction.sparse,
                contraction.wide,
            )
        )
        return cls(n_draws, narrow, sparse, contraction.units, wide)

    @property
    def bytes_per_replicate(self) -> int:
        """Memory of one replicate: counts, and sums in 32 bits, for wide columns in 64 bits too."""
        counts = 4 * (self.narrow.laid.quads + quads_of(len(self.units)))
        return counts + 4 * (self.narrow.laid.columns + self.sparse.laid.columns + self.wide.laid.columns) + 16 * self.wide.columns

    def empty_sums(self, replicates: int) -> NDArray[np.int32]:
        """Return an array for the narrow sums of this many replicates."""
        return np.empty((self.narrow.laid.columns, LANES * blocks_of(replicates)), np.int32)

    def multiply(self, counts: NDArray[np.uint8], replicates: int, *, out: NDArray[np.int32] | None = None) -> Product | None:
        """Sum the columns over counts, or return None if a count is above 255.

        Parameters
        ----------
        counts : (block, quad, 16, 4) uint8
            From `pipeline.resampling.draws.draw_counts`.
        replicates : int
            How many were drawn.
        out : int32, optional
            From `empty_sums`.
        """
        product, drawn = self._sum(counts, replicates, out)
        return product if np.all(drawn == self.n_draws) else None

    def sum_masks(self, masks: NDArray[np.uint8], replicates: int, *, out: NDArray[np.int32] | None = None) -> Product:
        """Sum the columns over counts of 0 and 1, of which any number may be 1."""
        return self._sum(masks, replicates, out)[0]

    def _sum(self, counts: NDArray[np.uint8], replicates: int, out: NDArray[np.int32] | None) -> tuple[Product, NDArray[np.int32]]:
        """Return the sums, and what the counts of each replicate sum to."""
        narrow = self.narrow.narrow(counts, out)
        width = narrow.shape[1]
        sparse = np.empty((0, width), np.int32)
        if self.sparse.columns:
            some = zero_counts(width, len(self.units))
            take_units(counts, self.units, some)
            sparse = self.sparse.narrow(some, None)
        wide = self.wide.wide(counts) if self.wide.columns else np.empty((0, width))
        return Product(narrow[:-1], sparse, wide, replicates), narrow[-1, :replicates]


@bare_kernel
def _carry(sums: NDArray[np.int32], columns: int, column: NDArray[np.int64], factor: NDArray[np.int64]) -> None:
    for row in range(len(column)):
        target, digit, times = sums[column[row]], sums[columns + row], np.int32(factor[row])
        for i in range(len(target)):
            target[i] += times * digit[i]
