"""Outputs of a unit given to slots of two sides. This module sums outputs dealt anew, and draws the shuffle of MultEval."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.permutations import fill_words, permute, shuffle_places, unit_words

__all__ = ["draw_shuffle", "fill_shuffles", "sum_dealt"]

_WORD = 32  # bits
_TILE = 16  # replicates whose sums stay in the cache while units pass by


def sum_dealt(
    draws: Draws, first: int, count: int, ahead: NDArray[np.int64], behind: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum outputs over the slots that they are dealt to, in consecutive replicates.

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


def draw_shuffle(draws: Draws, replicate: int, runs: int) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Draw what MultEval draws of each unit: which places are exchanged, and a permutation of runs; the readable definition.

    Returns
    -------
    swapped : (unit, run) bool
        Bit r mod 32, from the lowest, of the unit's word r // 32.
    permutation : (unit, run) int64
        From the words after these.
    """
    bit_words = -(-runs // _WORD)
    words = unit_words(draws, replicate, -(-(bit_words + runs - 1) // 4))
    run = np.arange(runs)
    swapped = (words[:, run // _WORD] >> (run % _WORD).astype(np.uint64)) & np.uint64(1)
    permutation = np.array([permute(row[bit_words:], runs) for row in words], np.int64).reshape(-1, runs)
    return swapped.astype(np.bool_), permutation


def fill_shuffles(
    draws: Draws, first: int, count: int, runs: int, *, n_words: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Draw MultEval's shuffle of consecutive replicates, as masks over (run, unit).

    Returns
    -------
    given, taken : (word, replicate) uint64
        Output k of a unit goes to the other side in X where ``given`` is set, and in Y where ``taken`` is set. Run k has the
        words k · W … k · W + W − 1, W words a run; words beyond the runs are 0.
    """
    given, taken = np.zeros((n_words, count), np.uint64), np.zeros((n_words, count), np.uint64)
    _fill_shuffles(np.uint64(draws.key), np.uint64(first), draws.n_units, runs, given, taken)
    return given, taken


@kernel
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


@kernel
def _fill_shuffles(
    key: np.uint64, first: np.uint64, units: int, runs: int, given: NDArray[np.uint64], taken: NDArray[np.uint64]
) -> None:
    width = (units + 63) // 64  # words of a run
    bit_words = (runs + _WORD - 1) // _WORD
    quads = (bit_words + runs + 2) // 4
    words, order = np.empty(4 * quads, np.uint64), np.empty(runs, np.int64)
    for row in range(given.shape[1]):
        for unit in range(units):
            fill_words(key, first + np.uint64(row), unit * quads, quads, words)
            shuffle_places(words[bit_words:], order)
            at, bit = unit // 64, np.uint64(unit % 64)
            for run in range(runs):
                other = order[run]
                # Slot ``run`` of X holds run ``other``; slot ``other`` of Y holds run ``run``: the inverse permutation.
                given[other * width + at, row] |= ((words[run // _WORD] >> np.uint64(run % _WORD)) & np.uint64(1)) << bit
                taken[run * width + at, row] |= ((words[other // _WORD] >> np.uint64(other % _WORD)) & np.uint64(1)) << bit
