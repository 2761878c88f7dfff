"""p-values based on too few units: warn about them, and correct them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT, FEW_EFFECTIVE, expected_rejection, sign_flip_floor
from pipeline.numerics.special import ndtri, stdtr, stdtrit

__all__ = [
    "WARNINGS",
    "Corrected",
    "correct_few_units",
    "expected_stratified_rejection",
    "guard_units",
    "warning_words",
]

WARNINGS = ("few effective units", "few discordant units")
"""Bits 0 and 1 of the result of `guard_units`."""


@dataclass(frozen=True, eq=False)
class Corrected:
    """p-values corrected for few units.

    Parameters
    ----------
    p : (pair,) float64
        Two-sided, by t with G − 1 degrees of freedom; nan below two units, or without spread.
    half_width : (pair,) float64
        Half the width of the interval around the observed gain, at level 1 − alpha, that belongs to this p.
    se : (pair,) float64
        Spread of the replicates times √(G/(G − 1)).
    """

    p: NDArray[np.float64]
    half_width: NDArray[np.float64]
    se: NDArray[np.float64]


def correct_few_units(
    delta: NDArray[np.float64], spread: NDArray[np.float64], *, units: float, alpha: float = 0.05, strata: int = 1
) -> Corrected:
    """Test δ = 0 by t with G − 1 degrees of freedom and the bootstrap's spread times √(G/(G − 1)).

    The spread of replicates is √((G − 1)/G) of the unbiased standard error, whose own error gives the statistic the tails of t:
    `expected_rejection` says how often a test that ignores both is wrong. Exact for the mean of Gaussian units of equal size; an
    approximation for units of unequal size, with the effective units as G.

    Parameters
    ----------
    delta : (pair,) float64
        Observed gain; the sign does not matter.
    spread : (pair,) float64
        Standard deviation of δ* over bootstrap replicates of units. Instead of it the jackknife's standard error, which is already
        unbiased, may be given times √((G − 1)/G).
    units : float
        G, from `pipeline.inference.unit_diagnostics.units.effective_units`.
    alpha : float, optional
    strata : int, optional
        H, where units are drawn within strata: G − H then takes the place of G − 1.

    Examples
    --------
    >>> found = correct_few_units(np.array([2.0]), np.array([1.0]), units=5)
    >>> found.p.round(4).tolist(), found.half_width.round(3).tolist()
    ([0.1481], [3.104])
    """
    if not units >= 1:
        raise ValueError(f"there is at least 1 effective unit, not {units}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha lies between 0 and 1, not at {alpha}")
    freedom = units - strata
    if freedom < 1:
        nothing = np.full(np.shape(delta), np.nan)
        return Corrected(nothing, nothing.copy(), nothing.copy())
    se = np.where(spread > 0, spread, np.nan) * np.sqrt(units / freedom)
    p = 2 * stdtr(freedom, -np.abs(delta) / se)
    return Corrected(p, se * -stdtrit(freedom, alpha / 2), se)


def expected_stratified_rejection(units: float, strata: int, level: float = 0.05) -> float | None:
    """Return the share of true nulls that a two-sided bootstrap of G units within H strata rejects, or None where G ≤ H.

    In each stratum the bootstrap's variance is (n_h − 1)/n_h of the unbiased one: 2 · P(t > z √((G − H)/G)) with G − H degrees of
    freedom. Exact, whatever the sizes of the strata, for the mean of Gaussian units with one variance in all of them.

    Parameters
    ----------
    units : float
        G; effective units if they are of unequal size.
    strata : int
        H.
    level : float, optional

    Examples
    --------
    >>> [round(expected_stratified_rejection(200, strata), 3) for strata in (1, 4, 50, 100)]
    [0.052, 0.054, 0.092, 0.169]
    """
    freedom = units - strata
    if freedom <= 0:
        return None
    return 2 * float(stdtr(freedom, ndtri(level / 2) * np.sqrt(freedom / units)))


def guard_units(effective: float, discordant: NDArray[np.integer]) -> NDArray[np.uint8]:
    """Tell which warnings apply to each pair.

    Parameters
    ----------
    effective : float
        From `pipeline.inference.unit_diagnostics.units.effective_units`.
    discordant : (pair,) int
        Units on which the two systems differ. A pair without any is identical, so nothing is tested and there is no warning.

    Returns
    -------
    (pair,) uint8
        Bits in the order of `WARNINGS`.

    Examples
    --------
    >>> guard_units(3.9, np.array([12, 0])).tolist(), guard_units(997.0, np.array([19, 20])).tolist()
    ([3, 0], [2, 0])
    """
    m = np.asarray(discordant)
    few = np.where(effective < FEW_EFFECTIVE, 1, 0) + np.where(m < FEW_DISCORDANT, 2, 0)
    return np.where(m > 0, few, 0).astype(np.uint8)


def warning_words(code: int, *, effective: float, units: int, discordant: int) -> tuple[str, ...]:
    """Say what is wrong with one pair's p, and what to read instead: one sentence for each warning.

    Examples
    --------
    >>> for sentence in warning_words(3, effective=3.87, units=12, discordant=12):
    ...     print(sentence)
    Few effective units: 12 units of unequal size count as 3.9; a bootstrap test at .05 rejects about 19 % of true nulls.
    Few discordant units: the systems differ on 12 (< 20); read an exact test (sign, sign-flip, McNemar); its p is at least 0.00049.
    """
    words = []
    if code & 1:
        unequal = round(effective, 1) < units
        those = f"{units} units of unequal size count as {effective:.1f}" if unequal else f"there are {units}"
        rate = expected_rejection(effective)
        cost = "no test is possible" if rate is None else f"a bootstrap test at .05 rejects about {100 * rate:.0f} % of true nulls"
        words.append(f"Few effective units: {those}; {cost}.")
    if code & 2:
        floor = sign_flip_floor(np.array([discordant]))[0]
        words.append(
            f"Few discordant units: the systems differ on {discordant} (< {FEW_DISCORDANT}); read an exact test (sign, "
            f"sign-flip, McNemar); its p is at least {floor:.2g}."
        )
    return tuple(words)
