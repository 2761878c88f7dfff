"""Columns side by side in words: one sum of a word is the sums of several columns.

Each column is shifted so that its smallest number is 0, and takes as many bits of a word as its largest possible sum has. No sum
reaches the bits of its neighbour, so sums can be taken apart again. A column that is the same number everywhere takes no bits.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass

__all__ = ["PackedColumns"]

_MOST = 63
"""Bits of a column: masks are signed, as sums are."""


@dataclass(frozen=True, eq=False)
class PackedColumns:
    """Columns of whole numbers, packed for sums of a known number of draws.

    Parameters
    ----------
    words : (word, unit) uint64
    place : (column, 3) int64
        Word of each column, its lowest bit there, and the mask of its sum.
    constant : (column,) int64
        What to add to its sum.
    """

    words: NDArray[np.uint64]
    place: NDArray[np.int64]
    constant: NDArray[np.int64]

    @classmethod
    def of(cls, columns: NDArray[np.int64], *, n_draws: int, bits: int, most_words: int) -> Self | None:
        """Pack (column, unit) numbers into words of ``bits`` bits; None if that takes more than ``most_words``.

        Examples
        --------
        >>> packed = PackedColumns.of(np.array([[0, 1, 1], [3, 2, 3]]), n_draws=3, bits=24, most_words=1)
        >>> packed.words  # sums of at most 3 take two bits each
        array([[4, 1, 5]], dtype=uint64)
        >>> packed.take_apart(np.array([[4 + 4 + 1]]), np.empty((2, 1)))  # the first unit twice, the second once
        array([[1.],
               [8.]])
        """
        least, largest = columns.min(axis=1), columns.max(axis=1)
        place: list[tuple[int, int, int]] = []
        word = used = 0
        for span in (largest - least).tolist():
            wide = (span * n_draws).bit_length()
            if used + wide > bits:
                word, used = word + 1, 0
            if word >= most_words or wide > min(bits, _MOST):
                return None
            place.append((word, used, (1 << wide) - 1))
            used += wide
        words = np.zeros((word + 1, columns.shape[1]), np.uint64)
        for (at, low, _), column, lowest in zip(place, columns, least, strict=True):
            words[at] |= (column - lowest).astype(np.uint64) << np.uint64(low)
        return cls(words, np.array(place, np.int64).reshape(-1, 3), least * n_draws)

    def take_apart(self, sums: NDArray[np.signedinteger[Any]], out: NDArray[Any]) -> NDArray[Any]:
        """Write the (column, replicate) sums of columns into ``out``, from the (word, replicate) sums of words, and return it."""
        for row, (word, low, mask), constant in zip(out, self.place.tolist(), self.constant.tolist(), strict=True):
            row[:] = ((sums[word] >> low) & mask) + constant
        return out
