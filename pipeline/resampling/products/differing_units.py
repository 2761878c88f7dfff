"""On how many of the units drawn two systems differ, for statistics of 0 and 1: by bits, without a column for every pair.

A replicate is a row of units, one for each draw, and each system has a row of bits on it. The number for a pair is that of the bits
set in the exclusive or of two rows: 64 units take three instructions, a quarter of the time of products in bytes. The numbers are
the same as those of any product.

The bits of systems are put into the order of draws for 64 draws of 64 systems at a time. The rows of the units drawn, each with a
bit for every system, are a square of bits, which is transposed (Warren, Hacker's Delight, section 7–3), sixteen replicates at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel
from pipeline.compiled.loops import count_differing, exchange_bits
from pipeline.compiled.sizes import BITS_SIDE_BY_SIDE
from pipeline.resampling.draws import Draws, find_units

__all__ = ["MANY", "MOST_UNITS", "DifferingUnits", "count_in_threes", "lay_out", "room_for_bits", "rows_of_bits"]

MOST_UNITS = 2**16 - 64
"""Draws of a replicate at most: 16 bits hold how many differ."""

MANY = 2**36
"""Multiply-adds of a product in place of bits, from which on bits are counted: below, compiling that takes longer than it saves."""

_WORD = 64


class DifferingUnits:
    """How many units drawn differ between the systems of some pairs, on every replicate.

    Parameters
    ----------
    draws : Draws
        At most `MOST_UNITS` draws.
    replicates : int
        How many are counted, from 0 on.
    values : (system, unit) int64
        0 or 1.
    pairs : (pair, 2) int64
        Of systems, in the order in which they will be asked for.
    memory_bytes : int
        For the numbers held at a time: those of as many pairs as fit. The bits are laid out again for the next pairs.
    """

    def __init__(
        self, draws: Draws, replicates: int, values: NDArray[np.int64], pairs: NDArray[np.int64], *, memory_bytes: int
    ) -> None:
        self._draws, self._replicates, self._pairs, self._rows = draws, replicates, pairs, rows_of_bits(values)
        self._width = -(-replicates // BITS_SIDE_BY_SIDE) * BITS_SIDE_BY_SIDE
        self._several = max(memory_bytes // (2 * self._width), 1)
        self._first, self._row, self._counts = 0, np.empty(0, np.int64), np.empty((0, self._width), np.uint16)

    def of(self, start: int, stop: int) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
        """Return (row, replicate) numbers, and which row each pair has from ``start`` up to ``stop``."""
        if start < self._first or stop > self._first + len(self._row):
            some = self._pairs[start : max(start + self._several, stop)]
            self._counts = np.empty((0, self._width), np.uint16)  # freed before new ones are made
            self._first, self._row = start, np.empty(len(some), np.int64)
            # Sorted: a system stays in the first-level cache for all that it is compared with, and rows are filled in their order.
            order = np.lexsort(some.T[::-1])
            self._row[order] = np.arange(len(some))
            self._counts = self._count(some[order])
        return self._counts, self._row[start - self._first : stop - self._first]

    def _count(self, pairs: NDArray[np.int64]) -> NDArray[np.uint16]:
        counts = np.empty((len(pairs), self._width), np.uint16)
        bits, key, n_draws = room_for_bits(self._rows, self._draws.n_draws), np.uint64(self._draws.key), self._draws.n_draws
        for first in range(0, self._width, BITS_SIDE_BY_SIDE):
            lay_out(key, np.uint64(first), n_draws, self._rows, bits)
            _count_pairs(bits, pairs, first, counts)
        return counts


def rows_of_bits(values: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return (unit, word) bits, one for each system, of (system, unit) numbers that are 0 or 1."""
    systems, units = values.shape
    padded = np.zeros((units, -(-systems // _WORD) * _WORD), np.uint8)
    padded[:, :systems] = values.T
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def room_for_bits(rows: NDArray[np.uint64], n_draws: int) -> NDArray[np.uint64]:
    """Return (system, word, replicate) zeros: `lay_out` fills all but the last row, which is a system with no bit set."""
    return np.zeros((_WORD * rows.shape[1] + 1, -(-n_draws // _WORD), BITS_SIDE_BY_SIDE), np.uint64)


@bare_kernel
def lay_out(key: np.uint64, first: np.uint64, n_draws: int, rows: NDArray[np.uint64], bits: NDArray[np.uint64]) -> None:
    """Fill (system, word, replicate) bits, a bit for each draw, from the (unit, word) bits of systems."""
    lanes, words, n_units = bits.shape[2], bits.shape[1], np.uint64(len(rows))
    units = np.empty((4, (n_draws + 3) // 4), np.uint32)
    drawn, square = np.empty((lanes, n_draws), np.int64), np.empty((_WORD, lanes), np.uint64)
    for lane in range(lanes):
        find_units(key, first + np.uint64(lane), n_units, units)
        place = 0
        for word in range(4):
            for quad in range((n_draws - word + 3) // 4):
                drawn[lane, place] = units[word, quad]
                place += 1
    base, step = square.ctypes.data, 8 * lanes
    for word in range(words):
        start = _WORD * word
        count = min(_WORD, n_draws - start)
        for group in range(rows.shape[1]):
            for lane in range(lanes):
                for place in range(count):
                    square[place, lane] = rows[drawn[lane, start + place], group]
                for place in range(count, _WORD):
                    square[place, lane] = np.uint64(0)
            half, mask = 32, 0xFFFFFFFF
            while half:
                for block in range(0, _WORD, 2 * half):
                    for place in range(block, block + half):
                        exchange_bits(base + place * step, base + (place + half) * step, half, mask)
                half >>= 1
                mask ^= mask << half
            for system in range(_WORD):
                target, source = bits[_WORD * group + system, word], square[system]
                for lane in range(lanes):
                    target[lane] = source[lane]


@bare_kernel
def _count_pairs(bits: NDArray[np.uint64], pairs: NDArray[np.int64], first: int, out: NDArray[np.uint16]) -> None:
    """Fill the numbers of the replicates that lie side by side, from ``first`` on."""
    count_in_threes(bits, pairs, np.arange(len(pairs)), out.ctypes.data + out.itemsize * first, out.itemsize * out.shape[1])


@kernel
def count_in_threes(bits: NDArray[np.uint64], pairs: NDArray[np.int64], order: NDArray[np.int64], out: int, row: int) -> None:
    """Write on how many units drawn the systems of each pair differ; up to three pairs with one first system are counted at once.

    Parameters
    ----------
    bits : (system, word, replicate) uint64
        From `lay_out`.
    pairs : (pair, 2) int64
        Of systems.
    order : (pair,) int64
        The order in which they are counted: best with the pairs of a system next to each other.
    out : address of uint16
        That of the first pair; a pair has a number for each of the replicates that lie side by side.
    row : int
        Bytes from one pair to the next.
    """
    words, base, size = bits.shape[1], bits.ctypes.data, 8 * bits.shape[1] * bits.shape[2]
    place = 0
    while place < len(order):
        a, several = order[place], 1
        while several < 3 and place + several < len(order) and pairs[order[place + several], 0] == pairs[a, 0]:
            several += 1
        b, c = order[place + min(several, 2) - 1], order[place + several - 1]  # the last again, where there are fewer
        count_differing(
            base + pairs[a, 0] * size,
            base + pairs[a, 1] * size,
            base + pairs[b, 1] * size,
            base + pairs[c, 1] * size,
            words,
            out + row * a,
            out + row * b,
            out + row * c,
        )
        place += several
