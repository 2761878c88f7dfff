"""Weights of hashed features and the order of learning: the hash, the shuffle and the exact average.

Everything is integer arithmetic in a fixed order: the same sample and seed give the same weights, bit for bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel

__all__ = ["average", "bucket", "change", "find_row", "join", "next_random", "shuffle", "start_learning", "start_random"]

# Odd 64-bit constants without structure: the first digits of square roots of primes, as integers.
_TEMPLATE = np.uint64(0x6A09E667F3BCC909)
_FIRST = np.uint64(0xBB67AE8584CAA73B)
_SECOND = np.uint64(0x3C6EF372FE94F82B)
_THIRD = np.uint64(0xA54FF53A5F1D36F1)
_FOURTH = np.uint64(0x510E527FADE682D1)
_FIFTH = np.uint64(0x9B05688C2B3E6C1F)
_SIXTH = np.uint64(0xCBBB9D5DC1059ED9)
_MIX = np.uint64(0x1F83D9ABFB41BD6B)
_HALF = np.uint64(32)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@kernel(signature="int64(int64, int64, int64, int64, int64, int64)")  # else once for every number of a template
def join(template: int, a: int, b: int, c: int, d: int, e: int) -> int:
    """Return one number for the parts of a feature, of which `find_row` makes a row."""
    joined = (
        np.uint64(template) * _TEMPLATE
        + np.uint64(a) * _FIRST
        + np.uint64(b) * _SECOND
        + np.uint64(c) * _THIRD
        + np.uint64(d) * _FOURTH
        + np.uint64(e) * _FIFTH
    )
    return int(np.int64(joined))


@kernel
def find_row(joined: int, way: int, shift: int) -> int:
    """Return the row of a feature, joined with one part more if ``way`` is not 0, in a table of ``2 ** (64 - shift)`` rows.

    Different features may share a row. Joining and mixing are apart because dozens of copies of both compile slowly.
    """
    h = np.uint64(joined) + np.uint64(way) * _SIXTH
    h = (h ^ (h >> _HALF)) * _MIX
    h = (h ^ (h >> _HALF)) * _GOLDEN
    return int(np.int64(h >> np.uint64(shift)))


@kernel
def bucket(distance: int) -> int:
    """Return the class of a distance in tokens: 1, 2, 3, 4, 5, then up to 10, then more (McDonald et al. 2005)."""
    if distance <= 5:
        return distance
    return 6 if distance <= 10 else 7


@kernel
def change(weights: NDArray[np.int32], totals: NDArray[np.int64], row: int, amount: int, step: int) -> None:
    """Add to a weight during step ``step`` (from 1); ``average`` reads from ``totals`` when that was."""
    weights[row] += np.int32(amount)
    totals[row] += (step - 1) * amount


def average(weights: NDArray[np.int32], totals: NDArray[np.int64], steps: int) -> NDArray[np.int64]:
    """Return the sum of the weights after each of the steps: the averaged weights times ``steps``, exactly.

    A change in step ``s`` counts in steps ``s`` … ``steps``, hence ``steps · w − Σ (s − 1) · change`` (Collins 2002,
    doi:10.3115/1118693.1118694). Decisions do not depend on the common factor, so that no division is needed.
    """
    summed: NDArray[np.int64] = weights.astype(np.int64) * steps - totals
    return summed


def start_learning(
    rows: int, sample: NDArray[np.int64], *, seed: int, purpose: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
    """Return weights and totals of zero, the order of a sample, to be shuffled, and the state of a generator."""
    return np.zeros(rows, np.int32), np.zeros(rows, np.int64), sample.astype(np.int64), start_random(seed, purpose)


def start_random(seed: int, purpose: int) -> NDArray[np.uint64]:
    """Return the state of a generator for one purpose of one training."""
    mixed = (seed * 0x9E3779B97F4A7C15 + purpose * 0xBB67AE8584CAA73B) % 2**64
    return np.array([mixed], dtype=np.uint64)


@kernel
def next_random(state: NDArray[np.uint64]) -> int:
    """Return 63 random bits and move the state on: SplitMix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195)."""
    state[0] += _GOLDEN
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return int(np.int64(z >> np.uint64(1)))


@kernel
def shuffle(order: NDArray[np.int64], state: NDArray[np.uint64]) -> None:
    """Put the entries in random order, in place (Fisher and Yates)."""
    for last in range(len(order) - 1, 0, -1):
        other = next_random(state) % (last + 1)
        order[last], order[other] = order[other], order[last]
