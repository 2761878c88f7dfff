"""Does one measure order pairs of systems as another does? Soft pairwise accuracy, and a test of two measures by permutation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.squared_differences import SAME, sum_squared_differences
from pipeline.numerics.special import ndtr
from pipeline.resampling.draws import Draws
from pipeline.resampling.swaps import draw_swaps

__all__ = ["UnitValues", "gaussian_p", "permute_measures", "soft_accuracy"]

UnitValues = NDArray[np.float64]
"""(system, unit): what a unit adds to the score of a system, whose score is the mean."""

_ROUNDING = 1e-14
"""Values closer together than this share of their size may be one number, rounded differently: .1 · 3 and .3."""


def soft_accuracy(p: NDArray[np.float64], reference: NDArray[np.float64]) -> float:
    """Return soft pairwise accuracy, 1 − mean |p − p_reference| over pairs.

    The p-values are one-sided, in the same direction of a pair. A pair counts 1 if both measures are sure and agree, 0 if they are
    sure and disagree, and nearly 1 if both are unsure. Thompson, Mathur, Deutsch & Khayrallah 2024, doi:10.18653/v1/2024.wmt-1.118.

    Examples
    --------
    >>> soft_accuracy(np.array([0.0, 1.0, 0.5]), np.array([0.0, 0.0, 0.2]))
    0.5666666666666667
    """
    return float(1 - np.mean(np.abs(p - reference)))


def gaussian_p(values: UnitValues, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the one-sided p that the first of each pair is not better: Φ(−δ/se), with the se of a mean over units.

    Parameters
    ----------
    values : (system, unit) float64
        Larger is better.
    pairs : (pair, 2) int64

    Returns
    -------
    (pair,) float64
        ½ if the two differ only by rounding, 0 or 1 if they differ by the same on all units. ½ for a single unit too, since nothing
        shows how units vary.
    """
    units = values.shape[1]
    first, second = pairs.T
    if units < 2:
        return np.full(len(pairs), 0.5)
    mean = values.mean(axis=1)
    centred = values - mean[:, None]
    rounding = _ROUNDING * (np.abs(mean[first]) + np.abs(mean[second]))
    squares, _ = sum_squared_differences(centred, pairs)
    varies = squares > units * rounding**2
    se = np.sqrt(np.where(varies, squares, 1.0) / units / (units - 1))
    delta = mean[first] - mean[second]
    spread = np.sqrt(np.mean(centred**2, axis=1))
    apart = np.abs(delta) > SAME * (spread[first] + spread[second]) + rounding
    certain = np.where(~apart, 0.5, np.where(delta > 0, 0.0, 1.0))
    return np.asarray(np.where(varies, ndtr(-delta / se), certain), np.float64)


def permute_measures(
    one: UnitValues,
    other: UnitValues,
    reference: NDArray[np.float64],
    pairs: NDArray[np.int64],
    draws: Draws,
    *,
    permutations: int,
) -> tuple[float, float]:
    """Test whether two measures are exchangeable, by the difference of their soft pairwise accuracies.

    Exchangeable is more than equally accurate: measures that are equally accurate but prefer different systems are not
    exchangeable, and the test rejects them more often than its level.

    Each measure is scaled to mean 0 and standard deviation 1 over all its values. If the two are exchangeable, so are their values
    of any system on any unit: in each permutation the two measures' values of a unit are swapped with a chance of one half, for all
    systems together, because a unit is easy or hard for all of them.

    Parameters
    ----------
    one, other : (system, unit) float64
        Values of the two measures, larger is better, on the same systems and units.
    reference : (pair,) float64
        One-sided p of the reference, as `gaussian_p`.
    pairs : (pair, 2) int64
    draws : Draws
        As many units as there are.
    permutations : int

    Returns
    -------
    difference : float
        Accuracy of ``one`` minus that of ``other``.
    p : float
        Two-sided, (hits + 1) / (permutations + 1).
    """
    first, second = _standardise(one), _standardise(other)

    def difference(a: UnitValues, b: UnitValues) -> float:
        return soft_accuracy(gaussian_p(a, pairs), reference) - soft_accuracy(gaussian_p(b, pairs), reference)

    observed = difference(first, second)
    hits = 0
    for number in range(permutations):
        swapped = draw_swaps(draws, number, 1)[0].astype(np.bool_)
        found = difference(np.where(swapped, second, first), np.where(swapped, first, second))
        hits += abs(found) >= abs(observed) - 1e-12
    return observed, (hits + 1) / (permutations + 1)


def _standardise(values: UnitValues) -> UnitValues:
    spread = float(values.std())
    return np.asarray((values - values.mean()) / (spread if spread > 0 else 1.0), np.float64)
