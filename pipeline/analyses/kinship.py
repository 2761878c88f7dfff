"""Do pairs of one class have smaller standard errors than others of the same gain? Ratios, with p by permuting labels of systems.

Outputs of kin fail on the same items: their differences vary less, and the same gain is significant sooner (Berg-Kirkpatrick and
others 2012, §3.1.1, saw it in the curves). `pipeline.inference.label_permutation` has the formula.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.pair_classes import PairClass, Relation
from pipeline.analyses.pairs import PairTable
from pipeline.inference.label_permutation import (
    LabelTest,
    count_arrangements,
    draw_orders,
    list_arrangements,
    permute_labels,
)
from pipeline.resampling.address import draw_key

__all__ = ["KINSHIP_NOTES", "kinship_rows"]

FEWEST_OTHERS = 2
CELLS_AT_ONCE = 2**22
KINSHIP_NOTES = (
    "Ratio: the standard error of the pairs of a class to that of all other pairs, by least squares on gain and class, at the mean "
    "gain of all pairs. Below 1, these pairs reach significance at smaller gains.",
    "p is two-sided: how often labels dealt at random to the systems give a difference as large. Each p is for one class; they are "
    "not corrected for the number of classes.",
)


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
    """Go through classes of pairs: how large their standard errors are beside those of all other pairs, with the gain held.

    All arrangements of the labels are counted where they are at most ``permutations``; otherwise so many are drawn, at an address
    made from the study's seed, the test set and the test size.
    """
    values = relation.values_of(table.systems)
    names = sorted({str(value) for value in values if value})
    codes = np.array([names.index(value) if value else -1 for value in values], dtype=np.int64)
    there = table.measured & (codes[table.first] >= 0) & (codes[table.second] >= 0)
    se, gain = table.se[there], table.gain[there]
    labelled = np.flatnonzero(codes >= 0)
    # Systems are numbered among those with a label: only these are dealt others.
    place = np.full(len(codes), -1, dtype=np.int64)
    place[labelled] = np.arange(len(labelled))
    first, second, labels = place[table.first[there]], place[table.second[there]], codes[labelled]
    number = count_arrangements(labels) if len(labels) else 1
    key = draw_key(seed=seed, purpose="labels of systems", test_set=test_set, size=test_size, rule=relation.name)
    for kind in classes:
        member = _members(kind, names)
        observed = member[labels[first], labels[second]]

        def arranged(member: NDArray[np.bool_] = member) -> Iterator[NDArray[np.bool_]]:
            rows = max(1, CELLS_AT_ONCE // len(first))
            if number <= permutations:
                whole = np.array(list(list_arrangements(labels)))
                parts = (whole[at : at + rows] for at in range(0, len(whole), rows))
            else:
                starts = range(0, permutations, rows)
                parts = (labels[draw_orders(key, at, min(rows, permutations - at), len(labels))] for at in starts)
            for dealt in parts:
                yield member[dealt[:, first], dealt[:, second]]

        counts = {"pairs": int(observed.sum()), "other_pairs": int((~observed).sum())}
        reason, found = _refusal(observed, number), None
        if reason is None:
            found = permute_labels(se, gain, observed, arranged, complete=number <= permutations)
            reason = None if found is not None else "the gain alone tells these pairs from the others"
        yield {"relation": kind.label, **counts, **_numbers(found, se, observed, number <= permutations), "reason": reason}


def _members(kind: PairClass, names: Sequence[str]) -> NDArray[np.bool_]:
    """Return which two values make a pair of the class: (value, value) bool."""
    grid = np.array(names, dtype=object)
    one, other = np.meshgrid(grid, grid, indexing="ij") if names else (np.empty((0, 0), object),) * 2
    return kind.holds(one, other)


def _refusal(observed: NDArray[np.bool_], number: int) -> str | None:
    if not observed.any():
        return "no pair of this class has a standard error"
    if int((~observed).sum()) < FEWEST_OTHERS:
        return "no other pairs to compare with"
    return "the labels can be dealt in one way only" if number == 1 else None


def _numbers(found: LabelTest | None, se: NDArray[np.float64], observed: NDArray[np.bool_], exact: bool) -> dict[str, Any]:
    return {
        "ratio": found.ratio if found is not None else None,
        "p": found.p if found is not None else None,
        "arrangements": found.arrangements if found is not None else None,
        "exact": exact,
        "median_se": float(np.median(se[observed])) if observed.any() else None,
        "other_median_se": float(np.median(se[~observed])) if (~observed).any() else None,
    }
