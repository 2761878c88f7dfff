"""BLEU from summed n-gram counts: those that sacreBLEU counts, scored in a compiled kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel
from pipeline.compiled.small_work import FewSoFar, is_at_hand, plain_python
from pipeline.dataclass import dataclass
from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._bleu_estimate import LARGEST_ADDED, LEAST_ADDED, RELATIVE_ERROR, estimate
from pipeline.metrics._columns import output_column, reference_rows
from pipeline.metrics._ngram_matches import References
from pipeline.metrics._words import Splitter, check_tokenizer, splitting_version
from pipeline.metrics.kernels import INVERSE_LN2, apply_kernel, exp, exp_fraction, log
from pipeline.options import check_choice, check_flag, check_number

__all__ = ["Bleu"]

_SMOOTHINGS = ("none", "exp", "floor", "add-k")
_SMOOTH_VALUES = {"floor": 0.1, "add-k": 1.0}
"""What these take where nothing is said."""
_ORDER = 4
_TILE = 512  # replicates scored in one go; ten statistics of them fit the first-level cache
# Sums that NumPy scores within a millisecond, and within .3 s; the kernel is ten times as fast, takes three seconds to compile and
# .03 s to load, and is used after a sixteenth of the second number if it is on disk.
_is_little = FewSoFar(2**16, 2**26, at_hand=lambda: _is_at_hand())
_FEW_SPECIAL = 100  # outputs without a match in some order, which are scored one by one
_LEAST = -255.0  # 1 − reference / output down to which the brevity penalty, e to this power, is a normal number


class Bleu(Metric):
    """Corpus BLEU (Papineni and others 2002, doi:10.3115/1073083.1073135) as sacreBLEU computes it.

    Parameters
    ----------
    tokenize : str
        A tokenizer of sacreBLEU: 13a, intl, char, zh, none, …
    lowercase : bool
        Ignore case.
    smooth : str
        How to treat orders without a match: exp (half a match for the first, a quarter for the next, …), floor, add-k, none.
    smooth_value : float, optional
        For floor (0.1) and add-k (1).
    effective_order : bool
        Use only orders for which the output has n-grams at all.
    """

    name = "bleu"
    form: Literal["ratio", "general"] = "general"
    needs_of_outputs: tuple[str, ...] = ("text",)
    needs_of_gold: tuple[str, ...] = ("reference",)
    higher_is_better = True
    statistics: tuple[str, ...] = (
        "hypothesis_length",
        "reference_length",
        *(f"correct.{n}" for n in range(1, _ORDER + 1)),
        *(f"total.{n}" for n in range(1, _ORDER + 1)),
    )
    # A segment of L words has max(L - n + 1, 0) n-grams.
    follows: Mapping[str, str] = {f"total.{n}": "hypothesis_length" for n in range(1, _ORDER + 1)}

    def __init__(
        self,
        *,
        tokenize: str = "13a",
        lowercase: bool = False,
        smooth: str = "exp",
        smooth_value: float | None = None,
        effective_order: bool = False,
    ) -> None:
        self.tokenize = check_tokenizer(tokenize)
        self.lowercase = check_flag("lowercase", lowercase)
        self.smooth = check_choice("smooth", smooth, _SMOOTHINGS)
        self.effective_order = check_flag("effective_order", effective_order)
        default = _SMOOTH_VALUES.get(self.smooth)
        if default is None and smooth_value is not None:
            raise ValueError(f"option 'smooth_value' has no meaning with smooth: {self.smooth}")
        self.smooth_value = (default or 0.0) if smooth_value is None else check_number("smooth_value", smooth_value, above=0.0)

    @property
    def signature(self) -> str:
        """Name, tokenizer, case, smoothing and the version of sacreBLEU; the number of references is not part of it."""
        value = f"[{self.smooth_value:.2f}]" if self.smooth in {"floor", "add-k"} else ""
        case = "lc" if self.lowercase else "mixed"
        effective = "yes" if self.effective_order else "no"
        return f"BLEU|tok:{self.tokenize}|case:{case}|eff:{effective}|smooth:{self.smooth}{value}|sacrebleu:{splitting_version()}"

    def prepare(self, gold: Items | None) -> References:
        """Count the n-grams of all references once."""
        return References.count(self._split.rows(reference_rows(self.name, gold)), _ORDER)

    def extract(self, prepared: References, output: Items) -> Statistics:
        """Count lengths, matched n-grams and n-grams of each segment."""
        found = prepared.match(self._split(output_column(self.name, output, "text")))
        totals = np.maximum(found.lengths[:, None] - np.arange(_ORDER), 0)
        values = np.column_stack([found.lengths, found.nearest, found.matched, totals])
        return Statistics(values, (0,) * len(self.statistics))

    @property
    def _split(self) -> Splitter:
        return Splitter(self.tokenize, lowercase=self.lowercase)

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return BLEU, 0 to 100, of summed counts; 0 if nothing matches, as in sacreBLEU."""
        if any(decimals):
            raise ValueError(f"the statistics of bleu are counts, decimals are {decimals}")
        return _Score(_SMOOTHINGS.index(self.smooth), self.smooth_value, int(self.effective_order))


@dataclass(frozen=True)
class _Score:
    """BLEU of summed counts, in double precision or estimated."""

    smoothing: int
    smooth_value: float
    effective_order: int

    def __call__(self, statistics: NDArray[Any]) -> NDArray[np.float64]:
        kernel = _score_few if _is_little(np.size(statistics)) else _bleu_kernel
        return apply_kernel(kernel, statistics, 2 + 2 * _ORDER, self.smoothing, self.smooth_value, self.effective_order)

    @property
    def relative_error(self) -> float:
        """How far an estimate may be from the score, as a share of the estimate; infinite where there is no estimate."""
        added = self._added
        return RELATIVE_ERROR if added == 0.0 or LEAST_ADDED <= added < LARGEST_ADDED else np.inf

    def estimate_swaps(
        self, totals: NDArray[Any], moved: NDArray[Any], rows: NDArray[np.int64], start: int, out: NDArray[np.float32]
    ) -> None:
        """Score counts below 2^24 after swaps in single precision; nan where no bound is known."""
        estimate(totals, moved, rows, start, out, self._added)

    @property
    def _added(self) -> float:
        return self.smooth_value if _SMOOTHINGS[self.smoothing] == "add-k" else 0.0


def _is_at_hand() -> bool:
    return is_at_hand(_bleu_kernel, np.empty((2 + 2 * _ORDER, 1, 1)), np.empty((1, 1)), 1, 1.0, 1)


@bare_kernel(error_model="numpy")
def _bleu_kernel(
    statistics: NDArray[Any], out: NDArray[np.float64], smoothing: int, smooth_value: float, effective_order: int
) -> None:
    added = smooth_value if smoothing == 3 else 0.0
    power = np.empty(_TILE, np.int64)
    for i in range(out.shape[0]):
        for start in range(0, out.shape[1], _TILE):
            stop = min(start + _TILE, out.shape[1])
            if _score_ordinary(statistics, i, start, out[i, start:stop], added, power):
                continue
            for j in range(start, stop):
                if not _is_ordinary(statistics, i, j, added):
                    out[i, j] = _score_one(statistics, i, j, smoothing, smooth_value, effective_order)


def _score_few(
    statistics: NDArray[Any], out: NDArray[np.float64], smoothing: int, smooth_value: float, effective_order: int
) -> None:
    """Do what `_bleu_kernel` does in NumPy, operation by operation, and so with the same bits."""
    added = smooth_value if smoothing == 3 else 0.0
    sums = statistics.astype(np.float64, copy=False)
    hypothesis, reference, first, *others = sums
    more = [first, *(each + added for each in others[:3]), others[3], *(each + added for each in others[4:])]
    with np.errstate(all="ignore"):
        ratio = ((more[0] * more[1]) * (more[2] * more[3])) / ((more[4] * more[5]) * (more[6] * more[7]))
        brevity = 1.0 - reference / hypothesis
        x = np.where(brevity < 0.0, brevity, 0.0)
        x = np.where(x > _LEAST, x, _LEAST)
        k = np.ceil(x * INVERSE_LN2 - 0.5)
        two_to_the = ((k.astype(np.int64) + 1023) << 52).view(np.float64)
        out[:] = 100.0 * np.sqrt(np.sqrt(ratio)) * plain_python(exp_fraction)(x, k) * two_to_the
        ordinary = brevity >= _LEAST
        for each in more:
            ordinary &= each > 0
    special = np.argwhere(~ordinary)
    score_one = _score_one if len(special) > _FEW_SPECIAL else plain_python(_score_one)
    for i, j in special.tolist():
        out[i, j] = score_one(sums, i, j, smoothing, smooth_value, effective_order)


@kernel(error_model="numpy")
def _is_ordinary(statistics: NDArray[Any], i: int, j: int, added: float) -> bool:
    """Whether every order has n-grams and a match, and the output is not absurdly short: no rule for special cases applies."""
    any_zero = False
    for n in range(4):
        more = added if n > 0 else 0.0
        any_zero |= (not statistics[2 + n, i, j] + more > 0) | (not statistics[6 + n, i, j] + more > 0)
    return not any_zero and bool(1.0 - np.float64(statistics[1, i, j]) / np.float64(statistics[0, i, j]) >= _LEAST)


@kernel(error_model="numpy")
def _score_ordinary(
    statistics: NDArray[Any], i: int, start: int, out: NDArray[np.float64], added: float, power: NDArray[np.int64]
) -> bool:
    """Score all as if all were ordinary, and say whether all are: short loops without a branch, which vectorise.

    The fourth root of a product of precisions is √√ of one ratio: one division and no logarithm. The ratio is positive and
    finite only if no count is 0. The brevity penalty is `exp` of `kernels` with the same operations, so with its bits.
    """
    stop = start + len(out)
    # Rows, not a slice of two dimensions: the compiler must see that neighbours are neighbours.
    hypothesis, reference = statistics[0, i, start:stop], statistics[1, i, start:stop]
    correct_1, correct_2 = statistics[2, i, start:stop], statistics[3, i, start:stop]
    correct_3, correct_4 = statistics[4, i, start:stop], statistics[5, i, start:stop]
    total_1, total_2 = statistics[6, i, start:stop], statistics[7, i, start:stop]
    total_3, total_4 = statistics[8, i, start:stop], statistics[9, i, start:stop]
    for j in range(len(out)):
        first = np.float64(correct_1[j]) * (np.float64(correct_2[j]) + added)
        second = (np.float64(correct_3[j]) + added) * (np.float64(correct_4[j]) + added)
        out[j] = first * second
    ordinary: Any = 0
    for j in range(len(out)):
        first = np.float64(total_1[j]) * (np.float64(total_2[j]) + added)
        second = (np.float64(total_3[j]) + added) * (np.float64(total_4[j]) + added)
        ratio = out[j] / (first * second)
        ordinary += (ratio > 0.0) & (ratio < np.inf)
        out[j] = 100.0 * math.sqrt(math.sqrt(ratio))
    scaled: Any = 0
    for j in range(len(out)):
        brevity = 1.0 - np.float64(reference[j]) / np.float64(hypothesis[j])
        ordinary += brevity >= _LEAST
        x = brevity if brevity < 0.0 else 0.0
        x = x if x > _LEAST else _LEAST
        k = np.ceil(x * INVERSE_LN2 - 0.5)
        scaled += k < 0.0
        out[j] *= exp_fraction(x, k)
    if scaled:
        # Shorter than three quarters of the reference: what is left of e to the power of x is a power of two.
        two_to_the = power.view(np.float64)
        for j in range(len(out)):
            x = 1.0 - np.float64(reference[j]) / np.float64(hypothesis[j])
            x = x if x < 0.0 else 0.0
            x = x if x > _LEAST else _LEAST
            power[j] = (np.int64(np.ceil(x * INVERSE_LN2 - 0.5)) + 1023) << 52
        for j in range(len(out)):
            out[j] *= two_to_the[j]
    return bool(ordinary == 2 * len(out))


@kernel(error_model="numpy")
def _score_one(statistics: NDArray[Any], i: int, j: int, smoothing: int, smooth_value: float, effective_order: int) -> float:
    """Score sums of which some order has no match, by the rules of sacreBLEU."""
    any_match = False
    for n in range(4):
        any_match |= statistics[2 + n, i, j] != 0
    if not any_match:
        return 0.0
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
        mean *= exp(1.0 - reference_length / hypothesis_length) if hypothesis_length > 0.0 else 0.0
    return 100.0 * mean
