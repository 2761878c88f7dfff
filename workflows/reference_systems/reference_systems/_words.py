"""Words as rows of numbers: what a tagger looks at in a word (itself, its affixes, its shape), interned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ATTRIBUTES", "Tokens", "WordTable", "flatten", "shape_of", "word_table"]

ATTRIBUTES = ("word", "lower", "prefix1", "prefix2", "prefix3", "suffix1", "suffix2", "suffix3", "suffix4", "shape")
"""What is looked at in a word; each has identifiers of its own."""

_UNSEEN, _BOUNDARY = 0, 1


class Tokens(NamedTuple):
    """Sentences laid end to end.

    Parameters
    ----------
    rows : (word, attribute) int32
        Attributes of each distinct word; row 0 is the boundary of a sentence.
    words : (token,) int32
        Row of each token.
    starts : (sentence + 1,) int64
        Where each sentence begins; the last entry is the number of tokens.
    """

    rows: NDArray[np.int32]
    words: NDArray[np.int32]
    starts: NDArray[np.int64]


@dataclass(frozen=True)
class WordTable:
    """Identifiers of the values of each attribute: 0 is a value not seen in training, 1 the boundary of a sentence."""

    identifiers: tuple[dict[str, int], ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of identifiers of each attribute, with the two that are always there."""
        return tuple(len(known) + 2 for known in self.identifiers)

    def tokens(self, sentences: Sequence[Sequence[str]]) -> Tokens:
        """Return the sentences as numbers."""
        words, starts, distinct = flatten(sentences)
        rows = np.full((len(distinct) + 1, len(self.identifiers)), _BOUNDARY, dtype=np.int32)
        for row, word in enumerate(distinct, start=1):
            rows[row] = [known.get(value, _UNSEEN) for known, value in zip(self.identifiers, _attributes(word), strict=True)]
        return Tokens(rows, words + np.int32(1), starts)


def word_table(words: Iterable[str]) -> WordTable:
    """Intern the attributes of the words of a training set; the order of the words does not matter."""
    values: list[set[str]] = [set() for _ in ATTRIBUTES]
    for word in set(words):
        for known, value in zip(values, _attributes(word), strict=True):
            known.add(value)
    return WordTable(tuple({value: k for k, value in enumerate(sorted(known), start=2)} for known in values))


def flatten(sentences: Sequence[Sequence[str]]) -> tuple[NDArray[np.int32], NDArray[np.int64], tuple[str, ...]]:
    """Return tokens as positions among the distinct ones, where each sentence begins, and the distinct ones in the order met.

    Examples
    --------
    >>> words, starts, distinct = flatten([("a", "b"), (), ("a",)])
    >>> words.tolist(), starts.tolist(), distinct
    ([0, 1, 0], [0, 2, 2, 3], ('a', 'b'))
    """
    number: dict[str, int] = {}
    words = [number.setdefault(word, len(number)) for sentence in sentences for word in sentence]
    starts = np.concatenate(([0], np.cumsum([len(sentence) for sentence in sentences], dtype=np.int64)))
    return np.array(words, dtype=np.int32), starts.astype(np.int64), tuple(number)


def shape_of(word: str) -> str:
    """Return the kinds of characters in a word, runs shortened to one.

    Examples
    --------
    >>> shape_of("Mid-1950s"), shape_of("UN")
    ('Xx-dx', 'X')
    """
    kinds: list[str] = []
    for character in word:
        kind = "d" if character.isdigit() else "X" if character.isupper() else "x" if character.isalpha() else character
        if not kinds or kinds[-1] != kind:
            kinds.append(kind)
    return "".join(kinds)


def _attributes(word: str) -> tuple[str, ...]:
    prefixes = (word[:length] for length in (1, 2, 3))
    suffixes = (word[-length:] for length in (1, 2, 3, 4))
    return (word, word.lower(), *prefixes, *suffixes, shape_of(word))
