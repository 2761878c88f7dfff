"""The symmetric interval that belongs to the two-sided p. This module reads its half width off the histogram of replicates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["HISTOGRAM_HALF_WIDTH", "half_widths"]

HISTOGRAM_HALF_WIDTH = 12.0


def half_widths(
    histogram: NDArray[np.int64],
    level: float,
    *,
    se: NDArray[np.float64],
    gain: NDArray[np.float64] | None = None,
    p: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Give the quantile of |δ* − δ| at ``level`` for each pair, in points; NaN where it is off the grid or there is no se.

    The share of replicates within a distance is known exactly at one more place than the bins: 1 − p within the gain. With
    it an interval leaves 0 out if p < 1 − level, and has 0 inside if p > 1 − level; elsewhere it is interpolated.

    Parameters
    ----------
    histogram : (pair, bin) int64
        Counts of (δ* − δ) / se in equal bins on ±12; what is beyond is in the end bins.
    level : float
        Level of the interval, 1 − α.
    se : (pair,) float64
        Standard errors, the unit of the grid.
    gain, p : (pair,) float64, optional
        Observed gains and their two-sided p-values, of the same convention as the p that stands beside the interval.
    """
    bins = histogram.shape[1]
    edges = np.linspace(-HISTOGRAM_HALF_WIDTH, HISTOGRAM_HALF_WIDTH, bins + 1)
    below = np.concatenate([np.zeros((len(histogram), 1)), np.cumsum(histogram, axis=1, dtype=np.float64)], axis=1)
    middle = (bins + 1) // 2
    # By symmetry edge k lies at minus edge (bins − k): the mass within them is the difference of two running sums.
    inside = below[:, middle:] - below[:, : bins + 1 - middle][:, ::-1]
    widths, total = edges[middle:], below[:, -1]
    if bins % 2 == 0:
        inside[:, 0] = 0.0
    else:
        widths, inside = np.concatenate([[0.0], widths]), np.concatenate([np.zeros((len(inside), 1)), inside], axis=1)
    result = np.full(len(histogram), np.nan)
    for row in np.flatnonzero((total > 0) & (se > 0)):
        # The last edge is left out: the end bins hold what lies beyond it.
        places, shares = widths[:-1] * se[row], inside[row, :-1] / total[row]
        if gain is not None and p is not None and np.isfinite(p[row]) and gain[row] > 0:
            places, shares = _add_knot(places, shares, float(gain[row]), 1 - float(p[row]))
        result[row] = _quantile(places, shares, level)
    return result


def _add_knot(
    places: NDArray[np.float64], shares: NDArray[np.float64], place: float, share: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    # A share that contradicts the knot (by a tie at an edge, by the +1 of the p-value) gives way to it.
    before, after = places < place, places > place
    return (
        np.concatenate([places[before], [place], places[after]]),
        np.concatenate([np.minimum(shares[before], share), [share], np.maximum(shares[after], share)]),
    )


def _quantile(places: NDArray[np.float64], shares: NDArray[np.float64], level: float) -> float:
    at = int(np.searchsorted(shares, level, side="left"))
    if at == len(shares):
        return float("nan")
    if at == 0:
        return float(places[0])
    part = (level - shares[at - 1]) / (shares[at] - shares[at - 1])
    return float(min(places[at - 1] + part * (places[at] - places[at - 1]), places[at]))
