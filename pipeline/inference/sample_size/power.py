"""What a test set could have shown: the minimum detectable effect of each pair, and how many units a gain needs.

The test has a two-sided ``level``, α for a single pair and less in a family (`level_of`). It finds a gain in its true direction
with a given power if the gain is (z_{1 − level/2} + z_power) · se, or the corresponding value by Student's law (Bloom 1995,
doi:10.1177/0193841X9501900504). Scores of 0 and 1 have binomial sums: `pipeline.inference.sample_size.binomial_power`.

Only `units_for_gain` depends on the observed gain: it says how many units are needed if that gain is the true one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.numerics.special import chdtri, nctdtr, ndtr, ndtri, stdtr, stdtrit

__all__ = ["MOST_UNITS", "POWER", "critical_value", "detectable_gain", "level_of", "power_of_gain", "units_for_gain"]

POWER = 0.8
"""Usual in planning: one true gain in five of this size is missed."""

MOST_UNITS = 10**12
"""More than this would be needed: a gain of almost nothing."""

_MANY = 2000.0  # degrees of freedom from which Student's law is Gaussian to a part in a thousand
_HALVINGS = 60
_FAR = 1000.0  # standard errors from which only the error of se counts

_Floats = NDArray[np.float64]


def level_of(critical: _Floats, freedom: _Floats | float | None = None) -> _Floats:
    """Return the two-sided level of a test that rejects beyond ``critical`` standard errors.

    Parameters
    ----------
    critical : (pair,) float64
        Such as the 1 − α quantile of `pipeline.inference.multiple_comparisons.studentised_max_t.StudentisedMaxT.largest`.
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
    se: _Floats,
    *,
    level: _Floats | float,
    power: float = POWER,
    freedom: _Floats | float | None = None,
    divisor: _Floats | None = None,
) -> _Floats:
    """Return the minimum detectable effect: the smallest true gain that is found with a given power, in points.

    By Student's law it is λ · se where P(T_{ν, λ} > t_{ν, 1 − level/2}) = power, T noncentral; by the Gaussian law (z_{1 − level/2}
    + z_power) · se. Only a finding in the true direction counts. For a test that divides gains by something other than their
    standard error, the critical value is multiplied by ``divisor`` / ``se``.

    Parameters
    ----------
    se : (pair,) float64
        Standard errors of the gains: how far they vary between test sets.
    level : (pair,) float64 or float
        Two-sided.
    power : float, optional
    freedom : (pair,) float64 or float, optional
        ν; Gaussian without, and from 2000 on.
    divisor : (pair,) float64, optional
        What the test divides gains by; ``se`` if not given.

    Returns
    -------
    (pair,) float64
        nan where ``se`` or ``divisor`` is nan or not positive, or the level is 0 or nan.

    Examples
    --------
    >>> detectable_gain(np.array([1.0]), level=0.05).round(4).tolist()
    [2.8016]
    >>> detectable_gain(np.array([1.0]), level=0.05, freedom=9.0).round(3).tolist()
    [3.15]
    >>> detectable_gain(np.array([1.0]), level=0.05, divisor=np.array([3.0])).round(4).tolist()  # 1.96 · 3 + 0.8416
    [6.7215]
    """
    se, level, divisor = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (se, level, se if divisor is None else divisor)))
    sound = (se > 0) & (divisor > 0) & (level > 0) & (level < 1)
    errors = np.full(se.shape, np.nan)
    free = None if freedom is None else np.broadcast_to(freedom, se.shape)[sound]
    errors[sound] = _errors(level[sound], power, free, stretch=divisor[sound] / se[sound])
    return np.asarray(errors * se)


def _errors(level: _Floats, power: float, freedom: _Floats | None, *, stretch: _Floats) -> _Floats:
    """Return how many standard errors a gain must have, if the critical value is ``stretch`` times that of the level."""
    many = -ndtri(level / 2) * stretch + ndtri(power)
    if freedom is None:
        return np.asarray(many)
    few = (freedom < _MANY) & (freedom > 0)
    result = np.where(freedom > 0, many, np.nan)
    unlike = np.stack([freedom[few], level[few], stretch[few]])
    asked, place = np.unique(unlike, axis=1, return_inverse=True)  # of a family few, mostly one
    result[few] = _noncentrality(asked[0], -stdtrit(asked[0], asked[1] / 2) * asked[2], power)[place.ravel()]
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


def power_of_gain(gain: _Floats, se: _Floats, *, level: _Floats | float, freedom: _Floats | float | None = None) -> _Floats:
    """Return the chance that a true gain is found in its direction: P(T_{ν, λ} > t_{ν, 1 − level/2}) with λ = gain / se.

    This is the inverse of `detectable_gain`.

    Parameters
    ----------
    gain, se : (pair,) float64
        nan where ``se`` is not positive.
    level : (pair,) float64 or float
        Two-sided.
    freedom : (pair,) float64 or float, optional
        ν; Gaussian without, and from 2000 on.

    Examples
    --------
    >>> power_of_gain(np.array([2.8016, 3.15]), np.ones(2), level=0.05, freedom=np.array([np.inf, 9.0])).round(3).tolist()
    [0.8, 0.8]
    """
    given = (np.asarray(x, np.float64) for x in (gain, se, level, np.inf if freedom is None else freedom))
    gain, se, level, degrees = np.broadcast_arrays(*given)
    away = np.divide(gain, se, out=np.full(gain.shape, np.nan), where=se > 0)
    found = np.asarray(ndtr(away + ndtri(level / 2)), np.float64)
    few = np.flatnonzero((degrees > 0) & (degrees < _MANY) & np.isfinite(away))
    critical = critical_value(level[few], degrees[few])
    # Further away the noncentral law of SciPy is slow, and the chance is 1 to many digits.
    near = away[few] < 2 * critical * np.sqrt(1 + 1 / degrees[few]) + 10
    found[few] = 1.0
    few = few[near]
    found[few] = 1 - nctdtr(degrees[few], away[few], critical[near])
    return found


def units_for_gain(
    gain: _Floats,
    se: _Floats,
    units: _Floats | float,
    *,
    level: _Floats | float,
    power: float = POWER,
    student: bool = False,
    divisor: _Floats | None = None,
) -> _Floats:
    """Return how many units like these are needed to find a gain with a given power, if it is the true one.

    n' = n · ((z_{1 − level/2} + z_power) · se / gain)², since the standard error falls with the root of the number; by Student's
    law z²_{1 − level/2} / 2 more (Guenther 1981, doi:10.1080/00031305.1981.10479363), which at usual levels is within one unit of
    what the noncentral law gives. Where a test divides by r times ``se``, r z_{1 − level/2} takes the place of z_{1 − level/2} in
    the first, and the second is multiplied by r (z_{1 − level/2} + r z_power) / (r z_{1 − level/2} + z_power).

    Parameters
    ----------
    gain, se : (pair,) float64
    units : (pair,) float64 or float
        n, that ``se`` is of.
    level : (pair,) float64 or float
    power : float, optional
    student : bool, optional
    divisor : (pair,) float64, optional
        As `detectable_gain` takes it.

    Returns
    -------
    (pair,) float64
        Whole numbers, at least 2; nan where the gain is not positive or more than `MOST_UNITS` would be needed.

    Examples
    --------
    >>> units_for_gain(np.array([1.0, 0.0]), np.array([1.0, 1.0]), 100, level=0.05).tolist()
    [785.0, nan]
    """
    given = (gain, se, units, level, se if divisor is None else divisor)
    gain, se, units, level, divisor = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in given))
    sound = (gain > 0) & (se > 0) & (divisor > 0) & (level > 0) & (level < 1)
    found = np.full(gain.shape, np.nan)
    z, more, stretch = -ndtri(level[sound] / 2), ndtri(power), divisor[sound] / se[sound]
    errors = np.maximum(stretch * z + more, 0.0)  # a power that chance alone has needs no units
    n = units[sound] * (errors * se[sound] / gain[sound]) ** 2
    if student:
        # To the first order in 1/n; 1 where nothing is stretched.
        n += z**2 / 2 * np.divide(stretch * (z + stretch * more), errors, out=np.ones_like(errors), where=errors > 0)
    n = np.where(errors > 0, np.maximum(np.ceil(n - 1e-9), 2.0), 2.0)
    found[sound] = np.where(n <= MOST_UNITS, n, np.nan)
    return found
