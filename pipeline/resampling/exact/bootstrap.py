"""p-values without Monte-Carlo error. This module computes the bootstrap law of one pair by convolution.

D = Σd and C = Σc, with d_i the difference of the numerators of two systems and c_i a denominator *common to both*: accuracy,
attachment, recall over gold, WER over references. Not for precision, F1, AER or BLEU. A bootstrap total C* is random but
positive, so {δ* > t} is {Σ w_i (d_i − t c_i) > 0}: one sum of independent integers per threshold. Convolving d alone is wrong
where denominators differ. See `tilt` for tails, and `pairs` for many pairs at once.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from pipeline.resampling.contract import largest_magnitude
from pipeline.resampling.exact.budget import QUICK, Budget
from pipeline.resampling.exact.chances import BootstrapChances, Chance, Law
from pipeline.resampling.exact.events import Slope, compress, occur_when
from pipeline.resampling.exact.factors import highest
from pipeline.resampling.exact.integers import INT64_LIMIT, check_sums, common_step, one_dimensional
from pipeline.resampling.exact.lattice import MAX_POINTS
from pipeline.resampling.exact.ring import raise_powers
from pipeline.resampling.exact.tilt import LOG_ALIAS, window

__all__ = ["bootstrap_chances", "bootstrap_law"]


def bootstrap_chances(
    differences: NDArray[np.int64],
    denominators: NDArray[np.int64] | None = None,
    *,
    budget: Budget = QUICK,
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
    budget : Budget, default QUICK
        Beyond it a probability is enclosed (`enclosure`): two bounds, and the truth between them.

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
    d = one_dimensional(differences)
    c = np.ones_like(d) if denominators is None else one_dimensional(denominators)
    if c.shape != d.shape:
        raise ValueError(f"{len(d)} differences have {len(c)} denominators")
    check_sums(d)
    check_sums(c)
    if int(c.min()) < 0 or int(c.sum()) == 0:
        raise ValueError(f"denominators are not negative and not all 0: their minimum is {c.min()}, their sum {c.sum()}")
    is_swapped = int(d.sum()) < 0
    d = -d if is_swapped else d
    gain, total = int(d.sum()), int(c.sum())
    d, c = d // common_step(d), c // common_step(c)
    sloped = Slope(int(c.sum()), 2 * int(d.sum()))
    _check_line(d, c, sloped)
    zero = occur_when(d, c, Slope(1, 0), budget=budget)
    twice = occur_when(d, c, sloped, budget=budget) if gain else zero
    log_empty = _log_chance_of_empty(c)
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
    d = one_dimensional(differences)
    check_sums(d)
    law, step, lowest = compress(*np.unique(d, return_counts=True), draws=len(d))
    if highest(law) == 0:
        return Law(np.array([lowest]), np.ones(1))
    low, high = window(law, 0.0, LOG_ALIAS)
    points = next_fast_len(high - low + 1, real=True)
    if points > MAX_POINTS:
        raise ValueError(f"a law of {points} points is asked for, and {MAX_POINTS} are allowed")
    transform = rfft(np.bincount(law.atoms % points, weights=law.chances, minlength=points))
    sums = np.arange(low, high + 1)
    powers = np.ones_like(transform)
    raise_powers(powers, transform, len(d))
    probability = irfft(powers, points)[sums % points]
    return Law(lowest + step * sums, np.maximum(probability, 0.0))


def _log_chance_of_empty(c: NDArray[np.int64]) -> float:
    """Return log P(C* = 0) = n log(share of units with c = 0)."""
    hollow = int((c == 0).sum())
    return len(c) * math.log(hollow / len(c)) if hollow else -math.inf


def _check_line(d: NDArray[np.int64], c: NDArray[np.int64], slope: Slope) -> None:
    largest, widest = largest_magnitude(d), largest_magnitude(c)
    bound = 4 * len(d) * (slope.u * largest + slope.v * widest)
    if bound >= INT64_LIMIT:
        raise ValueError(
            f"sums up to {bound} of {slope.u}·d − {slope.v}·c (|d| ≤ {largest}, c ≤ {widest}) do not fit: "
            f"int64 ends at {INT64_LIMIT}"
        )
