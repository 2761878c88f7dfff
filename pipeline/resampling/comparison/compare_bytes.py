"""Compare whole gains as bytes, 64 at a time: for gains near the observed one, as most are with a few thousand units.

Counts and bins of gains change only at a few cuts: at thresholds and at the ends of bins. The number of gains below each cut says
how many lie between two of them, and counts and bins follow from that once for each cell. Sums of whole numbers are exact in any
order, so all results have the bits of `pipeline.resampling.comparison.compare`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.compiled.loops import count_below, take_distances
from pipeline.compiled.sizes import BLOCK, CUTS, MOST
from pipeline.dataclass import dataclass
from pipeline.resampling.comparison.compare import Tally, Thresholds
from pipeline.resampling.comparison.compare_integers import GainTables, add_gains, add_sides
from pipeline.resampling.comparison.gain_counts import place_of
from pipeline.resampling.measures import BINS

__all__ = ["GainBytes", "count_whole_gains"]

_ERRORS = 4.5  # standard errors that a byte reaches to both sides of δ: what lies beyond is counted by itself
_LOWEST, _HIGHEST = -128, 127
_WIDTH = 112  # cuts of a pair at most: ends of 96 bins, eight thresholds, and those that fill fours
_LEAST_GAINS = 2**30
"""Gains of a pass below which the kernels would take longer to compile than they save."""


@dataclass(frozen=True, eq=False)
class GainBytes:
    """How often the gains of pairs lie below their cuts in the cell that is being counted.

    Parameters
    ----------
    thresholds : Thresholds
        Those of the pairs, all with the same step.
    cuts : (chosen, cut) int8
        Distances from δ, in steps and in order; those from ``n_cuts`` on are not used.
    n_cuts : (chosen,) int64
    below : (chosen, cut) uint16
    sums : (chosen, 3) int64
        Sums of distances, of their squares, and of gains below 0.
    total : (1,) int64
        Replicates of the cell so far.
    step : int
    """

    thresholds: Thresholds
    cuts: NDArray[np.int8]
    n_cuts: NDArray[np.int64]
    below: NDArray[np.uint16]
    sums: NDArray[np.int64]
    total: NDArray[np.int64]
    step: int

    @classmethod
    def of(cls, thresholds: Thresholds, *, largest_sum: int) -> GainBytes | None:
        """Return empty counts, or None where gains are not whole numbers of one step, or are too large or too far apart.

        No sum of a system exceeds ``largest_sum`` in size.
        """
        steps, center, scale = thresholds.step, thresholds.center, thresholds.bin_scale
        if not len(steps) or np.any(steps != steps[0]) or np.any(center != np.rint(center)):
            return None
        errors = np.divide(BINS / 24, scale, out=np.zeros(len(scale)), where=scale > 0)  # in steps: a bin is a quarter of one
        step = int(steps[0])
        is_small = largest_sum // step < 2**14 and center.min() >= 0 and center.max() < 2**15 + _LOWEST
        if not is_small or _ERRORS * errors.max() > -_LOWEST:
            return None
        cuts, n_cuts = np.zeros((len(steps), _WIDTH), np.int8), np.zeros(len(steps), np.int64)
        _find_cuts(thresholds, cuts, n_cuts)
        below, sums = np.zeros(cuts.shape, np.uint16), np.zeros((len(steps), 3), np.int64)
        return cls(thresholds, cuts, n_cuts, below, sums, np.zeros(1, np.int64), step)

    def add(self, values: NDArray[np.float64], tally: Tally, cell: int) -> None:
        """Count the gains of a batch of (row, replicate) sums."""
        whole = (values if self.step == 1 else values / self.step).astype(np.int16)
        for start in range(0, whole.shape[1], MOST):
            part = np.ascontiguousarray(whole[:, start : start + MOST])
            self.total[0] += part.shape[1] // BLOCK * BLOCK
            _count(part, self.thresholds, self.cuts, self.n_cuts, self.below, self.sums, tally, cell)

    def close(self, tally: Tally, cell: int) -> None:
        """Read the cell's counts, sums and bins, and reset them for the next cell."""
        _read(self.thresholds, self.cuts, self.n_cuts, self.below, self.sums, self.total[0], tally, cell)
        self.below[:], self.sums[:], self.total[:] = 0, 0, 0


def count_whole_gains(thresholds: Thresholds, *, largest_sum: int, batch: int, replicates: int) -> GainBytes | GainTables | None:
    """Choose a faster way of counting whole gains than one by one, where there is one; no result depends on it."""
    found = GainBytes.of(thresholds, largest_sum=largest_sum) if replicates * len(thresholds.pair) >= _LEAST_GAINS else None
    return found if found is not None else GainTables.of(thresholds, largest_sum=largest_sum, batch=batch)


@bare_kernel
def _find_cuts(thresholds: Thresholds, cuts: NDArray[np.int8], n_cuts: NDArray[np.int64]) -> None:
    """Find the gains at which any count changes: a cut is the lower end of a range of gains that are counted alike."""
    for row in range(len(cuts)):
        center, step, scale = thresholds.center[row], thresholds.step[row], thresholds.bin_scale[row]
        found, before = 0, -1.0
        for distance in range(_LOWEST, _HIGHEST + 1):
            gain = center + distance
            value = gain * step
            here = place_of(gain, center, scale) // 1.0
            for k in range(3):  # all of them rise with the gain, so that no two changes cancel
                here += 100.0 * ((value >= thresholds.low[row, k]) + (value > thresholds.high[row, k]))
            if len(thresholds.above):
                here += 100.0 * ((gain >= thresholds.above[row]) + (gain > thresholds.below[row]))
            if distance > _LOWEST and here != before:
                cuts[row, found] = distance
                found += 1
            before = here
        n_cuts[row] = found


@bare_kernel
def _count(
    values: NDArray[np.int16],
    thresholds: Thresholds,
    cuts: NDArray[np.int8],
    n_cuts: NDArray[np.int64],
    below: NDArray[np.uint16],
    sums: NDArray[np.int64],
    tally: Tally,
    cell: int,
) -> None:
    length, line = values.shape[1], 2 * values.shape[1]
    blocks = length // BLOCK
    whole = blocks * BLOCK
    distances, found = np.empty(MOST, np.int8), np.empty(5, np.int64)
    gains, times = np.empty(2 * MOST), np.empty(2 * MOST, np.int64)
    for row in range(len(thresholds.pair)):
        first, second, center = thresholds.first[row], thresholds.second[row], np.int64(thresholds.center[row])
        several = 0
        if blocks > 0:
            start = values.ctypes.data
            take_distances(start + first * line, start + second * line, blocks, center, distances.ctypes.data, found.ctypes.data)
            own, number, at = cuts[row], n_cuts[row], 0
            while at < number and own[at] <= found[3]:
                at += 1
            stop = at
            while stop < number and own[stop] <= found[4]:
                stop += 1
            fours = (stop - at + CUTS - 1) // CUTS
            if fours > 0:
                place = below.ctypes.data + 2 * (row * _WIDTH + at)
                count_below(distances.ctypes.data, blocks, own.ctypes.data + at, fours, place)
            for cut in range(at + CUTS * fours, number):
                below[row, cut] += np.uint16(whole)
            for k in range(3):
                sums[row, k] += found[k]
            if found[3] == _LOWEST or found[4] == _HIGHEST:
                # Gains at the ends of a byte may lie beyond it: they are subtracted again and counted by their true value.
                for i in range(whole):
                    if distances[i] == _LOWEST or distances[i] == _HIGHEST:
                        gains[several], times[several] = np.float64(center + distances[i]), -1
                        gains[several + 1], times[several + 1] = np.float64(values[first, i] - values[second, i]), 1
                        several += 2
        for i in range(whole, length):
            gains[several], times[several] = np.float64(values[first, i] - values[second, i]), 1
            several += 1
        if several > 0:
            add_gains(gains[:several], times[:several], thresholds, row, tally, cell)


@bare_kernel
def _read(
    thresholds: Thresholds,
    cuts: NDArray[np.int8],
    n_cuts: NDArray[np.int64],
    below: NDArray[np.uint16],
    sums: NDArray[np.int64],
    total: int,
    tally: Tally,
    cell: int,
) -> None:
    gains, times = np.empty(_WIDTH + 1), np.empty(_WIDTH + 1, np.int64)
    for row in range(len(thresholds.pair)):
        center, number = thresholds.center[row], n_cuts[row]
        lanes = tally.lanes[thresholds.pair[row]]
        lanes[0, 0] += sums[row, 0]
        lanes[1, 0] += sums[row, 1]
        lanes[2, 0] += (sums[row, 0] + center * total) - 2.0 * sums[row, 2]
        lower, before = center + _LOWEST, np.int64(0)
        for cut in range(number):
            gains[cut], times[cut] = lower, np.int64(below[row, cut]) - before
            lower, before = center + cuts[row, cut], np.int64(below[row, cut])
        gains[number], times[number] = lower, total - before
        add_sides(gains[: number + 1], times[: number + 1], thresholds, row, tally, cell)
