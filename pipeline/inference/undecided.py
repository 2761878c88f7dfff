"""Where no test at hand holds its level, and a small p is no verdict.

With too few effective units no test says anything. With few units and heavy tails (graded scores, of which some systems fail
totally now and then) the standard error is too small whenever the failures happen to be missing, and every test based on it
rejects true nulls too often: 12 to 28 % of them at .05, with 20 units and failures of 5 %. Such pairs are told apart by the shape
of their influence values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.few_units import FEW_DISCORDANT, FEW_EFFECTIVE

__all__ = ["FEWEST_EFFECTIVE", "HEAVY_TAILS", "UNDECIDED", "UnitShape", "explain_undecided", "find_undecided"]

UNDECIDED = ("", "few units with heavy tails", "too few effective units")
"""Why a pair is not decided, by code; 0 where it is."""

_EXPLANATIONS = {
    "few units with heavy tails": "n = {units:,} units with heavy tails, of which no test holds its level, as a few units that "
    "happen to be missing could turn the result; more units would help",
    "too few effective units": "n = {units:,} units are worth fewer than {fewest:g} of equal size, too few for any test; more "
    "units would help, or smaller ones if these are independent",
}

FEWEST_EFFECTIVE = 6.0
"""Effective units below which nothing is decided: with five equal ones no exact test reaches .05."""

HEAVY_TAILS = 6.0
"""Kurtosis of the influence values of units that differ, 3 of a Gaussian, above which few units are too few."""


@dataclass(frozen=True, eq=False)
class UnitShape:
    """What the units of each pair look like.

    Parameters
    ----------
    units : float or None
        Effective ones of the test set; None where they are not known, which are taken for many.
    discordant : (pair,) int64
        Units on which the two systems differ; below 0 where that is not known.
    acceleration : (pair,) float64
        A sixth of the skewness of the influence values over √n, as of BCa intervals; nan where it is not known.
    kurtosis : (pair,) float64
        Of the influence values, n Σu⁴ / (Σu²)²; nan where it is not known.
    """

    units: float | None
    discordant: NDArray[np.int64]
    acceleration: NDArray[np.float64]
    kurtosis: NDArray[np.float64]


def find_undecided(shape: UnitShape) -> NDArray[np.int8]:
    """Tell which pairs cannot be decided, whatever their p.

    Pairs that differ on fewer than `FEW_DISCORDANT` units are held by an exact test, and need no other guard.

    Returns
    -------
    (pair,) int8
        Position in `UNDECIDED`.

    Examples
    --------
    >>> unknown = np.full(2, np.nan)
    >>> find_undecided(UnitShape(20.0, np.array([20, 20]), unknown, np.array([2.8, 12.0]))).tolist()
    [0, 1]
    """
    nothing = np.zeros(len(shape.discordant), np.int8)
    if shape.units is None or shape.units >= FEW_EFFECTIVE:
        return nothing
    with np.errstate(invalid="ignore"):  # of what is not known nothing is said
        heavy = (shape.kurtosis > HEAVY_TAILS) & (shape.discordant >= FEW_DISCORDANT)
    if shape.units < FEWEST_EFFECTIVE:
        return nothing + np.int8(2)
    return np.where(heavy, np.int8(1), nothing)


def explain_undecided(reason: str, *, units: int) -> str:
    """Say why a pair is not decided, and what would help.

    Examples
    --------
    >>> explain_undecided("few units with heavy tails", units=20)[:31]
    'n = 20 units with heavy tails, '
    """
    return _EXPLANATIONS[reason].format(units=units, fewest=FEWEST_EFFECTIVE)
