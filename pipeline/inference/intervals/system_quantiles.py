"""Intervals for a quantile over all pairs of systems, where the systems are a sample from a population.

The pairs of S systems are not independent: each shares its systems with others. They are worth as many independent pairs as would
estimate the share of pairs at or below a value t equally well: with F(t) that share, U_a(t) the sum of 1[v ≤ t] − F(t) over the
pairs of system a, divided by the number of pairs, and S/(S − 1) Σ U_a² the jackknife's (Hájek's) variance of F(t),

    n(t) = F(t) (1 − F(t)) / variance · (z / t_{S−1})²,    at most S and at most the number of pairs

(as Korn & Graubard 1998, Survey Methodology 24, 193–201, do for proportions from cluster samples; an interval of a share is turned
into one of a quantile as in Woodruff 1952, doi:10.1080/01621459.1952.10483443). The ends of the interval are the order statistics
between which the quantile of n independent values lies with the requested confidence; n is the smaller of those at the quantile and
at the lower end, and need not be whole, so binomial tails are incomplete beta functions. If q^n exceeds the error allowed above,
even the largest value is too low for an upper end and there is no interval: the 95th percentile at 95 % needs n = 72.

Resampling systems cannot do better: no resample has a pair beyond the largest, so percentile intervals are too low, especially with
few systems (`docs/thresholds.md` has the coverage of both).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.numerics.solvers import find_root
from pipeline.numerics.special import betainc, ndtri, stdtrit

__all__ = ["QuantileInterval", "SystemSample", "needed_pairs", "order_limits", "quantile_interval"]

_FEWEST = 3
_STEPS = 3


@dataclass(frozen=True)
class SystemSample:
    """How the systems were sampled.

    Parameters
    ----------
    draw : (system,) int64
        Number of the independent draw to which the system belongs: systems of one draw, such as one family, come together.
    stratum : (system,) int64
        Number of the stratum within which it was drawn; all systems of a draw are in one stratum.
    """

    draw: NDArray[np.int64]
    stratum: NDArray[np.int64]

    @property
    def draws(self) -> int:
        """The number of independent draws."""
        return len(np.unique(self.draw))


@dataclass(frozen=True)
class QuantileInterval:
    """An interval for a quantile over pairs, or how many pairs it lacks.

    Parameters
    ----------
    lo, hi : float or None
        Two of the values; None if there is no such end.
    pairs : float
        The number of independent pairs that all pairs are worth.
    needed : int or None
        How many are needed for both ends; None if no number is enough.
    """

    lo: float | None
    hi: float | None
    pairs: float
    needed: int | None


def needed_pairs(share: float, *, level: float = 0.95) -> int | None:
    """Return how many independent values an interval for a quantile needs, so that both its ends are among them.

    Examples
    --------
    >>> needed_pairs(0.95), needed_pairs(0.5), needed_pairs(1.0)
    (72, 6, None)
    """
    if not 0 < share < 1:
        return None
    return int(np.ceil(np.log((1 - level) / 2) / np.log(max(share, 1 - share))))


def order_limits(pairs: float, share: float, *, level: float = 0.95) -> tuple[float | None, float | None]:
    """Return the ranks, as shares of the independent values, between which their quantile lies; None for an end beyond them.

    The upper end is k/n with P(Bin(n, q) ≥ k) = (1 − level)/2, the lower one k/n with P(Bin(n, q) < k) = (1 − level)/2.

    Examples
    --------
    >>> low, high = order_limits(100, 0.5)
    >>> round(100 * low, 1), round(100 * high, 1)
    (40.7, 60.3)
    """
    error = (1 - level) / 2
    low = high = None
    if share**pairs <= error:
        high = _root(lambda k: float(betainc(k, pairs - k + 1, share)) - error, pairs * share, pairs) / pairs
    if (1 - share) ** pairs <= error:
        # One more than the mirrored end: P(Bin(n, q) < k) = P(Bin(n, 1 − q) ≥ n − k + 1).
        low = 1 - (_root(lambda k: float(betainc(k, pairs - k + 1, 1 - share)) - error, pairs * (1 - share), pairs) - 1) / pairs
    return low, high


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    return find_root(function, low, high) if function(high) < 0 else high


def quantile_interval(
    values: NDArray[np.float64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    share: float,
    *,
    systems: SystemSample,
    level: float = 0.95,
) -> QuantileInterval:
    """Return the interval of a quantile of the values of pairs.

    The pairs are worth the number of independent ones found at the quantile or at the lower end, whichever is smaller.

    Parameters
    ----------
    values : (pair,) float64
    first, second : (pair,) int64
        Positions of the systems of each pair.
    share : float
        Which quantile: .95 for the 95th percentile.
    systems : SystemSample
    level : float

    Returns
    -------
    QuantileInterval
    """
    needed = needed_pairs(share, level=level)
    active = len(np.unique(systems.draw[np.concatenate([first, second])])) if len(values) else 0
    freedom = systems.draws - len(np.unique(systems.stratum))
    if needed is None or active < _FEWEST or freedom < 1:
        return QuantileInterval(None, None, float(min(active, len(values))), needed)
    ordered = np.sort(values)
    widen = float((ndtri((1 + level) / 2) / stdtrit(min(freedom, active - 1), (1 + level) / 2)) ** 2)

    def worth(at: float) -> float:
        return min(widen * _worth(values, first, second, at, systems), active, len(values))

    pairs = worth(float(np.percentile(values, 100 * share)))
    low, high = order_limits(pairs, share, level=level)
    for _ in range(_STEPS):
        if low is None:
            break
        pairs = min(pairs, worth(_order_statistic(ordered, low)))
        low, high = order_limits(pairs, share, level=level)
    above = None if high is None else float(ordered[min(int(np.ceil(high * len(ordered))), len(ordered) - 1)])
    return QuantileInterval(None if low is None else _order_statistic(ordered, low), above, pairs, needed)


def _order_statistic(ordered: NDArray[np.float64], part: float) -> float:
    return float(ordered[min(max(int(np.ceil(part * len(ordered))), 1), len(ordered)) - 1])


def _worth(
    values: NDArray[np.float64], first: NDArray[np.int64], second: NDArray[np.int64], at: float, systems: SystemSample
) -> float:
    """Return the effective number of pairs: independent ones that estimate the share of pairs up to a value equally well.

    Where pairs have exactly this value the share below it is looked at too, and the smaller number is returned.
    """
    found, one, other = [np.inf], systems.draw[first], systems.draw[second]
    for hits in (values <= at, values < at):
        part = float(hits.mean())
        if not 0 < part < 1:
            continue
        excess = (hits - part) / len(values)
        size = int(systems.draw.max()) + 1
        # A pair of two systems from one draw is left out once, with that draw.
        of_draw = np.bincount(one, weights=excess, minlength=size) + np.bincount(
            other, weights=excess * (one != other), minlength=size
        )
        stratum_of = np.zeros(size, dtype=np.int64)
        stratum_of[systems.draw] = systems.stratum
        there = np.bincount(systems.draw, minlength=size) > 0
        variance = 0.0
        for stratum in np.unique(systems.stratum):
            own = of_draw[there & (stratum_of == stratum)]
            if len(own) > 1:
                variance += len(own) / (len(own) - 1) * float(np.sum((own - own.mean()) ** 2))
        if variance > 0:
            found.append(part * (1 - part) / variance)
    return float(min(found))
