"""The convention that depends on a mean and so needs a second pass over the replicates: that of Riezler and Maxwell.

The mean is that of the kept replicates only: the number is what a program that keeps all its replicates would print for these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass, field
from pipeline.inference.p_values import REASONS, clopper_pearson
from pipeline.resampling.comparison.compare import fold_lanes
from pipeline.resampling.measures import LANES
from pipeline.resampling.observe import TOLERANCE

__all__ = ["Folded", "riezler_maxwell"]

_TILE = 1024  # replicates; a multiple of LANES: rows of many systems stay in the cache while pairs are walked
_LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Folded:
    """p-values of the convention ``riezler-maxwell``.

    Parameters
    ----------
    p : (pair,) float64
        (hits + 1) / (b + 1); 1 where the systems are identical or score the same, nan without replicates.
    own : (pair,) float64
        The same without exceptions: what the published procedure prints.
    p_error : (pair,) float64
        Half the width of the 95 % Clopper-Pearson interval, which treats the mean as known.
    mean_absolute : (pair,) float64
        mean |δ*|.
    reason : (pair,) int8
        Position in `pipeline.inference.p_values.REASONS`.
    hits, above : (pair,) int64
        Replicates with |δ*| − mean |δ*| ≥ |δ|, and with >, up to the package's tolerance for ties.
    replicates : (pair,) int64
        b, the replicates in which both scores are defined.
    """

    p: NDArray[np.float64]
    own: NDArray[np.float64]
    p_error: NDArray[np.float64]
    mean_absolute: NDArray[np.float64]
    reason: NDArray[np.int8]
    hits: NDArray[np.int64] = field(repr=False)
    above: NDArray[np.int64] = field(repr=False)
    replicates: NDArray[np.int64] = field(repr=False)


def riezler_maxwell(
    replicates: NDArray[np.float64],
    pairs: NDArray[np.int64],
    *,
    score: NDArray[np.float64],
    delta: NDArray[np.float64],
    identical: NDArray[np.bool_],
) -> Folded:
    """Return (#(|δ*| − mean |δ*| ≥ |δ|) + 1) / (b + 1) for all pairs (Riezler and Maxwell 2005, Fig. 2, W05-0908).

    It compares |δ*|, folded from a distribution about δ, with one about 0: `convention_levels.gaussian_rejection` says how often
    that is wrong. sacreBLEU and Moses do the same with > instead of ≥.

    Parameters
    ----------
    replicates : (system, replicate) float64
        Scores of bootstrap replicates, such as `PairCounts.score`; nan where undefined.
    pairs : (pair, 2) int64
        Rows of ``replicates``.
    score : (system,) float64
        Observed scores.
    delta : (pair,) float64
        Observed gains, 0 exactly where scores are equal; the sign does not matter.
    identical : (pair,) bool

    Examples
    --------
    >>> found = riezler_maxwell(
    ...     np.array([[3.0, 1.0, 5.0, 2.0], [2.0, 2.0, 2.0, 2.0]]),
    ...     np.array([[0, 1]]),
    ...     score=np.array([3.0, 2.0]),
    ...     delta=np.array([1.0]),
    ...     identical=np.array([False]),
    ... )
    >>> found.mean_absolute.tolist(), found.hits.tolist(), found.p.tolist()
    ([1.25], [1], [0.4])
    """
    if replicates.ndim != 2 or score.shape != replicates.shape[:1]:
        raise ValueError(f"replicates are (system, replicate) of systems with a score, not {replicates.shape} and {score.shape}")
    if not len(pairs) == len(delta) == len(identical):
        raise ValueError(f"{len(pairs)} pairs, {len(delta)} gains and {len(identical)} that are identical or not")
    rows = np.ascontiguousarray(pairs, np.int64)
    values = np.ascontiguousarray(replicates, np.float64)
    lanes, defined = np.zeros((len(rows), LANES)), np.zeros(len(rows), np.int64)
    _add_sizes(values, rows, lanes, defined)
    with np.errstate(divide="ignore", invalid="ignore"):  # no replicate: 0/0 is nan, and the reason says so
        mean = fold_lanes(lanes) / defined
    slack = TOLERANCE * np.abs(score[rows]).sum(axis=1)
    hits, above = np.zeros((2, len(rows)), np.int64)
    _count_beyond(values, rows, mean + np.abs(delta) - slack, mean + np.abs(delta) + slack, hits, above)
    missing = (defined == 0) | np.isnan(delta)
    own = np.where(missing, np.nan, (hits + 1) / (defined + 1))
    why = ("identical", "no defined replicate", "no order")
    reason = np.select([identical, missing, delta == 0], [REASONS.index(name) for name in why])
    certain = identical | (~missing & (delta == 0))
    lo, hi = clopper_pearson(hits, np.maximum(defined, 1), _LEVEL)
    error = np.where(certain, 0.0, np.where(missing, np.nan, (hi - lo) / 2))
    return Folded(np.where(certain, 1.0, own), own, error, mean, reason.astype(np.int8), hits, above, defined)


@bare_kernel
def _add_sizes(
    values: NDArray[np.float64], pairs: NDArray[np.int64], lanes: NDArray[np.float64], defined: NDArray[np.int64]
) -> None:
    """Add |δ*| of replicate i to lane i mod LANES: the sum vectorises, and its rounding error does not grow with b."""
    for start in range(0, values.shape[1], _TILE):
        stop = min(start + _TILE, values.shape[1])
        whole = (stop - start) // LANES * LANES
        for pair in range(len(pairs)):
            a, b = values[pairs[pair, 0], start:stop], values[pairs[pair, 1], start:stop]
            lane, count = lanes[pair], 0
            for begin in range(0, whole, LANES):
                for place in range(LANES):
                    x = a[begin + place] - b[begin + place]
                    count += x == x
                    x = x if x == x else 0.0
                    lane[place] += abs(x)
            for i in range(whole, stop - start):
                x = a[i] - b[i]
                if x == x:
                    count += 1
                    lane[i - whole] += abs(x)
            defined[pair] += count


@bare_kernel
def _count_beyond(
    values: NDArray[np.float64],
    pairs: NDArray[np.int64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    hits: NDArray[np.int64],
    above: NDArray[np.int64],
) -> None:
    for start in range(0, values.shape[1], _TILE):
        stop = min(start + _TILE, values.shape[1])
        for pair in range(len(pairs)):
            a, b = values[pairs[pair, 0], start:stop], values[pairs[pair, 1], start:stop]
            reach, exceed = 0, 0
            for i in range(stop - start):
                size = abs(a[i] - b[i])
                reach += size >= low[pair]
                exceed += size > high[pair]
            hits[pair] += reach
            above[pair] += exceed
