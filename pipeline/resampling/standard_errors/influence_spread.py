"""Influence values of systems, and Σu² of a pair's on every replicate: the standard errors of metrics that are not ratios.

The influence value of a unit is what it adds to the score, to first order: u_i = (n_i − r c_i) / Σc for a ratio r = Σn / Σc, and (n
− 1)/n · (mean d − d_i) for any other score, d_i being the score without unit i of n (the jackknife). They are scaled so that the
standard error of the test set is √(n/(n − 1) · Σ(u_i − mean u)²).

A replicate weights them by its counts w without linearising the score again: Σw(u − mean* u)², with mean* over the units drawn. For
a mean that is exact. For a ratio it ignores that r and Σc have changed, which `ratio_spread` does not; both have the same limit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import ratio_factor
from pipeline.resampling.standard_errors.influence import left_out_of, pair_errors
from pipeline.resampling.standard_errors.ratio_spread import side_by_side

__all__ = ["RESOLVED", "influences", "linear_errors", "spread_of_influences"]

RESOLVED = 2.0**-40
"""Of Σwu²: what is left below it by subtracting the mean is rounding."""


def influences(measure: Measure) -> NDArray[np.float64]:
    """Return how far each unit moves the score of each system, in the metric's points.

    Returns
    -------
    (system, unit) float64
        nan where a score is undefined; unless it is a ratio, also where it is undefined without some unit.

    Examples
    --------
    >>> statistics = np.array([[[3, 1]], [[1, 1]], [[2, 1]]])
    >>> mean = Measure(statistics, lambda s: s[0] / s[1], "ratio", True, np.empty((0, 2), np.int64), np.zeros(1, bool))
    >>> influences(mean).round(3).tolist()
    [[0.333, -0.333, 0.0]]
    """
    units = len(measure.statistics)
    if measure.form == "ratio":
        n, c = np.ascontiguousarray(measure.statistics.transpose(2, 1, 0)).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 gives no score and no influence
            total = c.sum(axis=1, keepdims=True)
            found = ratio_factor(measure) * (n - n.sum(axis=1, keepdims=True) / total * c) / total
        return np.where(np.isfinite(found), found, np.nan)
    without = left_out_of(measure)
    return np.asarray((without.mean(axis=1, keepdims=True) - without) * ((units - 1) / units))


def linear_errors(measure: Measure) -> NDArray[np.float64]:
    """Return (pair,) the standard error of each gain, computed as for replicates: √(n/(n − 1) Σ(u − mean u)²); nan for one unit.

    Within strata √(Σ n_h/(n_h − 1) Σ(u − mean_h u)²). For means, and for scores that are not ratios, it is the jackknife's.
    """
    units = len(measure.statistics)
    scale = units / (units - 1) if units > 1 else np.nan
    return pair_errors(influences(measure) * -scale, measure.pairs, stratum=measure.stratum)


def spread_of_influences(
    values: NDArray[np.float64], pairs: NDArray[np.int64], weights: NDArray[np.float32], sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return (pair, replicate) Σ n_h/(n_h − 1) Σw(u − mean*_h u)² over the strata h; without strata there is one.

    Parameters
    ----------
    values : (system, unit) float64
        From `influences`, the units of a stratum side by side.
    pairs : (pair, 2) int64
    weights : (replicate, unit) float32
    sizes : (stratum,) int64
        Units of each stratum; one alone adds nothing.

    Examples
    --------
    >>> values, twice_the_first = np.array([[1.0, -1.0], [0.0, 0.0]]), np.array([[1, 1], [2, 0]], np.float32)
    >>> spread_of_influences(values, np.array([[0, 1]]), twice_the_first, np.array([2])).tolist()
    [[4.0, 0.0]]
    """
    spread = np.empty((len(pairs), len(weights)))
    _fill_spread(values, pairs, side_by_side(weights), sizes, spread)
    return spread


@bare_kernel
def _fill_spread(
    values: NDArray[np.float64],
    pairs: NDArray[np.int64],
    across: NDArray[np.float32],
    sizes: NDArray[np.int64],
    spread: NDArray[np.float64],
) -> None:
    tiles, _, width = across.shape
    first, second, left = np.empty(width), np.empty(width), np.empty(width)
    for pair in range(len(pairs)):
        a, b = values[pairs[pair, 0]], values[pairs[pair, 1]]
        for tile in range(tiles):
            for i in range(width):
                left[i] = 0.0
            begin = 0
            for size in sizes:
                if size > 1:
                    mean = 0.0
                    for unit in range(begin, begin + size):
                        mean += a[unit] - b[unit]
                    mean /= size
                    for i in range(width):
                        first[i] = second[i] = 0.0
                    # Replicates innermost: each has its own sums, in the order of the units, and the loop fills whole vectors.
                    for unit in range(begin, begin + size):
                        x = (a[unit] - b[unit]) - mean
                        if x != 0.0:
                            square, drawn = x * x, across[tile, unit]
                            for i in range(width):
                                first[i] += drawn[i] * x
                                second[i] += drawn[i] * square
                    for i in range(width):
                        own = second[i] - first[i] * first[i] / size
                        if own > RESOLVED * second[i]:
                            left[i] += size / (size - 1) * own
                begin += size
            start = tile * width
            for i in range(min(width, spread.shape[1] - start)):
                spread[pair, start + i] = left[i]
