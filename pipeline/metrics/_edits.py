"""Edits between what was said and what may be said. This module counts them by Levenshtein's distance, and as sclite aligns."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from pipeline.compiled import kernel

__all__ = ["LEVENSHTEIN", "SCLITE", "Edits", "Rule", "Slot", "Sounds", "count_edits", "walk_slots"]

Sounds = tuple[str, ...]
"""Words, or characters. In what may be said, the empty string is a word that is left out, and counts as said."""
Slot = tuple[Sounds, ...]
"""What may be said at one place."""


class Edits(NamedTuple):
    """Substitutions, insertions and deletions in all, and the words of the reference that they are counted on."""

    edits: int
    length: int


class Rule(NamedTuple):
    """What an alignment costs.

    Parameters
    ----------
    substitution, gap, left_out : int
        Costs of a word for another, of a word too many or too few, and of a word that is left out.
    longest : bool
        Of alignments that cost as much take the one of the longest reference. Else it is the one that prefers, at each pair of
        words, to align them, then a word too many, then one too few; and the first of alternatives.
    """

    substitution: int
    gap: int
    left_out: int
    longest: bool


LEVENSHTEIN = Rule(1, 1, 0, longest=True)
SCLITE = Rule(4, 3, 2, longest=False)

_Cost = tuple[int, int, int]
"""The cost, the length of the reference, negative, and the edits."""


def count_edits(reference: Sounds, said: Sounds, rule: Rule) -> Edits:
    """Count the edits of one reference.

    Examples
    --------
    >>> count_edits(("a", "b", "c"), ("b", "c", "d"), LEVENSHTEIN)
    Edits(edits=2, length=3)
    """
    if rule is LEVENSHTEIN:
        return Edits(Levenshtein.distance(reference, said), len(reference))
    numbers = {word: number for number, word in enumerate(dict.fromkeys((*reference, *said)))}
    first, second = (np.array([numbers[word] for word in words], dtype=np.int64) for words in (reference, said))
    return Edits(int(_align(first, second, rule.substitution, rule.gap)), len(reference))


def walk_slots(slots: Sequence[Slot], said: Sounds, rule: Rule) -> Edits:
    """Count the edits of the way through the slots that costs least.

    Examples
    --------
    >>> walk_slots(((("a",),), (("b",), ("c", "d"), ())), ("a", "c"), LEVENSHTEIN)
    Edits(edits=1, length=3)
    """
    row: list[_Cost] = [(rule.gap * k, 0, k) for k in range(len(said) + 1)]
    for slot in slots:
        ends = [_follow(row, sounds, said, rule) for sounds in slot]
        row = [min(costs) if rule.longest else min(costs, key=itemgetter(0)) for costs in zip(*ends, strict=True)]
    _, length, edits = row[-1]
    return Edits(edits, -length)


def _follow(row: list[_Cost], sounds: Sounds, said: Sounds, rule: Rule) -> list[_Cost]:
    """Go on by some words, from any place in what was said to any."""
    for sound in sounds:
        counts = int(sound != "")
        gap = rule.gap if counts else rule.left_out
        before, row = row, [(row[0][0] + gap, row[0][1] - 1, row[0][2] + counts)]
        for k, other in enumerate(said):
            few, many = before[k + 1], row[k]
            found = [(many[0] + rule.gap, many[1], many[2] + 1), (few[0] + gap, few[1] - 1, few[2] + counts)]
            if counts:
                both, wrong = before[k], int(sound != other)
                found.insert(0, (both[0] + wrong * rule.substitution, both[1] - 1, both[2] + wrong))
            row.append(min(found) if rule.longest else min(found, key=itemgetter(0)))
    return row


@kernel
def _align(reference: NDArray[np.int64], said: NDArray[np.int64], substitution: int, gap: int) -> int:
    """Count the edits of the least cost, aligning a pair of words before a word too many, and that before one too few."""
    costs = np.arange(said.size + 1, dtype=np.int64) * gap
    edits = np.arange(said.size + 1, dtype=np.int64)
    for i in range(reference.size):
        cost_before, edits_before = costs[0], edits[0]
        costs[0] += gap
        edits[0] += 1
        for k in range(said.size):
            wrong = np.int64(reference[i] != said[k])
            cost, count = cost_before + wrong * substitution, edits_before + wrong
            if costs[k] + gap < cost:
                cost, count = costs[k] + gap, edits[k] + 1
            if costs[k + 1] + gap < cost:
                cost, count = costs[k + 1] + gap, edits[k + 1] + 1
            cost_before, edits_before = costs[k + 1], edits[k + 1]
            costs[k + 1], edits[k + 1] = cost, count
    return int(edits[-1])
