"""Events {Σ w_i Z_i <, =, > 0} of a bootstrap sum. This module chooses between a line, a plane and an enclosure.

A line is one lattice of Z. Where it is too wide a plane of both sums may not be (`exact_plane`). Where that is too wide as
well, Z is rounded down and up to a grid: the two sums bound the sum, and their tails enclose the tail.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.exact_chances import Chance
from pipeline.resampling.exact_lattice import Split, TooWideError, count_points, split
from pipeline.resampling.exact_plane import Plane, split_plane
from pipeline.resampling.exact_tilt import Factors, make_factor

__all__ = ["Budget", "Event", "Slope", "common_step", "compress", "fit_grid", "occur_when"]

_LINE_POINTS = 2**18
"""A wider line is dearer than a plane."""


@dataclass(frozen=True)
class Budget:
    """How large a transform may be.

    Parameters
    ----------
    points : int
        Of a line; beyond, a result is an enclosure.
    work : int
        Rows times points of a plane; 0 rules planes out.
    """

    points: int
    work: int


@dataclass(frozen=True)
class Slope:
    """Z = u·d − v·c with u > 0."""

    u: int
    v: int


@dataclass(frozen=True)
class Event:
    """Chances of a sum below, at and above 0; at most and at least 0."""

    below: Chance
    at: Chance
    above: Chance
    up_to: Chance
    from_here: Chance


def common_step(values: NDArray[np.int64]) -> int:
    """Give the greatest common divisor, 1 of zeros."""
    return int(np.gcd.reduce(values)) or 1 if len(values) else 1


def compress(values: NDArray[np.int64], counts: NDArray[np.int64], *, draws: int) -> tuple[Factors, int, int]:
    """Give the law of a sum of draws on its own lattice, the step of that lattice, and the smallest sum."""
    lowest = int(values.min())
    step = common_step(values - lowest)
    return make_factor((values - lowest) // step, counts, draws=draws), step, draws * lowest


def occur_when(
    d: NDArray[np.int64], c: NDArray[np.int64], slope: Slope, *, draws: int, budget: Budget, log_mass: float = 0.0
) -> Event:
    """Compute the chances of Σ Z over draws from units with Z = ud − vc, all times exp(log_mass)."""
    z, counts = np.unique(slope.u * d - slope.v * c, return_counts=True)
    law, step, lowest = compress(z, counts, draws=draws)
    x, rest = divmod(-lowest, step)
    points = count_points(law, x)
    if points > _LINE_POINTS and slope.v:
        try:
            whole = _across(d, c, slope, draws, x, budget)
            return _collect(whole, whole, rest == 0, log_mass)
        except TooWideError:
            pass
    if points <= budget.points:
        whole = split(law, x, max_points=budget.points)
        return _collect(whole, whole, rest == 0, log_mass)
    down, up, cell = _round_to_grid(law, x, points, budget.points)
    return _collect(
        split(down, x // cell, max_points=budget.points),
        split(up, x // cell, max_points=budget.points),
        rest == 0 and x % cell == 0,
        log_mass,
    )


def fit_grid(points: int, allowed: int) -> int:
    """Give the cell of a grid on which so many points become at most about three quarters of those allowed."""
    return -(-4 * points // (3 * allowed))


def _across(d: NDArray[np.int64], c: NDArray[np.int64], slope: Slope, draws: int, x: int, budget: Budget) -> Split:
    both, counts = np.unique(np.stack([d, c], axis=1), axis=0, return_counts=True)
    z = slope.u * both[:, 0] - slope.v * both[:, 1]
    order = np.argsort(z, kind="stable")
    law, step, _ = compress(z[order], counts[order], draws=draws)
    gain, denominator = both[order].T
    plane = Plane(gain - gain.min(), denominator - denominator.min(), slope.u, slope.v, step)
    return split_plane(law, x, plane, max_work=budget.work)


def _round_to_grid(law: Factors, x: int, points: int, allowed: int) -> tuple[Factors, Factors, int]:
    counts = law.chances  # proportional to the counts, and make_factor scales them
    cell = fit_grid(points, allowed)
    while True:
        down, up = (
            make_factor(*_merge(rounded, counts), draws=int(law.powers[0]))
            for rounded in (law.atoms // cell, -(-law.atoms // cell))
        )
        if max(count_points(down, x // cell), count_points(up, x // cell)) <= allowed:
            return down, up, cell
        cell *= 2


def _merge(values: NDArray[np.int64], weights: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    distinct, which = np.unique(values, return_inverse=True)
    return distinct, np.bincount(which, weights=weights).astype(np.float64)


def _collect(low: Split, high: Split, is_on: bool, log_mass: float) -> Event:
    """Bound the events of a sum between two others; ``is_on`` says that the threshold is a point of the lattice."""
    none = -math.inf

    def chance(lower: float, upper: float) -> Chance:
        return Chance(min(lower, 0.0) + log_mass, min(upper, 0.0) + log_mass)

    def add(one: float, other: float) -> float:
        return float(np.logaddexp(one, other))

    above = chance(low.above, high.above)
    from_here = chance(add(low.above, low.at), add(high.above, high.at)) if is_on else above
    up_to = chance(add(high.below, high.at), add(low.below, low.at))
    below = chance(high.below, low.below) if is_on else up_to
    if low is not high:
        return Event(below, from_here.minus(above), above, up_to, from_here)
    at = chance(low.at, low.at) if is_on else Chance(none, none)
    return Event(below, at, above, up_to, from_here)
