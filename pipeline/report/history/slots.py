"""The results of one slot of a history, and what changed since the slot before: values and plain words, from a report.

A slot is one time at which a study is analysed again, such as a night. Its level is its share of α
(`pipeline.inference.sequential.spending`), so that sides of pairs are claimed with one α for all slots of a period together.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from pipeline.dataclass import dataclass
from pipeline.errors import StudyError
from pipeline.inference.sequential.spending import Spending
from pipeline.interfaces.wording import name_metric
from pipeline.report.document import Report
from pipeline.report.models.model_rows import ModelPairRow
from pipeline.report.rows import FamilyKey, PairRow
from pipeline.report.values import format_gain

__all__ = [
    "Change",
    "Look",
    "PairFound",
    "Side",
    "SlotFound",
    "ThresholdFound",
    "level_of",
    "list_changes",
    "next_look",
    "read_slot",
]

Side: TypeAlias = Literal["not measured", "open", "first", "second", "equal"]
_EQUAL = {"equivalent", "identical"}
_NONE = {None, "not measured", "not testable"}


class Look(NamedTuple):
    """Which look of which period a slot is, both from 1 on, and how its period shares out α."""

    period: int
    look: int
    looks: int | None
    alpha: float


class PairFound(NamedTuple):
    """A pair in the order of the alphabet: the gain of the first, the p that decides, who is better at the level of the slot."""

    gain: float | None
    p: float | None
    side: Side


class ThresholdFound(NamedTuple):
    """A threshold and the ends of its interval, where it has them."""

    gain: float | None
    low: float | None
    high: float | None


class Change(NamedTuple):
    """One change, with its kind."""

    kind: Literal["settings", "input", "system", "pair", "threshold"]
    text: str


@dataclass(frozen=True)
class SlotFound:
    """The results of a slot, by the names used in JSON.

    Parameters
    ----------
    board : mapping
        Scores by test set, metric and system.
    pairs : mapping
        By test set, metric and two systems, or models, in the order of the alphabet; of many pairs those that the report lists.
    thresholds : mapping
        By test set, metric, test size, relation and what it is by.
    inputs : mapping
        Digests by test set and system; the items and gold of a test set stand under the test set alone.
    settings : mapping
        Digests by the part of the study.
    """

    board: Mapping[str, float | None]
    pairs: Mapping[str, PairFound]
    thresholds: Mapping[str, ThresholdFound]
    inputs: Mapping[str, str]
    settings: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "board": dict(self.board),
            "pairs": {name: pair._asdict() for name, pair in self.pairs.items()},
            "threshold": {name: one._asdict() for name, one in self.thresholds.items()},
            "inputs": dict(self.inputs),
            "settings": dict(self.settings),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SlotFound:
        """Read what `to_json` wrote."""
        pairs = {name: PairFound(**one) for name, one in value["pairs"].items()}
        thresholds = {name: ThresholdFound(**one) for name, one in value["threshold"].items()}
        return cls(value["board"], pairs, thresholds, value["inputs"], value["settings"])


def next_look(last: Look | None, *, looks: int | None, alpha: float) -> Look:
    """Return the look after the last one that spent anything.

    Raises
    ------
    StudyError
        P741: the period has begun, and would share out another α, or in another way.
    """
    if last is None:
        return Look(1, 1, looks, alpha)
    if last.looks is not None and last.look >= last.looks:
        return Look(last.period + 1, 1, looks, alpha)
    if (last.looks, last.alpha) != (looks, alpha):
        was = f"{'endless looks' if last.looks is None else f'{last.looks} looks'} at α = {last.alpha:g}"
        raise StudyError.of(
            "P741",
            f"this history shares out {was}, of which {last.look} {'is' if last.look == 1 else 'are'} spent",
            help="a plan changed after a look promises nothing: keep --looks and `resampling.alpha`, or begin another --history",
        )
    return Look(last.period, last.look + 1, looks, alpha)


def level_of(look: Look, report: Report) -> float:
    """Return the level of one family at a look: its share of α, which families share again unless p is corrected across them."""
    families = max(1, report.families.judged) if report.families.across == "none" else 1
    return look.alpha * Spending(look.looks).share(look.look) / families


_OF_A_THRESHOLD = {"test_set", "metric", "test_size", "procedure", "relation", "relation_by", "values", "gain", "interval"}
"""What the row of a threshold has; rows of a size curve have a gain too, of no relation and without an interval."""


def read_slot(report: Report, level: float, *, inputs: Mapping[str, str], settings: Mapping[str, str]) -> SlotFound:
    """Return what a report found, with sides at this level, by the study's first procedure."""
    first = [place for place in report.places if place.procedure == report.procedures[0]]
    board = {_name(row.test_set, metric, row.name): score for row in report.systems for metric, score in row.scores.items()}
    pairs: dict[str, PairFound] = {}
    for place in first:
        rows: Sequence[PairRow | ModelPairRow] = report.model_pairs_of(place) or list(report.pairs_of[place])
        pairs.update(_read_pair(row, place, level) for row in rows)
    # Several analyses might have thresholds: they are recognised by the keys of their rows.
    rows_of_findings = (row for finding in report.findings for row in finding.rows if row.keys() >= _OF_A_THRESHOLD)
    thresholds = dict(_read_threshold(row) for row in rows_of_findings if row.get("procedure") == report.procedures[0])
    return SlotFound(board, pairs, thresholds, dict(inputs), dict(settings))


def _read_pair(row: PairRow | ModelPairRow, place: FamilyKey, level: float) -> tuple[str, PairFound]:
    a, b = (row.model_a, row.model_b) if isinstance(row, ModelPairRow) else (row.system_a, row.system_b)
    turned = a > b
    p, side = row.p_adjusted, "open"
    if row.verdict in _NONE:
        side = "not measured"
    elif row.verdict == "better" and p is not None and p <= level:
        side = "second" if turned else "first"
    elif row.verdict in _EQUAL and (row.identical or _shown_equal(row, level)):
        side = "equal"
    gain = row.delta if row.delta is None or not turned else -row.delta
    return _name(place.test_set, place.metric, *sorted((a, b))), PairFound(gain, p, side)  # type: ignore[arg-type]


def _shown_equal(row: PairRow | ModelPairRow, level: float) -> bool:
    return row.p_equivalence_holm is not None and row.p_equivalence_holm <= level


def _read_threshold(row: Mapping[str, Any]) -> tuple[str, ThresholdFound]:
    by = row.get("relation_by")
    key = _name(
        row["test_set"], row["metric"], row["test_size"], row["relation"], "" if by is None else str(by), *map(str, row["values"])
    )
    ends = row["interval"] or {}
    return key, ThresholdFound(row["gain"], ends.get("lo"), ends.get("hi"))


def list_changes(before: SlotFound, now: SlotFound) -> list[Change]:
    """Return the changes since the slot before, in the same words for the same results."""
    return [
        *(Change("settings", f"the study has another {part}") for part in _differing(before.settings, now.settings)),
        *_changed_inputs(before.inputs, now.inputs),
        *_changed_systems(before.board, now.board),
        *_changed_pairs(before, now),
        *_moved_thresholds(before.thresholds, now.thresholds),
    ]


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]


def _changed_inputs(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[Change]:
    for key in _differing(before, now):
        test_set, *system = json.loads(key)
        if key in before and key in now:
            what = f"other outputs of {system[0]}" if system else "other items, references or gold"
            yield Change("input", f"{test_set}: {what}")
        elif not system:
            yield Change("input", f"{'new' if key in now else 'no longer a'} test set: {test_set}")


def _changed_systems(before: Mapping[str, float | None], now: Mapping[str, float | None]) -> Iterator[Change]:
    known, there = ({(one[0], one[2]) for one in map(json.loads, board)} for board in (before, now))
    for test_set, system in sorted(there - known):
        yield Change("system", f"{test_set}: {system} is new")
    for test_set, system in sorted(known - there):
        yield Change("system", f"{test_set}: {system} is gone")


def _changed_pairs(before: SlotFound, now: SlotFound) -> Iterator[Change]:
    for key in sorted(now.pairs.keys() & before.pairs.keys()):
        was, found = before.pairs[key], now.pairs[key]
        if was.side != found.side:
            test_set, metric, a, b = json.loads(key)
            gain = "" if found.gain is None else f" ({a} is ahead by {format_gain(found.gain, 4)})"
            if found.gain is not None and found.gain < 0:
                gain = f" ({b} is ahead by {format_gain(-found.gain, 4)})"
            change = f"was: {_say_side(a, b, was.side)}; now: {_say_side(a, b, found.side)}"
            yield Change("pair", f"{test_set} by {name_metric(metric)}, {a} and {b}: {change}{gain}")


def _say_side(a: str, b: str, side: Side) -> str:
    words = {"first": f"{a} is better", "second": f"{b} is better", "equal": "equivalent", "open": "not shown which is better"}
    return words.get(side, side)


def _moved_thresholds(before: Mapping[str, ThresholdFound], now: Mapping[str, ThresholdFound]) -> Iterator[Change]:
    for key in sorted(now.keys() & before.keys()):
        was, found = before[key], now[key]
        if was.gain is None or found.gain is None:
            continue
        below = was.low is not None and found.gain < was.low
        above = was.high is not None and found.gain > was.high
        if below or above:
            test_set, metric, size, *others = json.loads(key)
            end = f"below {format_gain(was.low, 4)}" if below else f"above {format_gain(was.high, 4)}"
            told = f"{format_gain(was.gain, 4)}, now {format_gain(found.gain, 4)}, {end}, an end of its interval before"
            which = f"threshold of {' '.join(filter(None, others))} at {size}"
            yield Change("threshold", f"{test_set} by {name_metric(metric)}, {which}: {told}")


def _name(*parts: str) -> str:
    return json.dumps(parts, ensure_ascii=False)
