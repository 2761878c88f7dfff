"""What the default verdict is measured on: systems that do not differ, or of which one gains, on scores of nine kinds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.metrics.bleu import Bleu
from pipeline.metrics.kernels import score_ratio
from pipeline.resampling.measures import Measure

__all__ = ["KINDS", "Sample", "draw_sample", "true_gain"]

_STEPS = 64  # a standard deviation of scores that are no counts, in whole numbers: rounding has 1/220 of it
_GRADES = 1000  # graded scores lie between 0 and so much
_FAILING = 0.7, 0.05, 0.05  # level, noise, share of failures
_LOGNORMAL_SPREAD = math.sqrt((math.e - 1) * math.e)
_MANY = 2**21  # units


@dataclass(frozen=True, eq=False)
class Sample:
    """One data set.

    Parameters
    ----------
    measure : Measure
        All pairs of all systems, the first system first.
    sizes : (unit,) int64
        Items of each unit.
    failures : int
        Scores of 0 that stand for total failures.
    """

    measure: Measure
    sizes: NDArray[np.int64]
    failures: int


_Ints = NDArray[np.int64]
_Drawn = tuple[_Ints, _Ints]
_Draw = Callable[[int, int, float, np.random.Generator], _Drawn]


def draw_sample(kind: str, units: int, systems: int, *, gain: float, generator: np.random.Generator) -> Sample:
    """Draw a data set in which no system is better, but for the first, by so many standard errors of a difference.

    Parameters
    ----------
    kind : str
        Of `KINDS`.
    units, systems : int
    gain : float
        Of the first system, in standard errors of its difference from another, roughly where scores are counts; 0 for a true null.
    generator : numpy.random.Generator
    """
    statistics, sizes = _DRAWS[kind](units, systems, gain, generator)
    form: Literal["ratio", "general"] = "general" if kind == "bleu" else "ratio"
    score = _scorer(kind)
    pairs = np.stack(np.triu_indices(systems, 1), axis=1).astype(np.int64)
    failures = int(np.count_nonzero(statistics[:, 1::2, 0] == 0)) if kind == "failures" else 0
    return Sample(Measure(statistics, score, form, True, pairs, np.ones(systems, np.bool_)), sizes, failures)


def true_gain(kind: str, sizes: NDArray[np.int64], gain: float) -> float:
    """Return by how much the first system is ahead of each other one in expectation, in points.

    It is exact, but for rounding to whole numbers, and given the sizes of documents; of F1 and BLEU, which clip rates, it is
    estimated once by `_MANY` units, whose error is .02 standard errors of the gain with 1000 units, and less with fewer.
    """
    if gain == 0:
        return 0.0
    return _GAINS[kind](gain, sizes) if kind in _GAINS else _estimated_gain(kind, len(sizes), gain)


@cache
def _estimated_gain(kind: str, units: int, gain: float) -> float:
    sums, generator = np.zeros((2, 10 if kind == "bleu" else 2)), np.random.default_rng([1, units])
    # What a draw makes of a gain falls with the root of its units.
    for _ in range(16):
        statistics, _ = _DRAWS[kind](_MANY // 16, 2, gain * np.sqrt(_MANY / 16 / units), generator)
        sums += statistics.sum(axis=0)
    return float(np.diff([_scorer(kind)(of) for of in sums[::-1]])[0])


def _scorer(kind: str) -> Callable[[Any], Any]:
    return Bleu().scorer((0,) * 10) if kind == "bleu" else partial(score_ratio, decimals=(0, 0), factor=1.0)


def _of_items(scores: NDArray[Any]) -> _Drawn:
    rounded = np.rint(scores).astype(np.int64)
    return np.stack([rounded, np.ones_like(rounded)], axis=2), np.ones(len(scores), np.int64)


def _ahead(systems: int, gain: float) -> NDArray[np.float64]:
    """Return (system,) the gain of each."""
    return np.where(np.arange(systems) == 0, gain, 0.0)


def _sides(systems: int) -> NDArray[np.float64]:
    """Return (system,) 1 for the first half, −1 for the others, whose scores are skewed the other way."""
    return np.where(np.arange(systems) < (systems + 1) // 2, 1.0, -1.0)


def _gain_of_items(gain: float, sizes: NDArray[Any], *, spread: float = 1.0) -> float:
    return float(_STEPS * gain * spread * np.sqrt(2 / len(sizes)))


def _gain_of_right(rate: float, gain: float, sizes: NDArray[Any]) -> float:
    """Return the gain in the rate of right answers, of which half are given anew."""
    discordant = 0.75 * 2 * rate * (1 - rate)
    return float(min(gain * np.sqrt(discordant / len(sizes)), (1 - rate) / 2))


def _gain_of_failures(gain: float, sizes: NDArray[Any]) -> float:
    level, noise, share = _FAILING
    return float(_GRADES * gain * np.sqrt((2 * noise**2 + level**2 * share / (1 - share)) / len(sizes)))


def _gain_of_documents(gain: float, sizes: NDArray[Any]) -> float:
    return float(_STEPS * gain * np.sqrt(2 * (0.25 * np.mean(sizes**2) + sizes.mean()) / len(sizes)) / sizes.mean())


def _gaussian(units: int, systems: int, gain: float, generator: np.random.Generator) -> _Drawn:
    ahead = _gain_of_items(gain, np.ones(units))
    return _of_items(_STEPS * generator.normal(size=(units, systems)) + _ahead(systems, ahead))


def _exponential(units: int, systems: int, gain: float, generator: np.random.Generator) -> _Drawn:
    ahead = _gain_of_items(gain, np.ones(units))
    own = _sides(systems) * (generator.exponential(size=(units, systems)) - 1)
    return _of_items(_STEPS * own + _ahead(systems, ahead))


def _lognormal(units: int, systems: int, gain: float, generator: np.random.Generator) -> _Drawn:
    ahead = _gain_of_items(gain, np.ones(units), spread=_LOGNORMAL_SPREAD)
    own = _sides(systems) * (np.exp(generator.normal(size=(units, systems))) - np.exp(0.5))
    return _of_items(_STEPS * own + _ahead(systems, ahead))


def _right(rate: float, units: int, systems: int, gain: float, generator: np.random.Generator) -> _Drawn:
    """All systems give the same answers, right at a rate, and each gives half of them anew."""
    first = generator.random((units, 1)) < rate
    anew = generator.random((units, systems)) < 0.5
    own = rate + 2 * _ahead(systems, _gain_of_right(rate, gain, np.ones(units)))
    return _of_items(np.where(anew, generator.random((units, systems)) < own, first))


def _failures(units: int, systems: int, gain: float, generator: np.random.Generator) -> _Drawn:
    """Every second system gets 0 on 5 % of the units, and so much more on the others that it is as good."""
    level, noise, share = _FAILING
    grades = level + 0.1 * generator.normal(size=(units, 1)) + noise * generator.normal(size=(units, systems))
    fails = np.arange(systems) % 2 == 1
    grades += np.where(fails, level * share / (1 - share), 0.0)
    grades = np.where(fails & (generator.random((units, systems)) < share), 0.0, grades)
    return _of_items(_GRADES * grades + _ahead(systems, _gain_of_failures(gain, np.ones(units))))


def _clustered(units: int, systems: int, gain: float, generator: np.random.Generator) -> _Drawn:
    """Documents of 2 items and more, 9 on average; a fifth of the variance is that of documents."""
    sizes = 1 + generator.geometric(1 / 8, size=units)
    of_documents = 0.5 * sizes[:, None] * generator.normal(size=(units, systems))
    sums = of_documents + np.sqrt(sizes)[:, None] * generator.normal(size=(units, systems))
    ahead = _gain_of_documents(gain, sizes)
    sums = np.rint(_STEPS * sums + _ahead(systems, ahead) * sizes[:, None]).astype(np.int64)
    return np.stack([sums, np.repeat(sizes[:, None], systems, axis=1)], axis=2), sizes.astype(np.int64)


def _f1(units: int, systems: int, gain: float, generator: np.random.Generator) -> _Drawn:
    """Micro-F1, 2 tp / (gold + said): units are hard or easy for all, and none or many of their names are right."""
    gold = generator.poisson(5, size=(units, 1)) + (generator.random((units, 1)) < 0.5)
    easy = generator.beta(6, 2, size=(units, 1)) + _ahead(systems, gain) * 0.28 / np.sqrt(units)
    right = generator.binomial(gold, np.clip(easy, 0, 1), size=(units, systems))
    said = right + generator.poisson(1.2, size=(units, systems))
    return np.stack([2 * right, gold + said], axis=2).astype(np.int64), np.ones(units, np.int64)


def _bleu_like(units: int, systems: int, gain: float, generator: np.random.Generator) -> _Drawn:
    """Segments of 4 words and more; an n-gram is right only where one of n − 1 words is."""
    ahead = _ahead(systems, gain) * 0.1 / np.sqrt(units)
    reference = 6 + generator.poisson(14, size=(units, 1))
    easy = generator.beta(8, 5, size=(units, 1)) + ahead
    said = np.maximum(reference + generator.integers(-2, 3, size=(units, systems)), 4)
    right = [generator.binomial(said, np.clip(easy, 0, 1))]
    for _ in range(3):
        right.append(generator.binomial(np.maximum(right[-1] - 1, 0), np.clip(0.72 + ahead, 0, 1)))
    lengths = [said - order for order in range(4)]
    counts = np.stack([said, np.broadcast_to(reference, said.shape), *right, *lengths], axis=2)
    return counts.astype(np.int64), np.ones(units, np.int64)


_DRAWS: dict[str, _Draw] = {
    "gaussian": _gaussian,
    "right-50": partial(_right, 0.5),
    "right-90": partial(_right, 0.9),
    "f1": _f1,
    "bleu": _bleu_like,
    "clustered": _clustered,
    "exponential": _exponential,
    "lognormal": _lognormal,
    "failures": _failures,
}

_GAINS: dict[str, Callable[[float, NDArray[Any]], float]] = {
    "gaussian": _gain_of_items,
    "right-50": partial(_gain_of_right, 0.5),
    "right-90": partial(_gain_of_right, 0.9),
    "clustered": _gain_of_documents,
    "exponential": _gain_of_items,
    "lognormal": partial(_gain_of_items, spread=_LOGNORMAL_SPREAD),
    "failures": _gain_of_failures,
}

KINDS = tuple(_DRAWS)
"""Of scores, by name."""
