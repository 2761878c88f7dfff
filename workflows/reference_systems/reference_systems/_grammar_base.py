"""What the parsers of constituents share: their option `tags`, what they read off a treebank besides rules, and how they parse.

They differ in their rules and in the search: a model says what its best tree is, or that its grammar has none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import TrainingItems
from reference_systems._kept_models import PlainModels
from reference_systems._lexicon import Lexicon, count_words
from reference_systems._options import check_choice
from reference_systems._trees import Tree, flat_tree, leaves, read_tree, restore, retag, write_tree

__all__ = ["GrammarModel", "GrammarTrainer", "read_treebank"]


@dataclass
class GrammarModel(ABC):
    """A fitted grammar; its rules are what is derived from this class.

    Parameters
    ----------
    lexicon : Lexicon
        Its words.
    top : str
        The most frequent label of a whole sentence.
    parsed : Counter
        Sentences by whether the grammar had a tree for them, in all predictions so far.
    """

    lexicon: Lexicon
    top: str
    parsed: Counter[bool] = field(default_factory=Counter, kw_only=True)

    @property
    def notes(self) -> tuple[str, ...]:
        """How many sentences the grammar had no tree for, as a sentence."""
        if not self.parsed[False]:
            return ()
        return (f"{self.parsed[False]} of {self.parsed.total()} sentences had no tree by this grammar and got a flat one",)

    @abstractmethod
    def find_tree(self, words: tuple[str, ...], scores: Sequence[NDArray[np.float64]]) -> Tree | None:
        """Return the best tree, None if there is none; the scores of a word are those of the lexicon's tags, −inf where barred."""

    def parse(self, words: tuple[str, ...], gold: tuple[str, ...] | None) -> str:
        """Return the best tree, with the tags of ``gold`` where they are given, or a flat one where the grammar has none."""
        if not words:
            return ""
        scores = [self.lexicon.scores(word) for word in words]
        names = self.lexicon.tags
        if gold is not None:
            # A tag that the treebank did not have is no help: then the word's own tags are tried.
            given = [np.array([name == tag for name in names]) for tag in gold]
            scores = [np.where(only, 0.0, -np.inf) if only.any() else score for only, score in zip(given, scores, strict=True)]
        tree = self.find_tree(words, scores)
        self.parsed[tree is not None] += 1
        if tree is None:
            tree = flat_tree(self.top, [names[int(found.argmax())] for found in scores], words)
        restored = restore(tree)
        return write_tree(restored if gold is None else retag(restored, gold))


class GrammarTrainer(PlainModels):
    """Trains on the column ``tree`` and predicts it; ``tags`` says where parts of speech are from: ``predict`` or ``gold``."""

    name: ClassVar[str]
    gives: tuple[str, ...] = ("tree",)
    same_bits = True

    def __init__(self, tags: str) -> None:
        self.tags = check_choice(self.name, "tags", tags, ("predict", "gold"))
        self.takes: tuple[str, ...] = ("tree", "word") if tags == "predict" else ("tree", "word", "tag")

    @property
    def signature(self) -> str:
        """Name and version of how the grammar is fitted."""
        return f"{self.name}|version:1"

    def predict(self, model: GrammarModel, items: TrainingItems) -> dict[str, Sequence[str]]:
        """Parse every sentence."""
        gold: Sequence[tuple[str, ...] | None] = items.columns["tag"] if self.tags == "gold" else [None] * len(items)
        return {"tree": tuple(model.parse(words, tags) for words, tags in zip(items.columns["word"], gold, strict=True))}


def read_treebank(items: TrainingItems, sample: NDArray[np.int64]) -> tuple[list[Tree], Lexicon, str]:
    """Return the trees at the positions ``sample``, their words, and the most frequent label of a whole sentence."""
    trees = [read_tree(items.columns["tree"][position]) for position in sample]
    top = min(Counter(tree.label for tree in trees).items(), key=lambda found: (-found[1], found[0]))[0]
    return trees, count_words(pair for tree in trees for pair in leaves(tree)), top
