"""Sentences as arrays of numbers: words, tags and relations interned, a treebank laid out for the kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import TrainingItems
from reference_systems._spanning_trees import is_projective

__all__ = ["NOTHING", "ROOT", "UNKNOWN", "Treebank", "Vocabulary", "describe", "learn_vocabulary"]

NOTHING, ROOT, UNKNOWN = 0, 1, 2
"""Numbers of what is outside the sentence, of its root, and of what the training sample does not show."""


@dataclass(frozen=True)
class Vocabulary:
    """Numbers of words and tags (from 3), and the relations by their numbers (from 0).

    Parameters
    ----------
    tags_from : tuple of str
        The columns whose values side by side are the tag of a token.
    words, tags : dict
    likely_tags : dict
        For a column's place and a value, the number of the tag that the sample shows most often with it.
    relations : tuple of str
    allowed : (tag, 2, relation) bool
        Whether the sample shows the relation on a token with this tag; […, 1, …] where its head is the root.
    """

    tags_from: tuple[str, ...]
    words: dict[str, int]
    tags: dict[tuple[str, ...], int]
    likely_tags: dict[tuple[int, str], int]
    relations: tuple[str, ...]
    allowed: NDArray[np.bool_]

    def number_tag(self, tag: tuple[str, ...]) -> int:
        """Return the number of a tag; of an unseen one, the likeliest tag's with the same value in one column, the last first."""
        if tag in self.tags:
            return self.tags[tag]
        found = (self.likely_tags.get((place, tag[place])) for place in reversed(range(len(tag))))
        return next((number for number in found if number is not None), UNKNOWN)


@dataclass(frozen=True)
class Treebank:
    """Sentences one after the other; each is nothing, the root, its words, nothing.

    Parameters
    ----------
    starts : (sentence + 1,) int64
        Where each begins; a sentence of n words takes n + 3 entries and its word i stands at ``start + 1 + i``.
    words, tags : (entry,) int32
    heads, relations : (entry,) int32
        Gold values of words, −1 elsewhere and where there are none.
    """

    starts: NDArray[np.int64]
    words: NDArray[np.int32]
    tags: NDArray[np.int32]
    heads: NDArray[np.int32]
    relations: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def of(cls, items: TrainingItems, vocabulary: Vocabulary, *, gold: bool) -> Treebank:
        """Lay out all items; ``gold`` says whether heads and relations are read."""
        words, tagged = items.columns["word"], _tags(items, vocabulary.tags_from)
        starts = np.concatenate(([0], np.cumsum([len(sentence) + 3 for sentence in words]))).astype(np.int64)
        made = cls(starts, *(np.full(starts[-1], fill, np.int32) for fill in (NOTHING, NOTHING, -1, -1)))
        numbers = {relation: number for number, relation in enumerate(vocabulary.relations)}
        for index, (sentence, tags) in enumerate(zip(words, tagged, strict=True)):
            start = starts[index] + 1
            inside = slice(start + 1, start + 1 + len(sentence))
            made.words[start] = made.tags[start] = ROOT
            made.words[inside] = [vocabulary.words.get(word.lower(), UNKNOWN) for word in sentence]
            made.tags[inside] = [vocabulary.number_tag(tag) for tag in tags]
            if gold:
                made.heads[inside] = items.columns["head"][index]
                made.relations[inside] = [numbers.get(relation, -1) for relation in items.columns["relation"][index]]
        return made

    def read(self, values: NDArray[Any]) -> list[list[Any]]:
        """Cut an array laid out like ``heads`` into the values of the words of each sentence."""
        return [values[start + 2 : end - 1].tolist() for start, end in zip(self.starts[:-1], self.starts[1:], strict=True)]


def learn_vocabulary(items: TrainingItems, sample: NDArray[np.int64], tags_from: tuple[str, ...]) -> Vocabulary:
    """Return numbers to what the sample shows, in the order it first shows it.

    Words that it shows once, counting repeated sentences as often as they are drawn, stay unknown: so the parser learns what to
    do with words that it does not know. Case is folded; tags keep the difference of names.
    """
    counts: Counter[str] = Counter()
    tag_counts: Counter[tuple[str, ...]] = Counter()
    tags: dict[tuple[str, ...], int] = {}
    relations: dict[str, int] = {}
    shown: set[tuple[int, int, int]] = set()
    words, tagged = items.columns["word"], _tags(items, tags_from)
    for index in sample.tolist():
        counts.update(word.lower() for word in words[index])
        tag_counts.update(tagged[index])
        heads, names = items.columns["head"][index], items.columns["relation"][index]
        for tag, head, name in zip(tagged[index], heads, names, strict=True):
            tag_number = tags.setdefault(tag, len(tags) + 3)
            shown.add((tag_number, int(head == 0), relations.setdefault(name, len(relations))))
    allowed = np.zeros((len(tags) + 3, 2, len(relations)), np.bool_)
    for entry in shown:
        allowed[entry] = True
    likely_tags: dict[tuple[int, str], int] = {}
    for tag, _ in tag_counts.most_common():  # of equals the one shown first
        for place, value in enumerate(tag):
            likely_tags.setdefault((place, value), tags[tag])
    known = [word for word, count in counts.items() if count > 1]
    words_known = {word: number for number, word in enumerate(known, 3)}
    return Vocabulary(tags_from, words_known, tags, likely_tags, tuple(relations), allowed)


def describe(treebank: Treebank, sample: NDArray[np.int64]) -> tuple[str, ...]:
    """Say how many of the sampled sentences have crossing arcs, for the notes of a model."""
    crossing = sum(
        not is_projective(treebank.heads[treebank.starts[index] + 1 : treebank.starts[index + 1] - 1].astype(np.int64))
        for index in sample.tolist()
    )
    share = 100 * crossing / max(1, len(sample))
    return (f"{crossing} of {len(sample)} sentences ({share:.1f} %) have crossing arcs",) if crossing else ()


def _tags(items: TrainingItems, columns: Sequence[str]) -> list[list[tuple[str, ...]]]:
    return [list(zip(*values, strict=True)) for values in zip(*(items.columns[column] for column in columns), strict=True)]
