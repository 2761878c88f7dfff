"""The sums of few columns of small numbers, added up as units are drawn: nothing is counted, and nothing is multiplied.

Columns stand side by side in words of 64 bits, each moved so that its smallest number is 0, in as many bits as its largest
possible sum has. Adding the word of each unit drawn adds all columns at once, and no sum reaches the bits of its neighbour. Three
systems that are right or wrong on each of 1000 items fit into half a word.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass
from pipeline.resampling.draws import Draws, check_replicates, find_units
from pipeline.resampling.products.contract import Contraction, Product

__all__ = ["PackedBatches"]

_BITS = 64


@dataclass(frozen=True, eq=False)
class _Packed:
    """Columns side by side.

    Parameters
    ----------
    words : (word, unit) uint64
    place : (column, 3) uint64
        Word of each column, its lowest bit there, and the mask of its sum.
    constant : (column,) int64
        What to add to its sum.
    """

    words: NDArray[np.uint64]
    place: NDArray[np.uint64]
    constant: NDArray[np.int64]


class PackedBatches:
    """Draws units and adds their words, with the same result as a product."""

    def __init__(self, draws: Draws, packed: _Packed, narrow: int) -> None:
        self._draws, self._packed, self._narrow = draws, packed, narrow
        self._units = np.empty((4, -(-draws.n_draws // 4)), np.uint32)
        self.bytes_per_replicate = 8 * len(packed.words) + 4 * len(packed.place) + 24  # of one column while it is taken out

    @classmethod
    def of(cls, draws: Draws, contraction: Contraction, *, most_words: int) -> Self | None:
        """Pack columns; None if they need more than ``most_words`` words, or if float32 cannot hold their sums."""
        if len(contraction.wide) or len(contraction.narrow) + len(contraction.sparse) > _BITS * most_words:
            return None
        columns = np.zeros((len(contraction.narrow) + len(contraction.sparse), draws.n_units), np.int64)
        columns[: len(contraction.narrow)] = contraction.narrow
        columns[len(contraction.narrow) :, contraction.units] = contraction.sparse
        packed = _pack(columns, draws.n_draws, most_words)
        return None if packed is None else cls(draws, packed, len(contraction.narrow))

    def make_room(self, batch: int) -> None:
        """Do nothing: a replicate is only a few words."""

    def multiply(self, first: int, count: int) -> Product:
        """Return the sums of replicates from ``first``."""
        check_replicates(first, count)
        packed, draws = self._packed, self._draws
        added = np.empty((len(packed.words), count), np.uint64)
        _add(np.uint64(draws.key), np.uint64(first), draws.n_draws, packed.words, self._units, added)
        sums = np.empty((len(packed.place), count), np.float32)
        for row, (word, low, mask), constant in zip(sums, packed.place, packed.constant.tolist(), strict=True):
            row[:] = ((added[word] >> low) & mask).view(np.int64) + constant
        narrow = self._narrow
        return Product(narrow=sums[:narrow], sparse=sums[narrow:], wide=np.empty((0, count)), replicates=count)


def _pack(columns: NDArray[np.int64], n_draws: int, most_words: int) -> _Packed | None:
    """Lay columns side by side; None where they need more words."""
    least, largest = columns.min(axis=1), columns.max(axis=1)
    place: list[tuple[int, int, int]] = []
    word = used = 0
    for span in (largest - least).tolist():
        bits = (span * n_draws).bit_length()
        if used + bits > _BITS:
            word, used = word + 1, 0
        if word >= most_words or bits > _BITS:
            return None
        place.append((word, used, (1 << bits) - 1))
        used += bits
    words = np.zeros((word + 1, columns.shape[1]), np.uint64)
    for (at, low, _), column, lowest in zip(place, columns, least, strict=True):
        words[at] |= (column - lowest).astype(np.uint64) << np.uint64(low)
    return _Packed(words, np.array(place, np.uint64).reshape(-1, 3), least * n_draws)


@bare_kernel("uint64, uint64, int64, uint64[:, ::1], uint32[:, ::1], uint64[:, ::1]")
def _add(
    key: np.uint64,
    first: np.uint64,
    n_draws: int,
    words: NDArray[np.uint64],
    units: NDArray[np.uint32],
    added: NDArray[np.uint64],
) -> None:
    n_units = np.uint64(words.shape[1])
    for replicate in range(added.shape[1]):
        find_units(key, first + np.uint64(replicate), n_units, units)
        for word in range(words.shape[0]):
            total = np.uint64(0)
            for lane in range(4):
                for quad in range((n_draws - lane + 3) // 4):
                    total += words[word, units[lane, quad]]
            added[word, replicate] = total
