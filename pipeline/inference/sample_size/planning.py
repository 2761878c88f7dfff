"""What right and wrong answers can show, from counts alone: p of helped and hurt, power, units needed and the smallest gain.

Of n units, a system helps where it is right and the other is not, and hurts where it is the other way round. McNemar's exact test
and the bootstrap depend on nothing else. Power is unconditional: how many units will differ is unknown before they are drawn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.sample_size.binomial_power import critical_wins
from pipeline.inference.sample_size.power import POWER
from pipeline.numerics.special import betainc, gammaln, xlog1py, xlogy

__all__ = ["MOST_UNITS", "bootstrap_p", "mcnemar_p", "power_of", "smallest_gain", "units_needed"]

MOST_UNITS = 1_000_000
"""Sums are made for no more units, and no more are looked for."""

_FURTHEST = 9.0  # standard deviations of the number of units that differ: beyond lies less than 1e-18 of them
_BEATS = 40
"""Steps of the power beat with a period of 4√m/z differing units; what lies this many √m further on has more power anyway."""


def bootstrap_p(helped: int, hurt: int, units: int) -> float:
    """Return the chance that a resample shows no gain, P(δ* ≤ 0): the p of the paired bootstrap without its Monte-Carlo error.

    The number of differing units in a resample is binomial (n, (helped + hurt)/n), and so is the number of helped ones among them.

    Parameters
    ----------
    helped, hurt, units : int

    Examples
    --------
    >>> round(bootstrap_p(4, 3, 10), 9), round(bootstrap_p(2, 0, 100), 6), round(bootstrap_p(7, 2, 100), 4)
    (0.421732332, 0.13262, 0.0584)
    """
    differing = helped + hurt
    m, chance = _differing(units, differing / units)
    if differing == 0:
        return 1.0
    # P(X ≤ m/2), X binomial (m, θ): helped are no more than hurt.
    most = m // 2
    # As the hurt being at least m − m/2, in one sum: one less a number near 1 would have lost a small p.
    no_gain = _at_least(m - most, m, hurt / differing)
    return float(np.clip(chance @ no_gain, 0.0, 1.0))


def mcnemar_p(helped: int, hurt: int) -> float:
    """Return McNemar's exact two-sided p, min(1, 2 P(X ≥ max)) with X binomial (helped + hurt, ½). doi:10.1007/BF02295996.

    Examples
    --------
    >>> mcnemar_p(7, 2), mcnemar_p(0, 0)
    (0.1796875, 1.0)
    """
    m, most = np.array([helped + hurt]), np.array([max(helped, hurt)])
    return 1.0 if helped == hurt else float(min(1.0, 2 * _at_least(most, m, 0.5)[0]))


def power_of(units: int, helped: float, hurt: float, *, alpha: float = 0.05) -> float:
    """Return the power of McNemar's exact test: the chance that it finds the better system better.

    Σ_m P(M = m) P(X ≥ k_m), with M binomial (n, helped + hurt) the number of units that differ, X binomial (m, helped / (helped +
    hurt)), and k_m the fewest wins among m that are significant (Connett, Smith & McHugh 1987, doi:10.1002/sim.4780060507).

    Parameters
    ----------
    units : int
        n, at most `MOST_UNITS`.
    helped, hurt : float
        Expected shares of the units.
    alpha : float
        Two-sided.

    Examples
    --------
    >>> round(power_of(500, 0.05, 0.02), 4)
    0.6719
    """
    differing = helped + hurt
    if differing <= 0:
        return 0.0
    m, chance = _differing(units, differing)
    return float(chance @ _found(m, helped / differing, alpha))


def units_needed(helped: float, hurt: float, *, alpha: float = 0.05, power: float = POWER) -> int | None:
    """Return the smallest number of units from which on the power is reached.

    Power rises in a sawtooth, so some smaller numbers may reach it too.

    Parameters
    ----------
    helped, hurt : float
        Expected shares of the units.
    alpha, power : float

    Returns
    -------
    int or None
        None if ``helped`` does not exceed ``hurt``, or if more than `MOST_UNITS` are needed.

    Examples
    --------
    >>> units_needed(0.05, 0.02), units_needed(0.02, 0.02)
    (645, None)
    """
    if not helped > hurt or power <= 0:
        return None

    def lacks(units: int) -> bool:
        return power_of(units, helped, hurt, alpha=alpha) < power

    high = 8
    while lacks(high):
        if high == MOST_UNITS:
            return None
        high = min(2 * high, MOST_UNITS)
    low = 0  # where the power is too low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if lacks(middle) else (low, middle)
    return _after_last_lacking(low, helped, hurt, alpha, power)


def _after_last_lacking(low: int, helped: float, hurt: float, alpha: float, power: float) -> int | None:
    """Return the number after the last that lacks the power, ``low`` or a later one; None beyond `MOST_UNITS`.

    Let f(m) be the power where m units differ, and F(m) the least f of m and more. With more units more differ, so that E F only
    rises: where it reaches the power, no later number lacks it. Until then a surplus says how many units may be passed over, as one
    takes from the power no more than the steepest fall of f times the chance that it differs.
    """
    differing = helped + hurt
    start = end = 0
    f = least = np.zeros(0)
    steepest, units = 0.0, low + 1
    while units <= MOST_UNITS:
        m, chance = _differing(units, differing)
        reach = int(_BEATS * np.sqrt(m[-1])) + 200
        if m[-1] + reach >= end:
            start, end = int(m[0]), int(m[-1]) + 2 * reach
            f = _found(np.arange(start, end), helped / differing, alpha)
            least = np.minimum.accumulate(f[::-1])[::-1]
            steepest = differing * float(np.max(-np.diff(f), initial=0.0))
        own = slice(int(m[0]) - start, int(m[-1]) - start + 1)
        surplus = float(chance @ f[own]) - power
        if surplus < 0:
            low, units = units, units + 1
        elif not steepest or chance @ least[own] >= power:
            return low + 1
        else:
            units += 1 + min(int(surplus / steepest), reach // 2)
    return None


def smallest_gain(units: int, hurt: float, *, alpha: float = 0.05, power: float = POWER) -> float | None:
    """Return the smallest gain, helped minus hurt as a share of the units, that is found with this power.

    Parameters
    ----------
    units : int
    hurt : float
        Expected share of the units that the better system hurts.
    alpha, power : float

    Returns
    -------
    float or None
        None if not even 1 − 2 · hurt, the gain with all other units helped, is found so often.

    Examples
    --------
    >>> round(smallest_gain(500, 0.02), 4)
    0.0356
    """
    low, high = 0.0, 1 - 2 * hurt
    if high <= 0 or power_of(units, hurt + high, hurt, alpha=alpha) < power:
        return None
    for _ in range(50):
        middle = (low + high) / 2
        if power_of(units, hurt + middle, hurt, alpha=alpha) >= power:
            high = middle
        else:
            low = middle
    return high


def _differing(units: int, share: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the numbers of differing units that matter, and their chances."""
    if not 0 <= share <= 1 + 1e-12 or not 1 <= units <= MOST_UNITS:
        raise ValueError(f"shares lie between 0 and 1 and units between 1 and {MOST_UNITS}, not {share} of {units}")
    share = min(share, 1.0)
    middle, reach = units * share, _FURTHEST * np.sqrt(units * share * (1 - share)) + _FURTHEST**2
    m = np.arange(max(int(middle - reach), 0), min(int(middle + reach) + 1, units) + 1)
    log = gammaln(units + 1) - gammaln(m + 1) - gammaln(units - m + 1) + xlogy(m, share) + xlog1py(units - m, -share)
    chance = np.exp(log)
    return m, chance / chance.sum()  # logarithms of factorials are rounded, of a million to 1e-9


def _found(m: NDArray[np.int64], share: float, alpha: float) -> NDArray[np.float64]:
    """Return the chance that McNemar's exact test is significant for the better system, where m units differ."""
    k = critical_wins(m, alpha)
    return np.where(k <= m, _at_least(np.minimum(k, m), m, share), 0.0)


def _at_least(k: NDArray[np.int64], m: NDArray[np.int64], share: float) -> NDArray[np.float64]:
    """Return P(X ≥ k), X binomial (m, share), for 1 ≤ k ≤ m; 1 for k = 0."""
    if share >= 1:
        return np.ones(len(k))
    return np.where(k <= 0, 1.0, betainc(np.maximum(k, 1), np.maximum(m - k + 1, 1), share))
