"""A constituency parser by counted rules: a grammar, plain or refined by what is above and beside a label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import TrainingItems
from reference_systems._cky import best_tree
from reference_systems._grammar import Grammar, count_rules, estimate
from reference_systems._grammar_base import GrammarModel, GrammarTrainer, read_treebank
from reference_systems._options import check_count
from reference_systems._trees import Tree, binarise

__all__ = ["PcfgModel", "PcfgTrainer"]


@dataclass
class PcfgModel(GrammarModel):
    """A fitted grammar.

    Parameters
    ----------
    grammar : Grammar
        Its rules.
    """

    grammar: Grammar

    def find_tree(self, words: tuple[str, ...], scores: Sequence[NDArray[np.float64]]) -> Tree | None:
        """Return the most probable tree."""
        possible = [np.flatnonzero(score > -np.inf) for score in scores]
        number = {symbol: k for k, symbol in enumerate(self.grammar.symbols)}
        symbols = [number[self.lexicon.tags[tag]] for tags in possible for tag in tags]
        first = np.concatenate(([0], np.cumsum([len(tags) for tags in possible], dtype=np.int64))).astype(np.int64)
        score = np.concatenate([found[tags] for found, tags in zip(scores, possible, strict=True)])
        return best_tree(self.grammar, words, (first, np.array(symbols, dtype=np.int64), score))[1]


class PcfgTrainer(GrammarTrainer):
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

    def __init__(self, *, vertical: int = 1, horizontal: int | None = None, tags: str = "predict") -> None:
        self.vertical = check_count(self.name, "vertical", vertical, least=1, most=3)
        self.horizontal = None if horizontal is None else check_count(self.name, "horizontal", horizontal, least=0, most=10)
        super().__init__(tags)

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> PcfgModel:
        """Count the trees at the positions ``sample``, each as often as it was drawn; the seed has no part in it."""
        trees, lexicon, top = read_treebank(items, sample)
        refined = (binarise(tree, vertical=self.vertical, horizontal=self.horizontal) for tree in trees)
        return PcfgModel(lexicon, top, estimate(count_rules(refined)))
