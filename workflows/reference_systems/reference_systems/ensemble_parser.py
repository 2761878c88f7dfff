"""An ensemble of dependency parsers: train its members on one sample, and reparse their votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import TrainingItems
from reference_systems._dependencies import Treebank, Vocabulary
from reference_systems._kept_models import PlainModels
from reference_systems._options import check_choice, check_count
from reference_systems._parser_base import Kind, Parser, check_tags, fit_parser, index_treebank, read_trees
from reference_systems._relation_learner import label_trees
from reference_systems._votes import reparse, vote_relations

__all__ = ["EnsembleModel", "EnsembleParserTrainer"]

_MEMBERS: tuple[Kind, ...] = ("steps forwards", "projective arcs", "steps backwards")
"""In the order in which they decide between trees with as many votes."""


@dataclass(frozen=True)
class EnsembleModel:
    """Fitted members of an ensemble.

    Parameters
    ----------
    vocabulary : Vocabulary
    members : tuple of Parser
    notes : tuple of str
        How many of the sampled sentences have crossing arcs.
    """

    vocabulary: Vocabulary
    members: tuple[Parser, ...]
    notes: tuple[str, ...] = ()


class EnsembleParserTrainer(PlainModels):
    """Fits three parsers to the same sample; the tree with the most votes of theirs is the result.

    A graph-based parser, a transition-based one and another that reads from right to left vote with equal weight for arcs and
    relations, and votes are reparsed to a tree (Sagae and Lavie 2006, https://aclanthology.org/N06-2033), which is as good as
    anything learnt (Surdeanu and Manning 2010, https://aclanthology.org/N10-1091).

    Parameters
    ----------
    epochs : int
        Passes over the sample of the graph-based member; the others make ``step_epochs``.
    step_epochs : int
        Passes of the transition-based members.
    trees : {"projective", "any"}
        Whether arcs of the result may cross.
    tags : {"both", "tag", "upos"}
        What is seen of a token besides its word.
    bits : int
        Features are hashed to ``2 ** bits`` rows.
    """

    name: ClassVar[str] = "ensemble-parser"
    gives: tuple[str, ...] = ("head", "relation")
    same_bits = True
    signature = "ensemble-parser|1"

    def __init__(
        self, *, epochs: int = 8, step_epochs: int = 10, trees: str = "projective", tags: str = "both", bits: int = 22
    ) -> None:
        self._epochs = check_count(self.name, "epochs", epochs, least=1, most=1000)
        self._step_epochs = check_count(self.name, "step_epochs", step_epochs, least=1, most=1000)
        self._projective = check_choice(self.name, "trees", trees, ("projective", "any")) == "projective"
        self._tags = check_tags(self.name, tags)
        self._bits = check_count(self.name, "bits", bits, least=8, most=26)
        self.takes: tuple[str, ...] = ("word", *self._tags, "head", "relation")

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> EnsembleModel:
        """Fit all members to the items at the positions ``sample``; nothing is written to ``workdir``."""
        vocabulary, treebank, notes = index_treebank(items, sample, self._tags)
        members = tuple(
            fit_parser(kind, vocabulary, treebank, sample, epochs=self._epochs_of(kind), bits=self._bits, seed=seed + place)
            for place, kind in enumerate(_MEMBERS)
        )
        return EnsembleModel(vocabulary, members, notes)

    def predict(self, model: EnsembleModel, items: TrainingItems) -> Mapping[str, Sequence[Any]]:
        """Predict the head, 0 for the root, and the relation of every word."""
        treebank, allowed = Treebank.of(items, model.vocabulary, gold=False), model.vocabulary.allowed
        proposed = [member.parse(treebank, allowed) for member in model.members]
        heads = reparse(treebank.starts, np.array([own for own, _ in proposed]), self._projective)
        fallback = label_trees(treebank, allowed, heads, model.members[0].relation_weights)
        return read_trees(model.vocabulary, treebank, heads, vote_relations(heads, proposed, fallback))

    def _epochs_of(self, kind: Kind) -> int:
        return self._epochs if kind in ("arcs", "projective arcs") else self._step_epochs
