"""Which pairs null data sets are made of. This module chooses neighbours in rank and reads their statistics."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.interfaces import ScoredStatistics
from pipeline.resampling.null_laboratory import TwoOutputs

__all__ = ["RULES", "NullPair", "choose_pairs", "load_pair"]

RULES = ("fewest", "most", "median")
"""Of the discordant units of neighbours in rank, in the order in which pairs are chosen: a test has its troubles at the ends."""

_FULL = "full"


@dataclass(frozen=True)
class NullPair:
    """Two systems of neighbouring rank, the better one first.

    Parameters
    ----------
    first, second : str
    discordant : int
        Units on which they differ.
    rule : str
        One of `RULES`.
    """

    first: str
    second: str
    discordant: int
    rule: str


def choose_pairs(cube: xr.Dataset, metric: str, most: int, *, higher_is_better: bool = True) -> list[NullPair]:
    """Choose up to ``most`` pairs of neighbours in rank that differ, by the number of units on which they do.

    Ties of scores are put in the order of names, ties of numbers in the order of ranks: the order of systems does not matter.
    """
    at = {"metric": metric, "test_size": _FULL}
    score = cube["observed_score"].sel(at).values
    names = [str(name) for name in cube["system"].values.tolist()]
    sign = -1.0 if higher_is_better else 1.0
    ranked = [names[i] for i in sorted(np.flatnonzero(np.isfinite(score)).tolist(), key=lambda i: (sign * score[i], names[i]))]
    discordant = cube["discordant"].sel(at).values.tolist()
    between = {
        frozenset((str(a), str(b))): int(number)
        for a, b, number in zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), discordant, strict=True)
    }
    neighbours = [(a, b, between.get(frozenset((a, b)), 0)) for a, b in pairwise(ranked)]
    usable = sorted((pair for pair in neighbours if pair[2] > 0), key=lambda pair: pair[2])  # stable: ranks break ties
    places = {"fewest": 0, "most": len(usable) - 1, "median": (len(usable) - 1) // 2}
    chosen: dict[int, str] = {}
    for rule in RULES[:most]:
        if usable:
            chosen.setdefault(places[rule], rule)
    return [NullPair(*usable[place], rule) for place, rule in chosen.items()]


def load_pair(scored: ScoredStatistics, pair: NullPair, *, unit: str) -> TwoOutputs | None:
    """Read the statistics of a pair and sum them by unit; None where the cube does not know the units of its items."""
    data = scored.data
    place = {str(name): position for position, name in enumerate(data["system"].values.tolist())}
    values = np.stack([data["statistics"][place[name]].values for name in (pair.first, pair.second)], axis=1)
    if unit == "item":
        return TwoOutputs(np.ascontiguousarray(values, np.int64), scored.score)
    if "unit" not in data.coords:
        return None
    unit_of_item: NDArray[np.int64] = data["unit"].values.astype(np.int64)
    summed = np.zeros((int(unit_of_item.max()) + 1, *values.shape[1:]), np.int64)
    np.add.at(summed, unit_of_item, values)
    return TwoOutputs(summed, scored.score)
