"""Choose the pairs that are listed one by one where there are many, and count the pairs of each kind.

A document and a page have room for so many; all pairs are in the tables. Those that matter are the pairs that people look for: the
best systems with each other one, neighbours in rank, and those whose verdict is close.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pipeline.report.facts import AllPairs, PairCounts
from pipeline.report.pairs.pairs import Pairs
from pipeline.report.rows import BoardRow, FamilyKey, PairRow

__all__ = [
    "FEWEST_LISTED",
    "MOST_LISTED",
    "WHICH",
    "are_among",
    "choose_pairs",
    "count_pairs",
    "list_systems_first",
    "locate_pairs",
    "share_of_list",
]

MOST_LISTED = 2000
"""Pairs that a document holds whole, of all families together."""

FEWEST_LISTED = 100
"""Pairs of a family that a document of many families holds all the same, where there are as many."""

CSV, PARQUET = "tables/pairs.csv", "tables/pairs.parquet"

WHICH = "those of the best system, neighbours in rank, and those whose p is nearest to α"


def share_of_list(families: Mapping[FamilyKey, Pairs]) -> int | None:
    """Return how many pairs of each family a document lists; None where it lists all."""
    if sum(map(len, families.values())) <= MOST_LISTED:
        return None
    return max(FEWEST_LISTED, MOST_LISTED // len(families))


def locate_pairs(families: Mapping[FamilyKey, Pairs], listed: Sequence[Sequence[PairRow]]) -> AllPairs:
    """Say where all pairs are; those that a document lists whole need no second file in columns."""
    number, shown = sum(map(len, families.values())), sum(map(len, listed))
    rule = None if shown == number else WHICH
    return AllPairs(number, shown, rule, csv=CSV if number else None, parquet=None if shown == number else PARQUET)


def choose_pairs(pairs: Pairs, board: Sequence[BoardRow], alpha: float, most: int) -> NDArray[np.bool_]:
    """Tell which pairs of a family are told one by one: at most so many, of the family before those outside it.

    A quarter each is for the best system with those that follow it, and for neighbours among the first in rank; the rest is filled
    with pairs whose p is nearest to α on a log scale.
    """
    if len(pairs) <= most:
        return np.ones(len(pairs), np.bool_)
    first = [frozenset(pair) for pair in list_systems_first(board, most // 4)]
    distance = np.abs(np.log(np.nan_to_num(pairs.floats("p"), nan=1.0).clip(np.finfo(np.float64).tiny) / alpha))
    wanted = are_among(pairs, frozenset(first))
    order = np.lexsort((distance, ~wanted, ~pairs.holds("in_family")))
    chosen = np.zeros(len(pairs), np.bool_)
    chosen[order[:most]] = True
    return chosen


def list_systems_first(board: Sequence[BoardRow], most: int) -> list[tuple[str, str]]:
    """Return the pairs that a reader looks for first: the best system with each that follows, then neighbours in rank.

    Of many systems only the first ``most`` after the best have theirs; without ranks there are none.
    """
    names = [row.name for row in board if row.rank is not None][: most + 1]
    return [*((names[0], other) for other in names[1:]), *pairwise(names)] if names else []


def are_among(pairs: Pairs, wanted: frozenset[frozenset[str]]) -> NDArray[np.bool_]:
    """Tell which pairs of systems are among those that are wanted."""
    names = frozenset(name for pair in wanted for name in pair)
    first, second = (pairs.values(side).tolist() for side in ("system_a", "system_b"))
    found = (a in names and b in names and frozenset((a, b)) in wanted for a, b in zip(first, second, strict=True))
    return np.fromiter(found, np.bool_, len(pairs))


def count_pairs(place: FamilyKey, pairs: Pairs, *, listed: int) -> PairCounts:
    """Count the pairs of a family by what is said of them."""
    words, number = np.unique(pairs.values("verdict")[pairs.known("verdict")].astype(str), return_counts=True)
    return PairCounts(
        *place,
        pairs=len(pairs),
        listed=listed,
        in_family=int(pairs.holds("in_family").sum()),
        measured=int(pairs.known("p").sum()),
        separated=int(pairs.holds("separated").sum()),
        unstable=int(pairs.equal("stable", False).sum()),
        few_discordant=int(pairs.holds("few_discordant").sum()),
        identical=int(pairs.holds("identical").sum()),
        verdicts=dict(zip(words.tolist(), number.tolist(), strict=True)),
    )
