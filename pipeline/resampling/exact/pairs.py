"""Exact p-values of many pairs at once, for metrics whose denominators all systems share.

With a constant denominator a pair is described by how often each difference of numerators occurs: wins, ties and losses for
accuracy. The transform of such a law is a sum of a few terms, computed directly, and one compiled kernel does the work of a pair.
Other pairs are computed one by one, within a budget.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.small_work import FewSoFar, is_at_hand, plain_python
from pipeline.dataclass import dataclass
from pipeline.resampling.exact.batch import compare_short
from pipeline.resampling.exact.bootstrap import bootstrap_chances
from pipeline.resampling.exact.budget import QUICK, Budget
from pipeline.resampling.exact.flips import sign_flip_chances

__all__ = ["EXACT", "METHODS", "PairChances", "compare_pairs"]

EXACT = ("above_twice", "at_twice", "below_zero", "at_zero", "two_sided", "sign_flip")
"""P(δ* > 2δ), P(δ* = 2δ), P(δ* < 0), P(δ* = 0), P(|δ* − δ| ≥ δ) and the sign-flip P(|D°| ≥ |D|); δ ≥ 0."""

METHODS = ("exact", "enclosure")
"""How a probability is known: to a relative error of 1e-9, or as two bounds."""

_AT_ONCE = 2**11
"""Pairs of a call of the kernel, a tenth of a second: a signal is heard between two of them."""

_STEPS_OF_A_LAW = 1000

_is_little = FewSoFar(2**18, 2**20, at_hand=lambda: _is_at_hand())
"""Compiling takes 14 s, and a step in Python some 2.5 µs: the first tables on a machine need not wait for the compiler."""

_WIDEST = 2**12  # differences in a histogram; a pair with more is computed by itself


@dataclass(frozen=True, eq=False)
class PairChances:
    """Exact probabilities of pairs, each ordered so that the observed gain is not negative.

    Parameters
    ----------
    log10_low, log10_high : (pair, 6) float64
        Bounds of log10 p in the order of `EXACT`; equal if p is known to a relative error of 1e-9, usually 1e-12; −inf where p = 0;
        nan for events that were not requested. A single point that the lattice nearly misses may have bounds although the tails
        have none.
    gain : (pair,) int64
        Σd in the order given: negative where the second of the pair is ahead.
    discordant : (pair,) int64
        Units with d ≠ 0; if there are none, both two-sided p-values are 1.
    """

    log10_low: NDArray[np.float64]
    log10_high: NDArray[np.float64]
    gain: NDArray[np.int64]
    discordant: NDArray[np.int64]

    @property
    def low(self) -> NDArray[np.float64]:
        """(pair, 6) lower bounds; 0 below the smallest float."""
        return _power_of_ten(self.log10_low)

    @property
    def high(self) -> NDArray[np.float64]:
        """(pair, 6) upper bounds; 0 below the smallest float."""
        return _power_of_ten(self.log10_high)

    @property
    def p(self) -> NDArray[np.float64]:
        """(pair, 6) probabilities, or the middle of their enclosures; 0 below the smallest float."""
        return (self.low + self.high) / 2

    @property
    def log10_p(self) -> NDArray[np.float64]:
        """(pair, 6) decimal logarithms of the probabilities, or of the middle of their enclosures, however small."""
        middle = np.logaddexp2(self.log10_low * math.log2(10), self.log10_high * math.log2(10)) - 1
        return np.where(self.log10_low == self.log10_high, self.log10_low, middle / math.log2(10))

    @property
    def method(self) -> NDArray[np.str_]:
        """(pair, 6) of `METHODS`."""
        return np.where(self.log10_low == self.log10_high, *METHODS)


def compare_pairs(
    numerators: NDArray[np.int64],
    pairs: NDArray[np.int64],
    *,
    denominators: NDArray[np.int64] | None = None,
    events: Collection[str] = EXACT,
    budget: Budget = QUICK,
) -> PairChances:
    """Compute the exact bootstrap and sign-flip probabilities of pairs of systems over common denominators.

    With d the differences of numerators of a pair, c the denominators, D = Σd ≥ 0 and C = Σc: the bootstrap event δ* > 2δ is
    Σ w (C d − 2D c) > 0 with w ~ Multinomial(n; 1/n, …), and the sign-flip event is |Σ ±d| ≥ D. The numbers are those of
    `bootstrap.bootstrap_chances` and `flips.sign_flip_chances`, which name their
    sources, pair by pair; those of a pair depend on its two systems alone. With constant denominators and few distinct
    differences a pair costs some 40 µs; otherwise the budget bounds it, and what is beyond the budget is an enclosure.

    Parameters
    ----------
    numerators : (unit, system) int64
        Correct or not, 0/1, or any statistic that is divided by the denominator.
    pairs : (pair, 2) int64
        Positions of systems.
    denominators : (unit,) int64, optional
        c ≥ 0, the same for all systems; all 1 if not given. Resamples with Σwc = 0 are left out.
    events : collection of str, optional
        Those of `EXACT` that are wanted. Nothing is computed for the swaps, or for the bootstrap, unless one of its events is among
        them; the bootstrap's five come together. No number depends on what else is wanted.
    budget : Budget, default QUICK
        For one tail; a pair has three. It is not a time, so results do not depend on the load of the machine.

    Returns
    -------
    PairChances

    Raises
    ------
    ValueError
        If shapes do not fit, denominators are negative or all 0, or a sum could exceed int64.

    Examples
    --------
    >>> ahead = np.repeat([[1, 0], [0, 1], [1, 1]], [8, 4, 88], axis=0)
    >>> compare_pairs(ahead, np.array([[0, 1]])).p.round(4)
    array([[0.0955, 0.0574, 0.0927, 0.0598, 0.3054, 0.3877]])
    """
    unknown = sorted(set(events) - set(EXACT))
    if unknown:
        raise ValueError(f"there are no events {unknown}: {EXACT}")
    if numerators.ndim != 2 or not len(numerators) or pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"numerators (unit, system) and pairs (pair, 2) are needed, not {numerators.shape} and {pairs.shape}")
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < numerators.shape[1]:
        raise ValueError(f"pairs name systems {pairs.min()} to {pairs.max()}, and there are {numerators.shape[1]}")
    if denominators is not None and denominators.shape != (len(numerators),):
        raise ValueError(f"{len(numerators)} units have denominators of shape {denominators.shape}")
    by_system = np.ascontiguousarray(numerators.T, np.int64)
    reach = int(by_system.max()) - int(by_system.min()) if by_system.size else 0
    if reach >= 2**62 // len(numerators):
        raise ValueError(f"differences up to {reach} of {len(numerators)} units do not fit: their sum could reach {2**62}")
    is_constant = denominators is None or bool(denominators.min() == denominators.max() > 0)
    logs = np.full((len(pairs), len(EXACT)), np.nan)
    gain, discordant = np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.int64)
    resampled, swapped = bool(set(events) & set(EXACT[:-1])), EXACT[-1] in events
    ordered = np.ascontiguousarray(pairs, np.int64)
    # Values of a law and points of its lattice grow with the differences.
    steps = len(pairs) * (len(numerators) + _STEPS_OF_A_LAW) * max(reach, 1) ** 2
    compare = plain_python(compare_short) if _is_little(steps) else compare_short
    for first in range(0, len(pairs), _AT_ONCE):
        some = slice(first, first + _AT_ONCE)
        asked = min(reach, _WIDEST), is_constant, resampled, swapped
        compare(by_system, ordered[some], *asked, logs[some], gain[some], discordant[some])
    low, high = logs, logs.copy()
    for pair in np.flatnonzero(np.isnan(logs[:, 0])).tolist() if resampled else ():
        first, second = pairs[pair]
        low[pair, :-1], high[pair, :-1] = _resample_alone(by_system[first] - by_system[second], denominators, budget)
    for pair in np.flatnonzero(np.isnan(logs[:, -1])).tolist() if swapped else ():
        first, second = pairs[pair]
        flipped = sign_flip_chances(by_system[first] - by_system[second], budget=budget).two_sided
        low[pair, -1], high[pair, -1] = flipped.log_low, flipped.log_high
    return PairChances(low / math.log(10), high / math.log(10), gain, discordant)


def _is_at_hand() -> bool:
    one, pair, flags = np.zeros((2, 1), np.int64), np.zeros((1, 2), np.int64), (1, True, True, True)
    counted = np.zeros(1, np.int64)
    return is_at_hand(compare_short, one, pair, *flags, np.zeros((1, len(EXACT))), counted, counted)


def _power_of_ten(exponent: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(under="ignore"):
        return np.asarray(10.0**exponent)


def _resample_alone(
    differences: NDArray[np.int64], denominators: NDArray[np.int64] | None, budget: Budget
) -> tuple[list[float], list[float]]:
    found = bootstrap_chances(differences, denominators, budget=budget)
    chances = (found.above_twice, found.at_twice, found.below_zero, found.at_zero, found.two_sided)
    return [chance.log_low for chance in chances], [chance.log_high for chance in chances]
