"""How many true nulls a convention rejects, computed without simulation for Gaussian gains and 0/1 scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from pipeline.numerics.special import gammaln, ndtr

__all__ = ["NULL_CONVENTIONS", "folded_p", "gain_law", "gaussian_rejection", "null_p", "null_rejection"]

_SLACK = 1e-9  # gains are whole numbers; a mean of them that should be one may miss it by rounding


def folded_p(z: float) -> float:
    """Return the p of convention ``riezler-maxwell`` for Gaussian replicates about a gain of z standard errors, as b → ∞.

    With m(z) = √(2/π) e^(−z²/2) + z (1 − 2 Φ(−z)) the mean of |δ*|/σ, it is Φ(−m) + Φ(−m − 2z).

    Examples
    --------
    >>> round(folded_p(0.0), 4), round(folded_p(1.96), 4)
    (0.4249, 0.0239)
    """
    z = abs(z)
    mean = np.sqrt(2 / np.pi) * np.exp(-z * z / 2) + z * (1 - 2 * ndtr(-z))
    return float(ndtr(-mean) + ndtr(-mean - 2 * z))


def gaussian_rejection(level: float) -> float:
    """Return the share of true nulls that convention ``riezler-maxwell`` rejects in the Gaussian limit.

    p falls with z; if it equals the level at z₀, the share is P(|Z| ≥ z₀). At levels from p(0) = .4249 on, every null is rejected.

    Examples
    --------
    >>> round(gaussian_rejection(0.05), 3), round(gaussian_rejection(0.10), 3)
    (0.11, 0.246)
    """
    if not 0 < level < 1:
        raise ValueError(f"a level lies between 0 and 1, not at {level}")
    if level >= folded_p(0.0):
        return 1.0
    low, high = 0.0, 40.0
    for _ in range(100):  # bisection down to the spacing of float64
        middle = (low + high) / 2
        low, high = (middle, high) if folded_p(middle) > level else (low, middle)
    return 2 * float(ndtr(-high))


def gain_law(wins: int, losses: int, units: int) -> NDArray[np.float64]:
    """Return the probabilities of −n … n for the sum of n draws from n units: ``wins`` of +1, ``losses`` of −1, the others 0.

    Examples
    --------
    >>> gain_law(1, 0, 2).tolist()
    [0.0, 0.0, 0.25, 0.5, 0.25]
    """
    if min(wins, losses) < 0 or units < 1 or wins + losses > units:
        raise ValueError(f"{wins} wins and {losses} losses are not among {units} units")
    power, base, left = np.ones(1), np.array([losses, units - wins - losses, wins]) / units, units
    while left:
        if left & 1:
            power = np.convolve(power, base)
        base, left = np.convolve(base, base), left >> 1
    return power


def _bootstrap(event: Callable[[NDArray[np.int64], int], NDArray[np.bool_]]) -> Callable[[int, int, int], float]:
    def p(wins: int, losses: int, units: int) -> float:
        stars = np.arange(-units, units + 1)
        return float(gain_law(wins, losses, units)[event(stars, wins - losses)].sum())

    return p


def _fold(strict: bool) -> Callable[[int, int, int], float]:
    def p(wins: int, losses: int, units: int) -> float:
        stars, law = np.abs(np.arange(-units, units + 1)), gain_law(wins, losses, units)
        edge = float(stars @ law) + (wins - losses)
        return float(law[stars > edge + _SLACK if strict else stars >= edge - _SLACK].sum())

    return p


def _swap(strict: bool) -> Callable[[int, int, int], float]:
    def p(wins: int, losses: int, units: int) -> float:
        heads = np.arange(wins + losses + 1)
        swapped, gain = np.abs(2 * heads - wins - losses), wins - losses
        return float(_coins(wins + losses)[swapped > gain if strict else swapped >= gain].sum())

    return p


def _coins(number: int) -> NDArray[np.float64]:
    heads = np.arange(number + 1)
    law = np.exp(gammaln(number + 1) - gammaln(heads + 1) - gammaln(number - heads + 1) - number * np.log(2.0))
    return np.asarray(law / law.sum(), np.float64)


NULL_CONVENTIONS: Mapping[str, Callable[[int, int, int], float]] = {
    "one-sided": _bootstrap(lambda stars, gain: stars > 2 * gain),
    "two-sided": _bootstrap(lambda stars, gain: np.abs(stars - gain) >= gain),
    "below-zero": _bootstrap(lambda stars, gain: stars < 0),
    "at-or-below-zero": _bootstrap(lambda stars, gain: stars <= 0),
    "riezler-maxwell": _fold(strict=False),
    "riezler-maxwell, strict": _fold(strict=True),
    "approximate-randomization": _swap(strict=False),
    "approximate-randomization, strict": _swap(strict=True),
}
"""p of infinitely many replicates by (wins, losses, units); the strict ones are those of sacreBLEU."""


def null_p(convention: str, *, wins: int, losses: int, units: int) -> float:
    """Return the p that a convention gives for 0/1 scores, as b → ∞.

    Examples
    --------
    >>> null_p("below-zero", wins=1, losses=0, units=100), round(null_p("one-sided", wins=8, losses=4, units=100), 4)
    (0.0, 0.0955)
    """
    if wins < losses:
        raise ValueError(f"the pair is ordered so that it does not lose: {wins} wins, {losses} losses")
    return NULL_CONVENTIONS[convention](wins, losses, units)


def null_rejection(convention: str, *, discordant: int, units: int, level: float = 0.05) -> float:
    """Return the share of true nulls that are rejected on 0/1 scores with so many discordant units, as b → ∞.

    Under the null each discordant unit is a win or a loss with probability ½. Pairs are ordered after looking, and p ≤ level is
    read as "the systems differ", whatever the side. Without a gain nothing is rejected.

    Examples
    --------
    >>> [null_rejection("below-zero", discordant=m, units=100) for m in (1, 2)]
    [1.0, 0.5]
    """
    if not 0 < discordant <= units:
        raise ValueError(f"{discordant} discordant units are not 1 … {units}")
    chances, rejected = _coins(discordant), 0.0
    for wins in range(discordant // 2 + 1, discordant + 1):
        losses = discordant - wins
        if null_p(convention, wins=wins, losses=losses, units=units) <= level:
            rejected += 2 * chances[wins]
    return float(rejected)
