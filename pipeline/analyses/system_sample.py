"""Where the systems of a study come from, and intervals over systems like them for percentiles over their pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.pair_classes import Relation
from pipeline.dataclass import dataclass
from pipeline.inference.intervals.system_quantiles import SystemSample, quantile_interval

__all__ = ["FEWEST_BASES", "LEVEL", "Sampled", "describe_few_bases", "describe_interval", "sample_systems"]

LEVEL = 0.95
FEWEST_BASES = 4
"""Base models: replicas of fewer are taken as drawn within them, and the interval holds for these base models alone."""


@dataclass(frozen=True)
class Sampled:
    """The systems as draws from a population.

    Parameters
    ----------
    sample : SystemSample
    unit : str
        What was drawn, in the plural.
    note : str or None
        What an interval does not cover.
    """

    sample: SystemSample
    unit: str
    note: str | None = None


def sample_systems(systems: Sequence[str], base: Mapping[str, str], relation: Relation | None) -> Sampled:
    """Say how systems were drawn: replicas within a few base models, else base models, families of a relation, or systems alone.

    Parameters
    ----------
    systems : sequence of str
        All systems of the pairs.
    base : mapping
        Base model by system for replicas, else empty.
    relation : Relation or None
        Systems of one value come together: a team that brings another system brings one like its others.
    """
    alone, one = np.arange(len(systems), dtype=np.int64), np.zeros(len(systems), dtype=np.int64)
    if base:
        bases = _numbers([base.get(name, "") for name in systems])
        number = len(set(bases.tolist()))
        if number >= FEWEST_BASES:
            return Sampled(SystemSample(bases, one), "base models")
        return Sampled(SystemSample(alone, bases), "replicas within their base model", describe_few_bases(number))
    if relation is None:
        return Sampled(SystemSample(alone, one), "systems")
    # A system of which the relation says nothing was drawn by itself.
    families = _numbers([relation.values.get(name) or f"\0{name}" for name in systems])
    return Sampled(SystemSample(families, one), f"systems by {relation.name}")


def describe_few_bases(number: int) -> str:
    """Say what an interval of replicas of so few base models does not cover."""
    return f"no interval over base models: there are {number}; it holds for these base models alone"


def _numbers(words: Sequence[str]) -> NDArray[np.int64]:
    number = {word: place for place, word in enumerate(sorted(set(words)))}
    return np.array([number[word] for word in words], dtype=np.int64)


def describe_interval(
    sampled: Sampled, values: NDArray[np.float64], first: NDArray[np.int64], second: NDArray[np.int64], percentile: float
) -> tuple[dict[str, Any] | None, str | None]:
    """Return the 95 % interval of a percentile over pairs (``method, level, lo, hi``), and why there is none or what it lacks."""
    if len(values) < 2:
        return None, f"no interval from {len(values)} pair{'' if len(values) == 1 else 's'}"
    if values.min() == values.max():
        return None, "no interval: all pairs have the same value"
    found = quantile_interval(values, first, second, percentile / 100, systems=sampled.sample, level=LEVEL)
    if found.lo is None or found.hi is None:
        if found.needed is None:
            return None, "no interval for the smallest or the largest value"
        worth = f"the {len(values):,} pairs are worth {found.pairs:.0f} independent ones ({sampled.unit})"
        return None, f"no interval: {worth}, and the {percentile:g}th percentile takes {found.needed}"
    method = f"order statistics, {sampled.unit} as drawn"
    return {"method": method, "level": LEVEL, "lo": found.lo, "hi": found.hi}, sampled.note
