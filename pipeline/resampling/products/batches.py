"""The sums of a batch of replicates: counts in floats or bytes and their products, or few columns added as units are drawn.

All ways give the same integers: no number depends on the way that is chosen, or on the processor.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.draws import Draws, draw_counts, draw_weights
from pipeline.resampling.products.byte_columns import ByteContraction
from pipeline.resampling.products.byte_product import MOST_DRAWS, blocks_of, choose_form, is_form_asked, zero_counts
from pipeline.resampling.products.columns import StatisticColumns
from pipeline.resampling.products.contract import FLOAT32_LIMIT, Product
from pipeline.resampling.products.packed_columns import PackedColumns
from pipeline.resampling.products.packed_sums import PackedBatches
from pipeline.resampling.strata import StratifiedDraws, draw_stratified_weights

__all__ = ["ByteBatches", "FloatBatches", "make_batches"]

_FLOAT_BITS = FLOAT32_LIMIT.bit_length() - 1  # of whole numbers that single precision holds
_MOST_PER_UNIT = 32  # draws a unit on average, above which counts would too often be above 255


class FloatBatches:
    """Draws counts in single precision, and multiplies them in single or double precision.

    Several columns of small numbers share one column of single precision: two columns of right or wrong answers do so if at most
    4095 units are drawn.
    """

    def __init__(self, draws: Draws | StratifiedDraws, columns: StatisticColumns) -> None:
        self._draws, self._contraction = draws, columns.contraction
        self._packed = _pack(columns.contraction.narrow, draws.n_draws)
        self.bytes_per_replicate = columns.bytes_per_replicate
        if self._packed is not None:
            words = self._packed.words
            self._contraction = replace(self._contraction, narrow=words.astype(np.float32))
            self.bytes_per_replicate += (4 + 4) * len(words) + 3 * 4  # in floats and integers, and a column while it is taken out
        self.make_room(0)

    def make_room(self, batch: int) -> None:
        """Allocate memory for batches of this many replicates, once."""
        self._weights = np.empty((batch, self._draws.n_units), np.float32)
        self._sums = np.empty((len(self._contraction.narrow), batch), np.float32)
        self._apart = np.empty((0 if self._packed is None else len(self._packed.place), batch), np.float32)

    def multiply(self, first: int, count: int) -> Product:
        """Return the sums of replicates from ``first``."""
        if count > len(self._weights):
            self.make_room(count)
        has_room = count == self._sums.shape[1]
        if isinstance(self._draws, StratifiedDraws):
            weights = draw_stratified_weights(self._draws, first, count, out=self._weights)
        else:
            weights = draw_weights(self._draws, first, count, out=self._weights)
        product = self._contraction.multiply(weights, out=self._sums if has_room else None)
        if self._packed is None:
            return product
        apart = self._apart if has_room else np.empty((len(self._apart), count), np.float32)
        return replace(product, narrow=self._packed.take_apart(product.narrow.astype(np.int32), apart))


def _pack(narrow: NDArray[np.float32], n_draws: int) -> PackedColumns | None:
    """Pack columns for sums that float32 holds; None if that saves less than a quarter of them."""
    if not len(narrow):
        return None
    return PackedColumns.of(narrow.astype(np.int64), n_draws=n_draws, bits=_FLOAT_BITS, most_words=3 * len(narrow) // 4)


class ByteBatches:
    """Draws counts into bytes and multiplies these; a batch with a count above 255, which is rare, is made in floats."""

    def __init__(self, draws: Draws, columns: StatisticColumns, form: str) -> None:
        self._draws = draws
        self._contraction = ByteContraction.of(columns.contraction, form=form, n_draws=draws.n_draws)
        self._columns = columns
        self.bytes_per_replicate = self._contraction.bytes_per_replicate
        self._counts, self._sums = zero_counts(0, draws.n_units), np.empty((0, 0), np.int32)

    def make_room(self, batch: int) -> None:
        """Allocate memory for batches of this many replicates, once."""
        self._counts, self._sums = zero_counts(batch, self._draws.n_units), self._contraction.empty_sums(batch)

    def multiply(self, first: int, count: int) -> Product:
        """Return the sums of replicates from ``first``."""
        blocks = blocks_of(count)
        draw_counts(self._draws, first, count, self._counts[:blocks])
        out = self._sums if blocks == len(self._counts) else None
        product = self._contraction.multiply(self._counts[:blocks], count, out=out)
        return self._in_floats.multiply(first, count) if product is None else product

    @cached_property
    def _in_floats(self) -> FloatBatches:
        return FloatBatches(self._draws, self._columns)


def make_batches(
    draws: Draws | StratifiedDraws, columns: StatisticColumns, *, work: int
) -> FloatBatches | ByteBatches | PackedBatches:
    """Choose how to draw and multiply; no result depends on it."""
    if isinstance(draws, StratifiedDraws):
        return FloatBatches(draws, columns)
    if not is_form_asked() and (packed := PackedBatches.of(draws, columns.contraction, most_words=1)):
        return packed
    few = draws.n_draws <= min(_MOST_PER_UNIT * draws.n_units, MOST_DRAWS)
    form = choose_form(work) if few else None
    if form is not None:
        return ByteBatches(draws, columns, form)
    # A second word takes as long as a product in bytes, and less than one in floats.
    packed = None if is_form_asked() else PackedBatches.of(draws, columns.contraction, most_words=2)
    return packed or FloatBatches(draws, columns)
