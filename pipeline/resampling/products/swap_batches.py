"""The sums of a batch of swaps: by counting bits or, for columns of many bits and if that is faster, by multiplying bytes.

Both give the same integers: no number depends on the processor.
"""

from __future__ import annotations

import numpy as np

from pipeline.resampling.draws import Draws
from pipeline.resampling.products.bitplanes import SwapProduct, pad_words, plan_swap_product
from pipeline.resampling.products.byte_columns import ByteContraction
from pipeline.resampling.products.byte_product import blocks_of, choose_form, zero_counts
from pipeline.resampling.products.columns import StatisticColumns
from pipeline.resampling.products.contract import Product
from pipeline.resampling.swaps import draw_swap_words, spread_bits

__all__ = ["SwapBatches"]

_MANY_BITS = 3  # of a column on average, from which on bytes are multiplied in less time than bits are counted
_MOST_UNITS = 2**24  # of which sums of digits stay below 2^31


class SwapBatches:
    """Draws swaps and sums columns over them.

    Parameters
    ----------
    draws : Draws
    columns : StatisticColumns
    replicates : int
        Of the pass; no number depends on it.
    """

    def __init__(self, draws: Draws, columns: StatisticColumns, *, replicates: int) -> None:
        self._draws, self._words = draws, pad_words(draws.n_units)
        self._planes: SwapProduct = plan_swap_product(columns.contraction)
        narrow = self._planes.narrow
        is_long = len(narrow.planes) >= _MANY_BITS * max(len(narrow.is_signed), 1)
        work = replicates * draws.n_units * len(narrow.is_signed)
        form = choose_form(work) if is_long and draws.n_units <= _MOST_UNITS else None
        self._bytes = None if form is None else ByteContraction.of(columns.contraction, form=form, n_draws=draws.n_units)
        in_bytes = 0 if self._bytes is None else self._bytes.bytes_per_replicate
        self.bytes_per_replicate = self._planes.bytes_per_replicate + in_bytes
        self._masks, self._sums = zero_counts(0, draws.n_units), np.empty((0, 0), np.int32)

    @property
    def is_in_bytes(self) -> bool:
        """Whether bytes are multiplied rather than bits counted."""
        return self._bytes is not None

    def multiply(self, first: int, count: int) -> Product:
        """Return the sums of replicates from ``first``."""
        words = draw_swap_words(self._draws, first, count, n_words=self._words)
        if self._bytes is None:
            return self._planes.multiply(words)
        if len(self._masks) != blocks_of(count):
            self._masks, self._sums = zero_counts(count, self._draws.n_units), self._bytes.empty_sums(count)
        spread_bits(words, self._masks)
        return self._bytes.sum_masks(self._masks, count, out=self._sums)
