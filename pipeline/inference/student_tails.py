"""Few units give t = |δ| / se the tails of Student's t. This module takes it to the scale of its replicates, and back.

The jackknife's se is unbiased for a mean, so that t of Gaussian units has Student's law with G − 1 degrees of freedom. Bootstrap
replicates of it, t* = |δ* − δ| / se, are nearly Gaussian, with a spread of √((G − 1)/G). To compare the two takes both away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, ndtr, ndtri_exp, stdtr, stdtrit

__all__ = ["StudentTails"]

_FAR = 1e-290  # tails below are no longer floats with all their digits
_TERMS = 8  # of a series whose k-th term is at most (2k − 1)!!/t^(2k), with t > 36 where it is needed: 1e-19


@dataclass(frozen=True)
class StudentTails:
    """G units within H strata; without strata H is 1.

    Parameters
    ----------
    units : float
        Effective ones of a test set, from `pipeline.inference.units.effective_units`.
    strata : int, optional
    """

    units: float
    strata: int = 1

    def __post_init__(self) -> None:
        if not (self.units >= 1 and self.strata >= 1):
            raise ValueError(f"there is at least 1 unit and 1 stratum, not {self.units} and {self.strata}")

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the standard error, G − H; below 1 nothing can be tested."""
        return self.units - self.strata

    @property
    def spread(self) -> float:
        """Standard deviation of (δ* − δ) / se over replicates: √((G − H)/G)."""
        return float(np.sqrt(max(self.freedom, 0.0) / self.units))

    def p_value(self, delta: NDArray[np.float64], se: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the two-sided p of gains with the jackknife's standard error: 2 P(T_{G−H} ≥ |δ| / se); nan without spread.

        What `to_replicates` is for a maximum over pairs this is for a pair by itself, and it is free of Monte-Carlo error. With
        less than one degree of freedom nothing can be tested, and p is 1.

        Examples
        --------
        >>> StudentTails(8).p_value(np.array([2.0, 0.0, 1.0]), np.array([0.9, 1.0, 0.0])).round(4).tolist()
        [0.0617, 1.0, nan]
        """
        if self.freedom < 1:
            return np.where(np.isfinite(delta) & (se > 0), 1.0, np.nan)
        t = np.divide(np.abs(delta), se, out=np.full(np.shape(delta), np.nan), where=se > 0)
        return np.asarray(2 * stdtr(self.freedom, -t), np.float64)

    def to_replicates(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what replicates must reach in place of t: z with 2 Φ(−z / spread) = 2 P(T_{G−H} > t).

        It rises with t, is odd, is below t in size, and t itself as G → ∞. With less than one degree of freedom it is 0, which
        every replicate reaches.

        Examples
        --------
        >>> StudentTails(20).to_replicates(np.array([1.0, 2.0, 4.0, -4.0])).round(2).tolist()
        [0.95, 1.83, 3.28, -3.28]
        """
        size = np.abs(np.asarray(t, np.float64))
        if self.freedom < 1:
            return np.zeros_like(size)
        if not np.isfinite(self.units):
            return np.asarray(t, np.float64).copy()
        return np.asarray(np.copysign(self.spread * -ndtri_exp(self._log_tail(size)), t), np.float64)

    def from_replicates(self, reached: float) -> float:
        """Return the t whose place replicates take that reach so far; infinite with less than one degree of freedom.

        Examples
        --------
        >>> round(StudentTails(20).from_replicates(1.83), 2)
        2.0
        """
        if self.freedom < 1:
            return float("inf")
        if not np.isfinite(self.units):
            return reached
        return -float(stdtrit(self.freedom, ndtr(-reached / self.spread)))

    def _log_tail(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log P(T > t) of t ≥ 0, also where the chance itself is no float any more."""
        tail = stdtr(self.freedom, -t)
        near = ~(tail < _FAR)
        found = np.log(np.where(near, tail, 1.0))
        if not near.all():
            found[~near] = self._log_far_tail(t[~near])
        return np.asarray(found, np.float64)

    def _log_far_tail(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        # ½ I_x(ν/2, ½) with x = ν/(ν + t²), and its series in −ν/t² (Abramowitz and Stegun 26.5.4, 15.3.4).
        v, squares = self.freedom, t * t
        series, term = np.ones_like(t), np.ones_like(t)
        for k in range(_TERMS):
            term = term * -(k + 0.5) / (v / 2 + 1 + k) * v / squares
            series += term
        log_share = -v / 2 * np.log1p(squares / v) + 0.5 * np.log1p(v / squares)  # x^(ν/2) / √(1 − x)
        return np.asarray(log_share + np.log(series) - np.log(v) - betaln(v / 2, 0.5), np.float64)
