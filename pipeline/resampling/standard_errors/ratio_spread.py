"""Σu² of the difference of two ratios on every replicate, guarded against rounding whatever the two share.

The score of a ratio is r = N / C, N and C sums over the units drawn; its influence values are u_i = (n_i − r c_i) / C. Those of
a pair nearly cancel where the systems are alike, and their squares, summed system by system, lose all digits. So nothing is
squared here before it is subtracted.

*One denominator* (`spread_by_products`). With D_i = n_ai − n_bi and δ = ΣwD / C, a pair's influence value is (D_i − δ c_i) / C, and
C² Σwu² = ΣwD² − 2δ ΣwDc + δ² Σwc². The three sums are sums of integers, exact in any order below 2^53. With u = 2^-53 the twelve
roundings of the rest are at most 16u (ΣwD² + δ² Σwc²), as 2|δ ΣwDc| is no more than the sum of the other two. A value above 2^-16
of these two is therefore known to 2^-33 of itself. Below, the units of that replicate are looked at: D_i C − c_i ΣwD is an integer,
so that no spread is told from a small one.

*Any denominators* (`spread_directly`; by products in `moment_spread`). With E_i = c_ai − c_bi, K = ΣwE and M = ΣwD the influence
value is

    D_i / C_a − r_a E_i / C_a − K / (C_a C_b) n_bi − (δ − r_b K / C_b) / C_a c_bi        with δ = (M − r_b K) / C_a

where every term is small if the systems are alike. Its four coefficients have at most eight roundings each, of terms whose
magnitudes add up to no more than T on any unit. So √Σwu² is off by at most 2^-49 √n T, and by n/2 roundings of the sum of squares.
Where it is below 2^-22 √n T it is lost: less is known of it than 2^-26 of itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel

__all__ = ["LOST", "SMALL", "largest_differences", "side_by_side", "spread_by_products", "spread_directly", "spread_few"]

LOST = -1.0
"""In place of a Σu² of which too little is known."""

SMALL = 2.0**-16  # share of what is added and subtracted: where less is left, units are looked at
_INTEGERS, _RESOLVED = 2.0**62, 2.0**-22
_TILE = 2**19  # weights side by side that stay in the second-level cache: replicates times units
_NARROWEST, _WIDEST = 32, 256  # replicates of a tile: their sums stay in the first-level cache


@bare_kernel(error_model="numpy")
def spread_by_products(
    sums: NDArray[np.float64],
    squares: NDArray[np.float64],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    pairs: NDArray[np.int64],
    weights: NDArray[np.float32],
    gain: NDArray[np.float64],
    spread: NDArray[np.float64],
) -> None:
    """Fill (pair, replicate) δ and Σu² of pairs with one denominator; nan where that is 0.

    Parameters
    ----------
    sums, squares : (column, replicate) float64
        Exact sums of systems, and of the squared differences of pairs.
    rows : (pair, 7) int64
        Rows of ``sums``, the fourth of ``squares``: N_a, N_b, C, ΣwD², Σwn_a c, Σwn_b c, Σwc². ΣwDc is the exact difference of two.
    columns : (system, 2, unit) int64
        Numerators and denominators.
    pairs : (pair, 2) int64
        Systems.
    weights : (replicate, unit) float32
    gain, spread : (pair, replicate) float64
        What is filled.
    """
    for pair in range(len(pairs)):
        top, bottom, whole, square = sums[rows[pair, 0]], sums[rows[pair, 1]], sums[rows[pair, 2]], squares[rows[pair, 3]]
        one, other, length = sums[rows[pair, 4]], sums[rows[pair, 5]], sums[rows[pair, 6]]
        own, left_of, doubtful = gain[pair], spread[pair], 0
        for i in range(len(whole)):  # no branch and no call: whole vectors at a time
            total = whole[i] if whole[i] > 0.0 else np.nan
            delta = (top[i] - bottom[i]) / total
            lengths = delta * delta * length[i]
            left = square[i] - 2.0 * delta * (one[i] - other[i]) + lengths
            doubtful += left < SMALL * (square[i] + lengths)
            own[i] = delta
            left_of[i] = left / (total * total)
        if doubtful:
            _spread_by_units(sums, square, rows[pair], columns[pairs[pair, 0]], columns[pairs[pair, 1]], weights, left_of)


@kernel(error_model="numpy")
def _spread_by_units(
    sums: NDArray[np.float64],
    square: NDArray[np.float64],
    rows: NDArray[np.int64],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    weights: NDArray[np.float32],
    spread: NDArray[np.float64],
) -> None:
    """Fill Σu² of a pair where its products are too close to each other: from the units drawn."""
    largest, longest = _largest_difference(a[0], b[0]), _largest_difference(a[1], np.zeros_like(a[1]))
    for i in range(sums.shape[1]):
        total, ahead = sums[rows[2], i], sums[rows[0], i] - sums[rows[1], i]
        delta = ahead / total
        squares, lengths = square[i], delta * delta * sums[rows[6], i]
        left = squares - 2.0 * delta * (sums[rows[4], i] - sums[rows[5], i]) + lengths
        if total > 0.0 and left < SMALL * (squares + lengths):
            exact = largest * total + abs(ahead) * longest < _INTEGERS
            left = _look_at_units(a[0], b[0], a[1], weights[i], total, ahead, exact, _RESOLVED**2 * (squares + lengths))
            spread[i] = left / (total * total) if left >= 0.0 else LOST


def spread_few(
    sums: NDArray[np.float64],
    squares: NDArray[np.float64],
    rows: NDArray[np.int64],
    gain: NDArray[np.float64],
    spread: NDArray[np.float64],
) -> bool:
    """Do what `spread_by_products` does in NumPy, with the same bits; tell whether it is done: not where units are looked at."""
    top, bottom, whole, one, other, length = sums[np.delete(rows, 3, axis=1)].swapaxes(0, 1)
    square = squares[rows[:, 3]]
    with np.errstate(all="ignore"):
        total = np.where(whole > 0.0, whole, np.nan)
        delta = (top - bottom) / total
        lengths = delta * delta * length
        left = square - 2.0 * delta * (one - other) + lengths
        if np.any(left < SMALL * (square + lengths)):
            return False
        gain[:] = delta
        spread[:] = left / (total * total)
    return True


@kernel
def _largest_difference(a: NDArray[np.int64], b: NDArray[np.int64]) -> int:
    largest = 0
    for unit in range(len(a)):
        largest = max(largest, abs(a[unit] - b[unit]))
    return largest


@bare_kernel
def largest_differences(values: NDArray[np.int64], pairs: NDArray[np.int64], found: NDArray[np.int64]) -> None:
    """Fill (pair,) the largest |difference| on a unit of two rows of (system, unit) values."""
    for pair in range(len(pairs)):
        found[pair] = _largest_difference(values[pairs[pair, 0]], values[pairs[pair, 1]])


@kernel
def _look_at_units(
    n_a: NDArray[np.int64],
    n_b: NDArray[np.int64],
    c: NDArray[np.int64],
    weights: NDArray[np.float32],
    total: float,
    ahead: float,
    exact: bool,
    least: float,
) -> float:
    """Return C² Σu² of one replicate; LOST where integers would overflow and nothing above ``least`` is left."""
    whole, lead, delta, left = np.int64(total), np.int64(ahead), ahead / total, 0.0
    for unit in range(len(n_a)):
        if weights[unit] > 0.0:
            d = n_a[unit] - n_b[unit]
            x = float(d * whole - c[unit] * lead) / total if exact else float(d) - delta * float(c[unit])
            left += float(weights[unit]) * x * x
    return left if exact or left == 0.0 or left >= least else LOST


def spread_directly(
    sums: NDArray[np.float64],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    pairs: NDArray[np.int64],
    weights: NDArray[np.float32],
    sizes: NDArray[np.int64],
    gain: NDArray[np.float64],
    spread: NDArray[np.float64],
) -> None:
    """Fill (pair, replicate) δ and Σu² of any pairs, unit by unit; nan where a denominator is 0.

    Parameters
    ----------
    sums : (column, replicate) float64
    rows : (pair, 4) int64
        Rows of ``sums``: N_a, N_b, C_a, C_b.
    columns : (system, 2, unit) int64
    pairs : (pair, 2) int64
    weights : (replicate, unit) float32
    sizes : (stratum,) int64
        Units of each stratum, which stand side by side. Of several strata, each with n_h units, it fills
        Σ n_h/(n_h − 1) Σ(u − mean_h u)².
    gain, spread : (pair, replicate) float64
        What is filled.
    """
    _spread_directly(sums, rows, columns, pairs, side_by_side(weights), sizes, gain, spread)


def side_by_side(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return (tile, unit, replicate) weights: some replicates side by side, unit after unit; 0 in those that fill up the last tile.

    Each tile is whole, as rows with gaps between them cost four times the time.
    """
    count, units = weights.shape
    width = min(max(_TILE // units // _NARROWEST, 1) * _NARROWEST, _WIDEST)
    tiles = -(-count // width)
    across = np.zeros((tiles, units, width), np.float32)
    for tile in range(tiles):
        drawn = weights[tile * width : (tile + 1) * width]
        across[tile, :, : len(drawn)] = drawn.T
    return across


@bare_kernel
def _spread_directly(
    sums: NDArray[np.float64],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    pairs: NDArray[np.int64],
    across: NDArray[np.float32],
    sizes: NDArray[np.int64],
    gain: NDArray[np.float64],
    spread: NDArray[np.float64],
) -> None:
    tiles, units, width = across.shape
    z = np.empty((4, width))
    bound, left, mean, within = np.empty(width), np.empty(width), np.empty(width), np.empty(width)
    zeros = np.zeros(units, np.int64)
    for pair in range(len(pairs)):
        a, b = columns[pairs[pair, 0]], columns[pairs[pair, 1]]
        largest = (
            _largest_difference(a[0], b[0]),
            _largest_difference(a[1], b[1]),
            _largest_difference(b[0], zeros),
            _largest_difference(b[1], zeros),
        )
        for tile in range(tiles):
            start, stop = tile * width, min((tile + 1) * width, gain.shape[1])
            _coefficients(sums[:, start:stop], rows[pair], largest, z, bound, gain[pair, start:stop])
            left[:] = 0.0
            begin = 0
            for size in sizes:
                if size > 1:
                    mean[:] = 0.0
                    within[:] = 0.0
                    if len(sizes) > 1:
                        _add_means(a, b, across[tile], begin, begin + size, z, mean)
                    _add_squares(a, b, across[tile], begin, begin + size, z, mean, within)
                    times = size / (size - 1) if len(sizes) > 1 else 1.0
                    for i in range(width):
                        left[i] += times * within[i]
                begin += size
            for i in range(stop - start):
                least = _RESOLVED * bound[i]
                if gain[pair, start + i] != gain[pair, start + i]:
                    spread[pair, start + i] = np.nan
                else:
                    spread[pair, start + i] = LOST if 0.0 < left[i] < units * least * least else left[i]


@kernel
def _coefficients(
    sums: NDArray[np.float64],
    rows: NDArray[np.int64],
    largest: tuple[int, int, int, int],
    z: NDArray[np.float64],
    bound: NDArray[np.float64],
    gain: NDArray[np.float64],
) -> None:
    """Fill the four coefficients of a tile, T with every cancellation left out, and δ."""
    z[:] = 0.0
    for i in range(sums.shape[1]):
        n_a, n_b, c_a, c_b = sums[rows[0], i], sums[rows[1], i], sums[rows[2], i], sums[rows[3], i]
        if c_a <= 0.0 or c_b <= 0.0:
            gain[i], bound[i] = np.nan, 0.0
            continue
        m, k, r_a, r_b = n_a - n_b, c_a - c_b, n_a / c_a, n_b / c_b
        gain[i] = (m - r_b * k) / c_a
        z[0, i], z[1, i], z[2, i] = 1.0 / c_a, -r_a / c_a, -k / (c_a * c_b)
        z[3, i] = -(gain[i] - r_b * k / c_b) / c_a
        all_of_it = (abs(m) + abs(r_b * k)) / c_a + abs(r_b * k) / c_b
        bound[i] = abs(z[0, i]) * largest[0] + abs(z[1, i]) * largest[1] + abs(z[2, i]) * largest[2] + all_of_it / c_a * largest[3]


@kernel
def _add_means(
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    weights: NDArray[np.float32],
    begin: int,
    end: int,
    z: NDArray[np.float64],
    mean: NDArray[np.float64],
) -> None:
    z_0, z_1, z_2, z_3 = z[0], z[1], z[2], z[3]
    for unit in range(begin, end):
        d, e = float(a[0, unit] - b[0, unit]), float(a[1, unit] - b[1, unit])
        n, c, drawn = float(b[0, unit]), float(b[1, unit]), weights[unit]
        for i in range(len(mean)):
            mean[i] += drawn[i] * (z_0[i] * d + z_1[i] * e + (z_2[i] * n + z_3[i] * c))
    for i in range(len(mean)):
        mean[i] /= end - begin


@kernel
def _add_squares(
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    weights: NDArray[np.float32],
    begin: int,
    end: int,
    z: NDArray[np.float64],
    mean: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> None:
    # Replicates innermost: each has its own sum, in the order of the units, and the loop fills whole vectors.
    z_0, z_1, z_2, z_3 = z[0], z[1], z[2], z[3]
    for unit in range(begin, end):
        d, e = float(a[0, unit] - b[0, unit]), float(a[1, unit] - b[1, unit])
        n, c, drawn = float(b[0, unit]), float(b[1, unit]), weights[unit]
        for i in range(len(squares)):
            x = z_0[i] * d + z_1[i] * e + (z_2[i] * n + z_3[i] * c) - mean[i]
            squares[i] += drawn[i] * (x * x)
