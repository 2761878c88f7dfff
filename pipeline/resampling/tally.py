"""Empty results of a pass, and the end of a cell, shared by bootstrap and randomization."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.compare import LANES, fold_lanes
from pipeline.resampling.comparison_rules import Plan
from pipeline.resampling.measures import BINS, COUNTS, SUMS, PairCounts

__all__ = ["close_cell", "empty_counts", "empty_lanes"]


def empty_counts(plan: Plan, cells: int, *, kept: tuple[int, int] = (0, 0)) -> PairCounts:
    """Return results in which nothing is counted yet.

    Parameters
    ----------
    plan : Plan
    cells : int
    kept : (int, int)
        Systems and replicates of which scores will be returned.
    """
    pairs = len(plan.measure.pairs)
    return PairCounts(
        counts=np.zeros((pairs, cells, len(COUNTS)), np.int32),
        sums=np.zeros((pairs, cells, len(SUMS))),
        histogram=np.zeros((pairs, cells, BINS), np.uint16),
        empty=np.zeros((pairs, cells), np.int32),
        score=np.empty(kept),
        rule=plan.rule,
    )


def empty_lanes(plan: Plan) -> NDArray[np.float64]:
    """Return room for the running sums of one cell; its content is not set."""
    return np.empty((len(plan.measure.pairs), len(SUMS), LANES))


def close_cell(plan: Plan, result: PairCounts, lanes: NDArray[np.float64], cell: int, *, tests_margin: bool) -> None:
    """Add the running sums up, in score points, and mark margin counts that nothing was compared for."""
    folded = fold_lanes(lanes)
    for rule in plan.rules:
        pair, unit = rule.thresholds.pair, rule.unit
        result.sums[pair, cell] = folded[pair] * np.stack([unit, unit * unit, unit], axis=1)
    if not tests_margin:
        result.counts[:, cell, COUNTS.index("margin_above") :] = -1
