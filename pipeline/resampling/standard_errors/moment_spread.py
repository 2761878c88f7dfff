"""Σu² of the difference of two ratios with denominators of their own, from exact sums of products.

In the notation of `ratio_spread`, times C_a, the influence value of a pair is y·x with x = (D_i, E_i, n_bi, c_bi) and

    y = (1, −r_a, −K / C_b, −(δ − r_b K / C_b)),

so that C_a² Σwu² is the quadratic form of y in the ten sums Σw x_j x_k. All of them are sums of integers, exact in any order below
2^53. Four are those of a pair (D², DE, E² and D c_b), three of system b alone (n_b², n_b c_b, c_b²), and the others follow without
rounding from these and from the three of system a, as n_a = n_b + D and c_a = c_b + E.

*What rounding loses.* Let Y_j be what y_j is with every cancellation left out, and T² = Σ_j Y_j² Σw x_j². An entry of y has at most
eight roundings of terms that add up to Y_j, a term of the form at most fourteen; with u = 2^-53 and Σ_j Y_j √(Σw x_j²) ≤ 2 T, the
form is off by no more than 120 u T². Above 2^-12 T² it is known to 2^-34 of itself. Below, `spread_directly` looks at the units.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.small_work import plain_python
from pipeline.resampling.standard_errors.ratio_spread import spread_directly

__all__ = ["moment_columns", "moment_rows", "spread_by_moments"]

_SMALL = 2.0**-12


def moment_columns(columns: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (pair, 4, unit) D², DE, E² and D c_b of (system, 2, unit) numerators and denominators."""
    a, b = columns[pairs[:, 0]], columns[pairs[:, 1]]
    difference = a - b
    d, e = difference[:, 0], difference[:, 1]
    return np.stack([d * d, d * e, e * e, d * b[:, 1]], axis=1)


def moment_rows(pairs: NDArray[np.int64], systems: int) -> NDArray[np.int64]:
    """Return (pair, 10) which of the columns that `RatioLines` sums a pair needs: of a and b in turn, N, C, n², nc and c²."""
    both = [(2 * s, 2 * s + 1, 4 * systems + s, 2 * systems + s, 3 * systems + s) for s in pairs.T]
    return np.stack([row for of_a_and_b in zip(*both, strict=True) for row in of_a_and_b], axis=1)


@kernel(error_model="numpy")
def _form_of_moments(
    n_a: float,
    n_b: float,
    c_a: float,
    c_b: float,
    top_a: float,
    top_b: float,
    across_a: float,
    across_b: float,
    length_a: float,
    length_b: float,
    dd: float,
    de: float,
    ee: float,
    dc: float,
) -> tuple[float, float, float]:
    """Return δ, C_a² Σwu² and T²: of numbers, and, as plain Python, of arrays."""
    dn = 0.5 * ((top_a - top_b) - dd)
    ec = 0.5 * ((length_a - length_b) - ee)
    en = ((across_a - across_b) - dc) - de
    m, k = n_a - n_b, c_a - c_b
    moved = n_b / c_b * k
    gain = (m - moved) / c_a
    y_1, y_2, y_3 = -(n_a / c_a), -(k / c_b), -(gain - moved / c_b)
    most = (abs(m) + abs(moved)) / c_a + abs(moved) / c_b
    own = dd + y_1 * y_1 * ee + y_2 * y_2 * top_b
    mixed = y_1 * de + y_2 * dn + y_3 * dc + y_1 * y_2 * en + y_1 * y_3 * ec + y_2 * y_3 * across_b
    return gain, own + y_3 * y_3 * length_b + 2.0 * mixed, own + most * most * length_b


def spread_by_moments(
    sums: NDArray[np.float64],
    moments: NDArray[np.float64],
    rows: NDArray[np.int64],
    own: NDArray[np.int64],
    columns: NDArray[np.int64],
    pairs: NDArray[np.int64],
    weights: NDArray[np.float32],
    gain: NDArray[np.float64],
    spread: NDArray[np.float64],
    *,
    few: bool,
) -> None:
    """Fill (pair, replicate) δ and Σu² of pairs with denominators of their own; nan where one is 0.

    Parameters
    ----------
    sums, moments : (column, replicate) float64
        Exact sums of systems, and of the four columns of pairs.
    rows : (pair, 10) int64
        Rows of ``sums``, as `moment_rows` has them.
    own : (pair, 4) int64
        Rows of ``moments``, as `moment_columns` has them.
    columns : (system, 2, unit) int64
        Numerators and denominators.
    pairs : (pair, 2) int64
        Systems.
    weights : (replicate, unit) float32
    gain, spread : (pair, replicate) float64
        What is filled.
    few : bool
        Whether NumPy fills them, with the same bits, before a kernel is loaded.
    """
    doubtful = np.zeros(gain.shape, np.bool_)
    (_fill_few if few else _fill)(sums, moments, rows, own, gain, spread, doubtful)
    for pair in np.flatnonzero(doubtful.any(axis=1)).tolist():
        some = np.flatnonzero(doubtful[pair])
        one = slice(pair, pair + 1)
        looked_at = np.empty((2, 1, len(some)))
        of_sums = np.ascontiguousarray(sums[rows[pair, :4]][:, some])  # N_a, N_b, C_a and C_b
        sizes = np.array([weights.shape[1]])
        spread_directly(of_sums, np.arange(4)[None], columns, pairs[one], weights[some], sizes, *looked_at)
        spread[pair, some] = looked_at[1, 0]


@kernel(error_model="numpy")
def _fill(
    sums: NDArray[np.float64],
    moments: NDArray[np.float64],
    rows: NDArray[np.int64],
    own: NDArray[np.int64],
    gain: NDArray[np.float64],
    spread: NDArray[np.float64],
    doubtful: NDArray[np.bool_],
) -> None:
    for pair in range(len(rows)):
        n_a, n_b, bottom_a, bottom_b = sums[rows[pair, 0]], sums[rows[pair, 1]], sums[rows[pair, 2]], sums[rows[pair, 3]]
        top_a, top_b, across_a, across_b = sums[rows[pair, 4]], sums[rows[pair, 5]], sums[rows[pair, 6]], sums[rows[pair, 7]]
        length_a, length_b = sums[rows[pair, 8]], sums[rows[pair, 9]]
        dd, de, ee, dc = moments[own[pair, 0]], moments[own[pair, 1]], moments[own[pair, 2]], moments[own[pair, 3]]
        delta, left_of, in_doubt = gain[pair], spread[pair], doubtful[pair]
        for i in range(len(n_a)):  # no branch: whole vectors at a time
            c_a = bottom_a[i] if bottom_a[i] > 0.0 else np.nan
            c_b = bottom_b[i] if bottom_b[i] > 0.0 else np.nan
            found, left, most = _form_of_moments(
                n_a[i], n_b[i], c_a, c_b, top_a[i], top_b[i], across_a[i], across_b[i], length_a[i], length_b[i],
                dd[i], de[i], ee[i], dc[i],
            )  # fmt: skip
            delta[i] = found
            left_of[i] = left / (c_a * c_a)
            in_doubt[i] = left < _SMALL * most


def _fill_few(
    sums: NDArray[np.float64],
    moments: NDArray[np.float64],
    rows: NDArray[np.int64],
    own: NDArray[np.int64],
    gain: NDArray[np.float64],
    spread: NDArray[np.float64],
    doubtful: NDArray[np.bool_],
) -> None:
    """Fill as `_fill` does, in NumPy, operation by operation and so with the same bits."""
    n_a, n_b, bottom_a, bottom_b, *others = sums[rows].swapaxes(0, 1)
    c_a, c_b = (np.where(bottom > 0.0, bottom, np.nan) for bottom in (bottom_a, bottom_b))
    form = plain_python(_form_of_moments)
    gain[:], left, most = form(n_a, n_b, c_a, c_b, *others, *moments[own].swapaxes(0, 1))
    with np.errstate(all="ignore"):
        spread[:] = left / (c_a * c_a)
        doubtful[:] = left < _SMALL * most
