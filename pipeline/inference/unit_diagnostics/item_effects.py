"""What each item adds to a system's score: its own score if the metric is a mean, otherwise the score minus that without it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.unit_diagnostics.driving_items import ScoreFunction

__all__ = ["effects_of_items", "scores_of_items"]


def effects_of_items(statistics: NDArray[np.int64], score: ScoreFunction) -> NDArray[np.float64]:
    """Return, for each item, the score of all items minus the score without it.

    The gain of one system over another minus the gain without an item is the difference of the two systems' effects, so the effects
    of single systems describe any pair.

    Parameters
    ----------
    statistics : (item, statistic) int64
    score : callable
        Takes (statistic, …) sums.

    Returns
    -------
    (item,) float64
        nan where the rest has no score.

    Examples
    --------
    >>> two = np.array([[2, 2], [0, 1], [2, 1]])
    >>> effects_of_items(two, lambda sums: sums[0] / sums[1]).round(3).tolist()
    [0.0, -0.333, 0.333]
    """
    total = statistics.sum(axis=0)
    return _score(total, score) - _score(total - statistics, score)


def scores_of_items(statistics: NDArray[np.int64], score: ScoreFunction) -> NDArray[np.float64] | None:
    """Return the score of each item alone; None if the score of all items is not their mean.

    Parameters
    ----------
    statistics : (item, statistic) int64
    score : callable
        Takes (statistic, …) sums; the last statistic of a ratio is the denominator.

    Examples
    --------
    >>> ratio = lambda sums: sums[0] / sums[1]
    >>> scores_of_items(np.array([[1, 1], [0, 1]]), ratio).tolist()
    [1.0, 0.0]
    >>> scores_of_items(np.array([[1, 1], [2, 2]]), ratio) is None
    True
    """
    if statistics.shape[1] != 2 or (statistics[:, 1] != statistics[0, 1]).any():
        return None
    return _score(statistics, score)


def _score(sums: NDArray[Any], score: ScoreFunction) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):  # what has no score is nan
        found = np.asarray(score(np.moveaxis(sums, -1, 0).astype(np.float64)), np.float64)
    return np.where(np.isfinite(found), found, np.nan)
