"""What a test set could have shown: the minimum detectable effect of each pair, and how many units a gain needs.

All of it is about a test at a two-sided ``level``, α by itself and less in a family of pairs (`level_of`), that finds a gain in
its true direction with a given power. Nothing depends on the gain that was observed but `units_for_gain` and
`exact_units_for_gain`, which ask what would be needed if that gain were the true one.

- By the standard error, Gaussian or Student's: (z_{1 − level/2} + z_power) · se (Bloom 1995, doi:10.1177/0193841X9501900504).
- Exactly for scores of 0 and 1, given the number of discordant units: binomial sums of McNemar's test (McNemar 1947,
  doi:10.1007/BF02295996; Connett, Smith and McHugh 1987, doi:10.1002/sim.4780060507).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, chdtri, nctdtr, ndtr, ndtri, stdtr, stdtrit

__all__ = [
    "POWER",
    "critical_value",
    "critical_wins",
    "detectable_gain",
    "exact_detectable_gain",
    "exact_units_for_gain",
    "level_of",
    "units_for_gain",
]

POWER = 0.8
"""Usual in planning: one true gain in five of this size is missed."""

MOST_UNITS = 10**12
"""More than this would be needed: a gain of almost nothing."""

_MANY = 2000.0  # degrees of freedom from which Student's law is Gaussian to a part in a thousand
_HALVINGS = 60
_FAR = 1000.0  # standard errors from which only the error of se counts
_EXACTLY = 20_000  # discordant units up to which sums decide; beyond, they and the Gaussian agree within one part in a hundred
_SLACK = 1e-12  # 2^(1 − m) may miss the level by rounding

_Floats = NDArray[np.float64]


def level_of(critical: _Floats, freedom: _Floats | float | None = None) -> _Floats:
    """Return the two-sided level of a test that rejects beyond ``critical`` standard errors.

    Parameters
    ----------
    critical : (pair,) float64
        Such as the half width of a simultaneous interval over the standard error.
    freedom : (pair,) float64 or float, optional
        Degrees of freedom of Student's law; Gaussian without.

    Examples
    --------
    >>> level_of(np.array([1.959964])).round(6).tolist(), level_of(np.array([2.776445]), 4.0).round(6).tolist()
    ([0.05], [0.05])
    """
    c = np.asarray(critical, np.float64)
    return np.asarray(2 * (ndtr(-c) if freedom is None else stdtr(np.asarray(freedom, np.float64), -c)))


def critical_value(level: _Floats | float, freedom: _Floats | float | None = None) -> _Floats:
    """Return how many standard errors a test of a two-sided level rejects beyond: the inverse of `level_of`.

    Examples
    --------
    >>> critical_value(np.array([0.05])).round(3).tolist(), critical_value(np.array([0.05]), 4.0).round(3).tolist()
    ([1.96], [2.776])
    """
    tail = np.asarray(level, np.float64) / 2
    return np.asarray(-ndtri(tail) if freedom is None else -stdtrit(np.asarray(freedom, np.float64), tail))


def detectable_gain(
    se: _Floats, *, level: _Floats | float, power: float = POWER, freedom: _Floats | float | None = None
) -> _Floats:
    """Return the minimum detectable effect: the smallest true gain that is found with some power, in points.

    By Student's law it is λ · se where P(T_{ν, λ} > t_{ν, 1 − level/2}) = power, T noncentral; Gaussian,
    (z_{1 − level/2} + z_power) · se. Only a finding in the true direction counts.

    Parameters
    ----------
    se : (pair,) float64
        Standard errors of the gains.
    level : (pair,) float64 or float
        Two-sided.
    power : float, optional
    freedom : (pair,) float64 or float, optional
        ν; Gaussian without, and from 2000 on.

    Returns
    -------
    (pair,) float64
        nan where ``se`` is nan or not positive, or the level is 0 or nan.

    Examples
    --------
    >>> detectable_gain(np.array([1.0]), level=0.05).round(4).tolist()
    [2.8016]
    >>> detectable_gain(np.array([1.0]), level=0.05, freedom=9.0).round(3).tolist()
    [3.15]
    """
    se, level = np.broadcast_arrays(np.asarray(se, np.float64), np.asarray(level, np.float64))
    sound = (se > 0) & (level > 0) & (level < 1)
    errors = np.full(se.shape, np.nan)
    errors[sound] = _errors(level[sound], power, None if freedom is None else np.broadcast_to(freedom, se.shape)[sound])
    return np.asarray(errors * se)


def _errors(level: _Floats, power: float, freedom: _Floats | None) -> _Floats:
    """Return how many standard errors a gain must have."""
    many = -ndtri(level / 2) + ndtri(power)
    if freedom is None:
        return np.asarray(many)
    few = (freedom < _MANY) & (freedom > 0)
    result = np.where(freedom > 0, many, np.nan)
    asked, place = np.unique(np.stack([freedom[few], level[few]]), axis=1, return_inverse=True)  # of a family few, mostly one
    result[few] = _noncentrality(asked[0], -stdtrit(asked[0], asked[1] / 2), power)[place.ravel()]
    return np.asarray(result)


def _noncentrality(freedom: _Floats, critical: _Floats, power: float) -> _Floats:
    """Return λ with P(T > critical) = power; `scipy.special.nctdtrinc` gives seven digits of it, or does not end."""
    low, high = np.zeros(critical.shape), 2 * critical * np.sqrt(1 + 1 / freedom) + 10
    near = critical < _FAR
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        short = nctdtr(freedom[near], middle[near], critical[near]) > 1 - power
        low[near], high[near] = np.where(short, middle[near], low[near]), np.where(short, high[near], middle[near])
    return np.where(near, low, critical * np.sqrt(chdtri(freedom, 1 - power) / freedom))


def units_for_gain(
    gain: _Floats, se: _Floats, units: _Floats | float, *, level: _Floats | float, power: float = POWER, student: bool = False
) -> _Floats:
    """Return how many units like these find a gain with some power, if it is the true one.

    n' = n · ((z_{1 − level/2} + z_power) · se / gain)², as the standard error falls with the root of the number; by Student's law
    z²_{1 − level/2} / 2 more (Guenther 1981, doi:10.1080/00031305.1981.10479363), which is within one of what the noncentral law
    gives at usual levels.

    Parameters
    ----------
    gain, se : (pair,) float64
    units : (pair,) float64 or float
        n, that ``se`` is of.
    level : (pair,) float64 or float
    power : float, optional
    student : bool, optional

    Returns
    -------
    (pair,) float64
        Whole numbers, at least 2; nan where the gain is not positive or more than `MOST_UNITS` would be needed.

    Examples
    --------
    >>> units_for_gain(np.array([1.0, 0.0]), np.array([1.0, 1.0]), 100, level=0.05).tolist()
    [785.0, nan]
    """
    gain, se, units, level = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (gain, se, units, level)))
    sound = (gain > 0) & (se > 0) & (level > 0) & (level < 1)
    found = np.full(gain.shape, np.nan)
    z = -ndtri(level[sound] / 2)
    n = units[sound] * ((z + ndtri(power)) * se[sound] / gain[sound]) ** 2 + (z**2 / 2 if student else 0.0)
    n = np.maximum(np.ceil(n - 1e-9), 2.0)
    found[sound] = np.where(n <= MOST_UNITS, n, np.nan)
    return found


def critical_wins(discordant: NDArray[np.integer], level: _Floats | float) -> NDArray[np.int64]:
    """Return the fewest wins among m discordant units that McNemar's exact test rejects at: 2 P(X ≥ k) ≤ level, X binomial (m, ½).

    Returns
    -------
    (pair,) int64
        m + 1 where no number of wins is enough.

    Examples
    --------
    >>> critical_wins(np.array([5, 6, 20]), 0.05).tolist()
    [6, 6, 15]
    """
    m, level = np.broadcast_arrays(np.asarray(discordant, np.int64), np.asarray(level, np.float64))
    reach = -ndtri(np.clip(level, 1e-300, 1.0) / 2) * np.sqrt(m) / 2
    k = np.clip(np.floor(m / 2 + reach) - 4, m // 2 + 1, m + 1).astype(np.int64)
    while True:  # from below, a few steps
        short = (k <= m) & (2 * betainc(k, np.maximum(m - k + 1, 1), 0.5) > level * (1 + _SLACK))
        if not short.any():
            return np.asarray(k, np.int64)
        k = k + short


def exact_detectable_gain(
    discordant: NDArray[np.integer], units: NDArray[np.integer] | int, *, level: _Floats | float, power: float = POWER
) -> _Floats:
    """Return the minimum detectable effect of McNemar's exact test, as a share of the units, given how many are discordant.

    With k of `critical_wins` and θ the chance that a discordant unit is a win: P(X ≥ k) = power of X binomial (m, θ), which is
    I_θ(k, m − k + 1); the gain is m (2θ − 1) / n.

    Parameters
    ----------
    discordant : (pair,) int64
        m.
    units : (pair,) int64 or int
        n.
    level : (pair,) float64 or float
        Two-sided.
    power : float, optional

    Returns
    -------
    (pair,) float64
        nan where not even m wins of m are significant.

    Examples
    --------
    >>> exact_detectable_gain(np.array([20, 5]), 100, level=0.05).round(4).tolist()
    [0.1195, nan]
    """
    m = np.asarray(discordant, np.int64)
    k = critical_wins(m, level)
    share = np.where(k <= m, betaincinv(np.minimum(k, np.maximum(m, 1)), np.maximum(m - k + 1, 1), power), np.nan)
    return np.asarray(m * (2 * share - 1) / units)


def exact_units_for_gain(
    wins: NDArray[np.integer],
    losses: NDArray[np.integer],
    units: NDArray[np.integer] | int,
    *,
    level: _Floats | float,
    power: float = POWER,
) -> _Floats:
    """Return how many units McNemar's exact test needs for a gain, if wins and losses come as often as they did.

    m' is the smallest number of discordant units from which on binomial sums, which rise in steps, keep the power; n' = n m' / m.
    Beyond 20 000 discordant units the Gaussian law gives m'.

    Parameters
    ----------
    wins, losses : (pair,) int64
    units : (pair,) int64 or int
        n.
    level : (pair,) float64 or float
    power : float, optional

    Returns
    -------
    (pair,) float64
        Whole numbers; nan where wins are no more than losses, or more than `MOST_UNITS` would be needed.

    Examples
    --------
    >>> exact_units_for_gain(np.array([13]), np.array([7]), 100, level=0.05).tolist()
    [485.0]
    """
    wins, losses, units = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (wins, losses, units)))
    level = np.broadcast_to(np.asarray(level, np.float64), wins.shape)
    found = np.full(wins.shape, np.nan)
    for place in np.flatnonzero((wins > losses) & (level > 0) & (level < 1)):
        m, n = wins.flat[place] + losses.flat[place], units.flat[place]
        needed = n * _discordant_needed(wins.flat[place] / m, float(level.flat[place]), power) / m
        found.flat[place] = np.ceil(needed - 1e-9) if needed <= MOST_UNITS else np.nan
    return found


def _discordant_needed(share: float, level: float, power: float) -> float:
    z, errors = -ndtri(level / 2), ndtri(power)
    spread = 2 * np.sqrt(share * (1 - share))
    about = ((z + errors * spread) / (2 * share - 1)) ** 2
    if about > _EXACTLY:
        return float(about)
    reach = 4 * np.sqrt(about) + 12
    m = np.arange(max(1, int(about - reach)), int(about + reach) + 12)
    k = critical_wins(m, level)
    enough = np.where(k <= m, betainc(np.minimum(k, m), m - k + 1 + (k > m), share), 0.0) >= power
    lacking = np.flatnonzero(~enough)
    return float(m[lacking[-1]] + 1) if lacking.size else float(m[0])
