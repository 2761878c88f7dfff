"""What a test of few units can and cannot say.

- The smallest possible p (`sign_flip_floor`, `evidence_floor`), and what Holm can reach with it.
- How often a bootstrap of few units rejects a true null (`expected_rejection`).
- The tails of Student's t that few units give t = |δ| / se (`StudentTails`). The jackknife's se is unbiased for a mean, so that t
  of Gaussian units has Student's law with G − 1 degrees of freedom. Bootstrap replicates of it, t* = |δ* − δ| / se, are nearly
  Gaussian, with a spread of √((G − 1)/G). Comparing the two must undo both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.multiple_comparisons.multiplicity import holm
from pipeline.numerics.special import betaln, ndtri, ndtri_exp, stdtr

__all__ = [
    "FEW_DISCORDANT",
    "FEW_EFFECTIVE",
    "SMALLEST",
    "StudentTails",
    "evidence_floor",
    "expected_rejection",
    "holm_within_reach",
    "sign_flip_floor",
]

FEW_DISCORDANT = 20
"""Units on which two systems differ, below which the p of an exact sign-flip or McNemar test is a floor of what decides."""

FEW_EFFECTIVE = 50.0
"""Effective units below which a bootstrap test at .05 rejects more than about .058 of true nulls."""

SMALLEST = 5e-324
"""The smallest float, for a p-value that is below it: no p is 0."""


def sign_flip_floor(discordant: NDArray[np.integer], *, mid_p: bool = False) -> NDArray[np.float64]:
    """Return the smallest two-sided p of a sign-flip, sign or McNemar test: 2^(1 − m) with m discordant units, at most 1.

    With ``mid_p`` it is 2^-m, the smallest p of McNemar's mid-p test, which counts only half of the chance of the observed outcome.

    Examples
    --------
    >>> sign_flip_floor(np.array([0, 1, 5, 6])).tolist()
    [1.0, 1.0, 0.0625, 0.03125]
    >>> sign_flip_floor(np.array([0, 1, 5, 6]), mid_p=True).tolist()
    [1.0, 0.5, 0.03125, 0.015625]
    """
    return np.minimum(1.0, np.exp2((0.0 if mid_p else 1.0) - np.asarray(discordant, np.float64)))


def evidence_floor(
    discordant: NDArray[np.integer], exact: NDArray[np.float64] | None = None, *, mid_p: bool = False
) -> NDArray[np.float64]:
    """Return the smallest p that a number of discordant units can support: no p that decides is below it.

    With m units on which the systems differ it is 2^(1 − m), the smallest p of any exact test, and where m is below
    `FEW_DISCORDANT` also the exact p itself. A bootstrap knows only the observed units: for 7 wins and 1 loss among 100 units it
    gives .045, and McNemar's test .070.

    Parameters
    ----------
    discordant : (pair,) int
        m; below 0 if unknown, which gives no floor.
    exact : (pair,) float64, optional
        Two-sided p of the exact sign-flip test, nan where unknown. Omit it for procedures with an exact law of their own, whose
        null may differ.
    mid_p : bool, optional
        The procedure counts only half of the chance of the observed outcome.

    Examples
    --------
    >>> evidence_floor(np.array([8, 25, -1]), np.array([0.0703, 0.2, np.nan])).round(4).tolist()
    [0.0703, 0.0, 0.0]
    """
    m = np.asarray(discordant)
    floor = np.where(m >= 0, sign_flip_floor(np.maximum(m, 0), mid_p=mid_p), 0.0)
    if exact is None:
        return floor
    return np.where((m >= 0) & (m < FEW_DISCORDANT), np.fmax(floor, exact), floor)


def expected_rejection(units: float, level: float = 0.05) -> float | None:
    """Return the share of true nulls that a two-sided bootstrap test of G independent units rejects, or None below two units.

    The bootstrap's variance is (G − 1)/G of the unbiased one, and its tails are Gaussian, while those of the studentised difference
    are those of t with G − 1 degrees of freedom: 2 · P(t > z √((G − 1)/G)).

    Examples
    --------
    >>> [round(expected_rejection(units), 3) for units in (5, 10, 20, 50)]
    [0.154, 0.096, 0.071, 0.058]
    """
    if units < 2:
        return None
    z = -float(ndtri(level / 2))
    return 2 * float(stdtr(units - 1, -z * np.sqrt((units - 1) / units)))


def holm_within_reach(p: NDArray[np.float64], floor: NDArray[np.float64], alpha: float) -> NDArray[np.bool_]:
    """Tell which pairs Holm rejects when each has its floor in place of a smaller p, all of them at once.

    Like Holm's own decision, it never becomes True when any p or floor rises, so bounds of all p bound it.

    Parameters
    ----------
    p : (pair,) float64
        p-values of one family; nan where there is none.
    floor : (pair,) float64
        Their lower limits.
    alpha : float
        Level of the family.

    Examples
    --------
    >>> holm_within_reach(np.array([0.001, 0.01, 0.4]), np.array([0.016, 0.03, 0.0]), 0.05).tolist()
    [True, False, False]
    """
    with np.errstate(invalid="ignore"):  # nan is not rejected
        return np.asarray(holm(np.maximum(p, floor)) <= alpha)


_FAR = 1e-290  # tails below are no longer floats with all their digits
_TERMS = 8  # of a series whose k-th term is at most (2k − 1)!!/t^(2k), with t > 36 where it is needed: 1e-19


@dataclass(frozen=True)
class StudentTails:
    """G units within H strata; without strata H is 1.

    Parameters
    ----------
    units : float
        Effective units of a test set, from `pipeline.inference.unit_diagnostics.units.effective_units`.
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

        This corrects a pair by itself as `to_replicates` corrects a maximum over pairs, without Monte-Carlo error. With less than
        one degree of freedom nothing can be tested, and p is 1.

        Examples
        --------
        >>> StudentTails(8).p_value(np.array([2.0, 0.0, 1.0]), np.array([0.9, 1.0, 0.0])).round(4).tolist()
        [0.0617, 1.0, nan]
        """
        if self.freedom < 1:
            return np.where(np.isfinite(delta) & (se > 0), 1.0, np.nan)
        t = np.divide(np.abs(delta), se, out=np.full(np.shape(delta), np.nan), where=se > 0)
        return np.asarray(2 * stdtr(self.freedom, -t), np.float64)

    def tail(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the one-sided p of statistics in a fixed direction, P(T_{G−H} ≥ t); nan where t is nan.

        With less than one degree of freedom nothing can be tested, and p is 1.

        Examples
        --------
        >>> StudentTails(8).tail(np.array([2.0 / 0.9, 0.0, -2.0 / 0.9])).round(4).tolist()
        [0.0308, 0.5, 0.9692]
        """
        if self.freedom < 1:
            return np.where(np.isnan(t), np.nan, 1.0)
        return np.asarray(stdtr(self.freedom, -np.asarray(t, np.float64)), np.float64)

    def to_replicates(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value that replicates must reach instead of t: z with 2 Φ(−z / spread) = 2 P(T_{G−H} > t).

        It is odd, rises with t, is smaller than t in size, and approaches t as G → ∞. With less than one degree of freedom it is 0,
        which every replicate reaches.

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
