"""Bootstrap draws by address: replicate r of a key always has the same units, drawn alone or in a batch.

The words are those of `pipeline.resampling.philox` with key = (low, high 32 bits of the key), counter = (quad of draws, replicate
low, replicate high, 0), and draw 4·quad + j of n units is (word j · n) >> 32. Units differ in probability by less than n / 2**32.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass
from pipeline.resampling.philox import SHIFT, draw_words, rounds

__all__ = ["Draws", "check_replicates", "draw_counts", "draw_order", "draw_units", "draw_weights", "find_units", "rows_of"]


@dataclass(frozen=True)
class Draws:
    """A stream of bootstrap samples.

    Parameters
    ----------
    key : int
        64 bits from `pipeline.resampling.address.draw_key`.
    n_units : int
        Units to draw from.
    n_draws : int
        Draws in each replicate, with replacement.
    """

    key: int
    n_units: int
    n_draws: int

    def __post_init__(self) -> None:
        if not 0 <= self.key < 2**64:
            raise ValueError(f"a key has 64 bits: {self.key} is not in 0 … {2**64 - 1}")
        if not 1 <= self.n_units < 2**31:
            raise ValueError(f"units must number 1 … {2**31 - 1}, not {self.n_units}")
        if not 1 <= self.n_draws < 2**31:
            raise ValueError(f"draws must number 1 … {2**31 - 1}, not {self.n_draws}")


def draw_units(draws: Draws, replicate: int) -> NDArray[np.int64]:
    """Draw the units of one replicate, in the order of the draws: the readable definition.

    Returns
    -------
    (n_draws,) int64
        Positions of units, 0 … n_units − 1.

    Examples
    --------
    >>> draw_units(Draws(key=1, n_units=10, n_draws=6), 0)
    array([8, 8, 5, 7, 6, 8])
    """
    check_replicates(replicate, 1)
    words = draw_words(draws.key, replicate, -(-draws.n_draws // 4))[: draws.n_draws]
    return ((words.astype(np.uint64) * np.uint64(draws.n_units)) >> SHIFT).astype(np.int64)


def draw_order(key: int, n_units: int) -> NDArray[np.int64]:
    """Draw a uniformly random order of units: positions sorted by two random words each.

    Parameters
    ----------
    key : int
        64 bits from `pipeline.resampling.address.draw_key`.
    n_units : int

    Returns
    -------
    (unit,) int64

    Examples
    --------
    >>> draw_order(1, 6)
    array([4, 3, 1, 2, 5, 0])
    """
    words = draw_words(key, 0, -(-n_units // 2))[: 2 * n_units].reshape(-1, 2).astype(np.uint64)
    return np.argsort((words[:, 0] << SHIFT) | words[:, 1], kind="stable").astype(np.int64)


def draw_weights(draws: Draws, first: int, count: int, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Count how often each unit is drawn in consecutive replicates.

    Parameters
    ----------
    draws : Draws
    first, count : int
        First replicate and number of replicates.
    out : (≥ count, unit) float32, optional
        Where to write; rows beyond ``count`` stay as they are.

    Returns
    -------
    (replicate, unit) float32
        Whole numbers; each row sums to ``n_draws`` (exact: a count above 2**24 is refused).
    """
    check_replicates(first, count)
    if draws.n_draws > 2**24:
        raise ValueError(f"float32 counts are exact up to {2**24} draws, not {draws.n_draws}")
    weights = rows_of(out, count, draws.n_units)
    units, counts = np.empty((4, -(-draws.n_draws // 4)), np.uint32), np.empty(draws.n_units, np.int32)
    _fill_weights(np.uint64(draws.key), np.uint64(first), draws.n_draws, weights, units, counts)
    return weights


def draw_counts(draws: Draws, first: int, count: int, out: NDArray[np.uint8]) -> None:
    """Count how often each unit is drawn in consecutive replicates, as bytes in the layout of products in bytes.

    `pipeline.resampling.products.byte_product` describes it.

    Parameters
    ----------
    draws : Draws
    first, count : int
        First replicate and number of replicates.
    out : (block, quad, 16, 4) uint8
        Room for at least ``count`` replicates; further ones get counts of 0. A count above 255 loses multiples of 256, and its
        replicate no longer sums to ``n_draws``.
    """
    check_replicates(first, count)
    _fill_counts(np.uint64(draws.key), np.uint64(first), count, draws.n_draws, draws.n_units, out)


def rows_of(out: NDArray[np.float32] | None, count: int, n_units: int) -> NDArray[np.float32]:
    """Return the first ``count`` rows of ``out``, or new ones; ValueError if they do not have so many units."""
    if out is None:
        out = np.empty((count, n_units), np.float32)
    if out.shape[0] < count or out.shape[1] != n_units:
        raise ValueError(f"out holds {out.shape} weights, {(count, n_units)} are drawn")
    return out[:count]


def check_replicates(first: int, count: int) -> None:
    """Raise ValueError for replicates that have no address."""
    if first < 0 or count < 0 or first + count > 2**64:
        raise ValueError(f"replicates {first} … {first + count - 1} are not in 0 … {2**64 - 1}")


@kernel(inline="always")
def find_units(key: np.uint64, replicate: np.uint64, n_units: np.uint64, units: NDArray[np.uint32]) -> None:
    """Write the units that one replicate draws: draw 4·quad + j into ``units[j, quad]``. The loop vectorises."""
    for quad in range(units.shape[1]):
        c0, c1, c2, c3 = rounds(np.uint64(quad), replicate, key)
        units[0, quad] = np.uint32((c0 * n_units) >> SHIFT)
        units[1, quad] = np.uint32((c1 * n_units) >> SHIFT)
        units[2, quad] = np.uint32((c2 * n_units) >> SHIFT)
        units[3, quad] = np.uint32((c3 * n_units) >> SHIFT)


@bare_kernel
def _fill_counts(key: np.uint64, first: np.uint64, count: int, n_draws: int, n_units: int, out: NDArray[np.uint8]) -> None:
    # As `_fill_weights`, with a count in a byte: the rows of sixteen replicates stay in the cache until they are laid side by side.
    units_64, quads = np.uint64(n_units), (n_draws + 3) // 4
    units, rows = np.empty((4, quads), np.uint32), np.empty((out.shape[2], 4 * out.shape[1]), np.uint8)
    fours = rows.view(np.uint32)
    for block in range(out.shape[0]):
        for lane in range(rows.shape[0]):
            row = rows[lane]
            for unit in range(len(row)):
                row[unit] = 0
            place = len(rows) * block + lane
            if place >= count:
                continue
            find_units(key, first + np.uint64(place), units_64, units)
            for word in range(4):
                for quad in range((n_draws - word + 3) // 4):
                    row[units[word, quad]] += np.uint8(1)
        for quad in range(out.shape[1]):
            target = out[block, quad].view(np.uint32)
            for lane in range(len(rows)):
                target[lane, 0] = fours[lane, quad]


@bare_kernel
def _fill_weights(
    key: np.uint64,
    first: np.uint64,
    n_draws: int,
    weights: NDArray[np.float32],
    units: NDArray[np.uint32],
    counts: NDArray[np.int32],
) -> None:
    # Units of a whole replicate first, then the scatter into a row that stays in the cache: three times as fast as drawing and
    # counting word by word.
    n_units = np.uint64(weights.shape[1])
    for row in range(weights.shape[0]):
        find_units(key, first + np.uint64(row), n_units, units)
        # One by one here and below: the assignment of a slice takes seconds to compile.
        for unit in range(len(counts)):
            counts[unit] = 0
        for word in range(4):
            for quad in range((n_draws - word + 3) // 4):
                counts[units[word, quad]] += 1
        for unit in range(len(counts)):
            weights[row, unit] = counts[unit]
