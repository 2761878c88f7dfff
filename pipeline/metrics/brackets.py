"""Brackets found in trees, counted by the rules of evalb, for F1, recall and precision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np

from pipeline.dataclass import dataclass
from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._columns import check_tokens, gold_columns, output_column
from pipeline.metrics.kernels import score_ratio
from pipeline.options import check_flag

__all__ = ["BracketF1", "BracketPrecision", "BracketRecall"]

_RULES = "evalb-collins"
_LEFT_OUT = frozenset({",", ":", "``", "''", ".", "-NONE-"})
_NOT_COUNTED = frozenset({"TOP"})
_ALIKE = {"PRT": "ADVP"}

Bracket = tuple[str, int, int]
"""The label of a phrase, the words before its first and those up to its last, of the words that count."""


@dataclass(frozen=True)
class Gold:
    """The gold: the brackets of each tree, and how many words count before each position between words."""

    items: Items
    brackets: tuple[Counter[Bracket], ...]
    places: tuple[tuple[int, ...], ...]


class _Brackets(Metric):
    """What the three scores share: they differ in the two sums that they divide."""

    name: str
    form: Literal["ratio", "general"] = "ratio"
    needs_of_outputs: tuple[str, ...] = ("tree", "word")
    needs_of_gold: tuple[str, ...] = ("tree", "tag")
    denominators: Literal["unknown", "own", "shared", "items"] = "own"
    higher_is_better = True
    factor = 100.0
    statistics: tuple[str, ...]
    below: tuple[int, int]
    """How often what was found, and what the gold has, counts below the line."""

    def __init__(self, *, labelled: bool = True) -> None:
        self.labelled = check_flag("labelled", labelled)

    @property
    def signature(self) -> str:
        """Name, whether labels count, and the rules."""
        return f"{self.name}|labelled:{'yes' if self.labelled else 'no'}|rules:{_RULES}|unit:percent"

    def prepare(self, gold: Items | None) -> Gold:
        """Find the gold brackets once, and the words that count: those that are not tagged as punctuation there."""
        trees = gold_columns(self.name, gold, "tree")[0]
        tags = gold_columns(self.name, gold, "tag")[0]
        assert gold is not None
        places = tuple(map(_count_words, tags))
        brackets = tuple(self._find(tree, place) for tree, place in zip(trees, places, strict=True))
        return Gold(gold, brackets, places)

    def extract(self, prepared: Gold, output: Items) -> Statistics:
        """Count the brackets of each tree that match, and those they are divided by; a tree that lacks has none."""
        trees = output_column(self.name, output, "tree")
        check_tokens(self.name, prepared.items, output, "word")
        of_found, of_gold = self.below
        rows = []
        for tree, gold, places in zip(trees, prepared.brackets, prepared.places, strict=True):
            found = self._find(tree, places)
            rows.append(((found & gold).total(), of_found * found.total() + of_gold * gold.total()))
        return Statistics(np.array(rows, dtype=np.int64).reshape(-1, 2), (0, 0))

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return the score in percent of summed counts; nan where the denominators sum to 0."""
        return partial(score_ratio, decimals=decimals, factor=self.factor)

    def _find(self, tree: str, places: Sequence[int]) -> Counter[Bracket]:
        """Count the brackets of a tree on the words that count; the same phrase twice, one in the other, counts twice."""
        return Counter(
            (_ALIKE.get(label, label) if self.labelled else "", places[start], places[end])
            for label, start, end in _spans(tree)
            if places[start] < places[end] and label not in _NOT_COUNTED
        )


class BracketF1(_Brackets):
    """F1 of brackets in percent: 200 · matched / (found + gold), by the rules of evalb.

    A bracket is a phrase: its label, its first and its last word. Words that the gold tags as punctuation are removed first, with
    phrases that contain nothing else; the root ``TOP`` does not count, ``PRT`` equals ``ADVP``, and two phrases with the same label
    and words are matched one to one (Black and others 1991, https://aclanthology.org/H91-1060; Collins 1997,
    doi:10.3115/976909.979620).

    Parameters
    ----------
    labelled : bool
        Whether labels must agree; true by default.
    """

    name = "bracket-f1"
    factor = 200.0
    statistics = ("matched", "found_and_gold")
    below = (1, 1)


class BracketRecall(_Brackets):
    """Share of gold brackets that are found, in percent, by the rules of evalb.

    Parameters
    ----------
    labelled : bool
        Whether labels must agree; true by default.
    """

    name = "bracket-recall"
    denominators = "shared"
    statistics = ("matched", "gold")
    below = (0, 1)


class BracketPrecision(_Brackets):
    """Share of found brackets that are in the gold, in percent, by the rules of evalb.

    Parameters
    ----------
    labelled : bool
        Whether labels must agree; true by default.
    """

    name = "bracket-precision"
    statistics = ("matched", "found")
    below = (1, 0)


def _count_words(tags: Sequence[str]) -> tuple[int, ...]:
    """Return how many words that count there are before each place, from the place before the first word on."""
    places = [0]
    for tag in tags:
        places.append(places[-1] + (tag not in _LEFT_OUT))
    return tuple(places)


def _spans(tree: str) -> list[Bracket]:
    """Return the phrases of a tree as the reader writes it: its pieces are ``(LABEL``, and a word with all brackets it closes.

    Examples
    --------
    >>> _spans("(S (NP (NN fog)) (VP (VBZ lifts)))")
    [('NP', 0, 1), ('VP', 1, 2), ('S', 0, 2)]
    """
    found: list[Bracket] = []
    opened: list[tuple[str, int]] = []
    words = 0
    for piece in tree.split():
        if piece[0] == "(":
            opened.append((piece[1:], words))
            continue
        words += 1
        opened.pop()  # the tag
        for _ in range(len(piece) - len(piece.rstrip(")")) - 1):
            label, start = opened.pop()
            found.append((label, start, words))
    return found
