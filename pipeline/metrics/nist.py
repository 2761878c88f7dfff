"""NIST from summed information of matched n-grams, weighed by the whole reference set and scored in a kernel."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass
from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._columns import output_column, reference_rows
from pipeline.metrics._lattice import round_to_lattice
from pipeline.metrics._words import Splitter, check_tokenizer, splitting_version
from pipeline.metrics.kernels import INVERSE_LN2, ROOT_HALF, apply_kernel, exp, exp_fraction, log, log_parts
from pipeline.options import check_count, check_flag

__all__ = ["Nist"]

_DECIMALS = 7
"""Information is counted in 10⁻⁷ bits: a segment of thirty words has some 300 bits, and three million of them add exactly."""
_STEEPNESS = 4.2161736168316978  # ln 2 / (ln 1.5)²: an output of two thirds of the reference's length keeps half of its score

NGram = tuple[str, ...]


@dataclass(frozen=True)
class Gold:
    """Counts of the references of a test set.

    Parameters
    ----------
    largest : tuple of mapping
        For each item, how often each n-gram occurs in the reference that has it most often.
    lengths : tuple of int
        Mean length of the references of each item, times ``multiple``.
    multiple : int
        The least common multiple of the items' numbers of references.
    information : mapping
        Bits of each n-gram, from its counts over all references.
    """

    largest: tuple[Mapping[NGram, int], ...]
    lengths: tuple[int, ...]
    multiple: int
    information: Mapping[NGram, float]


class Nist(Metric):
    """NIST score (Doddington 2002, doi:10.3115/1289189.1289273) by the rules of mteval-v13a; higher is better.

    A matched n-gram counts the information of its last word after the others: log₂ of how often the others occur in the references,
    divided by how often the n-gram does. These weights come from all references of the whole test set, and resampling does not
    change them. The score is the sum over orders of the information divided by the number of n-grams of the output, times a penalty
    for outputs that are shorter than the mean reference.

    Parameters
    ----------
    tokenize : str
        A tokenizer of sacreBLEU: 13a, intl, char, zh, none, …
    lowercase : bool
        Ignore case; true by default, as in mteval-v13a without ``-c``.
    order : int
        Longest n-grams.
    """

    name = "nist"
    form: Literal["ratio", "general"] = "general"
    needs_of_outputs: tuple[str, ...] = ("text",)
    needs_of_gold: tuple[str, ...] = ("reference",)
    higher_is_better = True

    def __init__(self, *, tokenize: str = "13a", lowercase: bool = True, order: int = 5) -> None:
        self.tokenize = check_tokenizer(tokenize)
        self.lowercase = check_flag("lowercase", lowercase)
        self.order = check_count("order", order, least=1, most=9)
        orders = range(1, self.order + 1)
        self.statistics: tuple[str, ...] = (
            *(f"information.{n}" for n in orders),
            *(f"total.{n}" for n in orders),
            "hypothesis_length",
            "reference_length",
        )
        # A segment of L words has max(L - n + 1, 0) n-grams.
        self.follows: Mapping[str, str] = {
            **{f"total.{n}": "total.1" for n in range(2, self.order + 1)},
            "hypothesis_length": "total.1",
        }

    @property
    def signature(self) -> str:
        """Name, tokenizer, case, order, penalty, and the version that splits into words."""
        case = "lc" if self.lowercase else "mixed"
        return f"NIST|tok:{self.tokenize}|case:{case}|order:{self.order}|penalty:mteval-v13a|sacrebleu:{splitting_version()}"

    def prepare(self, gold: Items | None) -> Gold:
        """Count the n-grams of all references once, and weigh them."""
        split = Splitter(self.tokenize, lowercase=self.lowercase)
        rows = split.rows(reference_rows(self.name, gold))
        multiple = math.lcm(*map(len, rows)) if rows else 1
        every: Counter[NGram] = Counter()
        largest = []
        for row in rows:
            found: Counter[NGram] = Counter()
            for words in row:
                counts = Counter(_ngrams(words, self.order))
                every.update(counts)
                found |= counts
            largest.append(dict(found))
        lengths = tuple(sum(map(len, row)) * (multiple // len(row)) for row in rows)
        return Gold(tuple(largest), lengths, multiple, _weigh(every))

    def extract(self, prepared: Gold, output: Items) -> Statistics:
        """Add the information of matched n-grams of each segment by order; count its n-grams, and its words and the references'."""
        split = Splitter(self.tokenize, lowercase=self.lowercase)
        texts = output_column(self.name, output, "text")
        information = np.zeros((len(texts), self.order))
        counts = np.zeros((len(texts), self.order + 2), dtype=np.int64)
        for k, (words, largest, length) in enumerate(zip(split(texts), prepared.largest, prepared.lengths, strict=True)):
            for ngram, times in Counter(_ngrams(words, self.order)).items():
                matched = min(times, largest.get(ngram, 0))
                if matched:
                    information[k, len(ngram) - 1] += matched * prepared.information[ngram]
            counts[k, : self.order] = [max(len(words) - n, 0) for n in range(self.order)]
            counts[k, self.order :] = len(words) * prepared.multiple, length
        lattice = round_to_lattice(information, _DECIMALS)
        decimals = (_DECIMALS,) * self.order + (0,) * (self.order + 2)
        return Statistics(np.hstack([lattice.values, counts]), decimals, lattice.rounding_error)

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return NIST of summed statistics; nan if the references have no words."""
        finer = {decimals[n] - decimals[self.order + n] for n in range(self.order)}
        if len(finer) > 1 or decimals[-1] != decimals[-2]:
            raise ValueError(f"the statistics of nist are information and counts, each on one lattice; decimals are {decimals}")
        shift = finer.pop()
        constants = (float(10 ** max(-shift, 0)), float(10 ** max(shift, 0)))
        return partial(_score, n_statistics=len(self.statistics), constants=constants)


def _ngrams(words: Sequence[str], order: int) -> Iterator[NGram]:
    for n in range(1, order + 1):
        yield from zip(*(words[k:] for k in range(n)), strict=False)


def _weigh(every: Mapping[NGram, int]) -> dict[NGram, float]:
    """Return the information of each n-gram; that of a word is of its share among all words."""
    words = sum(times for ngram, times in every.items() if len(ngram) == 1)
    # The log of the kernels, so that the bits are the same on every machine.
    return {ngram: log((every[ngram[:-1]] if len(ngram) > 1 else words) / times) * INVERSE_LN2 for ngram, times in every.items()}


def _score(statistics: NDArray[Any], n_statistics: int, constants: tuple[float, ...]) -> NDArray[np.float64]:
    return apply_kernel(_nist_kernel, statistics, n_statistics, *constants)


@bare_kernel(error_model="numpy")
def _nist_kernel(statistics: NDArray[Any], out: NDArray[np.float64], scale: float, total_scale: float) -> None:
    order = (statistics.shape[0] - 2) // 2
    for i in range(out.shape[0]):
        score = out[i]
        score[:] = 0.0
        for n in range(order):
            _add_order(statistics[n, i], statistics[order + n, i], score, scale, total_scale)
        if not _penalise_ordinary(statistics[2 * order, i], statistics[2 * order + 1, i], score):
            _penalise_rest(statistics[2 * order, i], statistics[2 * order + 1, i], score)


@kernel(error_model="numpy")
def _add_order(
    information: NDArray[Any], ngrams: NDArray[Any], score: NDArray[np.float64], scale: float, total_scale: float
) -> None:
    """Add the information of an n-gram; where there is none of this order, nothing. No branch, so that it vectorises."""
    for j in range(len(score)):
        total = np.float64(ngrams[j]) * total_scale
        some = total > 0.0
        share = (np.float64(information[j]) * scale) / (total if some else 1.0)
        score[j] += share if some else 0.0


@kernel(error_model="numpy")
def _penalise_ordinary(output_length: NDArray[Any], reference_length: NDArray[Any], score: NDArray[np.float64]) -> bool:
    """Penalise all that are about as long as the references, and say whether all are: a loop that vectorises.

    Where the logarithm takes no power of two out of the ratio, and `exp` at most one half, both have the operations of `log` and
    `exp` of `kernels`, and so their bits.
    """
    ordinary: Any = 0
    for j in range(len(score)):
        ratio = np.float64(output_length[j]) / np.float64(reference_length[j])
        fits = (ratio >= ROOT_HALF) & (ratio < np.inf)  # not where it is nan
        ordinary += fits
        f, less = log_parts(ratio if fits and ratio < 1.0 else 1.0)
        distance = f - less
        x = -_STEEPNESS * (distance * distance)
        k = -1.0 if x * INVERSE_LN2 - 0.5 <= -1.0 else 0.0
        penalty = exp_fraction(x, k) * (0.5 if k < 0.0 else 1.0)
        score[j] *= penalty if fits else 1.0
    return bool(ordinary == len(score))


@kernel(error_model="numpy")
def _penalise_rest(output_length: NDArray[Any], reference_length: NDArray[Any], score: NDArray[np.float64]) -> None:
    """Penalise outputs that are much shorter; without words in the references there is no score."""
    for j in range(len(score)):
        if np.float64(reference_length[j]) == 0.0:
            score[j] = np.nan
            continue
        ratio = np.float64(output_length[j]) / np.float64(reference_length[j])
        if ratio <= 0.0:
            score[j] = 0.0
        elif not ratio >= ROOT_HALF:
            distance = log(ratio)
            score[j] *= exp(-_STEEPNESS * (distance * distance))
