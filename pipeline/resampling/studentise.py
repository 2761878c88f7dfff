"""Gains of bootstrap replicates over standard errors of their own, t*, some pairs at a time.

A replicate is drawn again from its address, and the standard error of a pair's difference is that of its linearised influence
values on the units drawn: √(n/(n − 1) · Σu²), within strata √(Σ n_h/(n_h − 1) · Σ(u − mean_h u)²). Ratios are linearised on every
replicate (`ratio_spread`), other metrics once, on the test set (`influence_spread`). What that costs is known before
(`studentise_budget`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.contract import FLOAT64_LIMIT, Contraction, largest_magnitude, plan_contraction
from pipeline.resampling.draws import Draws, draw_weights
from pipeline.resampling.influence_spread import influences, linear_errors, spread_of_influences
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import TOLERANCE, ratio_factor, score_observed
from pipeline.resampling.ratio_spread import LOST, largest_differences, spread_by_products, spread_directly
from pipeline.resampling.strata import StratifiedDraws, draw_stratified_weights

__all__ = ["BEYOND", "Studentised", "studentise"]

BEYOND = 1e200
"""A t* larger than this is infinite: of a replicate without a spread of its own, or with one that is lost in rounding."""

_INFINITE = 1e300
_BATCH = 1024  # replicates drawn at a time
_SHORTEST_BATCH = 32


@dataclass(frozen=True, eq=False)
class Studentised:
    """The t* of some pairs, t* = (δ* − δ) / se*, δ = score[first] − score[second] as the metric gives it.

    Parameters
    ----------
    pair : (some,) int64
        Positions among the pairs of the measure.
    t : (some, replicate) float64
        nan where a score is undefined, and where a replicate without spread repeats δ; beyond ± `BEYOND` without spread otherwise.
    empty : (some, replicate) bool
        Where a score is undefined.
    observed : (some,) float64
        δ / se.
    se : (some,) float64
        Of the test set itself, in the metric's points; of means it is the jackknife's. nan with one unit, or where it is lost.
    lost : (some,) int64
        Replicates whose own standard error is lost in rounding; they count as without spread.
    """

    pair: NDArray[np.int64]
    t: NDArray[np.float64]
    empty: NDArray[np.bool_]
    observed: NDArray[np.float64]
    se: NDArray[np.float64]
    lost: NDArray[np.int64]


def studentise(
    draws: Draws | StratifiedDraws,
    measure: Measure,
    *,
    replicates: int,
    chosen: NDArray[np.int64] | None = None,
    scores: NDArray[np.float64] | None = None,
    memory_bytes: int = 2**28,
) -> Iterator[Studentised]:
    """Draw replicates 0 … and give t* of pairs, in their order.

    Parameters
    ----------
    draws : Draws or StratifiedDraws
        As many draws as units, of the measure's strata.
    measure : Measure
    replicates : int
        Each costs a product over all units for every pair: some thousands, not a million.
    chosen : (some,) int64, optional
        Positions of pairs, in the order in which they are wanted; all pairs by default.
    scores : (system, ≥ replicates) float64, optional
        Scores of the same replicates, nan where undefined: only a metric that is no ratio needs them.
    memory_bytes : int, optional
        For t*, weights, columns and sums. It changes no number.
    """
    units, pairs = len(measure.statistics), measure.pairs.astype(np.int64)
    if (draws.n_units, draws.n_draws) != (units, units):
        raise ValueError(f"{draws.n_draws} draws of {draws.n_units} units, there are {units}")
    strata, own = draws.stratum if isinstance(draws, StratifiedDraws) else None, measure.stratum
    if (strata is None) != (own is None) or (strata is not None and own is not None and not np.array_equal(strata, own)):
        raise ValueError("draws and measure are not of the same strata")
    order = np.arange(len(pairs)) if chosen is None else chosen
    batch = max(_SHORTEST_BATCH, min(_BATCH, memory_bytes // (48 * units)))
    several = max(memory_bytes // (2 * (9 * replicates + 48 * units + 48 * batch)), 1)
    plans = _ratio_plans(measure, strata) if measure.form == "ratio" else _influence_plans(measure, scores, replicates)
    score = score_observed(measure)
    noise = TOLERANCE * np.abs(score[pairs]).sum(axis=1)
    for start in range(0, len(order), several):
        some = order[start : start + several]
        yield _studentise(draws, plans(some), some, replicates, batch, noise[some])


class _Plan(Protocol):
    """Some pairs, ready to be summed."""

    def observe(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (pair,) δ and se², `LOST` where too little is known of it, in the metric's points."""

    def spread(self, weights: NDArray[np.float32], first: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (pair, replicate) δ* and se*² of the replicates from ``first``."""


_Parts = Sequence[tuple[NDArray[np.int64], _Plan]]
"""Which of some pairs are summed together, and how."""


def _ratio_plans(measure: Measure, strata: NDArray[np.int64] | None) -> Callable[[NDArray[np.int64]], _Parts]:
    columns, pairs = np.ascontiguousarray(measure.statistics.transpose(1, 2, 0)), measure.pairs.astype(np.int64)
    squared, factor = _have_products(columns, pairs) & (strata is None), ratio_factor(measure)

    def plan(some: NDArray[np.int64]) -> _Parts:
        parts = [(np.flatnonzero(squared[some] == by_products), by_products) for by_products in (True, False)]
        return [
            (rows, _RatioPlan.of(columns, pairs[some[rows]], measure.stratum, factor, by_products=by_products))
            for rows, by_products in parts
            if rows.size
        ]

    return plan


def _influence_plans(
    measure: Measure, scores: NDArray[np.float64] | None, replicates: int
) -> Callable[[NDArray[np.int64]], _Parts]:
    if scores is None or scores.shape[0] != measure.statistics.shape[1] or scores.shape[1] < replicates:
        held = None if scores is None else scores.shape
        raise ValueError(f"a metric that is no ratio needs the scores of {replicates} replicates, not {held}")
    order, sizes = _by_stratum(measure.stratum, len(measure.statistics))
    values, errors = np.ascontiguousarray(influences(measure)[:, order]), linear_errors(measure)
    score, pairs = score_observed(measure), measure.pairs.astype(np.int64)

    def plan(some: NDArray[np.int64]) -> _Parts:
        own = _InfluencePlan(values, pairs[some], score, errors[some], scores, order, sizes)
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
    furthest = largest_differences(np.ascontiguousarray(columns[:, 0]), pairs[same])
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

    def observe(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        a, b = self.score[self.pairs].T
        return a - b, self.errors**2

    def spread(self, weights: NDArray[np.float32], first: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        weights = weights if len(self.sizes) == 1 else weights[:, self.order]
        a, b = (self.scores[systems, first : first + len(weights)] for systems in self.pairs.T)
        return a - b, spread_of_influences(self.values, self.pairs, weights, self.sizes)


@dataclass(frozen=True, eq=False)
class _RatioPlan:
    """Pairs of ratios, all with one denominator and summed by products, or each with any two."""

    columns: NDArray[np.int64]  # (system, 2, unit)
    pairs: NDArray[np.int64]  # of these systems
    contraction: Contraction
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
        return cls(columns, pairs, contraction, contraction.position[np.stack(rows, axis=1)], order, sizes, factor)

    def observe(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        (delta,), (variance,) = (values.T for values in self.spread(np.ones((1, self.columns.shape[2]), np.float32), 0))
        return delta, variance

    def spread(self, weights: NDArray[np.float32], first: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        weights = weights if len(self.sizes) == 1 else weights[:, self.order]
        product = self.contraction.multiply(weights)
        sums = np.concatenate([product.narrow.astype(np.float64), product.sparse.astype(np.float64), product.wide])
        gain, spread = np.empty((2, len(self.pairs), len(weights)))
        if self.rows.shape[1] == 7:
            spread_by_products(sums, self.rows, self.columns, self.pairs, weights, gain, spread)
        else:
            spread_directly(sums, self.rows, self.columns, self.pairs, weights, self.sizes, gain, spread)
        if len(self.sizes) == 1:
            units = weights.shape[1]
            np.multiply(spread, units / (units - 1) if units > 1 else np.nan, out=spread, where=spread != LOST)
        gain *= self.factor
        np.multiply(spread, self.factor**2, out=spread, where=spread != LOST)
        return gain, spread


def _studentise(
    draws: Draws | StratifiedDraws,
    parts: _Parts,
    chosen: NDArray[np.int64],
    replicates: int,
    batch: int,
    noise: NDArray[np.float64],
) -> Studentised:
    units = draws.n_units
    delta, variance = np.empty((2, len(chosen)))
    for rows, plan in parts:
        delta[rows], variance[rows] = plan.observe()
    alone = units == 1 if isinstance(draws, Draws) else bool(np.all(draws.sizes == 1))
    se = np.sqrt(np.where((variance == LOST) | alone, np.nan, variance))
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is no t
        observed = delta / se
    t, empty = np.empty((len(chosen), replicates)), np.empty((len(chosen), replicates), np.bool_)
    lost = np.zeros(len(chosen), np.int64)
    weights = np.empty((min(batch, replicates), units), np.float32)
    for first in range(0, replicates, batch):
        count = min(batch, replicates - first)
        if isinstance(draws, StratifiedDraws):
            drawn = draw_stratified_weights(draws, first, count, out=weights)
        else:
            drawn = draw_weights(draws, first, count, out=weights)
        for rows, plan in parts:
            gain, spread = plan.spread(drawn, first)
            there = slice(first, first + count)
            empty[rows, there] = np.isnan(gain)
            lost[rows] += (spread == LOST).sum(axis=1)
            shift = gain - delta[rows, None]
            # As everywhere in the package, a gain within this distance of another is equal to it.
            shift[(spread == 0) & (np.abs(shift) <= noise[rows, None])] = 0.0
            with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is no t*, and another number over 0 an infinite one
                t[rows, there] = np.clip(shift / np.sqrt(np.maximum(spread, 0.0)), -_INFINITE, _INFINITE)
    return Studentised(chosen, t, empty, observed, se, lost)
