"""The bootstrap of runs and units at once. This module draws runs of each system and units of the test set with replacement.

The only procedure here whose null is about new runs and new units: Owen's pigeonhole bootstrap (2007, doi:10.1214/07-AOAS122) with
runs nested in systems. A replicate draws units, the same for all systems and runs, and for each side of a pair as many runs as
there are; δ* is the difference of the mean scores of the drawn runs on the drawn units.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.resampling.address import cell_bounds
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.counts import FEWEST_RUNS, REASONS, NullCounts
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas, observe_replicas
from pipeline.resampling.replicas.permutations import draw_runs
from pipeline.resampling.replicas.randomized import reason_for
from pipeline.resampling.replicas.resampled import ResampledRuns

__all__ = ["bootstrap_crossed"]


def bootstrap_crossed(
    draws: Draws,
    replicas: Replicas,
    *,
    cells: range,
    replicates: int,
    memory_bytes: int = 2**26,
    observed: ObservedReplicas | None = None,
) -> NullCounts:
    """Count how often |δ* − δ| ≥ |δ| on drawn runs and units.

    Parameters
    ----------
    draws : Draws
        The address; units are those of `pipeline.resampling.resample` for the same key. Of a pair the system with the higher
        score draws its runs first, so that no pair depends on who else is there and a system with one run is not resampled.
    replicas, cells, replicates, memory_bytes, observed
        As of `randomize_replicas`.

    Returns
    -------
    NullCounts
        ``few_runs`` below five runs of either system: the spread of runs is then known too badly for this p.
    """
    seen = observe_replicas(replicas) if observed is None else observed
    resampled = ResampledRuns(replicas)
    first_run = resampled.first_run
    runs = replicas.runs
    reason = reason_for("crossed", replicas, seen, seen.delta)
    hits, empty = (np.zeros((len(reason), len(cells)), np.int64) for _ in range(2))
    lengths = np.zeros(len(cells), np.int64)
    size = np.abs(seen.delta)
    for number, cell in enumerate(cells):
        first, stop = cell_bounds(cell, replicates)
        lengths[number] = stop - first
        scores = resampled.score_cell(draws, cell, replicates=replicates, memory_bytes=memory_bytes)
        means = np.empty((2, len(runs), stop - first))
        for side in range(2):
            for many in np.unique(runs).tolist():
                drawn = draw_runs(draws, first, stop - first, many, side=side)
                for system in np.flatnonzero(runs == many).tolist():
                    _average_runs(scores[first_run[system] : first_run[system + 1]], drawn, means[side, system])
        _count_shifted(means, seen.oriented, size, seen.slack, hits[:, number], empty[:, number])
    undefined = reason == REASONS.index("undefined score")
    hits[undefined], empty[undefined] = 0, lengths
    compared = lengths - empty
    return NullCounts(
        null="crossed",
        delta=seen.delta,
        hits=hits,
        compared=compared,
        empty=empty,
        enumerated=np.zeros(len(reason), np.bool_),
        floor=np.where(undefined, np.nan, 1 / (compared.sum(axis=1) + 1)),
        reason=reason,
        few_runs=runs[replicas.pairs].min(axis=1) < FEWEST_RUNS,
    )


@kernel
def _average_runs(scores: NDArray[np.float64], drawn: NDArray[np.int64], out: NDArray[np.float64]) -> None:
    """Average (run, replicate) scores over (replicate, draw) runs; nan where a run that is drawn has no score."""
    runs = drawn.shape[1]
    for i in range(len(out)):
        total = 0.0
        for draw in range(runs):
            total += scores[drawn[i, draw], i]
        out[i] = total / runs


@kernel
def _count_shifted(
    means: NDArray[np.float64],
    oriented: NDArray[np.int64],
    size: NDArray[np.float64],
    slack: NDArray[np.float64],
    hits: NDArray[np.int64],
    empty: NDArray[np.int64],
) -> None:
    for pair in range(len(oriented)):  # the higher score first: δ = |δ|
        a, b = means[0, oriented[pair, 0]], means[1, oriented[pair, 1]]
        found = undefined = 0
        for i in range(len(a)):
            gain = a[i] - b[i]
            found += abs(gain - size[pair]) >= size[pair] - slack[pair]
            undefined += gain != gain
        hits[pair] = found
        empty[pair] = undefined
