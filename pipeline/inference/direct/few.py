"""The exact sign-flip p of pairs with few discordant units. This module counts all 2^m swaps, whatever procedures are asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.direct.scores import MEMORY, differences, why_no_numerators
from pipeline.resampling.measures import Measure, Observed

__all__ = ["FEW_DISCORDANT", "sign_flips_of_few"]

FEW_DISCORDANT = 20
"""Discordant units below which a bootstrap p is not to be trusted."""


def sign_flips_of_few(measure: Measure, observed: Observed, *, memory_bytes: int = MEMORY) -> NDArray[np.float64]:
    """Compute P(|Σ ±d| ≥ |Σ d|) of the pairs on fewer than `FEW_DISCORDANT` units of which the systems differ.

    The same number as ``exact-sign-flip``, exact in binary: a count over a power of two. On 0/1 scores it is McNemar's exact test.

    Parameters
    ----------
    measure : Measure
    observed : Observed
        From `pipeline.resampling.observe.observe`.
    memory_bytes : int, optional
        Of a block of pairs × units; changes no result.

    Returns
    -------
    (pair,) float64
        nan where more units differ, where the systems have other denominators than each other, and where a score is undefined.

    Examples
    --------
    >>> from pipeline.resampling.observe import observe
    >>> right = np.repeat([[1, 0], [0, 1], [1, 1]], [8, 4, 88], axis=0)
    >>> statistics = np.stack([right, np.ones_like(right)], axis=2)
    >>> accuracy = Measure(statistics, lambda sums: sums[0] / sums[1], "ratio", True, np.array([[0, 1]]), np.zeros(2, bool))
    >>> sign_flips_of_few(accuracy, observe(accuracy)).round(4).tolist()
    [0.3877]
    """
    found = np.full(len(measure.pairs), np.nan)
    few = (observed.discordant < FEW_DISCORDANT) & np.isfinite(observed.delta)
    if not few.any():
        return found
    members = np.flatnonzero(few & (why_no_numerators(measure) == 0))
    known: dict[tuple[int, ...], float] = {}  # pairs of accuracy have few different laws
    for block, rows in differences(measure, observed, members, memory_bytes=memory_bytes):
        for pair, row in zip(block.tolist(), rows, strict=True):
            moved = row[row != 0]
            key = (int(moved.sum()), *np.sort(np.abs(moved)).tolist())
            if key not in known:
                known[key] = _share(moved)
            found[pair] = known[key]
    return found


def _share(moved: NDArray[np.int64]) -> float:
    """Count swaps by halves of the units: a sum of the one needs a partner from the other beyond what is left to D or −D."""
    gain = abs(int(moved.sum()))
    if gain == 0:
        return 1.0
    half = len(moved) // 2
    first, second = _sums(moved[:half]), np.sort(_sums(moved[half:]))
    above = len(second) - np.searchsorted(second, gain - first, side="left")
    below = np.searchsorted(second, -gain - first, side="right")
    return float((above + below).sum()) / 2.0 ** len(moved)


def _sums(moved: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the sums of all 2^k choices of signs."""
    sums = np.zeros(1, np.int64)
    for value in moved.tolist():
        sums = np.concatenate([sums - value, sums + value])
    return sums
