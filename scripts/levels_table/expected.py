"""What the rates should be: exactly for 0/1 scores, in the Gaussian limit for other scores.

Exactly: a data set is (wins, losses, units), its law is a binomial one, and so is that of what b replicates count against its p.
Only the fold needs the replicates' mean besides; given the count it is taken as Gaussian.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import binom
from scipy.stats import t as student

from levels_table.nulls import Binary, Gaussian, Null, Precision
from pipeline.inference.convention_levels import gain_law, gaussian_rejection, null_p

__all__ = ["COUNTED", "expected_rate", "is_exact"]

_SLACK = 1e-9
_EXACT_RANKS = 50  # discordant units up to which the package's signed-rank test has its exact law

COUNTED = {
    "one-sided": ("one-sided", 0),
    "two-sided": ("two-sided", 0),
    "two-sided-plus-one": ("two-sided", 1),
    "below-zero": ("below-zero", 0),
    "at-or-below-zero": ("at-or-below-zero", 0),
    "riezler-maxwell": ("riezler-maxwell", 1),
    "approximate-randomization": ("approximate-randomization", 1),
    "approximate-randomization, strict": ("approximate-randomization, strict", 1),
    "sacrebleu-bs": ("riezler-maxwell, strict", 1),
    "sacrebleu-ar": ("approximate-randomization, strict", 1),
}
"""Rules that count replicates: the convention that they follow as b → ∞, and what is added to hits and to b."""

_WITHOUT_DRAWS = {
    "exact-bootstrap": "two-sided",
    "exact-sign-flip": "approximate-randomization",
    "mcnemar": "approximate-randomization",
    "sign": "approximate-randomization",
}
_TAILS = {"one-sided": 1, "below-zero": 1, "at-or-below-zero": 1, "two-sided": 2, "two-sided-plus-one": 2, "exact-bootstrap": 2}


def is_exact(null: Null) -> bool:
    """Tell whether what is expected is the rate itself, and no limit of it."""
    return isinstance(null, Binary)


def expected_rate(null: Null, rule: str, *, level: float, replicates: int) -> float | None:
    """Return the share of true nulls with p ≤ level; None where there is no formula."""
    if isinstance(null, Binary):
        return _binary_rate(null, rule, level, replicates)
    if isinstance(null, Gaussian):
        return _gaussian_rate(null.units, rule, level) if null.systems == 2 else None
    return _precision_rate(null, rule, level) if isinstance(null, Precision) else None


def _binary_rate(null: Binary, rule: str, level: float, replicates: int) -> float:
    total = 0.0
    for wins, losses, chance in _outcomes(null):
        if rule in COUNTED:
            total += chance * _counted_chance(rule, wins, losses, null.units, level, replicates)
        elif _p_without_draws(rule, wins, losses, null.units) <= level + _SLACK:
            total += chance
    return total


def _outcomes(null: Binary) -> Iterator[tuple[int, int, float]]:
    """Yield wins, losses and their chance, ordered so that it does not lose; what has a chance below 1e-9 is left out."""
    most = round(null.units * null.share)
    chances = {most: 1.0} if null.fixed else dict(enumerate(binom.pmf(np.arange(null.units + 1), null.units, null.share)))
    for m, chance in chances.items():
        for wins in range((m + 1) // 2, m + 1):
            both = chance * float(binom.pmf(wins, m, 0.5)) * (2 if 2 * wins > m else 1)
            if both > 1e-9:
                yield wins, m - wins, both


@cache
def _limit(convention: str, wins: int, losses: int, units: int) -> float:
    return null_p(convention, wins=wins, losses=losses, units=units)


def _counted_chance(rule: str, wins: int, losses: int, units: int, level: float, replicates: int) -> float:
    """Return the chance that so few replicates count against the gain that p ≤ level."""
    convention, more = COUNTED[rule]
    is_tool = rule.startswith("sacrebleu")
    if wins == losses and not is_tool:
        return 0.0  # identical, or no order: p = 1 or none
    if wins == 0:
        return 1.0  # the tools print 1/(b + 1) for identical systems
    hits = math.floor(level * (replicates + more) + _SLACK) - more
    if convention.startswith("riezler-maxwell"):
        return _folded_chance("strict" in convention, wins, losses, units, hits, replicates)
    return float(binom.cdf(hits, replicates, min(_limit(convention, wins, losses, units), 1.0)))


@cache
def _law(wins: int, losses: int, units: int) -> NDArray[np.float64]:
    return gain_law(wins, losses, units)


@cache
def _folded_chance(strict: bool, wins: int, losses: int, units: int, hits: int, replicates: int) -> float:
    """Return the chance of so few hits beyond mean |δ*| + δ, where that mean is one of b replicates.

    The smallest |δ*| that counts is k where the edge mean |δ*| + δ lies in (k − 1, k], for > in [k − 1, k). Given how many
    replicates reach k, the mean is that of so many draws from the law beyond k and of the others from the law before it.
    """
    law, sizes = _law(wins, losses, units), np.abs(np.arange(-units, units + 1))
    mean, spread = _moments(law, sizes)
    gain, reach = wins - losses, max(math.ceil(8 * spread / math.sqrt(replicates)), 1)
    count = np.arange(hits + 1)
    total = 0.0
    for k in range(max(math.floor(mean + gain) - reach, 0), math.ceil(mean + gain) + reach + 1):
        beyond = sizes >= k
        share = min(float(law[beyond].sum()), 1.0)
        (high, high_spread), (low, low_spread) = _moments(law[beyond], sizes[beyond]), _moments(law[~beyond], sizes[~beyond])
        edge = gain + (count * high + (replicates - count) * low) / replicates
        error = np.sqrt(count * high_spread**2 + (replicates - count) * low_spread**2) / replicates
        chance = _below(k - edge, error, strict) - _below(k - 1 - edge, error, strict)
        total += float(chance @ binom.pmf(count, replicates, share))
    return total


def _moments(law: NDArray[np.float64], sizes: NDArray[np.int64]) -> tuple[float, float]:
    """Return mean and standard deviation of a law that need not sum to 1."""
    share = float(law.sum())
    if share <= 0:
        return 0.0, 0.0
    mean = float(sizes @ law) / share
    return mean, math.sqrt(max(float((sizes - mean) ** 2 @ law) / share, 0.0))


def _below(room: NDArray[np.float64], spread: NDArray[np.float64], strict: bool) -> NDArray[np.float64]:
    """Return the chance that the edge is at most its center + room; for > an edge on the lattice is above it."""
    slack = -_SLACK if strict else _SLACK
    varies = spread > _SLACK
    z = np.divide(room + slack, spread, out=np.zeros_like(room), where=varies)
    return np.where(varies, ndtr(z), room + slack >= 0)


def _p_without_draws(rule: str, wins: int, losses: int, units: int) -> float:
    if wins == losses:
        return 1.0
    m, gain = wins + losses, wins - losses
    if rule in _WITHOUT_DRAWS:
        return _limit(_WITHOUT_DRAWS[rule], wins, losses, units)
    if rule == "mcnemar-mid-p":
        return float(2 * binom.sf(wins - 1, m, 0.5) - binom.pmf(wins, m, 0.5))
    if rule == "wilcoxon":  # all ranks are tied: it is the sign test, exact or in the Gaussian limit
        return _limit(_WITHOUT_DRAWS["sign"], wins, losses, units) if m <= _EXACT_RANKS else float(2 * ndtr(-gain / math.sqrt(m)))
    if rule == "paired-t":
        variance = (m - gain**2 / units) / (units - 1)
        return float(2 * student.sf(gain / math.sqrt(units * variance), units - 1)) if variance > 0 else math.nan
    raise ValueError(f"there is no law of {rule!r}")


def _gaussian_rate(units: int, rule: str, level: float) -> float | None:
    """Return the rate for Gaussian replicates with the spread √((n − 1)/n) of the unbiased standard error, itself estimated."""
    if rule in ("riezler-maxwell", "sacrebleu-bs"):
        z = -ndtri(gaussian_rejection(level) / 2)
    elif rule in _TAILS:
        z = -ndtri(level / _TAILS[rule])
    elif rule == "sign":
        p = np.array([min(2 * binom.sf(max(w, units - w) - 1, units, 0.5), 1.0) for w in range(units + 1)])
        return float(binom.pmf(np.arange(units + 1), units, 0.5)[p <= level].sum())
    else:
        return level
    return float(2 * student.sf(z * math.sqrt((units - 1) / units), units - 1))


def _precision_rate(null: Precision, rule: str, level: float) -> float:
    """Return the rate for many units, after a Taylor expansion of the ratios."""
    one, other = null.lengths
    # Variances over r (1 − r) / n: of δ it is 1/c_A + 1/c_B; after swaps both systems have (c_A + c_B)/2 words a unit.
    true, swapped = 1 / one + 1 / other, 4 / (one + other)
    if rule in ("riezler-maxwell", "sacrebleu-bs"):
        return gaussian_rejection(level)
    spread = math.sqrt(swapped / true) if rule.startswith("approximate") or rule == "sacrebleu-ar" else 1.0
    z: NDArray[np.float64] = ndtri(level / _TAILS.get(rule, 2))
    return float(2 * ndtr(z * spread))
