"""Attachment scores in percent. This module counts words that have the right head (UAS), and the right relation too (LAS)."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import Items, ScoreFunction, Statistics
from pipeline.metrics._options import check_flag, check_tokens, gold_columns, output_column
from pipeline.metrics.kernels import score_ratio

__all__ = ["Las", "Uas"]


@dataclass(frozen=True, eq=False)
class Gold:
    """The gold trees as one row of words.

    Parameters
    ----------
    items : Items
    counted : (word,) bool
        Whether a word is scored.
    heads : (word,) int64
    relations : (word,) int64
        Numbers of relations; empty where they are not compared.
    number : mapping of str to int
        Of each relation of the gold.
    ends : (sentence,) int64
        Words up to the end of each sentence.
    """

    items: Items
    counted: NDArray[np.bool_]
    heads: NDArray[np.int64]
    relations: NDArray[np.int64]
    number: dict[str, int]
    ends: NDArray[np.int64]


class _Attachment:
    """What the two scores share."""

    name: str
    form: Literal["ratio", "general"] = "ratio"
    higher_is_better = True
    factor = 100.0
    statistics: tuple[str, ...] = ("correct", "words")
    with_relations: bool
    subtypes = True

    def __init__(self, *, punctuation: bool = True) -> None:
        self.punctuation = check_flag("punctuation", punctuation)

    @property
    def signature(self) -> str:
        """Name, and whether punctuation counts."""
        return f"{self.name}|punctuation:{'yes' if self.punctuation else 'no'}|unit:percent"

    def prepare(self, gold: Items | None) -> Gold:
        """Put the gold trees into arrays."""
        heads: Sequence[Any] = gold_columns(self.name, gold, "head")[0]
        words = gold_columns(self.name, gold, "word")[0]
        relations = gold_columns(self.name, gold, "relation")[0] if self.with_relations else ()
        assert gold is not None
        number: dict[str, int] = {}
        numbers = [number.setdefault(self._universal(name), len(number)) for name in chain.from_iterable(relations)]
        counted = [self.punctuation or not _is_punctuation(word) for word in chain.from_iterable(words)]
        return Gold(
            gold,
            np.array(counted, dtype=np.bool_),
            _flatten(heads),
            np.array(numbers, dtype=np.int64),
            number,
            np.cumsum([len(sentence) for sentence in words], dtype=np.int64),
        )

    def extract(self, prepared: Gold, output: Items) -> Statistics:
        """Count the words of each sentence, and those that are attached rightly; a sentence that lacks has none."""
        columns = ["head", "relation"] if self.with_relations else ["head"]
        for column in columns:
            check_tokens(self.name, prepared.items, output, column)
        right = prepared.counted & (_flatten(self._filled(prepared, output, "head", -1)) == prepared.heads)
        if self.with_relations:
            known = {
                name: prepared.number.get(self._universal(name), -1)
                for name in set(chain.from_iterable(output.columns["relation"]))
            }
            names = chain.from_iterable(self._filled(prepared, output, "relation", ""))
            right &= np.array([known.get(name, -1) for name in names], dtype=np.int64) == prepared.relations
        return Statistics(np.column_stack([_sum_by(right, prepared.ends), _sum_by(prepared.counted, prepared.ends)]), (0, 0))

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Give the score in percent of summed counts; nan where no word is counted."""
        return partial(score_ratio, decimals=decimals, factor=self.factor)

    def _universal(self, relation: str) -> str:
        return relation if self.subtypes else relation.split(":", 1)[0]

    def _filled(self, prepared: Gold, output: Items, column: str, blank: Any) -> Sequence[Sequence[Any]]:
        """Give a column of the output, with a wrong value for every word of a sentence that it lacks."""
        values: Sequence[Any] = output_column(self.name, output, column)
        if all(values):
            return values
        words = prepared.items.columns["word"]
        return [value or (blank,) * len(sentence) for value, sentence in zip(values, words, strict=True)]


class Uas(_Attachment):
    """Unlabelled attachment score: the share of words whose head is that of the gold, in percent.

    Parameters
    ----------
    punctuation : bool
        Whether words all of whose characters are punctuation (Unicode categories P) count; true by default. The shared task
        CoNLL-X left them out (Buchholz and Marsi 2006, https://aclanthology.org/W06-2920).
    """

    name = "uas"
    with_relations = False


class Las(_Attachment):
    """Labelled attachment score: the share of words whose head and relation are those of the gold, in percent.

    Parameters
    ----------
    punctuation : bool
        Whether words all of whose characters are punctuation (Unicode categories P) count; true by default. The shared task
        CoNLL-X left them out (Buchholz and Marsi 2006, https://aclanthology.org/W06-2920).
    subtypes : bool
        Whether ``nmod:poss`` differs from ``nmod``; true by default. The shared tasks of 2017 and 2018 compared what stands before
        the colon (Zeman and others 2018, doi:10.18653/v1/K18-2001).
    """

    name = "las"
    with_relations = True

    def __init__(self, *, punctuation: bool = True, subtypes: bool = True) -> None:
        super().__init__(punctuation=punctuation)
        self.subtypes = check_flag("subtypes", subtypes)

    @property
    def signature(self) -> str:
        """Name, and whether punctuation counts and subtypes are told apart."""
        flags = (
            f"{key}:{'yes' if flag else 'no'}" for key, flag in (("punctuation", self.punctuation), ("subtypes", self.subtypes))
        )
        return f"{self.name}|{'|'.join(flags)}|unit:percent"


def _is_punctuation(word: str) -> bool:
    return all(unicodedata.category(character)[0] == "P" for character in word)


def _flatten(values: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    return np.fromiter(chain.from_iterable(values), dtype=np.int64)


def _sum_by(flags: NDArray[np.bool_], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the flags that are set up to each end, since the end before."""
    running = np.concatenate([[0], np.cumsum(flags, dtype=np.int64)])
    upto: NDArray[np.int64] = running[np.concatenate([[0], ends])]
    return upto[1:] - upto[:-1]
