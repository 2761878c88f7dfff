"""ROUGE as the mean over items, scored with the package rouge-score and put on a decimal lattice."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from importlib.metadata import version
from typing import Any, Literal

import numpy as np

from pipeline.dataclass import dataclass
from pipeline.errors import DataError
from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._columns import output_column, reference_rows
from pipeline.metrics._lattice import round_to_lattice
from pipeline.metrics.kernels import score_ratio
from pipeline.options import check_choice, check_flag

__all__ = ["Rouge1", "Rouge2", "RougeL", "RougeLsum"]

_MEASURES = {"f": "fmeasure", "precision": "precision", "recall": "recall"}
_DECIMALS = 9
"""Scores from 0 to 1 keep nine decimals: the sums of nine million items are exact, and ties of items are ties."""


@dataclass(frozen=True)
class Gold:
    """The references of each item, split into words once, and the object that scores them."""

    references: tuple[tuple[str, ...], ...]
    scorer: Any


class _Tokenizer:
    """The words of the package, each reference split once and each word stemmed once."""

    def __init__(self, known: Iterable[str], *, stemmer: bool) -> None:
        from nltk.stem.porter import PorterStemmer
        from rouge_score.tokenize import tokenize

        self._split = partial(tokenize, stemmer=_Stems(PorterStemmer()) if stemmer else None)
        self._known: dict[str, list[str]] = {text: self._split(text) for text in known}

    def tokenize(self, text: str) -> list[str]:
        """Return the words of a text."""
        found = self._known.get(text)
        return self._split(text) if found is None else found


class _Stems:
    """A stemmer that remembers."""

    def __init__(self, stemmer: Any) -> None:
        self.stem = lru_cache(maxsize=1 << 17)(stemmer.stem)


class _Rouge(Metric):
    """What the four scores share: they differ in what the package is asked for.

    The package is imported where it is used: with NLTK it takes seconds.
    """

    name: str
    kind: str
    form: Literal["ratio", "general"] = "ratio"
    needs_of_outputs: tuple[str, ...] = ("text",)
    needs_of_gold: tuple[str, ...] = ("reference",)
    denominators: Literal["unknown", "own", "shared", "items"] = "shared"
    higher_is_better = True
    factor = 100.0
    statistics: tuple[str, ...] = ("sum", "items")

    def __init__(self, *, stemmer: bool = False, measure: str = "f") -> None:
        self.stemmer = check_flag("stemmer", stemmer)
        self.measure = check_choice("measure", measure, tuple(_MEASURES))

    @property
    def signature(self) -> str:
        """Name, measure, stemmer, and the versions that count."""
        stemmer = f"porter-nltk:{version('nltk')}" if self.stemmer else "no"
        return f"{self.name}|measure:{self.measure}|stemmer:{stemmer}{self._parts()}|rouge-score:{version('rouge-score')}"

    def prepare(self, gold: Items | None) -> Gold:
        """Split the references into words once.

        Raises
        ------
        DataError
            P225, where there are references and none has a word that ROUGE counts.
        """
        from rouge_score.rouge_scorer import RougeScorer

        rows = tuple(tuple(map(self._mark, row)) for row in reference_rows(self.name, gold))
        known = {part for row in rows for text in row for part in (text, *text.split("\n"))}
        tokenizer = _Tokenizer(known, stemmer=self.stemmer)
        if any(map(str.strip, known)) and not any(map(tokenizer.tokenize, known)):
            raise DataError.of(
                "P225",
                f"{self.name} counts words of the letters a to z and of digits, and no reference has one",
                where=gold.source if gold is not None else None,
                help="ROUGE is for English: take a metric of characters, or one whose tokenizer knows the language",
            )
        return Gold(rows, RougeScorer([self.kind], tokenizer=tokenizer))

    def extract(self, prepared: Gold, output: Items) -> Statistics:
        """Score each item against the reference on which its F is highest, on a lattice of nine decimals, and give 1 with it."""
        field = _MEASURES[self.measure]
        scores = [
            getattr(prepared.scorer.score_multi(references, self._mark(text))[self.kind], field)
            for text, references in zip(output_column(self.name, output, "text"), prepared.references, strict=True)
        ]
        lattice = round_to_lattice(np.array(scores, dtype=np.float64), _DECIMALS)
        values = np.column_stack([lattice.values, np.ones(len(scores), dtype=np.int64)])
        return Statistics(values, (_DECIMALS, 0), lattice.rounding_error)

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return the mean over items, 0 to 100."""
        return partial(score_ratio, decimals=decimals, factor=self.factor)

    def _mark(self, text: str) -> str:
        """Return a text as the package takes it."""
        return text

    def _parts(self) -> str:
        return ""


class Rouge1(_Rouge):
    """ROUGE-1 (Lin 2004, https://aclanthology.org/W04-1013) as rouge-score computes it: words in common, mean over items.

    Parameters
    ----------
    stemmer : bool
        Reduce words of more than three letters to their stems, by Porter's rules.
    measure : str
        ``f``, ``precision`` or ``recall``.
    """

    name = "rouge-1"
    kind = "rouge1"


class Rouge2(_Rouge):
    """ROUGE-2 (Lin 2004, https://aclanthology.org/W04-1013) as rouge-score computes it: pairs of words in common, mean over items.

    Parameters
    ----------
    stemmer : bool
        Reduce words of more than three letters to their stems, by Porter's rules.
    measure : str
        ``f``, ``precision`` or ``recall``.
    """

    name = "rouge-2"
    kind = "rouge2"


class RougeL(_Rouge):
    """ROUGE-L (Lin 2004, https://aclanthology.org/W04-1013) as rouge-score computes it: the longest common subsequence of words.

    The whole text is one sequence; ``rouge-lsum`` compares sentences.

    Parameters
    ----------
    stemmer : bool
        Reduce words of more than three letters to their stems, by Porter's rules.
    measure : str
        ``f``, ``precision`` or ``recall``.
    """

    name = "rouge-l"
    kind = "rougeL"


class RougeLsum(_Rouge):
    r"""ROUGE-L of summaries (Lin 2004, https://aclanthology.org/W04-1013, section 3.2) as rouge-score computes it, by sentences.

    Parameters
    ----------
    stemmer : bool
        Reduce words of more than three letters to their stems, by Porter's rules.
    measure : str
        ``f``, ``precision`` or ``recall``.
    separator : str
        The mark between two sentences of a text; a line feed by default.
    """

    name = "rouge-lsum"
    kind = "rougeLsum"

    def __init__(self, *, stemmer: bool = False, measure: str = "f", separator: str = "\n") -> None:
        super().__init__(stemmer=stemmer, measure=measure)
        if not isinstance(separator, str) or not separator:
            raise ValueError(f"option 'separator' is what stands between sentences, not {separator!r}")
        self.separator = separator

    def _mark(self, text: str) -> str:
        return text if self.separator == "\n" else text.replace("\n", " ").replace(self.separator, "\n")

    def _parts(self) -> str:
        return "|sentences:" + ("lines" if self.separator == "\n" else repr(self.separator))
