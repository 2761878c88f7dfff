"""A report in a few lines of plain text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pipeline.interfaces import Check
from pipeline.interfaces.wording import call_metrics, name_metric
from pipeline.report.document import Report
from pipeline.report.layout.excerpts import Excerpt, list_excerpts
from pipeline.report.layout.overview import Overview, look_over
from pipeline.report.layout.terminal import Screen, lay_out
from pipeline.report.presets import tell_preset, trust_preset
from pipeline.report.rows import Verdict
from pipeline.report.trust.trust import FAMILIES

__all__ = ["conclude", "list_doubts", "list_remarks", "show_overview", "summarise", "tint"]


MOST_CHARACTERS = 400
"""Of a check's detail on a terminal; a report has all of it."""

DISPENSABLE = ("exact", "p")
"""Columns of pairs that p adjusted makes dispensable where there is little room: it is at least as large as either."""

ON_FILES = Screen()


def conclude(verdicts: Sequence[Verdict], *, titles: Mapping[str, str], leads: Sequence[str] = (), most: int = 5) -> list[str]:
    """Return the result of a run in a few lines: the verdict of one family, or the first sentence of each of several.

    Parameters
    ----------
    titles : mapping of str to str
        What people call each metric.
    leads : sequence of str
        What is said of all test sets together, which comes first.
    most : int
        Families to name; the rest is counted.
    """
    if len(verdicts) == 1:
        return [*leads, " ".join(verdicts[0].sentences)]
    with call_metrics(titles):
        lines = [f"{verdict.test_set} · {name_metric(verdict.metric)}: {verdict.sentences[0]}" for verdict in verdicts[:most]]
    rest = len(verdicts) - most
    lines = [*leads, *lines]
    return [*lines, _count_rest(rest)] if rest > 0 else lines


def list_doubts(checks: Sequence[Check]) -> list[str]:
    """Return what p is corrected for; a line for each check that found something; and for each that was not made: why.

    Examples
    --------
    >>> told = [("Failures", "ok", "0."), ("Independence", "not checked", "No one knows. p …"), ("Few units", "check", "12 items.")]
    >>> list_doubts([Check(*row) for row in told])
    ['check: Few units. 12 items.', 'not checked: Independence. No one knows.']
    """
    lines = [f"{'check: ' * (row.status == 'check')}{row.check}. {row.detail}" for row in checks if row.check == FAMILIES]
    lines += [f"check: {row.check}. {_cut(row.detail)}" for row in checks if row.status == "check" and row.check != FAMILIES]
    unmade = [(row.check, row.detail.partition(". ")) for row in checks if row.status == "not checked"]
    return lines + [f"not checked: {name}. {_cut(first)}{'.' * bool(stop)}" for name, (first, stop, _) in unmade]


def _cut(detail: str) -> str:
    if len(detail) <= MOST_CHARACTERS:
        return detail
    end = max(detail.rfind(stop, 0, MOST_CHARACTERS) for stop in (". ", "; ", ", ", " "))
    return f"{detail[: end + 1].rstrip(' ;,')} …" if end > 0 else f"{detail[:MOST_CHARACTERS]}…"


def tint(line: str, screen: Screen) -> str:
    """Fit a line to a terminal, and stress what kind of line it is by the word that it begins with."""
    kind, stop, _ = line.partition(": ")
    styles = {"check": ("yellow",), "warning": ("yellow",), "not checked": ("dim",)}.get(kind)
    fitted = screen.fit(line)
    return screen.paint(kind + ":", *styles) + fitted[len(kind) + 1 :] if styles and stop else fitted


def summarise(report: Report, *, most_pairs: int = 20, rest: str = "are in the report", screen: Screen = ON_FILES) -> str:
    """Return systems by score, the pairs and the verdict of each test set and metric, and what is not in order, as aligned text.

    Parameters
    ----------
    most_pairs : int
        Where there are more pairs, those that a reader looks for first are listed, and the rest is counted.
    rest : str
        Where the rest is.
    screen : Screen
        What the text is written for.
    """
    overview = look_over(report)
    first = [] if overview is None else ["\n".join(show_overview(overview, screen))]
    blocks = [*first, *("\n".join(_tell(one, rest, screen)) for one in list_excerpts(report, most_pairs=most_pairs))]
    told = ["\n".join(tint(line, screen) for line in lines) for lines in list_remarks(report) if lines]
    return "\n\n".join([*blocks, *told, *(screen.fit(line) for line in tell_preset(report))])


def show_overview(overview: Overview, screen: Screen, *, most: int | None = None) -> Iterator[str]:
    """Yield the lines of all verdicts in one table, its sentences before it.

    Parameters
    ----------
    most : int, optional
        Rows to show; the rest is counted.
    """
    table = overview.table
    yield from (screen.paint(screen.fit(sentence), "bold") for sentence in overview.sentences)
    yield ""
    yield from lay_out(replace(table, rows=table.rows[:most]), screen)
    if most is not None and len(table.rows) > most:
        yield _count_rest(len(table.rows) - most)
    yield ""
    yield screen.fit(table.caption)


def _count_rest(rest: int) -> str:
    return f"… {rest:,} more verdict{'s are' if rest > 1 else ' is'} in the report"


def list_remarks(report: Report) -> tuple[list[str], list[str]]:
    """Return what is not in order of a report, and its warnings, a line each."""
    own = {row.check for row in trust_preset(report)}  # said with the preset itself
    doubts = list_doubts([row for row in report.trust if row.check not in own])
    return doubts, [f"warning: {warning}" for warning in report.warnings]


def _tell(one: Excerpt, rest: str, screen: Screen) -> Iterator[str]:
    """Yield the lines of a family: where it is, what a reader takes from it, its tables, what is not listed, marks, the rest."""
    first, *others = one.sentences
    yield screen.paint(screen.fit(one.heading), "bold")
    yield screen.paint(screen.fit(first), "bold")
    for view in (one.board, one.pairs):
        yield ""
        yield from lay_out(view, screen, dispensable=DISPENSABLE, first=one.first)
    more = [screen.fit(f"… {more} {rest}") for more in one.more]
    marks = [screen.fit(mark) for mark in one.marks]
    yield from (*more, *marks) if one.about == "systems" else (*marks, *more)
    if others:
        yield ""
    yield from (screen.fit(sentence) for sentence in others)
