"""Count the replicates that reach the t of pairs where each unit is right or wrong: from bits, computing few t*.

Of n units drawn, Q differ between two systems, and the first is right on M more of them than the second, in the test set on m more.
Then t*² is (M − m)² (n − 1) / (n Q − M²), all whole numbers: M is a difference of the systems' own counts, and Q is counted in bits
(`pipeline.resampling.products.differing_units`). A product in single precision, with more room than all rounding takes, decides
whether |t*| reaches a number, and whether it may be the largest so far. Where it cannot decide, t* is computed by the operations of
`pipeline.resampling.standard_errors.studentise`, so the counts are the same as if every t* had been computed.

All pairs are processed on a few replicates at a time, the smallest t first, so no array of pairs × replicates is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel
from pipeline.compiled.loops import count_bits
from pipeline.compiled.sizes import BITS_SIDE_BY_SIDE
from pipeline.compiled.small_work import FewSoFar, is_at_hand
from pipeline.inference.multiple_comparisons.reached import Reached
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import ratio_factor
from pipeline.resampling.products.contract import FLOAT64_LIMIT
from pipeline.resampling.products.differing_units import (
    MANY,
    MOST_UNITS,
    count_in_threes,
    lay_out,
    room_for_bits,
    rows_of_bits,
)
from pipeline.resampling.standard_errors.ratio_spread import SMALL
from pipeline.resampling.standard_errors.studentise import INFINITE, noise_of
from pipeline.resampling.strata import StratifiedDraws

__all__ = ["count_in_bits"]

_LESS, _MORE = np.float32(1 - 2.0**-18), np.float32(1 + 2.0**-18)
_ROUNDING = np.float32(2.0**-20)  # of n Q + M², where n Q − M² is off by 2^-23 of it
_VAST = 1e30  # squares of t beyond this are not told from each other
_NEIGHBOURS = 3  # systems: pairs are counted in squares of these, whose bits stay in the first-level cache

_AT_ONCE = MANY  # multiply-adds of a call, some .3 s

_FEW = 128  # pairs: of fewer, laying out the bits takes as long as making all t*
_is_little = FewSoFar(MANY - 1, MANY, at_hand=lambda: _is_at_hand())
"""Multiply-adds of a family, and of all families so far, that take less time than compiling this would. Where it is on disk, it is
used after a sixteenth of the second number."""


class _Family(NamedTuple):
    """Pairs, the smallest t first."""

    pairs: NDArray[np.int64]  # (pair, 2) rows of bits
    ahead: NDArray[np.float32]  # (pair,) m
    delta: NDArray[np.float64]  # (pair,) as `studentise` has it
    noise: NDArray[np.float64]
    least: NDArray[np.float64]  # what is to be reached
    below: NDArray[np.float32]  # its square, or somewhat less
    above: NDArray[np.float32]  # its square, or somewhat more
    known: NDArray[np.int64]  # which of those whose |t*| are given it is, below 0 where it is none of them


def count_in_bits(
    draws: Draws | StratifiedDraws,
    measure: Measure,
    *,
    replicates: int,
    chosen: NDArray[np.int64],
    least: NDArray[np.float64],
    known: Mapping[int, NDArray[np.float64]] = MappingProxyType({}),
) -> Reached | None:
    """Count what |t*| of the replicates 0 … reach.

    None if every t* must be computed: if statistics are not 0 or 1 over one denominator, within strata, with too many units, with
    so few pairs, in all so far, that compiling this takes longer than it saves, and if two systems differ on nearly all units.

    Parameters
    ----------
    draws, measure, replicates
        As of `pipeline.resampling.standard_errors.studentise.studentise`.
    chosen : (pair,) int64
        Positions of pairs, the one with the smallest t first.
    least : (pair,) float64
        What is to be reached.
    known : mapping of int to (replicate,) float64, optional
        What replaces |t*| for pairs with a scale of their own, by their place among the chosen ones.
    """
    pairs, units = measure.pairs.astype(np.int64)[chosen], len(measure.statistics)
    work = replicates * units * len(pairs)
    if not isinstance(draws, Draws) or measure.form != "ratio" or not 2 <= units <= MOST_UNITS:
        return None
    if work < MANY and len(pairs) < _FEW:
        return None
    systems, places = np.unique(pairs, return_inverse=True)
    numerators, denominators = measure.statistics[:, systems].transpose(2, 1, 0)
    denominator = int(denominators[0, 0])
    if np.any(numerators & ~1) or np.any(denominators != denominator):
        return None
    if denominator <= 0 or units * denominator**2 >= FLOAT64_LIMIT // 4:
        return None
    if work < MANY and _is_little(work):
        return None
    pairs = np.ascontiguousarray(places.reshape(-1, 2))
    right, whole, factor = numerators.sum(axis=1), float(units * denominator), ratio_factor(measure)
    a, b = right[pairs].T
    square = np.clip(least, 0.0, 1e150) ** 2
    family = _Family(
        pairs,
        ahead=(a - b).astype(np.float32),
        delta=(a.astype(np.float64) - b.astype(np.float64)) / whole * factor,
        noise=noise_of(measure)[chosen],
        least=np.ascontiguousarray(least),
        below=(np.minimum(square, _VAST) * (1 - 2.0**-20)).astype(np.float32),
        above=np.where(square > _VAST, np.inf, np.where(least > 0, square * (1 + 2.0**-20) + 2.0**-100, 0.0)).astype(np.float32),
        known=np.full(len(pairs), -1),
    )
    family.known[list(known)] = np.arange(len(known))
    sizes = np.array([*known.values()], np.float64).reshape(len(known), replicates)
    ends = np.sort(pairs, axis=1)  # either way round as many differ
    squares = ends // _NEIGHBOURS
    order = np.lexsort((ends[:, 1], ends[:, 0], squares[:, 1], squares[:, 0]))
    found, rows = Reached.nothing(len(pairs), replicates), rows_of_bits(numerators)
    bits = room_for_bits(rows, units)
    counts, step = np.empty((len(pairs), BITS_SIDE_BY_SIDE), np.uint16), _step(units * len(pairs))
    given = (np.uint64(draws.key), family, sizes, rows, bits, len(systems), ends, order, counts, units, float(denominator))
    for first in range(0, replicates, step):
        stop = min(first + step, replicates)
        if not _count(*given, (factor, factor**2), first, stop, found.largest, found.own, found.successive):
            return None
    return found


def _step(work: int) -> int:
    """Return how many replicates to count in a call, given the multiply-adds that each takes: signals are handled in between."""
    return max(_AT_ONCE // work // BITS_SIDE_BY_SIDE, 1) * BITS_SIDE_BY_SIDE


def _is_at_hand() -> bool:
    words, single, number, place = np.empty((1, 1, 1), np.uint64), np.empty(0, np.float32), np.empty(0), np.empty(0, np.int64)
    pairs = np.empty((0, 2), np.int64)
    family = _Family(pairs, single, number, number, number, single, single, place)
    laid_out = (np.empty((0, 0)), words[0], words, 0, pairs, place, np.empty((0, 0), np.uint16))
    return is_at_hand(_count, np.uint64(0), family, *laid_out, 0, 0.0, (0.0, 0.0), 0, 0, number, place, place)


@bare_kernel(error_model="numpy")
def _count(
    key: np.uint64,
    family: _Family,
    sizes: NDArray[np.float64],
    rows: NDArray[np.uint64],
    bits: NDArray[np.uint64],
    systems: int,
    ends: NDArray[np.int64],
    order: NDArray[np.int64],
    counts: NDArray[np.uint16],
    units: int,
    denominator: float,
    factors: tuple[float, float],
    first: int,
    stop: int,
    largest: NDArray[np.float64],
    own: NDArray[np.int64],
    successive: NDArray[np.int64],
) -> bool:
    """Count on the replicates from ``first`` to before ``stop``; False where units would have to be looked at.

    Parameters
    ----------
    key : uint64
        Of the draws.
    family : _Family
    sizes : (some pair, replicate) float64
        |t*| that are given.
    rows : (unit, word) uint64
        Bits of systems, as `rows_of_bits` has them.
    bits : (system, word, replicate) uint64
        Room for as many replicates as lie side by side. The last row is 0.
    systems : int
    ends : (pair, 2) int64
        The systems of each pair, the same way round for all.
    order : (pair,) int64
        In which bits are counted.
    counts : (pair, replicate) uint16
        Room for them.
    units : int
    denominator : float
        Of each unit.
    factors : tuple of float
        Of the score, and its square.
    first, stop : int
    largest : (replicate,) float64
        Of all replicates; those from ``first`` on are filled with the largest |t*| of all pairs.
    own, successive : (pair,) int64
        Added to.
    """
    side_by_side = np.empty(BITS_SIDE_BY_SIDE)
    for start in range(first, stop, BITS_SIDE_BY_SIDE):
        count = min(BITS_SIDE_BY_SIDE, stop - start)
        for i in range(BITS_SIDE_BY_SIDE):
            side_by_side[i] = 0.0 if i < count else np.inf
        lay_out(key, np.uint64(start), units, rows, bits)
        count_in_threes(bits, ends, order, counts.ctypes.data, counts.itemsize * counts.shape[1])
        right = _count_right(bits, systems)
        if not _count_some(family, sizes, start, right, counts, units, denominator, factors, count, side_by_side, own, successive):
            return False
        for i in range(count):
            largest[start + i] = side_by_side[i]
    return True


@kernel(error_model="numpy")
def _count_some(
    family: _Family,
    sizes: NDArray[np.float64],
    first: int,
    right: NDArray[np.float32],
    counts: NDArray[np.uint16],
    units: int,
    denominator: float,
    factors: tuple[float, float],
    replicates: int,
    largest: NDArray[np.float64],
    own: NDArray[np.int64],
    successive: NDArray[np.int64],
) -> bool:
    """Count on replicates that lie side by side, from ``first`` on; of these ``largest`` is 0, and filled."""
    pairs, ahead, delta, noise, least, below, above, known = family
    n, rest = np.float32(units), np.float32(units - 1)
    flags = np.zeros((3, BITS_SIDE_BY_SIDE), np.uint8)
    reaching, opened, highest = flags[0], flags[1], flags[2]
    words = flags.view(np.uint64)
    there, bar = np.zeros(BITS_SIDE_BY_SIDE, np.uint8), np.full(BITS_SIDE_BY_SIDE, np.float32(_VAST))
    for i in range(replicates):
        there[i], bar[i] = 1, 0.0
    for pair in range(len(pairs)):
        a, b, differ = right[pairs[pair, 0]], right[pairs[pair, 1]], counts[pair]
        middle, low, high = ahead[pair], below[pair], above[pair]
        for i in range(BITS_SIDE_BY_SIDE):
            more = a[i] - b[i]
            away, product, square = more - middle, n * np.float32(differ[i]), more * more
            left, lost = product - square, _ROUNDING * (product + square)
            size = away * away * rest
            reaches = size * _LESS >= high * (left + lost)
            misses = size * _MORE < low * (left - lost)
            may_be_largest = size * _MORE >= bar[i] * (left - lost)
            reaching[i] = there[i] & reaches
            opened[i] = there[i] & (may_be_largest | (reaches == misses))
        given = known[pair]
        if given >= 0:
            for i in range(BITS_SIDE_BY_SIDE):
                reaching[i], opened[i] = 0, there[i]
        alone = count_bits(words[0, 0]) + count_bits(words[0, 1])
        if words[1, 0] | words[1, 1]:
            for i in range(replicates):
                if opened[i]:
                    if given >= 0:
                        found = sizes[given, first + i]
                    else:
                        shares = float(a[i]), float(b[i]), float(differ[i])
                        found = _size_of(shares, units, denominator, factors, delta[pair], noise[pair])
                    if found < 0.0:
                        return False
                    alone += (not reaching[i]) & (found >= least[pair])
                    if found > largest[i]:
                        largest[i] = found
                        bar[i] = min(found * found, _VAST) * (1 - 2.0**-20)
        for i in range(BITS_SIDE_BY_SIDE):
            highest[i] = there[i] & (largest[i] >= least[pair])
        own[pair] += alone
        successive[pair] += count_bits(words[2, 0]) + count_bits(words[2, 1])
    return True


@kernel
def _count_right(bits: NDArray[np.uint64], systems: int) -> NDArray[np.float32]:
    """Return on how many of the units drawn each system is right: the units on which it differs from a system that never is."""
    right, counted = np.empty((systems, bits.shape[2]), np.float32), np.empty((systems, bits.shape[2]), np.uint16)
    pairs = np.full((systems, 2), len(bits) - 1)
    for system in range(systems):
        pairs[system, 1] = system
    count_in_threes(bits, pairs, pairs[:, 1], counted.ctypes.data, counted.itemsize * counted.shape[1])
    for system in range(systems):
        for i in range(counted.shape[1]):
            right[system, i] = counted[system, i]
    return right


@kernel(error_model="numpy")
def _size_of(
    shares: tuple[float, float, float], units: int, denominator: float, factors: tuple[float, float], delta: float, noise: float
) -> float:
    """Return |t*|, infinite where it is undefined, by the operations of `studentise`; −1 where units would be looked at."""
    top, bottom, square = shares
    total, length = denominator * units, denominator * denominator * units
    gain = (top - bottom) / total
    lengths = gain * gain * length
    left = square - 2.0 * gain * (denominator * top - denominator * bottom) + lengths
    if left < SMALL * (square + lengths):
        return -1.0
    spread = left / (total * total) * (units / (units - 1)) * factors[1]
    shift = gain * factors[0] - delta
    shift = 0.0 if spread == 0.0 and abs(shift) <= noise else shift
    found = abs(shift / np.sqrt(spread if spread > 0.0 else 0.0))
    return found if found <= INFINITE else (np.inf if found != found else INFINITE)
