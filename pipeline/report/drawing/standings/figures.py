"""Forests and matrices of a report's own rows: those of models where verdicts are about models, else those of systems."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pipeline.interfaces.wording import name_metric
from pipeline.report.document import Report
from pipeline.report.drawing.standings.forest import Entry, draw_forest
from pipeline.report.drawing.standings.matrix import STATES, Grid, draw_matrix
from pipeline.report.drawing.svg import Drawing
from pipeline.report.rows import BoardRow, ClusterRow, FamilyKey, family_of
from pipeline.report.values import format_gain, format_number, format_p, on_set

__all__ = ["draw_models", "draw_systems"]

MOST_LINES = 40
MOST_CELLS = 300
"""Systems of a forest, and of a matrix; of more the first are drawn, and captions say so."""

_VERDICTS = {"not separated": 1, "inconclusive": 1, "better": 2, "equivalent": 3, "identical": 3}
_COLOURS = {
    "separated": "Blue: the row is better, separated at α = {alpha:g}",
    "not separated": "Grey: not separated",
    "equivalent": "Green: equivalent, or identical",
    "other": "Empty: no verdict",
}
"""What the captions of matrices say of the states that are there."""


def draw_models(report: Report) -> Iterator[tuple[str, Drawing]]:
    """Draw the runs of models with their means and spread, and the pairs of models; each with the name of its kind."""
    for test_set, metric in dict.fromkeys((place.test_set, place.metric) for place in report.places):
        place = next(place for place in report.places if (place.test_set, place.metric) == (test_set, metric))
        rows = [row for row in report.models_of(place) if row.score is not None]
        if len(rows) < 2:
            continue
        shown, digits = rows[:MOST_LINES], report.decimals(metric)
        pairs = report.model_pairs_of(place)
        beaten = {row.model_b for row in pairs if row.verdict == "better" and row.model_a == rows[0].model}
        entries = [
            Entry(
                name=f"{row.model} ({row.runs})",
                number=format_number(row.score, digits),
                score=row.score or 0.0,
                ends=None if row.lowest is None or row.highest is None else (row.lowest, row.highest),
                core=None if row.sd is None or row.score is None else (row.score - row.sd, row.score + row.sd),
                ranks=None if not row.rank_low or not row.rank_high or not row.rank else (row.rank, row.rank_low, row.rank_high),
                leads=row.model not in beaten,
            )
            for row in shown
        ]
        best = rows[0]
        title = f"Models {on_set(test_set)}, {name_metric(metric)}"
        alt = f"{len(rows)} models; {best.model} has the best mean, {format_number(best.score, digits)}, over {best.runs} runs."
        caption = (
            "Dot: mean over a model's runs, whose number is in brackets; blue: not separated from the best. Thick bar: one "
            "standard deviation. Line: all runs. On the right, the rank with the ranks that the separated pairs leave open."
        )
        wide, narrow = _forests(entries, metric=metric, systems=len(rows), title=title, alt=alt)
        told = caption + _first(len(shown), len(rows))
        yield "models", Drawing("models", "", title, alt, told, wide, "models.csv", narrow)
        ranked = [row.model for row in rows if row.rank is not None]
        if len(ranked) > 2:
            cells = ((row.model_a, row.model_b, row.verdict, row.delta, row.p_adjusted) for row in pairs)
            grid = _fill(ranked, cells, digits, leads={*ranked} - beaten, ruled=())
            title = f"Pairs of models {on_set(test_set)}, {name_metric(metric)}"
            yield "matrix", _matrix(report, grid, "models", title, "model_pairs.csv")


def draw_systems(report: Report) -> Iterator[tuple[str, Drawing]]:
    """Draw the scores of systems with their intervals and ranks, and their pairs; each with the name of its kind."""
    for where in report.places:
        rows = [row for row in report.board_of[where] if row.score is not None]
        if len(rows) < 2:
            continue
        of = {row.definition: row for row in report.clusters if family_of(row) == where}
        leads, ruled = _leaders(of), _ruled(of)
        if where == _place_of_forest(report, where):
            yield "scores", _forest(report, where, rows, leads, ruled)
        ranked = [row.name for row in rows if row.rank is not None][:MOST_CELLS]
        if len(ranked) > 2 and where.procedure == report.procedures[0] and not report.model_pairs_of(where):
            pairs = report.pairs_of[where]
            asked = ("system_a", "system_b", "verdict", "delta", "p_adjusted")
            cells = zip(*(pairs.values(name).tolist() for name in asked), strict=True)
            grid = _fill(ranked, cells, report.decimals(where.metric), leads=leads, ruled=ruled)
            title = f"Pairs {on_set(where.test_set)}, {name_metric(where.metric)}{report.name_procedure(where.procedure)}"
            yield "matrix", _matrix(report, grid, "leaderboard", title, "pairs.csv", len(rows))


def _place_of_forest(report: Report, where: FamilyKey) -> FamilyKey:
    """Return the one place of a test set and metric that has the forest: scores are the same whatever procedure compares them."""
    places = [place for place in report.places if (place.test_set, place.metric) == (where.test_set, where.metric)]
    return next((place for place in places if any(row.interval for row in report.board_of[place])), places[0])


def _forest(report: Report, where: FamilyKey, rows: Sequence[BoardRow], leads: set[str], ruled: Iterable[str]) -> Drawing:
    digits, shown = report.decimals(where.metric), rows[:MOST_LINES]
    marked = {*ruled}
    entries = [
        Entry(
            name=row.name,
            number=format_number(row.score, digits),
            score=row.score or 0.0,
            ends=None if row.interval is None else (row.interval.lo, row.interval.hi),
            ranks=None if row.rank is None else (row.rank, row.rank_low or row.rank, row.rank_high or row.rank),
            leads=row.name in leads,
            ruled=row.name in marked,
        )
        for row in shown
    ]
    best = rows[0]
    title = f"Scores {on_set(where.test_set)}, {name_metric(where.metric)}{report.name_procedure(where.procedure)}"
    alt = f"{len(rows)} systems; {best.name} has the best score, {format_number(best.score, digits)}"
    if best.rank_low and best.rank_high:
        span = f"rank {best.rank_low}" if best.rank_low == best.rank_high else f"rank {best.rank_low} to {best.rank_high}"
        alt += f", and may have {span}" if best.rank_low != best.rank_high else f", and has {span}"
    level = next((f"{100 * row.interval.level:g} % interval" for row in shown if row.interval), None)
    caption = f"Dot: score. Line: its {level}; whether two overlap does not say whether they differ. " if level else "Dot: score. "
    if any(entry.ranks for entry in entries):
        caption += "On the right, the rank with the ranks that the separated pairs leave open. Blue: not separated from the best."
    if any(entry.ruled for entry in entries):
        caption += " A line across: all above it are separated from all below."
    caption = caption.rstrip() + _first(len(shown), len(rows))
    wide, narrow = _forests(entries, metric=where.metric, systems=len(rows), title=title, alt=f"{alt}.")
    return Drawing("leaderboard", "", title, f"{alt}.", caption, wide, "leaderboard.csv", narrow)


def _forests(entries: Sequence[Entry], *, metric: str, systems: int, title: str, alt: str) -> tuple[str, str]:
    """Return a forest for a page of any width, and for a phone."""
    draw = partial(draw_forest, entries, metric=metric, systems=systems, title=title, alt=alt)
    return draw(), draw(narrow=True)


def _matrix(report: Report, grid: Grid, section: str, title: str, table: str, systems: int = 0) -> Drawing:
    count, there = len(grid.names), {STATES[state] for state in np.unique(grid.state[np.triu_indices(len(grid.names), 1)]).tolist()}
    alt = f"{count} by {count}: {int((grid.state == 2).sum()):,} of {count * (count - 1) // 2:,} pairs are separated."
    told = ["Row against column, the best first."]
    told += [f"{colour}." for state, colour in _COLOURS.items() if state in there]
    told += ["Where there is room, above the diagonal the gain and below it the adjusted p."] * (grid.gain is not None)
    told += ["A bar beside a name: not separated from the best."]
    told += ["A line: all above it are separated from all below."] * any(grid.ruled)
    caption = " ".join(told).format(alpha=report.alpha) + _first(count, systems)
    wide, narrow = (draw_matrix(grid, title=title, alt=alt, narrow=narrow) for narrow in (False, True))
    return Drawing(section, "", title, alt, caption, wide, table, narrow)


def _fill(
    names: Sequence[str],
    pairs: Iterable[tuple[str, str, str | None, float | None, float | None]],
    digits: int,
    *,
    leads: Iterable[str],
    ruled: Iterable[str],
) -> Grid:
    from pipeline.report.drawing.standings.matrix import WRITTEN

    place: Mapping[str, int] = {name: number for number, name in enumerate(names)}
    count = len(names)
    state = np.zeros((count, count), np.int8)
    written = count <= WRITTEN
    gain, p = (np.full((count, count), "", dtype=object) for _ in range(2))
    kept = [*pairs]
    digits = _digits(digits, (delta for *_, delta, _ in kept))
    write: tuple[tuple[Any, Callable[[Any], str]], ...] = ((gain, lambda value: _format_gain(value, digits)), (p, _format_p))
    for a, b, verdict, delta, adjusted in kept:
        if a not in place or b not in place:
            continue
        row, column = sorted((place[a], place[b]))
        state[row, column] = _VERDICTS.get(verdict or "", 0)
        if written:
            for (cells, form), value in zip(write, (delta, adjusted), strict=True):
                cells[row, column] = "" if value is None else form(value)
    ahead, below = {*leads}, {*ruled}
    return Grid(
        names,
        state,
        gain if written else None,
        p if written else None,
        leads=[name in ahead for name in names],
        ruled=[name in below for name in names],
    )


def _digits(digits: int, gains: Iterable[float | None]) -> int:
    """Return how many decimals a cell has room for: three digits of the largest gain."""
    largest = max((abs(gain) for gain in gains if gain), default=0.0)
    return min(digits, max(0, 2 - math.floor(math.log10(largest)))) if largest else digits


def _format_gain(value: float, digits: int) -> str:
    return format_gain(value, digits).replace(" ", "")


def _format_p(value: float) -> str:
    return "<0.001" if value < 0.001 else format_p(value)


def _leaders(of: Mapping[str, ClusterRow]) -> set[str]:
    row = of.get("ties-with-the-best")
    return {name for group in (row.groups or () if row else ()) for name in group}


def _ruled(of: Mapping[str, ClusterRow]) -> list[str]:
    """Return the first system below each line."""
    row = of.get("lines-all-above-all-below")
    return [group[0] for group in (row.groups or () if row else ())[1:] if group]


def _first(shown: int, there: int) -> str:
    return f" Shown: the first {shown:,} of {there:,}." if shown < there else ""
