"""What a test of few units can and cannot say. This module knows the smallest p there can be, and how often a bootstrap errs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

from pipeline.inference.multiplicity import holm

__all__ = ["beyond_reach", "expected_rejection", "sign_flip_floor"]


def sign_flip_floor(discordant: NDArray[np.integer]) -> NDArray[np.float64]:
    """Give the smallest two-sided p of a sign-flip, sign or McNemar test: 2^(1 − m) with m discordant units, at most 1.

    Examples
    --------
    >>> sign_flip_floor(np.array([0, 1, 5, 6])).tolist()
    [1.0, 1.0, 0.0625, 0.03125]
    """
    return np.minimum(1.0, np.exp2(1.0 - np.asarray(discordant, np.float64)))


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
    """Tell which pairs are rejected although no sign-flip test could be small enough for Holm to reject it in their place.

    Parameters
    ----------
    p : (pair,) float64
        p-values of one family; nan where there is none.
    floor : (pair,) float64
        The smallest p that a sign-flip test can have, from `sign_flip_floor`.
    alpha : float
        Level of the family.
    rejected : (pair,) bool, optional
        By an adjustment of replicates, which cannot tell what another p of a pair would become: 2^(1 − m) then takes Holm's
        step, the number of pairs without a smaller p, whether or not Holm would reject those before it. Without it Holm decides.

    Examples
    --------
    >>> beyond_reach(np.array([0.034]), np.array([0.0625]), 0.05).tolist()
    [True]
    """
    if rejected is not None:
        ordered = np.sort(p[np.isfinite(p)])
        steps = len(ordered) - np.searchsorted(ordered, floor, side="left")
        return np.asarray(rejected & (floor > p) & (floor * np.maximum(steps, 1) > alpha))
    result = np.zeros(len(p), np.bool_)
    for pair in np.flatnonzero((holm(p) <= alpha) & (floor > p)):
        asked = p.copy()
        asked[pair] = floor[pair]
        result[pair] = holm(asked)[pair] > alpha
    return result
