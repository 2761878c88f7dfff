"""chrF from summed n-gram counts: counted with sacreBLEU, scored in a compiled kernel."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import numpy as np
import sacrebleu
from numpy.typing import NDArray
from sacrebleu.metrics.chrf import CHRF

from pipeline.compiled.bare import bare_kernel
from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._columns import output_column, reference_columns
from pipeline.metrics.kernels import apply_kernel
from pipeline.options import check_count, check_flag, check_number

__all__ = ["Chrf"]


class Chrf(Metric):
    """Corpus chrF and chrF++ (Popović 2015, doi:10.18653/v1/W15-3049; 2017) as sacreBLEU computes them.

    Parameters
    ----------
    char_order, word_order : int
        Longest n-grams of characters and of words; ``word_order: 2`` is chrF++.
    beta : float
        Weight of recall.
    lowercase : bool
        Ignore case.
    whitespace : bool
        Keep white space in character n-grams.
    eps_smoothing : bool
        Smooth as NLTK and Moses do, instead of leaving out orders without n-grams.
    """

    name = "chrf"
    form: Literal["ratio", "general"] = "general"
    needs_of_outputs: tuple[str, ...] = ("text",)
    needs_of_gold: tuple[str, ...] = ("reference",)
    higher_is_better = True

    def __init__(
        self,
        *,
        char_order: int = 6,
        word_order: int = 0,
        beta: float = 2,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
    ) -> None:
        self.char_order = check_count("char_order", char_order, least=1, most=20)
        self.word_order = check_count("word_order", word_order, least=0, most=20)
        self.beta = check_number("beta", beta, above=0.0)
        self.lowercase = check_flag("lowercase", lowercase)
        self.whitespace = check_flag("whitespace", whitespace)
        self.eps_smoothing = check_flag("eps_smoothing", eps_smoothing)
        # As the field writes it; sacreBLEU writes the 2 of the usual beta too, chrF2.
        self.title = f"chrF{'' if self.beta == 2 else f'{self.beta:g}'}{'+' * self.word_order}"
        orders = [f"character.{n + 1}" for n in range(self.char_order)] + [f"word.{n + 1}" for n in range(self.word_order)]
        self.statistics: tuple[str, ...] = tuple(
            f"{order}.{part}" for order in orders for part in ("hypothesis", "reference", "match")
        )
        # A segment of L characters has max(L - n + 1, 0) n-grams of them; its words likewise.
        self.follows: Mapping[str, str] = {
            f"{kind}.{n}.{part}": f"{kind}.1.{part}"
            for kind, longest in (("character", self.char_order), ("word", self.word_order))
            for n in range(2, longest + 1)
            for part in ("hypothesis", "reference")
        }

    @property
    def signature(self) -> str:
        """Name with beta, case, orders, and the version of sacreBLEU."""
        case = "lc" if self.lowercase else "mixed"
        effective = "no" if self.eps_smoothing else "yes"
        space = "yes" if self.whitespace else "no"
        return (
            f"chrF{self.beta:g}{'+' * self.word_order}|case:{case}|eff:{effective}|nc:{self.char_order}|nw:{self.word_order}"
            f"|space:{space}|sacrebleu:{sacrebleu.__version__}"
        )

    def prepare(self, gold: Items | None) -> CHRF:
        """Count the n-grams of all references once."""
        references = reference_columns(self.name, gold)
        return CHRF(
            char_order=self.char_order,
            word_order=self.word_order,
            beta=self.beta,  # type: ignore[arg-type]  # declared int there, used as any number
            lowercase=self.lowercase,
            whitespace=self.whitespace,
            eps_smoothing=self.eps_smoothing,
            references=references,
        )

    def extract(self, prepared: CHRF, output: Items) -> Statistics:
        """Count the n-grams of each segment, against the reference on which it scores best."""
        rows = prepared._extract_corpus_statistics(output_column(self.name, output, "text"), None)
        return Statistics(np.array(rows, dtype=np.int64).reshape(-1, len(self.statistics)), (0,) * len(self.statistics))

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return chrF, 0 to 100, of summed counts."""
        if any(decimals):
            raise ValueError(f"the statistics of chrf are counts, decimals are {decimals}")
        return partial(_score, n_statistics=len(self.statistics), constants=(self.beta * self.beta, int(self.eps_smoothing)))


def _score(statistics: NDArray[Any], n_statistics: int, constants: tuple[float, ...]) -> NDArray[np.float64]:
    return apply_kernel(_chrf_kernel, statistics, n_statistics, *constants)


@bare_kernel(error_model="numpy")
def _chrf_kernel(statistics: NDArray[Any], out: NDArray[np.float64], factor: float, eps_smoothing: int) -> None:
    # The operations and their order are sacreBLEU's, so that the bits are too.
    n_orders = statistics.shape[0] // 3
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            smoothed = 0.0
            mean_precision = 0.0
            mean_recall = 0.0
            effective = 0
            for n in range(n_orders):
                hypothesis = np.float64(statistics[3 * n, i, j])
                reference = np.float64(statistics[3 * n + 1, i, j])
                match = np.float64(statistics[3 * n + 2, i, j])
                precision = match / hypothesis if hypothesis > 0.0 else 1e-16
                recall = match / reference if reference > 0.0 else 1e-16
                if eps_smoothing != 0:
                    denominator = factor * precision + recall
                    smoothed += ((1.0 + factor) * precision * recall / denominator) if denominator > 0.0 else 1e-16
                if hypothesis > 0.0 and reference > 0.0:
                    mean_precision += precision
                    mean_recall += recall
                    effective += 1
            if eps_smoothing != 0:
                out[i, j] = 100.0 * smoothed / n_orders
                continue
            if effective > 0:
                mean_precision /= effective
                mean_recall /= effective
            if mean_precision + mean_recall > 0.0:
                score = (1.0 + factor) * mean_precision * mean_recall
                score /= factor * mean_precision + mean_recall
                out[i, j] = 100.0 * score
            else:
                out[i, j] = 0.0
