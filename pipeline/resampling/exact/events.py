"""Events {Σ w_i Z_i <, =, > 0} of a bootstrap sum. This module chooses between a line, a plane and an enclosure.

A line is one lattice of Z. Where it is too wide a plane of both sums may not be (`plane`). Where that is too wide as
well, the tail is enclosed from finitely many frequencies (`enclosure`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from pipeline.resampling.exact.budget import Budget
from pipeline.resampling.exact.chances import Chance, Event
from pipeline.resampling.exact.enclosure import enclose
from pipeline.resampling.exact.integers import common_step
from pipeline.resampling.exact.lattice import Split, TooWideError, count_points, split
from pipeline.resampling.exact.plane import Plane, split_plane
from pipeline.resampling.exact.tilt import Factors, make_factor

__all__ = ["Slope", "compress", "occur_when"]

_LINE_POINTS = 2**18
"""A wider line is dearer than a plane."""

_IMPOSSIBLE = Chance(-math.inf, -math.inf)


@dataclass(frozen=True)
class Slope:
    """Z = u·d − v·c with u > 0."""

    u: int
    v: int


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
    event = _find(law, x, rest == 0, d, c, slope, draws, budget)
    return Event(*(getattr(event, name).scaled(log_mass) for name in Event.__dataclass_fields__))


def _find(
    law: Factors, x: int, is_on: bool, d: NDArray[np.int64], c: NDArray[np.int64], slope: Slope, draws: int, budget: Budget
) -> Event:
    """Take the first way that fits; ``is_on`` says that the threshold is a point of the lattice, not beyond x and before x + 1."""
    points = count_points(law, x)
    if points > min(_LINE_POINTS, budget.points) and slope.v:
        try:
            return _split_event(_across(d, c, slope, draws, x, budget), is_on)
        except TooWideError:
            pass
    if points <= budget.points:
        return _split_event(split(law, x, max_points=budget.points), is_on)
    log_known = _log_known(d, c, slope, draws) if is_on else -math.inf
    strict, is_below = enclose(law, x, frequencies=budget.frequencies, width=budget.width, log_known=log_known)
    known = Chance.known(log_known)
    weak = strict.plus(known)
    at = _IMPOSSIBLE
    if is_on:
        at = Chance(log_known, weak.minus(strict).log_high)
    if is_below:
        return Event(strict, at, weak.complement(), weak, strict.complement())
    return Event(weak.complement(), at, strict, strict.complement(), weak)


def _split_event(found: Split, is_on: bool) -> Event:
    below, at, above = (Chance.known(log_p) for log_p in found)
    if not is_on:
        below, at = below.plus(at), _IMPOSSIBLE
    return Event(below, at, above, below.plus(at), above.plus(at))


def _across(d: NDArray[np.int64], c: NDArray[np.int64], slope: Slope, draws: int, x: int, budget: Budget) -> Split:
    both, counts = np.unique(np.stack([d, c], axis=1), axis=0, return_counts=True)
    z = slope.u * both[:, 0] - slope.v * both[:, 1]
    order = np.argsort(z, kind="stable")
    law, step, _ = compress(z[order], counts[order], draws=draws)
    gain, denominator = both[order].T
    plane = Plane(gain - gain.min(), denominator - denominator.min(), slope.u, slope.v, step)
    return split_plane(law, x, plane, max_work=budget.work)


def _log_known(d: NDArray[np.int64], c: NDArray[np.int64], slope: Slope, draws: int) -> float:
    """Give the logarithm of a mass that is known to lie on ΣZ = 0: with few discordant units it would be lost in an interval.

    All draws have Z = 0; or, where c is a constant and the threshold twice the gain, each discordant unit is drawn twice.
    """
    n, m = len(d), int(np.count_nonzero(d))
    idle = int(np.count_nonzero(slope.u * d == slope.v * c))
    logs = [draws * math.log(idle / n)] if idle else []
    is_twice = slope.v > 0 and slope.v * int(c.sum()) == 2 * slope.u * int(d.sum())
    if is_twice and draws == n and 0 < 2 * m <= n and c.min() == c.max():
        ways = gammaln(n + 1) - m * math.log(2) - gammaln(n - 2 * m + 1)
        logs.append(float(ways) - 2 * m * math.log(n) + (n - 2 * m) * math.log1p(-m / n))
    return max(logs, default=-math.inf)
