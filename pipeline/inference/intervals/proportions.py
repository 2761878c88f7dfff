"""Intervals of rates: of one rate by Wilson, of the difference of two rates on the same units by Tango and Bonett-Price.

The score of each unit is one of two values, such as 0 and 1. Then the interval depends only on how many of n units each system
alone has right, its wins: no replicate is needed, and unlike bootstrap intervals these hold where few units differ.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.direct.scores import gain_of_a_win
from pipeline.inference.intervals.replicate_intervals import INTERVAL_REASONS, Intervals
from pipeline.numerics.special import ndtr, ndtri
from pipeline.resampling.measures import Measure, Observed

__all__ = ["PROPORTIONS", "bonett_price", "proportion_intervals", "tango", "tango_tail", "wilson"]

_Counts = NDArray[np.integer] | NDArray[np.float64]
_Ends = tuple[NDArray[np.float64], NDArray[np.float64]]

_HALVINGS = 60


def wilson(hits: _Counts, n: int, *, alpha: float = 0.05) -> _Ends:
    """Return the ends of Wilson's interval of one rate (1927, doi:10.1080/01621459.1927.10502953).

    All rates p whose score |hits/n − p| / √(p (1 − p)/n) is at most z = Φ⁻¹(1 − α/2).

    Parameters
    ----------
    hits : (…,) int
        Units that are right.
    n : int
    alpha : float, optional

    Examples
    --------
    >>> lo, hi = wilson(np.array([0, 15]), 148)
    >>> lo.round(4).tolist(), hi.round(4).tolist()
    ([0.0, 0.0624], [0.0253, 0.1605])
    """
    _check(n, alpha)
    rate, share = np.asarray(hits, np.float64) / n, ndtri(alpha / 2) ** 2 / n
    middle = (rate + share / 2) / (1 + share)
    half = np.sqrt(share * (rate * (1 - rate) + share / 4)) / (1 + share)
    return np.where(rate == 0, 0.0, middle - half), np.where(rate == 1, 1.0, middle + half)


def tango(wins: _Counts, losses: _Counts, n: int, *, alpha: float = 0.05) -> _Ends:
    """Return the ends of Tango's score interval of the difference of two paired rates.

    Tango 1998, doi:10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B. All differences Δ with

    |wins − losses − n Δ| / √(n (2 q + Δ (1 − Δ))) ≤ z,  z = Φ⁻¹(1 − α/2)

    where q is the most likely rate of losses given Δ: the larger root of 2n q² + B q + C = 0 with
    B = (2n − wins + losses) Δ − wins − losses and C = −losses Δ (1 − Δ). At Δ = 0 the score is McNemar's (wins − losses)/√(wins +
    losses), without a correction. The ends are found by halving.

    Parameters
    ----------
    wins, losses : (…,) int
        Units on which the first alone, and the second alone, is right.
    n : int
        All units.
    alpha : float, optional

    Examples
    --------
    >>> lo, hi = tango(np.array([1, 0]), np.array([7, 0]), 21)
    >>> lo.round(4).tolist(), hi.round(4).tolist()
    ([-0.5172, -0.1546], [-0.026, 0.1546])
    """
    _check(n, alpha)
    b, c = (np.asarray(counts, np.float64) for counts in np.broadcast_arrays(wins, losses))
    z = -ndtri(alpha / 2)
    # The lower end is the upper end of the mirrored problem.
    return -_upper_end(c, b, n, z), _upper_end(b, c, n, z)


def _upper_end(b: NDArray[np.float64], c: NDArray[np.float64], n: int, z: float) -> NDArray[np.float64]:
    inside, outside = (b - c) / n, np.ones(b.shape)
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        # Multiplied out: where nothing varies, as at Δ = 1, only Δ = (b − c)/n itself is inside.
        holds = np.abs(b - c - n * middle) <= z * np.sqrt(_variance_given(middle, b, c, n))
        inside, outside = np.where(holds, middle, inside), np.where(holds, outside, middle)
    return np.where((b - c == n) | (outside == 1), 1.0, outside)


def _variance_given(difference: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return the variance of wins − losses, n (2 q + Δ (1 − Δ)), if Δ is the difference of the rates."""
    linear, constant = (2 * n - b + c) * difference - b - c, -c * difference * (1 - difference)
    losses = (np.sqrt(linear**2 - 8 * n * constant) - linear) / (4 * n)
    return np.asarray(n * np.maximum(2 * losses + difference * (1 - difference), 0.0))


def tango_tail(wins: _Counts, losses: _Counts, n: int, *, difference: _Counts) -> NDArray[np.float64]:
    """Return the p of as few wins as this if the rates differ by ``difference`` or more: Φ of the score of `tango`.

    It is at most α/2 if the upper end of Tango's interval at 1 − α is below the difference.

    Parameters
    ----------
    wins, losses : (…,) int
    n : int
        All units.
    difference : (…,) float64
        Δ > 0; from 1 on p is 0.

    Examples
    --------
    >>> tango_tail(np.array([1, 0]), np.array([0, 7]), 100, difference=np.array([0.03, 1.0])).round(4).tolist()
    [0.1205, 0.0]
    """
    b, c, gap = (np.asarray(values, np.float64) for values in np.broadcast_arrays(wins, losses, difference))
    possible = gap < 1
    inside = np.where(possible, gap, 0.5)
    return np.where(possible, ndtr((b - c - n * inside) / np.sqrt(_variance_given(inside, b, c, n))), 0.0)


def bonett_price(wins: _Counts, losses: _Counts, n: int, *, alpha: float = 0.05) -> _Ends:
    """Return the ends of Bonett and Price's interval of the difference of two paired rates (2012, doi:10.3102/1076998611411915).

    Wald's interval after adding a win and a loss: with p = (wins + 1)/(n + 2) and q = (losses + 1)/(n + 2), p − q ± z √((p + q − (p
    − q)²)/(n + 2)), cut off at ± 1.

    Parameters
    ----------
    wins, losses : (…,) int
    n : int
    alpha : float, optional

    Examples
    --------
    >>> lo, hi = bonett_price(np.array([1]), np.array([7]), 21)
    >>> lo.round(4).tolist(), hi.round(4).tolist()
    ([-0.5084], [-0.0134])
    """
    _check(n, alpha)
    p, q = ((np.asarray(counts, np.float64) + 1) / (n + 2) for counts in (wins, losses))
    half = -ndtri(alpha / 2) * np.sqrt((p + q - (p - q) ** 2) / (n + 2))
    return np.maximum(p - q - half, -1.0), np.minimum(p - q + half, 1.0)


PROPORTIONS: Mapping[str, Callable[..., _Ends]] = {"tango": tango, "bonett-price": bonett_price}
"""Intervals of the difference of paired rates, by name."""


def proportion_intervals(measure: Measure, observed: Observed, *, alpha: float, methods: Collection[str]) -> dict[str, Intervals]:
    """Return the intervals of all pairs whose scores are means of two values, in points of the metric.

    Units are treated as independent, within strata too. Systems that are right on the same units also have an interval, since they
    may differ on other units.

    Parameters
    ----------
    measure, observed
        The pairs, and their gains.
    alpha : float
    methods : collection of str
        Of `PROPORTIONS`.

    Returns
    -------
    dict of str to Intervals
        With the reason "not 0/1" where a score is not a mean of two values.
    """
    points = gain_of_a_win(measure)
    known = np.isfinite(points) & np.isfinite(observed.delta)
    n = len(measure.statistics)
    ahead = np.rint(np.where(known, observed.delta, 0.0) / np.where(known, points, 1.0)).astype(np.int64)
    wins, losses = (observed.discordant + ahead) // 2, (observed.discordant - ahead) // 2
    reason = np.where(known, 0, INTERVAL_REASONS.index("not 0/1")).astype(np.int8)
    found = {}
    for name in methods:
        lo, hi = (np.where(known, end * points * n, np.nan) for end in PROPORTIONS[name](wins, losses, n, alpha=alpha))
        found[name] = Intervals(name, 1 - alpha, lo, hi, reason, np.zeros(len(points), np.int64))
    return found


def _check(n: int, alpha: float) -> None:
    if n < 1:
        raise ValueError(f"a rate is of one unit or more, not of {n}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is between 0 and 1, not {alpha}")
