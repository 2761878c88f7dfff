"""Looking again and again: e-processes and confidence sequences of the mean of bounded values, by betting.

Somebody bets against "the mean is m", on each value in the light of the values before it. If the mean is m, the expected win is
nothing, so the capital is a martingale: the chance that it ever reaches 1/α is at most α (Ville 1939), however often one looks and
whenever one stops. The means against which the capital has never grown so large form a confidence sequence, which holds at all
looks together.

The values are independent, or at least each has the same mean whatever came before it, and they lie between two bounds known
beforehand. Bets are the predictable plug-in of Waudby-Smith and Ramdas (2024, doi:10.1093/jrsssb/qkad009), the capital is hedged:
half is bet on a larger mean, half on a smaller one (their Theorem 3). With x in [0, 1],

    K⁺_t(m) = ∏ (1 + min(λ_i, c/m) (x_i − m)),    K⁻_t(m) = ∏ (1 − min(λ_i, c/(1 − m)) (x_i − m)),    c = ½
    λ_t = √(2 log(2/α) / (v_(t−1) t log(1 + t)))
    v_t = (¼ + Σ (x_i − a_i)²) / (t + 1),    a_t = (½ + Σ x_i) / (t + 1)

so λ_t depends only on the values before x_t. K⁺ falls as m grows and K⁻ rises, so the means against which neither has ever reached
2/α form an interval.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass

__all__ = ["BoundedSequences", "Capital", "ConfidenceSequence"]

_TRUNCATION = 0.5
"""c: the share of the capital that one bet can lose."""

_HALVINGS = 40
"""Of the range of means: an end is within 1e-12 of it, and always on the outside."""

_BLOCK = 2**20
"""Values in memory at a time."""


@dataclass(frozen=True, eq=False)
class Capital:
    """The capital, starting at 1, that bets against one mean have after each value.

    Parameters
    ----------
    log_above, log_below : (sequence, value) float64
        Natural logarithms of K⁺, of bets that the mean is larger, and of K⁻, of bets that it is smaller. Each is an e-process for
        a directed null: K⁺ for "the mean is at most m", K⁻ for "it is at least m".
    """

    log_above: NDArray[np.float64]
    log_below: NDArray[np.float64]

    @property
    def log_hedged(self) -> NDArray[np.float64]:
        """The logarithm of (K⁺ + K⁻)/2, an e-process for "the mean is m"; it begins at 1."""
        return np.asarray(np.logaddexp(self.log_above, self.log_below) - np.log(2), np.float64)


@dataclass(frozen=True, eq=False)
class ConfidenceSequence:
    """At some looks, the means that no value so far has excluded.

    Parameters
    ----------
    at : (look,) int64
        Number of values at each look, increasing.
    lo, hi : (sequence, look) float64
        Ends; they never move outward. If lo > hi, no mean fits: the values violate the assumptions.
    """

    at: NDArray[np.int64]
    lo: NDArray[np.float64]
    hi: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BoundedSequences:
    """Sequences of values between two bounds, in order of arrival.

    Parameters
    ----------
    values : (sequence, value) float64
    low, high : float
        Bounds that hold for every value to come; known beforehand, not read off the values.
    alpha : float
        The level for which the bets are optimised. The capital is valid at every level.

    Raises
    ------
    ValueError
        If a value is outside the bounds, or the bounds or the level are not valid.

    Examples
    --------
    Wins and losses, the first three of them wins. The first bet is the largest that is allowed, c/m = 1:

    >>> games = BoundedSequences(np.array([[1.0, 1.0, 1.0, 0.0]]), low=0.0, high=1.0)
    >>> np.exp(games.bet_against(0.5).log_above).round(3).tolist()
    [[1.5, 2.25, 3.375, 1.688]]
    """

    values: NDArray[np.float64]
    low: float
    high: float
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if self.values.ndim != 2:
            raise ValueError(f"values are (sequence, value), not of {self.values.ndim} dimensions")
        if not -np.inf < self.low < self.high < np.inf:
            raise ValueError(f"bounds are two increasing numbers, not {self.low} and {self.high}")
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha is between 0 and 1, not {self.alpha}")
        if self.values.size and not (self.low <= self.values.min() and self.values.max() <= self.high):
            raise ValueError(f"values lie in {self.low} … {self.high}, not {self.values.min()} … {self.values.max()}")

    def bet_against(self, mean: float) -> Capital:
        """Return the capital of bets against a mean, after each value."""
        m = self._place(mean)
        x, bets = self._prepare(slice(None))
        return Capital(np.cumsum(_gains(x, bets, m), axis=1), np.cumsum(_gains(1 - x, bets, 1 - m), axis=1))

    def exclude(self, at: Sequence[int] | NDArray[np.integer]) -> ConfidenceSequence:
        """Return the confidence sequence at level 1 − α after each of these numbers of values.

        A mean that was excluded at any value, between looks too, stays excluded. An end itself is excluded, unless it is a bound.
        The middle of the bounds is decided exactly: with bounds −r and r, lo ≥ 0 where K⁺ against 0 has reached 2/α, and nowhere
        else.
        """
        looks = np.asarray(at, np.int64)
        rows, length = self.values.shape
        if looks.ndim != 1 or (looks < 1).any() or (looks > length).any() or (np.diff(looks) <= 0).any():
            raise ValueError(f"looks are increasing numbers of values, 1 … {length}, not {looks.tolist()}")
        lo, hi = np.empty((rows, len(looks))), np.empty((rows, len(looks)))
        step = max(1, _BLOCK // max(length, 1))
        for first in range(0, rows, step):
            some = slice(first, first + step)
            x, bets = self._prepare(some)
            for place, values in enumerate(looks.tolist()):
                lo[some, place] = self._largest_excluded(x[:, :values], bets[:, :values])
                hi[some, place] = 1 - self._largest_excluded(1 - x[:, :values], bets[:, :values])
        span = self.high - self.low
        return ConfidenceSequence(looks, self.low + span * lo, self.low + span * hi)

    def _prepare(self, some: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        x = (self.values[some] - self.low) / (self.high - self.low)
        return x, _plug_in(x, self.alpha)

    def _place(self, mean: float) -> float:
        m = (mean - self.low) / (self.high - self.low)
        if not 0 < m < 1:
            raise ValueError(f"a mean to bet against lies between {self.low} and {self.high}, not at {mean}")
        return m

    def _largest_excluded(self, x: NDArray[np.float64], bets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the largest mean of each sequence against which K⁺ has reached 2/α at some value; 0 where there is none.

        The first of the halvings looks at ½ itself.
        """
        rich = np.log(2 / self.alpha)
        out, inside = np.zeros(len(x)), np.ones(len(x))
        for _ in range(_HALVINGS):
            middle = (out + inside) / 2
            excluded = np.cumsum(_gains(x, bets, middle[:, None]), axis=1).max(axis=1) >= rich
            out, inside = np.where(excluded, middle, out), np.where(excluded, inside, middle)
        return out


def _plug_in(x: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Return λ of every value, from the values before it alone."""
    t = np.arange(1, x.shape[1] + 1, dtype=np.float64)
    centred = x - (0.5 + np.cumsum(x, axis=1)) / (t + 1)
    variance = (0.25 + np.cumsum(centred**2, axis=1)) / (t + 1)
    before = np.concatenate([np.full((len(x), 1), 0.25), variance[:, :-1]], axis=1)
    return np.asarray(np.sqrt(2 * np.log(2 / alpha) / (before * t * np.log1p(t))), np.float64)


def _gains(x: NDArray[np.float64], bets: NDArray[np.float64], m: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of what each bet on a larger mean makes of 1; it loses half at most."""
    return np.asarray(np.log1p(np.minimum(bets, _TRUNCATION / m) * (x - m)), np.float64)
