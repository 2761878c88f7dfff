"""Do pairs of one class have smaller standard errors than others of the same gain? Ratios, with p by permuting labels of systems.

Related systems fail on the same items, so their differences vary less, and smaller gains are significant (Berg-Kirkpatrick and
others 2012, §3.1.1, saw this in curves). `pipeline.inference.across.label_permutation` has the formula.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.pair_classes import PairClass, Relation
from pipeline.analyses.pairs import FEW_PAIRS, PairTable
from pipeline.dataclass import dataclass
from pipeline.inference.across.label_permutation import (
    LabelTest,
    count_arrangements,
    draw_orders,
    list_arrangements,
    permute_labels,
)
from pipeline.resampling.address import draw_key

__all__ = ["KINSHIP_NOTES", "kinship_rows"]

FEWEST_OTHERS = 2
CELLS_AT_ONCE = 2**18
"""Pairs times arrangements: what the caches hold. Larger arrays are given back to the system, and paid for again, each time."""

KINSHIP_NOTES = (
    "Ratio: the standard error of the pairs of a class to that of all other pairs, by least squares on gain and class, at the mean "
    "gain of all pairs. Below 1, these pairs reach significance at smaller gains. Near borderline: the same among the pairs near "
    "it, where the class and the others have 20 each.",
    "p is two-sided: how often labels dealt at random to the systems give a difference as large. Each p is for one class; they are "
    "not corrected for the number of classes.",
)


@dataclass(frozen=True)
class _Labelled:
    """Pairs whose systems both have labels; systems are numbered among those that have a label, since only these are permuted."""

    se: NDArray[np.float64]
    gain: NDArray[np.float64]
    near: NDArray[np.bool_]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    labels: NDArray[np.int64]
    names: tuple[str, ...]


@dataclass(frozen=True)
class _Deals:
    """How labels are permuted: all arrangements if they are few, otherwise a number of them drawn at an address."""

    number: int
    permutations: int
    key: int

    @property
    def complete(self) -> bool:
        return self.number <= self.permutations

    def deal(self, labels: NDArray[np.int64], rows: int) -> Iterator[NDArray[np.int64]]:
        """Yield (arrangement, system) labels, a block at a time."""
        if self.complete:
            whole = np.array(list(list_arrangements(labels)))
            yield from (whole[at : at + rows] for at in range(0, len(whole), rows))
        else:
            for at in range(0, self.permutations, rows):
                yield labels[draw_orders(self.key, at, min(rows, self.permutations - at), len(labels))]


def kinship_rows(
    table: PairTable,
    relation: Relation,
    classes: Sequence[PairClass],
    *,
    permutations: int,
    seed: int,
    test_set: str,
    test_size: str,
) -> Iterator[dict[str, Any]]:
    """Yield a row for each class of pairs: its standard errors compared with those of all other pairs, with the gain held.

    All arrangements of the labels are counted if they are at most ``permutations``; otherwise that many are drawn, at an address
    made from the study's seed, the test set and the test size.
    """
    given = _label(table, relation)
    key = draw_key(seed=seed, purpose="labels of systems", test_set=test_set, size=test_size, rule=relation.name)
    deals = _Deals(count_arrangements(given.labels) if len(given.labels) else 1, permutations, key)
    everywhere = np.ones_like(given.near)
    for kind in classes:
        member = _members(kind, given.names)
        observed = member[given.labels[given.first], given.labels[given.second]]
        near = given.near & observed
        few = min(int(near.sum()), int((given.near & ~observed).sum())) < FEW_PAIRS
        found, reason = _test(given, member, everywhere, deals)
        close, _ = (None, None) if few else _test(given, member, given.near, deals)
        yield {
            "relation": kind.label,
            "pairs": int(observed.sum()),
            "other_pairs": int((~observed).sum()),
            "median_se": float(np.median(given.se[observed])) if observed.any() else None,
            "other_median_se": float(np.median(given.se[~observed])) if (~observed).any() else None,
            "ratio": found.ratio if found is not None else None,
            "p": found.p if found is not None else None,
            "near_pairs": int(near.sum()),
            "near_ratio": close.ratio if close is not None else None,
            "near_p": close.p if close is not None else None,
            "arrangements": found.arrangements if found is not None else None,
            "exact": deals.complete,
            "reason": reason,
        }


def _label(table: PairTable, relation: Relation) -> _Labelled:
    values = relation.values_of(table.systems)
    names = tuple(sorted({str(value) for value in values if value}))
    codes = np.array([names.index(value) if value else -1 for value in values], dtype=np.int64)
    there = table.measured & (codes[table.first] >= 0) & (codes[table.second] >= 0)
    labelled = np.flatnonzero(codes >= 0)
    place = np.full(len(codes), -1, dtype=np.int64)
    place[labelled] = np.arange(len(labelled))
    first, second = place[table.first[there]], place[table.second[there]]
    return _Labelled(table.se[there], table.gain[there], table.near[there], first, second, codes[labelled], names)


def _members(kind: PairClass, names: Sequence[str]) -> NDArray[np.bool_]:
    """Return (value, value) bool: whether a pair with these two values belongs to the class."""
    grid = np.array(names, dtype=object)
    one, other = np.meshgrid(grid, grid, indexing="ij")
    return kind.holds(one, other)


def _test(
    given: _Labelled, member: NDArray[np.bool_], among: NDArray[np.bool_], deals: _Deals
) -> tuple[LabelTest | None, str | None]:
    """Return the ratio and its p among some of the pairs, or why there is none."""
    first, second = given.first[among], given.second[among]
    observed = member[given.labels[first], given.labels[second]]
    if not observed.any():
        return None, "no pair of this class has a standard error"
    if int((~observed).sum()) < FEWEST_OTHERS:
        return None, "no other pairs to compare with"
    if deals.number == 1:
        return None, "the labels can be dealt in one way only"

    def arranged() -> Iterator[NDArray[np.bool_]]:
        for dealt in deals.deal(given.labels, max(1, CELLS_AT_ONCE // len(first))):
            yield member[dealt[:, first], dealt[:, second]]

    found = permute_labels(given.se[among], given.gain[among], observed, arranged, complete=deals.complete)
    return found, None if found is not None else "the gain alone tells these pairs from the others"
