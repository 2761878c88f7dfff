"""Models judged from what their runs say: Holm over the pairs of models, ranks, and the rows of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.replicas.models import ModelGains
from pipeline.inference.multiplicity import holm
from pipeline.inference.ranks import Separation, rank_intervals, separate
from pipeline.interfaces import Check
from pipeline.report.document import Report
from pipeline.report.model_rows import GainInterval, ModelPairRow, ModelRow, ModelVerdict
from pipeline.report.values import plain

__all__ = ["NULL_OF", "JudgedModels", "judge_all", "judge_models", "trust_models"]

NULL_OF = {"methods": "quasi-f", "systems": "unit-means"}
"""The null by which each claim is tested."""


class JudgedModels(NamedTuple):
    """The rows of one test set and metric."""

    models: list[ModelRow]
    pairs: list[ModelPairRow]


def judge_all(given: Sequence[ModelGains], *, alpha: float, across: bool) -> list[JudgedModels]:
    """Judge the models of every test set and metric.

    Parameters
    ----------
    given : sequence of ModelGains
    alpha : float
        The report's own.
    across : bool
        Whether Holm is over the pairs of all test sets and metrics together.
    """
    if not across or not given:
        return [judge_models(gains, alpha=alpha) for gains in given]
    own = [np.maximum(gains.p, gains.floor) for gains in given]
    whole = np.concatenate(own)
    ends = np.cumsum([len(p) for p in own])[:-1]
    parts, tested = np.split(holm(whole), ends), int(np.isfinite(whole).sum())
    return [judge_models(gains, alpha=alpha, adjusted=part, tested=tested) for gains, part in zip(given, parts, strict=True)]


def judge_models(
    given: ModelGains, *, alpha: float, adjusted: NDArray[np.float64] | None = None, tested: int | None = None
) -> JudgedModels:
    """Return the models from best to worst, and their pairs, the largest gain first.

    Parameters
    ----------
    given : ModelGains
    alpha : float
    adjusted : (pair,) float64, optional
        The p that decide; by Holm over these pairs where nothing is given.
    tested : int, optional
        How many pairs these are adjusted for.
    """
    p = np.maximum(given.p, given.floor)
    adjusted = holm(p) if adjusted is None else adjusted
    family = int(np.isfinite(p).sum()) if tested is None else tested
    score = np.array([np.mean(own) for own in given.by_run])
    ranked = np.where(np.array(given.runs) > 1, score, np.nan)  # a single run says nothing of its model
    found = separate(given.pairs, score=ranked, delta=given.delta, p=adjusted, identical=given.identical, alpha=alpha)
    pairs = [_pair(given, score, p, adjusted, alpha, family, pair) for pair in range(len(given.pairs))]
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
    given: ModelGains,
    score: NDArray[np.float64],
    p: NDArray[np.float64],
    adjusted: NDArray[np.float64],
    alpha: float,
    family: int,
    pair: int,
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
        family,
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
        minimum_detectable_effect=None,
    )


def _judge(given: ModelGains, adjusted: NDArray[np.float64], alpha: float, pair: int) -> ModelVerdict:
    if given.identical[pair]:
        return "identical"
    if not np.isfinite(adjusted[pair]):
        return "not measured"
    return "better" if adjusted[pair] <= alpha and given.delta[pair] != 0 else "not separated"


def trust_models(report: Report) -> Iterator[Check]:
    """Yield what verdicts about models are corrected for, and what their runs have in common that no p knows of."""
    families = dict.fromkeys((row.test_set, row.metric) for row in report.model_pairs)
    if not families:
        return
    total, tested = len(report.model_pairs), max(row.family_size for row in report.model_pairs)
    count = f"{total:,} pair{'' if total == 1 else 's'} of models"
    if len(families) == 1:
        yield Check("Pairs of models", "ok", f"{count}, corrected by Holm.")
    elif tested > max(len([row for row in report.model_pairs if (row.test_set, row.metric) == place]) for place in families):
        yield Check(
            "Pairs of models", "ok", f"{count}, corrected by Holm over all {len(families):,} test sets and metrics together."
        )
    else:
        detail = f"{count}, corrected by Holm within each of {len(families):,} test sets and metrics, not across them."
        yield Check("Pairs of models", "check", detail)
    samples = {str(row.sample) for row in report.systems if row.sample}
    if "cross-validation" in samples:
        shared = "Runs of a cross-validation share most of what they were trained on: p of a claim about methods is too small."
        yield Check("Runs of one training set", "check", shared)
    elif samples & {"bootstrap", "quota"}:
        shared = (
            "Runs were trained on resamples of one training set, and new runs are other resamples of it. What all of them owe to "
            "that set is in no standard error and no p, however many runs there are."
        )
        yield Check("Runs of one training set", "not checked", shared)
