"""BLEU from summed n-gram counts. This module counts with sacreBLEU and scores in a compiled kernel."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Literal

import numpy as np
import sacrebleu
from numba import njit
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU

from pipeline.interfaces import Items, ScoreFunction, Statistics
from pipeline.metrics._options import check_choice, check_flag, check_number, gold_columns, output_column
from pipeline.metrics.kernels import apply_kernel, exp, log

__all__ = ["Bleu"]

_SMOOTHINGS = ("none", "exp", "floor", "add-k")
_ORDER = 4


class Bleu:
    """Corpus BLEU (Papineni and others 2002, doi:10.3115/1073083.1073135) as sacreBLEU computes it.

    Parameters
    ----------
    tokenize : str
        A tokenizer of sacreBLEU: 13a, intl, char, zh, none, …
    lowercase : bool
        Ignore case.
    smooth : str
        What becomes of orders without a match: exp (halve again and again), floor, add-k, none.
    smooth_value : float, optional
        For floor (0.1) and add-k (1).
    effective_order : bool
        Use only orders for which the output has n-grams at all.
    """

    name = "bleu"
    form: Literal["ratio", "general"] = "general"
    higher_is_better = True
    statistics: tuple[str, ...] = (
        "hypothesis_length",
        "reference_length",
        *(f"correct.{n}" for n in range(1, _ORDER + 1)),
        *(f"total.{n}" for n in range(1, _ORDER + 1)),
    )

    def __init__(
        self,
        *,
        tokenize: str = "13a",
        lowercase: bool = False,
        smooth: str = "exp",
        smooth_value: float | None = None,
        effective_order: bool = False,
    ) -> None:
        self.tokenize = check_choice("tokenize", tokenize, tuple(BLEU.TOKENIZERS))
        self.lowercase = check_flag("lowercase", lowercase)
        self.smooth = check_choice("smooth", smooth, _SMOOTHINGS)
        self.effective_order = check_flag("effective_order", effective_order)
        default = BLEU.SMOOTH_DEFAULTS[self.smooth]
        if default is None and smooth_value is not None:
            raise ValueError(f"option 'smooth_value' has no meaning with smooth: {self.smooth}")
        self.smooth_value = float(default or 0.0) if smooth_value is None else check_number("smooth_value", smooth_value, above=0.0)

    @property
    def signature(self) -> str:
        """Name, tokenizer, case, smoothing and the version that counts; the number of references is known only with them."""
        value = f"[{self.smooth_value:.2f}]" if self.smooth in {"floor", "add-k"} else ""
        case = "lc" if self.lowercase else "mixed"
        effective = "yes" if self.effective_order else "no"
        return f"BLEU|tok:{self.tokenize}|case:{case}|eff:{effective}|smooth:{self.smooth}{value}|sacrebleu:{sacrebleu.__version__}"

    def prepare(self, gold: Items | None) -> BLEU:
        """Count the n-grams of all references once."""
        references = gold_columns(self.name, gold, "reference")
        return BLEU(
            tokenize=self.tokenize,
            lowercase=self.lowercase,
            smooth_method=self.smooth,
            smooth_value=self.smooth_value or None,
            effective_order=self.effective_order,
            force=True,  # texts that are tokenized already are the user's business
            references=references,
        )

    def extract(self, prepared: BLEU, output: Items) -> Statistics:
        """Count lengths, matched n-grams and n-grams of each segment."""
        rows = prepared._extract_corpus_statistics(output_column(self.name, output, "text"), None)
        return Statistics(np.array(rows, dtype=np.int64).reshape(-1, len(self.statistics)), (0,) * len(self.statistics))

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Give BLEU, 0 to 100, of summed counts; 0 where nothing matches, as sacreBLEU."""
        if any(decimals):
            raise ValueError(f"the statistics of bleu are counts, decimals are {decimals}")
        smoothing = _SMOOTHINGS.index(self.smooth)
        return partial(_score, constants=(smoothing, self.smooth_value, int(self.effective_order)))


def _score(statistics: NDArray[Any], constants: tuple[float, ...]) -> NDArray[np.float64]:
    return apply_kernel(_bleu_kernel, statistics, 2 + 2 * _ORDER, *constants)


@njit(nogil=True, cache=True, error_model="numpy")
def _bleu_kernel(
    statistics: NDArray[Any], out: NDArray[np.float64], smoothing: int, smooth_value: float, effective_order: int
) -> None:
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            any_match = False
            for n in range(4):
                any_match |= statistics[2 + n, i, j] != 0
            if not any_match:
                out[i, j] = 0.0
                continue
            product = 1.0  # of precisions; it stays 0 from the first order that has none
            order = 4
            halving = 1.0
            for n in range(4):
                correct: float = np.float64(statistics[2 + n, i, j])
                total: float = np.float64(statistics[6 + n, i, j])
                if smoothing == 3 and n > 0:
                    correct += smooth_value
                    total += smooth_value
                if total == 0.0:
                    # The output is shorter than this order: it counts as precision 0 unless the order is effective.
                    if effective_order == 0 or n == 0:
                        product = 0.0
                    break
                if effective_order != 0:
                    order = n + 1
                if correct == 0.0 and smoothing == 1:
                    halving *= 2.0
                    correct = 1.0 / halving
                elif correct == 0.0 and smoothing == 2:
                    correct = smooth_value
                product *= correct / total
            mean = product
            if product > 0.0:
                if order == 4:
                    mean = math.sqrt(math.sqrt(product))
                elif order == 3:
                    mean = exp(log(product) / 3.0)
                elif order == 2:
                    mean = math.sqrt(product)
            hypothesis_length = np.float64(statistics[0, i, j])
            reference_length = np.float64(statistics[1, i, j])
            if hypothesis_length < reference_length:
                brevity = exp(1.0 - reference_length / hypothesis_length) if hypothesis_length > 0.0 else 0.0
                mean *= brevity
            out[i, j] = 100.0 * mean
