"""What the kept replicates of a column say of all its pairs: intervals, and max-T. This module reads them once for both.

Replicates are kept up to `SCORES_BYTES`: of very many systems only the first are looked at, the same whatever the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.families import order_family
from pipeline.inference.intervals import METHODS, intervals
from pipeline.inference.max_t import StepDown
from pipeline.inference.simultaneous import simultaneous
from pipeline.resampling.address import CELL
from pipeline.resampling.influence import leave_one_out, pair_moments
from pipeline.resampling.maxima import make_family
from pipeline.resampling.measures import Measure, Observed
from pipeline.tasks.part import Tested

__all__ = ["SIMULTANEOUS", "Kept", "KeptReadings", "look_at", "read_kept"]

SCORES_BYTES = 2**28
"""For the scores of all systems on the kept replicates."""

SIMULTANEOUS = "simultaneous"
"""The method whose intervals cover all pairs of the family together."""


@dataclass(frozen=True, eq=False)
class Kept:
    """Kept scores of a column, and what a pass counted on all replicates.

    Parameters
    ----------
    scores : (system, replicate) float64
        In the order of the measure's systems.
    counts : (pair, 8) int64
        Summed over cells.
    defined : (pair,) int64
        Replicates in which both scores are defined.
    """

    scores: NDArray[np.float64]
    counts: NDArray[np.int64]
    defined: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class KeptReadings:
    """Of the pairs of a measure, as it orders them.

    Parameters
    ----------
    interval : (method, pair, 2) float64
        Ends of the signed gain; nan where there is none.
    reason : (method, pair) int8
        Position in `pipeline.inference.intervals.INTERVAL_REASONS`.
    max_t : (pair,) float64
        Adjusted two-sided p-values (s + 1)/(b + 1); nan where a pair has none.
    max_t_replicates : (pair,) int64
        b; -1 where p is known without replicates, or there is none.
    """

    interval: NDArray[np.float64]
    reason: NDArray[np.int8]
    max_t: NDArray[np.float64]
    max_t_replicates: NDArray[np.int64]


def look_at(kept: int, systems: int) -> int:
    """Give of how many kept replicates intervals and max-T are read: whole cells, where not all fit.

    Examples
    --------
    >>> look_at(131_072, 150), look_at(131_072, 1000), look_at(100, 10**6)
    (131072, 32768, 100)
    """
    fitting = SCORES_BYTES // (8 * max(systems, 1))
    return min(kept, max(fitting // CELL, 1) * CELL)


def read_kept(
    kept: Kept, measure: Measure, observed: Observed, *, tested: Tested, methods: Sequence[str], alpha: float
) -> KeptReadings:
    """Give intervals by several methods and the family's max-T p-values."""
    pairs = len(measure.pairs)
    found = intervals(
        kept.scores,
        measure.pairs,
        delta=observed.delta,
        identical=observed.identical,
        se=observed.se,
        higher_is_better=measure.higher_is_better,
        alpha=alpha,
        methods=[name for name in methods if name in METHODS],
        acceleration=_acceleration(measure) if "bca" in methods else None,
        counts=kept.counts,
        defined=kept.defined,
    )
    if SIMULTANEOUS in methods:
        family = make_family(measure, observed, np.flatnonzero(tested.member))
        found[SIMULTANEOUS] = simultaneous(
            kept.scores[family.systems],
            family,
            delta=observed.delta,
            identical=observed.identical,
            se=observed.se,
            alpha=alpha,
        ).intervals
    ends = np.full((len(methods), pairs, 2), np.nan)
    reason = np.zeros((len(methods), pairs), np.int8)
    for position, name in enumerate(methods):
        ends[position, :, 0], ends[position, :, 1], reason[position] = found[name].lo, found[name].hi, found[name].reason
    return KeptReadings(ends, reason, *_max_t(kept, measure, observed, tested))


def _acceleration(measure: Measure) -> NDArray[np.float64]:
    return pair_moments(leave_one_out(measure.statistics, measure.score), measure.pairs, stratum=measure.stratum).acceleration


def _max_t(kept: Kept, measure: Measure, observed: Observed, tested: Tested) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    p, replicates = np.full(len(measure.pairs), np.nan), np.full(len(measure.pairs), -1, np.int64)
    if not tested.member.any():
        return p, replicates
    family = order_family(
        measure.pairs,
        score=observed.score,
        delta=observed.delta,
        se=observed.se,
        identical=observed.identical,
        higher_is_better=measure.higher_is_better,
        baseline=tested.baseline,
    )
    counted = StepDown(family)
    counted.add(kept.scores)
    found = counted.result()
    # A monotone p is the largest so far: its s and b are those of the pair that set it.
    own = (found.hits[family.pair] + 1) / (found.replicates[family.pair] + 1)
    setter = np.maximum.accumulate(np.where(own == np.maximum.accumulate(own), np.arange(len(own)), 0))
    p[tested.member] = found.p[tested.member]
    replicates[family.pair] = found.replicates[family.pair][setter]
    return p, np.where(tested.member, replicates, -1)
