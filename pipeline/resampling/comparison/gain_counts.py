"""The counts of one pair's gains: sums, bins, and the side of each of three thresholds on which they lie.

A loop over single replicates defines the results. If no gain is nan, gains are summed and put into bins many at a time, with the
same bits, and compared by 256ths of a bin, which are whole numbers; only the few gains that are near a threshold are themselves
compared with it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.loops import count_bins, walk_gains
from pipeline.compiled.sizes import FINER, GROUP
from pipeline.resampling.measures import BINS, LANES

__all__ = [
    "DOUBTS",
    "LAST",
    "MIDDLE",
    "NO_LIMIT",
    "ROOM",
    "TILE",
    "add_bins",
    "add_counts",
    "add_sums",
    "part_of",
    "parts_of",
    "place_of",
    "sum_and_bin",
]

MIDDLE = BINS / 2.0 + 2.0**-20
"""The place of a gain of δ: ties with it stay in the bin above although they may miss it by a rounding error."""

LAST = BINS - 1.0
"""The last place; all beyond is there."""

TILE = 2048
"""Replicates that are gone through together at most; a multiple of `GROUP`."""

NO_LIMIT = 2**15
"""Above every part of a bin."""

DOUBTS = 8
"""Where the bits of doubtful replicates begin in the room of `sum_and_bin`, 64 in a number."""

_BINS_AT = DOUBTS + TILE // 64

ROOM = _BINS_AT + TILE // 8
"""Numbers of 64 bits that `sum_and_bin` needs."""

_FOUR = 4  # bins that `count_bins` counts together
_FINER, _MIDDLE_PART, _LAST_PART = float(FINER), MIDDLE * FINER, LAST * FINER


@kernel(inline="always")
def place_of(gain: float, center: float, scale: float) -> float:
    """Return the bin of a gain, and how far into it the gain is; 0 for nan."""
    place = (gain - center) * scale + MIDDLE
    place = place if place > 0.0 else 0.0
    return place if place < LAST else LAST


@kernel(inline="always")
def part_of(gain: float, center: float, scale: float) -> int:
    """Return which 256th of a bin a gain is in, counted from the first bin: it never falls as gains rise."""
    place = (gain - center) * (scale * _FINER) + _MIDDLE_PART
    place = place if place > 0.0 else 0.0
    return int(place if place < _LAST_PART else _LAST_PART)


@kernel(inline="always")
def parts_of(low: float, high: float, center: float, scale: float) -> tuple[int, int]:
    """Return the parts that the lower and the upper end of a threshold are in."""
    one, other = part_of(low, center, scale), part_of(high, center, scale)
    return min(one, other), max(one, other)


@kernel(inline="always")
def add_counts(
    counts: NDArray[np.int32], less_0: int, upto_0: int, less_1: int, upto_1: int, less_2: int, upto_2: int, total: int
) -> None:
    """Add three-way counts of ``total`` gains: how many are less than each threshold, and how many are less or equal (``upto``).

    For a threshold between two integers low is the next integer above high, so that ``less`` and ``upto`` are the same.
    """
    counts[0] += less_0
    counts[1] += upto_0 - less_0
    counts[2] += less_1
    counts[3] += upto_1 - less_1
    counts[4] += upto_2 - less_2
    counts[5] += total - upto_2


@kernel(inline="always")
def sum_and_bin(
    a: int,
    b: int,
    count: int,
    center: float,
    scale: float,
    limit_0: int,
    limit_1: int,
    limit_2: int,
    width: int,
    lanes: int,
    histogram: int,
    room: NDArray[np.int64],
) -> tuple[int, int]:
    """Add sums and bins of the gains a − b of some replicates at once, and compare their parts with limits.

    Arrays are given by their addresses: a slice would cost as much as many replicates.

    Parameters
    ----------
    a, b : address of float64
        The first replicate stands at a multiple of `LANES` within its cell.
    count : int
        At most `TILE`; those beyond a multiple of `GROUP` are left to the caller.
    center, scale : float
    limit_0, limit_1, limit_2, width : int
        Parts of three thresholds; a gain is doubtful up to ``width`` parts above one.
    lanes : address of (3, LANES) float64
    histogram : address of (BINS,) uint16
    room : (ROOM,) int64
        Filled: how many are surely below each limit; from `DOUBTS` on a bit for each doubtful replicate.

    Returns
    -------
    tuple of int
        How many gains this was done for, 0 if one is nan or there is no scale; and how many of these are doubtful.
    """
    whole, doubtful = count // GROUP * GROUP, -1
    fine = scale * _FINER
    # Otherwise all bins are one, or 0 has no place in them.
    if whole > 0 and fine > 0.0 and fine < np.inf:
        at = room.ctypes.data
        bins = at + 8 * _BINS_AT
        doubtful = walk_gains(
            a, b, whole // LANES, lanes, center, fine, _MIDDLE_PART, _LAST_PART,
            limit_0, limit_1, limit_2, width, bins, at + 8 * DOUBTS, at,
        )  # fmt: skip
        if doubtful >= 0:
            first = room[3] // _FOUR * _FOUR
            count_bins(bins, whole // GROUP, first, (room[4] - first) // _FOUR + 1, histogram)
    return (whole if doubtful >= 0 else 0), doubtful


@kernel(inline="always")
def add_sums(gain: NDArray[np.float64], center: float, lanes: NDArray[np.float64]) -> None:
    """Add Σ(x − center), Σ(x − center)² and Σ|x|, replicate i to number i mod `LANES`; nan is left out."""
    shifts, squares, sizes = lanes[0], lanes[1], lanes[2]
    whole = len(gain) // LANES * LANES
    for start in range(0, whole, LANES):
        for lane in range(LANES):
            x = gain[start + lane]
            shift = x - center
            shift = shift if shift == shift else 0.0
            x = x if x == x else 0.0
            shifts[lane] += shift
            squares[lane] += shift * shift
            sizes[lane] += abs(x)
    for lane in range(len(gain) - whole):
        x = gain[whole + lane]
        if x == x:
            shifts[lane] += x - center
            squares[lane] += (x - center) * (x - center)
            sizes[lane] += abs(x)


@kernel(inline="always")
def add_bins(gain: NDArray[np.float64], center: float, scale: float, histogram: NDArray[np.uint16]) -> None:
    """Add the bins of gains; nan is left out."""
    for i in range(len(gain)):
        if gain[i] == gain[i]:
            # Unsigned: the compiler need not check for an index that counts from the end.
            histogram[np.uint64(place_of(gain[i], center, scale))] += np.uint16(1)
