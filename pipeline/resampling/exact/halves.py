"""Tails of a sum of few draws on a lattice of any width: all sums of half of the draws, matched with those of the other half.

Of n units a resample draws n, so that half of one is one of C(k + n/2 − 1, n/2) choices from k different units: 12 376 of twelve,
where lattices of decimal scores or of unequal denominators have millions of points. The sums of one half are sorted, and each of
the other finds what lies beyond the threshold (Horowitz & Sahni 1974, doi:10.1145/321812.321823). Chances are only added, so that
no digit is lost however small a tail is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.exact.chances import Chance, Event
from pipeline.resampling.exact.factors import Factors

__all__ = ["count_halves", "split_halves"]

_MOST_DRAWS = 64  # chances of single sums stay far above the smallest float


class _Half(NamedTuple):
    """Sums of some draws and their chances; the first ``n_hollow`` of these are of hollow atoms alone."""

    sums: NDArray[np.int64]
    chances: NDArray[np.float64]
    n_hollow: int

    def hollow(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        return self.sums[: self.n_hollow], self.chances[: self.n_hollow]

    def solid(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        return self.sums[self.n_hollow :], self.chances[self.n_hollow :]


def count_halves(law: Factors) -> int:
    """Count the sums of the larger half of the draws; 0 where there are too many draws.

    Examples
    --------
    >>> from pipeline.resampling.exact.factors import make_factor
    >>> count_halves(make_factor(np.arange(12), np.ones(12), draws=12))
    12376
    """
    draws = int(law.powers[0])
    if len(law.powers) > 1 or draws > _MOST_DRAWS:
        return 0
    half = (draws + 1) // 2
    return math.comb(len(law.atoms) + half - 1, half)


def split_halves(law: Factors, x: int) -> Event:
    """Split the law of a sum at x.

    Parameters
    ----------
    law : Factors
        One factor, of few draws: see `count_halves`.
    x : int
        Compared with the sum; may be outside its range.

    Returns
    -------
    Event
        Exact, to a relative error of some 1e-11 at most.
    """
    draws = int(law.powers[0])
    one, other = _sum_draws(law, (draws // 2, draws - draws // 2))
    # At least one draw is not hollow: in the second half, or in the first alone.
    found = _match(one.sums, one.chances, *other.solid(), x) + _match(*one.solid(), *other.hollow(), x)
    below, at, above = (found / -math.expm1(draws * math.log1p(-share))).tolist() if (share := _solid_share(law)) < 1 else found
    return Event(*(Chance.known(math.log(p) if p > 0 else -math.inf) for p in (below, at, above, below + at, at + above)))


def _solid_share(law: Factors) -> float:
    return float(law.chances[~law.hollow].sum()) if law.hollow.any() else 1.0


def _sum_draws(law: Factors, numbers: tuple[int, int]) -> tuple[_Half, _Half]:
    """Return the sums of either number of draws, unsorted; equal sums are not merged."""
    most = max(numbers)
    order = np.argsort(~law.hollow, kind="stable")  # hollow atoms first, so that what is all hollow stays in front
    nothing = (np.zeros(0, np.int64), np.zeros(0))
    of = [(np.zeros(1, np.int64), np.ones(1)), *[nothing] * most]  # by the number drawn, each chance over its factorial
    n_hollow = [1] + [0] * most
    for atom in order.tolist():
        value, chance = int(law.atoms[atom]), float(law.chances[atom])
        for number in range(most, 0, -1):
            times = range(number + 1)
            sums = np.concatenate([of[number - j][0] + j * value for j in times])
            of[number] = (sums, np.concatenate([of[number - j][1] * (chance**j / math.factorial(j)) for j in times]))
        if law.hollow[atom]:
            n_hollow = [len(sums) for sums, _ in of]
    first, second = (_Half(of[k][0], math.factorial(k) * of[k][1], n_hollow[k]) for k in numbers)
    return first, second


def _match(
    sums: NDArray[np.int64], chances: NDArray[np.float64], others: NDArray[np.int64], of_others: NDArray[np.float64], x: int
) -> NDArray[np.float64]:
    """Return the chances that the sum of one and another is below x, x, and above it."""
    if not len(sums) or not len(others):
        return np.zeros(3)
    order = np.argsort(others)
    others, of_others = others[order], of_others[order]
    starts = np.flatnonzero(np.diff(others, prepend=others[0] - 1))
    others, of_others = others[starts], np.add.reduceat(of_others, starts)
    up_to = np.concatenate([[0.0], np.cumsum(of_others)])
    beyond = np.concatenate([np.cumsum(of_others[::-1])[::-1], [0.0]])  # from the far end, where chances may be tiny
    order = np.argsort(sums)
    wanted, chances = x - sums[order], chances[order]
    left, right = (np.searchsorted(others, wanted, side=side) for side in ("left", "right"))
    at = np.where(right > left, of_others[np.minimum(left, len(others) - 1)], 0.0)
    return np.array([chances @ up_to[left], chances @ at, chances @ beyond[right]])
