"""How alike the items of a unit are, for each pair: intra-cluster correlation, design effect, effective units.

Everything concerns the paired, linearised difference: how it changes when an item is left out. Two systems can each be strongly
clustered while their difference is not, and vice versa, so every pair has its own values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass

__all__ = ["REASONS", "UnitEffects", "count_items", "effective_units", "unit_effects"]

REASONS = ("", "undefined influence", "no variation", "one unit", "one item a unit")
"""Why a pair lacks a number: a leave-one-out score is undefined; no item moves the difference; there is nothing between units;
nor within them (the design effect is then 1, the correlation undefined)."""

_ROUNDING = 2.0**-46  # deviations of this share of the scores are what is left of subtracting equal numbers


@dataclass(frozen=True, eq=False)
class UnitEffects:
    """The effect of units on the variance of each pair's difference.

    Parameters
    ----------
    correlation : (pair,) float64
        Intra-cluster correlation, between −1/(n0 − 1) and 1.
    design_effect : (pair,) float64
        Variance of the difference if units are independent, divided by that if items are.
    reason : (pair,) int8
        Position in `REASONS`.
    """

    correlation: NDArray[np.float64]
    design_effect: NDArray[np.float64]
    reason: NDArray[np.int8]


def count_items(unit: NDArray[np.integer]) -> NDArray[np.int64]:
    """Count the items of each unit.

    Parameters
    ----------
    unit : (item,) int
        The unit of each item, numbered 0 … G − 1 without a gap.
    """
    if unit.ndim != 1 or len(unit) < 1 or unit.min() < 0:
        raise ValueError(f"the units of at least 1 item are numbered from 0, not {unit.shape} from {unit.min(initial=0)}")
    sizes = np.bincount(unit).astype(np.int64)
    if not sizes.all():
        raise ValueError(f"units are numbered without a gap: of 0 … {len(sizes) - 1}, {int(np.sum(sizes == 0))} have no item")
    return sizes


def effective_units(sizes: NDArray[np.integer]) -> float:
    """Return (Σn)² / Σn²: the number of units of equal size that would vary as much as these.

    Examples
    --------
    >>> effective_units(np.full(8, 25))
    8.0
    >>> repositories = np.array([231, 75, 44, 34, 32, 22, 22, 19, 10, 8, 2, 1])
    >>> round(effective_units(repositories), 1)
    3.9
    """
    n = np.asarray(sizes, np.float64)
    if n.ndim != 1 or len(n) < 1 or not np.all(n > 0):
        raise ValueError(f"sizes of at least 1 unit are positive, not {sizes}")
    return float(n.sum() ** 2 / (n**2).sum())


def unit_effects(scores: NDArray[np.float64], pairs: NDArray[np.int64], *, unit: NDArray[np.integer]) -> UnitEffects:
    """Return intra-cluster correlation and design effect of the paired difference, for all pairs.

    With x_gi the influence of item i of unit g on the difference, centred, n_g items in G units, N in all:
    MSB = Σ n_g x̄_g² / (G − 1), MSW = Σ (x_gi − x̄_g)² / (N − G), n0 = (N − Σn_g²/N) / (G − 1) and
    ICC = (MSB − MSW) / (MSB + (n0 − 1) MSW) (one-way analysis of variance, unequal units: Donner and Koval 1980,
    doi:10.2307/2530491). The design effect is G/(G − 1) Σ_g (Σ_i x_gi)² over N/(N − 1) Σ x_gi²; with units of m items it is
    near 1 + (m − 1) ICC, and below 1 where items of a unit offset each other.

    Parameters
    ----------
    scores : (system, item) float64
        Leave-one-*item*-out scores, from `pipeline.resampling.standard_errors.influence.leave_one_out`.
    pairs : (pair, 2) int64
    unit : (item,) int
        The unit of each item, numbered 0 … G − 1 without a gap.

    Examples
    --------
    >>> scores = np.array([[1.0, 1.0, 5.0, 5.0, 3.0, 3.0], [0.0, 0, 0, 0, 0, 0]])
    >>> found = unit_effects(scores, np.array([[0, 1]]), unit=np.array([0, 0, 1, 1, 2, 2]))
    >>> found.correlation.tolist(), found.design_effect.round(3).tolist()
    ([1.0], [2.5])
    """
    if scores.ndim != 2 or scores.shape[1:] != unit.shape:
        raise ValueError(f"scores are (system, item) and have one unit an item, not {scores.shape} and {unit.shape}")
    sizes = count_items(unit)
    # Items of a unit side by side: a sum of a unit is one run, and nothing is scattered.
    ordered = np.ascontiguousarray(scores[:, np.argsort(unit, kind="stable")])
    correlation, design_effect = np.full((2, len(pairs)), np.nan)
    reason = np.zeros(len(pairs), np.int8)
    _fill_effects(ordered, np.ascontiguousarray(pairs, np.int64), sizes, correlation, design_effect, reason)
    return UnitEffects(correlation, design_effect, reason)


@bare_kernel
def _fill_effects(
    scores: NDArray[np.float64],
    pairs: NDArray[np.int64],
    sizes: NDArray[np.int64],
    correlation: NDArray[np.float64],
    design_effect: NDArray[np.float64],
    reason: NDArray[np.int8],
) -> None:
    items, units = scores.shape[1], len(sizes)
    squared_sizes = 0.0
    for size in sizes:
        squared_sizes += float(size) * float(size)
    centre = np.empty(len(scores))
    largest = np.zeros(len(scores))
    for system in range(len(scores)):
        total = 0.0
        for item in range(items):
            total += scores[system, item]
            largest[system] = max(largest[system], abs(scores[system, item]))
        centre[system] = total / items  # nan where any score is
    for pair in range(len(pairs)):
        first, second = pairs[pair]
        a, b = scores[first], scores[second]
        mean = centre[first] - centre[second]
        if mean != mean:
            reason[pair] = 1
            continue
        item_squares = unit_squares = between = 0.0
        begin = 0
        for size in sizes:
            total = 0.0
            for item in range(begin, begin + size):
                value = (a[item] - b[item]) - mean
                total += value
                item_squares += value * value
            begin += size
            unit_squares += total * total
            between += total * total / size
        rounding = _ROUNDING * (largest[first] + largest[second])
        if item_squares <= items * rounding * rounding:
            reason[pair] = 2
        elif units < 2:
            reason[pair] = 3
        elif units == items:
            reason[pair] = 4
            design_effect[pair] = 1.0
        else:
            design_effect[pair] = (units / (units - 1.0) * unit_squares) / (items / (items - 1.0) * item_squares)
            n0 = (items - squared_sizes / items) / (units - 1.0)
            msb = between / (units - 1.0)
            msw = max(item_squares - between, 0.0) / (items - units)
            correlation[pair] = (msb - msw) / (msb + (n0 - 1.0) * msw)
