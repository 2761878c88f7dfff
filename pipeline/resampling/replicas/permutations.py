"""Permutations of a unit's outputs, and of runs, drawn by address.

The words are those of `pipeline.resampling.philox`, as in `pipeline.resampling.draws`, with counter (quad of the unit,
replicate low, replicate high, 0): unit i of a permutation that needs q quads of words has the quads i·q … i·q + q − 1. A
permutation is a Fisher-Yates shuffle from the last place down, place k − 1 against (word · k) >> 32; two places differ in
probability by less than k / 2**32.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel
from pipeline.resampling.draws import Draws
from pipeline.resampling.philox import SHIFT, draw_words, philox, rounds

__all__ = ["draw_orders", "draw_permutations", "draw_runs", "fill_words", "permute", "shuffle_places", "unit_words"]


def draw_permutations(draws: Draws, replicate: int, places: int) -> NDArray[np.int64]:
    """Draw a permutation of each unit: the readable definition.

    Returns
    -------
    (unit, place) int64
        The slot that the output in this place is dealt to.

    Examples
    --------
    >>> draw_permutations(Draws(key=1, n_units=2, n_draws=2), 0, 4)
    array([[0, 1, 2, 3],
           [1, 0, 3, 2]])
    """
    quads = -(-(places - 1) // 4)
    words = unit_words(draws, replicate, quads)
    return np.array([permute(row, places) for row in words], np.int64).reshape(-1, places)


def draw_orders(draws: Draws, first: int, count: int, places: int) -> NDArray[np.int64]:
    """Draw one permutation a replicate: that of unit 0 in `draw_permutations`.

    Returns
    -------
    (replicate, place) int64
    """
    orders = np.empty((count, places), np.int64)
    _fill_orders(np.uint64(draws.key), np.uint64(first), orders)
    return orders


def draw_runs(draws: Draws, first: int, count: int, runs: int, *, side: int) -> NDArray[np.int64]:
    """Draw runs with replacement.

    Parameters
    ----------
    draws : Draws
        Only its key matters; its units are drawn from other counters.
    first, count : int
        First replicate and number of replicates.
    runs : int
        Draws a replicate, from as many.
    side : {0, 1}
        Of the pair: each draws for itself.

    Returns
    -------
    (replicate, draw) int64
        (word · runs) >> 32 with the words of counters (quad, replicate low, replicate high, 1 + side).
    """
    quads = -(-runs // 4)
    counter = np.zeros((4, count, quads), np.uint32)
    replicate = np.arange(first, first + count, dtype=np.uint64)[:, None]
    counter[0] = np.arange(quads)
    counter[1], counter[2] = replicate & np.uint64(0xFFFFFFFF), replicate >> SHIFT
    counter[3] = 1 + side
    words = philox(counter, np.array([draws.key & 0xFFFFFFFF, draws.key >> 32], np.uint32))
    drawn = np.ascontiguousarray(words.transpose(1, 2, 0).reshape(count, -1)[:, :runs], np.uint64)
    drawn *= np.uint64(runs)
    drawn >>= SHIFT
    return drawn.view(np.int64)


def unit_words(draws: Draws, replicate: int, quads: int) -> NDArray[np.uint64]:
    """Draw the (unit, word) words of one replicate, so many quads a unit."""
    words: NDArray[np.uint64] = draw_words(draws.key, replicate, draws.n_units * quads).astype(np.uint64)
    return words.reshape(draws.n_units, -1)


def permute(words: NDArray[np.uint64], places: int) -> list[int]:
    """Shuffle a number of places with places − 1 random words."""
    order = list(range(places))
    for word, place in zip(words.tolist(), range(places - 1, 0, -1), strict=False):  # the last quad may have words to spare
        other = (word * (place + 1)) >> 32
        order[place], order[other] = order[other], order[place]
    return order


@kernel
def fill_words(key: np.uint64, replicate: np.uint64, begin: int, quads: int, words: NDArray[np.uint64]) -> None:
    """Fill the words of consecutive quads of a replicate."""
    for quad in range(quads):
        c0, c1, c2, c3 = rounds(np.uint64(begin + quad), replicate, key)
        words[4 * quad], words[4 * quad + 1], words[4 * quad + 2], words[4 * quad + 3] = c0, c1, c2, c3


@kernel
def shuffle_places(words: NDArray[np.uint64], order: NDArray[np.int64]) -> None:
    """Fill a permutation: what `permute` gives for the same words."""
    for place in range(len(order)):
        order[place] = place
    for step in range(len(order) - 1):
        place = len(order) - 1 - step
        other = np.int64((words[step] * np.uint64(place + 1)) >> SHIFT)
        order[place], order[other] = order[other], order[place]


@bare_kernel
def _fill_orders(key: np.uint64, first: np.uint64, orders: NDArray[np.int64]) -> None:
    quads = (orders.shape[1] + 2) // 4
    words = np.empty(4 * quads, np.uint64)
    for row in range(len(orders)):
        fill_words(key, first + np.uint64(row), 0, quads, words)
        shuffle_places(words, orders[row])
