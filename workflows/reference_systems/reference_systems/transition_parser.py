"""A transition-based dependency parser. This module builds a tree step by step, greedily (Goldberg and Nivre 2012, 2013)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import TrainingItems
from reference_systems._dependencies import Treebank, Vocabulary
from reference_systems._options import check_choice, check_count
from reference_systems._parser_base import Kind, Parser, check_tags, fit_parser, read_trees, study

__all__ = ["TransitionModel", "TransitionParserTrainer"]


@dataclass(frozen=True)
class TransitionModel:
    """A fitted transition-based parser.

    Parameters
    ----------
    vocabulary : Vocabulary
    parser : Parser
    notes : tuple of str
        How many of the sampled sentences have crossing arcs.
    """

    vocabulary: Vocabulary
    parser: Parser
    notes: tuple[str, ...] = ()


class TransitionParserTrainer:
    """Fits a greedy arc-hybrid parser with a dynamic oracle; its time is linear in the words.

    The next step is the one with the highest ``w_step · f(stack, buffer, arcs so far)``; the weights are an averaged
    perceptron's, and the learner mostly follows its own steps (Goldberg and Nivre 2013, doi:10.1162/tacl_a_00237). Of sentences
    with crossing arcs it learns those arcs that can be reached. Relations are chosen afterwards.

    Parameters
    ----------
    epochs : int
        Passes over the sample.
    direction : {"forwards", "backwards"}
        Whether sentences are read from left to right or from right to left.
    tags : {"both", "tag", "upos"}
        What is seen of a token besides its word.
    bits : int
        Features are hashed to ``2 ** bits`` rows.
    """

    name: ClassVar[str] = "transition-parser"
    gives: tuple[str, ...] = ("head", "relation")
    same_bits = True
    signature = "transition-parser|1"

    def __init__(self, *, epochs: int = 10, direction: str = "forwards", tags: str = "both", bits: int = 21) -> None:
        self._epochs = check_count(self.name, "epochs", epochs, least=1, most=1000)
        chosen = check_choice(self.name, "direction", direction, ("forwards", "backwards"))
        self._kind: Kind = "steps forwards" if chosen == "forwards" else "steps backwards"
        self._tags = check_tags(self.name, tags)
        self._bits = check_count(self.name, "bits", bits, least=8, most=26)
        self.takes: tuple[str, ...] = ("word", *self._tags, "head", "relation")

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> TransitionModel:
        """Fit to the items at the positions ``sample``; nothing is written to ``workdir``."""
        vocabulary, treebank, notes = study(items, sample, self._tags)
        parser = fit_parser(self._kind, vocabulary, treebank, sample, epochs=self._epochs, bits=self._bits, seed=seed)
        return TransitionModel(vocabulary, parser, notes)

    def predict(self, model: TransitionModel, items: TrainingItems) -> Mapping[str, Sequence[Any]]:
        """Predict the head, 0 for the root, and the relation of every word."""
        treebank = Treebank.of(items, model.vocabulary, gold=False)
        return read_trees(model.vocabulary, treebank, *model.parser.parse(treebank, model.vocabulary.allowed))
