"""Columns of ratios that are summed exactly on every replicate: those of systems once for all pairs, those of pairs beside them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass, field
from pipeline.resampling.products.byte_columns import ByteContraction
from pipeline.resampling.products.contract import Contraction, plan_contraction
from pipeline.resampling.standard_errors.ratio_spread import LOST

__all__ = ["ColumnSums", "Counted", "RatioLines", "SquareSums", "in_points"]

_KEPT_BYTES = 2**26  # of the sums of systems: those of 200 with one denominator


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """Columns of whole numbers that are summed exactly, in bytes where there is a form."""

    contraction: Contraction
    in_bytes: ByteContraction | None

    @classmethod
    def of(cls, asked: Sequence[NDArray[np.int64]], units: int, form: str | None) -> ColumnSums:
        """Lay out columns of so many units, in bytes of a ``form`` if there is one."""
        contraction = plan_contraction(asked, n_units=units, n_draws=units)
        return cls(contraction, None if form is None else ByteContraction.of(contraction, form=form, n_draws=units))

    @property
    def position(self) -> NDArray[np.int64]:
        """Which sum each column has that was asked for."""
        return self.contraction.position

    @property
    def number(self) -> int:
        """How many sums there are."""
        return len(self.contraction.narrow) + len(self.contraction.sparse) + len(self.contraction.wide)

    def fill(self, weights: NDArray[np.float32], counts: NDArray[np.uint8] | None, out: NDArray[np.float64]) -> None:
        """Fill (column, replicate) sums; ``counts`` are the weights in bytes."""
        # None where a count is above 255.
        product = None if counts is None or self.in_bytes is None else self.in_bytes.multiply(counts, len(weights))
        product = self.contraction.multiply(weights) if product is None else product
        start = 0
        for part in (product.narrow, product.sparse, product.wide):
            out[start : start + len(part)] = part[:, : len(weights)]
            start += len(part)


Counted = tuple[NDArray[np.uint16], NDArray[np.int64]]
"""(row, replicate) numbers, and which row each pair has: of `pipeline.resampling.products.differing_units`."""


@dataclass(frozen=True, eq=False)
class SquareSums:
    """Squared differences of pairs, summed by products, or counted beforehand where they are 0 or 1.

    Parameters
    ----------
    position : (pair,) int64
        Which sum each has.
    columns : ColumnSums or None
        None where they are counted.
    observed : (pair, 1) int64
        Sums of the test set, where they are counted.
    counted : Counted or None
    """

    position: NDArray[np.int64]
    columns: ColumnSums | None
    observed: NDArray[np.int64]
    counted: Counted | None

    @classmethod
    def of(cls, difference: NDArray[np.int64], form: str | None, counted: Counted | None) -> SquareSums:
        """Take (pair, unit) differences, and the sums of their squares on every replicate where these are known."""
        squares = difference * difference
        if counted is not None:
            return cls(np.arange(len(squares)), None, squares.sum(axis=1, keepdims=True), counted)
        columns = ColumnSums.of(list(squares), squares.shape[1], form)
        return cls(columns.position, columns, np.empty((0, 1), np.int64), None)

    def on(self, weights: NDArray[np.float32], first: int | None, counts: NDArray[np.uint8] | None) -> NDArray[np.float64]:
        """Return (sum, replicate) sums of the replicates from ``first``, or of the test set, whose weights are 1, without it."""
        if self.columns is not None:
            sums = np.empty((self.columns.number, len(weights)))
            self.columns.fill(weights, counts, sums)
            return sums
        if self.counted is None or first is None:
            return self.observed.astype(np.float64)
        numbers, row = self.counted
        return numbers[row, first : first + len(weights)].astype(np.float64)


@dataclass(frozen=True, eq=False)
class RatioLines:
    """Systems of pairs that are summed by products: their sums on replicates are made once for all pairs, if these are few bytes.

    Parameters
    ----------
    systems : (system,) int64
        Which they are, ascending.
    columns : (system, 2, unit) int64
        Numerators and denominators.
    sums : ColumnSums
        Σwn and Σwc of each system in turn, then Σwnc of each and Σwc² of each, and Σwn² of each where ``tops`` are asked for.
    """

    systems: NDArray[np.int64]
    columns: NDArray[np.int64]
    sums: ColumnSums
    _kept: dict[tuple[int, int], NDArray[np.float64]] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, columns: NDArray[np.int64], pairs: NDArray[np.int64], form: str | None, *, tops: bool = False) -> RatioLines:
        """Take the columns of the systems of some pairs."""
        systems, units = np.unique(pairs), columns.shape[2]
        own = np.ascontiguousarray(columns[systems])
        form = form if systems.size else None
        asked = [*own.reshape(-1, units), *(own[:, 0] * own[:, 1]), *(own[:, 1] * own[:, 1])]
        asked += [*(own[:, 0] * own[:, 0])] if tops else []
        return cls(systems, own, ColumnSums.of(asked, units, form))

    def on(self, weights: NDArray[np.float32], first: int | None, counts: NDArray[np.uint8] | None) -> NDArray[np.float64]:
        """Return the sums of replicates, which are kept by the number of the ``first`` where it is given."""
        place = None if first is None else (first, len(weights))
        if place is not None and place in self._kept:
            return self._kept[place]
        found = np.empty((self.sums.number, len(weights)))
        self.sums.fill(weights, counts, found)
        if place is not None and sum(kept.nbytes for kept in self._kept.values()) + found.nbytes <= _KEPT_BYTES:
            self._kept[place] = found
        return found


def in_points(
    gain: NDArray[np.float64], spread: NDArray[np.float64], *, units: int | None, factor: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Turn ratios into points of the metric, and Σu² of so many units, which are no strata, into n/(n − 1) times as much."""
    known: NDArray[np.bool_] | bool = spread != LOST
    known = True if np.all(known) else known  # which multiplies without a look at each
    if units is not None:
        np.multiply(spread, units / (units - 1) if units > 1 else np.nan, out=spread, where=known)
    gain *= factor
    # Not at once with the other factor: every product is rounded.
    np.multiply(spread, factor**2, out=spread, where=known)
    return gain, spread
