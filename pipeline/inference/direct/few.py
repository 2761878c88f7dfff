"""The exact sign-flip p of pairs with few discordant units: all 2^m swaps are counted, whatever procedures are asked for.

Where two systems have the same denominators a swap changes the gain by ± the difference of a unit. Elsewhere (F1, BLEU) the
outputs of the units are swapped and both systems are scored again.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.direct.scores import MEMORY, differences, why_no_numerators
from pipeline.inference.few_units import FEW_DISCORDANT, SMALLEST
from pipeline.resampling.exact.flips import count_reaching
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.observe import TOLERANCE

__all__ = ["FEW_DISCORDANT", "sign_flips_of_few"]


def sign_flips_of_few(measure: Measure, observed: Observed, *, memory_bytes: int = MEMORY) -> NDArray[np.float64]:
    """Compute P(|δ°| ≥ |δ|) over all swaps of pairs that differ on fewer than `FEW_DISCORDANT` units, or that have no spread.

    Where the standard error is 0 and all differences have one sign, it is 2^(1 − m) with any number of units. Where denominators
    are shared it is the number of the exact sign-flip test, exact in binary: a count over a power of two. On 0/1 scores it is
    McNemar's exact test. For other scores it is what approximate randomization estimates; swaps with an undefined score are left
    out.

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
        nan where more units differ, not all by as much, and where a score is undefined.

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
    ratios = why_no_numerators(measure) == 0
    for pair in np.flatnonzero(few & ~ratios & (observed.discordant > 0) & (observed.discordant < FEW_DISCORDANT)).tolist():
        found[pair] = _share_of_scores(measure, pair, abs(float(observed.delta[pair])) - float(noise[pair]))
    members = np.flatnonzero(few & ratios)
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
    """Return the share of swaps with a sum as far from 0: exact in binary, one side's subsets counted twice."""
    gain, sizes = abs(int(moved.sum())), np.abs(moved)
    # Σ ±v ≥ g is Σ bv ≥ (g + Σv)/2 with b in {0, 1}; both have the same parity.
    return 2 * count_reaching(sizes, (gain + int(sizes.sum())) // 2) / 2.0 ** len(moved) if gain else 1.0


_AT_ONCE = 2**13
"""Swaps that are scored together, but for the kind of unit that has more: their sums stay in the cache."""


def _share_of_scores(measure: Measure, pair: int, least: float) -> float:
    """Return the share of swaps of a pair's units whose scores differ by ``least`` or more, of those with two scores.

    Units that differ alike are interchangeable: k of c of them are swapped in comb(c, k) ways. Swapping everything only exchanges
    the two systems, so that of one kind of unit at most half are swapped.
    """
    first, second = (measure.statistics[:, system] for system in measure.pairs[pair])
    moved = first - second
    kinds, counts = np.unique(moved[moved.any(axis=1)], axis=0, return_counts=True)
    # Whole numbers below 2**53, by the check of `observe`. One swap is a column: what it moves, and in how many ways.
    change, ways = np.zeros((moved.shape[1], 1)), np.ones(1, np.int64)
    outer, halved = [(change[:, 0], 1)], False
    for kind, c in zip(kinds.astype(np.float64), counts.tolist(), strict=True):
        some = [(k, comb(c, k)) for k in range(c + 1)]
        if not halved:  # with an even count the middle is its own mirror image
            some, halved = [(k, n if 2 * k == c else 2 * n) for k, n in some[: c // 2 + 1]], True
        if change.shape[1] * len(some) <= _AT_ONCE:
            change = np.concatenate([change + k * kind[:, None] for k, _ in some], axis=1)
            ways = np.concatenate([ways * n for _, n in some])
        else:
            outer = [(far + k * kind, many * n) for far, many in outer for k, n in some]
    base = np.stack([first.sum(axis=0), second.sum(axis=0)], axis=1).astype(np.float64)
    sums = np.empty((len(base), 2, change.shape[1]))
    hits = defined = 0
    for far, many in outer:
        np.subtract((base[:, 0] - far)[:, None], change, out=sums[:, 0])
        np.add((base[:, 1] + far)[:, None], change, out=sums[:, 1])
        with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is a defined outcome: nan
            score = np.asarray(measure.score(sums), np.float64)
        gap = np.abs(score[0] - score[1])
        hits += many * int(ways[gap >= least].sum())
        defined += many * int(ways[np.isfinite(gap)].sum())
    return hits / defined
