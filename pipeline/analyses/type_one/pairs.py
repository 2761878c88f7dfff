"""Which of the tested pairs null data sets are made of, and their statistics."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.units import EARLIER, read_documents, read_strata, read_units_of_items
from pipeline.dataclass import dataclass
from pipeline.interfaces import ScoredStatistics
from pipeline.interfaces.analyses import FULL
from pipeline.resampling.measures import sum_by_unit
from pipeline.resampling.null_laboratory import TwoOutputs

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["BY_DOCUMENT", "RULES", "SWAPPED", "NullPair", "PairData", "baseline_of", "choose_pairs", "load_pair"]

SWAPPED = "outputs of a unit swapped"
"""How the null data sets of a pair of systems are made."""

BY_DOCUMENT = "outputs of a document swapped"
"""And where items are drawn although their documents are known: what items of a document have in common stays together."""

RULES = ("fewest", "most", "median")
"""Of the discordant units of these pairs, in the order in which pairs are chosen: a test has its troubles at the ends."""


@dataclass(frozen=True)
class NullPair:
    """Two systems, the better one first.

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


@dataclass(frozen=True, eq=False)
class PairData:
    """What null data sets of a pair are made of.

    Parameters
    ----------
    outputs : TwoOutputs
        By unit.
    stratum : (unit,) int64 or None
        Within which the study draws.
    document : (unit,) int64 or None
        Where items are drawn although their documents are known.
    """

    outputs: TwoOutputs
    stratum: NDArray[np.int64] | None = None
    document: NDArray[np.int64] | None = None


def baseline_of(cube: xr.Dataset) -> str | None:
    """Return the system that all others are compared with, as the report asks; None where all pairs are one family."""
    return cube.attrs.get("asked_baseline", cube.attrs.get("baseline")) or None


def choose_pairs(cube: xr.Dataset, metric: str, most: int, *, higher_is_better: bool = True) -> list[NullPair]:
    """Choose up to ``most`` pairs that differ, by the number of units on which they do: neighbours in rank, or all of a baseline.

    Ties of scores are put in the order of names, ties of numbers in the order of ranks: the order of systems does not matter.
    """
    at = {"metric": metric, "test_size": FULL}
    score = cube["observed_score"].sel(at).values
    names = [str(name) for name in cube["system"].values.tolist()]
    sign = -1.0 if higher_is_better else 1.0
    ranked = [names[i] for i in sorted(np.flatnonzero(np.isfinite(score)).tolist(), key=lambda i: (sign * score[i], names[i]))]
    place = {name: position for position, name in enumerate(names)}
    a, b = ([place[str(name)] for name in cube[side].values.tolist()] for side in ("system_a", "system_b"))
    between = np.zeros((len(names), len(names)), np.int64)  # 0 where a pair was not compared
    between[a, b] = between[b, a] = cube["discordant"].sel(at).values
    baseline = baseline_of(cube)
    asked = pairwise(ranked) if baseline is None else (pair for pair in combinations(ranked, 2) if baseline in pair)
    candidates = [(*pair, int(between[place[pair[0]], place[pair[1]]])) for pair in asked]
    usable = sorted((pair for pair in candidates if pair[2] > 0), key=lambda pair: pair[2])  # stable: ranks break ties
    places = {"fewest": 0, "most": len(usable) - 1, "median": (len(usable) - 1) // 2}
    chosen: dict[int, str] = {}
    for rule in RULES[:most]:
        if usable:
            chosen.setdefault(places[rule], rule)
    return [NullPair(*usable[place], rule) for place, rule in chosen.items()]


def load_pair(scored: ScoredStatistics, pair: NullPair, cube: xr.Dataset) -> PairData | str:
    """Read the statistics of a pair and sum them by unit, with the strata and documents that the study knows, or say what lacks."""
    data, unit = scored.data, str(cube.attrs.get("unit", "item"))
    unit_of_item = read_units_of_items(data, unit)
    if unit_of_item is None:
        return EARLIER.format(what="units")
    stratum = read_strata(data, unit_of_item)
    if stratum is None and cube.attrs.get("strata"):
        return EARLIER.format(what="strata")
    document = read_documents(data) if unit == "item" else None
    if document is None and unit == "item" and cube.attrs.get("clusters"):
        return EARLIER.format(what="documents")
    place = {str(name): position for position, name in enumerate(data["system"].values.tolist())}
    values = np.stack([data["statistics"][place[name]].values for name in (pair.first, pair.second)], axis=1)
    outputs = TwoOutputs(sum_by_unit(values.astype(np.int64, copy=False), unit_of_item), scored.score)
    return PairData(outputs, stratum, document)
