"""The gains that a comparison of a number of runs would have found, counted over the existing runs.

With one run of each model all pairs of runs are taken; with n the means of n runs, in all choices or in some that are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.replicas.data import Model
from pipeline.analyses.replicas.nulls import Draw
from pipeline.analyses.replicas.options import DEFAULT_RUNS, ReplicaOptions
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas
from pipeline.resampling.replicas.splits import draw_subsets

__all__ = ["POOL", "gain_rows", "list_numbers", "why_refused"]

POOL = 3
"""A pool of runs is so many times as large as what is drawn from it, or more: subsets of a smaller one are too much alike."""

DRAWN = 10_000
_MOST_CHOICES = 2**16
_BINS = 20


def list_numbers(options: ReplicaOptions, pool: int) -> tuple[int, ...]:
    """Return the numbers of runs that are asked for, or those that a pool of so many runs allows."""
    return options.asked_runs or tuple(number for number in DEFAULT_RUNS if POOL * number <= pool)


def why_refused(number: int, pool: int) -> str | None:
    """Say why this number of runs is not drawn from a pool."""
    if POOL * number <= pool:
        return None
    return f"a pool of {pool} runs is below {POOL * number}: subsets of {number} would be too much alike"


def gain_rows(
    replicas: Replicas, models: Sequence[Model], draw: Draw, options: ReplicaOptions, *, seen: ObservedReplicas
) -> Iterator[dict[str, Any]]:
    """Yield the gains of every pair of models by number of runs, the better model first."""
    for pair, (a, b) in enumerate(replicas.pairs.tolist()):
        if not np.isfinite(seen.delta[pair]) or seen.identical[pair]:
            continue
        first, second = (b, a) if seen.delta[pair] < 0 else (a, b)
        sign = 1.0 if replicas.higher_is_better else -1.0
        scores = [sign * seen.by_run[place] for place in (first, second)]
        pool = min(map(len, scores))
        single = np.subtract.outer(*scores).ravel()
        edges = np.linspace(single.min(), single.max(), _BINS + 1) if np.ptp(single) > 0 else single[[0, 0]]
        for number in dict.fromkeys((1, *list_numbers(options, pool))):
            reason = why_refused(number, pool) if number > 1 else None
            names = (models[first].name, models[second].name)
            row: dict[str, Any] = {
                "model_a": names[0],
                "model_b": names[1],
                "delta": abs(seen.delta[pair]),
                "runs_each": number,
                "pool_a": len(scores[0]),
                "pool_b": len(scores[1]),
            }
            gains, every = (None, None) if reason is not None else _gains(scores, number, [draw.subsets_of(n) for n in names])
            yield row | _describe(gains, edges, float(seen.slack[pair])) | {"exact": every, "reason": reason}


def _gains(scores: Sequence[NDArray[np.float64]], number: int, draws: Sequence[Any]) -> tuple[NDArray[np.float64], bool]:
    """Return the differences of means of so many runs, and whether these are all there are."""
    if comb(len(scores[0]), number) * comb(len(scores[1]), number) <= _MOST_CHOICES:
        means = [own[np.array(list(combinations(range(len(own)), number)))].mean(axis=1) for own in scores]
        return np.subtract.outer(*means).ravel(), True
    means = [
        own[draw_subsets(key, len(own), size=number, count=DRAWN)].mean(axis=1) for own, key in zip(scores, draws, strict=True)
    ]
    return means[0] - means[1], False


def _describe(gains: NDArray[np.float64] | None, edges: NDArray[np.float64], slack: float) -> dict[str, Any]:
    fields = ("gains", "gain_low", "gain_median", "gain_high", "against", "tied", "edges", "counts")
    if gains is None:
        return dict.fromkeys(fields)
    low, middle, high = np.percentile(gains, [2.5, 50, 97.5]).tolist()
    counts = np.histogram(np.clip(gains, edges[0], edges[-1]), edges)[0].tolist() if len(edges) > 2 else [len(gains)]
    against, tied = float((gains < -slack).mean()), float((np.abs(gains) <= slack).mean())
    return dict(zip(fields, (len(gains), low, middle, high, against, tied, edges.tolist(), counts), strict=True))
