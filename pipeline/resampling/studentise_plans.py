"""Pairs ready to be summed on every replicate: what studentising asks of ratios, and of metrics that are none.

Ratios of one denominator need sums of integers, a column for every pair: products that are made in bytes where the processor can.
Other metrics need sums of squares of influence values, which are put on a lattice (`influence_products`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.small_work import suited
from pipeline.resampling.byte_columns import ByteContraction
from pipeline.resampling.contract import FLOAT64_LIMIT, Contraction, largest_magnitude, plan_contraction
from pipeline.resampling.influence_products import InfluenceLines, InfluenceProducts
from pipeline.resampling.influence_spread import influences, linear_errors, spread_of_influences
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import ratio_factor, score_observed
from pipeline.resampling.ratio_spread import LOST, largest_differences, spread_by_products, spread_directly, spread_few

__all__ = ["Parts", "Plan", "influence_plans", "ratio_plans"]

_FEW = 64  # pairs, whose spread NumPy makes before a kernel is loaded


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


def ratio_plans(measure: Measure, strata: NDArray[np.int64] | None, form: str | None) -> Callable[[NDArray[np.int64]], Parts]:
    """Return what makes the plans of some pairs of ratios; products are made in bytes of a ``form``, if there is one.

    ``strata`` are those of the draws; None where units are drawn from all.
    """
    columns, pairs = np.ascontiguousarray(measure.statistics.transpose(1, 2, 0)), measure.pairs.astype(np.int64)
    squared, factor = _have_products(columns, pairs) & (strata is None), ratio_factor(measure)

    def plan(some: NDArray[np.int64]) -> Parts:
        parts = [(np.flatnonzero(squared[some] == by_products), by_products) for by_products in (True, False)]
        return [
            (rows, _RatioPlan.of(columns, pairs[some[rows]], measure.stratum, factor, by_products=by_products, form=form))
            for rows, by_products in parts
            if rows.size
        ]

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
        together = None if lines is None else InfluenceProducts.of(values, pairs[some], lines)
        own = _InfluencePlan(values, pairs[some], score, errors[some], scores, order, sizes, together)
        return [(np.arange(len(some)), own)]

    return plan


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
            return a - b, self.together.spread(weights, first=first)
        return a - b, spread_of_influences(self.values, self.pairs, weights, self.sizes)


@dataclass(frozen=True, eq=False)
class _RatioPlan:
    """Pairs of ratios, all with one denominator and summed by products, or each with any two."""

    columns: NDArray[np.int64]  # (system, 2, unit)
    pairs: NDArray[np.int64]  # of these systems
    contraction: Contraction
    in_bytes: ByteContraction | None
    rows: NDArray[np.int64]  # of the sums
    order: NDArray[np.int64]  # units, stratum by stratum
    sizes: NDArray[np.int64]  # of strata; of one where there are none
    factor: float

    @classmethod
    def of(
        cls,
        columns: NDArray[np.int64],
        pairs: NDArray[np.int64],
        stratum: NDArray[np.int64] | None,
        factor: float,
        *,
        by_products: bool,
        form: str | None,
    ) -> _RatioPlan:
        systems, places = np.unique(pairs, return_inverse=True)
        pairs, units = np.ascontiguousarray(places.reshape(-1, 2)), columns.shape[2]
        order, sizes = _by_stratum(stratum, units)
        columns = np.ascontiguousarray(columns[systems][:, :, order])
        asked = list(columns.reshape(-1, units))  # numerator and denominator of each system
        a, b = pairs.T
        rows = [2 * a, 2 * b, 2 * a + 1, 2 * b + 1]
        if by_products:
            # ΣwDc is Σw n_a c − Σw n_b c: columns of systems, of which there are fewer than pairs.
            lead, across = len(asked), len(asked) + len(pairs)
            for one, other in pairs.tolist():
                difference = columns[one, 0] - columns[other, 0]
                asked.append(difference * difference)
            asked += [numerator * denominator for numerator, denominator in columns]
            length = len(asked)
            asked += [denominator * denominator for _, denominator in columns]
            rows = [*rows[:3], lead + np.arange(len(pairs)), across + a, across + b, length + a]
        contraction = plan_contraction(asked, n_units=units, n_draws=units)
        # Without products there are columns of systems alone: too few to be worth a second layout.
        in_bytes = ByteContraction.of(contraction, form=form, n_draws=units) if form is not None and by_products else None
        return cls(columns, pairs, contraction, in_bytes, contraction.position[np.stack(rows, axis=1)], order, sizes, factor)

    def observe(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        (delta,), (variance,) = (values.T for values in self.spread(np.ones((1, self.columns.shape[2]), np.float32), 0))
        return delta, variance

    def spread(
        self, weights: NDArray[np.float32], first: int, counts: NDArray[np.uint8] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        weights = weights if len(self.sizes) == 1 else weights[:, self.order]
        # None where a count is above 255.
        product = None if counts is None or self.in_bytes is None else self.in_bytes.multiply(counts, len(weights))
        product = self.contraction.multiply(weights) if product is None else product
        parts = (product.narrow, product.sparse, product.wide)
        sums = np.concatenate([part[:, : len(weights)].astype(np.float64, copy=False) for part in parts])
        gain, spread = np.empty((2, len(self.pairs), len(weights)))
        if self.rows.shape[1] == 7:
            if len(self.pairs) > _FEW or not spread_few(sums, self.rows, gain, spread):
                spread_by_products(sums, self.rows, self.columns, self.pairs, weights, gain, spread)
        else:
            spread_directly(sums, self.rows, self.columns, self.pairs, weights, self.sizes, gain, spread)
        if len(self.sizes) == 1:
            units = weights.shape[1]
            np.multiply(spread, units / (units - 1) if units > 1 else np.nan, out=spread, where=spread != LOST)
        gain *= self.factor
        np.multiply(spread, self.factor**2, out=spread, where=spread != LOST)
        return gain, spread
