"""p-values without Monte-Carlo error. This module computes the sign-flip and bootstrap laws of one pair by convolution.

D = Σd and C = Σc, with d_i the difference of the numerators of two systems and c_i a denominator *common to both*: accuracy,
attachment, recall over gold, WER over references. Not for precision, F1, AER or BLEU. A bootstrap total C* is random but
positive, so {δ* > t} is {Σ w_i (d_i − t c_i) > 0}: one sum of independent integers per threshold. Convolving d alone is wrong
where denominators differ. See `exact_tilt` for tails, and `exact_pairs` for many pairs at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from pipeline.resampling.contract import largest_magnitude
from pipeline.resampling.exact_chances import BootstrapChances, Chance, Law, SignFlipChances
from pipeline.resampling.exact_empty import log_chance_of_empty, occur_when_defined
from pipeline.resampling.exact_events import Budget, Slope, common_step, compress, fit_grid
from pipeline.resampling.exact_lattice import MAX_POINTS, count_points, split
from pipeline.resampling.exact_plane import MAX_WORK
from pipeline.resampling.exact_ring import raise_powers
from pipeline.resampling.exact_tilt import Factors, highest, window

__all__ = ["bootstrap_chances", "bootstrap_law", "sign_flip_chances"]

_INT64_LIMIT = 2**63
_ONE = Chance(0.0, 0.0)


def bootstrap_chances(
    differences: NDArray[np.int64],
    denominators: NDArray[np.int64] | None = None,
    *,
    max_points: int = MAX_POINTS,
    max_work: int = MAX_WORK,
) -> BootstrapChances:
    """Compute the exact bootstrap probabilities of one pair.

    With n units drawn n times, δ* = Σw d / Σw c and δ = D/C: P(δ* > 2δ) is P(Σw Z > 0) with Z_i = C d_i − 2D c_i, and P(δ* < 0)
    is P(Σw d < 0). The law of the sum is the n-th power of a transform, of the law tilted to the threshold, so that p-values
    down to 1e-300 and beyond have a relative error of 1e-9 or less (up to about 10^5 units). Probabilities are conditional on
    C* > 0. The one-sided p-value is that of Berg-Kirkpatrick, Burkett & Klein (2012), https://aclanthology.org/D12-1091;
    tilting: Daniels (1954), doi:10.1214/aoms/1177728652.

    Parameters
    ----------
    differences : (unit,) int64
        d: numerators of the first system less those of the second, turned so that more is better.
    denominators : (unit,) int64, optional
        c ≥ 0, common to both systems; all 1 if not given.
    max_points : int
        Widest line. Above it, and where a plane of both sums is too wide as well, Z is rounded down and up to a grid and the
        result is an enclosure.
    max_work : int
        Largest plane; 0 for none.

    Returns
    -------
    BootstrapChances

    Raises
    ------
    ValueError
        Where denominators are negative or sum to 0, or an integer could leave int64.

    Examples
    --------
    >>> found = bootstrap_chances(np.repeat([1, -1, 0], [8, 4, 88]))
    >>> round(found.one_sided.p, 4), round(found.two_sided.p, 4)
    (0.0955, 0.3054)
    """
    d = _one_dimensional(differences)
    c = np.ones_like(d) if denominators is None else _one_dimensional(denominators)
    if c.shape != d.shape:
        raise ValueError(f"{len(d)} differences have {len(c)} denominators")
    _check_sums(d)
    _check_sums(c)
    if int(c.min()) < 0 or int(c.sum()) == 0:
        raise ValueError(f"denominators are not negative and not all 0: their minimum is {c.min()}, their sum {c.sum()}")
    is_swapped = int(d.sum()) < 0
    d = -d if is_swapped else d
    gain, total = int(d.sum()), int(c.sum())
    d, c = d // common_step(d), c // common_step(c)
    budget = Budget(max_points, max_work)
    sloped = Slope(int(c.sum()), 2 * int(d.sum()))
    _check_line(d, c, sloped)
    zero = occur_when_defined(d, c, Slope(1, 0), budget=budget)
    twice = occur_when_defined(d, c, sloped, budget=budget) if gain else zero
    log_empty = log_chance_of_empty(c)
    return BootstrapChances(
        gain,
        total,
        is_swapped,
        above_twice=twice.above,
        at_twice=twice.at,
        from_twice=twice.from_here,
        below_zero=zero.below,
        at_zero=zero.at,
        up_to_zero=zero.up_to,
        empty=Chance(log_empty, log_empty),
        is_identical=not d.any(),
    )


def sign_flip_chances(differences: NDArray[np.int64], *, max_points: int = MAX_POINTS) -> SignFlipChances:
    """Compute the exact p-values of approximate randomization: Σ ±d over all 2^m signs.

    P(|Σ ε_i d_i| ≥ |D|), the limit of Riezler & Maxwell (2005, https://aclanthology.org/W05-0908) for infinitely many shuffles;
    valid whatever the denominators, as swaps leave C alone. Zeros are dropped and the rest divided by its gcd.

    Parameters
    ----------
    differences : (unit,) int64
        d: numerators of the first system less those of the second.
    max_points : int
        Above this width |d| is rounded to a grid and the result is an enclosure.

    Returns
    -------
    SignFlipChances

    Raises
    ------
    ValueError
        Where Σ|d| could leave int64.

    Examples
    --------
    >>> round(sign_flip_chances(np.repeat([1, -1], [8, 4])).two_sided.p, 4)
    0.3877
    """
    d = _one_dimensional(differences)
    _check_sums(d)
    gain = abs(int(d.sum()))
    sizes = np.abs(d[d != 0])
    if not sizes.size:
        return SignFlipChances(0, 0, _ONE, _ONE)
    values, counts = np.unique(sizes // common_step(sizes), return_counts=True)
    # Σ ±v ≥ g is Σ bv ≥ (g + Σv)/2 with b in {0, 1}, where both have the same parity.
    least = (gain // common_step(sizes) + int(values @ counts)) // 2
    one = _flips(values, counts, least, max_points)
    two = one.plus(one) if gain else _ONE
    return SignFlipChances(gain, len(sizes), one, two)


def bootstrap_law(differences: NDArray[np.int64]) -> Law:
    """Compute the whole law of Σd*, which is that of n·c·δ* where the denominator is a constant c.

    Parameters
    ----------
    differences : (unit,) int64

    Returns
    -------
    Law

    Examples
    --------
    >>> law = bootstrap_law(np.array([1, 0]))
    >>> law.values, law.probability.round(3)
    (array([0, 1, 2]), array([0.25, 0.5 , 0.25]))
    """
    d = _one_dimensional(differences)
    _check_sums(d)
    law, step, lowest = compress(*np.unique(d, return_counts=True), draws=len(d))
    if highest(law) == 0:
        return Law(np.array([lowest]), np.ones(1))
    low, high = window(law, 0.0)
    points = next_fast_len(high - low + 1, real=True)
    if points > MAX_POINTS:
        raise ValueError(f"a law of {points} points is asked for, and {MAX_POINTS} are allowed")
    transform = rfft(np.bincount(law.atoms % points, weights=law.chances, minlength=points))
    sums = np.arange(low, high + 1)
    powers = np.ones_like(transform)
    raise_powers(powers, transform, len(d))
    probability = irfft(powers, points)[sums % points]
    return Law(lowest + step * sums, np.maximum(probability, 0.0))


def _one_dimensional(values: NDArray[np.int64]) -> NDArray[np.int64]:
    if values.ndim != 1 or not values.size or not np.issubdtype(values.dtype, np.integer):
        raise ValueError(f"one or more integers are needed, not {values.dtype} of shape {values.shape}")
    return values.astype(np.int64)


def _check_sums(values: NDArray[np.int64]) -> None:
    bound = 4 * len(values) * largest_magnitude(values)
    if bound >= _INT64_LIMIT:
        raise ValueError(f"sums up to {bound} do not fit: int64 ends at {_INT64_LIMIT}")


def _check_line(d: NDArray[np.int64], c: NDArray[np.int64], slope: Slope) -> None:
    largest, widest = largest_magnitude(d), largest_magnitude(c)
    bound = 4 * len(d) * (slope.u * largest + slope.v * widest)
    if bound >= _INT64_LIMIT:
        raise ValueError(
            f"sums up to {bound} of {slope.u}·d − {slope.v}·c (|d| ≤ {largest}, c ≤ {widest}) do not fit: "
            f"int64 ends at {_INT64_LIMIT}"
        )


def _flips(values: NDArray[np.int64], counts: NDArray[np.int64], least: int, max_points: int) -> Chance:
    """Give P(Σbv ≥ least), b = 0 or 1, each v as often as it occurs."""
    points = count_points(_flip_law(values, counts), least)
    if points <= max_points:
        return _at_least(values, counts, least, max_points, 1)
    cell = fit_grid(points, max_points)
    nearest = (values + cell // 2) // cell
    away = counts * (values - cell * nearest)  # Σbv is off the grid's sum by a part of each: all of them bound it
    up, down = int(away[away > 0].sum()), -int(away[away < 0].sum())
    low = _at_least(nearest, counts, least + down, max_points, cell)
    high = _at_least(nearest, counts, least - up, max_points, cell)
    return Chance(low.log_low, high.log_high)


def _flip_law(values: NDArray[np.int64], counts: NDArray[np.int64]) -> Factors:
    atoms = np.stack([np.zeros_like(values), values], axis=1).ravel()
    return Factors(atoms, np.full(len(atoms), 0.5), np.arange(0, len(atoms) + 1, 2), counts.astype(np.int64))


def _at_least(values: NDArray[np.int64], counts: NDArray[np.int64], least: int, max_points: int, cell: int) -> Chance:
    # Equal values are one factor, and 0 is none.
    distinct, which = np.unique(values, return_inverse=True)
    weights = np.bincount(which, weights=counts).astype(np.int64)
    law = _flip_law(distinct[distinct > 0], weights[distinct > 0])
    found = split(law, -(-least // cell), max_points=max_points)
    log_p = min(float(np.logaddexp(found.at, found.above)), 0.0)
    return Chance(log_p, log_p)
