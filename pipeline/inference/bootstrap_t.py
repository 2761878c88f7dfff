"""Bootstrap-t intervals, where each replicate has a standard error of its own. This module turns quantiles of t* into them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.intervals import INTERVAL_REASONS, Intervals, refuse
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.observe import ratio_factor
from pipeline.resampling.studentise import BEYOND, studentise

__all__ = ["bootstrap_t"]


def bootstrap_t(measure: Measure, observed: Observed, *, draws: Draws, replicates: int = 9999, alpha: float = 0.05) -> Intervals:
    """Give [δ − q(1 − α/2) · se, δ − q(α/2) · se], q the quantiles (type 7) of t* = (δ* − δ) / se*.

    Efron and Tibshirani 1993, doi:10.1201/9780429246593, chapter 12. Only ratios and means have it; pairs of another metric
    have the reason "not a ratio".

    Parameters
    ----------
    measure, observed
        The pairs, and their gains.
    draws : Draws
        The stream of the paired bootstrap: its first ``replicates`` are drawn again.
    replicates : int, optional
    alpha : float, optional

    Returns
    -------
    Intervals
        "undefined" where too many replicates have no spread of their own: an end would be infinite.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is between 0 and 1, not {alpha}")
    pairs = len(measure.pairs)
    nothing = np.full(pairs, np.nan)
    if measure.form != "ratio":
        code = np.full(pairs, INTERVAL_REASONS.index("not a ratio"), np.int8)
        return Intervals("studentised", 1 - alpha, nothing, nothing.copy(), code, np.zeros(pairs, np.int64))
    factor = ratio_factor(measure)
    found = studentise(draws, measure, factor, replicates=replicates, probabilities=[alpha / 2, 1 - alpha / 2])
    low, high = (found.t if measure.higher_is_better else -found.t[:, ::-1]).T
    slack = np.abs(observed.score[measure.pairs]).sum(axis=1) * 2.0**-40
    refused = refuse(observed.delta, observed.identical, found.se, slack=slack, replicates=found.replicates)
    short = (found.replicates + 1) * alpha / 2 < 1 - 1e-9
    undefined = np.abs(found.t).max(axis=1) > BEYOND
    places = [INTERVAL_REASONS.index(name) for name in ("too few replicates", "undefined")]
    reason = np.select([refused > 0, short, undefined], [refused, *places]).astype(np.int8)
    lo, hi = (_end(observed.delta, t, found.se, reason) for t in (high, low))
    return Intervals("studentised", 1 - alpha, lo, hi, reason, found.replicates)


def _end(
    delta: NDArray[np.float64], t: NDArray[np.float64], se: NDArray[np.float64], reason: NDArray[np.int8]
) -> NDArray[np.float64]:
    return np.where(reason == 0, delta - np.where(reason == 0, t, 0.0) * se, np.nan)
