"""Counts of |δ°| ≥ |δ| after outputs were permuted at random, for all pairs. This module runs the nulls that permute outputs.

A pair's counts depend on its two systems, the address of the draws and the replicates: not on memory, on cells that are counted
together, on other systems, or on which of the two is called A.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.address import cell_bounds
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.counts import REASONS, NullCounts
from pipeline.resampling.replicas.gains import LinearPairs, ScoredPairs
from pipeline.resampling.replicas.groups import group_pairs
from pipeline.resampling.replicas.nulls import null_named
from pipeline.resampling.replicas.outputs import (
    ObservedReplicas,
    Replicas,
    compare_scores,
    observe_replicas,
    score_sums,
)
from pipeline.resampling.replicas.shuffles import SHUFFLES

__all__ = ["count_shuffled", "randomize_replicas", "reason_for"]

_LONGEST_BATCH = 2048  # replicates


def randomize_replicas(
    null: str,
    draws: Draws,
    replicas: Replicas,
    *,
    cells: range,
    replicates: int,
    memory_bytes: int = 2**26,
    observed: ObservedReplicas | None = None,
) -> NullCounts:
    """Count how often permuted outputs give a difference as large as the observed one.

    Parameters
    ----------
    null : {"per-output", "r-of-2r", "segment-block", "multeval"}
    draws : Draws
        The address; ``n_units`` and ``n_draws`` are the units. Each null has a key of its own.
    replicas : Replicas
    cells : range
        Cells to count.
    replicates : int
        Of the whole pass: the last cell may be partial.
    memory_bytes : int, optional
        For sums of a batch; changes no result.
    observed : ObservedReplicas, optional
        What `observe_replicas` gave, where it is at hand.

    Returns
    -------
    NullCounts
        ``delta`` is of pooled runs for `multeval`, and of the means over runs of each unit for blocks of unequal numbers of runs.
    """
    return count_shuffled(null, draws, replicas, cells=cells, replicates=replicates, memory_bytes=memory_bytes, observed=observed)[
        0
    ]


def count_shuffled(
    null: str,
    draws: Draws,
    replicas: Replicas,
    *,
    cells: range,
    replicates: int,
    memory_bytes: int = 2**26,
    observed: ObservedReplicas | None = None,
) -> tuple[NullCounts, NDArray[np.int64]]:
    """Return the counts, and #(|δ°| > |δ|), (pair, cell), beside them."""
    if draws.n_units != replicas.n_units or draws.n_draws != replicas.n_units:
        raise ValueError(f"statistics of {replicas.n_units} units, permutations of {draws.n_units} with {draws.n_draws} draws")
    seen = observe_replicas(replicas) if observed is None else observed
    delta, slack, oriented = _compared(null, replicas, seen)
    reason = reason_for(null, replicas, seen, delta)
    asked = ~np.isin(reason, (REASONS.index("unequal runs"), REASONS.index("undefined score")))
    shape = (len(replicas.pairs), len(cells))
    hits, more, empty = (np.zeros(shape, np.int64) for _ in range(3))
    bounds = [cell_bounds(cell, replicates) for cell in cells]
    for group in group_pairs(replicas, seen, chosen=asked, oriented=oriented):
        gains = LinearPairs(replicas, group) if group.is_linear else ScoredPairs(replicas, group, delta, slack)
        shuffle = SHUFFLES[null](replicas, group, gains.width)
        batch = _batch_length(len(group.systems), sum(shuffle.slots), gains.width, memory_bytes)
        for number, (first, stop) in enumerate(bounds):
            for start in range(first, stop, batch):
                dealt = shuffle.deal(draws, start, min(batch, stop - start))
                found = gains.count(dealt, shuffle)
                for target, added in zip((hits, more, empty), found, strict=True):
                    target[group.pair, number] += added
    lengths = np.array([stop - first for first, stop in bounds], np.int64)
    empty[~asked] = lengths
    compared = lengths - empty
    counts = NullCounts(
        null=null,
        delta=delta,
        hits=hits,
        compared=compared,
        empty=empty,
        enumerated=np.zeros(len(delta), np.bool_),
        floor=np.where(asked, 1 / (compared.sum(axis=1) + 1), np.nan),
        reason=reason,
        few_runs=np.zeros(len(delta), np.bool_),
    )
    return counts, more


def reason_for(null: str, replicas: Replicas, seen: ObservedReplicas, delta: NDArray[np.float64]) -> NDArray[np.int8]:
    """Say why pairs have no ordinary p under a null."""
    first, second = replicas.runs[replicas.pairs].T
    reason = np.where(seen.identical, REASONS.index("identical"), 0)
    reason = np.where(np.isfinite(delta), reason, REASONS.index("undefined score"))
    if null_named(null).needs_equal_runs:
        reason = np.where(first == second, reason, REASONS.index("unequal runs"))
    return reason.astype(np.int8)


def _compared(
    null: str, replicas: Replicas, seen: ObservedReplicas
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return gain, slack and orientation by the score that the null permutes."""
    first, second = replicas.runs[replicas.pairs].T
    if null == "multeval":
        pooled = np.stack([array.sum(axis=(0, 1)) for array in replicas.statistics], axis=1)
        return compare_scores(score_sums(replicas.score, pooled), replicas)
    if null != "segment-block" or (first == second).all():
        return seen.delta, seen.slack, seen.oriented
    means = np.stack([array.sum(axis=(0, 1)) / len(array) for array in replicas.statistics], axis=1)
    by_means = compare_scores(score_sums(replicas.score, means), replicas)
    equal = first == second
    return (
        np.where(equal, seen.delta, by_means[0]),
        np.where(equal, seen.slack, by_means[1]),
        np.where(equal[:, None], seen.oriented, by_means[2]),
    )


def _batch_length(systems: int, slots: int, width: int, memory_bytes: int) -> int:
    return max(min(memory_bytes // (32 * systems * slots * width), _LONGEST_BATCH), 1)  # both sides, and copies of both
