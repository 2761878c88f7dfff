"""What the dependency parsers share. This module checks their options, holds a fitted parser, and turns sentences into trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import TrainingItems
from reference_systems._arc_learner import learn_arcs, parse_by_arcs
from reference_systems._dependencies import Treebank, Vocabulary, describe, learn_vocabulary
from reference_systems._options import check_choice
from reference_systems._relation_learner import label_trees, learn_relations
from reference_systems._transition_learner import learn_steps, parse_by_steps

__all__ = ["ARC_MARGIN", "STEP_MARGIN", "Kind", "Parser", "check_tags", "fit_parser", "read_trees", "study"]

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


def study(
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
