"""How far the scores of one system deviate: over its runs, and over resampled units within a run.

As Clark and others 2011 (https://aclanthology.org/P11-2031) define them: s_test is the sample standard deviation over runs of their
scores on the test set; s_sel the mean over runs of the bootstrap standard deviation of a run's score, in which there is no variance
between runs. MultEval prints them as s_opt and s_sel. `ResampledRuns` has the scores of every run on bootstrap samples of units,
for these and other uses of single replicates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.resampling.address import cell_bounds, count_cells
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas, observe_replicas
from pipeline.resampling.resample import resample

__all__ = ["ResampledRuns", "Spread", "run_spread", "spread_scores"]


class ResampledRuns:
    """Every run, once, as a system of its own in `pipeline.resampling.resample`; all have the same samples.

    Parameters
    ----------
    replicas : Replicas
    """

    def __init__(self, replicas: Replicas) -> None:
        runs, self.of = replicas.distinct.runs, replicas.distinct.of
        statistics = np.ascontiguousarray(runs.transpose(1, 0, 2))
        keep = np.ones(statistics.shape[1], np.bool_)
        none = np.zeros((0, 2), np.int64)
        self._measure = Measure(
            statistics, replicas.score, "general", replicas.higher_is_better, none, keep, follows=replicas.follows
        )

    def score_cell(self, draws: Draws, cell: int, *, replicates: int, memory_bytes: int) -> NDArray[np.float64]:
        """Return (distinct run, replicate) scores of one cell; the runs of system s are the rows of[s]."""
        return resample(
            draws,
            [self._measure],
            cells=range(cell, cell + 1),
            replicates=replicates,
            keep_replicates=replicates,
            memory_bytes=memory_bytes,
        )[0].score


_PART = 1024  # replicates that are summed together, whatever the batch


@dataclass(frozen=True, eq=False)
class Spread:
    """Score and spreads of each system, (system,) float64.

    Parameters
    ----------
    score : (system,) float64
        Mean over runs.
    s_test : (system,) float64
        nan with one run, or where a run has no score.
    s_sel : (system,) float64
        nan where a run has fewer than two defined replicates.
    by_run : tuple of (run,) float64
        The bootstrap standard deviation of each run.
    empty : (system,) int64
        Replicates, over all runs, in which the score was undefined; they are left out.
    """

    score: NDArray[np.float64]
    s_test: NDArray[np.float64]
    s_sel: NDArray[np.float64]
    by_run: tuple[NDArray[np.float64], ...]
    empty: NDArray[np.int64]


def run_spread(scores: NDArray[np.float64]) -> float:
    """Return the sample standard deviation of the scores of runs; nan for one run.

    Examples
    --------
    >>> run_spread(np.array([1.0, 2.0, 3.0]))
    1.0
    """
    return float(np.std(scores, ddof=1)) if len(scores) > 1 else float("nan")


def spread_scores(
    draws: Draws,
    replicas: Replicas,
    *,
    replicates: int,
    memory_bytes: int = 2**26,
    observed: ObservedReplicas | None = None,
) -> Spread:
    """Measure the spread of every system; all runs of all systems have the same resampled units.

    Parameters
    ----------
    draws : Draws
        The address of the bootstrap samples.
    replicas : Replicas
    replicates : int
    memory_bytes : int, optional
        Changes no result.
    observed : ObservedReplicas, optional
    """
    seen = observe_replicas(replicas) if observed is None else observed
    resampled = ResampledRuns(replicas)
    at = np.empty(len(replicas.distinct.runs))
    for own, scores in zip(resampled.of, seen.by_run, strict=True):
        at[own] = scores
    number, total, squares = np.zeros(len(at), np.int64), np.zeros(len(at)), np.zeros(len(at))
    for cell in range(count_cells(replicates)):
        scores = resampled.score_cell(draws, cell, replicates=replicates, memory_bytes=memory_bytes)
        first, stop = cell_bounds(cell, replicates)
        for part in range(0, stop - first, _PART):
            shift = scores[:, part : part + _PART] - at[:, None]  # near 0: squares lose nothing
            defined = np.isfinite(shift)
            shift = np.where(defined, shift, 0.0)
            number += defined.sum(axis=1)
            total += shift.sum(axis=1)
            squares += (shift * shift).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # fewer than two replicates: nan
        variance = (squares - total * total / number) / (number - 1)
    deviation = np.sqrt(np.where(number > 1, np.maximum(variance, 0.0), np.nan))
    by_run = tuple(deviation[own] for own in resampled.of)
    return Spread(
        score=seen.score,
        s_test=np.array([run_spread(scores) for scores in seen.by_run]),
        s_sel=np.array([own.mean() for own in by_run]),
        by_run=by_run,
        empty=np.array([(replicates - number[own]).sum() for own in resampled.of]),
    )
