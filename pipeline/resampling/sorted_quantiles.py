"""Exact quantiles of the gains of few pairs, by partial sorting, which takes less time than compiling kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.small_work import FewSoFar, is_at_hand
from pipeline.resampling.order_statistics import read_off
from pipeline.resampling.rounded_quantiles import find_among_rounded

__all__ = ["sort_gains", "suits_sorting"]

_FEW = 2**21  # gains that are always sorted, in less than .1 s
_MOST = 2**24  # and that are in one call, in .4 s, where the kernels are not on disk: compiling them takes 6 s

_is_little = FewSoFar(_MOST, 2 * _MOST, at_hand=lambda: _is_at_hand())


def suits_sorting(gains: int) -> bool:
    """Tell whether sorting so many gains takes less time than compiling, and add them to those sorted so far."""
    return gains <= _FEW or _is_little(gains)


def sort_gains(
    order: NDArray[np.int64],
    scores: NDArray[np.float64],
    pairs: NDArray[np.int64],
    delta: NDArray[np.float64],
    probabilities: NDArray[np.float64],
    distances: NDArray[np.float64],
    gain: NDArray[np.float64],
    distance: NDArray[np.float64],
    replicates: NDArray[np.int64],
) -> None:
    """Fill in what `pipeline.resampling.quantiles.gain_quantiles` returns, for the pairs in ``order``."""
    for pair in order.tolist():
        first, second = pairs[pair]
        with np.errstate(over="ignore", invalid="ignore"):  # as in a kernel
            gains = scores[first] - scores[second]
            gains = gains[~np.isnan(gains)]
            replicates[pair] = len(gains)
            gain[pair] = read_off(gains, probabilities[pair])
            if np.isfinite(delta[pair]):
                distance[pair] = read_off(np.abs(gains - delta[pair]), distances)


def _is_at_hand() -> bool:
    number, place, numbers, rows = np.empty(0), np.empty(0, np.int64), np.empty((0, 0)), np.empty((0, 2), np.int64)
    steps, left = np.empty((0, 0), np.int16), np.empty(0, np.bool_)
    return is_at_hand(find_among_rounded, steps, number, place, numbers, rows, number, numbers, number, numbers, numbers, left)
