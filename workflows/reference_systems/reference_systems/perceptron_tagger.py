"""A tagger that learns from its mistakes: an averaged perceptron that tags greedily from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import TrainingItems
from reference_systems._kept_models import PlainModels
from reference_systems._options import check_count
from reference_systems._perceptron_kernels import learn, tag
from reference_systems._words import ATTRIBUTES, WordTable, flatten, word_table

__all__ = ["PerceptronTaggerModel", "PerceptronTaggerTrainer"]

_LOOKS = (
    *(("word", offset) for offset in (-2, -1, 0, 1, 2)),
    *((attribute, 0) for attribute in ATTRIBUTES[1:]),
    *(("suffix3", offset) for offset in (-1, 1)),
    *(("shape", offset) for offset in (-1, 1)),
)
"""Attributes of words that are features, and how far the word is from the token."""


@dataclass(frozen=True)
class PerceptronTaggerModel:
    """A fitted tagger.

    Parameters
    ----------
    tags : tuple of str
        The tags of the training set, sorted.
    table : WordTable
        The words of the training set.
    first_entry : (feature + 1,) int64
        Where the entries of each feature begin.
    of_tag, weight : (entry,) int32, int64
        Tag and summed weight of each entry.
    notes : tuple of str
        What is to be said of it.
    """

    tags: tuple[str, ...]
    table: WordTable
    first_entry: NDArray[np.int64]
    of_tag: NDArray[np.int32]
    weight: NDArray[np.int64]
    notes: tuple[str, ...] = ()


class PerceptronTaggerTrainer(PlainModels):
    """Tags by an averaged perceptron over words, affixes, shapes and the two tags before.

    Features of a token: the words up to two away, lower-cased form, prefixes up to 3 and suffixes up to 4 characters, shape,
    suffix and shape of both neighbours, the last tag, the last two, and the last with the word. A wrong tag costs each of the
    token's features 1, the right one gains it. Tagging uses the mean of the weights after every token of every epoch (M. Collins
    2002, Discriminative training methods for hidden Markov models, doi:10.3115/1118693.1118694), kept as an exact sum.

    Parameters
    ----------
    epochs : int
        Times the sample is gone through, in a new order each time.

    Examples
    --------
    >>> items = TrainingItems(ids=("1", "2"), columns={"word": (("a", "dog"), ("a", "cat")), "tag": (("D", "N"), ("D", "N"))})
    >>> tagger = PerceptronTaggerTrainer()
    >>> model = tagger.fit(items, np.array([0, 1]), seed=1, workdir=Path())
    >>> tagger.predict(model, TrainingItems(ids=("1",), columns={"word": (("a", "cow"),)}))
    {'tag': (('D', 'N'),)}
    """

    name: ClassVar[str] = "perceptron-tagger"
    takes: tuple[str, ...] = ("word", "tag")
    gives: tuple[str, ...] = ("tag",)
    same_bits = True

    def __init__(self, *, epochs: int = 5) -> None:
        self.epochs = check_count(self.name, "epochs", epochs, least=1, most=100)

    @property
    def signature(self) -> str:
        """Name and version of the features and of the rule of learning."""
        return f"{self.name}|version:1"

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> PerceptronTaggerModel:
        """Fit to the sentences at the positions ``sample``; a sentence drawn twice is gone through twice an epoch."""
        words = [items.columns["word"][position] for position in sample]
        gold, _, met = flatten([items.columns["tag"][position] for position in sample])
        if not met:
            raise ValueError("a tagger needs a token to learn from, and the sample has none")
        tags = tuple(sorted(met))
        rank = {name: number for number, name in enumerate(tags)}
        gold = np.array([rank[name] for name in met], dtype=np.int32)[gold]
        table = word_table(word for sentence in words for word in sentence)
        tokens = table.tokens(words)
        slots, bases, n_features = _layout(table, len(tags))
        generator = np.random.default_rng(seed)
        orders = np.stack([generator.permutation(len(words)) for _ in range(self.epochs)])
        first_entry, of_tag, weight = learn(
            orders, tokens.words, tokens.starts, tokens.rows, gold, slots, bases, n_features, len(tags)
        )
        return PerceptronTaggerModel(tags, table, first_entry, of_tag, weight)

    def predict(self, model: PerceptronTaggerModel, items: TrainingItems) -> dict[str, Sequence[tuple[str, ...]]]:
        """Tag every word of every sentence."""
        tokens = model.table.tokens(items.columns["word"])
        slots, bases, _ = _layout(model.table, len(model.tags))
        found = tag(
            tokens.words,
            tokens.starts,
            tokens.rows,
            slots,
            bases,
            model.first_entry,
            model.of_tag,
            model.weight,
            len(model.tags),
        )
        named = [model.tags[number] for number in found]
        return {"tag": tuple(tuple(named[a:b]) for a, b in zip(tokens.starts[:-1], tokens.starts[1:], strict=True))}


def _layout(table: WordTable, n_tags: int) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return the slots (attribute, offset, first feature), the first features with tags, and the number of features."""
    sizes = table.sizes
    slots, used = [], 0
    for attribute, offset in _LOOKS:
        number = ATTRIBUTES.index(attribute)
        slots.append((number, offset, used))
        used += sizes[number]
    bases = [used, used + n_tags + 1, used + (n_tags + 1) * (n_tags + 2)]
    n_features = bases[-1] + sizes[0] * (n_tags + 1)
    return np.array(slots, dtype=np.int64), np.array(bases, dtype=np.int64), n_features
