"""Results from the kept replicates of a comparison, read once for all pairs: the max-T that decides, and intervals.

At most `SCORES_BYTES` of scores are used: with very many systems only the first replicates, the same ones on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.intervals.bootstrap_t import BOOTSTRAP_T, BootstrapTReader
from pipeline.inference.intervals.compatible_intervals import simultaneous
from pipeline.inference.intervals.proportions import PROPORTIONS, proportion_intervals
from pipeline.inference.intervals.replicate_intervals import METHODS, intervals
from pipeline.inference.multiple_comparisons.studentised_max_t import StudentisedMaxT, studentised_max_t
from pipeline.resampling.address import CELL
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.standard_errors.studentise_budget import replicates_again
from pipeline.resampling.strata import StratifiedDraws
from pipeline.tasks.collect.cube_slice import Tested

__all__ = ["SIMULTANEOUS", "Kept", "KeptReadings", "look_at", "read_kept"]

SCORES_BYTES = 2**28
"""For the scores of all systems on the kept replicates."""

SIMULTANEOUS = "simultaneous"
"""The method whose intervals cover all pairs of the family together."""


@dataclass(frozen=True, eq=False)
class Kept:
    """Kept scores of a column, and the counts of a pass over all replicates.

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
    """Results for the pairs of a measure, in its order.

    Parameters
    ----------
    interval : (method, pair, 2) float64
        Ends for the signed gain; nan where there is no interval.
    reason : (method, pair) int8
        Position in `pipeline.inference.intervals.replicate_intervals.INTERVAL_REASONS`.
    p : (method, pair) float64
        The p that a bootstrap-t interval inverts; nan for the other methods.
    max_t : StudentisedMaxT or None
        What decides about the pairs; None if Holm does.
    """

    interval: NDArray[np.float64]
    reason: NDArray[np.int8]
    p: NDArray[np.float64]
    max_t: StudentisedMaxT | None

    def max_t_table(self) -> dict[str, NDArray[Any]]:
        """Return the variables of a cube that max-T fills beside its p."""
        if self.max_t is None:
            return {}
        return {
            "p_studentised": self.max_t.alone,
            "max_t_se": self.max_t.se,
            "max_t_largest": self.max_t.largest,
            "max_t_replicates": np.where(self.max_t.family.reason == 0, self.max_t.replicates, -1),
        }


def look_at(kept: int, systems: int) -> int:
    """Return how many kept replicates intervals and max-T use: whole cells, if not all fit.

    Examples
    --------
    >>> look_at(131_072, 150), look_at(131_072, 1000), look_at(100, 10**6)
    (131072, 32768, 100)
    """
    fitting = SCORES_BYTES // (8 * max(systems, 1))
    return min(kept, max(fitting // CELL, 1) * CELL)


def read_kept(
    kept: Kept,
    measure: Measure,
    observed: Observed,
    *,
    tested: Tested,
    methods: Sequence[str],
    alpha: float,
    draws: Draws | StratifiedDraws,
    judged: bool = True,
    acceleration: NDArray[np.float64] | None = None,
) -> KeptReadings:
    """Return intervals by several methods, and the family's max-T where its pairs are ``judged`` by it.

    ``draws`` are those of the kept scores: some are drawn again, because the standard error of a replicate depends on its
    units. ``acceleration`` is for ``bca``.
    """
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
        acceleration=acceleration,
        counts=kept.counts,
        defined=kept.defined,
    )
    again = [name for name in methods if name in BOOTSTRAP_T]
    asked: dict[str, Any] = {"replicates": replicates_again(kept.scores.shape[1]), "alpha": alpha, "methods": again}
    reader = BootstrapTReader(measure, observed, member=tested.member, **asked)
    max_t: StudentisedMaxT | None = None
    if judged:
        floor = np.zeros(pairs) if tested.floor is None else tested.floor
        given: dict[str, Any] = {"draws": draws, "scores": kept.scores, "floor": floor, "member": tested.member}
        max_t = studentised_max_t(measure, observed, **given, show=reader.add if again else None)  # t* are made once for both
    if SIMULTANEOUS in methods:
        found[SIMULTANEOUS] = simultaneous(max_t, observed, alpha=alpha)
    p = np.full((len(methods), pairs), np.nan)
    if again:
        studentised = reader.result(draws)
        found |= studentised.intervals
        for name in again:
            p[methods.index(name)] = studentised.p[name]
    of_rates = [name for name in methods if name in PROPORTIONS]
    found |= proportion_intervals(measure, observed, alpha=alpha, methods=of_rates) if of_rates else {}
    ends = np.full((len(methods), pairs, 2), np.nan)
    reason = np.zeros((len(methods), pairs), np.int8)
    for position, name in enumerate(methods):
        ends[position, :, 0], ends[position, :, 1], reason[position] = found[name].lo, found[name].hi, found[name].reason
    return KeptReadings(ends, reason, p, max_t)
