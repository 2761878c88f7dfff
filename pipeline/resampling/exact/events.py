"""Events {Σ w_i Z_i <, =, > 0} of a bootstrap sum. This module chooses between a line, a plane and an enclosure.

A line is one lattice of Z. Where it is too wide a plane of both sums may not be (`plane`). Where that is too wide as
well, the tail is enclosed from finitely many frequencies (`enclosure`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.exact.budget import Budget
from pipeline.resampling.exact.chances import Chance, Event
from pipeline.resampling.exact.enclosure import enclose
from pipeline.resampling.exact.factors import Factors, make_factor
from pipeline.resampling.exact.integers import common_step
from pipeline.resampling.exact.known import log_known_mass
from pipeline.resampling.exact.lattice import TooWideError, count_points, split
from pipeline.resampling.exact.plane import Plane, split_plane

__all__ = ["Slope", "compress", "occur_when"]

_LINE_POINTS = 2**18
"""A wider line is dearer than a plane."""

_IMPOSSIBLE = Chance(-math.inf, -math.inf)


@dataclass(frozen=True)
class Slope:
    """Z = u·d − v·c with u > 0."""

    u: int
    v: int


def compress(
    values: NDArray[np.int64], counts: NDArray[np.int64], *, draws: int, hollow: NDArray[np.bool_] | None = None
) -> tuple[Factors, int, int]:
    """Return the law of a sum of draws on its own lattice, the step of that lattice, and the smallest sum."""
    lowest = int(values.min())
    step = common_step(values - lowest)
    return make_factor((values - lowest) // step, counts, draws=draws, hollow=hollow), step, draws * lowest


def occur_when(d: NDArray[np.int64], c: NDArray[np.int64], slope: Slope, *, budget: Budget) -> Event:
    """Compute the chances of Σ Z over a resample with Z = ud − vc, given that Σ c over it is not 0."""
    # One number for Z and whether c = 0: units without a denominator count only where others are drawn too.
    both, counts = np.unique(2 * (slope.u * d - slope.v * c) + (c == 0), return_counts=True)
    law, step, lowest = compress(both >> 1, counts, draws=len(d), hollow=(both & 1).astype(np.bool_))
    x, rest = divmod(-lowest, step)
    return _find(law, x, rest == 0, d, c, slope, budget)


def _find(law: Factors, x: int, is_on: bool, d: NDArray[np.int64], c: NDArray[np.int64], slope: Slope, budget: Budget) -> Event:
    """Take the first way that fits; ``is_on`` says that the threshold is a point of the lattice, not beyond x and before x + 1."""
    points = count_points(law, x)
    if points > min(_LINE_POINTS, budget.points) and slope.v:
        try:
            return _place(_across(d, c, slope, x, budget), is_on)
        except TooWideError:
            pass
    if points <= budget.points:
        return _place(split(law, x, max_points=budget.points), is_on)
    log_known = log_known_mass(d, c, slope.u, slope.v) if is_on else -math.inf
    strict, is_below = enclose(law, x, frequencies=budget.frequencies, width=budget.width, log_known=log_known)
    weak = strict.plus(Chance(log_known, log_known))
    at = Chance(log_known, weak.log_gap(strict)) if is_on else _IMPOSSIBLE
    if is_below:
        return Event(strict, at, weak.complement(), weak, strict.complement())
    return Event(weak.complement(), at, strict, strict.complement(), weak)


def _place(found: Event, is_on: bool) -> Event:
    return found if is_on else Event(found.up_to, _IMPOSSIBLE, found.above, found.up_to, found.above)


def _across(d: NDArray[np.int64], c: NDArray[np.int64], slope: Slope, x: int, budget: Budget) -> Event:
    both, counts = np.unique(np.stack([d, c], axis=1), axis=0, return_counts=True)
    z, hollow = slope.u * both[:, 0] - slope.v * both[:, 1], both[:, 1] == 0
    order = np.argsort(z, kind="stable")
    law, step, _ = compress(z[order], counts[order], draws=len(d), hollow=hollow[order])
    gain, denominator = both[order].T
    plane = Plane(gain - gain.min(), denominator - denominator.min(), slope.u, slope.v, step)
    return split_plane(law, x, plane, max_work=budget.work)
