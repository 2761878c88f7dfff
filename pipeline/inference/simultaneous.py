"""Intervals that hold for all pairs of a family together. This module reads their common factor off the replicates' maxima."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.intervals import INTERVAL_REASONS, Intervals, refuse
from pipeline.resampling.maxima import Family, family_maxima

__all__ = ["Simultaneous", "simultaneous"]


@dataclass(frozen=True, eq=False)
class Simultaneous:
    """The intervals δ ± c · se of a family.

    Parameters
    ----------
    intervals : Intervals
        Of all pairs of the measure; those outside the family have none.
    factor : float
        c; nan without members or with too few replicates, and where more than α of the replicates are undefined for some pair.
    """

    intervals: Intervals
    factor: float


def simultaneous(
    scores: NDArray[np.float64],
    family: Family,
    *,
    delta: NDArray[np.float64],
    identical: NDArray[np.bool_],
    se: NDArray[np.float64],
    alpha: float = 0.05,
) -> Simultaneous:
    """Give δ_j ± c · se_j, c the 1 − α quantile (type 7) over replicates of max_j |δ*_j − δ_j| / se_j.

    They belong to single-step max-T: a pair's interval leaves 0 out where #(max ≥ |δ| / se) is at most α of the replicates, up
    to one order statistic. Up to that one, step-down max-T rejects these pairs; it may reject more.

    Parameters
    ----------
    scores : (row, replicate) float64
        Kept replicates of the family's systems, in its order.
    family : Family
        From `pipeline.resampling.maxima.make_family`.
    delta, identical, se : (pair,)
        As in `pipeline.resampling.measures.Observed`, of all pairs of the measure.
    alpha : float, optional

    Examples
    --------
    >>> one, two = np.array([1]), np.array([2.0])
    >>> family = Family(np.array([0]), np.array([0, 1]), np.array([0]), one, np.array([1.0]), np.array([0.5]), two, two)
    >>> scores = np.array([np.linspace(-1.0, 3.0, 101), np.zeros(101)])
    >>> given = {"delta": np.array([1.0]), "identical": np.array([False]), "se": np.array([0.5])}
    >>> found = simultaneous(scores, family, **given, alpha=0.1)
    >>> round(found.factor, 6), found.intervals.lo.round(6).tolist(), found.intervals.hi.round(6).tolist()
    (3.6, [-0.8], [2.8])
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is between 0 and 1, not {alpha}")
    replicates = scores.shape[1]
    enough = (replicates + 1) * alpha >= 1 - 1e-9
    factor = np.nan
    if enough and len(family.pair):
        maxima = family_maxima(scores, family)
        # An interpolation from or towards infinity is no number, and numpy warns of it.
        if np.isfinite(np.quantile(maxima, 1 - alpha, method="higher")):
            factor = float(np.quantile(maxima, 1 - alpha))
    member = np.zeros(len(delta), np.bool_)
    member[family.pair] = True
    refused = refuse(delta, identical, se, slack=np.zeros(len(delta)), replicates=np.full(len(delta), replicates))
    outside = INTERVAL_REASONS.index("not in the family")
    short = INTERVAL_REASONS.index("undefined" if enough else "too few replicates")
    reason = np.select([refused > 0, ~member, np.full(len(delta), np.isnan(factor))], [refused, outside, short]).astype(np.int8)
    half = np.where(reason == 0, factor * se, np.nan)
    found = Intervals("simultaneous", 1 - alpha, delta - half, delta + half, reason, np.full(len(delta), replicates))
    return Simultaneous(found, factor)
