"""Gains of bootstrap replicates over standard errors of their own, t*. This module gives their quantiles for ratio metrics.

The score of a ratio is Σn / Σc. Its influence values u_i = (n_i − r c_i) / Σc are linear in the statistics, so that the sum of
squares of a pair's u_i on a replicate follows from ten sums of products on that replicate: three of either system, four of both,
or one where the denominators are the same. For other metrics a replicate has no standard error short of a jackknife of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from pipeline.resampling.draws import Draws, draw_weights
from pipeline.resampling.measures import Measure
from pipeline.resampling.quantiles import gain_quantiles

__all__ = ["BEYOND", "Studentised", "studentise"]

BEYOND = 1e200
"""A quantile of t* larger than this is infinite: replicates without a spread of their own, δ* ≠ δ, have t* = ± ∞."""

_INFINITE = 1e300
_BATCH = 1024  # replicates drawn at a time
_ROUNDING = 2.0**-40  # of the two systems' own sums of squares: a pair's that is smaller is 0


@dataclass(frozen=True, eq=False)
class Studentised:
    """Quantiles of t* = (δ* − δ) / se*.

    Parameters
    ----------
    t : (pair, probability) float64
        Of score[first] − score[second] as the metric gives them; nan without a defined replicate.
    se : (pair,) float64
        √(n/(n − 1) · Σu²) of the test set itself, in the metric's points; of means it is the jackknife's.
    replicates : (pair,) int64
        Replicates with a t*: both denominators positive, and not δ* = δ without spread.
    """

    t: NDArray[np.float64]
    se: NDArray[np.float64]
    replicates: NDArray[np.int64]


def studentise(
    draws: Draws, measure: Measure, factor: float, *, replicates: int, probabilities: ArrayLike, memory_bytes: int = 2**28
) -> Studentised:
    """Draw replicates 0 … and give quantiles of t* of every pair.

    Parameters
    ----------
    draws : Draws
        As many draws as units.
    measure : Measure
        A ratio.
    factor : float
        Of the ratio, from `pipeline.resampling.observe.ratio_factor`.
    replicates : int
        Each costs a product over all units for every pair: some thousands, not a million.
    probabilities : (probability,) float
    memory_bytes : int, optional
        Pairs are taken so many at a time that their t* fit.

    Returns
    -------
    Studentised
    """
    if measure.form != "ratio":
        raise ValueError("only a ratio has a standard error in every replicate")
    units, pairs = len(measure.statistics), measure.pairs.astype(np.int64)
    if (draws.n_units, draws.n_draws) != (units, units):
        raise ValueError(f"{draws.n_draws} draws of {draws.n_units} units, there are {units}")
    asked = np.array(probabilities, np.float64).reshape(-1)
    found = Studentised(np.full((len(pairs), len(asked)), np.nan), np.full(len(pairs), np.nan), np.zeros(len(pairs), np.int64))
    if units < 2:
        return found
    columns = measure.statistics.astype(np.float64)
    denominators = columns[:, :, 1]
    shared = np.array([np.array_equal(denominators[:, a], denominators[:, b]) for a, b in pairs], np.bool_)
    several = max(memory_bytes // (8 * (replicates + 4 * units + 4 * _BATCH)), 1)
    for same in (True, False):
        own = np.flatnonzero(shared == same)
        for start in range(0, len(own), several):
            chosen = own[start : start + several]
            t, se = _studentise(draws, columns, pairs[chosen], replicates, same)
            rows = np.stack([np.arange(len(chosen)), np.full(len(chosen), len(chosen))], axis=1)
            levels = np.tile(asked, (len(chosen), 1))
            quantiles = gain_quantiles(t, rows, delta=np.zeros(len(chosen)), probabilities=levels)
            found.t[chosen], found.se[chosen], found.replicates[chosen] = quantiles.gain, factor * se, quantiles.replicates
    return found


def _studentise(
    draws: Draws, columns: NDArray[np.float64], pairs: NDArray[np.int64], replicates: int, same: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give t* (pair and a row of zeros, replicate), and se of pairs whose denominators are, or are not, the same."""
    units = len(columns)
    systems, rows = np.unique(pairs, return_inverse=True)
    rows = np.ascontiguousarray(rows.reshape(-1, 2))
    n, c = columns[:, systems, 0], columns[:, systems, 1]
    single = np.concatenate([n, c, n * n, n * c, c * c], axis=1)
    a, b = rows.T
    crossed = [n[:, a] * n[:, b]] if same else [n[:, a] * n[:, b], n[:, a] * c[:, b], c[:, a] * n[:, b], c[:, a] * c[:, b]]
    double = np.concatenate(crossed, axis=1)
    gain, spread = np.empty((2, len(pairs), 1))
    _linearise(*_shape(np.ones((1, units)), single, double, len(systems), len(pairs)), rows, gain, spread)
    delta, se = gain[:, 0], np.sqrt(units / (units - 1) * spread[:, 0])
    t = np.zeros((len(pairs) + 1, replicates))
    for first in range(0, replicates, _BATCH):
        weights = draw_weights(draws, first, min(_BATCH, replicates - first)).astype(np.float64)
        gain, spread = np.empty((2, len(pairs), len(weights)))
        _linearise(*_shape(weights, single, double, len(systems), len(pairs)), rows, gain, spread)
        with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is no t*, and another number over 0 an infinite one
            ratio = (gain - delta[:, None]) / np.sqrt(units / (units - 1) * spread)
        t[:-1, first : first + len(weights)] = np.clip(ratio, -_INFINITE, _INFINITE)
    return t, se


def _shape(
    weights: NDArray[np.float64], single: NDArray[np.float64], double: NDArray[np.float64], systems: int, pairs: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum what is of systems (5, system, replicate) and what is of pairs (1 or 4, pair, replicate)."""
    of_systems = (single.T @ weights.T).reshape(-1, systems, len(weights))
    return of_systems, (double.T @ weights.T).reshape(-1, pairs, len(weights))


@njit(nogil=True, cache=True)
def _linearise(
    of_systems: NDArray[np.float64],
    of_pairs: NDArray[np.float64],
    pairs: NDArray[np.int64],
    gain: NDArray[np.float64],
    spread: NDArray[np.float64],
) -> None:
    """Give δ* and Σu² of the pairs; nan where a denominator is 0."""
    for pair in range(len(pairs)):
        a, b = pairs[pair]
        for i in range(gain.shape[1]):
            c_a, c_b = of_systems[1, a, i], of_systems[1, b, i]
            if c_a == 0.0 or c_b == 0.0:
                gain[pair, i] = spread[pair, i] = np.nan
                continue
            r_a, r_b = of_systems[0, a, i] / c_a, of_systems[0, b, i] / c_b
            own_a = (of_systems[2, a, i] - 2.0 * r_a * of_systems[3, a, i] + r_a * r_a * of_systems[4, a, i]) / (c_a * c_a)
            own_b = (of_systems[2, b, i] - 2.0 * r_b * of_systems[3, b, i] + r_b * r_b * of_systems[4, b, i]) / (c_b * c_b)
            if len(of_pairs) == 1:
                n_c, c_n, c_c = of_systems[3, a, i], of_systems[3, b, i], of_systems[4, a, i]
            else:
                n_c, c_n, c_c = of_pairs[1, pair, i], of_pairs[2, pair, i], of_pairs[3, pair, i]
            crossed = (of_pairs[0, pair, i] - r_b * n_c - r_a * c_n + r_a * r_b * c_c) / (c_a * c_b)
            squares = own_a + own_b - 2.0 * crossed
            gain[pair, i] = r_a - r_b
            spread[pair, i] = squares if squares > _ROUNDING * (own_a + own_b) else 0.0
