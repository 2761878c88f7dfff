"""What replicates must reach of a pair whose p has a floor: so far that they reach it no more often than the floor allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.observe import TOLERANCE

__all__ = ["reach_of_floors"]


def reach_of_floors(
    scores: NDArray[np.float64],
    pairs: NDArray[np.integer],
    *,
    score: NDArray[np.float64],
    delta: NDArray[np.float64],
    se: NDArray[np.float64],
    floor: NDArray[np.float64],
    higher_is_better: bool = True,
) -> NDArray[np.float64]:
    """Return the least z that a pair's own replicates t* = |δ* − δ| / se reach in at most the floor of its p-value.

    A p of max-T that compares the replicates of all pairs with it is then the floor corrected for the number of pairs, and the
    floor itself, or less, of a pair alone. It is read off the pair's own replicates: those of few discordant units take few
    values, and Gaussian ones would have a step between two of them.

    Parameters
    ----------
    scores : (system, replicate) float64
        Kept scores, nan where undefined.
    pairs : (pair, 2) int
    score : (system,) float64
        As observed.
    delta, se : (pair,) float64
    floor : (pair,) float64
        From `pipeline.inference.few_units.evidence_floor`.
    higher_is_better : bool, optional

    Returns
    -------
    (pair,) float64
        Infinite where the floor is below what so many replicates can tell, and where there is no standard error.

    Examples
    --------
    One replicate of four may reach it, as (1 + 1)/(4 + 1) is .4; then z is above 2:

    >>> scores = np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0]])
    >>> given = {"score": np.array([1.0, 0.0]), "delta": np.ones(1), "se": np.ones(1)}
    >>> reach_of_floors(scores, np.array([[0, 1]]), **given, floor=np.array([0.4])).round(6).tolist()
    [2.0]
    """
    reach = np.full(len(pairs), np.inf)
    sign = 1.0 if higher_is_better else -1.0
    asked = (floor * (scores.shape[1] + 1) >= 1) & (se > 0) & np.isfinite(delta)
    for pair in np.flatnonzero(asked).tolist():
        a, b = pairs[pair]
        t = np.abs(sign * (scores[a] - scores[b]) - delta[pair]) / se[pair]
        t = t[~np.isnan(t)]
        allowed = int(floor[pair] * (len(t) + 1)) - 1
        if allowed < 0:
            continue
        if allowed >= len(t):
            reach[pair] = 0.0
            continue
        slack = TOLERANCE * np.abs(score[pairs[pair]]).sum() / se[pair]
        # Above the largest that is one too many, further than what counts as equal to it.
        reach[pair] = np.partition(t, len(t) - 1 - allowed)[len(t) - 1 - allowed] + 2 * slack
    return reach
