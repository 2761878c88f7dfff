"""What a test of few units can and cannot say. This module knows the smallest p there can be, and how often a bootstrap errs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

from pipeline.inference.multiplicity import holm

__all__ = [
    "FEW_DISCORDANT",
    "FEW_EFFECTIVE",
    "SMALLEST",
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

    With ``mid_p`` it is 2^-m, as half of the chance of what was observed is left out: the smallest one of McNemar's mid-p itself.

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
    """Return the smallest p that so few discordant units can be evidence for: no p that decides is below it.

    With m units on which the systems differ it is 2^(1 − m), the smallest p of any exact test, and where m is below
    `FEW_DISCORDANT` also the exact p itself. A bootstrap knows nothing of units that it has not seen: of 7 wins and 1 loss among
    100 units it makes .045, where McNemar's test has .070.

    Parameters
    ----------
    discordant : (pair,) int
        m; below 0 where it is not known, which leaves no floor.
    exact : (pair,) float64, optional
        Two-sided p of the exact sign-flip test, nan where it is not known. Leave it out for procedures that have an exact law of
        their own: theirs may be another null.
    mid_p : bool, optional
        The procedure leaves out half of the chance of what was observed.

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

    The bootstrap's variance is (G − 1)/G of the unbiased one, and its tails are those of a Gaussian where the studentised
    difference has those of t with G − 1 degrees of freedom: 2 · P(t > z √((G − 1)/G)).

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

    It never becomes True when any p or floor rises, as Holm's own decision does not: so bounds of all p bound it.

    Parameters
    ----------
    p : (pair,) float64
        p-values of one family; nan where there is none.
    floor : (pair,) float64
        What none of them is taken to be below.
    alpha : float
        Level of the family.

    Examples
    --------
    >>> holm_within_reach(np.array([0.001, 0.01, 0.4]), np.array([0.016, 0.03, 0.0]), 0.05).tolist()
    [True, False, False]
    """
    with np.errstate(invalid="ignore"):  # nan is not rejected
        return np.asarray(holm(np.maximum(p, floor)) <= alpha)
