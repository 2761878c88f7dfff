"""Probabilities that may be far below the smallest float, and what an exact procedure returns."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass

__all__ = ["CERTAIN", "BootstrapChances", "Chance", "Event", "Law", "SignFlipChances"]

_ROUNDING = 2.0**-48  # more than the rounding of a few operations: relative, and absolute for a logarithm


@dataclass(frozen=True)
class Chance:
    """A probability, or an enclosure of one.

    Parameters
    ----------
    log_low, log_high : float
        Natural logarithms of its bounds; equal if it is known, −inf for 0.

    Examples
    --------
    >>> Chance(-2000.0, -2000.0).p, round(Chance(-2000.0, -2000.0).log10_p, 3)
    (0.0, -868.589)
    """

    log_low: float
    log_high: float

    @classmethod
    def known(cls, log_p: float) -> Chance:
        """Return a chance whose bounds coincide; one that rounding put above 1 is 1."""
        return cls(min(log_p, 0.0), min(log_p, 0.0))

    @property
    def is_exact(self) -> bool:
        """Tell whether the bounds coincide."""
        return self.log_low == self.log_high

    @property
    def low(self) -> float:
        """Lower bound; 0 if below the smallest float."""
        return math.exp(self.log_low)

    @property
    def high(self) -> float:
        """Upper bound."""
        return math.exp(self.log_high)

    @property
    def p(self) -> float:
        """The probability, or the middle of the enclosure."""
        return (self.low + self.high) / 2

    @property
    def log10_p(self) -> float:
        """Decimal logarithm of the probability, however small."""
        if self.is_exact:
            return self.log_low / math.log(10)
        return float(np.logaddexp(self.log_low, self.log_high) - math.log(2)) / math.log(10)

    def complement(self) -> Chance:
        """Return the probability of the opposite event."""
        return _outward(*(math.log(-math.expm1(log_p)) if log_p < 0 else -math.inf for log_p in (self.log_high, self.log_low)))

    def plus(self, other: Chance) -> Chance:
        """Add the probability of a disjoint event."""
        low, high = np.logaddexp([self.log_low, self.log_high], [other.log_low, other.log_high]).tolist()
        return _outward(low, high)

    def log_gap(self, other: Chance) -> float:
        """Bound the logarithm of the ratio of this probability to that of a part of the event, rounded up."""
        gap = -math.expm1(min(other.log_low - self.log_high, 0.0))
        return min(self.log_high + math.log(gap + _ROUNDING), 0.0) if self.log_high > -math.inf else -math.inf


def _outward(log_low: float, log_high: float) -> Chance:
    """Make a chance from computed bounds, widened by what rounding may have moved."""
    if log_low < log_high:
        log_low -= _ROUNDING * (1 - log_low)
        log_high += _ROUNDING * (1 - log_high)
    return Chance(min(log_low, 0.0), min(log_high, 0.0))


CERTAIN = Chance(0.0, 0.0)


@dataclass(frozen=True)
class Event:
    """Chances of a sum below, at and above a threshold; at most and at least there."""

    below: Chance
    at: Chance
    above: Chance
    up_to: Chance
    from_here: Chance


@dataclass(frozen=True)
class BootstrapChances:
    """Probabilities of the bootstrap of one pair, given that the resample is not empty.

    Parameters
    ----------
    gain, total : int
        D = Σd ≥ 0 after the pair was ordered, and C = Σc.
    is_swapped : bool
        Whether the second of the pair is ahead, and the order was reversed.
    above_twice, at_twice, from_twice : Chance
        P(δ* > 2δ), P(δ* = 2δ), P(δ* ≥ 2δ).
    below_zero, at_zero, up_to_zero : Chance
        P(δ* < 0), P(δ* = 0), P(δ* ≤ 0).
    empty : Chance
        P(C* = 0): resamples without a score.
    is_identical : bool
        Whether all d are 0: both p-values are 1.
    """

    gain: int
    total: int
    is_swapped: bool
    above_twice: Chance
    at_twice: Chance
    from_twice: Chance
    below_zero: Chance
    at_zero: Chance
    up_to_zero: Chance
    empty: Chance
    is_identical: bool

    @property
    def one_sided(self) -> Chance:
        """P(δ* > 2δ), strict, for the system ahead; 1 for identical systems. Without a gain there is no side."""
        return CERTAIN if self.is_identical else self.above_twice

    @property
    def two_sided(self) -> Chance:
        """P(|δ* − δ| ≥ δ) = P(δ* ≥ 2δ) + P(δ* ≤ 0); 1 where δ = 0."""
        return self.from_twice.plus(self.up_to_zero) if self.gain else CERTAIN


@dataclass(frozen=True)
class SignFlipChances:
    """Probabilities of D° = Σ ±d of one pair, every sign with probability ½.

    Parameters
    ----------
    gain : int
        |D|.
    discordant : int
        Number of d that are not 0.
    one_sided : Chance
        P(D° ≥ |D|).
    two_sided : Chance
        P(|D°| ≥ |D|).
    """

    gain: int
    discordant: int
    one_sided: Chance
    two_sided: Chance


@dataclass(frozen=True, eq=False)
class Law:
    """The law of a bootstrap sum.

    Parameters
    ----------
    values : (value,) int64
        Σd* of the resample; δ* is this over n·c.
    probability : (value,) float64
        Absolute error about 1e-15; other values have a total probability of at most 2e-30.
    """

    values: NDArray[np.int64]
    probability: NDArray[np.float64]
