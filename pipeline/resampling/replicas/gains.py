"""Whether sums after a permutation differ as much as those observed. This module compares pairs, by scores or by integers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.resampling.measures import ScoreFunction
from pipeline.resampling.replicas.groups import Group
from pipeline.resampling.replicas.outputs import Replicas, score_sums
from pipeline.resampling.replicas.shuffles import Dealt, Shuffle

__all__ = ["LinearPairs", "ScoredPairs"]

_EVALUATIONS = 2**16  # scores of pairs that are asked for at once


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
            gain = _mean(scores[:, : shuffle.slots[0]]) - _mean(scores[:, shuffle.slots[0] :])
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


def _mean(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average over the second axis, in its order."""
    total: NDArray[np.float64] = scores[:, 0].copy()
    for run in range(1, scores.shape[1]):
        total += scores[:, run]
    total /= scores.shape[1]
    return total


@kernel
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
