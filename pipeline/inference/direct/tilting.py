"""Where a bootstrap's gain most easily passes a threshold: tilt the chances of the units until it does.

A tail of the bootstrap is that of a multinomial. The units are drawn with the chances g that are closest to uniform, by the
Kullback-Leibler distance n Σ g log(ng), among those whose expected statistics are at the threshold (Johns 1988, J. Amer. Statist.
Assoc. 83, 709-714; Davison & Hinkley 1997, ch. 9, doi:10.1017/CBO9780511802843). They satisfy g_i ∝ exp(λ ℓ_i) with ℓ the influence
of the units *at g*; for a linear statistic that is the ordinary exponential tilt.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.numerics.solvers import find_root
from pipeline.numerics.special import erfcx
from pipeline.resampling.measures import ScoreFunction

__all__ = ["PairGain", "Tilt", "find_tilt", "lugannani_rice"]

_ROUNDS = 16
_STEEPEST = 600.0  # λ times the range of ℓ: beyond, the unlikeliest units cannot be drawn at all
_STEP = 1e-5  # of a total, for a central difference
_CLOSE = 1e-4  # relative change of the distance below which a tilt is found


@dataclass(frozen=True, eq=False)
class PairGain:
    """The gain of a pair as a function of its summed statistics.

    Parameters
    ----------
    first, second : (unit, statistic) float64
        Of the system that is ahead, and of the other.
    score : ScoreFunction
    sign : int
        −1 where lower is better.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    score: ScoreFunction
    sign: int

    @property
    def units(self) -> int:
        """Number of units, n."""
        return len(self.first)

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the (2, replicate) scores of (replicate, unit) weights that sum to n; nan where undefined."""
        totals = np.stack([self.first.T @ weights.T, self.second.T @ weights.T], axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is a defined outcome: nan
            return np.asarray(self.score(totals), np.float64)

    def gain(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the (replicate,) gains of (replicate, unit) weights."""
        one, other = self.scores(weights)
        return np.asarray(self.sign * (one - other))

    def influence(self, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return n times the derivative of the gain by each chance, at these chances: (unit,), with mean 0 under them."""
        values = self.sign * (self._slide(self.first, chances) - self._slide(self.second, chances))
        return np.asarray(values - chances @ values)

    def _slide(self, statistics: NDArray[np.float64], chances: NDArray[np.float64]) -> NDArray[np.float64]:
        totals = self.units * (chances @ statistics)
        steps = _STEP * self.units * (chances @ np.abs(statistics))
        moved = totals[:, None] + np.concatenate([np.diag(steps), -np.diag(steps)], axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is a defined outcome: nan
            values = np.asarray(self.score(moved), np.float64)
        up, down = values[: len(totals)], values[len(totals) :]
        slope = np.divide(up - down, 2 * steps, out=np.zeros_like(steps), where=steps > 0)
        return np.asarray(statistics @ slope)


@dataclass(frozen=True, eq=False)
class Tilt:
    """Tilted chances of the units, and a description of the tail there.

    Parameters
    ----------
    chances : (unit,) float64
        g: positive, summing to 1.
    log_p : float
        Logarithm of the tail of the statistic that is linear and has the gain's influence at g, by `lugannani_rice`.
    """

    chances: NDArray[np.float64]
    log_p: float


def find_tilt(pair: PairGain, target: float, side: int) -> Tilt | None:
    """Find the chances of the units whose expected statistics have the gain ``target``.

    Parameters
    ----------
    pair : PairGain
    target : float
        Threshold of the gain.
    side : int
        1 where the tail is above the observed gain, −1 where it is below.

    Returns
    -------
    Tilt or None
        None if no tilt reaches the target, or if scores are undefined on the way.
    """
    chances = np.full(pair.units, 1 / pair.units)
    influence = side * pair.influence(chances)
    found, distance = None, math.inf
    for number in range(_ROUNDS):
        if number:
            # Halfway to the influence at the new chances: a full step can go to and fro for ever.
            influence = (influence + side * pair.influence(chances)) / 2
        spread = float(np.ptp(influence))
        if not (np.isfinite(spread) and spread > 0):
            break
        steepness = _solve(pair, influence / spread, target, side)
        if steepness is None:
            break
        values = influence / spread
        chances = _tilt(values, steepness)
        found = Tilt(chances, lugannani_rice(values, steepness))
        last, distance = distance, float(chances @ np.log(pair.units * chances))
        if abs(last - distance) <= _CLOSE * distance:
            break
    return found


def lugannani_rice(values: NDArray[np.float64], steepness: float) -> float:
    """Return log P(Σ w_i v_i ≥ n K'(λ)), w multinomial of n draws from n units with equal chances.

    With K(λ) = log mean exp(λv), x = K'(λ), r = √(2n(λx − K)) and q = λ√(nK''): φ(r) (Mills(r) + 1/q − 1/r), where Mills(r) is the
    tail of the normal law over its density (Lugannani & Rice 1980, doi:10.2307/1426607). The relative error is of order 1/n for
    values that are not on a lattice, even far out in the tail.

    Parameters
    ----------
    values : (unit,) float64
        v.
    steepness : float
        λ > 0.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> v = norm.ppf((np.arange(10_000) + 0.5) / 10_000)
    >>> round(lugannani_rice(v, 0.03), 2), round(float(norm.logsf(3.0)), 2)
    (-6.61, -6.61)
    """
    n = len(values)
    chances = _tilt(values, steepness)
    mean = float(chances @ values)
    variance = float(chances @ (values - mean) ** 2)
    top = float(values.max())
    cumulant = math.log(float(np.mean(np.exp(steepness * (values - top))))) + steepness * top
    r = math.sqrt(2 * n * max(steepness * mean - cumulant, 0.0))
    q = steepness * math.sqrt(n * variance)
    if r < 1e-3 or q == 0:
        return -math.log(2)
    mills = math.sqrt(math.pi / 2) * float(erfcx(r / math.sqrt(2)))
    # At the end of the values' range q is 0 while r is not: exp(−r²/2) is Chernoff's bound, and the chance of the end itself.
    return -r * r / 2 + min(math.log(max(mills + 1 / q - 1 / r, 1e-300)) - math.log(2 * math.pi) / 2, 0.0)


def _tilt(values: NDArray[np.float64], steepness: float) -> NDArray[np.float64]:
    weights = np.exp(steepness * (values - values.max()))
    return np.asarray(weights / weights.sum())


def _solve(pair: PairGain, values: NDArray[np.float64], target: float, side: int) -> float | None:
    """Find λ at which the gain of the tilted statistics is the target: doubled until it is passed, then by Brent's method."""

    def beyond(steepness: float) -> float:
        return side * (float(pair.gain(pair.units * _tilt(values, steepness)[None])[0]) - target)

    low, high = 0.0, 1.0
    value = beyond(high)
    while value < 0 and high < _STEEPEST:
        low, high = high, 2 * high
        value = beyond(high)
    if not value >= 0 or not beyond(low) < 0:
        return None
    return find_root(beyond, low, high, xtol=1e-12, rtol=1e-10)
