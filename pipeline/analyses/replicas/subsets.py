"""The p that a given number of runs of each model would have given: draw runs from a large pool and test them, many times.

Table 2 of Clark and others (2011, P11-2031). The pool stands for all runs that there could be: it must be much larger than what is
drawn from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.replicas.data import Model
from pipeline.analyses.replicas.gains import list_numbers, why_refused
from pipeline.analyses.replicas.nulls import Draw
from pipeline.analyses.replicas.options import ReplicaOptions
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas
from pipeline.resampling.replicas.p_values import find_p_of_subsets
from pipeline.resampling.replicas.splits import draw_subsets

__all__ = ["subset_rows"]

_FIELDS = ("p_low", "p_median", "p_high", "rejected", "rejected_against")


def subset_rows(
    replicas: Replicas,
    models: Sequence[Model],
    draw: Draw,
    options: ReplicaOptions,
    *,
    seen: ObservedReplicas,
    alpha: float,
    refused: str | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield p by number of runs for every differing pair of models and every null; first the model that all runs favour.

    ``refused`` is why no runs are drawn at all.
    """
    if not options.subsets:
        return
    pool = replicas.runs[replicas.pairs].min(axis=1).tolist()
    told = [pair for pair in range(len(pool)) if np.isfinite(seen.delta[pair]) and not seen.identical[pair]]
    numbers = {pair: list_numbers(options, pool[pair]) for pair in told}
    left = options.budget
    for number in sorted({number for pair in told for number in numbers[pair]}):
        concerned = [pair for pair in told if number in numbers[pair]]
        asked = [] if refused else [pair for pair in concerned if why_refused(number, pool[pair]) is None]
        places = np.unique(replicas.pairs[asked]) if asked else np.zeros(0, np.int64)
        cost = float(options.subsets) * options.subset_replicates * number * len(places) * replicas.statistics[0][0].size
        for null in options.chosen_for_subsets:
            found: dict[int, dict[str, Any]] = {}
            if asked and cost <= left:
                left -= cost
                p, gain = _test_subsets(null, number, replicas, models, draw, options, places, asked)
                found = {pair: _summarise(p[:, k], gain[:, k], seen.delta[pair], alpha) for k, pair in enumerate(asked)}
            for pair in concerned:
                beyond = None if pair in found else f"beyond the budget of {options.budget:.3g} products"
                own = found.get(pair, dict.fromkeys(_FIELDS))
                empty = None if own["p_median"] is not None else "no draw of so many runs has a p under this null"
                a, b = replicas.pairs[pair].tolist()
                better, worse = (models[b], models[a]) if seen.delta[pair] < 0 else (models[a], models[b])
                yield {
                    "model_a": better.name,
                    "model_b": worse.name,
                    "null": null,
                    "runs_each": number,
                    "pool_a": len(better.runs),
                    "pool_b": len(worse.runs),
                    "subsets": options.subsets,
                    "replicates": options.subset_replicates,
                    "alpha": alpha,
                    **own,
                    "reason": refused or why_refused(number, pool[pair]) or beyond or empty,
                }


def _test_subsets(
    null: str,
    number: int,
    replicas: Replicas,
    models: Sequence[Model],
    draw: Draw,
    options: ReplicaOptions,
    places: NDArray[np.int64],
    asked: Sequence[int],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return p and the gain of each (subset, pair); a model has the same runs against all others, and every subset draws anew."""
    chosen = [
        draw_subsets(draw.subsets_of(models[place].name), len(models[place].runs), size=number, count=options.subsets)
        for place in places.tolist()
    ]
    pairs = np.searchsorted(places, replicas.pairs[list(asked)])
    purpose = f"{null} of {number} runs"
    draws = [draw.at(purpose, replicas.n_units, rule=f"subset {subset}") for subset in range(options.subsets)]
    return find_p_of_subsets(null, draws, replicas, places, chosen, pairs, replicates=options.subset_replicates)


def _summarise(p: NDArray[np.float64], gain: NDArray[np.float64], delta: float, alpha: float) -> dict[str, Any]:
    """Return percentiles of p, and how often it rejects: a subset without a p does not."""
    low, middle, high = np.percentile(p[np.isfinite(p)], [2.5, 50, 97.5]).tolist() if np.isfinite(p).any() else [None] * 3
    rejected = p <= alpha
    against = rejected & (np.sign(gain) == -np.sign(delta))
    return dict(zip(_FIELDS, (low, middle, high, float(rejected.mean()), float(against.mean())), strict=True))
