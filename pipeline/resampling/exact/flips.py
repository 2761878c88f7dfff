"""Sign-flip p-values of one pair, free of Monte-Carlo error: ±d summed over all signs.

The first of three ways that fits is used: the law of the sum on its lattice; with few discordant units, all signs, by how often
each sum occurs or as sums of two halves; an enclosure.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.exact.budget import QUICK, Budget
from pipeline.resampling.exact.chances import CERTAIN, Chance, SignFlipChances
from pipeline.resampling.exact.enclosure import enclose
from pipeline.resampling.exact.factors import Factors, check_sums, common_step, one_dimensional
from pipeline.resampling.exact.lattice import count_points, split

__all__ = ["count_reaching", "sign_flip_chances"]

_FEW = 36  # discordant units: 2**18 sums of each half
_NARROW = 2**16  # bits of a number that has how often each sum occurs: longer ones take longer than the sums of two halves


def sign_flip_chances(differences: NDArray[np.int64], *, budget: Budget = QUICK) -> SignFlipChances:
    """Compute the p-values of approximate randomization: Σ ±d over all 2^m signs.

    P(|Σ ε_i d_i| ≥ |D|), the limit of Riezler & Maxwell (2005, https://aclanthology.org/W05-0908) for infinitely many shuffles;
    valid for any denominators, since swaps do not change C. Zeros are dropped and the rest is divided by its gcd. With up to 36
    discordant units the result is exact however wide the lattice: the sums of two halves are sorted and matched (Horowitz & Sahni
    1974, doi:10.1145/321812.321823).

    Parameters
    ----------
    differences : (unit,) int64
        d: numerators of the first system minus those of the second.
    budget : Budget, default QUICK
        Beyond it the result is an enclosure.

    Returns
    -------
    SignFlipChances

    Raises
    ------
    ValueError
        If Σ|d| could exceed int64.

    Examples
    --------
    >>> round(sign_flip_chances(np.repeat([1, -1], [8, 4])).two_sided.p, 4)
    0.3877
    """
    d = one_dimensional(differences)
    check_sums(d)
    gain = abs(int(d.sum()))
    sizes = np.abs(d[d != 0])
    if not sizes.size:
        return SignFlipChances(0, 0, CERTAIN, CERTAIN)
    step = common_step(sizes)
    sizes = sizes // step
    # Σ ±v ≥ g is Σ bv ≥ (g + Σv)/2 with b in {0, 1}, where both have the same parity.
    least = (gain // step + int(sizes.sum())) // 2
    one = _reach(sizes, least, budget)
    return SignFlipChances(gain, len(sizes), one, one.plus(one) if gain else CERTAIN)


def _reach(sizes: NDArray[np.int64], least: int, budget: Budget) -> Chance:
    """Return P(Σbv ≥ least), b = 0 or 1 with equal chance."""
    values, counts = np.unique(sizes, return_counts=True)
    atoms = np.stack([np.zeros_like(values), values], axis=1).ravel()
    starts, whole = np.arange(0, len(atoms) + 1, 2), np.zeros(len(atoms), np.bool_)
    law = Factors(atoms, np.full(len(atoms), 0.5), whole, starts, counts.astype(np.int64))
    if count_points(law, least) <= budget.points:
        found = split(law, least, max_points=budget.points).from_here
        if found.is_exact or len(sizes) > _FEW:
            return found
    if len(sizes) <= _FEW:
        hits = count_reaching(sizes, least)
        return Chance.known(math.log(hits) - len(sizes) * math.log(2) if hits else -math.inf)
    found, is_below = enclose(law, least, frequencies=budget.frequencies, width=budget.width)
    return found.complement() if is_below else found


def count_reaching(sizes: NDArray[np.int64], least: int) -> int:
    """Count the subsets whose sum is at least a bound: from how often each sum occurs, or by matching the sums of two halves."""
    width = len(sizes) + 2
    if int(sizes.sum()) * width <= _NARROW:
        return _count_digits(sizes, max(least, 0), width)
    one, other = _subset_sums(sizes[::2]), _subset_sums(sizes[1::2])
    return int(np.sum(len(other) - np.searchsorted(other, least - one)))


def _count_digits(sizes: NDArray[np.int64], least: int, width: int) -> int:
    """Multiply out Π (1 + x^v) at x = 2^width, and add up the digits from x^least: together 2^m at most, below 2^width − 1."""
    ways = 1
    for size in sorted(sizes.tolist()):
        ways += ways << width * size
    return (ways >> width * least) % ((1 << width) - 1)


def _subset_sums(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    sums = np.zeros(1, np.int64)
    for size in sizes:
        sums = np.sort(np.concatenate([sums, sums + size]), kind="stable")  # merges two runs
    return sums
