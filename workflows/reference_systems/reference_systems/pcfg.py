"""A parser of constituents by counted rules. This module fits a grammar, plain or refined by what is above and beside a label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import TrainingItems
from reference_systems._cky import best_tree
from reference_systems._grammar import Grammar, count_rules, estimate
from reference_systems._lexicon import Lexicon, count_words
from reference_systems._options import check_choice, check_count
from reference_systems._trees import binarise, flat_tree, leaves, read_tree, restore, retag, write_tree

__all__ = ["PcfgModel", "PcfgTrainer"]


@dataclass
class PcfgModel:
    """A fitted grammar.

    Parameters
    ----------
    grammar : Grammar
        Its rules.
    lexicon : Lexicon
        Its words.
    top : str
        The most frequent label of a whole sentence.
    parsed : Counter
        Sentences by whether the grammar had a tree for them, in all predictions so far.
    """

    grammar: Grammar
    lexicon: Lexicon
    top: str
    parsed: Counter[bool] = field(default_factory=Counter)

    @property
    def notes(self) -> tuple[str, ...]:
        """Say how many sentences the grammar had no tree for."""
        if not self.parsed[False]:
            return ()
        return (f"{self.parsed[False]} of {self.parsed.total()} sentences had no tree by this grammar and got a flat one",)


class PcfgTrainer:
    """Parses by the most probable tree of a context-free grammar read off a treebank.

    Rules have their relative frequency. ``vertical: 2`` refines each label by its parent; ``horizontal: 1`` forgets all but the
    last part of a constituent when the next is chosen, so that rules never seen are possible (Klein and Manning 2003,
    Accurate unlexicalized parsing, doi:10.3115/1075096.1075150). Parts of speech are not refined. Rare and new words are scored
    by their endings. The search is exact; a sentence for which the grammar has no tree gets a flat one.

    Parameters
    ----------
    vertical : int
        1: labels as they are; 2: with their parent; 3: with grandparents too.
    horizontal : int, optional
        Parts that the next part of a constituent depends on; all of them where it is not given.
    tags : {"predict", "gold"}
        Whether parts of speech are found with the tree or taken from the column ``tag`` of the test set.

    Examples
    --------
    >>> trees = ("(S (NP (PRP she)) (VP (VBZ sings)))", "(S (NP (DT the) (NN dog)) (VP (VBZ sleeps)))")
    >>> trainer = PcfgTrainer(vertical=2, horizontal=1)
    >>> model = trainer.fit(TrainingItems(ids=("1", "2"), columns={"tree": trees}), np.array([0, 1]), seed=1, workdir=Path())
    >>> trainer.predict(model, TrainingItems(ids=("1",), columns={"word": (("the", "dog", "sings"),)}))
    {'tree': ('(S (NP (DT the) (NN dog)) (VP (VBZ sings)))',)}
    """

    name: ClassVar[str] = "pcfg"
    gives: tuple[str, ...] = ("tree",)
    same_bits = True

    def __init__(self, *, vertical: int = 1, horizontal: int | None = None, tags: str = "predict") -> None:
        self.vertical = check_count(self.name, "vertical", vertical, least=1, most=3)
        self.horizontal = None if horizontal is None else check_count(self.name, "horizontal", horizontal, least=0, most=10)
        self.tags = check_choice(self.name, "tags", tags, ("predict", "gold"))
        self.takes = ("tree", "word") if tags == "predict" else ("tree", "word", "tag")

    @property
    def signature(self) -> str:
        """Name and version of how rules and words are counted."""
        return f"{self.name}|version:1"

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> PcfgModel:
        """Count the trees at the positions ``sample``, each as often as it was drawn; the seed has no part in it."""
        trees = [read_tree(items.columns["tree"][position]) for position in sample]
        lexicon = count_words(pair for tree in trees for pair in leaves(tree))
        refined = (binarise(tree, vertical=self.vertical, horizontal=self.horizontal) for tree in trees)
        top = min(Counter(tree.label for tree in trees).items(), key=lambda found: (-found[1], found[0]))[0]
        return PcfgModel(estimate(count_rules(refined)), lexicon, top)

    def predict(self, model: PcfgModel, items: TrainingItems) -> dict[str, Sequence[str]]:
        """Parse every sentence."""
        gold: Sequence[tuple[str, ...] | None] = items.columns["tag"] if self.tags == "gold" else [None] * len(items)
        return {"tree": tuple(_parse(model, words, tags) for words, tags in zip(items.columns["word"], gold, strict=True))}


def _parse(model: PcfgModel, words: tuple[str, ...], gold: tuple[str, ...] | None) -> str:
    if not words:
        return ""
    scores = [model.lexicon.scores(word) for word in words]
    names = model.lexicon.tags
    if gold is not None:
        # A tag that the treebank did not have is no help: then the word's own tags are tried.
        given = [np.array([name == tag for name in names]) for tag in gold]
        scores = [np.where(only, 0.0, -np.inf) if only.any() else score for only, score in zip(given, scores, strict=True)]
    possible = [np.flatnonzero(score > -np.inf) for score in scores]
    number = {symbol: k for k, symbol in enumerate(model.grammar.symbols)}
    symbols = [[number[names[tag]] for tag in tags] for tags in possible]
    first = np.concatenate(([0], np.cumsum([len(tags) for tags in possible], dtype=np.int64))).astype(np.int64)
    score = np.concatenate([found[tags] for found, tags in zip(scores, possible, strict=True)])
    _, tree = best_tree(model.grammar, words, (first, np.array([s for own in symbols for s in own], dtype=np.int64), score))
    model.parsed[tree is not None] += 1
    if tree is None:
        tree = flat_tree(model.top, [names[int(found.argmax())] for found in scores], words)
    restored = restore(tree)
    return write_tree(restored if gold is None else retag(restored, gold))
