"""A graph-based dependency parser. This module scores every arc by itself and takes the best tree (McDonald et al. 2005)."""

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

__all__ = ["GraphModel", "GraphParserTrainer"]


@dataclass(frozen=True)
class GraphModel:
    """A fitted graph-based parser.

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


class GraphParserTrainer:
    """Fits a first-order graph-based parser: the best tree over arcs that are scored one by one.

    ``score(tree) = Σ w · f(head, dependent)``; the weights are a structured averaged perceptron's with a margin, over hashed
    features (McDonald, Crammer and Pereira 2005, doi:10.3115/1219840.1219852). Relations are chosen afterwards.

    Parameters
    ----------
    epochs : int
        Passes over the sample.
    trees : {"projective", "any"}
        The best tree without crossing arcs (Eisner 1996) or the best of all (Chu, Liu and Edmonds; McDonald et al. 2005,
        doi:10.3115/1220575.1220641).
    tags : {"both", "tag", "upos"}
        What is seen of a token besides its word.
    bits : int
        Features are hashed to ``2 ** bits`` rows.
    """

    name: ClassVar[str] = "graph-parser"
    gives: tuple[str, ...] = ("head", "relation")
    same_bits = True
    signature = "graph-parser|1"

    def __init__(self, *, epochs: int = 8, trees: str = "projective", tags: str = "both", bits: int = 22) -> None:
        self._epochs = check_count(self.name, "epochs", epochs, least=1, most=1000)
        chosen = check_choice(self.name, "trees", trees, ("projective", "any"))
        self._kind: Kind = "projective arcs" if chosen == "projective" else "arcs"
        self._tags = check_tags(self.name, tags)
        self._bits = check_count(self.name, "bits", bits, least=8, most=28)
        self.takes: tuple[str, ...] = ("word", *self._tags, "head", "relation")

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> GraphModel:
        """Fit to the items at the positions ``sample``; nothing is written to ``workdir``."""
        vocabulary, treebank, notes = study(items, sample, self._tags)
        parser = fit_parser(self._kind, vocabulary, treebank, sample, epochs=self._epochs, bits=self._bits, seed=seed)
        return GraphModel(vocabulary, parser, notes)

    def predict(self, model: GraphModel, items: TrainingItems) -> Mapping[str, Sequence[Any]]:
        """Predict the head, 0 for the root, and the relation of every word."""
        treebank = Treebank.of(items, model.vocabulary, gold=False)
        return read_trees(model.vocabulary, treebank, *model.parser.parse(treebank, model.vocabulary.allowed))
