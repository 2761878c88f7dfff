"""The claim that the results support for a test set and metric: a sentence to copy that goes no further than the verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from pipeline.interfaces.wording import name_metric
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.document import Report
from pipeline.report.families.adjustment import title_of
from pipeline.report.models.model_text import say_claim
from pipeline.report.rows import FamilyKey, Verdict, family_of
from pipeline.report.trainings import say_only_model
from pipeline.report.trust.units import count_size
from pipeline.report.values import on_set

__all__ = ["claim_of"]

MOST_NAMED = 8


def claim_of(report: Report, verdict: Verdict) -> str:
    """Return the sentence; nothing where the first sentence of the verdict already is one, or no system leads.

    Nor of a test whose null is not about the gain, unless scores of all pairs that it separates are of right and wrong answers: of
    graded ones it does not show that they are higher.

    Parameters
    ----------
    report : Report
    verdict : Verdict
        Of one of its families.
    """
    place = family_of(verdict)
    if report.model_pairs_of(place):
        return _of_models(report, place)
    pairs = report.pairs_of[place]
    pairs = pairs.where(pairs.holds("in_family"))
    if len(pairs) < 2 or say_only_model(report, place) is not None:
        return ""
    of_gain = pairs.known("minimum_detectable_effect")
    # A pair that is separated has such an effect where its test is about the gain.
    if not PROCEDURES[pairs[0].procedure].of_gain and not (of_gain.any() and of_gain[pairs.holds("separated")].all()):
        return ""
    test_set = report.test_set(place.test_set)
    size = count_size(test_set.items, test_set.units, test_set.unit)
    how = f"{pairs[0].procedure}, two-sided, {title_of(pairs)}, α = {report.alpha:g}"
    where = f"{_on(place)}, {size}"
    if report.family.baseline is not None:
        return _against(report, place, where, how)
    ranked = [row.name for row in report.board_of[place] if row.rank is not None]
    leaders = [row.name for row in report.board_of[place] if row.rank == 1]
    if len(leaders) != 1:
        return ""
    won = pairs.where(pairs.equal("system_a", leaders[0]) & pairs.equal("verdict", "better"))
    beaten = {*won.values("system_b").tolist()}
    return _lead(where, leaders[0], _score_of(report, place), beaten, ranked[1:], how)


class _Score(NamedTuple):
    """The name of a metric's score in a sentence, and the word for a better one."""

    name: str
    better: Literal["higher", "lower"]


def _score_of(report: Report, place: FamilyKey) -> _Score:
    name = name_metric(place.metric)
    return _Score(name if name.lower().endswith("score") else f"{name} score", "lower" if report.falls(place) else "higher")


def _on(place: FamilyKey) -> str:
    """Return how a sentence begins."""
    return "O" + on_set(place.test_set)[1:]


def _of_models(report: Report, place: FamilyKey) -> str:
    pairs = report.model_pairs_of(place)
    ranked = [row.model for row in report.models_of(place) if row.rank is not None]
    leaders = [row.model for row in report.models_of(place) if row.rank == 1]
    if len(pairs) < 2 or len(leaders) != 1:
        return ""
    beaten = {row.model_b for row in pairs if row.model_a == leaders[0] and row.verdict == "better"}
    unit = report.test_set(place.test_set).unit
    how = f"means over {pairs[0].repeated}s, two-sided, Holm over {pairs[0].family_size:,} pairs of models, α = {report.alpha:g}"
    return _lead(_on(place), leaders[0], _score_of(report, place), beaten, ranked[1:], f"{how}; {say_claim(pairs[0].claim, unit)}")


def _lead(where: str, best: str, score: _Score, beaten: Iterable[str], others: Sequence[str], how: str) -> str:
    there = {*beaten}
    won, rest = ([name for name in others if (name in there) is held] for held in (True, False))
    if not won:
        whom = f"any of the {len(rest):,} others" if len(rest) > MOST_NAMED else _name(rest)
        return f"{where}, {best} has the best {score.name}, but no difference from {whom} is shown ({how})."
    has = f"{where}, {best} has a significantly {score.better} {score.name} than"
    if not rest and len(won) > 2:
        return f"{has} all {len(won):,} others ({how})."
    shown = f"; no difference from {_name(rest)} is shown" if rest else ""
    return f"{has} {_name(won)}{shown} ({how})."


def _against(report: Report, place: FamilyKey, where: str, how: str) -> str:
    found: dict[str, list[str]] = {}
    for row in report.board_of[place]:
        if row.against_baseline is not None:
            found.setdefault(row.against_baseline, []).append(row.name)
    baseline = report.family.baseline
    told = [f"better than {baseline}: {_name(found['better'])}"] if "better" in found else []
    told += [f"worse: {_name(found['worse'])}"] if "worse" in found else []
    if not told:
        return f"{where}, no significant difference in {name_metric(place.metric)} from {baseline} is shown for any system ({how})."
    rest = [name for verdict, names in found.items() if verdict not in {"better", "worse"} for name in names]
    told += [f"no difference is shown for {_name(rest)}"] if rest else []
    return f"{where}, by {name_metric(place.metric)}, {'; '.join(told)} ({how})."


def _name(names: Sequence[str]) -> str:
    """Name some systems, the last with *and*; of many the first.

    Examples
    --------
    >>> _name(["a"]), _name(["a", "b", "c"]), _name(list("abcdefghij"))
    ('a', 'a, b and c', 'a, b, c, d, e, f, g, h and 2 more')
    """
    more = len(names) - MOST_NAMED  # naming one more takes no more room than "and 1 more"
    shown = [*names[:MOST_NAMED], f"{more:,} more"] if more > 1 else [*names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
