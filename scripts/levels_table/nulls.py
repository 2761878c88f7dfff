"""True nulls: data sets in which two or more systems do not differ, made many at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.measures import Measure

__all__ = ["Alike", "Binary", "Gaussian", "Null", "Precision", "Skewed", "expected_scores", "make"]

_STEPS = 64  # Gaussian scores are whole numbers: rounding has 1/220 of their standard deviation


@dataclass(frozen=True)
class Binary:
    """Right and wrong answers. A discordant unit is a win or a loss with probability ½.

    Parameters
    ----------
    units : int
    share : float
        Of discordant units.
    fixed : bool
        Exactly so many; otherwise each unit is discordant with this probability.
    """

    units: int
    share: float
    fixed: bool = False

    @property
    def name(self) -> str:
        """Say what it is."""
        if self.fixed:
            return f"0/1, {round(self.units * self.share)} of {self.units} units discordant"
        return f"0/1, each of {self.units} units discordant with probability {self.share:g}"


@dataclass(frozen=True)
class Gaussian:
    """Scores of units are Gaussian, with one variance, and independent of one another.

    Parameters
    ----------
    units : int
    systems : int
    means : tuple of float
        Expected score of each system, in standard errors of a difference; all are equal by default.
    """

    units: int
    systems: int = 2
    means: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """Say what it is."""
        apart = f" expected at {', '.join(f'{mean:g}' for mean in self.means)} standard errors" if self.means else ""
        return f"Gaussian scores of {self.units} units" + (f", {self.systems} systems{apart}" if self.systems > 2 else "")


@dataclass(frozen=True)
class Alike:
    """Right and wrong answers of several systems: the same at first, then each is turned over with one probability, by itself.

    Parameters
    ----------
    units : int
    share : float
        Expected share of discordant units of any pair, at most ½.
    systems : int
    """

    units: int
    share: float
    systems: int

    @property
    def name(self) -> str:
        """Say what it is."""
        return f"0/1, {self.systems} systems, each pair discordant on {self.units * self.share:g} of {self.units} units"


@dataclass(frozen=True)
class Skewed:
    """Exponential scores of one half of the systems, and of the others as many the other way round, about the same mean.

    The difference of two that are skewed against each other has a skewness of √2, and an excess of 3.
    """

    units: int
    systems: int

    @property
    def name(self) -> str:
        """Say what it is."""
        return f"exponential scores of {self.units} units, {self.systems} systems"


@dataclass(frozen=True)
class Precision:
    """Σ right / Σ said: in each unit a system says 1 + Poisson words, each right with probability .6.

    Parameters
    ----------
    units : int
    lengths : (float, float)
        Mean number of words of the two systems. The expected scores are equal whatever they are; outputs are exchangeable where
        they are equal.
    """

    units: int
    lengths: tuple[float, float]

    right = 0.6

    @property
    def name(self) -> str:
        """Say what it is."""
        one, other = self.lengths
        return f"precision on {self.units} units, mean lengths {one:g} and {other:g}"


Null = Binary | Gaussian | Precision | Alike | Skewed


def make(null: Null, trials: int, generator: np.random.Generator) -> Measure:
    """Return independent data sets side by side: k systems of each trial in turn, and all their pairs."""
    if isinstance(null, Precision):
        statistics = _precision(null, trials, generator)
    else:
        scores = _scores(null, trials, generator)
        statistics = np.stack([scores, np.ones_like(scores)], axis=2)
    systems = len(expected_scores(null))
    own = np.stack(np.triu_indices(systems, 1), axis=1)
    pairs = (own + systems * np.arange(trials)[:, None, None]).reshape(-1, 2)
    return Measure(statistics, _share, "ratio", True, pairs.astype(np.int64), np.ones(statistics.shape[1], np.bool_))


def expected_scores(null: Null) -> NDArray[np.float64]:
    """Return the expected score of each system, but for what all have in common."""
    if isinstance(null, Gaussian) and null.means:
        expected: NDArray[np.float64] = _STEPS * np.sqrt(2 / null.units) * np.array(null.means)
        return expected
    return np.zeros(2 if isinstance(null, Binary | Precision) else null.systems)


def _scores(null: Binary | Gaussian | Alike | Skewed, trials: int, generator: np.random.Generator) -> NDArray[np.int64]:
    if isinstance(null, Binary):
        return _binary(null, trials, generator)
    if isinstance(null, Alike):
        return _alike(null, trials, generator)
    return _skewed(null, trials, generator) if isinstance(null, Skewed) else _gaussian(null, trials, generator)


def _share(sums: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(sums[0] / sums[1], np.float64)


def _binary(null: Binary, trials: int, generator: np.random.Generator) -> NDArray[np.int64]:
    if null.fixed:
        first = np.arange(null.units)[:, None] < round(null.units * null.share)
        discordant = generator.permuted(np.broadcast_to(first, (null.units, trials)), axis=0)
    else:
        discordant = generator.random((null.units, trials)) < null.share
    wins = generator.random((null.units, trials)) < 0.5
    both = generator.random((null.units, trials)) < 0.5  # right or wrong together: it is in no difference
    scores = np.stack([np.where(discordant, wins, both), np.where(discordant, ~wins, both)], axis=2)
    return scores.reshape(null.units, 2 * trials).astype(np.int64)


def _gaussian(null: Gaussian, trials: int, generator: np.random.Generator) -> NDArray[np.int64]:
    scores = _STEPS * generator.normal(size=(null.units, null.systems * trials))
    return np.rint(scores + np.tile(expected_scores(null), trials)).astype(np.int64)


def _alike(null: Alike, trials: int, generator: np.random.Generator) -> NDArray[np.int64]:
    # Two of them differ where one of the two is turned: 2q(1 − q).
    turned = generator.random((null.units, trials, null.systems)) < (1 - np.sqrt(1 - 2 * null.share)) / 2
    right = generator.random((null.units, trials, 1)) < 0.5
    correct: NDArray[np.int64] = (right ^ turned).reshape(null.units, -1).astype(np.int64)
    return correct


def _skewed(null: Skewed, trials: int, generator: np.random.Generator) -> NDArray[np.int64]:
    side = np.tile(np.where(np.arange(null.systems) < null.systems // 2, 1, -1), trials)
    return np.rint(_STEPS * side * (generator.exponential(size=(null.units, len(side))) - 1)).astype(np.int64)


def _precision(null: Precision, trials: int, generator: np.random.Generator) -> NDArray[np.int64]:
    said = 1 + generator.poisson(np.tile(null.lengths, trials) - 1.0, (null.units, 2 * trials))
    return np.stack([generator.binomial(said, null.right), said], axis=2).astype(np.int64)
