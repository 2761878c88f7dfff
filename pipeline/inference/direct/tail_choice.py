"""Which tails are computed by default. The choice is made from sizes, never by the clock, so that no machine changes what is there.

A law of few values costs microseconds and one of decimal scores some hundredths of a second, of which a leaderboard has a thousand.
"""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.direct.scores import MEMORY, differences, is_mean
from pipeline.resampling.exact.budget import QUICK
from pipeline.resampling.measures import Measure, Observed

__all__ = ["choose_tails", "tail_points"]

_SHORT = 2**16
"""Points of a ring on which sums are taken directly; on a wider one units are sorted and transformed."""

_SIGMAS = 24
"""Standard deviations that a ring spans: twelve on either side."""


def choose_tails(measure: Measure, observed: Observed, *, asked: NDArray[np.bool_], points: int) -> NDArray[np.bool_]:
    """Choose the pairs whose exact tails are computed: those with the fewest standard errors between them, within a budget.

    They are those that a verdict is nearest to. No number depends on the choice, only whether it is there.

    Parameters
    ----------
    measure : Measure
    observed : Observed
    asked : (pair,) bool
        Pairs with common denominators that are wanted.
    points : int
        The budget, as `pipeline.resampling.exact.budget.tails_budget` gives it.

    Returns
    -------
    (pair,) bool
    """
    members = np.flatnonzero(asked)
    cost = tail_points(measure, observed, members)
    with np.errstate(divide="ignore", invalid="ignore"):  # without a spread the gain is infinitely many standard errors
        away = np.abs(observed.delta[members]) / observed.se[members]
    order = np.lexsort((members, cost, np.where(np.isnan(away), np.inf, away)))
    chosen = np.zeros(len(asked), np.bool_)
    chosen[members[order][np.cumsum(cost[order]) <= points]] = True
    return chosen


def tail_points(
    measure: Measure, observed: Observed, members: NDArray[np.integer], *, memory_bytes: int = MEMORY
) -> NDArray[np.int64]:
    """Bound what the bootstrap law of each pair costs, in points of a transform.

    With w the range of the differences of n units in steps of their lattice, a ring has at most n·w points, or 24 standard
    deviations, each at most w√n/2. Where denominators vary the lattice is that of both sums: as wide as any.
    """
    units = len(measure.statistics)
    widest = 8 * units + 2 * QUICK.points
    cost = np.full(len(members), widest, np.int64)
    simple = np.flatnonzero(is_mean(measure)[members])
    done = 0
    for _, rows in differences(measure, observed, members[simple], memory_bytes=memory_bytes, row_bytes=24):
        low = rows.min(axis=1)
        step = np.maximum(np.gcd.reduce(rows - low[:, None], axis=1), 1)
        width = (rows.max(axis=1) - low) // step
        factor = min(units, _SIGMAS * (isqrt(units) + 1) // 2)
        points = np.minimum(width, QUICK.points) * factor + 1
        short = units // 8 + 2 * points
        cost[simple[done : done + len(rows)]] = np.where(points <= _SHORT, short, 8 * units + 2 * np.minimum(points, QUICK.points))
        done += len(rows)
    return cost
