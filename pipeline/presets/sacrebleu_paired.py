"""The paired tests of sacreBLEU 2.6, number for number: its draws, its counts, and its own functions for scores.

Both draw from a new `default_rng(seed)` of NumPy for every system, so all systems get the same samples. Given the same statistics,
seed, NumPy and C library, p-values, means and half widths are those that the tool prints, bit for bit: sums are added in float32 in
the order of the draws, and the tool scores each row from the number type that it has there: Python's for the test set, int64 after
swaps, float32 after resampling. With another library a score may differ in its last bit, and a p-value by 1/(b + 1) for each
comparison that depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.base import Metric as ToolMetric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from pipeline.compiled import kernel
from pipeline.dataclass import dataclass
from pipeline.interfaces import Metric, PresetData, PresetNumbers
from pipeline.metrics.bleu import Bleu
from pipeline.metrics.chrf import Chrf
from pipeline.metrics.ter import Ter

__all__ = [
    "SEED",
    "PairedResults",
    "RowScore",
    "bootstrap",
    "format_p",
    "paired_bootstrap",
    "paired_randomization",
    "randomization",
    "row_score",
]

RowScore = Callable[[Sequence[Any] | NDArray[Any]], Any]
"""The score, in percent, of one row of summed statistics, whose numbers may be Python's, int64, float64 or float32."""

SEED = 12345
"""The seed of sacreBLEU if the environment variable SACREBLEU_SEED is not set."""

DRAWN_BYTES = 2**30
"""For the draws that the tool makes at once."""

SYSTEMS = 32
"""How many systems' statistics are held at a time, beside the baseline's."""

_EXACT = 2.0**53
_ROWS = 1024  # masks that are held as numbers at a time


@dataclass(frozen=True, eq=False)
class PairedResults:
    """What the tool prints, one entry for each system; the first is the baseline.

    Parameters
    ----------
    score : (system,) float64
    p : (system,) float64
        Against the baseline, which has nan.
    mean, half_width : (system,) float64
        Of the system's own bootstrap scores: their mean, and half the distance of their 2.5 and 97.5 % order statistics; nan
        where none were drawn.
    """

    score: NDArray[np.float64]
    p: NDArray[np.float64]
    mean: NDArray[np.float64]
    half_width: NDArray[np.float64]


def bootstrap(data: PresetData) -> PresetNumbers:
    """Return the p of ``--paired-bs`` for all pairs with the baseline."""

    def test(statistics: NDArray[Any], score: RowScore) -> PairedResults:
        return paired_bootstrap(statistics, score=score, replicates=data.replicates, seed=data.seed)

    return _against_baseline(data, test, width=8)


def randomization(data: PresetData) -> PresetNumbers:
    """Return the p of ``--paired-ar`` for all pairs with the baseline."""

    def test(statistics: NDArray[Any], score: RowScore) -> PairedResults:
        return paired_randomization(statistics, score=score, trials=data.replicates, seed=data.seed)

    return _against_baseline(data, test, width=1)


def row_score(metric: ToolMetric) -> RowScore:
    """Return the score of rows of sums as a metric of sacreBLEU computes it.

    Examples
    --------
    >>> round(row_score(BLEU())([10, 12, 8, 6, 4, 2, 10, 9, 8, 7]), 6)
    43.014638
    """
    # Smoothing by add-k writes into a row; nobody looks at it again.
    return lambda row: metric._compute_score_from_stats(row).score  # type: ignore[arg-type]  # declared a list, used as any row


def paired_bootstrap(
    statistics: NDArray[np.generic], *, score: RowScore, replicates: int = 1000, seed: int = SEED
) -> PairedResults:
    """Test every system against the first as ``sacrebleu --paired-bs`` does.

    p = (#(|δ*| − mean |δ*| > |δ|) + 1)/(b + 1). It is the convention ``riezler-maxwell`` with a strict >.

    Parameters
    ----------
    statistics : (unit, system, statistic) int64 or float64
        As sacreBLEU extracts them; at least two statistics.
    score : RowScore
    replicates : int, optional
        b.
    seed : int, optional
        Above 0: the tool takes 0 for "no seed", and its numbers cannot be repeated.
    """
    units = _check(statistics, replicates, seed)
    drawn = np.random.default_rng(seed).choice(units, size=(replicates, units), replace=True)
    observed, stars = _score_observed(statistics, score), _score_samples(statistics, drawn, score)
    p = np.full(len(observed), np.nan)
    for system in range(1, len(observed)):
        sizes = np.abs(stars[system] - stars[0])
        p[system] = _share(sizes - sizes.mean(), abs(observed[0] - observed[system]))
    return PairedResults(np.array(observed, np.float64), p, *_spread(stars))


def paired_randomization(
    statistics: NDArray[np.generic], *, score: RowScore, trials: int = 10_000, confidence: int | None = None, seed: int = SEED
) -> PairedResults:
    """Test every system against the first as ``sacrebleu --paired-ar`` does.

    p = (#(|δ°| > |δ|) + 1)/(R + 1). A trial gives A the baseline's output of a unit with probability ½, and B the other.

    Parameters
    ----------
    statistics, score, seed
        As of `paired_bootstrap`. Sums of whole numbers are exact; others are added as NumPy multiplies matrices.
    trials : int, optional
        R.
    confidence : int, optional
        Bootstrap samples for mean and half width (``--paired-ar-confidence-n``); none by default. Those of the baseline are not
        those of the other systems: the tool draws for these after the masks.
    """
    units = _check(statistics, trials, seed)
    generator = np.random.default_rng(seed)
    taken = generator.integers(2, size=(trials, units), dtype=bool)
    observed = _score_observed(statistics, score)
    p = np.full(len(observed), np.nan)
    for system in range(1, len(observed)):
        one, other = (_score_rows(sums, score) for sums in _swap(statistics[:, 0], statistics[:, system], taken))
        p[system] = _share(np.abs(one - other), abs(observed[0] - observed[system]))
    mean, half_width = np.full((2, len(observed)), np.nan)
    if confidence:
        later = generator.choice(units, size=(confidence, units), replace=True)
        first = np.random.default_rng(seed).choice(units, size=(confidence, units), replace=True)
        stars = _score_samples(statistics[:, :1], first, score) + _score_samples(statistics[:, 1:], later, score)
        mean, half_width = _spread(stars)
    return PairedResults(np.array(observed, np.float64), p, mean, half_width)


def format_p(p: float) -> str:
    """Write a p-value as the tool prints it, without colours.

    Examples
    --------
    >>> format_p(1 / 1001), format_p(0.0509)
    ('(p = 0.0010)*', '(p = 0.0509)')
    """
    return f"(p = {p:.4f})" + ("" if p > 0.05 else "*")


def _against_baseline(data: PresetData, test: Callable[[NDArray[Any], RowScore], PairedResults], *, width: int) -> PresetNumbers:
    """Run a test of every system against the baseline; ``width`` is the bytes of one draw of one segment."""
    none, tools = np.full(len(data.pairs), np.nan), _as_tool(data.metric)
    if data.baseline is None:
        return PresetNumbers(none, "not-with-the-baseline")
    if data.seed < 1:
        return PresetNumbers(none, "not-a-seed-of-the-tool")
    if len(data.load([data.baseline])) * data.replicates * width > DRAWN_BYTES:
        return PresetNumbers(none, "too-many-draws")
    if tools is None:
        return PresetNumbers(none, "not-a-metric-of-the-tool")
    others = [place for place in range(data.systems) if place != data.baseline]
    p = np.full(data.systems, np.nan)
    for start in range(0, len(others), SYSTEMS):
        some = others[start : start + SYSTEMS]
        values = data.load([data.baseline, *some])
        # Edits and lengths of TER are stored times the number of references, as integers; the tool has them divided.
        divided = values / data.references if isinstance(tools, TER) else values
        p[some] = test(divided, row_score(tools)).p[1:]
    is_first = data.pairs == data.baseline
    other = np.where(is_first[:, 0], data.pairs[:, 1], data.pairs[:, 0])
    return PresetNumbers(np.where(is_first.any(axis=1), p[other], np.nan), "not-with-the-baseline")


def _as_tool(metric: Metric) -> ToolMetric | None:
    """Return the tool's metric that scores sums as this one does; None if it has none."""
    if isinstance(metric, Bleu):
        value = metric.smooth_value or None
        return BLEU(smooth_method=metric.smooth, smooth_value=value, effective_order=metric.effective_order)
    if isinstance(metric, Chrf):
        beta: Any = metric.beta  # declared int there, used as any number
        return CHRF(metric.char_order, metric.word_order, beta, eps_smoothing=metric.eps_smoothing)
    return TER() if isinstance(metric, Ter) else None


def _check(statistics: NDArray[np.generic], replicates: int, seed: int) -> int:
    if statistics.ndim != 3 or min(statistics.shape[:2]) < 1 or statistics.shape[2] < 2:
        # Of a single column NumPy would add in another order.
        raise ValueError(f"statistics are (unit, system, at least 2), not {statistics.shape}")
    if replicates < 1:
        raise ValueError(f"at least 1 replicate is drawn, not {replicates}")
    if seed < 1:
        raise ValueError(f"a seed is above 0, not {seed}: sacreBLEU takes 0 for no seed, and draws other samples every time")
    return int(statistics.shape[0])


def _score_observed(statistics: NDArray[np.generic], score: RowScore) -> list[float]:
    """Score the test set as the tool does, from Python numbers added one after the other."""
    return [score([column[-1].item() for column in np.cumsum(statistics[:, s], axis=0).T]) for s in range(statistics.shape[1])]


def _score_rows(sums: NDArray[np.generic], score: RowScore) -> NDArray[np.floating]:
    # A row at a time: the tool's arithmetic is that of Python and of NumPy's scalars.
    return np.array([score(row) for row in sums])


def _score_samples(statistics: NDArray[np.generic], drawn: NDArray[np.int64], score: RowScore) -> list[NDArray[np.floating]]:
    single = np.ascontiguousarray(statistics.transpose(1, 0, 2), np.float32)
    return [_score_rows(_add_single(own, drawn), score) for own in single]


@kernel
def _add_single(statistics: NDArray[np.float32], drawn: NDArray[np.int64]) -> NDArray[np.float32]:
    """Add float32 statistics of the units drawn, in the order of the draws."""
    sums = np.zeros((drawn.shape[0], statistics.shape[1]), np.float32)
    for replicate in range(drawn.shape[0]):
        row = sums[replicate]
        for unit in drawn[replicate]:
            for statistic in range(statistics.shape[1]):
                row[statistic] += statistics[unit, statistic]
    return sums


def _swap(
    baseline: NDArray[np.generic], system: NDArray[np.generic], taken: NDArray[np.bool_]
) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    """Sum the baseline's statistics where taken and the system's elsewhere, and the other way round."""
    one, other, left = np.asarray(baseline), np.asarray(system), ~taken
    sizes = np.abs(np.concatenate([one, other]).astype(np.float64))
    if np.all(sizes % 1 == 0) and sizes.sum() < _EXACT:
        # Sums of whole numbers are the same in any order: a product of float64 matrices is much faster than one of integers.
        both = np.concatenate([one, other], axis=1).astype(np.float64)
        parts = [taken[first : first + _ROWS].astype(np.float64) @ both for first in range(0, len(taken), _ROWS)]
        kept, moved = np.split(np.concatenate(parts), 2, axis=1)
        mixed, rest = kept + (other.sum(axis=0) - moved), moved + (one.sum(axis=0) - kept)
        return mixed.astype(one.dtype), rest.astype(one.dtype)
    return np.matmul(taken, one) + np.matmul(left, other), np.matmul(left, one) + np.matmul(taken, other)


def _share(stars: NDArray[np.floating], gain: float) -> float:
    return (int(np.sum(stars > gain)) + 1) / (len(stars) + 1)


def _spread(scores: list[NDArray[np.floating]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    mean, half_width = np.empty((2, len(scores)))
    for system, own in enumerate(scores):
        ordered = np.sort(own)  # the mean is taken of the sorted scores: it is another sum
        beyond = len(ordered) // 40
        mean[system] = ordered.mean()
        half_width[system] = 0.5 * (ordered[len(ordered) - beyond - 1] - ordered[beyond])
    return mean, half_width
