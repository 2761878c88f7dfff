"""The answer of a gate: of each candidate against a baseline, better, equivalent, inconclusive, worse, or not to be measured.

Nothing is decided here: the answers are the verdicts of the report, seen from the candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Literal, TypeAlias

from pipeline.dataclass import dataclass
from pipeline.inference.unit_diagnostics.undecided import explain_undecided
from pipeline.interfaces.wording import name_metric, write_p_at
from pipeline.report.document import Report
from pipeline.report.layout.markdown import escape
from pipeline.report.models.model_rows import ModelPairRow
from pipeline.report.rows import FamilyKey, PairRow
from pipeline.report.values import format_gain, format_interval, format_p, on_set

__all__ = ["ANSWERS", "Answer", "Judged", "conclude_gate", "judge_candidates", "render_annotations", "render_gate"]

Answer: TypeAlias = Literal["worse", "could not measure", "inconclusive", "equivalent", "better"]

ANSWERS: tuple[Answer, ...] = ("worse", "could not measure", "inconclusive", "equivalent", "better")
"""Ordered from the answer that stops a release to the one in its favour: a gate gives the first that any comparison has."""

_EQUAL = {"equivalent", "identical"}
_OPEN = {"not separated", "inconclusive", "not decided"}
_MARKS = {"worse": "✗", "could not measure": "?", "inconclusive": "~", "equivalent": "=", "better": "✓"}
_PHRASES = {
    "worse": "{candidate} is worse than {baseline}",
    "could not measure": "{candidate} could not be compared with {baseline}",
    "inconclusive": "whether {candidate} is better or worse than {baseline} is open",
    "equivalent": "{candidate} is equivalent to {baseline}",
    "better": "{candidate} is better than {baseline}",
}
_LEVELS = {"worse": "error", "could not measure": "warning", "inconclusive": "warning", "equivalent": "notice", "better": "notice"}


@dataclass(frozen=True)
class Judged:
    """One candidate against the baseline on a test set by a metric.

    Parameters
    ----------
    test_set, metric, candidate, baseline : str
    answer : Answer
    gain : float, optional
        Of the candidate, in points of the metric; below 0 where it is worse.
    interval : tuple of float, optional
        Of the gain, at the level of the verdict.
    p : float, optional
        Adjusted: what the verdict is by.
    why : str
        What a reader should know beside the answer; empty where there is nothing.
    digits : int
        Decimals of the metric.
    p_equivalence : float, optional
        Adjusted: what ``equivalent`` is by; none without a margin, and of identical outputs.
    open_at_zero : bool
        Whether the end of the interval that lies nearer to 0 is left out of it.
    title : str
        What people call the metric; empty in accounts of earlier versions.
    level : float, optional
        What the adjusted p is held to.
    """

    test_set: str
    metric: str
    candidate: str
    baseline: str
    answer: Answer
    gain: float | None
    interval: tuple[float, float] | None
    p: float | None
    why: str
    digits: int
    p_equivalence: float | None = None
    open_at_zero: bool = False
    title: str = ""
    level: float | None = None

    @property
    def called(self) -> str:
        """The title of the metric."""
        return self.title or name_metric(self.metric)

    def say(self) -> str:
        """Return it as a sentence."""
        said = _PHRASES[self.answer].format(candidate=self.candidate, baseline=self.baseline)
        p = "" if self.p is None else f"p {self.show_p()}"
        numbers = ", ".join(part for part in (self.show_gain(), p) if part)
        where = f" {on_set(self.test_set)} by {self.called}"
        return said + where + (f": {numbers}" if numbers else "") + (f" ({self.why})" if self.why else "")

    def show_gain(self) -> str:
        """Return the gain with its sign and its interval."""
        if self.gain is None:
            return ""
        gain = format_gain(self.gain, self.digits)
        sign = "+" if self.gain > 0 and gain[0].isdigit() else ""
        return " ".join(filter(None, (f"{sign}{gain}", self._show_interval())))

    def _show_interval(self) -> str:
        if self.interval is None:
            return ""
        ends = format_interval({"lo": self.interval[0], "hi": self.interval[1]}, self.digits)
        if not self.open_at_zero:
            return ends
        return f"({ends[1:]}" if abs(self.interval[0]) < abs(self.interval[1]) else f"{ends[:-1]})"

    def show_p(self) -> str:
        """Return the adjusted p, on its own side of the level."""
        with nullcontext() if self.level is None else write_p_at(self.level):
            return format_p(self.p)


def judge_candidates(report: Report, baseline: str, candidates: Sequence[str] = ()) -> list[Judged]:
    """Return the answer of every candidate on every test set by every metric, by the study's first procedure.

    Parameters
    ----------
    report : Report
    baseline : str
        A system, or a model where verdicts are about models.
    candidates : sequence of str
        All others where none is named.
    """
    first = [place for place in report.places if place.procedure == report.procedures[0]]
    return [
        replace(one, title=report.titles.get(place.metric, ""), level=report.alpha)
        for place in first
        for one in _of_family(report, place, baseline, candidates)
    ]


def _of_family(report: Report, place: FamilyKey, baseline: str, candidates: Sequence[str]) -> Iterator[Judged]:
    digits = report.decimals(place.metric)
    found: dict[str | None, PairRow | ModelPairRow] = {}
    if report.model_pairs_of(place):
        found.update((_other(row.model_a, row.model_b, baseline), row) for row in report.model_pairs_of(place))
        names = [row.model for row in report.models_of(place)]
    else:
        found.update((_other(row.system_a, row.system_b, baseline), row) for row in report.pairs_of[place])
        names = [row.name for row in report.board_of[place]]
    for name in candidates or [name for name in names if name != baseline]:
        row = found.get(name)
        if row is not None:
            yield _judge(row, place, name, baseline, digits)
        else:
            absent = [one for one in (name, baseline) if one not in names]
            why = f"there is no result of {' and '.join(absent)}" if absent else "the pair has no result"
            yield Judged(place.test_set, place.metric, name, baseline, "could not measure", None, None, None, why, digits)


def _other(a: str, b: str, baseline: str) -> str | None:
    return b if a == baseline else a if b == baseline else None


def _judge(row: PairRow | ModelPairRow, place: FamilyKey, name: str, baseline: str, digits: int) -> Judged:
    first = row.model_a if isinstance(row, ModelPairRow) else row.system_a
    ahead = first == name
    answer: Answer = "could not measure"
    if row.verdict == "better":
        answer = "better" if ahead else "worse"
    elif row.verdict in _EQUAL:
        answer = "equivalent"
    elif row.verdict in _OPEN:
        answer = "inconclusive"
    gain = row.delta if row.delta is None or ahead else -row.delta
    interval = None
    if row.interval is not None and row.interval.lo is not None and row.interval.hi is not None:
        interval = (row.interval.lo, row.interval.hi) if ahead else (-row.interval.hi, -row.interval.lo)
    open_at_zero = getattr(row.interval, "open", False)  # that of a model is held to the verdict otherwise
    tested = row.p_adjusted, _explain(row), digits, row.p_equivalence_holm, open_at_zero
    return Judged(place.test_set, place.metric, name, baseline, answer, gain, interval, *tested)


def _explain(row: PairRow | ModelPairRow) -> str:
    if row.identical or row.verdict == "identical":
        return "identical outputs"
    if row.differs_within_margin:
        return f"a difference within the margin of {row.margin:g}"
    if row.verdict == "not decided":
        models = isinstance(row, ModelPairRow)
        return explain_undecided(row.undecided, units=row.units, models=models) if row.undecided else "no test holds its level here"
    if row.verdict is None:
        return "the pair is outside the family that is tested"
    reason = row.reason if isinstance(row, ModelPairRow) else row.p_reason
    return (reason or "") if row.verdict in {"not measured", "not testable"} else ""


def conclude_gate(judged: Sequence[Judged]) -> Answer:
    """Return the overall answer: the first of `ANSWERS` that any comparison has; without comparisons, that for not measured."""
    there = {one.answer for one in judged}
    return next((answer for answer in ANSWERS if answer in there), "could not measure")


def render_gate(judged: Sequence[Judged], *, run: str) -> str:
    """Return the answer as Markdown: the same bytes for the same results."""
    whole = conclude_gate(judged)
    lines = [f"### {_MARKS[whole]} {whole}", ""]
    lines += ["| | test set | metric | system | baseline | gain | p adjusted | |", "|---|---|---|---|---|--:|--:|---|"]
    for one in sorted(judged, key=lambda one: ANSWERS.index(one.answer)):
        words = (f"{_MARKS[one.answer]} {one.answer}", one.test_set, one.called, one.candidate, one.baseline)
        cells = (*words, one.show_gain() or "–", one.show_p() if one.p is not None else "–", one.why)
        lines.append("| " + " | ".join(map(escape, cells)) + " |")
    return "\n".join([*lines, "", f"Run `{run}`.", ""])


def render_annotations(judged: Sequence[Judged]) -> list[str]:
    """Return the workflow commands by which GitHub shows each answer beside a change: errors, warnings and notices."""
    return [
        f"::{_LEVELS[one.answer]} title={_property(_headline(one))}::{_data(one.say())}"
        for one in sorted(judged, key=lambda one: ANSWERS.index(one.answer))
    ]


def _headline(one: Judged) -> str:
    return f"{one.called} {on_set(one.test_set)}: {one.answer}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
