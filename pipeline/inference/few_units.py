"""What a test of few units can and cannot say. This module knows the smallest p there can be, and how often a bootstrap errs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

from pipeline.inference.multiplicity import holm

__all__ = ["beyond_reach", "expected_rejection", "holm_within_reach", "sign_flip_floor", "within_reach"]


def sign_flip_floor(discordant: NDArray[np.integer], *, mid_p: bool = False) -> NDArray[np.float64]:
    """Give the smallest two-sided p of a sign-flip, sign or McNemar test: 2^(1 − m) with m discordant units, at most 1.

    With ``mid_p`` it is 2^-m, as half of the chance of what was observed is left out: the smallest one of McNemar's mid-p itself.

    Examples
    --------
    >>> sign_flip_floor(np.array([0, 1, 5, 6])).tolist()
    [1.0, 1.0, 0.0625, 0.03125]
    >>> sign_flip_floor(np.array([0, 1, 5, 6]), mid_p=True).tolist()
    [1.0, 0.5, 0.03125, 0.015625]
    """
    return np.minimum(1.0, np.exp2((0.0 if mid_p else 1.0) - np.asarray(discordant, np.float64)))


def expected_rejection(units: float, level: float = 0.05) -> float | None:
    """Give the share of true nulls that a two-sided bootstrap test of G independent units rejects, or None below two units.

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


def beyond_reach(
    p: NDArray[np.float64], floor: NDArray[np.float64], alpha: float, *, rejected: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Tell which pairs are rejected although Holm could not reject them if every p were that of a sign-flip test, the smallest one.

    Parameters
    ----------
    p : (pair,) float64
        p-values of one family; nan where there is none.
    floor : (pair,) float64
        The smallest p that a sign-flip test can have, from `sign_flip_floor`.
    alpha : float
        Level of the family.
    rejected : (pair,) bool, optional
        By an adjustment of replicates, which cannot tell what another p of a pair would become: `within_reach` then says whether
        the floor is small enough, whether or not Holm would reject the pairs before it. Without it Holm decides.

    Examples
    --------
    Three pairs of six units: the smallest p of each is .03125, and Holm asks the first of three for .0167:

    >>> beyond_reach(np.array([0.001, 0.002, 0.003]), np.full(3, 0.03125), 0.05).tolist()
    [True, True, True]
    >>> beyond_reach(np.array([0.001]), np.array([0.03125]), 0.05).tolist()
    [False]
    """
    if rejected is not None:
        return np.asarray(rejected & ~within_reach(p, floor, alpha))
    with np.errstate(invalid="ignore"):  # nan is not rejected
        return np.asarray((holm(p) <= alpha) & ~holm_within_reach(p, floor, alpha))


def within_reach(
    p: NDArray[np.float64], floor: NDArray[np.float64], alpha: float, *, others: NDArray[np.float64] | None = None
) -> NDArray[np.bool_]:
    """Tell where p is no smaller than its floor, or the floor is small enough for its step of Holm's, the other pairs with theirs.

    The step is the number of pairs whose p, or floor where that is larger, is no smaller: the pair itself is one of them.

    Parameters
    ----------
    p, floor, alpha
        As in `beyond_reach`.
    others : (pair,) float64, optional
        The p-values that are counted for the number of pairs, where they are not ``p``: a bound of them.

    Examples
    --------
    With .03 in place of .001 the first pair stands before one other, or before none; 2 · .03 is above α:

    >>> within_reach(np.array([0.001, 0.01, 0.3]), np.array([0.03, 0.0, 0.0]), 0.05).tolist()
    [False, True, True]
    >>> within_reach(np.array([0.001, 0.01, 0.02]), np.array([0.03, 0.0, 0.0]), 0.05).tolist()
    [True, True, True]
    """
    counted = p if others is None else others
    there = np.isfinite(counted)
    ordered = np.sort(np.maximum(counted, floor)[there])
    steps = len(ordered) - np.searchsorted(ordered, floor, side="left")
    with np.errstate(invalid="ignore"):  # a pair without p reaches nothing by its own
        return np.asarray((p >= floor) | (floor * np.maximum(steps, 1) <= alpha))


def holm_within_reach(p: NDArray[np.float64], floor: NDArray[np.float64], alpha: float) -> NDArray[np.bool_]:
    """Tell which pairs Holm rejects when each has its floor in place of a smaller p, all of them at once.

    It never becomes True when any p or floor rises, as Holm's own decision does not: so bounds of all p bound it.

    Parameters
    ----------
    p, floor, alpha
        As in `beyond_reach`.

    Examples
    --------
    >>> holm_within_reach(np.array([0.001, 0.01, 0.4]), np.array([0.016, 0.03, 0.0]), 0.05).tolist()
    [True, False, False]
    """
    with np.errstate(invalid="ignore"):  # nan is not rejected
        return np.asarray(holm(np.maximum(p, floor)) <= alpha)
