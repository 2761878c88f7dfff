"""Pairs ready to be summed on every replicate: what studentising asks of ratios, and of metrics that are none.

Ratios of one denominator need sums of integers, a column for every pair: products that are made in bytes where the processor can.
Other metrics need sums of squares of influence values, which are put on a lattice (`influence_products`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.small_work import suited
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import ratio_factor, score_observed
from pipeline.resampling.products.byte_columns import ByteContraction
from pipeline.resampling.products.contract import FLOAT64_LIMIT, Contraction, largest_magnitude, plan_contraction
from pipeline.resampling.standard_errors.influence_products import InfluenceLines, InfluenceProducts
from pipeline.resampling.standard_errors.influence_spread import influences, linear_errors, spread_of_influences
from pipeline.resampling.standard_errors.ratio_spread import (
    LOST,
    largest_differences,
    spread_by_products,
    spread_directly,
    spread_few,
)

__all__ = ["Parts", "Plan", "influence_plans", "ratio_plans"]

_FEW = 64  # pairs, whose spread NumPy makes before a kernel is loaded
_TOGETHER = 80  # pairs, at least, and less than twice as many
_KEPT_BYTES = 2**26  # of the sums of systems: those of 200 with one denominator


class Plan(Protocol):
    """Some pairs, ready to be summed."""

    def observe(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (pair,) δ and se², `LOST` where too little is known of it, in the metric's points."""

    def spread(
        self, weights: NDArray[np.float32], first: int, counts: NDArray[np.uint8] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (pair, replicate) δ* and se*² of the replicates from ``first``, whose ``counts`` are the weights in bytes."""


Parts = Sequence[tuple[NDArray[np.int64], Plan]]
"""Which of some pairs are summed together, and how."""


def ratio_plans(
    measure: Measure, strata: NDArray[np.int64] | None, form: str | None, chosen: NDArray[np.int64]
) -> Callable[[NDArray[np.int64]], Parts]:
    """Return what makes the plans of some pairs of ratios, all of them ``chosen`` ones; products are made in bytes of a ``form``.

    ``strata`` are those of the draws; None where units are drawn from all. Without a form products are made in floats.
    """
    columns, pairs = np.ascontiguousarray(measure.statistics.transpose(1, 2, 0)), measure.pairs.astype(np.int64)
    squared, factor = _have_products(columns, pairs) & (strata is None), ratio_factor(measure)
    lines = _RatioLines.of(columns, pairs[chosen[squared[chosen]]], form)

    def plan(some: NDArray[np.int64]) -> Parts:
        by_products, directly = np.flatnonzero(squared[some]), np.flatnonzero(~squared[some])
        parts: list[tuple[NDArray[np.int64], Plan]] = []
        for rows in _in_cache(by_products):
            parts.append((rows, _ProductPlan.of(lines, pairs[some[rows]], factor, form)))
        if directly.size:
            parts.append((directly, _DirectPlan.of(columns, pairs[some[directly]], measure.stratum, factor)))
        return parts

    return plan


def influence_plans(
    measure: Measure, scores: NDArray[np.float64] | None, replicates: int, form: str | None
) -> Callable[[NDArray[np.int64]], Parts]:
    """Return what makes the plans of some pairs of a metric that is no ratio, from the scores of its systems on every replicate.

    Products are made in bytes of a ``form``, if there is one.
    """
    if scores is None or scores.shape[0] != measure.statistics.shape[1] or scores.shape[1] < replicates:
        held = None if scores is None else scores.shape
        raise ValueError(f"a metric that is no ratio needs the scores of {replicates} replicates, not {held}")
    order, sizes = _by_stratum(measure.stratum, len(measure.statistics))
    values, errors = np.ascontiguousarray(influences(measure)[:, order]), linear_errors(measure)
    score, pairs = score_observed(measure), measure.pairs.astype(np.int64)
    lines = InfluenceLines.of(values) if len(sizes) == 1 else None

    def plan(some: NDArray[np.int64]) -> Parts:
        parts: list[tuple[NDArray[np.int64], Plan]] = []
        for rows in _in_cache(np.arange(len(some))):
            own = some[rows]
            together = None if lines is None else InfluenceProducts.of(values, pairs[own], lines, form=form)
            parts.append((rows, _InfluencePlan(values, pairs[own], score, errors[own], scores, order, sizes, together)))
        return parts

    return plan


def _in_cache(rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Cut pairs into parts whose columns, sums and t* of a batch stay in the second-level cache; none of few if there are more."""
    return np.array_split(rows, max(len(rows) // _TOGETHER, 1)) if rows.size else []


def _by_stratum(stratum: NDArray[np.int64] | None, units: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the units stratum by stratum, and how many each has; one stratum where there are none."""
    if stratum is None:
        return np.arange(units), np.array([units])
    return np.argsort(stratum, kind="stable"), np.bincount(stratum).astype(np.int64)


def _have_products(columns: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which pairs have one denominator, and squares and products small enough to be added exactly."""
    units = columns.shape[2]
    most = np.array([[largest_magnitude(column) for column in own] for own in columns], object)  # integers of any size
    small = np.array([units * max(c * c, n * c) < FLOAT64_LIMIT // 4 for n, c in most], np.bool_)
    content = [own[1].tobytes() for own in columns]
    number = {text: place for place, text in enumerate(content)}
    denominator = np.array([number[text] for text in content], np.int64)
    a, b = pairs.T
    same = np.flatnonzero((denominator[a] == denominator[b]) & small[a] & small[b])
    found = np.zeros(len(pairs), np.bool_)
    largest = suited(largest_differences, steps=len(same) * units)
    furthest = largest(np.ascontiguousarray(columns[:, 0]), pairs[same])
    found[same] = [units * difference**2 < FLOAT64_LIMIT // 4 for difference in furthest.tolist()]
    return found


@dataclass(frozen=True, eq=False)
class _InfluencePlan:
    """Pairs of a metric that is no ratio."""

    values: NDArray[np.float64]  # (system, unit), stratum by stratum
    pairs: NDArray[np.int64]
    score: NDArray[np.float64]  # (system,) as observed
    errors: NDArray[np.float64]  # (pair,)
    scores: NDArray[np.float64]  # (system, replicate)
    order: NDArray[np.int64]
    sizes: NDArray[np.int64]
    together: InfluenceProducts | None  # of units without strata

    def observe(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        a, b = self.score[self.pairs].T
        return a - b, self.errors**2

    def spread(
        self, weights: NDArray[np.float32], first: int, counts: NDArray[np.uint8] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        weights = weights if len(self.sizes) == 1 else weights[:, self.order]
        a, b = (self.scores[systems, first : first + len(weights)] for systems in self.pairs.T)
        if self.together is not None:
            return a - b, self.together.spread(weights, first=first, counts=counts)
        return a - b, spread_of_influences(self.values, self.pairs, weights, self.sizes)


@dataclass(frozen=True, eq=False)
class _Columns:
    """Columns of whole numbers that are summed exactly, in bytes where there is a form."""

    contraction: Contraction
    in_bytes: ByteContraction | None

    @classmethod
    def of(cls, asked: Sequence[NDArray[np.int64]], units: int, form: str | None) -> _Columns:
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


@dataclass(frozen=True, eq=False)
class _RatioLines:
    """Systems of pairs that are summed by products: their sums on replicates are made once for all pairs, if these are few bytes.

    Parameters
    ----------
    systems : (system,) int64
        Which they are, ascending.
    columns : (system, 2, unit) int64
        Numerators and denominators.
    sums : _Columns
        Σwn and Σwc of each system in turn, then Σwnc of each and Σwc² of each.
    """

    systems: NDArray[np.int64]
    columns: NDArray[np.int64]
    sums: _Columns
    _kept: dict[tuple[int, int], NDArray[np.float64]] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, columns: NDArray[np.int64], pairs: NDArray[np.int64], form: str | None) -> _RatioLines:
        systems, units = np.unique(pairs), columns.shape[2]
        own = np.ascontiguousarray(columns[systems])
        form = form if systems.size else None
        asked = [*own.reshape(-1, units), *(own[:, 0] * own[:, 1]), *(own[:, 1] * own[:, 1])]
        return cls(systems, own, _Columns.of(asked, units, form))

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


@dataclass(frozen=True, eq=False)
class _ProductPlan:
    """Pairs of ratios with one denominator, which need a column for each pair beside those of systems."""

    lines: _RatioLines
    pairs: NDArray[np.int64]  # of the systems of the lines
    squares: _Columns
    rows: NDArray[np.int64]  # (pair, 7) of the sums of lines, the fourth of those of squares
    factor: float

    @classmethod
    def of(cls, lines: _RatioLines, pairs: NDArray[np.int64], factor: float, form: str | None) -> _ProductPlan:
        pairs, systems = np.searchsorted(lines.systems, pairs), len(lines.systems)
        a, b = pairs.T
        difference = lines.columns[a, 0] - lines.columns[b, 0]
        squares = _Columns.of(list(difference * difference), difference.shape[1], form)
        # ΣwDc is Σw n_a c − Σw n_b c: columns of systems, of which there are fewer than pairs.
        across, length = 2 * systems, 3 * systems
        own = lines.sums.position[np.stack([2 * a, 2 * b, 2 * a + 1, across + a, across + b, length + a], axis=1)]
        rows = np.insert(own, 3, squares.position, axis=1)
        return cls(lines, pairs, squares, rows, factor)

    def observe(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        (delta,), (variance,) = (values.T for values in self.spread(np.ones((1, self.lines.columns.shape[2]), np.float32), None))
        return delta, variance

    def spread(
        self, weights: NDArray[np.float32], first: int | None, counts: NDArray[np.uint8] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        lines, squares = self.lines.on(weights, first, counts), np.empty((self.squares.number, len(weights)))
        self.squares.fill(weights, counts, squares)
        gain, spread = np.empty((2, len(self.pairs), len(weights)))
        if len(self.pairs) > _FEW or not spread_few(lines, squares, self.rows, gain, spread):
            spread_by_products(lines, squares, self.rows, self.lines.columns, self.pairs, weights, gain, spread)
        return _in_points(gain, spread, units=weights.shape[1], factor=self.factor)


@dataclass(frozen=True, eq=False)
class _DirectPlan:
    """Pairs of ratios, each with any two denominators, or within strata."""

    columns: NDArray[np.int64]  # (system, 2, unit)
    pairs: NDArray[np.int64]  # of these systems
    sums: _Columns
    rows: NDArray[np.int64]  # (pair, 4) of the sums
    order: NDArray[np.int64]  # units, stratum by stratum
    sizes: NDArray[np.int64]  # of strata; of one where there are none
    factor: float

    @classmethod
    def of(
        cls, columns: NDArray[np.int64], pairs: NDArray[np.int64], stratum: NDArray[np.int64] | None, factor: float
    ) -> _DirectPlan:
        systems, places = np.unique(pairs, return_inverse=True)
        pairs, units = np.ascontiguousarray(places.reshape(-1, 2)), columns.shape[2]
        order, sizes = _by_stratum(stratum, units)
        columns = np.ascontiguousarray(columns[systems][:, :, order])
        a, b = pairs.T
        # Columns of systems alone: too few to be worth a second layout in bytes.
        sums = _Columns.of(list(columns.reshape(-1, units)), units, None)
        rows = sums.position[np.stack([2 * a, 2 * b, 2 * a + 1, 2 * b + 1], axis=1)]
        return cls(columns, pairs, sums, rows, order, sizes, factor)

    def observe(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        (delta,), (variance,) = (values.T for values in self.spread(np.ones((1, self.columns.shape[2]), np.float32), 0))
        return delta, variance

    def spread(
        self, weights: NDArray[np.float32], first: int, counts: NDArray[np.uint8] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        weights = weights if len(self.sizes) == 1 else weights[:, self.order]
        sums = np.empty((self.sums.number, len(weights)))
        self.sums.fill(weights, None, sums)
        gain, spread = np.empty((2, len(self.pairs), len(weights)))
        spread_directly(sums, self.rows, self.columns, self.pairs, weights, self.sizes, gain, spread)
        return _in_points(gain, spread, units=weights.shape[1] if len(self.sizes) == 1 else None, factor=self.factor)


def _in_points(
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
