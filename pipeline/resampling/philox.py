"""Philox4x32-10, the only random numbers of the package (Salmon and others 2011, doi:10.1145/2063384.2063405).

A counter-based generator: four 32-bit words are a function of a counter of four words and a key of two, so replicate r of a key
always has the same words, drawn alone or in a batch. Kernels call `rounds` inside their loops. `philox`, on arrays, is the readable
definition, with which tests compare them, and also takes counters that no kernel needs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel

__all__ = ["SHIFT", "draw_words", "philox", "rounds"]

Words = tuple[np.uint64, np.uint64, np.uint64, np.uint64]

SHIFT = np.uint64(32)
"""Bits of a word: (word · n) >> SHIFT is 0 … n − 1, each with a probability within 2**-32 of the same."""

_ROUNDS = 10
_MASK = np.uint64(0xFFFFFFFF)
_MULTIPLIER_0 = np.uint64(0xD2511F53)
_MULTIPLIER_1 = np.uint64(0xCD9E8D57)
_WEYL_0 = np.uint64(0x9E3779B9)
_WEYL_1 = np.uint64(0xBB67AE85)


@kernel(inline="always")  # a call that is not inlined would keep the loop around it from being vectorised
def rounds(quad: np.uint64, replicate: np.uint64, key: np.uint64) -> Words:
    """Return the four words of counter (quad, replicate low, replicate high, 0) under a key of 64 bits.

    Each holds 32 bits in 64, since a word is mostly used in a product.
    """
    c0, c1, c2, c3 = quad, replicate & _MASK, replicate >> SHIFT, np.uint64(0)
    k0, k1 = key & _MASK, key >> SHIFT
    for _ in range(_ROUNDS):
        p0, p1 = _MULTIPLIER_0 * c0, _MULTIPLIER_1 * c2
        c0, c1, c2, c3 = (p1 >> SHIFT) ^ c1 ^ k0, p1 & _MASK, (p0 >> SHIFT) ^ c3 ^ k1, p0 & _MASK
        k0, k1 = (k0 + _WEYL_0) & _MASK, (k1 + _WEYL_1) & _MASK
    return c0, c1, c2, c3


def philox(counter: NDArray[np.uint32], key: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the four words of Philox4x32-10 for each counter.

    Parameters
    ----------
    counter : (4, …) uint32
    key : (2,) uint32

    Returns
    -------
    (4, …) uint32

    Examples
    --------
    >>> [hex(word) for word in philox(np.zeros(4, np.uint32), np.zeros(2, np.uint32)).tolist()]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    c0, c1, c2, c3 = counter.astype(np.uint64)
    k0, k1 = key.astype(np.uint64)
    for _ in range(_ROUNDS):
        p0, p1 = _MULTIPLIER_0 * c0, _MULTIPLIER_1 * c2
        c0, c1, c2, c3 = (p1 >> SHIFT) ^ c1 ^ k0, p1 & _MASK, (p0 >> SHIFT) ^ c3 ^ k1, p0 & _MASK
        k0, k1 = (k0 + _WEYL_0) & _MASK, (k1 + _WEYL_1) & _MASK
    return np.stack([c0, c1, c2, c3]).astype(np.uint32)


def draw_words(key: int, replicate: int, quads: int) -> NDArray[np.uint32]:
    """Return the (4 · quads,) words of a replicate in order: those of `rounds` for the quads from 0 on."""
    counter = np.zeros((4, quads), np.uint32)
    counter[0] = np.arange(quads)
    counter[1], counter[2] = replicate & 0xFFFFFFFF, replicate >> 32
    return philox(counter, np.array([key & 0xFFFFFFFF, key >> 32], np.uint32)).T.reshape(-1)
