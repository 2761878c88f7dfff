"""The test set itself, without resampling: scores, gains and their errors, and which system of a pair is ahead."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.products.contract import FLOAT64_LIMIT, largest_magnitude
from pipeline.resampling.standard_errors.influence import count_discordant, left_out_of, pair_errors

__all__ = ["TOLERANCE", "observe", "ratio_factor", "score_observed"]

TOLERANCE = 2.0**-40
"""Differences up to this share of |s_A| + |s_B| (observed) are "equal" where no exact comparison exists."""

_RATIO_SLACK = 1e-9  # a ratio metric may order its operations as it likes, but it must be the same function


def observe(measure: Measure, *, se: NDArray[np.float64] | None = None) -> Observed:
    """Score the test set itself, and compare its systems.

    Ratios are ordered by exact integer cross-multiplication, whatever their denominators; other scores are equal within
    `TOLERANCE`. Standard errors are within strata where the measure has any.

    Parameters
    ----------
    measure : Measure
    se : (pair,) float64, optional
        Standard errors, if `pipeline.resampling.standard_errors.influence.pair_moments` has already computed them.

    Returns
    -------
    Observed
    """
    score = score_observed(measure)
    discordant = count_discordant(measure.statistics, measure.pairs)
    return Observed(
        score=score,
        delta=_deltas(measure, score),
        se=pair_errors(left_out_of(measure), measure.pairs, stratum=measure.stratum) if se is None else se,
        discordant=discordant,
        identical=discordant == 0,
    )


def score_observed(measure: Measure) -> NDArray[np.float64]:
    """Score every system on the whole test set; nan where undefined."""
    units = len(measure.statistics)
    bound = units * largest_magnitude(measure.statistics)
    if bound >= FLOAT64_LIMIT:
        raise ValueError(f"totals up to {bound} are not exact: float64 holds integers below {FLOAT64_LIMIT}")
    totals = measure.statistics.sum(axis=0).T.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is a defined outcome: nan
        score = np.array(measure.score(totals), np.float64)
    if score.shape != (totals.shape[1],):
        raise ValueError(f"the score of {totals.shape} statistics has shape {score.shape}, not {(totals.shape[1],)}")
    score[~np.isfinite(score)] = np.nan
    if measure.form == "ratio":
        _check_ratio(totals, score, ratio_factor(measure))
    return score


def ratio_factor(measure: Measure) -> float:
    """Return the factor of factor × statistics[0] / statistics[1]."""
    factor = float(measure.score(np.ones((2, 1)))[0])
    if not 0 < factor < np.inf:
        raise ValueError(f"a ratio has a positive factor, not {factor}: order its numerator or its direction instead")
    return factor


def _check_ratio(totals: NDArray[np.float64], score: NDArray[np.float64], factor: float) -> None:
    defined = (totals[1] > 0) & np.isfinite(score)
    expected = factor * totals[0, defined] / totals[1, defined]
    wrong = np.flatnonzero(np.abs(score[defined] - expected) > _RATIO_SLACK * np.abs(expected))
    if wrong.size:
        raise ValueError(f"a ratio scores {factor} × s[0]/s[1] = {expected[wrong[0]]}, not {score[defined][wrong[0]]}")


def _deltas(measure: Measure, score: NDArray[np.float64]) -> NDArray[np.float64]:
    direction = 1.0 if measure.higher_is_better else -1.0
    first, second = score[measure.pairs[:, 0]], score[measure.pairs[:, 1]]
    delta = direction * (first - second)
    delta[np.abs(delta) <= TOLERANCE * (np.abs(first) + np.abs(second))] = 0.0
    if measure.form == "ratio":
        defined, gain = _ratio_gains(measure, ratio_factor(measure) * direction)
        # The difference of the rounded scores, unless rounding lost the order.
        kept = (delta * gain > 0) & (gain != 0)
        delta = np.where(defined & ~kept, gain, delta)
    return delta


def _ratio_gains(measure: Measure, factor: float) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return where both denominators of (pair,) are positive, and factor × (n_a c_b − n_b c_a) / (c_a c_b), rounded twice."""
    totals = measure.statistics.sum(axis=0)
    largest = largest_magnitude(totals)
    # Whole numbers of Python are divided without rounding them first; those below 2^53 are floats as they are, all at once.
    exact = totals if 2 * largest * largest < FLOAT64_LIMIT else totals.astype(object)
    (n_a, c_a), (n_b, c_b) = exact[measure.pairs[:, 0]].T, exact[measure.pairs[:, 1]].T
    defined = np.asarray((c_a > 0) & (c_b > 0), np.bool_)
    crossed, denominator = n_a * c_b - n_b * c_a, np.where(defined, c_a * c_b, 1)
    return defined, np.asarray(factor * (crossed / denominator), np.float64) + 0.0  # no −0.0
