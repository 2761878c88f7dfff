"""Compare pairs with whole-number gains: tabulate how often each gain occurs in a cell, then read all counts off the table.

A table of differences takes one addition for each replicate, whatever is read off it; counts, sums and bins are then made from a
few hundred different gains, not from 16 384 replicates. Sums of whole numbers are exact in any order, so they have the bits of
`pipeline.resampling.comparison.compare`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass
from pipeline.resampling.address import CELL
from pipeline.resampling.comparison.compare import Tally, Thresholds
from pipeline.resampling.comparison.gain_counts import add_counts, place_of
from pipeline.resampling.measures import BINS, TABLE_WIDTH, TABLES_BYTES

__all__ = ["GainTables", "add_gains", "add_sides"]

_WIDTH_OF_BATCH = 1.5  # a table three times as wide as a batch is long takes as long as no table
_ERRORS = 9.0  # standard errors to both sides of δ that a table reaches: what lies beyond is counted by itself
_SUBTABLES = 4  # with a single table, two equal gains in a row would wait for each other
_EXACT = 2**53


@dataclass(frozen=True, eq=False)
class GainTables:
    """How often the gains of pairs occur in the cell that is being counted.

    Parameters
    ----------
    thresholds : Thresholds
        Those of the pairs, all with the same step.
    lowest : (chosen,) int64
        The gain, in steps, that the first place of a table stands for.
    table : (chosen, gain) uint16
    step : int
    """

    thresholds: Thresholds
    lowest: NDArray[np.int64]
    table: NDArray[np.uint16]
    step: int

    @classmethod
    def of(cls, thresholds: Thresholds, *, largest_sum: int, batch: int = CELL) -> GainTables | None:
        """Return empty tables, or None where gains are not whole numbers of one step, or are too many or too large.

        No sum of a system exceeds ``largest_sum`` in size. Each ``batch`` of replicates goes through all tables once, so with
        short batches tables save no time.
        """
        steps, center, scale = thresholds.step, thresholds.center, thresholds.bin_scale
        if not len(steps) or np.any(steps != steps[0]) or np.any(center != np.rint(center)):
            return None
        errors = np.divide(BINS / 24, scale, out=np.zeros(len(scale)), where=scale > 0)  # in steps: a bin is a quarter of one
        reach = np.ceil(_ERRORS * errors).max() + 2
        width = int(2 * reach + 1) if reach < TABLE_WIDTH else TABLE_WIDTH + 1
        largest = np.abs(center).max() + reach
        if (
            width > min(TABLE_WIDTH, _WIDTH_OF_BATCH * batch)
            or 2 * width * len(steps) > TABLES_BYTES
            or CELL * largest * largest >= _EXACT
            or largest_sum >= 2**31
        ):
            return None
        return cls(thresholds, (center - reach).astype(np.int64), np.zeros((len(steps), width), np.uint16), int(steps[0]))

    def add(self, values: NDArray[np.float64], tally: Tally, cell: int) -> None:
        """Count the gains of a batch of (row, replicate) sums."""
        whole = (values / self.step).astype(np.int32)
        _count(whole, self.thresholds, self.lowest, self.table, tally, cell)

    def close(self, tally: Tally, cell: int) -> None:
        """Read the cell's counts, sums and bins off the tables, and empty them."""
        _read(self.thresholds, self.lowest, self.table, tally, cell)


@bare_kernel
def _count(
    values: NDArray[np.int32],
    thresholds: Thresholds,
    lowest: NDArray[np.int64],
    table: NDArray[np.uint16],
    tally: Tally,
    cell: int,
) -> None:
    width, length = table.shape[1], values.shape[1]
    parts = np.empty((_SUBTABLES, width + 1), np.uint16)  # the last place takes what lies beyond
    part_0, part_1, part_2, part_3 = parts[0], parts[1], parts[2], parts[3]
    places, beyond = np.empty(length, np.uint32), np.uint32(width)
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    whole = length // _SUBTABLES
    for row in range(len(thresholds.pair)):
        a, b, low = values[thresholds.first[row]], values[thresholds.second[row]], np.int32(lowest[row])
        for i in range(length):
            place = np.uint32((a[i] - b[i]) - low)  # below the lowest: very large
            places[i] = place if place < beyond else beyond
        parts[:] = np.uint16(0)
        for quad in range(whole):
            start = np.uint64(_SUBTABLES * quad)
            part_0[np.uint64(places[start])] += np.uint16(1)
            part_1[np.uint64(places[start + one])] += np.uint16(1)
            part_2[np.uint64(places[start + two])] += np.uint16(1)
            part_3[np.uint64(places[start + three])] += np.uint16(1)
        for i in range(_SUBTABLES * whole, length):
            part_0[np.uint64(places[i])] += np.uint16(1)
        own = table[row]
        for k in range(width):
            own[k] += (part_0[k] + part_1[k]) + (part_2[k] + part_3[k])
        if part_0[width] + part_1[width] + part_2[width] + part_3[width] > 0:
            far, found = np.empty(length), 0
            for i in range(length):
                far[found] = np.float64(a[i] - b[i])
                found += places[i] == beyond
            add_gains(far[:found], np.ones(found, np.int64), thresholds, row, tally, cell)


@bare_kernel
def _read(thresholds: Thresholds, lowest: NDArray[np.int64], table: NDArray[np.uint16], tally: Tally, cell: int) -> None:
    gains, times = np.empty(table.shape[1]), np.empty(table.shape[1], np.int64)
    for row in range(len(thresholds.pair)):
        own, different = table[row], 0
        for place in range(len(own)):
            gains[different] = np.float64(lowest[row] + place)
            times[different] = own[place]
            different += own[place] > 0
            own[place] = np.uint16(0)
        add_gains(gains[:different], times[:different], thresholds, row, tally, cell)


@kernel
def add_gains(
    gains: NDArray[np.float64], times: NDArray[np.int64], thresholds: Thresholds, row: int, tally: Tally, cell: int
) -> None:
    """Count and add up gains, given in steps with the number of times that each occurs."""
    pair, center = thresholds.pair[row], thresholds.center[row]
    shifts = squares = sizes = 0.0
    for i in range(len(gains)):
        often, gain = times[i], gains[i]
        shift = gain - center
        shifts += often * shift
        squares += often * (shift * shift)
        sizes += often * abs(gain)
    lanes = tally.lanes[pair]
    lanes[0, 0] += shifts
    lanes[1, 0] += squares
    lanes[2, 0] += sizes
    add_sides(gains, times, thresholds, row, tally, cell)


@kernel
def add_sides(
    gains: NDArray[np.float64], times: NDArray[np.int64], thresholds: Thresholds, row: int, tally: Tally, cell: int
) -> None:
    """Count on which sides of the thresholds, and in which bins, gains are; their sums are not added."""
    pair, center, step = thresholds.pair[row], thresholds.center[row], thresholds.step[row]
    low_0, low_1, low_2 = thresholds.low[row]
    high_0, high_1, high_2 = thresholds.high[row]
    less_0 = upto_0 = less_1 = upto_1 = less_2 = upto_2 = total = 0
    for i in range(len(gains)):
        often, value = times[i], gains[i] * step
        total += often
        less_0 += often if value < low_0 else 0
        upto_0 += often if value <= high_0 else 0
        less_1 += often if value < low_1 else 0
        upto_1 += often if value <= high_1 else 0
        less_2 += often if value < low_2 else 0
        upto_2 += often if value <= high_2 else 0
    counts, histogram = tally.counts[pair, cell], tally.histogram[pair, cell]
    add_counts(counts, less_0, upto_0, less_1, upto_1, less_2, upto_2, total)
    if len(thresholds.above):
        above, below = thresholds.above[row], thresholds.below[row]
        for i in range(len(gains)):
            counts[6] += times[i] if gains[i] >= above else 0
            counts[7] += times[i] if gains[i] <= below else 0
    scale = thresholds.bin_scale[row]
    for i in range(len(gains)):
        histogram[np.uint64(place_of(gains[i], center, scale))] += np.uint16(times[i])
