"""All verdicts of a report in one table, a row a test set and metric, and a sentence on what they come to.

A reader of many verdicts wants to know who is best where, and what is decided, before reading any of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from pipeline.dataclass import dataclass
from pipeline.errors import name_some
from pipeline.interfaces.wording import call_metrics, name_metric
from pipeline.report.document import Report
from pipeline.report.families.adjustment import ACROSS_TITLES, name_adjustment
from pipeline.report.layout.view import View
from pipeline.report.rows import FamilyKey, Verdict, family_of
from pipeline.report.trainings import say_only_model
from pipeline.report.values import MISSING, format_number

__all__ = ["Overview", "are_many", "look_over"]

FEWEST_SETS, FEWEST = 4, 6
"""Test sets, or verdicts where several metrics are asked, from which on a table of them comes first."""

MOST_NAMED = 3
"""Systems that the sentence names; it counts the others."""


@dataclass(frozen=True)
class Overview:
    """All verdicts in short: a sentence for each metric, and a table with a row for each test set and metric."""

    sentences: Sequence[str]
    table: View


class _Row(NamedTuple):
    """Who is best by a metric on a test set, and what is decided there; ``beaten`` is said of each of the best."""

    place: FamilyKey
    best: Sequence[str]
    score: float | None
    beaten: Sequence[int]
    others: int
    separated: int
    pairs: int
    words: Mapping[str, int]


class _Against(NamedTuple):
    """The score of the baseline by a metric on a test set, and the systems by their verdict against it."""

    place: FamilyKey
    score: float | None
    systems: Mapping[str, Sequence[str]]


def are_many(verdicts: Sequence[Verdict]) -> bool:
    """Say whether there are so many verdicts that a reader wants a table of them first."""
    return len({verdict.test_set for verdict in verdicts}) >= FEWEST_SETS or len(verdicts) >= FEWEST


def look_over(report: Report) -> Overview | None:
    """Return all verdicts in one table; None where there are too few of them to need one."""
    if not are_many(report.verdict):
        return None
    places = [family_of(verdict) for verdict in report.verdict]
    with call_metrics(report.titles):
        if report.family.baseline is not None:
            return _of_baseline(report, [_against(report, place) for place in places], report.family.baseline)
        return _of_all_pairs(report, [_row(report, place) for place in places])


def _row(report: Report, place: FamilyKey) -> _Row:
    rows = report.model_pairs_of(place)
    if rows:
        models = [row for row in report.models_of(place) if row.rank is not None]
        best = [row for row in models if row.rank == 1]
        separated = sum(row.verdict == "better" or bool(row.differs_within_margin) for row in rows)
        return _Row(
            place,
            [row.model for row in best],
            best[0].score if best else None,
            [row.beats for row in best],
            max(len(models) - 1, 0),
            separated,
            sum(row.p is not None for row in rows),
            Counter(row.verdict for row in rows),
        )
    if say_only_model(report, place) is not None:
        return _Row(place, [], None, [], 0, 0, 0, {})
    systems = [row for row in report.board_of[place] if row.rank is not None]
    ahead = [row for row in systems if row.rank == 1]
    counts, pairs = report.count_of[place], report.pairs_of[place]
    return _Row(
        place,
        [row.name for row in ahead],
        ahead[0].score if ahead else None,
        [row.beats for row in ahead],
        max(len(systems) - 1, 0),
        counts.separated,
        pairs[0].adjustment.family_size if pairs else 0,
        counts.verdicts,
    )


def _against(report: Report, place: FamilyKey) -> _Against:
    systems: dict[str, list[str]] = {}
    for row in report.board_of[place]:
        if row.against_baseline is not None:
            systems.setdefault(row.against_baseline, []).append(row.name)
    own = next((row.score for row in report.board_of[place] if row.name == report.family.baseline), None)
    return _Against(place, own, systems)


def _of_all_pairs(report: Report, rows: Sequence[_Row]) -> Overview:
    models = {bool(report.model_pairs_of(row.place)) for row in rows} == {True}
    more = [word for word in ("equivalent", "not decided") if any(row.words.get(word) for row in rows)]
    where = _Place(report, len({row.place.test_set for row in rows}) > 1, _names(rows))
    columns = (*where.heads, "best", "mean" if models else "score", "better than", "pairs separated", *more)
    cells = []
    for row in rows:
        beaten = MISSING if not row.best else f"{_range(row.beaten)} of {row.others:,}"
        separated = f"{row.separated:,} of {row.pairs:,}" if row.best else MISSING
        score = format_number(row.score, report.decimals(row.place.metric))
        best = name_some(row.best, MOST_NAMED) or MISSING
        cells.append((*where.cells(row.place), best, score, beaten, separated, *(f"{row.words.get(word, 0):,}" for word in more)))
    noun = "models" if models else "systems"
    caption = f"Better than: from how many of the other {noun} the best one is separated. {_how(report, rows)}"
    table = View(
        "overview",
        _title(rows),
        columns,
        tuple(cells),
        caption,
        frozenset({"test set", "metric", "best"}),
        frozenset({"test set", "metric", "best", columns[columns.index("best") + 1], "better than"}),
    )
    return Overview([_lead(metric, of, _names(rows)) for metric, of in _by_metric(rows).items()], table)


def _of_baseline(report: Report, rows: Sequence[_Against], baseline: str) -> Overview:
    better, worse = (f"{word} than {baseline}" for word in ("better", "worse"))
    words = [
        word for word in ("equivalent", "not separated", "inconclusive", "not decided") if any(word in row.systems for row in rows)
    ]
    where = _Place(report, len({row.place.test_set for row in rows}) > 1, _names(rows))
    cells = []
    for row in rows:
        score = format_number(row.score, report.decimals(row.place.metric))
        sides = (name_some(row.systems.get(word, ()), MOST_NAMED) or MISSING for word in ("better", "worse"))
        cells.append((*where.cells(row.place), score, *sides, *(f"{len(row.systems.get(word, ())):,}" for word in words)))
    table = View(
        "overview",
        _title(rows),
        (*where.heads, f"score of {baseline}", better, worse, *words),
        tuple(cells),
        _how(report, rows),
        frozenset({"test set", "metric", better, worse}),
        frozenset({"test set", "metric", better, worse}),
    )
    return Overview([_lead_against(metric, of, _names(rows), baseline) for metric, of in _by_metric(rows).items()], table)


_Any = TypeVar("_Any", _Row, _Against)


def _by_metric(rows: Sequence[_Any]) -> dict[str, list[_Any]]:
    found: dict[str, list[_Any]] = {}
    for row in rows:
        found.setdefault(row.place.metric, []).append(row)
    return found


def _names(rows: Sequence[_Any]) -> bool:
    """Say whether a sentence must name its metric."""
    return len({row.place.metric for row in rows}) > 1


def _title(rows: Sequence[_Any]) -> str:
    return "All verdicts" + f" · {name_metric(rows[0].place.metric)}" * (not _names(rows))


class _Place(NamedTuple):
    """The columns that say where a row is from: what is the same in all rows is left out."""

    report: Report
    several: bool
    metrics: bool

    @property
    def heads(self) -> tuple[str, ...]:
        metric = ["metric"] if self.metrics else []
        return ("test set", *metric, "units") if self.several else tuple(metric)

    def cells(self, place: FamilyKey) -> tuple[str, ...]:
        metric = [name_metric(place.metric)] if self.metrics else []
        return (place.test_set, *metric, f"{self.report.test_set(place.test_set).units:,}") if self.several else tuple(metric)


def _how(report: Report, rows: Sequence[_Any]) -> str:
    """Say by which adjustment each row is judged, whether anything corrects across rows, and where lower scores are better."""
    of_models = any(report.model_pairs_of(row.place) for row in rows)
    used = dict.fromkeys("Holm" if of_models else name_adjustment(report.pairs_of[row.place]) for row in rows)
    within = f"p adjusted is by {' or '.join(used)} over the pairs of a row, two-sided, α = {report.alpha:g}"
    across = report.families.across
    told = ", and corrected across rows (" + ACROSS_TITLES[across] + ")" if across != "none" else "; nothing corrects across rows"
    falling = dict.fromkeys(name_metric(row.place.metric) for row in rows if report.falls(row.place))
    lower = f" Lower is better: {', '.join(falling)}." if falling else ""
    return f"{within}{told}.{lower}"


def _lead(metric: str, rows: Sequence[_Row], named: bool) -> str:
    """Say which systems have the best score on how many test sets, and on how many they are separated from all others."""
    first = Counter(name for row in rows for name in row.best)
    # Who shares the best score is not separated from all others, whatever the rest.
    sure = Counter(row.best[0] for row in rows if len(row.best) == 1 and row.others and row.beaten[0] == row.others)
    ties = any(len(row.best) > 1 for row in rows)
    by = f"By {name_metric(metric)}, " if named else ""
    if not first:
        return f"{by}{'n' if by else 'N'}o system has a defined score."
    if len(rows) == 1:
        one = name_some([*first], MOST_NAMED)
        return f"{by}{one} {'share' if ties else 'has'} the best score, {_sure(rows[0])}."
    return f"{by}{'; '.join(_claims(first, sure, len(rows), ties))}."


def _sure(row: _Row) -> str:
    rest, others = row.others - (len(row.best) - 1), "all others" if len(row.best) == 1 else "all the rest"
    return f"separated from {others}" if rest > 0 and min(row.beaten) == rest else f"not separated from {others}"


def _claims(first: Counter[str], sure: Counter[str], total: int, ties: bool) -> Iterator[str]:
    ordered = [name for name, _ in first.most_common()]
    named = ordered if len(ordered) <= MOST_NAMED + 1 else ordered[:MOST_NAMED]
    for at, name in enumerate(named):
        on = f"all {total:,} test sets" if first[name] == total else f"{first[name]:,}" + f" of {total:,} test sets" * (not at)
        does = f" {'has or shares' if ties else 'has'} the best score" if not at else ""
        yield f"{name}{does} on {on}, {_where_sure(sure[name], first[name])}"
    if len(ordered) > len(named):
        yield f"{len(ordered) - len(named):,} others on fewer"


def _where_sure(sure: int, first: int) -> str:
    if not sure:
        return "nowhere separated from all others"
    there = "there" if first == 1 else "on all of them" if sure == first else f"on {sure:,} of them"
    return f"separated from all others {there}"


def _lead_against(metric: str, rows: Sequence[_Against], named: bool, baseline: str) -> str:
    """Say which systems are better or worse than the baseline, and on how many test sets."""
    better, worse = (Counter(name for row in rows for name in row.systems.get(word, ())) for word in ("better", "worse"))
    systems = {name for row in rows for names in row.systems.values() for name in names}
    held = sorted(better.keys() | worse.keys(), key=lambda name: (-better[name], worse[name], name))
    by = f"By {name_metric(metric)}, " if named else ""
    several = len(rows) > 1
    if not held:
        return f"{by}{'n' if by else 'N'}o system is separated from {baseline}{' on any test set' * several}."
    shown = held if len(held) <= MOST_NAMED + 1 else held[:MOST_NAMED]
    parts = []
    for at, name in enumerate(shown):
        than, of = (f" than {baseline}", f" of {len(rows):,} test sets") if not at else ("", "")
        sides = [(word, count[name]) for word, count in (("better", better), ("worse", worse)) if count[name]]
        told = [f"{word}{than}" + f" on {number:,}{of}" * several for word, number in sides]
        parts.append(f"{name} is {told[0]}" + (f" and worse on {worse[name]:,}" if len(told) > 1 else ""))
    if rest := len(held) - len(shown):
        parts.append(f"{rest:,} others are separated from it{' on some' * several}")
    if none := len(systems) - len(held):
        are = "is" if none == 1 else "are"
        parts.append(f"{none:,} {are} separated from it on none" if several else f"{none:,} {are} not separated from it")
    return f"{by}{'; '.join(parts)}."


def _range(counts: Sequence[int]) -> str:
    return f"{min(counts):,}" if min(counts) == max(counts) else f"{min(counts):,} to {max(counts):,}"
