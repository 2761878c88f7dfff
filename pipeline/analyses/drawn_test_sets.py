"""A test set that an analysis draws: its pairs compared by the bootstrap, as if it were all there is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.interfaces import ScoredStatistics
from pipeline.resampling.address import count_cells
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import COUNTS, SUMS, Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample

__all__ = ["DrawnPairs", "bootstrap_pairs"]

_ABOVE = COUNTS.index("above_twice_delta")
_SHIFT, _SQUARED = SUMS.index("shift"), SUMS.index("squared_shift")


@dataclass(frozen=True, eq=False)
class DrawnPairs:
    """The pairs of a test set.

    Parameters
    ----------
    delta : (pair,) float64
        Gain of the first system over the second, above zero where it is better; nan where a score is undefined.
    se : (pair,) float64
        Jackknife standard error.
    p : (pair,) float64
        One-sided and strict, of the pair turned so that its gain is positive: #(δ* > 2δ) / b; nan without a gain.
    spread : (pair,) float64
        Standard deviation of δ* over the replicates.
    """

    delta: NDArray[np.float64]
    se: NDArray[np.float64]
    p: NDArray[np.float64]
    spread: NDArray[np.float64]


def bootstrap_pairs(
    statistics: NDArray[np.int64], scored: ScoredStatistics, pairs: NDArray[np.int64], draws: Draws, *, replicates: int
) -> DrawnPairs:
    """Bootstrap a test set.

    Parameters
    ----------
    statistics : (unit, system, statistic) int64
    scored : ScoredStatistics
        What scores the sums.
    pairs : (pair, 2) int64
        Positions of systems.
    draws : Draws
        As many units as there are; how many are drawn may differ.
    replicates : int
    """
    measure = Measure(
        statistics=np.ascontiguousarray(statistics),
        score=scored.score,
        form=scored.form,
        higher_is_better=scored.higher_is_better,
        pairs=pairs,
        keep=np.zeros(statistics.shape[1], np.bool_),
    )
    seen = observe(measure)
    (counted,) = resample(draws, [measure], cells=range(count_cells(replicates)), replicates=replicates, observed=[seen])
    defined = replicates - counted.empty.sum(axis=1)
    usable = (defined > 0) & np.isfinite(seen.delta) & (seen.delta != 0)
    known = np.maximum(defined, 1)
    sums = counted.sums.sum(axis=1)
    variance = sums[:, _SQUARED] / known - (sums[:, _SHIFT] / known) ** 2
    return DrawnPairs(
        delta=seen.delta,
        se=seen.se,
        p=np.where(usable, counted.counts[:, :, _ABOVE].sum(axis=1) / known, np.nan),
        spread=np.where(defined > 0, np.sqrt(np.maximum(variance, 0.0)), np.nan),
    )
