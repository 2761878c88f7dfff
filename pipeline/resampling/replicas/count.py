"""Counts of all pairs under any null of `nulls`, by its name.

`count_null` counts any null. Those that permute outputs are counted in `randomized`; the others are counted here, from the scores
of runs alone:

- Whole runs permuted between systems, and systems exchanged within a run number: every output stays in its run. If there are few
  arrangements all of them are counted and p is exact; otherwise they are drawn by address, in the order of cells.
- The bootstrap of runs and units at once, the only procedure here whose null is about new runs and new units: Owen's pigeonhole
  bootstrap (2007, doi:10.1214/07-AOAS122) with runs nested in systems. A replicate draws units, the same for all systems and
  runs, and for each side of a pair as many runs as there are; δ* is the difference of the mean scores of the drawn runs on the
  drawn units.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, product
from math import comb

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel
from pipeline.resampling.address import cell_bounds
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.nulls import FEWEST_RUNS, REASONS, NullCounts, may_have_p, null_named, smallest_p
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas, observe_replicas
from pipeline.resampling.replicas.permutations import draw_orders, draw_runs
from pipeline.resampling.replicas.randomized import randomize_replicas, reason_for
from pipeline.resampling.replicas.score_deviation import ResampledRuns
from pipeline.resampling.replicas.shuffles import SHUFFLES
from pipeline.resampling.swaps import draw_swaps

__all__ = ["MOST_ARRANGEMENTS", "count_null"]

MOST_ARRANGEMENTS = 2**16
"""So many arrangements are enumerated: nine runs of either system, or sixteen run numbers."""


def _permute_runs(
    null: str,
    draws: Draws,
    replicas: Replicas,
    *,
    cells: range,
    replicates: int,
    observed: ObservedReplicas | None = None,
) -> NullCounts:
    """Count how often permuted runs give a difference as large as the observed one.

    Parameters
    ----------
    null : {"whole-run", "paired-runs"}
    draws : Draws
        The address of arrangements where there are too many to enumerate; only its key matters.
    replicas : Replicas
    cells, replicates
        As of `randomize_replicas`; what is enumerated does not depend on them.
    observed : ObservedReplicas, optional
        The result of `observe_replicas`, if already known.
    """
    if null not in ("whole-run", "paired-runs"):
        raise ValueError(f"{null_named(null).name!r} does not permute runs")
    seen = observe_replicas(replicas) if observed is None else observed
    reason = reason_for(null, replicas, seen, seen.delta)
    # With a run that has no score, means of runs cannot be compared.
    asked = may_have_p(reason)
    hits, compared = (np.zeros((len(reason), len(cells)), np.int64) for _ in range(2))
    enumerated = np.zeros(len(reason), np.bool_)
    floor = np.full(len(reason), np.nan)
    bounds = [cell_bounds(cell, replicates) for cell in cells]
    runs = replicas.runs[seen.oriented]
    for runs_a, runs_b in np.unique(runs[asked], axis=0).tolist():
        pair = np.flatnonzero(asked & (runs == [runs_a, runs_b]).all(axis=1))
        values = np.array([np.concatenate([seen.by_run[a], seen.by_run[b]]) for a, b in seen.oriented[pair].tolist()])
        if null == "paired-runs":
            values = values[:, :runs_a] - values[:, runs_a:]
        size = np.abs(seen.delta[pair]) - seen.slack[pair]
        enumerated[pair] = _how_many(null, runs_a, runs_b) <= MOST_ARRANGEMENTS
        if enumerated[pair].all():
            weights = _enumerate(null, runs_a, runs_b)
            if len(cells):
                hits[pair, 0] = _count_arrangements(values, weights, size)
                compared[pair, 0] = len(weights)
            floor[pair] = smallest_p(null, runs_a, runs_b, None)
            continue
        for number, (first, stop) in enumerate(bounds):
            hits[pair, number] = _count_arrangements(values, _draw(null, draws, first, stop - first, runs_a, runs_b), size)
            compared[pair, number] = stop - first
        floor[pair] = smallest_p(null, runs_a, runs_b, sum(stop - first for first, stop in bounds))
    return NullCounts(
        null=null,
        delta=seen.delta,
        hits=hits,
        compared=compared,
        empty=np.zeros_like(hits),
        enumerated=enumerated,
        floor=floor,
        reason=reason,
        few_runs=np.zeros(len(reason), np.bool_),
    )


def _how_many(null: str, runs_a: int, runs_b: int) -> int:
    return comb(runs_a + runs_b, runs_a) if null == "whole-run" else 2**runs_a


@lru_cache(maxsize=16)
def _enumerate(null: str, runs_a: int, runs_b: int) -> NDArray[np.float64]:
    """Return (arrangement, run) weights of the runs' scores, or of their differences; the first is as observed."""
    if null == "paired-runs":
        return np.array(list(product((1.0, -1.0), repeat=runs_a))) / runs_a
    chosen = np.array(list(combinations(range(runs_a + runs_b), runs_a)))
    return _split(chosen, runs_a, runs_b)


def _draw(null: str, draws: Draws, first: int, count: int, runs_a: int, runs_b: int) -> NDArray[np.float64]:
    if null == "paired-runs":
        flips = draw_swaps(Draws(draws.key, runs_a, runs_a), first, count)
        return np.asarray((1.0 - 2.0 * flips.astype(np.float64)) / runs_a)
    orders = draw_orders(draws, first, count, runs_a + runs_b)
    return _split(orders[:, :runs_a], runs_a, runs_b)


def _split(chosen: NDArray[np.int64], runs_a: int, runs_b: int) -> NDArray[np.float64]:
    weights = np.full((len(chosen), runs_a + runs_b), -1.0 / runs_b)
    np.put_along_axis(weights, chosen, 1.0 / runs_a, axis=1)
    return weights


@kernel
def _count_arrangements(values: NDArray[np.float64], weights: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.int64]:
    hits = np.zeros(len(values), np.int64)
    for pair in range(len(values)):
        value, least = values[pair], size[pair]
        found = 0
        for row in range(len(weights)):
            gain = 0.0
            for run in range(len(value)):
                gain += weights[row, run] * value[run]
            found += abs(gain) >= least
        hits[pair] = found
    return hits


def _bootstrap_crossed(
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
                    _average_runs(scores[resampled.of[system]], drawn, means[side, system])
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


@bare_kernel
def _average_runs(scores: NDArray[np.float64], drawn: NDArray[np.int64], out: NDArray[np.float64]) -> None:
    """Average (run, replicate) scores over (replicate, draw) runs; nan where a run that is drawn has no score."""
    runs = drawn.shape[1]
    for i in range(len(out)):
        total = 0.0
        for draw in range(runs):
            total += scores[drawn[i, draw], i]
        out[i] = total / runs


@bare_kernel
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


def count_null(
    null: str,
    draws: Draws,
    replicas: Replicas,
    *,
    cells: range,
    replicates: int,
    memory_bytes: int = 2**26,
    observed: ObservedReplicas | None = None,
) -> NullCounts:
    """Count the two-sided hits of all pairs under one null of `NULLS`.

    Parameters
    ----------
    null : str
        Its name.
    draws : Draws
        Address of the draws. Its key should be made for this null: give its name as the purpose of `draw_key`.
    replicas : Replicas
    cells : range
        Cells to count.
    replicates : int
        Of the whole pass.
    memory_bytes : int, optional
        Changes no result.
    observed : ObservedReplicas, optional
        The result of `observe_replicas`, if already known.
    """
    name = null_named(null).name
    if null_named(null).computed:
        raise ValueError(f"{name!r} is computed from mean squares, not counted")
    if name in SHUFFLES:
        return randomize_replicas(
            name, draws, replicas, cells=cells, replicates=replicates, memory_bytes=memory_bytes, observed=observed
        )
    if name == "crossed":
        return _bootstrap_crossed(draws, replicas, cells=cells, replicates=replicates, memory_bytes=memory_bytes, observed=observed)
    return _permute_runs(name, draws, replicas, cells=cells, replicates=replicates, observed=observed)
