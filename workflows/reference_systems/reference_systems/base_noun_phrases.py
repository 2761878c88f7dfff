"""Base noun phrases of dependency trees: a format that gives treebanks of Universal Dependencies the chunks of chunkers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.interfaces import Items, Reader, Trainer, TrainingItems

__all__ = ["BaseNounPhraseReader", "mark_base_noun_phrases"]

_NOMINAL = frozenset({"NOUN", "PROPN", "PRON"})
_ALSO = frozenset({"NUM", "DET", "ADJ", "SYM", "X"})  # head of a phrase where they are in the place of a noun: "the two", "all"
_PLACES = frozenset({"nsubj", "obj", "iobj", "obl", "nmod", "appos", "vocative", "dislocated"})
_BEFORE = frozenset({"det", "amod", "nummod", "compound", "flat", "goeswith"})
_AFTER = frozenset({"flat", "goeswith", "compound", "nummod", "fixed"})
_WITHIN = frozenset({"advmod", "conj", "cc", "punct", "compound", "nummod", "flat", "fixed", "goeswith", "amod", "det"})
"""Relations within a modifier, as in "a very old and bare tree"."""


class BaseNounPhraseReader(Reader):
    """Trees in CoNLL-U as gold, with base noun phrases made from them; outputs in columns of tokens.

    Items have ``word``, ``tag``, which is the universal part of speech because some treebanks have no other, and ``chunk``. Outputs
    are files of the format ``columns``. Where files of that format are given before the trees, as ``references`` of a test set,
    tags are those that the trainer ``hmm-tagger`` learns from their words and tags, all in lower case: chunkers that learnt from
    those files find tags that they know. Phrases are made from the trees as before.

    Examples
    --------
    >>> mark_base_noun_phrases(("DET", "ADJ", "NOUN", "ADP", "PROPN"), (3, 3, 0, 5, 3), ("det", "amod", "root", "case", "nmod"))
    ('B-NP', 'I-NP', 'I-NP', 'O', 'B-NP')
    """

    name: ClassVar[str] = "base-noun-phrases"
    targets: ClassVar[tuple[str, ...]] = ("chunk",)
    compares_with: Literal["references", "gold", "nothing"] = "gold"
    usual_metric: str | None = "chunk-f1"
    endings: ClassVar[tuple[str, ...]] = (".conllu", ".txt")

    def __init__(self) -> None:
        self._trees, self._rows = _installed("conllu"), _installed("columns")

    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return the sentences of trees with their base noun phrases; the last file has the trees, those before it tagged words."""
        trees = self._trees.read_gold(paths[-1:], options)
        if trees is None:
            return None
        columns = dict(trees.columns)
        heads, relations = columns.pop("head"), columns.pop("relation")
        columns["tag"] = columns.pop("upos")
        sentences = zip(columns["tag"], heads, relations, strict=True)
        columns["chunk"] = tuple(mark_base_noun_phrases(*sentence) for sentence in sentences)
        columns.pop("range", None)
        if paths[:-1]:
            columns["tag"] = _tag(columns["word"], tuple((path, os.stat(path).st_mtime_ns) for path in paths[:-1]))
        return replace(trees, columns=columns)

    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the chunks of one system, from columns of tokens."""
        return self._rows.read_outputs(path, system=system, options={})

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write three columns: word, tag and chunk."""
        self._rows.write(path, columns, ids)


def mark_base_noun_phrases(tags: Sequence[str], heads: Sequence[int], relations: Sequence[str]) -> tuple[str, ...]:
    """Return the base noun phrases of a tree as IOB2 tags: noun phrases that hold no other, without what follows their head.

    A phrase is its head with the determiners, adjectives, numbers and nouns that modify it and stand beside it, with what modifies
    those in turn, and with the other words of a name. As in the chunks of CoNLL-2000, a possessor is a phrase by itself, and its
    ``'s`` begins the next one: [Rockwell] ['s unit].

    Parameters
    ----------
    tags : sequence of str
        Universal part of speech of each word.
    heads : sequence of int
        Number of the word that each depends on, from 1; 0 for the root.
    relations : sequence of str
        Relation of each word to its head; subtypes are read where they matter.
    """
    plain = [relation.partition(":")[0] for relation in relations]
    children: list[list[int]] = [[] for _ in tags]
    for word, head in enumerate(heads):
        if head > 0:
            children[head - 1].append(word)
    chunks = ["O"] * len(tags)
    for word in range(len(tags)):
        if _is_head(word, tags, heads, relations, plain, children):
            inside, marks = _gather(word, relations, plain, children, tags)
            first = last = word
            while first > 0 and first - 1 in inside:
                first -= 1
            while plain[first] == "punct":  # the comma before an apposition is no part of it
                first += 1
            if first > 0 and first - 1 in marks:
                first -= 1
            while last + 1 < len(tags) and last + 1 in inside:
                last += 1
            if chunks[first : last + 1] == ["O"] * (last + 1 - first):
                chunks[first : last + 1] = ["B-NP"] + ["I-NP"] * (last - first)
    return tuple(chunks)


def _is_head(
    word: int,
    tags: Sequence[str],
    heads: Sequence[int],
    relations: Sequence[str],
    plain: Sequence[str],
    children: list[list[int]],
) -> bool:
    if relations[word] == "nmod:poss":
        return _mark_of_possession(word, plain, children) is not None
    first = word
    # The second of two modifiers is one too: the Bill and Melinda Gates Foundation.
    while plain[first] == "conj" and heads[first] > 0:
        first = heads[first] - 1
    if plain[first] in _BEFORE | _AFTER:
        return False
    return tags[word] in _NOMINAL or (tags[word] in _ALSO and plain[first] in _PLACES)


def _gather(
    head: int, relations: Sequence[str], plain: Sequence[str], children: list[list[int]], tags: Sequence[str]
) -> tuple[set[int], set[int]]:
    """Return the words that may be in the phrase of a head, and the marks of possession that may begin it."""
    inside, marks, waiting = {head}, set(), [head]
    while waiting:
        word = waiting.pop()
        for child in children[word]:
            if relations[child] == "nmod:poss":
                mark = _mark_of_possession(child, plain, children)
                if mark is not None:
                    marks.add(mark)
                    continue
                allowed = tags[child] in ("PRON", "DET")
            elif word == head:
                allowed = plain[child] in (_BEFORE if child < head else _AFTER)
                allowed |= child < head and plain[child] == "punct" and plain[child + 1] in _BEFORE
            else:
                allowed = plain[child] in _WITHIN
            if allowed:
                inside.add(child)
                waiting.append(child)
    return inside, marks


def _mark_of_possession(word: int, plain: Sequence[str], children: list[list[int]]) -> int | None:
    """Return the ``'s`` that follows a possessor."""
    return next((child for child in children[word] if child > word and plain[child] == "case"), None)


def _tag(sentences: Sequence[Sequence[str]], tagged: tuple[tuple[Path, int], ...]) -> Sequence[Sequence[str]]:
    """Return the tags that words have by a tagger that learnt from files of tagged sentences."""
    tagger, model = _learn(tagged)
    words = {"word": _in_lower_case(sentences)}
    return tagger.predict(model, TrainingItems(tuple(map(str, range(len(sentences)))), words))["tag"]


@lru_cache(maxsize=1)
def _learn(tagged: tuple[tuple[Path, int], ...]) -> tuple[Trainer, Any]:
    """Learn from files, once for each time they were written: a test set is read again for every output."""
    import numpy as np  # this module is imported wherever formats are recognised, which does not need it

    known = _installed("columns").read_gold([path for path, _ in tagged], {})
    assert known is not None
    columns = {"word": _in_lower_case(known.columns["word"]), "tag": known.columns["tag"]}
    (point,) = entry_points(group="pipeline.trainers", name="hmm-tagger")
    tagger: Trainer = point.load()()
    return tagger, tagger.fit(TrainingItems(known.ids, columns), np.arange(len(known)), seed=0, workdir=Path())


def _in_lower_case(sentences: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the words as spoken text may have them, which has no capitals."""
    return tuple(tuple(word.lower() for word in sentence) for sentence in sentences)


def _installed(name: str) -> Reader:
    (point,) = entry_points(group="pipeline.readers", name=name)
    reader: Reader = point.load()()
    return reader
