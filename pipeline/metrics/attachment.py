"""Attachment scores in percent: words with the right head (UAS), and the right relation too (LAS).

Outputs have the words of the gold, or words of their own that are aligned with those of the gold: a column ``aligned`` then has the
number of the gold word in its sentence, 0 for none, and heads are numbers of gold words, -1 for none.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import partial
from itertools import accumulate, chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._columns import check_tokens, gold_columns, output_column
from pipeline.metrics.kernels import score_ratio
from pipeline.options import check_flag

__all__ = ["Las", "Uas"]

_RULES = "aligned:conll18"


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
        Numbers of relations; empty if they are not compared.
    number : mapping of str to int
        Of each relation of the gold.
    firsts : (sentence + 1,) int64
        Words before each sentence, and before the end.
    """

    items: Items
    counted: NDArray[np.bool_]
    heads: NDArray[np.int64]
    relations: NDArray[np.int64]
    number: dict[str, int]
    firsts: NDArray[np.int64]


class _Attachment(Metric):
    """What the two scores share."""

    name: str
    form: Literal["ratio", "general"] = "ratio"
    needs_of_outputs: tuple[str, ...] = ("head",)
    needs_of_gold: tuple[str, ...] = ("head", "word")
    higher_is_better = True
    factor = 200.0
    statistics: tuple[str, ...] = ("correct", "gold_and_system_words")
    with_relations: bool
    subtypes = False

    def __init__(self, *, punctuation: bool = True) -> None:
        self.punctuation = check_flag("punctuation", punctuation)

    @property
    def signature(self) -> str:
        """Name, whether punctuation counts, and how words are aligned."""
        return f"{self.name}|punctuation:{'yes' if self.punctuation else 'no'}|{_RULES}|unit:percent"

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
            _count_before(words),
        )

    def extract(self, prepared: Gold, output: Items) -> Statistics:
        """Count the words of each sentence that are attached rightly, and those of gold and output together.

        A sentence that lacks counts like one whose words are all there, and wrong: `missing: zero` gives no points for silence.
        """
        columns = ["head", "relation"] if self.with_relations else ["head"]
        if "aligned" in output.columns:
            for column in columns:
                output_column(self.name, output, column)
            return Statistics(self._count_aligned(prepared, output), (0, 0))
        for column in columns:
            check_tokens(self.name, prepared.items, output, column)
        right = prepared.counted & (_flatten(self._filled(prepared, output, "head", -1)) == prepared.heads)
        if self.with_relations:
            right &= self._numbers(prepared, output, self._filled(prepared, output, "relation", "")) == prepared.relations
        correct, words = (_sum_by(flags, prepared.firsts) for flags in (right, prepared.counted))
        return Statistics(np.column_stack([correct, 2 * words]), (0, 0))

    def _count_aligned(self, prepared: Gold, output: Items) -> NDArray[np.int64]:
        """Count over the words of an output that has its own: a word is right if it is aligned, and its head is."""
        firsts = _count_before(output.columns["word"])
        number = _flatten(output.columns["aligned"])
        is_aligned = number > 0
        place = np.where(is_aligned, np.repeat(prepared.firsts[:-1], np.diff(firsts)) + number - 1, 0)
        right = is_aligned & (_flatten(output.columns["head"]) == prepared.heads[place])
        if self.with_relations:
            right &= self._numbers(prepared, output, output.columns["relation"]) == prepared.relations[place]
        counted = np.where(is_aligned, prepared.counted[place], True)
        if not self.punctuation:
            words = zip(chain.from_iterable(output.columns["word"]), is_aligned, strict=True)
            counted[~is_aligned] = [not _is_punctuation(word) for word, aligned in words if not aligned]
        both = _sum_by(prepared.counted, prepared.firsts) + _sum_by(counted, firsts)
        return np.column_stack([_sum_by(right & counted, firsts), both])

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return the score in percent of summed counts; nan where no word is counted."""
        return partial(score_ratio, decimals=decimals, factor=self.factor)

    def _universal(self, relation: str) -> str:
        return relation if self.subtypes else relation.split(":", 1)[0]

    def _numbers(self, prepared: Gold, output: Items, relations: Sequence[Sequence[str]]) -> NDArray[np.int64]:
        """Return the number of each relation, -1 for those that the gold never has."""
        there = set(chain.from_iterable(output.columns["relation"]))
        known = {name: prepared.number.get(self._universal(name), -1) for name in there}
        return np.array([known.get(name, -1) for name in chain.from_iterable(relations)], dtype=np.int64)

    def _filled(self, prepared: Gold, output: Items, column: str, blank: Any) -> Sequence[Sequence[Any]]:
        """Return a column of the output, with a wrong value for every word of a sentence that it lacks."""
        values: Sequence[Any] = output_column(self.name, output, column)
        if all(values):
            return values
        words = prepared.items.columns["word"]
        return [value or (blank,) * len(sentence) for value, sentence in zip(values, words, strict=True)]


class Uas(_Attachment):
    """Unlabelled attachment score: F1 of words whose head is that of the gold, in percent.

    The score is 200 · correct / (words of the gold + words of the system), as in the shared tasks of 2017 and 2018 (Zeman and
    others 2018, doi:10.18653/v1/K18-2001); where the words are those of the gold it is the share of words attached rightly.

    Parameters
    ----------
    punctuation : bool
        Whether words all of whose characters are punctuation (Unicode categories P) count; true by default. A word of the system
        that is aligned goes by its gold word, any other by its own form. The shared task CoNLL-X left punctuation out (Buchholz and
        Marsi 2006, https://aclanthology.org/W06-2920).
    """

    name = "uas"
    with_relations = False


class Las(_Attachment):
    """Labelled attachment score: F1 of words whose head and relation are those of the gold, in percent.

    The score is 200 · correct / (words of the gold + words of the system), as in the shared tasks of 2017 and 2018 (Zeman and
    others 2018, doi:10.18653/v1/K18-2001); where the words are those of the gold it is the share of words attached rightly.

    Parameters
    ----------
    punctuation : bool
        Whether words all of whose characters are punctuation (Unicode categories P) count; true by default. A word of the system
        that is aligned goes by its gold word, any other by its own form. The shared task CoNLL-X left punctuation out (Buchholz and
        Marsi 2006, https://aclanthology.org/W06-2920).
    subtypes : bool
        Whether ``nmod:poss`` differs from ``nmod``; false by default, as in the shared tasks of 2017 and 2018, which compared what
        stands before the colon. With true, a parser that writes no subtypes is wrong wherever the gold has one.
    """

    name = "las"
    with_relations = True
    needs_of_outputs = ("head", "relation")
    needs_of_gold = ("head", "word", "relation")

    def __init__(self, *, punctuation: bool = True, subtypes: bool = False) -> None:
        super().__init__(punctuation=punctuation)
        self.subtypes = check_flag("subtypes", subtypes)

    @property
    def signature(self) -> str:
        """Name, whether punctuation and subtypes of relations count, and how words are aligned."""
        flags = (
            f"{key}:{'yes' if flag else 'no'}" for key, flag in (("punctuation", self.punctuation), ("subtypes", self.subtypes))
        )
        return f"{self.name}|{'|'.join(flags)}|{_RULES}|unit:percent"


def _is_punctuation(word: str) -> bool:
    return all(unicodedata.category(character)[0] == "P" for character in word)


def _flatten(values: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    return np.fromiter(chain.from_iterable(values), dtype=np.int64)


def _count_before(sentences: Sequence[Sequence[Any]]) -> NDArray[np.int64]:
    """Return the words before each sentence, and before the end."""
    return np.fromiter(accumulate(map(len, sentences), initial=0), dtype=np.int64, count=len(sentences) + 1)


def _sum_by(flags: NDArray[np.bool_], firsts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the flags that are set from each first word to the next."""
    running = np.concatenate([[0], np.cumsum(flags, dtype=np.int64)])
    upto: NDArray[np.int64] = running[firsts]
    return np.diff(upto)
