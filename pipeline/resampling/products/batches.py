"""The sums of a batch of replicates: counts in floats or bytes and their products, or few columns added as units are drawn.

All give the same integers: no number depends on the way, or on what a processor can do.
"""

from __future__ import annotations

import numpy as np

from pipeline.resampling.draws import Draws, draw_counts, draw_weights
from pipeline.resampling.products.byte_columns import ByteContraction
from pipeline.resampling.products.byte_product import MOST_DRAWS, blocks_of, choose_form, is_form_asked, zero_counts
from pipeline.resampling.products.columns import StatisticColumns
from pipeline.resampling.products.contract import Product
from pipeline.resampling.products.packed_sums import PackedBatches
from pipeline.resampling.strata import StratifiedDraws, draw_stratified_weights

__all__ = ["ByteBatches", "FloatBatches", "make_batches"]

_MOST_PER_UNIT = 32  # draws a unit on average, above which counts would too often be above 255


class FloatBatches:
    """Draws counts in single precision, and multiplies them so, or in double precision."""

    def __init__(self, draws: Draws | StratifiedDraws, columns: StatisticColumns) -> None:
        self._draws, self._contraction = draws, columns.contraction
        self.bytes_per_replicate = columns.bytes_per_replicate
        self._weights, self._sums = np.empty((0, draws.n_units), np.float32), np.empty((0, 0), np.float32)

    def make_room(self, batch: int) -> None:
        """Allocate memory for batches of this many replicates, once."""
        self._weights = np.empty((batch, self._draws.n_units), np.float32)
        self._sums = np.empty((len(self._contraction.narrow), batch), np.float32)

    def multiply(self, first: int, count: int) -> Product:
        """Return the sums of replicates from ``first``."""
        if count > len(self._weights):
            self.make_room(count)
        out = self._sums if count == self._sums.shape[1] else None
        if isinstance(self._draws, StratifiedDraws):
            weights = draw_stratified_weights(self._draws, first, count, out=self._weights)
        else:
            weights = draw_weights(self._draws, first, count, out=self._weights)
        return self._contraction.multiply(weights, out=out)


class ByteBatches:
    """Draws counts into bytes and multiplies them so; a batch with a count above 255, which is rare, is made in floats."""

    def __init__(self, draws: Draws, columns: StatisticColumns, form: str) -> None:
        self._draws = draws
        self._contraction = ByteContraction.of(columns.contraction, form=form, n_draws=draws.n_draws)
        self._in_floats = FloatBatches(draws, columns)
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
