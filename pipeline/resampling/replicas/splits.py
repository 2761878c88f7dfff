"""Split runs into two groups with no true difference: in all ways, or in some drawn by address."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.permutations import draw_orders

__all__ = ["Splits", "count_splits", "draw_subsets", "split_runs"]


@dataclass(frozen=True, eq=False)
class Splits:
    """Ways to split runs.

    Parameters
    ----------
    first, second : (split, run) int64
        Positions of the runs of either group, in random order, which gives their numbers as runs. In the order of positions a null
        that pairs runs would compare like with like, and its arrangements would not be equally probable.
    ways : int
        How many there are. Exchanging groups of equal size is not another way, because no two-sided p can distinguish them.
    enumerated : bool
        These are all ways, each once; otherwise they are drawn with replacement.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    ways: int
    enumerated: bool

    def __len__(self) -> int:
        return len(self.first)


def count_splits(runs: int, first: int, second: int) -> int:
    """Count the ways to choose two groups of so many of the runs.

    Examples
    --------
    >>> count_splits(4, 2, 2), count_splits(5, 2, 2), count_splits(5, 2, 3)
    (3, 15, 10)
    """
    return comb(runs, first) * comb(runs - first, second) // (2 if first == second else 1)


def split_runs(draws: Draws, runs: int, *, first: int, second: int, most: int) -> Splits:
    """Split runs in all ways if there are few enough, otherwise in a number of ways drawn at random.

    Parameters
    ----------
    draws : Draws
        Address of the ways and of the numbers of their runs; only its key matters.
    runs : int
    first, second : int
        Sizes of the groups; the rest is left out.
    most : int
    """
    if min(first, second) < 1 or first + second > runs:
        raise ValueError(f"{runs} runs have no groups of {first} and {second}")
    ways = count_splits(runs, first, second)
    if ways > most:
        chosen = draw_orders(draws, 0, most, runs)[:, : first + second]
        return Splits(chosen[:, :first], chosen[:, first:], ways, enumerated=False)
    found = []
    for one in combinations(range(runs), first):
        left = [run for run in range(runs) if run not in one]
        found += [(one, other) for other in combinations(left, second) if first != second or one[0] < other[0]]
    ordered = np.array([other for _, other in found])
    paired = np.take_along_axis(ordered, draw_orders(draws, 0, ways, second), axis=1)
    return Splits(np.array([one for one, _ in found]), paired, ways, enumerated=True)


def draw_subsets(draws: Draws, runs: int, *, size: int, count: int) -> NDArray[np.int64]:
    """Draw subsets of runs, each without replacement.

    Returns
    -------
    (subset, run) int64
        In the order in which they were drawn: at the same address, a smaller subset is the beginning of a larger one.
    """
    if not 1 <= size <= runs:
        raise ValueError(f"{runs} runs have no subset of {size}")
    return draw_orders(draws, 0, count, runs)[:, :size]
