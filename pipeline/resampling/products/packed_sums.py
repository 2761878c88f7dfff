"""The sums of few columns of small numbers, added up while units are drawn, without counts and products.

Columns stand side by side in words of 64 bits, and adding the word of each unit drawn adds all columns at once. Three systems that
are right or wrong on each of 1000 items fit into half a word.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.resampling.draws import Draws, check_replicates, find_units
from pipeline.resampling.products.contract import Contraction, Product
from pipeline.resampling.products.packed_columns import PackedColumns

__all__ = ["PackedBatches"]

_BITS = 64


class PackedBatches:
    """Draws units and adds their words, with the same result as a product."""

    def __init__(self, draws: Draws, packed: PackedColumns, narrow: int) -> None:
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
        packed = PackedColumns.of(columns, n_draws=draws.n_draws, bits=_BITS, most_words=most_words)
        return None if packed is None else cls(draws, packed, len(contraction.narrow))

    def make_room(self, batch: int) -> None:
        """Do nothing: a replicate is only a few words."""

    def multiply(self, first: int, count: int) -> Product:
        """Return the sums of replicates from ``first``."""
        check_replicates(first, count)
        packed, draws = self._packed, self._draws
        added = np.empty((len(packed.words), count), np.uint64)
        _add(np.uint64(draws.key), np.uint64(first), draws.n_draws, packed.words, self._units, added)
        sums = packed.take_apart(added.view(np.int64), np.empty((len(packed.place), count), np.float32))
        narrow = self._narrow
        return Product(narrow=sums[:narrow], sparse=sums[narrow:], wide=np.empty((0, count)), replicates=count)


@bare_kernel
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
