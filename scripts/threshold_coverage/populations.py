"""Populations of systems on a fixed test set: any number of systems can be drawn, and all pairs of them have a gain and an se."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

__all__ = ["POPULATIONS", "RULES", "Drawn", "Population", "Z", "known_threshold", "values_of"]

Z = 1.6448536269514722
RULES = ("se", "window")
_ITEMS = 400
_WINDOW = (0.04, 0.06)


@dataclass(frozen=True)
class Drawn:
    """Systems that were drawn.

    Parameters
    ----------
    gain, se : (pair,) float64
    first, second : (pair,) int64
        The systems of each pair.
    draw : (system,) int64
        Which independent draw brought each system.
    """

    gain: NDArray[np.float64]
    se: NDArray[np.float64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    draw: NDArray[np.int64]


@dataclass(frozen=True)
class Population:
    """Where systems come from.

    Parameters
    ----------
    name : str
    words : str
        What it is like.
    make : callable
        Takes a generator and a number of systems.
    systems : tuple of int
        How many systems studies have.
    """

    name: str
    words: str
    make: Callable[[np.random.Generator, int], Drawn]
    systems: tuple[int, ...] = (20, 40, 60, 75, 100, 150)


@cache
def _difficulty() -> NDArray[np.float64]:
    """Return the difficulties of the items, on the scale of logits: one test set for all populations."""
    return np.random.default_rng(77).normal(0, 2, _ITEMS)


@cache
def _families() -> NDArray[np.float64]:
    return np.random.default_rng(78).normal(0, 1.5, (10, _ITEMS))


def _right_or_wrong(rng: np.random.Generator, ability: NDArray[np.float64], liking: NDArray[np.float64] | float = 0.0) -> Drawn:
    """Return systems of these abilities (logits) whose answers to the 400 items are right or wrong."""
    own = rng.normal(0, 1, (len(ability), _ITEMS))
    right = (rng.random(own.shape) < expit(ability[:, None] - _difficulty() + liking + own)).astype(np.float64)
    score, both = right.mean(axis=1), right @ right.T / _ITEMS
    first, second = np.triu_indices(len(ability), 1)
    gain = score[first] - score[second]
    spread = score[first] + score[second] - 2 * both[first, second] - gain**2
    se = np.sqrt(np.maximum(spread, 0) / _ITEMS)
    return Drawn(100 * np.abs(gain), 100 * se, first, second, np.arange(len(ability)))


def _accuracy(rng: np.random.Generator, systems: int) -> Drawn:
    return _right_or_wrong(rng, rng.normal(3, 0.6, systems))


def _outliers(rng: np.random.Generator, systems: int) -> Drawn:
    return _right_or_wrong(rng, 3 + 0.4 * rng.standard_t(3, systems))


def _kin(rng: np.random.Generator, systems: int) -> Drawn:
    return _right_or_wrong(rng, rng.normal(3, 0.5, systems), _families()[rng.integers(0, 10, systems)])


def _teams(rng: np.random.Generator, systems: int) -> Drawn:
    """Return teams of three systems that like the same items and are about as able."""
    team = np.arange(systems) // 3
    teams = int(team.max()) + 1
    liking = rng.normal(0, 1.5, (teams, _ITEMS))[team]
    drawn = _right_or_wrong(rng, rng.normal(3, 0.6, teams)[team] + rng.normal(0, 0.1, systems), liking)
    return Drawn(drawn.gain, drawn.se, drawn.first, drawn.second, team)


def _graded(rng: np.random.Generator, spread: NDArray[np.float64]) -> Drawn:
    """Return systems whose scores are means of Gaussian items with these standard deviations."""
    score = rng.normal(0, 0.15, len(spread)) + spread * rng.normal(0, 1, len(spread)) / np.sqrt(_ITEMS)
    first, second = np.triu_indices(len(spread), 1)
    se = np.hypot(spread[first], spread[second]) / np.sqrt(_ITEMS)
    return Drawn(np.abs(score[first] - score[second]), se, first, second, np.arange(len(spread)))


def _gamma(rng: np.random.Generator, systems: int) -> Drawn:
    return _graded(rng, np.sqrt(rng.gamma(3.0, 1 / 3, systems)))


def _lognormal(rng: np.random.Generator, systems: int) -> Drawn:
    return _graded(rng, np.exp(rng.normal(0, 0.3, systems)))


POPULATIONS = (
    Population("accuracy", "right or wrong, Gaussian abilities", _accuracy),
    Population("outliers", "right or wrong, abilities with tails of Student's t with 3 degrees of freedom", _outliers),
    Population("kin", "right or wrong, each system of one of ten families that like the same items", _kin),
    Population("teams", "right or wrong, systems that come in teams of three", _teams, (60, 225, 300)),
    Population("gamma", "graded, variances of the systems gamma with shape 3", _gamma),
    Population("lognormal", "graded, standard deviations of the systems lognormal with σ = .3", _lognormal),
)


def values_of(drawn: Drawn, rule: str) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the values whose 95th percentile is a threshold, and the systems of their pairs."""
    there = drawn.se > 0
    if rule == "se":
        return Z * drawn.se[there], drawn.first[there], drawn.second[there]
    p = np.ones_like(drawn.gain)
    p[there] = ndtr(-drawn.gain[there] / drawn.se[there])
    inside = (p >= _WINDOW[0]) & (p <= _WINDOW[1])
    return drawn.gain[inside], drawn.first[inside], drawn.second[inside]


@cache
def known_threshold(population: str, rule: str, *, share: float = 0.95, systems: int = 1500, times: int = 8) -> float:
    """Return the threshold of a population: the percentile over a million pairs, the mean of eight such."""
    make = next(one.make for one in POPULATIONS if one.name == population)
    found = [np.quantile(values_of(make(np.random.default_rng([79, k]), systems), rule)[0], share) for k in range(times)]
    return float(np.mean(found))
