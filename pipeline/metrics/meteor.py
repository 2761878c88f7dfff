"""METEOR with exact and stem matches, scored from sums of matches and chunks or as the mean over items."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass
from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._columns import output_column, reference_rows
from pipeline.metrics._lattice import round_to_lattice
from pipeline.metrics._word_alignment import align_latest, align_with_fewest_chunks
from pipeline.metrics._words import Splitter, check_tokenizer, splitting_version
from pipeline.metrics.kernels import apply_kernel, exp, log, score_ratio
from pipeline.options import check_choice, check_flag, check_number

__all__ = ["Meteor"]

_ALIGNMENTS = {"fewest-chunks": align_with_fewest_chunks, "nltk": align_latest}
_AGGREGATES = ("statistics", "mean")
_COUNTS = ("matches", "hypothesis_length", "reference_length", "chunks")
_DECIMALS = 9
_LARGEST_POWER = 64
"""Whole powers up to this are multiplied out."""


@dataclass(frozen=True)
class Gold:
    """The words of the references of each item, and the function that gives the stem of a word."""

    references: tuple[tuple[tuple[str, ...], ...], ...]
    split: Splitter
    stem: Callable[[str], str]


class Meteor(Metric):
    """METEOR (Banerjee and Lavie 2005, https://aclanthology.org/W05-0909) with exact and stem matches; higher is better.

    With m matches in c chunks, h words in the output and r in the reference: F = m / (α r + (1 − α) h), which is P R / (α P + (1 −
    α) R), and the score is 100 · F · (1 − γ (c / m)^β). Synonyms and paraphrases are not matched.

    Parameters
    ----------
    alpha, beta, gamma : float
        Weight of recall, power and weight of the penalty for fragments. The defaults are those of the paper and of NLTK.
    aggregate : str
        ``statistics``: the score of the sums of m, h, r and c, as METEOR scores a system. ``mean``: the mean of items' scores.
    alignment : str
        How equal words are matched: ``fewest-chunks``, or the rule of ``nltk``.
    tokenize : str
        A tokenizer of sacreBLEU: 13a, intl, char, zh, none, …
    lowercase : bool
        Ignore case.
    """

    name = "meteor"
    needs_of_outputs: tuple[str, ...] = ("text",)
    needs_of_gold: tuple[str, ...] = ("reference",)
    higher_is_better = True

    def __init__(
        self,
        *,
        alpha: float = 0.9,
        beta: float = 3.0,
        gamma: float = 0.5,
        aggregate: str = "statistics",
        alignment: str = "fewest-chunks",
        tokenize: str = "13a",
        lowercase: bool = True,
    ) -> None:
        self.alpha, self.gamma = _check_share("alpha", alpha), _check_share("gamma", gamma)
        self.beta = check_number("beta", beta, above=0.0)
        self.aggregate = check_choice("aggregate", aggregate, _AGGREGATES)
        self.alignment = check_choice("alignment", alignment, tuple(_ALIGNMENTS))
        self.tokenize = check_tokenizer(tokenize)
        self.lowercase = check_flag("lowercase", lowercase)
        self.form: Literal["ratio", "general"] = "ratio" if self.aggregate == "mean" else "general"
        self.denominators: Literal["unknown", "own", "shared", "items"] = "shared" if self.aggregate == "mean" else "unknown"
        self.statistics: tuple[str, ...] = ("sum", "items") if self.aggregate == "mean" else _COUNTS

    @property
    def signature(self) -> str:
        """Name, matches, parameters, and the versions that split and stem."""
        case = "lc" if self.lowercase else "mixed"
        return (
            f"METEOR|match:exact,porter-nltk:{version('nltk')}|alpha:{self.alpha:g}|beta:{self.beta:g}|gamma:{self.gamma:g}"
            f"|aggregate:{self.aggregate}|alignment:{self.alignment}|tok:{self.tokenize}|case:{case}|sacrebleu:{splitting_version()}"
        )

    def prepare(self, gold: Items | None) -> Gold:
        """Split all references into words once."""
        from nltk.stem.porter import PorterStemmer  # here: NLTK takes seconds to import

        split = Splitter(self.tokenize, lowercase=self.lowercase)
        rows = tuple(tuple(map(tuple, row)) for row in split.rows(reference_rows(self.name, gold)))
        # Words are in lower case by now, or their case counts: stems that are in lower case would match across it.
        stem = partial(PorterStemmer().stem, to_lowercase=False)
        return Gold(rows, split, lru_cache(maxsize=1 << 17)(stem))

    def extract(self, prepared: Gold, output: Items) -> Statistics:
        """Count matches, words and chunks of each segment against the reference on which it scores best, or the first of these."""
        align = _ALIGNMENTS[self.alignment]
        texts = output_column(self.name, output, "text")
        counts = np.zeros((len(texts), len(_COUNTS)), dtype=np.int64)
        for k, (words, references) in enumerate(zip(prepared.split(texts), prepared.references, strict=True)):
            found = [(align(words, reference, prepared.stem), len(reference)) for reference in references]
            rows = np.array([(matches, len(words), length, chunks) for (matches, chunks), length in found], dtype=np.int64)
            counts[k] = rows[int(np.argmax(self._score(rows.T)))] if len(rows) > 1 else rows[0]
        if self.aggregate == "statistics":
            return Statistics(counts, (0,) * len(_COUNTS))
        lattice = round_to_lattice(self._score(counts.T) / 100.0, _DECIMALS)
        return Statistics(np.column_stack([lattice.values, np.ones_like(lattice.values)]), (_DECIMALS, 0), lattice.rounding_error)

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return METEOR, 0 to 100, of summed counts, or the mean of summed scores; 0 if nothing matches."""
        if self.aggregate == "mean":
            return partial(score_ratio, decimals=decimals, factor=100.0)
        if any(decimals):
            raise ValueError(f"the statistics of meteor are counts, decimals are {decimals}")
        return self._score

    def _score(self, counts: NDArray[Any]) -> NDArray[np.float64]:
        return apply_kernel(_meteor_kernel, counts, len(_COUNTS), self.alpha, self.beta, self.gamma)


def _check_share(option: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ValueError(f"option '{option}' is a number from 0 to 1, not {value!r}")
    return float(value)


@bare_kernel(error_model="numpy")
def _meteor_kernel(statistics: NDArray[Any], out: NDArray[np.float64], alpha: float, beta: float, gamma: float) -> None:
    whole = beta <= _LARGEST_POWER and beta == np.floor(beta)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            matches = np.float64(statistics[0, i, j])
            if matches == 0.0:
                out[i, j] = 0.0
                continue
            length = alpha * np.float64(statistics[2, i, j]) + (1.0 - alpha) * np.float64(statistics[1, i, j])
            fragments = np.float64(statistics[3, i, j]) / matches
            if whole:
                power = 1.0
                for _ in range(int(beta)):
                    power *= fragments
            else:
                power = exp(beta * log(fragments))
            out[i, j] = 100.0 * ((1.0 - gamma * power) * (matches / length))
