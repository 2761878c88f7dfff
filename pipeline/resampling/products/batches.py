"""The sums of a batch of replicates: counts drawn and multiplied in floats or, where that is faster, in bytes.

Both give the same integers: no number depends on which of them a processor can do.
"""

from __future__ import annotations

import numpy as np

from pipeline.resampling.draws import Draws, draw_counts, draw_weights
from pipeline.resampling.products.byte_columns import ByteContraction
from pipeline.resampling.products.byte_product import MOST_DRAWS, blocks_of, choose_form, zero_counts
from pipeline.resampling.products.columns import StatisticColumns
from pipeline.resampling.products.contract import Product
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
        """Take memory for batches of so many replicates once and for all."""
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
        """Take memory for batches of so many replicates once and for all."""
        self._counts, self._sums = zero_counts(batch, self._draws.n_units), self._contraction.empty_sums(batch)

    def multiply(self, first: int, count: int) -> Product:
        """Return the sums of replicates from ``first``."""
        blocks = blocks_of(count)
        draw_counts(self._draws, first, count, self._counts[:blocks])
        out = self._sums if blocks == len(self._counts) else None
        product = self._contraction.multiply(self._counts[:blocks], count, out=out)
        return self._in_floats.multiply(first, count) if product is None else product


def make_batches(draws: Draws | StratifiedDraws, columns: StatisticColumns, *, work: int) -> FloatBatches | ByteBatches:
    """Choose the way of drawing and multiplying; no number depends on it."""
    few = draws.n_draws <= min(_MOST_PER_UNIT * draws.n_units, MOST_DRAWS)
    may = isinstance(draws, Draws) and few
    form = choose_form(work) if may else None
    if form is None or not isinstance(draws, Draws):
        return FloatBatches(draws, columns)
    return ByteBatches(draws, columns, form)
