"""Score arithmetic that gives the same bits on every machine: exp, log and the ratio of two sums.

Only + − × ÷ and √ are used: IEEE 754 rounds them correctly everywhere, while the exp and log of a C library differ between
machines in the last bit. Nothing is compiled with fastmath, so no compiler may reorder or fuse.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel

__all__ = ["INVERSE_LN2", "ROOT_HALF", "apply_kernel", "exp", "exp_fraction", "log", "log_parts", "score_ratio"]

# ln 2 as a number with 33 significant bits (its product with any exponent of a double is exact) and the rest.
_LN2_HIGH = 5954088944.0 / 8589934592.0
_LN2_LOW = -4.2009150726810846e-11
INVERSE_LN2 = 1.4426950408889634
ROOT_HALF = 0.7071067811865476
_FEW = 2**16
"""Sums that are copied in less time than a kernel takes to score them."""


@kernel
def exp(x: float) -> float:
    """Return e to the power of x, within 1 unit in the last place for normal results.

    x = k ln 2 + r with |r| ≤ ½ ln 2; the Taylor series of e^r to r^14 leaves less than 2^-62.
    """
    if x != x:
        return x
    if x > 709.782712893384:
        return np.inf
    if x < -745.2:
        return 0.0
    k = int(x * INVERSE_LN2 + (0.5 if x >= 0.0 else -0.5))
    return _scale(exp_fraction(x, k), k)


@kernel
def exp_fraction(x: float, k: float) -> float:
    """Return e to the power of x over 2 to the power of k, k being x / ln 2 to the nearest integer; no branch, no loop."""
    high = x - k * _LN2_HIGH  # exact: both are multiples of the same small power of two and close to each other
    low = k * _LN2_LOW
    r = high - low
    tail = 1.0 / 87178291200.0
    tail = tail * r + 1.0 / 6227020800.0
    tail = tail * r + 1.0 / 479001600.0
    tail = tail * r + 1.0 / 39916800.0
    tail = tail * r + 1.0 / 3628800.0
    tail = tail * r + 1.0 / 362880.0
    tail = tail * r + 1.0 / 40320.0
    tail = tail * r + 1.0 / 5040.0
    tail = tail * r + 1.0 / 720.0
    tail = tail * r + 1.0 / 120.0
    tail = tail * r + 1.0 / 24.0
    tail = tail * r + 1.0 / 6.0
    tail = tail * r + 1.0 / 2.0
    # `(high - r) - low` is what rounding took from r: it is put back before the last, largest addition.
    return 1.0 + (r + (r * r * tail + ((high - r) - low)))


@kernel
def _scale(value: float, k: int) -> float:
    """Multiply by 2 to the power of k, in steps that stay exact until the last."""
    while k >= 512:
        value *= 1.3407807929942597e154  # 2^512
        k -= 512
    while k <= -512:
        value *= 7.458340731200207e-155  # 2^-512
        k += 512
    factor = 2.0 if k >= 0 else 0.5
    k = abs(k)
    power = 1.0
    while k:
        if k & 1:
            power *= factor
        factor *= factor
        k >>= 1
    return value * power


@kernel
def log(x: float) -> float:
    """Return the natural logarithm of x, within about 1 unit in the last place; −∞ for 0, nan below.

    x = 2^k m with m in [√½, √2); with f = m − 1 and s = f / (2 + f), log m = 2 (s + s³/3 + s⁵/5 + …), and because 2s = f − s f
    that is f − s (f − 2 (s²/3 + s⁴/5 + …)): the leading term is exact.
    """
    if x != x or x < 0.0:
        return np.nan
    if x == 0.0:
        return -np.inf
    if x == np.inf:
        return x
    k = 0
    while x < 2.3283064365386963e-10:
        x *= 4294967296.0
        k -= 32
    while x >= 4294967296.0:
        x *= 2.3283064365386963e-10
        k += 32
    while x < ROOT_HALF:
        x *= 2.0
        k -= 1
    while x >= 2.0 * ROOT_HALF:
        x *= 0.5
        k += 1
    f, less = log_parts(x)
    return k * _LN2_HIGH + (f - (less - k * _LN2_LOW))


@kernel
def log_parts(x: float) -> tuple[float, float]:
    """Return two numbers whose difference is the logarithm of x, from √½ to √2; no branch, no loop."""
    f = x - 1.0
    s = f / (2.0 + f)
    square = s * s
    series = 2.0 / 25.0
    series = series * square + 2.0 / 23.0
    series = series * square + 2.0 / 21.0
    series = series * square + 2.0 / 19.0
    series = series * square + 2.0 / 17.0
    series = series * square + 2.0 / 15.0
    series = series * square + 2.0 / 13.0
    series = series * square + 2.0 / 11.0
    series = series * square + 2.0 / 9.0
    series = series * square + 2.0 / 7.0
    series = series * square + 2.0 / 5.0
    series = series * square + 2.0 / 3.0
    return f, s * (f - series * square)


@bare_kernel(error_model="numpy")
def _ratio_kernel(
    statistics: NDArray[Any], out: NDArray[np.float64], numerator_scale: float, denominator_scale: float, factor: float
) -> None:
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            # `float()` of a float32 stays a float32 in compiled code.
            denominator = np.float64(statistics[1, i, j]) * denominator_scale
            if denominator == 0.0:
                out[i, j] = np.nan
            else:
                out[i, j] = factor * ((np.float64(statistics[0, i, j]) * numerator_scale) / denominator)


def _ratio_few(
    statistics: NDArray[np.float64], out: NDArray[np.float64], numerator_scale: float, denominator_scale: float, factor: float
) -> None:
    """Do what `_ratio_kernel` does in NumPy, operation by operation, and so with the same bits."""
    with np.errstate(all="ignore"):
        denominator = statistics[1] * denominator_scale
        score = factor * ((statistics[0] * numerator_scale) / denominator)
    out[:] = np.where(denominator == 0.0, np.nan, score)


def score_ratio(statistics: NDArray[Any], *, decimals: tuple[int, ...], factor: float) -> NDArray[np.float64]:
    """Return factor × statistics[0] / statistics[1], each on its decimal lattice; nan where the denominator is 0.

    Only the difference of the decimals enters, as an exact integer factor, and one division is rounded, so sums on a finer common
    lattice give the same bits.

    Parameters
    ----------
    statistics : (2, …) ndarray
        Sums of numerators and of denominators.
    decimals : tuple of int
        Decimal places of the two.
    factor : float
        100 for percent.

    Examples
    --------
    >>> import numpy as np
    >>> score_ratio(np.array([[30, 1], [40, 0]]), decimals=(0, 0), factor=100.0)
    array([75., nan])
    >>> float(score_ratio(np.array([125, 2]), decimals=(2, 0), factor=1.0))
    0.625
    """
    shift = decimals[1] - decimals[0]
    numerator_scale, denominator_scale = float(10 ** max(shift, 0)), float(10 ** max(-shift, 0))
    score = _ratio_few if np.size(statistics) <= _FEW else _ratio_kernel
    return apply_kernel(score, statistics, 2, numerator_scale, denominator_scale, factor)


def apply_kernel(
    kernel: Callable[..., None], statistics: NDArray[Any], n_statistics: int, *constants: float
) -> NDArray[np.float64]:
    """Run a compiled kernel over summed statistics of any number of dimensions.

    Parameters
    ----------
    kernel : callable
        ``kernel(statistics (statistic, i, j), out (i, j), *constants)``, compiled, or in NumPy for few sums.
    statistics : (statistic, …) ndarray
        Many are passed as they are, float32, float64 or integers, without a copy if they have at most three dimensions. Few are
        passed as float64 in C order, because a kernel is compiled for every type and order.
    n_statistics : int
        How many statistics the kernel reads.
    *constants : float
        Passed on.
    """
    sums = np.asarray(statistics)
    if sums.ndim == 0 or sums.shape[0] != n_statistics:
        raise ValueError(f"{n_statistics} statistics expected on the first axis, the array has shape {sums.shape}")
    if sums.size <= _FEW or sums.dtype not in (np.float32, np.float64, np.int64):
        sums = sums.astype(np.float64, copy=False)  # as kernels read integers too
    shape = sums.shape[1:]
    columns = shape[-1] if shape else 1
    rows = math.prod(shape[:-1])
    out = np.empty((rows, columns), dtype=np.float64)
    given = sums.reshape(n_statistics, rows, columns)
    kernel(np.ascontiguousarray(given) if sums.size <= _FEW else given, out, *constants)
    return out.reshape(shape)
