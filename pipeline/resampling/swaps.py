"""Swap masks by address: replicate r of a key swaps the same units whoever draws it, alone or in a batch.

Draws for approximate randomization (Riezler & Maxwell 2005, https://aclanthology.org/W05-0908): each unit changes sides with
probability ½, exactly. Unit i of replicate r is swapped where bit i mod 32, counted from the lowest, of word i // 32 is set; the
words are those of `pipeline.resampling.draws` for the same key and replicate, in their order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.resampling.draws import Draws
from pipeline.resampling.philox import SHIFT, draw_words, philox, rounds

__all__ = ["KeptSwaps", "draw_swap", "draw_swap_words", "draw_swaps", "spread_bits"]

_WORD = 32  # bits
_AT_ONCE = 2**14  # counters whose words stay in the second-level cache
_LOW = np.uint64(0xFFFFFFFF)


def draw_swap(draws: Draws, replicate: int) -> NDArray[np.bool_]:
    """Draw which units of one replicate are swapped: the readable definition.

    Returns
    -------
    (unit,) bool

    Examples
    --------
    >>> draw_swap(Draws(key=1, n_units=6, n_draws=6), 0).astype(int)
    array([0, 0, 0, 0, 1, 1])
    """
    _check_address(draws, replicate, 1)
    words = draw_words(draws.key, replicate, -(-draws.n_units // (4 * _WORD)))
    unit = np.arange(draws.n_units)
    swapped: NDArray[np.bool_] = ((words[unit // _WORD] >> (unit % _WORD).astype(np.uint32)) & np.uint32(1)).astype(np.bool_)
    return swapped


def draw_swaps(draws: Draws, first: int, count: int, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Draw which units are swapped in consecutive replicates.

    Parameters
    ----------
    draws : Draws
        ``n_units`` and ``n_draws`` are equal: there is one draw for every unit.
    first, count : int
        First replicate and number of replicates.
    out : (≥ count, unit) float32, optional
        Where to write; rows beyond ``count`` stay as they are.

    Returns
    -------
    (replicate, unit) float32
        1 where the unit is swapped, 0 where it stays.
    """
    _check_address(draws, first, count)
    if out is None:
        out = np.empty((count, draws.n_units), np.float32)
    if out.shape[0] < count or out.shape[1] != draws.n_units:
        raise ValueError(f"out holds {out.shape} swaps, {(count, draws.n_units)} are drawn")
    swaps = out[:count]
    quads = -(-draws.n_units // (4 * _WORD))
    key = np.array([draws.key & 0xFFFFFFFF, draws.key >> 32], np.uint32)
    rows = max(_AT_ONCE // max(quads, 1), 1)
    for start in range(0, count, rows):
        some = swaps[start : start + rows]
        replicates = np.uint64(first) + np.arange(start, start + len(some), dtype=np.uint64)
        counter = np.zeros((4, len(some), quads), np.uint32)
        counter[0], counter[1], counter[2] = np.arange(quads), replicates[:, None] & _LOW, replicates[:, None] >> SHIFT
        words = np.ascontiguousarray(np.moveaxis(philox(counter, key), 0, -1), "<u4").reshape(len(some), -1)
        some[:] = np.unpackbits(words.view(np.uint8), axis=1, count=draws.n_units, bitorder="little")
    return swaps


class KeptSwaps:
    """Swaps that are drawn once for all that need the same ones, and kept as bits.

    Parameters
    ----------
    most_bytes : int, optional
        Beyond this, swaps are drawn whenever they are needed.
    """

    def __init__(self, most_bytes: int = 2**25) -> None:
        self._left = most_bytes
        self._kept: dict[tuple[Draws, int, int], NDArray[np.uint8]] = {}

    def draw(self, draws: Draws, first: int, count: int) -> NDArray[np.uint8]:
        """Return the masks of `draw_swaps`, as bytes."""
        place = draws, first, count
        if place in self._kept:
            return np.unpackbits(self._kept[place], axis=1, count=draws.n_units)
        drawn = draw_swaps(draws, first, count).astype(np.uint8)
        if (size := count * -(-draws.n_units // 8)) <= self._left:
            self._left -= size
            self._kept[place] = np.packbits(drawn, axis=1)
        return drawn


def draw_swap_words(draws: Draws, first: int, count: int, *, n_words: int | None = None) -> NDArray[np.uint64]:
    """Draw the same masks as bits, 64 units a word, as `pipeline.resampling.products.bitplanes` needs them.

    Parameters
    ----------
    draws, first, count
        As of `draw_swaps`.
    n_words : int, optional
        Words of a mask; those beyond the units are 0.

    Returns
    -------
    (word, replicate) uint64
        Bit i mod 64 of word i // 64 is unit i. Bits beyond the last unit are arbitrary.
    """
    _check_address(draws, first, count)
    needed = -(-draws.n_units // 64)
    if n_words is not None and n_words < needed:
        raise ValueError(f"{draws.n_units} units need {needed} words, not {n_words}")
    words = np.zeros((n_words or needed, count), np.uint64)
    _fill_words(np.uint64(draws.key), np.uint64(first), needed, words)
    return words


@bare_kernel
def spread_bits(words: NDArray[np.uint64], out: NDArray[np.uint8]) -> None:
    """Write masks in bytes, as `pipeline.resampling.products.byte_product` wants them.

    Parameters
    ----------
    words : (word, replicate) uint64
        From `draw_swap_words`.
    out : (block, quad, 16, 4) uint8
        Filled for all replicates; bits beyond the last unit are arbitrary here too.
    """
    lanes = out.shape[2]
    target = out.reshape(out.shape[0], out.shape[1], 4 * lanes).view(np.uint32)
    for block in range(out.shape[0]):
        first = block * lanes
        for quad in range(out.shape[1]):
            word, shift = quad // 16, np.uint64(4 * (quad % 16))
            for lane in range(max(min(lanes, words.shape[1] - first), 0)):
                four = np.uint32((words[word, first + lane] >> shift) & np.uint64(15))
                # Bit k goes to byte k: no two of the four copies meet in the bits that are kept.
                target[block, quad, lane] = (four * np.uint32(0x00204081)) & np.uint32(0x01010101)


def _check_address(draws: Draws, first: int, count: int) -> None:
    if draws.n_draws != draws.n_units:
        raise ValueError(f"every unit is swapped or not: {draws.n_units} units have {draws.n_units} draws, not {draws.n_draws}")
    if first < 0 or count < 0 or first + count > 2**64:
        raise ValueError(f"replicates {first} … {first + count - 1} are not in 0 … {2**64 - 1}")


@bare_kernel
def _fill_words(key: np.uint64, first: np.uint64, needed: int, words: NDArray[np.uint64]) -> None:
    for quad in range((needed + 1) // 2):
        for row in range(words.shape[1]):  # replicates innermost: the loop vectorises however few the units are
            replicate = first + np.uint64(row)
            c0, c1, c2, c3 = rounds(np.uint64(quad), replicate, key)
            words[2 * quad, row] = c0 | (c1 << SHIFT)
            if 2 * quad + 1 < needed:
                words[2 * quad + 1, row] = c2 | (c3 << SHIFT)
