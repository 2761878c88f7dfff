"""Tables as text, once for every page: the document's rows are formatted here; HTML and Markdown only lay them out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from pipeline.interfaces.wording import name_metric
from pipeline.report.document import Report
from pipeline.report.families.adjustment import name_adjustment
from pipeline.report.families.leaderboard import LETTERS
from pipeline.report.findings import table_cells
from pipeline.report.layout.view import View
from pipeline.report.models.model_text import model_views
from pipeline.report.pairs.pair_table import pair_table
from pipeline.report.rows import BoardRow, FamilyKey, Label, SystemRow, family_of
from pipeline.report.trainings import training_views
from pipeline.report.values import MISSING, format_ends, format_number

__all__ = ["view_all"]

_FACTS: Mapping[str, Callable[[SystemRow], Label]] = {"model": lambda row: row.model, "group": lambda row: row.group}
"""What stands beside the names of systems, where it says more than they do."""


_INTERVALS: Mapping[str, str] = {
    "wilson": "The interval is Wilson's, of a system's own score",
    "jackknife-t": "The interval is of a system's own score, by its jackknife standard error and Student's t",
    "replicates-t": "The interval is of a system's own score, by Student's t and the standard deviation of the bootstrap's "
    "replicates, from which the jackknife's standard error differs by more than 5 %",
}


def _say_interval(board: Sequence[BoardRow]) -> str:
    """Return what the intervals of scores are, in a sentence; nothing where there are none."""
    methods = [row.interval.method for row in board if row.interval]
    if not methods:
        return ""
    told, other = _INTERVALS["jackknife-t" if "jackknife-t" in methods else methods[0]], methods.count("replicates-t")
    if 0 < other < len(methods):
        told += (
            f" (for {other:,} of {len(methods):,} systems by the replicates' standard deviation: the two differ by more than 5 %)"
        )
    return f"{told}: whether two overlap says little about their difference."


def view_all(report: Report) -> list[View]:
    """Return every table of a report; those of a section are in its order."""
    places = {(place.test_set, place.metric): place for place in reversed(report.places)}
    return [
        *(view for place in reversed(places.values()) if report.model_pairs_of(place) for view in model_views(report, place)),
        *_leaderboards(report),
        *_findings(report),
        *training_views(report),
        *_pairs(report),
    ]


def _title(where: FamilyKey) -> str:
    return f"{where.test_set} · {name_metric(where.metric)} · {where.procedure}"


def _leaderboards(report: Report) -> Iterator[View]:
    known = {(row.test_set, row.name): row for row in report.systems}
    facts = [fact for fact, tell in _FACTS.items() if any(tell(row) and tell(row) != row.name for row in report.systems)]
    baseline = report.family.baseline
    for where in report.places:
        digits = report.decimals(where.metric)
        name = name_adjustment(report.pairs_of[where])
        at, rows = f"by {name} at α = {report.alpha:g}", []
        board = report.board_of[where]
        interval = _say_interval(board)
        scored = ("score", f"{100 * (1 - report.alpha):g} % interval") if interval else ("score",)
        for row in board:
            system = known[row.test_set, row.name]
            own = (format_number(row.score, digits), format_ends(row.interval, digits))
            cells = (row.name, *(str(_FACTS[fact](system) or MISSING) for fact in facts), *own[: len(scored)])
            if baseline is not None:
                rows.append((*cells, row.against_baseline or MISSING))
                continue
            ranks = MISSING if row.rank is None else f"{row.rank_low}–{row.rank_high}"
            ends = (str(row.beats), str(row.beaten_by), row.letters or MISSING)
            rows.append((MISSING if row.rank is None else str(row.rank), *cells, ranks, *ends))
        if baseline is not None:
            columns: tuple[str, ...] = ("system", *facts, *scored, f"than {baseline}")
            caption = f"Than {baseline}: the verdict {at}, over the pairs of {baseline} alone, which give no ranks."
            caption += f" {interval}" if interval else ""
            words, first = frozenset({"system", *facts, columns[-1]}), frozenset({"system", "score", columns[-1]})
            yield View("leaderboard", _title(where), columns, tuple(rows), caption, words, first)
            continue
        columns = ("rank", "system", *facts, *scored, "rank interval", "better than", "worse than", "letters")
        caption = (
            f"Rank interval: the ranks that pairs separated {at} leave open, for all systems together. "
            "Better than, worse than: how many systems it is separated from. Systems with the same score share a rank. "
        )
        caption += f"{interval} " if interval else ""
        refused = [row.reason for row in report.clusters if family_of(row) == where and row.definition == LETTERS and row.reason]
        lettered = len(rows) > 2 and not refused  # of two systems the verdict says as much
        if lettered:
            caption += "Systems share a letter exactly where they are not separated."
        elif refused:
            caption += f"No letters: {refused[0]}."
        if not lettered:
            columns, rows = columns[:-1], [row[:-1] for row in rows]
        words, first = frozenset({"system", *facts, "letters"}), frozenset({"rank", "system", "score", "rank interval"})
        yield View("leaderboard", _title(where), columns, tuple(rows), caption, words, first)


def _findings(report: Report) -> Iterator[View]:
    for finding in report.findings:
        for table in finding.tables:
            cells = tuple(table_cells(finding.rows, table, report.decimals(table.where.get("metric"))))
            heads = tuple(column.head for column in table.columns)
            words = frozenset(column.head for column in table.columns if column.form == "text")
            later = frozenset(column.head for column in table.columns if column.later)
            yield _without_empty(View(table.section, table.title, heads, cells, table.caption, words, later=later))


def _without_empty(view: View) -> View:
    """Return a table without the columns in which no row has anything: they say less than their heads take room."""
    kept = [k for k in range(len(view.columns)) if not view.rows or any(row[k] not in ("", MISSING) for row in view.rows)]
    columns, rows = tuple(view.columns[k] for k in kept), tuple(tuple(row[k] for k in kept) for row in view.rows)
    return replace(view, columns=columns, rows=rows, text=view.text & {*columns}, later=view.later & {*columns})


def _pairs(report: Report) -> Iterator[View]:
    for where in report.places:
        rows = report.pairs_of[where]
        yield pair_table(report, where, rows, _title(where), digits=report.decimals(where.metric), tables=len(report.places))
