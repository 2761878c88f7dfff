"""Tables as text, once for every page. This module formats the document's rows; HTML and Markdown only lay them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.report.adjustment import name_adjustment
from pipeline.report.document import digits_of
from pipeline.report.findings import table_cells
from pipeline.report.pair_table import MARKS, mark_of, pair_table
from pipeline.report.trainings import training_views
from pipeline.report.values import MISSING, format_number
from pipeline.report.verdict_text import FAMILY, Families, by_family, family_of, select
from pipeline.report.view import View

__all__ = ["MARKS", "View", "mark_of", "view_all"]


def view_all(document: Mapping[str, Any]) -> list[View]:
    """Return every table of a report; those of a section are in its order."""
    families = by_family(document["pairs"])
    return [
        *_leaderboards(document, families),
        *_findings(document),
        *training_views(document),
        *_pairs(document, families),
    ]


def _where(document: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for row in document["signature"]:
        yield {key: row[key] for key in FAMILY}


def _title(where: Mapping[str, Any]) -> str:
    return f"{where['test_set']} · {where['metric']} · {where['procedure']}"


def _leaderboards(document: Mapping[str, Any], families: Families) -> Iterator[View]:
    known = {(row["test_set"], row["name"]): row for row in document["systems"]}
    facts = [f for f in ("model", "group") if any(row.get(f) and row[f] != row["name"] for row in document["systems"])]
    baseline = document["family"]["baseline"]
    for where in _where(document):
        digits = digits_of(document, where["metric"])
        name = name_adjustment(families[family_of(where)])
        at, rows = f"by {name} at α = {document['alpha']:g}", []
        board = select(document["leaderboard"], **where)
        for row in board:
            system = known[row["test_set"], row["name"]]
            cells = (row["name"], *(system.get(f) or MISSING for f in facts), format_number(row["score"], digits))
            if baseline is not None:
                rows.append((*cells, row["against_baseline"] or MISSING))
                continue
            ranks = MISSING if row["rank"] is None else f"{row['rank_low']}–{row['rank_high']}"
            ends = (str(row["beats"]), str(row["beaten_by"]), row["letters"] or MISSING)
            rows.append((MISSING if row["rank"] is None else str(row["rank"]), *cells, ranks, *ends))
        if baseline is not None:
            columns: tuple[str, ...] = ("system", *facts, "score", f"than {baseline}")
            caption = f"Than {baseline}: the verdict {at}, over the pairs of {baseline} alone, which give no ranks."
            yield View("leaderboard", _title(where), columns, tuple(rows), caption, frozenset({"system", *facts, columns[-1]}))
            continue
        columns = ("rank", "system", *facts, "score", "rank interval", "better than", "worse than", "letters")
        caption = (
            f"Rank interval: the ranks that pairs separated {at} do not exclude, all together. "
            "Better than, worse than: how many systems it is separated from. Systems with the same score share a rank. "
        )
        refused = [row["reason"] for row in select(document["clusters"], **where, definition="letters") if row["reason"]]
        lettered = len(rows) > 2 and not refused  # of two systems the verdict says as much
        if lettered:
            caption += "Systems share a letter exactly where they are not separated."
        elif refused:
            caption += f"No letters: {refused[0]}."
        if not lettered:
            columns, rows = columns[:-1], [row[:-1] for row in rows]
        yield View("leaderboard", _title(where), columns, tuple(rows), caption, frozenset({"system", *facts, "letters"}))


def _findings(document: Mapping[str, Any]) -> Iterator[View]:
    for finding in document["findings"]:
        for table in finding["tables"]:
            cells = tuple(table_cells(finding["rows"], table, digits_of(document, table["where"].get("metric"))))
            heads = tuple(column["head"] for column in table["columns"])
            words = frozenset(column["head"] for column in table["columns"] if column["form"] == "text")
            yield View(table["section"], table["title"], heads, cells, table["caption"], words)


def _pairs(document: Mapping[str, Any], families: Families) -> Iterator[View]:
    places = list(_where(document))
    for where in places:
        rows = families[family_of(where)]
        yield pair_table(document, where, rows, _title(where), digits=digits_of(document, where["metric"]), tables=len(places))
