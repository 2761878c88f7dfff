"""The exact sign-flip p of pairs with few discordant units. This module counts all 2^m swaps, whatever procedures are asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.direct.scores import MEMORY, differences, why_no_numerators
from pipeline.inference.few_units import FEW_DISCORDANT, SMALLEST
from pipeline.resampling.exact.flips import count_reaching
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.observe import TOLERANCE

__all__ = ["FEW_DISCORDANT", "sign_flips_of_few"]


def sign_flips_of_few(measure: Measure, observed: Observed, *, memory_bytes: int = MEMORY) -> NDArray[np.float64]:
    """Compute P(|Σ ±d| ≥ |Σ d|) of the pairs on fewer than `FEW_DISCORDANT` units of which the systems differ, or without spread.

    Where the standard error is 0 and all differences have one sign, it is 2^(1 − m) with any number of units. Elsewhere it is the
    number of ``exact-sign-flip``, exact in binary: a count over a power of two. On 0/1 scores it is McNemar's exact test.

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
        nan where more units differ, not all by as much, where the systems have other denominators than each other, and where a
        score is undefined.

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
    noise = TOLERANCE * np.abs(observed.score[measure.pairs]).sum(axis=1)
    with np.errstate(invalid="ignore"):  # undefined scores are nan, and stay it
        flat = (observed.se <= noise) & (observed.delta != 0)
    few = ((observed.discordant < FEW_DISCORDANT) | flat) & np.isfinite(observed.delta)
    if not few.any():
        return found
    members = np.flatnonzero(few & (why_no_numerators(measure) == 0))
    known: dict[tuple[int, ...], float] = {}  # pairs of accuracy have few different laws
    for block, rows in differences(measure, observed, members, memory_bytes=memory_bytes):
        for pair, row in zip(block.tolist(), rows, strict=True):
            moved = row[row != 0]
            if len(moved) >= FEW_DISCORDANT:
                if (moved > 0).all() or (moved < 0).all():
                    found[pair] = max(2.0 ** (1 - len(moved)), SMALLEST)
                continue
            key = (int(moved.sum()), *np.sort(np.abs(moved)).tolist())
            if key not in known:
                known[key] = _share(moved)
            found[pair] = known[key]
    return found


def _share(moved: NDArray[np.int64]) -> float:
    """Give the share of swaps with a sum as far from 0: exact in binary, one side's subsets counted twice."""
    gain, sizes = abs(int(moved.sum())), np.abs(moved)
    # Σ ±v ≥ g is Σ bv ≥ (g + Σv)/2 with b in {0, 1}; both have the same parity.
    return 2 * count_reaching(sizes, (gain + int(sizes.sum())) // 2) / 2.0 ** len(moved) if gain else 1.0
