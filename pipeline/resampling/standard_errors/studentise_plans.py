"""Pairs ready to be summed on every replicate: what studentising asks of ratios, and of metrics that are none.

Ratios of one denominator need sums of integers, a column for every pair: products that are made in bytes where the processor can.
Those of two denominators need four columns (`moment_spread`).
Other metrics need sums of squares of influence values, which are put on a lattice (`influence_products`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.small_work import suited
from pipeline.dataclass import dataclass
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import ratio_factor, score_observed
from pipeline.resampling.products.contract import FLOAT64_LIMIT, largest_magnitude
from pipeline.resampling.products.differing_units import DifferingUnits
from pipeline.resampling.standard_errors.influence_products import InfluenceLines, InfluenceProducts
from pipeline.resampling.standard_errors.influence_spread import influences, linear_errors, spread_of_influences
from pipeline.resampling.standard_errors.moment_spread import moment_columns, moment_rows, spread_by_moments
from pipeline.resampling.standard_errors.ratio_columns import ColumnSums, Counted, RatioLines, SquareSums, in_points
from pipeline.resampling.standard_errors.ratio_spread import (
    largest_differences,
    spread_by_products,
    spread_directly,
    spread_few,
)

__all__ = ["Parts", "Plan", "in_cache", "influence_plans", "ratio_plans"]

_FEW = 64  # pairs, whose spread NumPy makes before a kernel is loaded
_TOGETHER = 80  # pairs, at least, and less than twice as many


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
    measure: Measure,
    strata: NDArray[np.int64] | None,
    form: str | None,
    chosen: NDArray[np.int64],
    *,
    differing: Callable[[NDArray[np.int64], NDArray[np.int64]], DifferingUnits] | None = None,
) -> Callable[[NDArray[np.int64]], Parts]:
    """Return what makes the plans of some pairs of ratios, which are asked for in the order of all ``chosen`` ones.

    Parameters
    ----------
    strata
        Those of the draws; None where units are drawn from all.
    form : str or None
        Of products in bytes. Without one they are made in floats.
    differing : callable, optional
        Returns what counts the units on which pairs differ, given (system, unit) numbers and these pairs: where numbers are 0 or 1
        it is asked in place of a product.
    """
    columns, pairs = np.ascontiguousarray(measure.statistics.transpose(1, 2, 0)), measure.pairs.astype(np.int64)
    squared, factor = _have_products(columns, pairs) & (strata is None), ratio_factor(measure)
    own = _have_moments(columns, pairs) & ~squared & (strata is None)
    lines = RatioLines.of(columns, pairs[chosen[squared[chosen]]], form)
    own_lines = RatioLines.of(columns, pairs[chosen[own[chosen]]], form, tops=True)
    counted, place = chosen[squared[chosen]], np.zeros(len(pairs), np.int64)
    place[counted] = np.arange(len(counted))
    bits = None
    if differing is not None and len(counted) and not np.any(lines.columns[:, 0] & ~1):
        bits = differing(columns[:, 0], pairs[counted])

    def plan(some: NDArray[np.int64]) -> Parts:
        by_products, by_moments = np.flatnonzero(squared[some]), np.flatnonzero(own[some])
        directly = np.flatnonzero(~squared[some] & ~own[some])
        parts: list[tuple[NDArray[np.int64], Plan]] = []
        start = int(place[some[by_products[:1]]].sum())  # of pairs that stand together in that order
        numbers, row = (None, by_products) if bits is None else bits.of(start, start + len(by_products))
        for rows, own_rows in zip(in_cache(by_products), in_cache(row), strict=True):
            known = None if numbers is None else (numbers, own_rows)
            parts.append((rows, _ProductPlan.of(lines, pairs[some[rows]], factor, form, known)))
        for rows in in_cache(by_moments):
            parts.append((rows, _MomentPlan.of(own_lines, pairs[some[rows]], factor, form)))
        if directly.size:
            parts.append((directly, _DirectPlan.of(columns, pairs[some[directly]], measure.stratum, factor)))
        return parts

    return plan


def influence_plans(measure: Measure, scores: NDArray[np.float64] | None, replicates: int) -> Callable[[NDArray[np.int64]], Parts]:
    """Return what makes the plans of some pairs of a metric that is no ratio, from the scores of its systems on every replicate."""
    if scores is None or scores.shape[0] != measure.statistics.shape[1] or scores.shape[1] < replicates:
        held = None if scores is None else scores.shape
        raise ValueError(f"a metric that is no ratio needs the scores of {replicates} replicates, not {held}")
    order, sizes = _by_stratum(measure.stratum, len(measure.statistics))
    values, errors = np.ascontiguousarray(influences(measure)[:, order]), linear_errors(measure)
    score, pairs = score_observed(measure), measure.pairs.astype(np.int64)
    lines = InfluenceLines.of(values) if len(sizes) == 1 else None

    def plan(some: NDArray[np.int64]) -> Parts:
        parts: list[tuple[NDArray[np.int64], Plan]] = []
        for rows in in_cache(np.arange(len(some))):
            own = some[rows]
            together = None if lines is None else InfluenceProducts.of(values, pairs[own], lines)
            parts.append((rows, _InfluencePlan(values, pairs[own], score, errors[own], scores, order, sizes, together)))
        return parts

    return plan


def in_cache(rows: NDArray[np.int64], *, together: int = _TOGETHER) -> list[NDArray[np.int64]]:
    """Cut pairs into parts, none of few if there are more: of the usual length, what a batch makes of them stays in the cache."""
    return np.array_split(rows, max(len(rows) // together, 1)) if rows.size else []


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
    furthest, fill = np.empty(len(same), np.int64), suited(largest_differences, steps=len(same) * units)
    fill(np.ascontiguousarray(columns[:, 0]), pairs[same], furthest)
    found[same] = [units * difference**2 < FLOAT64_LIMIT // 4 for difference in furthest.tolist()]
    return found


def _have_moments(columns: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which pairs have numerators and denominators of which all products, those of differences too, can be added exactly."""
    units = columns.shape[2]
    small = np.array([8 * units * largest_magnitude(own) ** 2 < FLOAT64_LIMIT for own in columns], np.bool_)
    return np.asarray(small[pairs].all(axis=1))


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
            return a - b, self.together.spread(weights, first=first)
        return a - b, spread_of_influences(self.values, self.pairs, weights, self.sizes)


@dataclass(frozen=True, eq=False)
class _ProductPlan:
    """Pairs of ratios with one denominator, which need a column for each pair beside those of systems."""

    lines: RatioLines
    pairs: NDArray[np.int64]  # of the systems of the lines
    squares: SquareSums
    rows: NDArray[np.int64]  # (pair, 7) of the sums of lines, the fourth of those of squares
    factor: float

    @classmethod
    def of(
        cls, lines: RatioLines, pairs: NDArray[np.int64], factor: float, form: str | None, known: Counted | None
    ) -> _ProductPlan:
        pairs, systems = np.searchsorted(lines.systems, pairs), len(lines.systems)
        a, b = pairs.T
        squares = SquareSums.of(lines.columns[a, 0] - lines.columns[b, 0], form, known)
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
        lines, squares = self.lines.on(weights, first, counts), self.squares.on(weights, first, counts)
        gain, spread = np.empty((2, len(self.pairs), len(weights)))
        if len(self.pairs) > _FEW or not spread_few(lines, squares, self.rows, gain, spread):
            spread_by_products(lines, squares, self.rows, self.lines.columns, self.pairs, weights, gain, spread)
        return in_points(gain, spread, units=weights.shape[1], factor=self.factor)


@dataclass(frozen=True, eq=False)
class _MomentPlan:
    """Pairs of ratios with denominators of their own, which need four columns for each pair beside those of systems."""

    lines: RatioLines
    pairs: NDArray[np.int64]  # of the systems of the lines
    moments: ColumnSums
    rows: NDArray[np.int64]  # (pair, 10) of the sums of lines, from `moment_rows`
    own: NDArray[np.int64]  # (pair, 4) of those of moments
    factor: float

    @classmethod
    def of(cls, lines: RatioLines, pairs: NDArray[np.int64], factor: float, form: str | None) -> _MomentPlan:
        pairs = np.searchsorted(lines.systems, pairs)
        columns = moment_columns(lines.columns, pairs)
        moments = ColumnSums.of(list(columns.reshape(-1, columns.shape[2])), columns.shape[2], form)
        rows = lines.sums.position[moment_rows(pairs, len(lines.systems))]
        return cls(lines, pairs, moments, rows, moments.position.reshape(-1, 4), factor)

    def observe(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        (delta,), (variance,) = (values.T for values in self.spread(np.ones((1, self.lines.columns.shape[2]), np.float32), None))
        return delta, variance

    def spread(
        self, weights: NDArray[np.float32], first: int | None, counts: NDArray[np.uint8] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        lines, moments = self.lines.on(weights, first, counts), np.empty((self.moments.number, len(weights)))
        self.moments.fill(weights, counts, moments)
        gain, spread = np.empty((2, len(self.pairs), len(weights)))
        few = len(self.pairs) <= _FEW
        spread_by_moments(lines, moments, self.rows, self.own, self.lines.columns, self.pairs, weights, gain, spread, few=few)
        return in_points(gain, spread, units=weights.shape[1], factor=self.factor)


@dataclass(frozen=True, eq=False)
class _DirectPlan:
    """Pairs of ratios of numbers that are too large to be multiplied, or within strata."""

    columns: NDArray[np.int64]  # (system, 2, unit)
    pairs: NDArray[np.int64]  # of these systems
    sums: ColumnSums
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
        sums = ColumnSums.of(list(columns.reshape(-1, units)), units, None)
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
        return in_points(gain, spread, units=weights.shape[1] if len(self.sizes) == 1 else None, factor=self.factor)
