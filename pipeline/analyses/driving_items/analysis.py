"""Which items drive the gain of a pair, and does it rest on a few of them? Contributions, documents left out, dead items.

A gain that a test calls significant may come from one document, or from three items that nobody looked at. Each item is left out in
turn, and what the gain changes by is what it adds; so is each document. Items on which all systems have the same statistics tell
nothing of any pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.driving_items.pages import SECTION, list_figures, list_tables
from pipeline.analyses.pairs import find_copies
from pipeline.analyses.presentation import baseline_of
from pipeline.analyses.units import read_documents, read_units_of_items
from pipeline.dataclass import dataclass, field
from pipeline.inference.unit_diagnostics.driving_items import (
    contributions,
    count_to_flip,
    gain_of,
    gains_without,
    is_dead,
    rank_contributions,
)
from pipeline.interfaces import Analysis, Finding, ScoredStatistics
from pipeline.interfaces.analyses import FULL
from pipeline.options import meant, read_options

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["DrivingItems", "DrivingItemsOptions"]

NOTES = (
    "Adds: what the item contributes to the gain, in points of the metric; contributions add up to the gain, exactly over one "
    "denominator. Wins and losses: items that contribute to the gain, and that take from it.",
    "To flip: how many items, those that add most first, must be left out until the gain is gone. A gain is not wrong because few "
    "items make it; it is worth looking at them.",
    "Dead items: all systems have the same statistics there, so they tell nothing of any pair.",
)
_HIDDEN = "Of {left:,} pairs the items are not listed: those of the first {most} are (`most_pairs`), neighbours in rank first."


@dataclass(frozen=True)
class DrivingItemsOptions:
    """Options: which pairs are looked at, and how many of their items are listed.

    Parameters
    ----------
    pairs : tuple of (str, str)
        Names of systems. Pairs to look at; neighbours in rank, or those with the baseline, where none is named.
    most_pairs : int
        Of each test set and metric, where none is named.
    most_items : int
        Items listed of each pair and side: those that add most, and those that take most.
    """

    pairs: tuple[tuple[str, ...], ...] = ()
    most_pairs: int = 5
    most_items: int = 10

    def __post_init__(self) -> None:
        if any(len(pair) != 2 or pair[0] == pair[1] for pair in self.pairs):
            raise ValueError(f"pairs are of two systems each, got {[list(pair) for pair in self.pairs]}")
        if len({frozenset(pair) for pair in self.pairs}) < len(self.pairs):
            raise ValueError(f"pairs must name each pair once, in either order, got {[list(pair) for pair in self.pairs]}")
        if not 1 <= self.most_pairs <= 1000:
            raise ValueError(f"most_pairs {self.most_pairs} must be between 1 and 1000")
        if not 1 <= self.most_items <= 10_000:
            raise ValueError(f"most_items {self.most_items} must be between 1 and 10000")


@dataclass(frozen=True, eq=False)
class DrivingItems(Analysis):
    """The items that a gain rests on, and those that tell nothing."""

    name: ClassVar[str] = "driving-items"
    of_single_runs: ClassVar[bool] = True
    statistics: Mapping[str, Mapping[str, ScoredStatistics]] = field(default_factory=dict)

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are unknown or of no use."""
        read_options(DrivingItemsOptions, options, analysis=self.name)

    def with_statistics(self, statistics: Mapping[str, Mapping[str, ScoredStatistics]]) -> DrivingItems:
        """Return the analysis that has the statistics of items."""
        return DrivingItems(statistics)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Return rows of test sets, pairs, their items and documents; or one with the reason why there are none."""
        chosen = read_options(DrivingItemsOptions, options, analysis=self.name)
        rows: list[dict[str, Any]] = []
        rows += _list_unknown(cubes, chosen)
        for name, cube in cubes.items():
            for metric in map(str, cube["metric"].values.tolist()):
                rows += self._rows(name, metric, cube, chosen)
        kinds = {kind: [row for row in rows if row["kind"] == kind] for kind in ("test-set", "pair", "item", "document", "none")}
        hidden = sum(row["pairs_left_out"] for row in kinds["test-set"])
        notes = [*NOTES, *([_HIDDEN.format(left=hidden, most=chosen.most_pairs)] if hidden else [])]
        return Finding(
            self.name,
            tuple(rows),
            tuple(notes),
            tables=tuple(list_tables(cubes, rows, notes)),
            figures=tuple(list_figures(rows)),
            sections=(SECTION,),
            csv={
                "driving_items": [*kinds["test-set"], *kinds["none"]],
                "driving_items_pairs": kinds["pair"],
                "driving_items_listed": kinds["item"],
                "driving_items_documents": kinds["document"],
            },
        )

    def _rows(self, test_set: str, metric: str, cube: xr.Dataset, options: DrivingItemsOptions) -> Iterator[dict[str, Any]]:
        where = {"test_set": test_set, "metric": metric}
        scored = self.statistics.get(test_set, {}).get(metric)
        if scored is None:
            yield where | {"kind": "none", "reason": "the statistics of its items are not at hand"}
            return
        data = scored.data
        place = {str(name): position for position, name in enumerate(data["system"].values.tolist())}
        pairs, left_out = _choose(cube, metric, scored, options)
        dead = is_dead(data["statistics"][at].values for at in range(data.sizes["system"]))
        count = {"items": len(dead), "dead_items": int(dead.sum()), "dead_share": float(dead.mean())}
        yield where | {"kind": "test-set", **count, "pairs_left_out": left_out}
        names = (
            [str(name) for name in data["item"].values.tolist()]
            if "item" in data.coords
            else [str(n + 1) for n in range(len(dead))]
        )
        group = _documents(data, str(cube.attrs.get("unit", "item")))
        for first, second in pairs:
            both = [data["statistics"][place[name]].values for name in (first, second)]
            own = np.stack(both, axis=1).astype(np.int64, copy=False)
            yield from _describe(where, first, second, own, scored, names, group, options.most_items)


def _choose(
    cube: xr.Dataset, metric: str, scored: ScoredStatistics, options: DrivingItemsOptions
) -> tuple[list[tuple[str, str]], int]:
    """Return pairs of different systems, and how many more there would be by the same rule."""
    at = {"metric": metric, "test_size": FULL}
    names = [str(name) for name in cube["system"].values.tolist()]
    score = dict(zip(names, cube["observed_score"].sel(at).values.tolist(), strict=True))
    if options.pairs:
        return _find_named(cube, [(pair[0], pair[1]) for pair in options.pairs]), 0
    copies = find_copies(cube, metric)
    sign = -1.0 if scored.higher_is_better else 1.0
    ranked = sorted((name for name in names if np.isfinite(score[name]) and name not in copies), key=lambda n: (sign * score[n], n))
    baseline = baseline_of(cube)
    every = pairwise(ranked) if baseline is None else _with_baseline(ranked, baseline)
    pairs = _find_named(cube, [pair for pair in every if score[pair[0]] != score[pair[1]]])
    return pairs[: options.most_pairs], max(len(pairs) - options.most_pairs, 0)


def _with_baseline(ranked: Sequence[str], baseline: str) -> list[tuple[str, str]]:
    """Return the pairs with a baseline, the better system first, in order of rank."""
    if baseline not in ranked:
        return []
    at = ranked.index(baseline)
    return [(name, baseline) for name in ranked[:at]] + [(baseline, name) for name in ranked[at + 1 :]]


def _find_named(cube: xr.Dataset, asked: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return those of the pairs that a cube has."""
    wanted = {frozenset(pair) for pair in asked}
    own = zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), strict=True)
    there = {pair for pair in map(frozenset, own) if pair in wanted}
    return [pair for pair in asked if frozenset(pair) in there]


def _list_unknown(cubes: Mapping[str, xr.Dataset], options: DrivingItemsOptions) -> Iterator[dict[str, Any]]:
    """Go through the pairs that are named and not there, once where no test set has them, with what may have been meant."""
    asked = [(pair[0], pair[1]) for pair in options.pairs]
    there = {name: _find_named(cube, asked) for name, cube in cubes.items()} if asked else {}
    systems = list(dict.fromkeys(str(name) for cube in cubes.values() for name in cube["system"].values.tolist()))
    for pair in asked:
        lacking = [name for name, found in there.items() if pair not in found]
        guesses = [f"{name!r} is not a system; {guess}" for name in pair if name not in systems if (guess := meant(name, systems))]
        reason = "; ".join([f"there is no pair of {pair[0]} and {pair[1]}", *guesses])
        for test_set in lacking if len(lacking) < len(cubes) else [None]:
            yield {"test_set": test_set, "metric": None, "kind": "none", "reason": reason}


def _documents(data: xr.Dataset, unit: str) -> tuple[NDArray[np.int64], str] | None:
    """Return the document of each item, or its unit where that is not an item, with what they are called."""
    document = read_documents(data)
    if document is not None:
        return document, "document"
    of_item = read_units_of_items(data, unit)
    return None if unit == "item" or of_item is None else (of_item, unit)


def _describe(
    where: Mapping[str, Any],
    first: str,
    second: str,
    statistics: NDArray[np.int64],
    scored: ScoredStatistics,
    names: Sequence[str],
    group: tuple[NDArray[np.int64], str] | None,
    most: int,
) -> Iterator[dict[str, Any]]:
    """Go through the rows of a pair, the better system first."""
    direction = 1.0 if scored.higher_is_better else -1.0
    gain = gain_of(statistics, scored.score, direction)
    if gain < 0:
        first, second, gain = second, first, -gain
        statistics = np.ascontiguousarray(statistics[:, ::-1])
    pair = {**where, "system_a": first, "system_b": second}
    without = gains_without(statistics, scored.score, direction)
    adds = contributions(statistics, scored.score, direction)
    # Between rounding and a contribution lie many orders of magnitude.
    adds = np.where(np.abs(adds) > 1e-12 * max(abs(gain), 1.0), adds, 0.0)
    order = rank_contributions(adds)
    ten = [place for place in order[:10].tolist() if adds[place] > 0]
    left = np.setdiff1d(np.arange(len(adds)), ten)
    row: dict[str, Any] = {
        **pair,
        "kind": "pair",
        "gain": gain,
        "items": len(adds),
        "wins": int((adds > 0).sum()),
        "losses": int((adds < 0).sum()),
        "to_flip": count_to_flip(statistics, scored.score, direction, order),
        "without_ten": gain_of(statistics[left], scored.score, direction) if len(left) else None,
    }
    documents = None
    if group is not None:
        documents = gains_without(statistics, scored.score, direction, group[0])
        known = np.isfinite(documents)
        lowest, highest = (float(f(documents[known])) if known.any() else None for f in (np.min, np.max))
        row |= {"documents": len(documents), "lowest_without": lowest, "highest_without": highest}
    else:
        row |= {"documents": None, "lowest_without": None, "highest_without": None}
    yield row
    taking = [place for place in order[::-1][:most].tolist() if adds[place] < 0]
    adding = [place for place in order[:most].tolist() if adds[place] > 0]
    for place in [*adding, *taking[::-1]]:
        yield {**pair, "kind": "item", "item": names[place], "adds": float(adds[place]), "without": float(without[place])}
    if group is not None and documents is not None:
        for number in np.argsort(documents, kind="stable").tolist()[:most]:
            of_group = np.flatnonzero(group[0] == number)
            named = {"first_item": names[of_group[0]], "items": len(of_group), "unit": group[1]}
            left_gain = float(documents[number]) if np.isfinite(documents[number]) else None
            yield {**pair, "kind": "document", **named, "gain": gain, "without": left_gain}
