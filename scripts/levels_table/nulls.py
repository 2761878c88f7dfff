"""True nulls. This module makes data sets in which two or more systems do not differ, many at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.measures import Measure

__all__ = ["Binary", "Gaussian", "Null", "Precision", "make"]

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
    """Scores of units are Gaussian, of all systems alike and independent of one another."""

    units: int
    systems: int = 2

    @property
    def name(self) -> str:
        """Say what it is."""
        return f"Gaussian scores of {self.units} units" + (f", {self.systems} systems" if self.systems > 2 else "")


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


Null = Binary | Gaussian | Precision


def make(null: Null, trials: int, generator: np.random.Generator) -> Measure:
    """Give independent data sets side by side: k systems of each trial in turn, and all their pairs."""
    if isinstance(null, Precision):
        statistics = _precision(null, trials, generator)
    else:
        scores = _binary(null, trials, generator) if isinstance(null, Binary) else _gaussian(null, trials, generator)
        statistics = np.stack([scores, np.ones_like(scores)], axis=2)
    systems = null.systems if isinstance(null, Gaussian) else 2
    own = np.stack(np.triu_indices(systems, 1), axis=1)
    pairs = (own + systems * np.arange(trials)[:, None, None]).reshape(-1, 2)
    return Measure(statistics, _share, "ratio", True, pairs.astype(np.int64), np.ones(statistics.shape[1], np.bool_))


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
    return np.rint(_STEPS * generator.normal(size=(null.units, null.systems * trials))).astype(np.int64)


def _precision(null: Precision, trials: int, generator: np.random.Generator) -> NDArray[np.int64]:
    said = 1 + generator.poisson(np.tile(null.lengths, trials) - 1.0, (null.units, 2 * trials))
    return np.stack([generator.binomial(said, null.right), said], axis=2).astype(np.int64)
