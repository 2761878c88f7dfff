"""Probabilities of resampling by going through all cases, in Python integers. Shares no code with the kernels.

A unit of a pair is (numerator, denominator) of the first system and of the second. Units that are alike are one kind, so that all
n**n samples of n units are the ways to share n draws among the kinds, each with its exact number of samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb, factorial, prod

Unit = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class Law:
    """In how many of so many cases there is which gain; None where a score is 0/0."""

    ways: Mapping[Fraction | None, int]
    total: int

    @property
    def defined(self) -> int:
        return self.total - self.ways.get(None, 0)


def gain_of(units: Sequence[Unit], counts: Sequence[int], *, sign: int = 1) -> Fraction | None:
    """Return the difference of the two ratios of sums, each unit taken so many times."""
    a, c, b, d = (sum(k * unit[i][j] for k, unit in zip(counts, units, strict=True)) for i in (0, 1) for j in (0, 1))
    return sign * (Fraction(a, c) - Fraction(b, d)) if c and d else None


def observed_gain(units: Sequence[Unit], *, sign: int = 1) -> Fraction | None:
    return gain_of(units, [1] * len(units), sign=sign)


def bootstrap_law(units: Sequence[Unit], *, sign: int = 1) -> Law:
    """Return the law of δ* over all samples of n of n units with replacement."""
    n, kinds = len(units), Counter(units)
    law: Counter[Fraction | None] = Counter()
    for counts in compositions(n, len(kinds)):
        ways = (
            factorial(n)
            // prod(factorial(k) for k in counts)
            * prod(size**k for size, k in zip(kinds.values(), counts, strict=True))
        )
        law[gain_of(list(kinds), counts, sign=sign)] += ways
    return Law(law, n**n)


def swap_law(units: Sequence[Unit], *, sign: int = 1) -> Law:
    """Return the law of δ° over all ways to swap the two systems' statistics, unit by unit."""
    kinds = Counter(units)
    both = [*kinds, *(unit[::-1] for unit in kinds)]
    law: Counter[Fraction | None] = Counter()
    for swapped in product(*(range(size + 1) if unit[0] != unit[1] else (0,) for unit, size in kinds.items())):
        stay = [size - k for size, k in zip(kinds.values(), swapped, strict=True)]
        ways = prod(comb(size, k) for size, k in zip(kinds.values(), swapped, strict=True))
        law[gain_of(both, [*stay, *swapped], sign=sign)] += ways
    return Law(law, 2 ** discordant_units(units))


def discordant_units(units: Sequence[Unit]) -> int:
    return sum(unit[0] != unit[1] for unit in units)


def chance(law: Law, holds) -> Fraction:
    """Return the chance of an event, given that there is a score."""
    return Fraction(sum(ways for gain, ways in law.ways.items() if gain is not None and holds(gain)), law.defined)


def bootstrap_events(law: Law, delta: Fraction) -> dict[str, Fraction]:
    """Return the chance of every comparison of δ* with 0, δ ≥ 0 and 2δ; all but the first given that there is a score."""
    return {
        "empty": Fraction(law.total - law.defined, law.total),
        "below_zero": chance(law, lambda gain: gain < 0),
        "at_zero": chance(law, lambda gain: gain == 0),
        "below_delta": chance(law, lambda gain: gain < delta),
        "at_delta": chance(law, lambda gain: gain == delta),
        "at_twice_delta": chance(law, lambda gain: gain == 2 * delta),
        "above_twice_delta": chance(law, lambda gain: gain > 2 * delta),
    }


def bootstrap_p_values(law: Law, delta: Fraction) -> dict[str, Fraction]:
    """Return the p-value of every convention, δ ≥ 0."""
    mean = sum((ways * abs(gain) for gain, ways in law.ways.items() if gain is not None), Fraction(0)) / law.defined
    return {
        "one-sided": chance(law, lambda gain: gain > 2 * delta),
        "one-sided-with-ties": chance(law, lambda gain: gain >= 2 * delta),
        "two-sided": chance(law, lambda gain: abs(gain - delta) >= delta),
        "below-zero": chance(law, lambda gain: gain < 0),
        "at-or-below-zero": chance(law, lambda gain: gain <= 0),
        "riezler-maxwell": chance(law, lambda gain: abs(gain) - mean >= delta),
        "riezler-maxwell-strict": chance(law, lambda gain: abs(gain) - mean > delta),
    }


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to write a number as an ordered sum of so many numbers ≥ 0."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def coin_p_values(wins: int, losses: int) -> dict[str, Fraction]:
    """Return the sign test's p-values: two-sided, of the side with the wins, and both as mid-p."""
    m, most = wins + losses, max(wins, losses)

    def tail(k: int) -> Fraction:
        return Fraction(sum(comb(m, j) for j in range(k, m + 1)), 2**m)

    def term(k: int) -> Fraction:
        return Fraction(comb(m, k), 2**m)

    return {
        "two-sided": min(2 * tail(most), Fraction(1)),
        "one-sided": tail(wins),
        "two-sided-mid-p": 2 * tail(most) - term(most),
        "one-sided-mid-p": tail(wins) - term(wins) / 2,
    }
