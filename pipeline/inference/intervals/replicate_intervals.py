"""Confidence intervals of the gain of every pair, from kept replicates: four methods, and when a pair has none."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.numerics.special import ndtr, ndtri
from pipeline.resampling.measures import COUNTS
from pipeline.resampling.observe import TOLERANCE
from pipeline.resampling.quantiles import gain_quantiles

__all__ = ["INTERVAL_REASONS", "INVERTED_P", "METHODS", "Intervals", "Inversion", "bca_levels", "intervals", "refuse"]

METHODS = ("symmetric", "basic", "percentile", "bca")
"""δ ± q(|δ* − δ|) · 2δ less the quantiles of δ* · the quantiles of δ* · the same at corrected levels."""

INTERVAL_REASONS = (
    "",
    "identical",
    "undefined",
    "no standard error",
    "no spread",
    "too few replicates",
    "no correction",
    "not in the family",
    "not a ratio",
    "rounding",
    "not 0/1",
    "no max-t",
)
"""Why a pair has no interval: no unit differs; δ, or what is needed of its replicates, is undefined; one unit, or a score that
does not exist without some unit; no unit moves the gain; a quantile beyond the last replicate; z0 or a of BCa is undefined; a
simultaneous interval of a pair that is not tested; a bootstrap-t interval of a score without a standard error a replicate, or
where those of too many are lost in rounding; an interval of rates, of a score that is no mean of two values; a simultaneous
interval where no max-T is made."""

_SOME = 256  # replicates that show the size of a system's scores; a single one may be undefined
_SLACK = 1e-9  # (b + 1) α may miss a whole number by a rounding error


@dataclass(frozen=True)
class Inversion:
    """The p-value that an interval at level 1 − α inverts.

    Parameters
    ----------
    conventions : tuple of str
        Names of `pipeline.inference.p_values.CONVENTIONS`. If there are two, the first leaves ties out and the second counts them.
    share : float
        The interval decides as p ≤ share · α.
    """

    conventions: tuple[str, ...]
    share: float


INVERTED_P: Mapping[str, Inversion | None] = {
    "symmetric": Inversion(("two-sided",), 1.0),
    # #(δ* ≥ 2δ) is no convention of its own: the strict one belongs to 0 as an end of the interval, not as a point inside.
    "basic": Inversion(("one-sided",), 0.5),
    "percentile": Inversion(("below-zero", "at-or-below-zero"), 0.5),
    "bca": None,  # its own corrected level, which no count is
}
"""By method; None where no p of the package belongs to it.

With b replicates, a p of s hits and h = share · α · (b − 1): with s ≤ ⌊h⌋ the interval leaves 0 out, with s > ⌈h⌉ it has 0
inside. Only at s = ⌈h⌉, where h is not a whole number, does the interpolation between two order statistics decide; where
share · α · b is whole, that is p = share · α. An end at 0 is inside for a p that counts ties, and outside for one that does not.
"""


@dataclass(frozen=True, eq=False)
class Intervals:
    """One interval for each pair.

    Parameters
    ----------
    method : str
    level : float
        1 − α, for both sides together.
    lo, hi : (pair,) float64
        Of the signed gain; nan where there is none. An end within `TOLERANCE` times the scores from 0 is 0.
    reason : (pair,) int8
        Position in `INTERVAL_REASONS`.
    replicates : (pair,) int64
        Defined replicates, from which the quantiles come.
    """

    method: str
    level: float
    lo: NDArray[np.float64]
    hi: NDArray[np.float64]
    reason: NDArray[np.int8]
    replicates: NDArray[np.int64]


def intervals(
    scores: NDArray[np.float64],
    pairs: NDArray[np.integer],
    *,
    delta: NDArray[np.float64],
    identical: NDArray[np.bool_],
    se: NDArray[np.float64],
    higher_is_better: bool = True,
    alpha: float = 0.05,
    methods: Collection[str] = METHODS,
    acceleration: NDArray[np.float64] | None = None,
    counts: NDArray[np.integer] | None = None,
    defined: NDArray[np.integer] | None = None,
) -> dict[str, Intervals]:
    """Return confidence intervals of all pairs by several methods, in one pass over the kept replicates.

    Parameters
    ----------
    scores : (row, replicate) float64
        Kept replicates of the paired bootstrap, as the metric gives them; nan where undefined.
    pairs : (pair, 2) int
        Rows of ``scores``.
    delta, identical, se : (pair,)
        As in `pipeline.resampling.measures.Observed`: delta > 0 where the first of the pair is better.
    higher_is_better : bool, optional
    alpha : float, optional
    methods : collection of str, optional
        Of `METHODS`.
    acceleration : (pair,) float64, optional
        From `pipeline.resampling.standard_errors.influence.pair_moments`, of the scores as they are; for ``bca``.
    counts : (pair, 8) int, optional
        From a pass over all replicates, kept or not, summed over cells; pairs are in the order in which their gain is not negative.
        For ``bca``.
    defined : (pair,) int, optional
        Replicates that were counted, without the empty ones; for ``bca``.

    Returns
    -------
    dict of str to Intervals
        In the order of ``methods``. Swapping the systems of a pair with δ ≠ 0 mirrors its intervals.

    Examples
    --------
    >>> scores = np.array([np.arange(101.0), np.full(101, 40.0)])
    >>> given = {"delta": np.array([8.0]), "identical": np.array([False]), "se": np.array([30.0])}
    >>> found = intervals(scores, np.array([[0, 1]]), **given, alpha=0.1, methods=["percentile", "basic", "symmetric"])
    >>> {name: (one.lo.tolist(), one.hi.tolist()) for name, one in found.items()}
    {'percentile': ([-35.0], [55.0]), 'basic': ([-39.0], [51.0]), 'symmetric': ([-37.0], [53.0])}
    """
    _check(methods, alpha, len(pairs), delta, identical, se)
    # Every pair is oriented so that its gain is not negative, and its intervals are turned back at the end.
    behind = delta < 0
    turned = behind if higher_is_better else ~behind
    pairs = np.asarray(pairs, np.int64).reshape(-1, 2)
    rows = np.where(turned[:, None], pairs[:, ::-1], pairs)
    ahead = np.abs(delta)
    plain = np.tile([alpha / 2, 1 - alpha / 2], (len(pairs), 1))
    levels = dict.fromkeys([name for name in methods if name in ("basic", "percentile")], plain)
    if "bca" in methods:
        if acceleration is None or counts is None or defined is None:
            raise ValueError("bca needs acceleration, counts and defined replicates")
        levels["bca"] = bca_levels(counts, defined, acceleration=np.where(turned, -acceleration, acceleration), alpha=alpha)
    asked = np.concatenate([np.empty((len(pairs), 0)), *levels.values()], axis=1)
    distances = [1 - alpha] if "symmetric" in methods else []
    quantiles = gain_quantiles(scores, rows, delta=ahead, probabilities=asked, distances=distances)
    sizes = np.fmax.reduce(np.abs(scores[:, :_SOME]), axis=1) if scores.shape[1] else np.zeros(len(scores))
    slack = TOLERANCE * np.nan_to_num(sizes)[rows].sum(axis=1)
    refused = refuse(delta, identical, se, slack=slack, replicates=quantiles.replicates)
    result = {}
    for name in methods:
        if name == "symmetric":
            tail = np.full(len(pairs), alpha)
            lo, hi = ahead - quantiles.distance[:, 0], ahead + quantiles.distance[:, 0]
        else:
            at = 2 * list(levels).index(name)
            lo, hi = quantiles.gain[:, at], quantiles.gain[:, at + 1]
            lo, hi = (2 * ahead - hi, 2 * ahead - lo) if name == "basic" else (lo, hi)
            tail = np.minimum(levels[name], 1 - levels[name]).min(axis=1)
        short = (quantiles.replicates + 1) * tail < 1 - _SLACK  # of nan it is False
        reason = np.select([refused > 0, np.isnan(tail), short], [refused, 6, 5]).astype(np.int8)
        lo, hi = (np.where(reason > 0, np.nan, np.where(np.abs(end) <= slack, 0.0, end)) for end in (lo, hi))
        lo, hi = np.where(behind, -hi, lo), np.where(behind, -lo, hi)
        result[name] = Intervals(name, 1 - alpha, lo, hi, reason, quantiles.replicates)
    return result


def bca_levels(
    counts: NDArray[np.integer], defined: NDArray[np.integer], *, acceleration: NDArray[np.float64], alpha: float
) -> NDArray[np.float64]:
    """Return the levels at which BCa takes its quantiles (Efron 1987, doi:10.1080/01621459.1987.10478410).

    Φ(z0 + (z0 + z) / (1 − a (z0 + z))) with z = ± Φ⁻¹(1 − α/2) and z0 = Φ⁻¹ of #(δ* < δ) + ½ #(δ* = δ), as a share.

    Parameters
    ----------
    counts : (pair, 8) int
        In the order of `pipeline.resampling.measures.COUNTS`.
    defined : (pair,) int
        Replicates counted.
    acceleration : (pair,) float64
        Of the gain in the same direction as the counts.
    alpha : float

    Returns
    -------
    (pair, 2) float64
        nan where z0 is not finite, a is undefined, or 1 − a (z0 + z) is not positive, so that no quantile corresponds.

    Examples
    --------
    Without bias and skewness the levels are those of the percentile method; here half of the ties count as below.

    >>> bca_levels(np.array([[0, 0, 400, 200, 0, 0, -1, -1]]), np.array([1000]), acceleration=np.zeros(1), alpha=0.1).round(6)
    array([[0.05, 0.95]])
    """
    below, at = (counts[:, COUNTS.index(name)].astype(np.float64) for name in ("below_delta", "at_delta"))
    with np.errstate(divide="ignore", invalid="ignore"):  # without replicates 0/0; z0 of a share of 0 or 1 is infinite
        bias = ndtri((below + at / 2) / defined)[:, None]
        shifted = bias + np.array([ndtri(alpha / 2), -ndtri(alpha / 2)])
        divisor = 1 - acceleration[:, None] * shifted
        levels = ndtr(bias + shifted / divisor)
        levels[~(np.isfinite(bias) & (divisor > 0)).all(axis=1)] = np.nan
    return np.asarray(levels, np.float64)


def refuse(
    delta: NDArray[np.float64],
    identical: NDArray[np.bool_],
    se: NDArray[np.float64],
    *,
    slack: NDArray[np.float64],
    replicates: NDArray[np.integer],
) -> NDArray[np.int8]:
    """Return why a pair has no interval by any method, as positions in `INTERVAL_REASONS`; 0 for pairs that have one."""
    undefined = ~np.isfinite(delta) | (replicates == 0)
    with np.errstate(invalid="ignore"):  # a comparison with nan is False
        return np.select([identical, undefined, ~np.isfinite(se), se <= slack], [1, 2, 3, 4]).astype(np.int8)


def _check(methods: Collection[str], alpha: float, pairs: int, *given: NDArray[np.generic]) -> None:
    unknown = sorted(set(methods) - set(METHODS))
    if unknown:
        raise ValueError(f"unknown methods of intervals: {', '.join(unknown)}; there are {', '.join(METHODS)}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is between 0 and 1, not {alpha}")
    if any(values.shape != (pairs,) for values in given):
        raise ValueError(f"delta, identical and se have shapes {[values.shape for values in given]}, there are {pairs} pairs")
