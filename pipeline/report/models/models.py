"""Verdicts about models from their runs: Holm over the pairs of models, ranks, and the rows of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.replicas.models import ModelGains
from pipeline.dataclass import dataclass
from pipeline.inference.equivalence import VERDICTS, judge
from pipeline.inference.intervals.compatible_intervals import hold_to_verdict
from pipeline.inference.multiple_comparisons.multiplicity import holm_of_decided
from pipeline.inference.multiple_comparisons.ranks import Separation, rank_intervals, separate
from pipeline.inference.unit_diagnostics.undecided import UNDECIDED
from pipeline.interfaces import Check
from pipeline.report.document import Report
from pipeline.report.models.model_rows import GainInterval, ModelPairRow, ModelRow, ModelVerdict
from pipeline.report.trust.trust import FAMILIES
from pipeline.report.values import plain

__all__ = ["NULL_OF", "JudgedModels", "judge_all", "trust_models"]

NULL_OF = {"methods": "quasi-f", "systems": "unit-means"}
"""The null by which each claim is tested."""

_Floats: TypeAlias = NDArray[np.float64]


class JudgedModels(NamedTuple):
    """The rows of one test set and metric."""

    models: list[ModelRow]
    pairs: list[ModelPairRow]


@dataclass(frozen=True, eq=False)
class _Evidence:
    """What is known of the pairs of one test set and metric before any verdict, (pair,) each; nan where there is none.

    ``p`` is of the difference, ``ahead`` and ``behind`` are of the two tests against ``margin``, nan without one.
    """

    gains: ModelGains
    margin: float | None
    p: _Floats
    ahead: _Floats
    behind: _Floats

    @property
    def equivalence(self) -> _Floats:
        """The p of equivalence, the larger of its two tests."""
        return np.maximum(self.ahead, self.behind)

    @property
    def undecided(self) -> NDArray[np.bool_]:
        return self.gains.undecided > 0


@dataclass(frozen=True, eq=False)
class _Adjusted:
    """The p that decide, of the difference and of equivalence, and for how many tests the first are adjusted."""

    p: _Floats
    equivalence: _Floats
    tested: int


def judge_all(
    given: Sequence[ModelGains], *, alpha: float, across: bool, margins: Mapping[str, float] | None = None
) -> list[JudgedModels]:
    """Judge the models of every test set and metric.

    Parameters
    ----------
    given : sequence of ModelGains
    alpha : float
        The report's own.
    across : bool
        Whether Holm is over the pairs of all test sets and metrics together, and over their tests of equivalence.
    margins : mapping of str to float, optional
        The largest difference that does not matter, by metric.
    """
    known = [_weigh(gains, (margins or {}).get(gains.metric)) for gains in given]
    adjusted = _adjust_across(known) if across and known else [_adjust(of) for of in known]
    return [_judge(of, by, alpha) for of, by in zip(known, adjusted, strict=True)]


def _weigh(gains: ModelGains, margin: float | None) -> _Evidence:
    nothing = np.full(len(gains.pairs), np.nan)
    ahead, behind = (nothing, nothing) if margin is None else gains.within_margin(margin)
    return _Evidence(gains, margin, np.maximum(gains.p, gains.floor), ahead, behind)


def _adjust(of: _Evidence) -> _Adjusted:
    """Adjust for the pairs of one test set and metric; claims of either kind by themselves."""
    p, equivalence = (holm_of_decided(values, of.undecided) for values in (of.p, of.equivalence))
    return _Adjusted(p, equivalence, int(np.isfinite(of.p).sum()))


def _adjust_across(known: Sequence[_Evidence]) -> list[_Adjusted]:
    """Adjust for all claims that a report can make about models."""
    whole = [values for of in known for values in (of.p, of.equivalence)]
    undecided = np.concatenate([of.undecided for of in known for _ in range(2)])
    adjusted = holm_of_decided(np.concatenate(whole), undecided)
    tested, parts = int(np.isfinite(adjusted).sum()), np.split(adjusted, np.cumsum([len(values) for values in whole])[:-1])
    return [_Adjusted(p, equivalence, tested) for p, equivalence in zip(parts[::2], parts[1::2], strict=True)]


def _judge(known: _Evidence, adjusted: _Adjusted, alpha: float) -> JudgedModels:
    given = known.gains
    score = np.array([np.mean(own) for own in given.by_run])
    ranked = np.where(np.array(given.runs) > 1, score, np.nan)  # a single run says nothing about its model
    evidence = np.where(known.undecided & np.isfinite(adjusted.p), 1.0, adjusted.p)
    found = separate(given.pairs, score=ranked, delta=given.delta, p=evidence, identical=given.identical, alpha=alpha)
    verdicts, differs = _list_verdicts(known, adjusted, alpha)
    pairs = [
        _pair(known, score, adjusted, alpha, pair, verdict, both)
        for pair, (verdict, both) in enumerate(zip(verdicts, differs, strict=True))
    ]
    order = sorted(range(len(pairs)), key=lambda k: (-(pairs[k].delta or 0.0), pairs[k].model_a, pairs[k].model_b))
    return JudgedModels(_list_models(given, score, found), [pairs[k] for k in order])


def _list_verdicts(known: _Evidence, adjusted: _Adjusted, alpha: float) -> tuple[list[ModelVerdict], list[bool | None]]:
    """Return the verdict of each pair, and whether the two differ within the margin; None without one."""
    given = known.gains
    with np.errstate(invalid="ignore"):  # nan is not rejected
        claimed = (adjusted.p <= alpha) & (given.delta != 0) & ~given.identical
    found = judge(
        adjusted.equivalence,
        better=claimed,
        worse=np.zeros_like(claimed),
        measured=np.isfinite(adjusted.p),
        identical=given.identical,
        alpha=alpha,
        undecided=known.undecided,
    )
    words = np.array(VERDICTS)[found.verdict].tolist()
    if known.margin is not None:
        return words, found.differs_within_margin.tolist()
    plain_words = {"equivalent": "identical", "inconclusive": "not separated"}
    return [plain_words.get(word, word) for word in words], [None] * len(words)


def _list_models(given: ModelGains, score: _Floats, found: Separation) -> list[ModelRow]:
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
    known: _Evidence,
    score: _Floats,
    adjusted: _Adjusted,
    alpha: float,
    pair: int,
    verdict: ModelVerdict,
    differs: bool | None,
) -> ModelPairRow:
    given = known.gains
    a, b = given.pairs[pair].tolist()
    low, high = (float(end[pair]) for end in given.interval(1 - alpha / max(adjusted.tested, 1)))
    if given.delta[pair] < 0:
        a, b, low, high = b, a, -high, -low
    low = float(hold_to_verdict(np.array(low), np.array(verdict == "better" or differs is True)))
    components = None if given.identical[pair] else given.variances.components
    names = ("unit", "system_unit", "run", "residual")
    unit, system_unit, run, residual = (None if components is None else plain(getattr(components, n)[pair]) for n in names)
    more_runs, more_units = int(max(given.runs[a], given.runs[b])), given.variances.units
    return ModelPairRow(
        test_set=given.test_set,
        metric=given.metric,
        claim=given.claim,
        null=NULL_OF[given.claim],
        repeated=given.run,
        model_a=given.models[a],
        model_b=given.models[b],
        runs_a=given.runs[a],
        runs_b=given.runs[b],
        score_a=plain(score[a]),
        score_b=plain(score[b]),
        delta=plain(abs(given.delta[pair])),
        se=plain(given.se[pair]),
        df=plain(given.degrees[pair]),
        # No interval holds its level where no test does.
        interval=GainInterval(low, high) if verdict != "not decided" and np.isfinite(low) and np.isfinite(high) else None,
        p=plain(known.p[pair]),
        p_floor=plain(given.floor[pair]) or None,
        p_adjusted=plain(adjusted.p[pair]),
        family_size=adjusted.tested,
        discordant=int(given.discordant[pair]),
        units=given.variances.units,
        run_share=plain(given.variances.share(pair, ("run",))),
        variance_unit=unit,
        variance_system_unit=system_unit,
        variance_run=run,
        variance_residual=residual,
        more_runs=more_runs,
        se_more_runs=given.se_with(pair, more_runs=more_runs),
        more_units=more_units,
        se_more_units=given.se_with(pair, more_units=more_units),
        identical=bool(given.identical[pair]),
        margin=known.margin,
        p_equivalence=plain(known.equivalence[pair]),
        p_equivalence_holm=plain(adjusted.equivalence[pair]),
        p_ahead=plain(known.ahead[pair]),
        p_behind=plain(known.behind[pair]),
        differs_within_margin=differs,
        undecided=UNDECIDED[given.undecided[pair]] or None,
        verdict=verdict,
        reason=given.reason[pair] or None,
        minimum_detectable_effect=None,
    )


def trust_models(report: Report) -> Iterator[Check]:
    """Yield what verdicts about models are corrected for, and what their runs have in common that no p knows of."""
    families = dict.fromkeys((row.test_set, row.metric) for row in report.model_pairs)
    if not families:
        return
    total, tested = len(report.model_pairs), max(row.family_size for row in report.model_pairs)
    count = f"{total:,} pair{'' if total == 1 else 's'} of models"
    if len(families) == 1:
        corrected = "there is nothing to correct for" if tested <= 1 else "p adjusted is corrected for them by Holm"
        yield Check(FAMILIES, "ok", f"1 family of tests (test set × metric) with {count}: {corrected}.")
    elif tested > max(len([row for row in report.model_pairs if (row.test_set, row.metric) == place]) for place in families):
        corrected = "p adjusted is corrected by Holm over all of them together"
        yield Check(FAMILIES, "ok", f"{len(families):,} families of tests (test set × metric) with {count}: {corrected}.")
    else:
        corrected = "p adjusted is corrected by Holm within each family, not across families"
        yield Check(FAMILIES, "check", f"{len(families):,} families of tests (test set × metric) with {count}: {corrected}.")
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
