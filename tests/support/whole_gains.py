"""Whole gains of made-up pairs: what they are compared with, and a tally with nothing in it."""

from __future__ import annotations

import numpy as np

from pipeline.resampling.comparison.compare import Tally, Thresholds
from pipeline.resampling.measures import BINS, LANES

__all__ = ["empty_tally", "thresholds"]


def thresholds(rng: np.random.Generator, *, rows: int, step: int, spread: float, gains: int, margin: bool) -> Thresholds:
    """Return the thresholds of all pairs of some rows in any order, with observed gains from 0 to ``gains``.

    One pair has no standard error, and of every third pair nothing is equal to twice its gain.
    """
    pairs = np.stack(np.triu_indices(rows, 1), axis=1)
    pairs = pairs[rng.permutation(len(pairs))]
    gain = rng.integers(0, gains + 1, len(pairs))
    low = np.stack([np.zeros(len(pairs)), gain * step, 2 * gain * step], axis=1).astype(np.float64)
    high = low.copy()
    low[::3, 2] += 1  # between two integers: nothing is equal
    scale = np.where(np.arange(len(pairs)) == 4, 0.0, 4.0 / spread)  # a pair without a standard error has one bin
    ends = (2.0 * gain + 1.5, 2.0 * gain - 1.5) if margin else (np.zeros(0), np.zeros(0))
    first, second = (np.ascontiguousarray(side) for side in pairs.T)
    numbers = rng.permutation(len(pairs)).astype(np.int64)
    return Thresholds(numbers, first, second, low, high, gain.astype(np.float64), scale, *ends, np.full(len(pairs), float(step)))


def empty_tally(pairs: int) -> Tally:
    """Return a tally of two cells."""
    counts, histogram = np.zeros((pairs, 2, 8), np.int32), np.zeros((pairs, 2, BINS), np.uint16)
    return Tally(counts, histogram, np.zeros((pairs, 2), np.int32), np.zeros((pairs, 3, LANES)))
