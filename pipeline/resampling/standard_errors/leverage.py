"""How much of a gain's variance comes from one unit: the unit with the largest influence, and the gain without it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.compiled.small_work import suited
from pipeline.dataclass import dataclass

__all__ = ["PairLeverage", "pair_leverage"]

_ROUNDING = 2.0**-48  # of the scores, as in `pipeline.resampling.standard_errors.influence`


@dataclass(frozen=True, eq=False)
class PairLeverage:
    """The unit that adds most to the jackknife variance of each pair's difference.

    Parameters
    ----------
    share : (pair,) float64
        Share of the variance; nan where that is undefined, or 0 up to rounding.
    unit : (pair,) int64
        Its position, the first if several tie; −1 where ``share`` is nan.
    without : (pair,) float64
        The difference of scores without it, in the order of the pair; nan where ``share`` is.
    """

    share: NDArray[np.float64]
    unit: NDArray[np.int64]
    without: NDArray[np.float64]


def pair_leverage(
    scores: NDArray[np.float64], pairs: NDArray[np.int64], *, stratum: NDArray[np.integer] | None = None
) -> PairLeverage:
    """Return the unit with the largest influence on each pair's difference of scores.

    With d_i the difference without unit i: max_i (d_i − mean d)² / Σ(d_i − mean d)². Within strata the mean is that of the unit's
    stratum of n_h, and each square counts n_h/(n_h − 1) times, as in `pipeline.resampling.standard_errors.influence.pair_errors`
    (the empirical influence of Efron & Tibshirani 1993, chapter 21, doi:10.1201/9780429246593).

    Parameters
    ----------
    scores : (system, unit) float64
        From `pipeline.resampling.standard_errors.influence.leave_one_out`.
    pairs : (pair, 2) int64
    stratum : (unit,) int, optional
        The stratum of each unit, numbered 0 … H − 1 without a gap.

    Examples
    --------
    The mean of 0, 0 and 6, against 0: without the last unit the gain is 0.

    >>> found = pair_leverage(np.array([[3.0, 3.0, 0.0], [0.0, 0.0, 0.0]]), np.array([[0, 1]]))
    >>> found.share.round(3).tolist(), found.unit.tolist(), found.without.tolist()
    ([0.667], [2], [0.0])
    """
    units = scores.shape[1]
    strata = np.zeros(units, np.int64) if stratum is None else stratum
    if strata.shape != (units,):
        raise ValueError(f"strata are of {strata.shape} units, scores of {units}")
    order = np.argsort(strata, kind="stable")
    ordered, sizes = np.ascontiguousarray(scores[:, order]), np.bincount(strata).astype(np.int64)
    share, without = np.full((2, len(pairs)), np.nan)
    place = np.full(len(pairs), -1, np.int64)
    find = suited(_largest, steps=2 * len(pairs) * units)
    find(ordered, np.ascontiguousarray(pairs, np.int64), sizes, share, place, without)
    return PairLeverage(share, np.where(place < 0, -1, order[place]), without)


@bare_kernel
def _largest(
    scores: NDArray[np.float64],
    pairs: NDArray[np.int64],
    sizes: NDArray[np.int64],
    share: NDArray[np.float64],
    place: NDArray[np.int64],
    without: NDArray[np.float64],
) -> None:
    for pair in range(len(pairs)):
        a, b = scores[pairs[pair, 0]], scores[pairs[pair, 1]]
        total = most = 0.0
        found = begin = 0
        for size in sizes:
            if size > 1:
                mean = 0.0
                for unit in range(begin, begin + size):
                    mean += a[unit] - b[unit]
                mean /= size
                for unit in range(begin, begin + size):
                    deviation = (a[unit] - b[unit]) - mean
                    square = size / (size - 1.0) * deviation * deviation
                    total += square
                    if square > most:
                        most = square
                        found = unit
            begin += size
        noise = _ROUNDING * (abs(a[found]) + abs(b[found]))
        if total > scores.shape[1] * noise * noise:
            share[pair] = most / total
            place[pair] = found
            without[pair] = a[found] - b[found]
