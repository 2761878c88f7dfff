"""Power with scores of 0 and 1: minimum detectable effects and the units that a gain needs, as binomial sums.

Given m discordant units, the wins of the better system are binomial (m, θ), and the gain is m (2θ − 1) / n (McNemar 1947,
doi:10.1007/BF02295996; Connett, Smith and McHugh 1987, doi:10.1002/sim.4780060507). The number of wins that is enough depends on
the test:

- of McNemar's exact test at a ``level``, `critical_wins`;
- of t = |gain| / se beyond a ``critical`` value, as max-T decides, `critical_wins_of_t`. With fewer than `FEW_DISCORDANT`
  discordant units the quantile of the exact p replaces t (`few_wins`), and the exact p, as the floor of p, must also be at most
  ``level``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.sample_size.power import MOST_UNITS, POWER, level_of
from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT
from pipeline.numerics.special import betainc, betaincinv, nbdtrik, ndtri

__all__ = ["critical_wins", "critical_wins_of_t", "exact_detectable_gain", "exact_units_for_gain", "units_with_discordant"]

_EXACTLY = 20_000  # discordant units up to which sums decide; beyond, they and the Gaussian agree within one part in a hundred
_SLACK = 1e-12  # 2^(1 − m) may miss the level by rounding
_BELOW = 1e-9  # a p that is equal to the level but for rounding is not below it
_TOGETHER = 2**18  # sums at once, over all steps: 2 MB an array
_STEPS = 8  # of a window
_GAUSS = 0.4748  # of Berry and Esseen's bound on what a Gaussian law is off (Shevtsova 2011, arXiv:1111.6554)

_Floats = NDArray[np.float64]


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


def critical_wins_of_t(
    discordant: NDArray[np.integer],
    units: _Floats | NDArray[np.integer] | int,
    *,
    critical: _Floats | float,
    level: _Floats | float,
) -> NDArray[np.int64]:
    """Return the fewest wins whose t reaches a critical value, if m of n units are discordant.

    With d more wins than losses, t = d √(n − 1) / √(mn − d²), which reaches c from d = c √(mn / (n − 1 + c²)) on. With fewer than
    `FEW_DISCORDANT` discordant units McNemar's exact p must be below 2 P(T_{n−1} ≥ c), as in
    `pipeline.inference.unit_diagnostics.few_wins`, and at most the level.

    Parameters
    ----------
    discordant : (pair,) int64
        m.
    units : (pair,) int64 or int
        n.
    critical : (pair,) float64 or float
        c, in standard errors.
    level : (pair,) float64 or float
        Two-sided level with which McNemar's exact p is compared: α, since it is the floor of a p that is already adjusted.

    Returns
    -------
    (pair,) int64
        m + 1 where no number of wins is enough.

    Examples
    --------
    24 of 100 units are discordant: 17 wins and 7 losses have t = 2.08, although McNemar's exact p is .064.

    >>> critical_wins_of_t(np.array([24, 16]), 100, critical=2.0, level=0.05).tolist(), critical_wins(np.array([24]), 0.05).tolist()
    ([17, 13], [18])
    """
    m, n = np.asarray(discordant, np.int64), np.asarray(units, np.float64)
    c = np.asarray(critical, np.float64)
    beyond = n - 1 + c**2
    ahead = c * np.sqrt(m * n / np.where(beyond > 0, beyond, 1.0))  # 0 of one unit, where c is 0: 0/0
    k = np.asarray(np.minimum(np.ceil((m + ahead) / 2 * (1 - _SLACK)), m + 1), np.int64)
    some = np.broadcast_to(m, k.shape) < FEW_DISCORDANT
    if some.any():
        of, least, most = (np.broadcast_to(x, k.shape)[some] for x in (n, c, np.asarray(level, np.float64)))
        below = level_of(least, np.maximum(of - 1, 1)) * (1 - _BELOW)  # what all pairs reach is not beyond c
        k[some] = critical_wins(np.broadcast_to(m, k.shape)[some], np.minimum(below, most))
    return k


def exact_detectable_gain(
    discordant: NDArray[np.integer],
    units: NDArray[np.integer] | int,
    *,
    level: _Floats | float,
    critical: float | None = None,
    power: float = POWER,
) -> _Floats:
    """Return the minimum detectable effect of scores of 0 and 1, as a share of the units, given how many are discordant.

    With k the fewest wins that are enough and θ the chance that a discordant unit is a win: P(X ≥ k) = power of X binomial (m, θ),
    which is I_θ(k, m − k + 1); the gain is m (2θ − 1) / n.

    Parameters
    ----------
    discordant : (pair,) int64
        m.
    units : (pair,) int64 or int
        n.
    level : (pair,) float64 or float
        Two-sided, of McNemar's exact test.
    critical : float, optional
        What t has to reach; McNemar's exact test alone decides without.
    power : float, optional

    Returns
    -------
    (pair,) float64
        nan if not even m wins are enough.

    Examples
    --------
    >>> exact_detectable_gain(np.array([20, 5]), 100, level=0.05).round(4).tolist()
    [0.1195, nan]
    """
    m = np.asarray(discordant, np.int64)
    k = critical_wins(m, level) if critical is None else critical_wins_of_t(m, units, critical=critical, level=level)
    share = np.where(k <= m, betaincinv(np.minimum(k, np.maximum(m, 1)), np.maximum(m - k + 1, 1), power), np.nan)
    return np.asarray(m * (2 * share - 1) / units)


def exact_units_for_gain(
    wins: NDArray[np.integer],
    losses: NDArray[np.integer],
    units: NDArray[np.integer] | int,
    *,
    level: _Floats | float,
    critical: float | None = None,
    power: float = POWER,
) -> _Floats:
    """Return how many units a gain in scores of 0 and 1 needs, if wins and losses stay as frequent as they are.

    m' is the smallest number of discordant units from which on the power, a binomial sum that rises in steps, stays high enough; n'
    = n m' / m. Beyond 20 000 discordant units the Gaussian law gives m'. Without losses m' wins are always enough, and only their
    number is left to chance: n' is the number of units that contains m' of them with that power (`units_with_discordant`).

    Parameters
    ----------
    wins, losses : (pair,) int64
    units : (pair,) int64 or int
        n.
    level : (pair,) float64 or float
        Two-sided, of McNemar's exact test.
    critical : float, optional
        What t has to reach; McNemar's exact test alone decides without.
    power : float, optional

    Returns
    -------
    (pair,) float64
        Whole numbers; nan if wins do not exceed losses, or if more than `MOST_UNITS` would be needed.

    Examples
    --------
    >>> exact_units_for_gain(np.array([13]), np.array([7]), 100, level=0.05).tolist()
    [485.0]
    """
    given = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (wins, losses, units, level)))
    found = np.full(given[0].shape, np.nan)
    sound = (given[0] > given[1]) & (given[3] > 0) & (given[3] < 1)
    # Many pairs of a family have the same wins and losses.
    asked, place = np.unique(np.stack([of[sound] for of in given]), axis=1, return_inverse=True)
    won, lost, n, levels = asked
    m, needed = won + lost, np.empty(len(won))
    for own in np.unique(levels).tolist():
        at = levels == own
        needed[at] = _discordant_needed(won[at] / m[at], n[at] / m[at], own, critical, power)
    without = lost == 0
    in_all = np.ceil(n * needed / m - 1e-9)
    in_all[without] = units_with_discordant(needed[without], (m / n)[without], power)
    found[sound] = np.where(in_all <= MOST_UNITS, in_all, np.nan)[place.ravel()]
    return found


def units_with_discordant(discordant: _Floats, rate: _Floats, power: float = POWER) -> _Floats:
    """Return the fewest units of which at least ``discordant`` are discordant with probability ``power``.

    The number of units up to the last of them is negative binomial.

    Parameters
    ----------
    discordant : (pair,) float64
        Whole numbers.
    rate : (pair,) float64
        Chance that a unit is discordant.
    power : float, optional

    Examples
    --------
    >>> units_with_discordant(np.array([6.0, 6.0]), np.array([0.05, 1.0])).tolist()
    [157.0, 6.0]
    """
    some = np.clip(rate, 0.0, np.nextafter(1.0, 0.0))
    return np.where(rate < 1, discordant + np.ceil(nbdtrik(power, discordant, some) - 1e-9), discordant)


def _discordant_needed(share: _Floats, units_each: _Floats, level: float, critical: float | None, power: float) -> _Floats:
    """Return m' of pairs that have ``units_each`` units for each discordant one."""
    z = -ndtri(level / 2) if critical is None else critical
    about = ((z + ndtri(power) * 2 * np.sqrt(share * (1 - share))) / (2 * share - 1)) ** 2
    found, reach = np.array(about, np.float64), 2 * np.sqrt(about) + 16
    first = np.maximum(np.floor(about - reach), 1.0).astype(np.int64)
    rest = np.flatnonzero(about <= _EXACTLY)
    rest = rest[np.argsort(reach[rest], kind="stable")]
    most = int((first + 2 * reach)[rest].max(initial=0)) + 2
    exact = critical_wins(np.arange(most), level) if critical is None else None
    while len(rest):  # as many at once as have windows of about the same width
        count = max(1, int(np.searchsorted(2 * reach[rest] * np.arange(1, len(rest) + 1), _TOGETHER)))
        some, rest = rest[:count], rest[count:]
        width, left = int(2 * reach[some[-1]]) + 2, np.arange(len(some))
        step = -(-width // _STEPS)
        for stop in range(width, 0, -step):  # from above: nothing below the last number that is not enough is computed
            m = first[some[left], None] + np.arange(max(stop - step, 0), stop)
            each, won = units_each[some[left], None], share[some[left], None]
            k = critical_wins_of_t(m, m * each, critical=z, level=level) if exact is None else exact[m]
            last = _last_that_lacks(np.broadcast_to(k, m.shape), m, won, power)
            some_lack = last >= 0
            found[some[left]] = np.where(some_lack, m[:, 0] + last + 1, first[some[left]])
            left = left[~some_lack]
            if not left.size:
                break
    return found


def _last_that_lacks(k: NDArray[np.int64], m: NDArray[np.int64], won: _Floats, power: float) -> NDArray[np.int64]:
    """Return, row by row, the last column in which k wins of m are less probable than a power; −1 where there is none.

    k wins become more probable as units are added, so among neighbouring columns with the same k those that lack power come first.
    Only the first of each such group is computed, and the others in the last group whose first one lacks power; of these, only
    those for which the Gaussian law leaves it open.
    """
    rows, width = m.shape
    won, column = np.broadcast_to(won, m.shape), np.arange(width)
    first = np.ones(m.shape, np.bool_)
    first[:, 1:] = k[:, 1:] != k[:, :-1]
    lacks, is_open = _by_gauss(k, m, won, power)

    def last_of(asked: NDArray[np.bool_]) -> NDArray[np.int64]:
        last = np.where(lacks & asked, column, -1).max(axis=1, initial=-1)
        asked = is_open & asked & (column > last[:, None])
        wins, of = k[asked], m[asked]
        enough = betainc(np.minimum(wins, of), of - wins + 1 + (wins > of), won[asked])
        found = np.zeros(m.shape, np.bool_)
        found[asked] = np.where(wins <= of, enough, 0.0) < power
        return np.asarray(np.maximum(last, np.where(found, column, -1).max(axis=1, initial=-1)))

    last = last_of(first)
    number = np.cumsum(first, axis=1)
    own = number[np.arange(rows), last]
    return np.asarray(np.maximum(last, last_of((last >= 0)[:, None] & (number == own[:, None]) & ~first)))


def _by_gauss(
    k: NDArray[np.int64], m: NDArray[np.int64], won: _Floats, power: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell where k wins of m are less probable than a power, and where that is open, by the Gaussian law and how far it may be off.

    m rises within a row; it is off the most where m is smallest.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # without losses nothing is known
        spread = np.sqrt(m * (won * (1 - won)))
        ahead = (m * won - k + 1) / spread  # P(X ≥ k) is about Φ of it
        off = (_GAUSS * (won[:, :1] ** 2 + (1 - won[:, :1]) ** 2) / spread[:, :1]) + _BELOW
        lacks, keeps = ahead < ndtri(power - off), ahead >= ndtri(power + off)
    return lacks, ~(lacks | keeps)
