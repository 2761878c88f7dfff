"""The units by which pairs differ most, and what sums of squares over the others are at least, without summing them.

The squares of a quarter of the units are four tenths of all, in BLEU of plain text. Of the rest nothing is multiplied, but
something is known: how many of these units a replicate has left out. If they were those with the largest squares, so much would be
lost; it cannot be more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel

__all__ = ["count_rare", "ends_of", "floors_of", "heaviest_first"]

_FEWER = 4, 2  # a quarter of the units may be enough, or half of them
_SEEN = 64  # every 64th pair tells how squares are distributed
_DRAWN = -np.expm1(-1.0), -np.expm1(-1.0) - np.exp(-1.0)  # about the shares of units that are drawn, and at least twice


def heaviest_first(centred: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the units from that by which the pairs of (system, unit) systems differ most to that by which they differ least."""
    spread = len(centred) * (centred * centred).sum(axis=0) - centred.sum(axis=0) ** 2  # the squares of all pairs, summed
    return np.argsort(-spread, kind="stable")


def ends_of(units: int) -> tuple[int, ...]:
    """Return how many of the first units may be enough, the fewest first, and last that all are."""
    return (*(max(units // fewer, 1) for fewer in _FEWER), units)


def floors_of(bits: NDArray[np.int16], first: int) -> NDArray[np.float64]:
    """Return numbers below which Σ bits · counts over the units from the ``first`` on is not, however these are drawn.

    The numbers of the units that are drawn add up to Σ min(number, τ) − τ · (how many are not drawn) or more, for any τ ≥ 0; so do
    those of the units that are drawn twice, with another τ. Σ bits · counts is no less than both together. The best τ is the least
    number of a unit that is not drawn, if these have the largest ones.

    Parameters
    ----------
    bits : (pair, unit) int16
        Not negative.
    first : int

    Returns
    -------
    (pair, 3) float64
        τ for units that are not drawn and for units that are drawn once at most (see `count_rare`), and the sum of both Σ min.

    Examples
    --------
    Of units that are worth 1, 2, 3 and 10 steps one is drawn three times and another once: the sum is 5 at least.

    >>> (once, twice, whole), = floors_of(np.array([[1, 2, 3, 10]], np.int16), 0).tolist()
    >>> whole - 2 * once - 3 * twice <= 5
    True
    """
    seen = np.sort(bits[::_SEEN, first:], axis=1).astype(np.float64)
    mean = np.maximum(seen.mean(axis=1), 1.0)
    once, twice = (float(np.median(seen[:, int(share * seen.shape[1])] / mean)) for share in _DRAWN)
    found = np.empty((len(bits), 3))
    _fill_floors(bits, first, once, twice, found)
    return found


@bare_kernel
def _fill_floors(bits: NDArray[np.int16], first: int, once: float, twice: float, floors: NDArray[np.float64]) -> None:
    """Fill the numbers of each pair, where τ is given in means of the pair."""
    for pair in range(len(bits)):
        light, total, least = bits[pair, first:], np.int64(0), np.int64(0)
        for unit in range(len(light)):
            total += light[unit]
        of_once, of_twice = np.int64(once * total / len(light)), np.int64(twice * total / len(light))
        for unit in range(len(light)):
            least += min(np.int64(light[unit]), of_once) + min(np.int64(light[unit]), of_twice)
        floors[pair, 0], floors[pair, 1], floors[pair, 2] = of_once, of_twice, least


def count_rare(weights: NDArray[np.uint8] | NDArray[np.float32], first: int) -> NDArray[np.float64]:
    """Return (2, replicate) how many of the units from the ``first`` on are not drawn, and how many are drawn once at most.

    Parameters
    ----------
    weights : (replicate, unit) uint8 or float32
    first : int
    """
    found = np.empty((2, len(weights)))
    _count_rare(weights, first, found)
    return found


@bare_kernel
def _count_rare(weights: NDArray[np.uint8] | NDArray[np.float32], first: int, rare: NDArray[np.float64]) -> None:
    for i in range(len(weights)):
        counts, never, hardly = weights[i, first:], 0, 0
        for unit in range(len(counts)):
            never += counts[unit] < 1
            hardly += counts[unit] < 2
        rare[0, i], rare[1, i] = never, hardly
