"""What the dependency parsers share: their options, fitting a base parser of any kind, and parsing sentences with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import TrainingItems
from reference_systems._arc_learner import learn_arcs, parse_by_arcs
from reference_systems._dependencies import Treebank, Vocabulary, describe, learn_vocabulary
from reference_systems._kept_models import PlainModels
from reference_systems._options import check_choice, check_count
from reference_systems._relation_learner import label_trees, learn_relations
from reference_systems._transition_learner import learn_steps, parse_by_steps

__all__ = [
    "ARC_MARGIN",
    "STEP_MARGIN",
    "Kind",
    "Parser",
    "ParserModel",
    "ParserTrainer",
    "check_tags",
    "fit_parser",
    "index_treebank",
    "read_trees",
]

Kind = Literal["projective arcs", "arcs", "steps forwards", "steps backwards"]
"""A base parser: graph-based with or without Eisner's constraint, transition-based from left to right or from right to left."""

ARC_MARGIN, STEP_MARGIN = 100, 20
"""By how many units of weight the right tree, the right step must win while weights are learnt."""

_TAGS = {"tag": ("tag",), "upos": ("upos",), "both": ("tag", "upos")}


@dataclass(frozen=True)
class Parser:
    """A fitted base parser.

    Parameters
    ----------
    kind : Kind
    weights : int64
        Of arcs, ``2 ** bits``, or of steps, four times as many.
    relation_weights : (2 ** bits,) int64
    """

    kind: Kind
    weights: NDArray[np.int64]
    relation_weights: NDArray[np.int64]

    def parse(self, treebank: Treebank, allowed: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return heads and numbers of relations, laid out like the treebank's."""
        if self.kind in ("arcs", "projective arcs"):
            heads = parse_by_arcs(treebank, self.weights, projective=self.kind == "projective arcs")
        else:
            heads = parse_by_steps(treebank, self.weights, backwards=self.kind == "steps backwards")
        return heads, label_trees(treebank, allowed, heads, self.relation_weights)


def check_tags(trainer: str, tags: Any) -> tuple[str, ...]:
    """Return the columns that the option ``tags`` names."""
    return _TAGS[check_choice(trainer, "tags", tags, _TAGS)]


def index_treebank(
    items: TrainingItems, sample: NDArray[np.int64], tags_from: tuple[str, ...]
) -> tuple[Vocabulary, Treebank, tuple[str, ...]]:
    """Return the vocabulary of a sample, all items as arrays, and what is odd about the sample."""
    vocabulary = learn_vocabulary(items, sample, tags_from)
    treebank = Treebank.of(items, vocabulary, gold=True)
    return vocabulary, treebank, describe(treebank, sample)


def fit_parser(
    kind: Kind,
    vocabulary: Vocabulary,
    treebank: Treebank,
    sample: NDArray[np.int64],
    *,
    epochs: int,
    bits: int,
    seed: int,
) -> Parser:
    """Fit a base parser of one kind and its relations."""
    if kind in ("arcs", "projective arcs"):
        projective = kind == "projective arcs"
        weights = learn_arcs(treebank, sample, epochs=epochs, bits=bits, margin=ARC_MARGIN, projective=projective, seed=seed)
    else:
        backwards = kind == "steps backwards"
        weights = learn_steps(treebank, sample, epochs=epochs, bits=bits, margin=STEP_MARGIN, backwards=backwards, seed=seed)
    relation_weights = learn_relations(treebank, vocabulary.allowed, sample, epochs=min(epochs, 5), bits=bits, seed=seed)
    return Parser(kind, weights, relation_weights)


def read_trees(
    vocabulary: Vocabulary, treebank: Treebank, heads: NDArray[np.int32], relations: NDArray[np.int32]
) -> Mapping[str, Sequence[Any]]:
    """Return the columns ``head`` and ``relation``, one tuple a sentence."""
    names = vocabulary.relations
    return {
        "head": tuple(tuple(sentence) for sentence in treebank.read(heads)),
        "relation": tuple(tuple(names[number] for number in sentence) for sentence in treebank.read(relations)),
    }


@dataclass(frozen=True)
class ParserModel:
    """One fitted base parser with its vocabulary.

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


class ParserTrainer(PlainModels):
    """Trains one base parser; what is derived from this class chooses its kind."""

    name: ClassVar[str]
    gives: tuple[str, ...] = ("head", "relation")
    same_bits = True

    def __init__(self, kind: Kind, *, epochs: int, tags: str, bits: int, most_bits: int) -> None:
        self._kind: Kind = kind
        self._epochs = check_count(self.name, "epochs", epochs, least=1, most=1000)
        self._tags = check_tags(self.name, tags)
        self._bits = check_count(self.name, "bits", bits, least=8, most=most_bits)
        self.takes: tuple[str, ...] = ("word", *self._tags, "head", "relation")

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> ParserModel:
        """Fit to the items at the positions ``sample``; nothing is written to ``workdir``."""
        vocabulary, treebank, notes = index_treebank(items, sample, self._tags)
        parser = fit_parser(self._kind, vocabulary, treebank, sample, epochs=self._epochs, bits=self._bits, seed=seed)
        return ParserModel(vocabulary, parser, notes)

    def predict(self, model: ParserModel, items: TrainingItems) -> Mapping[str, Sequence[Any]]:
        """Predict the head, 0 for the root, and the relation of every word."""
        treebank = Treebank.of(items, model.vocabulary, gold=False)
        return read_trees(model.vocabulary, treebank, *model.parser.parse(treebank, model.vocabulary.allowed))
