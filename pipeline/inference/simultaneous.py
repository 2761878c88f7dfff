"""Intervals that hold for all pairs of a family together. This module reads their common factor off the replicates' maxima."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.intervals import INTERVAL_REASONS, Intervals, refuse
from pipeline.inference.max_t import MaxT

__all__ = ["Simultaneous", "simultaneous"]


@dataclass(frozen=True, eq=False)
class Simultaneous:
    """The intervals δ ± c · se of a family.

    Parameters
    ----------
    intervals : Intervals
        Of all pairs of the measure; those outside the family have none.
    factor : float
        c; nan without members or with too few replicates, where more than α of the replicates are undefined for some pair, and
        where units are so few that c is infinite.
    """

    intervals: Intervals
    factor: float


def simultaneous(
    max_t: MaxT,
    *,
    delta: NDArray[np.float64],
    identical: NDArray[np.bool_],
    se: NDArray[np.float64],
    alpha: float = 0.05,
) -> Simultaneous:
    """Return δ_j ± c · se_j, c the 1 − α quantile (type 7) over replicates of max_j |δ*_j − δ_j| / se_j.

    Where the family is corrected for few units, c is the t that is corrected to this quantile. They belong to single-step max-T:
    a pair's interval leaves 0 out where #(max ≥ |δ| / se, corrected) is at most α of the replicates, up to one order statistic.
    Up to that one, step-down max-T rejects these pairs; it may reject more.

    Parameters
    ----------
    max_t : MaxT
        Of a two-sided family; its maxima and its correction are used.
    delta, identical, se : (pair,)
        As in `pipeline.resampling.measures.Observed`, of all pairs of the measure.
    alpha : float, optional

    Examples
    --------
    >>> from pipeline.inference.families import order_family
    >>> from pipeline.inference.max_t import StepDown
    >>> given = {"delta": np.array([1.0]), "identical": np.array([False]), "se": np.array([0.5])}
    >>> counts = StepDown(order_family(np.array([[0, 1]]), score=np.array([1.0, 0.0]), **given))
    >>> counts.add(np.array([np.linspace(-1.0, 3.0, 101), np.zeros(101)]))
    >>> found = simultaneous(counts.result(), **given, alpha=0.1)
    >>> round(found.factor, 6), found.intervals.lo.round(6).tolist(), found.intervals.hi.round(6).tolist()
    (3.6, [-0.8], [2.8])
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is between 0 and 1, not {alpha}")
    family, replicates = max_t.family, len(max_t.largest)
    if not family.two_sided:
        raise ValueError(f"intervals have two sides, the family is tested for {family.alternative!r}")
    enough = (replicates + 1) * alpha >= 1 - 1e-9
    factor = np.nan
    if enough and len(family.pair):
        maxima = np.where(np.isnan(max_t.largest), np.inf, max_t.largest)
        # An interpolation from or towards infinity is no number, and numpy warns of it.
        if np.isfinite(np.quantile(maxima, 1 - alpha, method="higher")):
            factor = float(np.quantile(maxima, 1 - alpha))
            factor = factor if family.tails is None else family.tails.from_replicates(factor)
    short = "undefined" if enough else "too few replicates"
    if np.isinf(factor):
        factor, short = np.nan, "no standard error"  # that of one unit says nothing
    member = np.zeros(len(delta), np.bool_)
    member[family.pair] = True
    refused = refuse(delta, identical, se, slack=np.zeros(len(delta)), replicates=np.full(len(delta), replicates))
    outside, lacking = INTERVAL_REASONS.index("not in the family"), INTERVAL_REASONS.index(short)
    unknown = np.full(len(delta), np.isnan(factor))
    reason = np.select([refused > 0, ~member, unknown], [refused, outside, lacking]).astype(np.int8)
    half = np.where(reason == 0, factor * se, np.nan)
    found = Intervals("simultaneous", 1 - alpha, delta - half, delta + half, reason, np.full(len(delta), replicates))
    return Simultaneous(found, factor)
