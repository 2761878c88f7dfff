"""Sums of columns over swap masks by counting bits, in place of the matrix product where weights are 0 and 1.

A whole number is its bits: Σ_i w_i x_i = Σ_k 2^k · #{i: w_i = 1, bit k of x_i = 1}, and a processor counts the bits that 64 units
have in common in one instruction. Columns of 0 and 1 take a tenth of the time of a single-precision product, lengths of
sentences (six bits) a quarter; every sum is an integer, so nothing depends on the order of additions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.compiled.loops import count_bits
from pipeline.dataclass import dataclass
from pipeline.resampling.products.contract import Contraction, Product, largest_magnitude

__all__ = ["BitPlanes", "SwapProduct", "pad_words", "plan_swap_product"]

_STEP = 8  # words that are counted in one pass over the replicates; columns and masks are padded to whole steps
_TAKEN_APART = 2**17  # bits at a time: their numbers stay in the second-level cache
_WIDTHS = (np.int8, np.int16, np.int32, np.int64)  # the narrower, the faster a column is taken apart
_ROWS = 64  # replicates whose masks stay in the first-level cache


@dataclass(frozen=True, eq=False)
class BitPlanes:
    """Columns of whole numbers, bit by bit.

    Parameters
    ----------
    planes : (plane, word) uint64
        Bit i mod 64 of word i // 64 belongs to unit i; planes of a column stand together, the highest first.
    first : (column + 1,) int64
        First plane of each column.
    is_signed : (column,) bool
        The highest plane counts negative: two's complement.
    """

    planes: NDArray[np.uint64]
    first: NDArray[np.int64]
    is_signed: NDArray[np.bool_]

    @classmethod
    def of(cls, columns: NDArray[np.int64]) -> BitPlanes:
        """Split (column, unit) whole numbers into bits.

        Examples
        --------
        >>> found = BitPlanes.of(np.array([[1, 0, 3], [0, 0, 0], [-1, 1, 0]]))
        >>> found.planes[:, 0], found.first
        (array([4, 5, 1, 3], dtype=uint64), array([0, 2, 2, 4]))
        """
        is_signed = columns.min(axis=1, initial=0) < 0
        bits = [largest_magnitude(column).bit_length() + signed for column, signed in zip(columns, is_signed.tolist(), strict=True)]
        first = np.cumsum([0, *bits], dtype=np.int64)
        column = np.repeat(np.arange(len(columns)), bits)
        power = first[column + 1] - 1 - np.arange(first[-1])
        planes = np.zeros((first[-1], pad_words(columns.shape[1])), "<u8")
        in_bytes = planes.view(np.uint8)
        step = max(_TAKEN_APART // max(columns.shape[1], 1), 1)
        narrow = next(kind for kind in _WIDTHS if max(bits, default=0) <= np.iinfo(kind).bits)
        columns, power = columns.astype(narrow), power.astype(narrow)  # of what is cut off no bit is asked for
        for start in range(0, len(column), step):
            some = slice(start, start + step)
            shifted = columns[column[some]] >> power[some, None]
            packed = np.packbits(shifted & narrow(1), axis=1, bitorder="little")
            in_bytes[some, : packed.shape[1]] = packed
        planes = planes.astype(np.uint64, copy=False)
        return cls(planes, first, is_signed)

    def take(self, columns: NDArray[np.int64]) -> BitPlanes:
        """Return some of the columns, as often and in the order in which they are named.

        Examples
        --------
        >>> found = BitPlanes.of(np.array([[1, 0, 3], [0, 0, 0], [-1, 1, 0]])).take(np.array([2, 0]))
        >>> found.planes[:, 0], found.first, found.is_signed
        (array([1, 3, 4, 5], dtype=uint64), array([0, 2, 4]), array([ True, False]))
        """
        lengths = np.diff(self.first)[columns]
        first = np.cumsum([0, *lengths.tolist()], dtype=np.int64)
        plane = np.repeat(self.first[columns] - first[:-1], lengths) + np.arange(first[-1])
        return BitPlanes(self.planes[plane], first, self.is_signed[columns])

    def sum_over(self, masks: NDArray[np.uint64], out: NDArray[Any], at: NDArray[np.int64] | None = None) -> None:
        """Sum the columns over (word, replicate) masks into (column, replicate) floats that hold the sums exactly.

        ``at``, (column,) and ascending, is the word of the masks at which each column begins: by default the first.
        """
        at = np.zeros(len(self.is_signed), np.int64) if at is None else at
        needed = self.planes.shape[1] + int(at.max(initial=0))
        if masks.shape[0] < needed:
            raise ValueError(f"masks have {masks.shape[0]} words, columns have {needed}")
        _sum_planes(self.planes, self.first, self.is_signed, masks, at, out)


@dataclass(frozen=True, eq=False)
class SwapProduct:
    """The columns of a contraction, ready to be summed over swap masks.

    Parameters
    ----------
    narrow, sparse, wide : BitPlanes
        As in the `Contraction`.
    units : (some unit,) int64
        Those of the sparse columns.
    """

    narrow: BitPlanes
    sparse: BitPlanes
    wide: BitPlanes
    units: NDArray[np.int64]

    @property
    def bytes_per_replicate(self) -> int:
        """Memory of one replicate: masks and summed columns."""
        words = int(self.narrow.planes.shape[1] + self.sparse.planes.shape[1])
        return 8 * words + 4 * (len(self.narrow.is_signed) + len(self.sparse.is_signed)) + 8 * len(self.wide.is_signed)

    def multiply(self, masks: NDArray[np.uint64]) -> Product:
        """Sum every column over (word, replicate) masks: what `Contraction.multiply` gives for the same masks as weights."""
        replicates = masks.shape[1]
        narrow = np.empty((len(self.narrow.is_signed), replicates), np.float32)
        sparse = np.empty((len(self.sparse.is_signed), replicates), np.float32)
        wide = np.empty((len(self.wide.is_signed), replicates))
        self.narrow.sum_over(masks, narrow)
        self.wide.sum_over(masks, wide)
        if len(sparse):
            chosen = np.zeros((self.sparse.planes.shape[1], replicates), np.uint64)
            _choose_units(masks, self.units, chosen)
            self.sparse.sum_over(chosen, sparse)
        return Product(narrow, sparse, wide, narrow.shape[1])


def plan_swap_product(contraction: Contraction) -> SwapProduct:
    """Split the columns of a contraction into bits; its floats are whole numbers."""
    return SwapProduct(
        narrow=BitPlanes.of(contraction.narrow.astype(np.int64)),
        sparse=BitPlanes.of(contraction.sparse.astype(np.int64)),
        wide=BitPlanes.of(contraction.wide.astype(np.int64)),
        units=contraction.units,
    )


def pad_words(n_units: int) -> int:
    """Return the number of 64-bit words of a mask, up to a whole step."""
    return max(-(-n_units // (64 * _STEP)), 1) * _STEP


@bare_kernel
def _sum_planes(
    planes: NDArray[np.uint64],
    first: NDArray[np.int64],
    is_signed: NDArray[np.bool_],
    masks: NDArray[np.uint64],
    at: NDArray[np.int64],
    out: NDArray[Any],
) -> None:
    words = planes.shape[1]
    near = np.zeros((words, _ROWS), np.uint64)  # rows of the masks lie a power of two apart: they would share cache lines
    total = np.empty(_ROWS, np.int64)
    for start in range(0, masks.shape[1], _ROWS):
        rows = min(_ROWS, masks.shape[1] - start)
        for column in range(len(first) - 1):
            if column == 0 or at[column] != at[column - 1]:
                # Not by assigning arrays: Numba takes six seconds to compile the error message about their shapes.
                for word in range(words):
                    source, target = masks[at[column] + word, start : start + rows], near[word]
                    for row in range(len(source)):
                        target[row] = source[row]
            total[:] = 0
            for plane in range(first[column], first[column + 1]):
                sign = -1 if is_signed[column] and plane == first[column] else 1
                for word in range(0, words, _STEP):
                    shift = 2 if word == 0 else 1
                    p0, p1, p2, p3 = planes[plane, word], planes[plane, word + 1], planes[plane, word + 2], planes[plane, word + 3]
                    p4, p5, p6, p7 = (
                        planes[plane, word + 4],
                        planes[plane, word + 5],
                        planes[plane, word + 6],
                        planes[plane, word + 7],
                    )
                    for row in range(_ROWS):
                        found = (
                            (count_bits(near[word, row] & p0) + count_bits(near[word + 1, row] & p1))
                            + (count_bits(near[word + 2, row] & p2) + count_bits(near[word + 3, row] & p3))
                            + (count_bits(near[word + 4, row] & p4) + count_bits(near[word + 5, row] & p5))
                            + (count_bits(near[word + 6, row] & p6) + count_bits(near[word + 7, row] & p7))
                        )
                        total[row] = total[row] * shift + sign * found
            for row in range(rows):
                out[column, start + row] = total[row]


@bare_kernel
def _choose_units(masks: NDArray[np.uint64], units: NDArray[np.int64], chosen: NDArray[np.uint64]) -> None:
    """Gather the bits of some units into (word, replicate) masks of zeros."""
    for place in range(len(units)):
        word, bit = units[place] // 64, np.uint64(units[place] % 64)
        target, at = place // 64, np.uint64(place % 64)
        for row in range(masks.shape[1]):
            chosen[target, row] |= ((masks[word, row] >> bit) & np.uint64(1)) << at
