"""A constituency parser with hidden kinds: split the symbols of a treebank grammar and fit the kinds by EM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import TrainingItems
from reference_systems._grammar_base import GrammarModel, GrammarTrainer, read_treebank
from reference_systems._latent_grammar import Layout, Parameters, climb, double, lay_out, one_kind, smooth
from reference_systems._latent_parse import likely_spans, most_expected_tree
from reference_systems._options import check_count
from reference_systems._trees import Tree, binarise
from reference_systems._words import shape_of

__all__ = ["LatentPcfgModel", "LatentPcfgTrainer"]

_FREQUENT = 10  # words with fewer occurrences share their hidden kinds with those that look alike
_LEAST = 1e-4  # posterior by the unsplit grammar below which a span is not looked at again
_SMOOTHED = {"rules": 0.02, "words": 0.1}
_LIFT = 10.0  # a word's probabilities are scaled to this, so that those of long sentences stay within floats


@dataclass
class LatentPcfgModel(GrammarModel):
    """A fitted grammar.

    Parameters
    ----------
    layout : Layout
        Its rules.
    coarse, fine : Parameters
        With one kind of each symbol, and with all.
    classes : mapping of str to str
        Class of each word seen, by which it chooses among the kinds of a tag.
    """

    layout: Layout
    coarse: Parameters
    fine: Parameters
    classes: Mapping[str, str]

    def find_tree(self, words: tuple[str, ...], scores: Sequence[NDArray[np.float64]]) -> Tree | None:
        """Return the tree with the largest product of the posteriors of its rules."""
        layout, fine = self.layout, self.fine
        number = {symbol: k for k, symbol in enumerate(layout.symbols)}
        tags = [number[tag] for tag in self.lexicon.tags]
        kinds = fine.top.shape[1]
        spoken = np.zeros((len(words), len(layout.symbols), kinds))
        for position, (word, score) in enumerate(zip(words, scores, strict=True)):
            likely = _LIFT * np.exp(score - score.max())
            family = self.classes.get(word, _class(word, 0))
            entries = [layout.entries.get((tag, family), -1) for tag in self.lexicon.tags]
            of_kind = np.array([fine.word[entry] if entry >= 0 else np.ones(kinds) for entry in entries])
            spoken[position, tags] = likely[:, None] * of_kind
        rules = (layout.first, layout.left, layout.right, layout.chain_first, layout.bottom)
        coarse_spoken = np.zeros((len(words), len(layout.symbols), 1))
        for position, score in enumerate(scores):
            coarse_spoken[position, tags, 0] = _LIFT * np.exp(score - score.max())
        coarse = (self.coarse.top, self.coarse.binary, self.coarse.chain)
        kept = likely_spans(len(words), coarse_spoken, *rules, coarse, _LEAST)
        nodes = most_expected_tree(len(words), kept, spoken, *rules, (fine.top, fine.binary, fine.chain))
        if not len(nodes):
            return None
        done: list[Tree] = []
        position = len(words)
        for symbol, chain, split in nodes[::-1].tolist():
            if split < 0:
                position -= 1
                tree = Tree(layout.symbols[symbol], word=words[position])
            else:
                tree = Tree(layout.symbols[symbol], (done.pop(), done.pop()))
            if chain >= 0:
                for label in reversed(layout.paths[chain]):
                    tree = Tree(label, (tree,))
            done.append(tree)
        return done[0]


class LatentPcfgTrainer(GrammarTrainer):
    """Parses with a grammar whose symbols are split into hidden kinds, found by EM.

    The treebank, made binary without memory of sisters, gives a grammar; each cycle splits every symbol in two and fits the
    kinds to the trees (Matsuzaki, Miyao and Tsujii 2005, Probabilistic CFG with latent annotations, doi:10.3115/1219840.1219850;
    splitting in steps and smoothing as Petrov, Barrett, Thibaux and Klein 2006, doi:10.3115/1220175.1220230; splits are not merged
    again). The tree given is the one with the largest product of the posteriors of its rules (Petrov and Klein 2007, Improved
    inference for unlexicalized parsing, https://aclanthology.org/N07-1051), over spans to which the unsplit grammar gives a
    posterior of at least 10⁻⁴. A sentence without such a tree gets a flat one.

    Parameters
    ----------
    cycles : int
        Times that kinds are split in two: 2 gives four kinds of every symbol.
    steps : int
        Steps of EM after each split.
    tags : {"predict", "gold"}
        Whether parts of speech are found with the tree or taken from the column ``tag`` of the test set.

    Examples
    --------
    >>> trees = ("(S (NP (PRP she)) (VP (VBZ sings)))", "(S (NP (DT the) (NN dog)) (VP (VBZ sleeps)))")
    >>> trainer = LatentPcfgTrainer(cycles=1)
    >>> model = trainer.fit(TrainingItems(ids=("1", "2"), columns={"tree": trees}), np.array([0, 1]), seed=1, workdir=Path())
    >>> trainer.predict(model, TrainingItems(ids=("1",), columns={"word": (("the", "dog", "sings"),)}))
    {'tree': ('(S (NP (DT the) (NN dog)) (VP (VBZ sings)))',)}
    """

    name: ClassVar[str] = "latent-pcfg"

    def __init__(self, *, cycles: int = 2, steps: int = 20, tags: str = "predict") -> None:
        self.cycles = check_count(self.name, "cycles", cycles, least=1, most=5)
        self.steps = check_count(self.name, "steps", steps, least=1, most=500)
        super().__init__(tags)

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> LatentPcfgModel:
        """Fit to the trees at the positions ``sample``, each as often as it was drawn; the seed shakes the kinds apart."""
        trees, lexicon, top = read_treebank(items, sample)
        classes = {word: _class(word, sum(tags.values())) for word, tags in lexicon.counts.items()}
        layout, bank = lay_out([binarise(tree, vertical=1, horizontal=0) for tree in trees], classes)
        coarse = fine = one_kind(layout, bank)
        generator = np.random.default_rng(seed)
        for _ in range(self.cycles):
            fine = double(fine, generator)
            for _ in range(self.steps):
                fine, _likelihood = climb(layout, bank, fine)
            fine = smooth(fine, **_SMOOTHED)
        return LatentPcfgModel(lexicon, top, layout, coarse, fine, classes)


def _class(word: str, occurrences: int) -> str:
    """Return the word itself where it is frequent, else its shape and its ending."""
    return word if occurrences >= _FREQUENT else f" {shape_of(word)} {word[-2:].lower()}"
