"""Counts of |δ°| ≥ |δ| after outputs were permuted at random, for all pairs: the nulls that permute outputs.

A pair's counts depend only on its two systems, the address of the draws and the replicates: not on memory, on the cells counted
together, on other systems, or on which of the two is called A. Pairs whose runs share one denominator are compared as integers
(`LinearPairs`), all others by their scores (`ScoredPairs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.resampling.address import cell_bounds
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import ScoreFunction
from pipeline.resampling.replicas.differences import Differences
from pipeline.resampling.replicas.groups import Group, group_pairs
from pipeline.resampling.replicas.nulls import REASONS, NullCounts, may_have_p, null_named
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas, compare_scores, observe_replicas, score_sums
from pipeline.resampling.replicas.shuffles import SHUFFLES, Dealt, Shuffle

__all__ = ["LinearPairs", "ScoredPairs", "count_shuffled", "fit_batch", "mean_over_runs", "randomize_replicas", "reason_for"]

_EVALUATIONS = 2**16  # scores of pairs computed at once


class ScoredPairs:
    """Pairs that are scored; gains within the tolerance of δ are as large as δ."""

    def __init__(self, replicas: Replicas, group: Group, delta: NDArray[np.float64], slack: NDArray[np.float64]) -> None:
        self.width = replicas.statistics[0].shape[2]
        self._score: ScoreFunction = replicas.score
        self._rows = group.rows
        self._size, self._slack = np.abs(delta[group.pair]), slack[group.pair]

    def count(self, dealt: Dealt, shuffle: Shuffle) -> Iterator[NDArray[np.int64]]:
        """Count |δ°| ≥ |δ|, > |δ| and undefined, of each pair."""
        found = np.zeros((3, len(self._rows)), np.int64)
        slots, replicates = dealt.ahead.shape[2:]
        step = max(_EVALUATIONS // (slots * replicates), 1)
        for start in range(0, len(self._rows), step):
            chunk = slice(start, start + step)
            sums = dealt.ahead[:, self._rows[chunk, 0]] / shuffle.divisors[0]
            sums += dealt.behind[:, self._rows[chunk, 1]] / shuffle.divisors[1]
            scores = score_sums(self._score, sums)
            gain = mean_over_runs(scores[:, : shuffle.slots[0]]) - mean_over_runs(scores[:, shuffle.slots[0] :])
            size, slack = self._size[chunk, None], self._slack[chunk, None]
            found[0, chunk] = (np.abs(gain) >= size - slack).sum(axis=1)
            found[1, chunk] = (np.abs(gain) > size + slack).sum(axis=1)
            found[2, chunk] = np.isnan(gain).sum(axis=1)
        return iter(found)


class LinearPairs:
    """Pairs over one denominator: the difference of mean numerators over the same denominator, times R_A · R_B an integer."""

    width = 1

    def __init__(self, replicas: Replicas, group: Group) -> None:
        runs_a, runs_b = group.runs
        totals = np.array([replicas.statistics[system][:, :, 0].sum() for system in group.systems.tolist()], np.int64)
        self._rows = np.ascontiguousarray(group.rows)
        self._runs = group.runs
        self._size = np.abs(totals[group.rows[:, 0]] * runs_b - totals[group.rows[:, 1]] * runs_a).astype(np.float64)

    def count(self, dealt: Dealt, shuffle: Shuffle) -> Iterator[NDArray[np.int64]]:
        """Count |δ°| ≥ |δ|, > |δ| and undefined, of each pair."""
        split = shuffle.slots[0]
        sides = [np.ascontiguousarray(self._fold(dealt[side][0], shuffle, side, split)) for side in range(2)]
        found = np.zeros((3, len(self._rows)), np.int64)
        _count_linear(sides[0], sides[1], self._rows, self._size, found)
        return iter(found)

    def _fold(self, added: NDArray[np.float64], shuffle: Shuffle, side: int, split: int) -> NDArray[np.float64]:
        whole = self._runs[0] * self._runs[1]
        weight_a, weight_b = (whole // (slots * shuffle.pooled * shuffle.divisors[side]) for slots in shuffle.slots)
        folded: NDArray[np.float64] = weight_a * added[:, :split].sum(axis=1) - weight_b * added[:, split:].sum(axis=1)
        return folded


def mean_over_runs(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average (…, run, …) scores over the second axis, in the order of runs."""
    total: NDArray[np.float64] = scores[:, 0].copy()
    for run in range(1, scores.shape[1]):
        total += scores[:, run]
    total /= scores.shape[1]
    return total


@bare_kernel
def _count_linear(
    ahead: NDArray[np.float64],
    behind: NDArray[np.float64],
    rows: NDArray[np.int64],
    size: NDArray[np.float64],
    found: NDArray[np.int64],
) -> None:
    for pair in range(len(rows)):
        a, b = ahead[rows[pair, 0]], behind[rows[pair, 1]]
        reached = above = 0
        for i in range(ahead.shape[1]):
            gain = abs(a[i] + b[i])
            reached += gain >= size[pair]
            above += gain > size[pair]
        found[0, pair] += reached
        found[1, pair] += above


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
    """Count how often permuted outputs give a difference at least as large as the observed one.

    Parameters
    ----------
    null : {"per-output", "r-of-2r", "segment-block", "multeval"}
    draws : Draws
        The address; ``n_units`` and ``n_draws`` are the number of units. Each null has a key of its own.
    replicas : Replicas
    cells : range
        Cells to count.
    replicates : int
        Of the whole pass: the last cell may be partial.
    memory_bytes : int, optional
        For sums of a batch; changes no result.
    observed : ObservedReplicas, optional
        The result of `observe_replicas`, if already known.

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
    asked = may_have_p(reason)
    shape = (len(replicas.pairs), len(cells))
    hits, more, empty = (np.zeros(shape, np.int64) for _ in range(3))
    bounds = [cell_bounds(cell, replicates) for cell in cells]
    for group in group_pairs(replicas, seen, chosen=asked, oriented=oriented):
        batch, count = _counter(null, draws, replicas, group, delta, slack, memory_bytes)
        for number, (first, stop) in enumerate(bounds):
            for start in range(first, stop, batch):
                found = count(start, min(batch, stop - start))
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


def _counter(
    null: str,
    draws: Draws,
    replicas: Replicas,
    group: Group,
    delta: NDArray[np.float64],
    slack: NDArray[np.float64],
    memory_bytes: int,
) -> tuple[int, Callable[[int, int], Iterator[NDArray[np.int64]]]]:
    """Return the length of a batch, and a function of the first replicate and their number that counts a group."""
    differences = Differences.of(null, replicas, group)
    if differences is not None:
        return fit_batch(differences.bytes_per_replicate, memory_bytes), partial(differences.count, draws)
    gains = LinearPairs(replicas, group) if group.is_linear else ScoredPairs(replicas, group, delta, slack)
    shuffle = SHUFFLES[null](replicas, group, gains.width)
    # Both sides, and copies of both.
    batch = fit_batch(32 * len(group.systems) * sum(shuffle.slots) * gains.width, memory_bytes)
    return batch, lambda first, count: gains.count(shuffle.deal(draws, first, count), shuffle)


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


def fit_batch(bytes_per_replicate: int, memory_bytes: int) -> int:
    """Return how many replicates are counted at once."""
    return max(min(memory_bytes // bytes_per_replicate, _LONGEST_BATCH), 1)
