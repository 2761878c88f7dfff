"""Models judged from what their runs say: Holm over the pairs of models, ranks, and the rows of both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.replicas.models import ModelGains
from pipeline.inference.multiplicity import holm
from pipeline.inference.ranks import Separation, rank_intervals, separate
from pipeline.report.model_rows import GainInterval, ModelPairRow, ModelRow, ModelVerdict
from pipeline.report.values import plain

__all__ = ["NULL_OF", "JudgedModels", "judge_models"]

NULL_OF = {"methods": "quasi-f", "systems": "unit-means"}
"""The null by which each claim is tested."""


class JudgedModels(NamedTuple):
    """The rows of one test set and metric."""

    models: list[ModelRow]
    pairs: list[ModelPairRow]


def judge_models(given: ModelGains, *, alpha: float) -> JudgedModels:
    """Return the models from best to worst, and their pairs, the largest gain first; judged at a report's own α."""
    p = np.maximum(given.p, given.floor)
    adjusted = holm(p)
    score = np.array([np.mean(own) for own in given.by_run])
    ranked = np.where(np.array(given.runs) > 1, score, np.nan)  # a single run says nothing of its model
    found = separate(given.pairs, score=ranked, delta=given.delta, p=adjusted, identical=given.identical, alpha=alpha)
    pairs = [_pair(given, score, p, adjusted, alpha, pair) for pair in range(len(given.pairs))]
    order = sorted(range(len(pairs)), key=lambda k: (-(pairs[k].delta or 0.0), pairs[k].model_a, pairs[k].model_b))
    return JudgedModels(_list_models(given, score, found), [pairs[k] for k in order])


def _list_models(given: ModelGains, score: NDArray[np.float64], found: Separation) -> list[ModelRow]:
    ranks, sign = rank_intervals(found), -1.0 if given.higher_is_better else 1.0
    rank, low, high = ([value or None for value in side.tolist()] for side in (ranks.rank, ranks.low, ranks.high))
    beats, beaten = found.beats.sum(axis=1).tolist(), found.beats.sum(axis=0).tolist()
    rows = [
        ModelRow(
            given.test_set,
            given.metric,
            rank[place],
            name,
            given.runs[place],
            plain(score[place]),
            plain(given.spread(place)),
            plain(given.by_run[place].min()),
            plain(given.by_run[place].max()),
            low[place],
            high[place],
            beats[place],
            beaten[place],
        )
        for place, name in enumerate(given.models)
    ]
    return sorted(rows, key=lambda row: (row.rank is None, row.score is None, sign * (row.score or 0.0), row.model))


def _pair(
    given: ModelGains, score: NDArray[np.float64], p: NDArray[np.float64], adjusted: NDArray[np.float64], alpha: float, pair: int
) -> ModelPairRow:
    a, b = given.pairs[pair].tolist()
    low, high = (float(end[pair]) for end in given.interval(1 - alpha))
    if given.delta[pair] < 0:
        a, b, low, high = b, a, -high, -low
    components = None if given.identical[pair] else given.variances.components
    names = ("unit", "system_unit", "run", "residual")
    unit, system_unit, run, residual = (None if components is None else plain(getattr(components, n)[pair]) for n in names)
    more_runs, more_units = int(max(given.runs[a], given.runs[b])), given.variances.units
    return ModelPairRow(
        given.test_set,
        given.metric,
        given.claim,
        NULL_OF[given.claim],
        given.run,
        given.models[a],
        given.models[b],
        given.runs[a],
        given.runs[b],
        plain(score[a]),
        plain(score[b]),
        plain(abs(given.delta[pair])),
        plain(given.se[pair]),
        plain(given.degrees[pair]),
        GainInterval(low, high) if np.isfinite(low) and np.isfinite(high) else None,
        plain(p[pair]),
        plain(given.floor[pair]) or None,
        plain(adjusted[pair]),
        int(np.isfinite(p).sum()),
        int(given.discordant[pair]),
        given.variances.units,
        plain(given.variances.share(pair, ("run",))),
        unit,
        system_unit,
        run,
        residual,
        more_runs,
        given.se_with(pair, more_runs=more_runs),
        more_units,
        given.se_with(pair, more_units=more_units),
        _judge(given, adjusted, alpha, pair),
        given.reason[pair] or None,
    )


def _judge(given: ModelGains, adjusted: NDArray[np.float64], alpha: float, pair: int) -> ModelVerdict:
    if given.identical[pair]:
        return "identical"
    if not np.isfinite(adjusted[pair]):
        return "not measured"
    return "better" if adjusted[pair] <= alpha and given.delta[pair] != 0 else "not separated"
