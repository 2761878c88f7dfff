"""Which items a gain depends on: what each adds to it, and how few must be removed before it is gone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["contributions", "count_to_flip", "gain_of", "gains_without", "is_dead", "rank_contributions"]

ScoreFunction = Callable[[NDArray[Any]], NDArray[np.float64]]


def gain_of(statistics: NDArray[np.int64], score: ScoreFunction, direction: float) -> float:
    """Return the gain of the first of two outputs over the second; nan where a score is undefined.

    Parameters
    ----------
    statistics : (item, 2, statistic) int64
    score : callable
        Takes (statistic, …) sums.
    direction : float
        1 where a larger score is better, −1 where it is worse.
    """
    return float(_gains(statistics.sum(axis=0)[None], score, direction)[0])


def gains_without(
    statistics: NDArray[np.int64], score: ScoreFunction, direction: float, group: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Return the gain without each item, or without each group of items; nan where the rest has no score.

    Parameters
    ----------
    statistics : (item, 2, statistic) int64
    score, direction
        As of `gain_of`.
    group : (item,) int64, optional
        The group of each item, numbered from 0 without a gap.

    Examples
    --------
    >>> two = np.array([[[3, 1], [1, 1]], [[1, 1], [1, 1]], [[2, 1], [4, 1]]])
    >>> gains_without(two, lambda sums: sums[0] / sums[1], 1.0).tolist()
    [-1.0, 0.0, 1.0]
    >>> gains_without(two, lambda sums: sums[0] / sums[1], 1.0, np.array([0, 0, 1])).tolist()
    [-2.0, 1.0]
    """
    parts = statistics
    if group is not None:
        parts = np.zeros((int(group.max()) + 1, *statistics.shape[1:]), np.int64)
        np.add.at(parts, group, statistics)
    return _gains(statistics.sum(axis=0) - parts, score, direction)


def contributions(statistics: NDArray[np.int64], score: ScoreFunction, direction: float) -> NDArray[np.float64]:
    """Return what each item contributes to the gain: s(M + dᵢ/2) − s(M − dᵢ/2).

    M are the sums of statistics midway between the two outputs, and dᵢ is the difference of the outputs' statistics on item i. An
    item on which both have the same statistics contributes nothing. Contributions add up to the gain s(M + d/2) − s(M − d/2)
    exactly for means, where each is the item's difference divided by n, and nearly for other scores.

    Parameters
    ----------
    statistics : (item, 2, statistic) int64
    score, direction
        As of `gain_of`.

    Returns
    -------
    (item,) float64
        nan where the score is not defined there.

    Examples
    --------
    >>> two = np.array([[[3, 1], [1, 1]], [[1, 1], [1, 1]], [[2, 1], [4, 1]], [[5, 1], [1, 1]]])
    >>> contributions(two, lambda sums: sums[0] / sums[1], 1.0).round(12).tolist()
    [0.5, 0.0, -0.5, 1.0]
    """
    middle = statistics.sum(axis=(0, 1)) / 2
    half = (statistics[:, 0] - statistics[:, 1]) / 2
    return _gains(np.stack([middle + half, middle - half], axis=1), score, direction)


def rank_contributions(adds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the positions of items in order of contribution, the largest first; one without a contribution counts as 0.

    Examples
    --------
    >>> rank_contributions(np.array([-1.0, np.nan, 2.0, 0.0])).tolist()
    [2, 1, 3, 0]
    """
    return np.argsort(-np.nan_to_num(adds), kind="stable")


def count_to_flip(statistics: NDArray[np.int64], score: ScoreFunction, direction: float, order: NDArray[np.int64]) -> int | None:
    """Return how many items must be left out, in this order, before the gain is 0 or less.

    Parameters
    ----------
    statistics : (item, 2, statistic) int64
        The first output is ahead.
    score, direction
        As of `gain_of`.
    order : (item,) int64
        As of `rank_contributions`.

    Returns
    -------
    int or None
        None if the first is not ahead, or stays ahead until nothing is left. For means this is the smallest possible number; for
        other scores fewer items might do.

    Examples
    --------
    >>> wins = np.array([[[1, 1], [0, 1]]] * 7 + [[[0, 1], [1, 1]]] * 5)
    >>> score = lambda sums: sums[0] / sums[1]
    >>> count_to_flip(wins, score, 1.0, rank_contributions(contributions(wins, score, 1.0)))
    2
    """
    if not gain_of(statistics, score, direction) > 0:
        return None
    left = statistics.sum(axis=0) - np.cumsum(statistics[order], axis=0)
    flipped = np.flatnonzero(_gains(left, score, direction)[:-1] <= 0)
    return int(flipped[0]) + 1 if len(flipped) else None


def is_dead(outputs: Iterable[NDArray[np.integer]]) -> NDArray[np.bool_]:
    """Return the items on which all systems have the same statistics, and which so tell no two systems apart.

    Parameters
    ----------
    outputs : iterable of (item, statistic) int
        The statistics of each system, which are read one at a time.

    Returns
    -------
    (item,) bool
    """
    each = iter(outputs)
    first = next(each)
    dead = np.ones(len(first), np.bool_)
    for own in each:
        dead &= (own == first).all(axis=1)
    return dead


def _gains(sums: NDArray[np.generic], score: ScoreFunction, direction: float) -> NDArray[np.float64]:
    """Return the gains of (part, 2, statistic) sums."""
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 and ∞ − ∞ are defined outcomes: nan
        scores = np.asarray(score(np.moveaxis(sums, -1, 0).astype(np.float64)), np.float64)
        gains = direction * (scores[:, 0] - scores[:, 1])
    return np.where(np.isfinite(gains), gains, np.nan)
