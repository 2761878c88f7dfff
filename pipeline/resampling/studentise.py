"""Gains of bootstrap replicates over standard errors of their own, t*, some pairs at a time.

A replicate is drawn again from its address, and the standard error of a pair's difference is that of its linearised influence
values on the units drawn (`ratio_spread`): √(n/(n − 1) · Σu²), within strata √(Σ n_h/(n_h − 1) · Σ(u − mean_h u)²). Other metrics
than ratios have none short of a jackknife of every replicate. What that costs is known before: `replicates_again` draws, and
`products` of a weight and an influence value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.contract import FLOAT64_LIMIT, Contraction, largest_magnitude, plan_contraction
from pipeline.resampling.draws import Draws, draw_weights
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import TOLERANCE, ratio_factor
from pipeline.resampling.ratio_spread import LOST, spread_by_products, spread_directly
from pipeline.resampling.strata import StratifiedDraws, draw_stratified_weights

__all__ = ["BEYOND", "MOST_PRODUCTS", "REPLICATES_AGAIN", "Studentised", "products", "replicates_again", "studentise"]

REPLICATES_AGAIN = 9999
"""Of the kept replicates so many are drawn again, the first ones: a quantile needs them by the thousand, not by the million."""

MOST_PRODUCTS = 2**41
"""Of one metric on one test size: two minutes on one core where systems share denominators, a quarter of an hour where not."""


def replicates_again(kept: int) -> int:
    """Return how many of the kept replicates are drawn again.

    Examples
    --------
    >>> replicates_again(131_072), replicates_again(500)
    (9999, 500)
    """
    return min(kept, REPLICATES_AGAIN)


def products(*, systems: int, units: int, kept: int) -> int:
    """Return the products of all pairs.

    Examples
    --------
    >>> products(systems=31, units=1000, kept=131_072)
    4649535000
    """
    return systems * (systems - 1) // 2 * units * replicates_again(kept)


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
    draws: Draws | StratifiedDraws, measure: Measure, *, replicates: int, memory_bytes: int = 2**28
) -> Iterator[Studentised]:
    """Draw replicates 0 … and give t* of all pairs, those with one denominator first.

    Parameters
    ----------
    draws : Draws or StratifiedDraws
        As many draws as units, of the measure's strata.
    measure : Measure
        A ratio.
    replicates : int
        Each costs a product over all units for every pair: some thousands, not a million.
    memory_bytes : int, optional
        For t*, weights, columns and sums. It changes no number.
    """
    if measure.form != "ratio":
        raise ValueError("only a ratio has a standard error in every replicate")
    units, pairs = len(measure.statistics), measure.pairs.astype(np.int64)
    if (draws.n_units, draws.n_draws) != (units, units):
        raise ValueError(f"{draws.n_draws} draws of {draws.n_units} units, there are {units}")
    strata, own = draws.stratum if isinstance(draws, StratifiedDraws) else None, measure.stratum
    if (strata is None) != (own is None) or (strata is not None and own is not None and not np.array_equal(strata, own)):
        raise ValueError("draws and measure are not of the same strata")
    columns = np.ascontiguousarray(measure.statistics.transpose(1, 2, 0))
    squared = _have_products(columns, pairs) & (strata is None)
    batch = max(_SHORTEST_BATCH, min(_BATCH, memory_bytes // (48 * units)))
    several = max(memory_bytes // (2 * (9 * replicates + 48 * units + 48 * batch)), 1)
    for by_products in (True, False):
        places = np.flatnonzero(squared == by_products)
        for start in range(0, len(places), several):
            chosen = places[start : start + several]
            plan = _Plan.of(columns, pairs[chosen], measure.stratum, by_products=by_products)
            yield _studentise(draws, plan, chosen, replicates, batch, ratio_factor(measure))


def _have_products(columns: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which pairs have one denominator, and squares small enough to be added exactly."""
    units = columns.shape[2]
    small = np.array([units * largest_magnitude(own) ** 2 < FLOAT64_LIMIT // 4 for own in columns], np.bool_)
    content = [own[1].tobytes() for own in columns]
    number = {text: place for place, text in enumerate(content)}
    denominator = np.array([number[text] for text in content], np.int64)
    a, b = pairs.T
    return np.asarray((denominator[a] == denominator[b]) & small[a] & small[b], np.bool_)


@dataclass(frozen=True, eq=False)
class _Plan:
    """Some pairs, ready to be summed."""

    columns: NDArray[np.int64]  # (system, 2, unit)
    pairs: NDArray[np.int64]  # of these systems
    contraction: Contraction
    rows: NDArray[np.int64]  # of the sums
    order: NDArray[np.int64]  # units, stratum by stratum
    sizes: NDArray[np.int64]  # of strata; of one where there are none

    @classmethod
    def of(
        cls, columns: NDArray[np.int64], pairs: NDArray[np.int64], stratum: NDArray[np.int64] | None, *, by_products: bool
    ) -> _Plan:
        systems, places = np.unique(pairs, return_inverse=True)
        pairs, units = np.ascontiguousarray(places.reshape(-1, 2)), columns.shape[2]
        order = np.arange(units) if stratum is None else np.argsort(stratum, kind="stable")
        sizes = np.array([units]) if stratum is None else np.bincount(stratum)
        columns = np.ascontiguousarray(columns[systems][:, :, order])
        asked = list(columns.reshape(-1, units))  # numerator and denominator of each system
        a, b = pairs.T
        rows = [2 * a, 2 * b, 2 * a + 1, 2 * b + 1]
        if by_products:
            first = len(asked)
            for one, other in pairs.tolist():
                difference = columns[one, 0] - columns[other, 0]
                asked += [difference * difference, difference * columns[one, 1]]
            own = first + 2 * np.arange(len(pairs))
            rows = [*rows[:3], own, own + 1, len(asked) + a]
            asked += [column * column for column in columns[:, 1]]
        contraction = plan_contraction(asked, n_units=units, n_draws=units)
        return cls(columns, pairs, contraction, contraction.position[np.stack(rows, axis=1)], order, sizes.astype(np.int64))

    def spread(self, weights: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (pair, replicate) δ and n/(n − 1) Σu², or what stands for it within strata."""
        weights = weights if len(self.sizes) == 1 else weights[:, self.order]
        product = self.contraction.multiply(weights)
        sums = np.concatenate([product.narrow.astype(np.float64), product.sparse.astype(np.float64), product.wide])
        gain, spread = np.empty((2, len(self.pairs), len(weights)))
        if self.rows.shape[1] == 6:
            spread_by_products(sums, self.rows, self.columns, self.pairs, weights, gain, spread)
        else:
            spread_directly(sums, self.rows, self.columns, self.pairs, weights, self.sizes, gain, spread)
        if len(self.sizes) == 1:
            units = weights.shape[1]
            np.multiply(spread, units / (units - 1) if units > 1 else np.nan, out=spread, where=spread != LOST)
        return gain, spread


def _studentise(
    draws: Draws | StratifiedDraws, plan: _Plan, chosen: NDArray[np.int64], replicates: int, batch: int, factor: float
) -> Studentised:
    units = draws.n_units
    (delta,), (variance,) = (values.T for values in plan.spread(np.ones((1, units), np.float32)))
    unknown = (variance == LOST) | bool(np.all(plan.sizes == 1))
    se = np.sqrt(np.where(unknown, np.nan, variance))
    totals = plan.columns.sum(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 has no score, and no t*
        size = np.abs(totals[:, 0] / totals[:, 1])[plan.pairs].sum(axis=1)
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
        gain, spread = plan.spread(drawn)
        there = slice(first, first + count)
        empty[:, there] = np.isnan(gain)
        lost += (spread == LOST).sum(axis=1)
        shift = gain - delta[:, None]
        # As everywhere in the package, a gain within this distance of another is equal to it.
        shift[(spread == 0) & (np.abs(shift) <= TOLERANCE * size[:, None])] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is no t*, and another number over 0 an infinite one
            t[:, there] = np.clip(shift / np.sqrt(np.maximum(spread, 0.0)), -_INFINITE, _INFINITE)
    return Studentised(chosen, t, empty, observed, factor * se, lost)
