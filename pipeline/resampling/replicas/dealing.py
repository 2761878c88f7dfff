"""Sums of outputs over the slots to which they are assigned, in replicates drawn by address.

The outputs of a unit stand in places, those of the first system and then those of the second, and a permutation gives each place a
slot. Where systems are groups of the same few runs a place has few different outputs: `sum_shared` adds these up, and puts the sums
of each system together at the end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.outputs import Replicas
from pipeline.resampling.replicas.permutations import fill_words, shuffle_places

__all__ = ["SharedOutputs", "sum_dealt", "sum_shared"]

_TILE = 16  # replicates whose sums stay in the cache while units pass by
_SHARED = 4  # systems to one output from which on sums are shared: those of every place are kept apart, and cost as much more


@dataclass(frozen=True, eq=False)
class SharedOutputs:
    """The distinct outputs of each place, and which of them each system has.

    Parameters
    ----------
    outputs : (unit, place, output · statistic) int64
        Places with fewer outputs than others are filled up with 0.
    ahead, behind : (system, run) int64
        Of the systems in the places 0 … R_A − 1, and of those in the places R_A … R_A + R_B − 1.
    width : int
        Statistics of an output.
    """

    outputs: NDArray[np.int64]
    ahead: NDArray[np.int64]
    behind: NDArray[np.int64]
    width: int

    @classmethod
    def of(cls, replicas: Replicas, first: NDArray[np.int64], second: NDArray[np.int64], width: int) -> SharedOutputs | None:
        """Find shared outputs in the first statistics of the systems of either side; None where few systems share an output."""
        runs, of = replicas.distinct.runs, replicas.distinct.of
        found, which = [], []
        for side in (first, second):
            numbers = np.array([of[system] for system in side.tolist()])
            pairs = [np.unique(column, return_inverse=True) for column in numbers.T]
            found += [own for own, _ in pairs]
            which.append(np.ascontiguousarray(np.stack([inverse.reshape(-1) for _, inverse in pairs], axis=1), np.int64))
        most = max(len(own) for own in found)
        if 2 * most * _SHARED > len(first) + len(second):
            return None
        outputs = np.zeros((replicas.n_units, len(found), most, width), np.int64)
        for place, own in enumerate(found):
            outputs[:, place, : len(own)] = runs[own, :, :width].transpose(1, 0, 2)
        return cls(outputs.reshape(replicas.n_units, len(found), -1), which[0], which[1], width)


def sum_dealt(
    draws: Draws, first: int, count: int, ahead: NDArray[np.int64], behind: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum outputs over the slots to which they are assigned, in consecutive replicates.

    Parameters
    ----------
    draws : Draws
    first, count : int
        First replicate and number of replicates.
    ahead, behind : (unit, run, column) int64
        Statistics of systems in the places 0 … R_A − 1, and in the places R_A … R_A + R_B − 1.

    Returns
    -------
    ahead, behind : (column, slot, replicate) float64
        What each column adds to each of the R_A + R_B slots: whole numbers.
    """
    places = ahead.shape[1] + behind.shape[1]
    out = tuple(np.empty((side.shape[2], places, count)) for side in (ahead, behind))
    _sum_dealt(np.uint64(draws.key), np.uint64(first), ahead, behind, out[0], out[1])
    return out[0], out[1]


def sum_shared(draws: Draws, first: int, count: int, shared: SharedOutputs) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sums of `sum_dealt`, system by system and statistic by statistic, for outputs that systems share."""
    places = shared.outputs.shape[1]
    ahead, behind = (np.empty((len(side) * shared.width, places, count)) for side in (shared.ahead, shared.behind))
    _sum_shared(np.uint64(draws.key), np.uint64(first), shared.outputs, shared.ahead, shared.behind, ahead, behind)
    return ahead, behind


@bare_kernel
def _sum_dealt(
    key: np.uint64,
    first: np.uint64,
    ahead: NDArray[np.int64],
    behind: NDArray[np.int64],
    out_ahead: NDArray[np.float64],
    out_behind: NDArray[np.float64],
) -> None:
    units, split, many = ahead.shape
    places = split + behind.shape[1]
    quads = (places + 2) // 4
    words, order = np.empty(4 * quads, np.uint64), np.empty(places, np.int64)
    sums_ahead = np.empty((_TILE, places, many), np.int64)
    sums_behind = np.empty((_TILE, places, behind.shape[2]), np.int64)
    count = out_ahead.shape[2]
    for start in range(0, count, _TILE):
        rows = min(_TILE, count - start)
        sums_ahead[:] = 0
        sums_behind[:] = 0
        for unit in range(units):  # replicates within a unit: its outputs stay in the cache
            for row in range(rows):
                fill_words(key, first + np.uint64(start + row), unit * quads, quads, words)
                shuffle_places(words, order)
                for place in range(places):
                    if place < split:
                        target, source = sums_ahead[row, order[place]], ahead[unit, place]
                    else:
                        target, source = sums_behind[row, order[place]], behind[unit, place - split]
                    for column in range(len(source)):
                        target[column] += source[column]
        for row in range(rows):
            for place in range(places):
                for column in range(many):
                    out_ahead[column, place, start + row] = sums_ahead[row, place, column]
                for column in range(behind.shape[2]):
                    out_behind[column, place, start + row] = sums_behind[row, place, column]


@bare_kernel
def _sum_shared(
    key: np.uint64,
    first: np.uint64,
    outputs: NDArray[np.int64],
    ahead: NDArray[np.int64],
    behind: NDArray[np.int64],
    out_ahead: NDArray[np.float64],
    out_behind: NDArray[np.float64],
) -> None:
    units, places, many = outputs.shape
    quads = (places + 2) // 4
    words, order = np.empty(4 * quads, np.uint64), np.empty(places, np.int64)
    sums = np.empty((_TILE, places, places, many), np.int64)
    count = out_ahead.shape[2]
    for start in range(0, count, _TILE):
        rows = min(_TILE, count - start)
        sums[:] = 0
        for unit in range(units):
            for row in range(rows):
                fill_words(key, first + np.uint64(start + row), unit * quads, quads, words)
                shuffle_places(words, order)
                for place in range(places):
                    target, source = sums[row, order[place], place], outputs[unit, place]
                    for column in range(many):
                        target[column] += source[column]
        for row in range(rows):
            for slot in range(places):
                _gather(sums[row, slot], 0, ahead, out_ahead, slot, start + row)
                _gather(sums[row, slot], ahead.shape[1], behind, out_behind, slot, start + row)


@kernel
def _gather(
    sums: NDArray[np.int64], begin: int, which: NDArray[np.int64], out: NDArray[np.float64], slot: int, replicate: int
) -> None:
    """Add up over the places of a side, the first of which is ``begin``, what a slot has of each system."""
    systems, runs = which.shape
    width = out.shape[0] // systems
    for system in range(systems):
        for statistic in range(width):
            total = 0
            for run in range(runs):
                total += sums[begin + run, which[system, run] * width + statistic]
            out[system * width + statistic, slot, replicate] = total
