"""Empty results of a pass, and the end of a cell, shared by bootstrap and randomization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.comparison.compare import fold_lanes
from pipeline.resampling.comparison.comparison_rules import Plan
from pipeline.resampling.measures import BINS, COUNTS, LANES, SUMS, Measure, Observed, PairCounts

__all__ = ["close_cell", "count_in_tiles", "empty_counts", "empty_lanes"]


def count_in_tiles(
    measures: Sequence[Measure],
    observed: Sequence[Observed],
    pairs_at_once: int,
    count: Callable[[Sequence[Measure], Sequence[Observed], bool], list[PairCounts]],
) -> list[PairCounts]:
    """Return the result of ``count`` for all pairs; it is given so many at a time, and whether they are the first.

    No pair depends on another, so this changes no bit.
    """
    pairs = [len(measure.pairs) for measure in measures]
    tiles = max(1, -(-sum(pairs) // max(1, pairs_at_once)))
    if tiles == 1:
        return count(measures, observed, True)
    whole: list[PairCounts] = []
    for tile in range(tiles):
        rows = [slice(own * tile // tiles, own * (tile + 1) // tiles) for own in pairs]  # of even size: a short one costs as much
        some = [replace(measure, pairs=measure.pairs[own]) for measure, own in zip(measures, rows, strict=True)]
        seen = [
            replace(all_, delta=all_.delta[own], se=all_.se[own], discordant=all_.discordant[own], identical=all_.identical[own])
            for all_, own in zip(observed, rows, strict=True)
        ]
        parts = count(some, seen, tile == 0)
        if tile == 0:
            whole = [_room_for(own, part) for own, part in zip(pairs, parts, strict=True)]
        for result, own, part in zip(whole, rows, parts, strict=True):
            for name in ("counts", "sums", "histogram", "empty", "rule"):
                getattr(result, name)[own] = getattr(part, name)
    return whole


def _room_for(pairs: int, part: PairCounts) -> PairCounts:
    """Return a result of so many pairs, of the cells and with the scores of a part; its numbers are not set."""
    room = {
        name: np.empty((pairs, *getattr(part, name).shape[1:]), getattr(part, name).dtype)
        for name in ("counts", "sums", "histogram", "empty", "rule")
    }
    return replace(part, **room)


def empty_counts(plan: Plan, cells: int, *, kept: tuple[int, int] = (0, 0)) -> PairCounts:
    """Return results in which nothing is counted yet.

    Parameters
    ----------
    plan : Plan
    cells : int
    kept : (int, int)
        Systems and replicates whose scores will be returned.
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


def empty_lanes(plan: Plan, *, exact: bool) -> NDArray[np.float64]:
    """Return an array for the running sums of one cell, without content.

    Sums that are ``exact`` in any order need only the first accumulator.
    """
    return np.empty((len(plan.measure.pairs), len(SUMS), 1 if exact else LANES))


def close_cell(plan: Plan, result: PairCounts, lanes: NDArray[np.float64], cell: int, *, tests_margin: bool) -> None:
    """Add up the running sums, in score points, and mark margin counts for which nothing was compared."""
    folded = fold_lanes(lanes)
    for rule in plan.rules:
        pair, unit = rule.thresholds.pair, rule.unit
        result.sums[pair, cell] = folded[pair] * np.stack([unit, unit * unit, unit], axis=1)
    if not tests_margin:
        result.counts[:, cell, COUNTS.index("margin_above") :] = -1
