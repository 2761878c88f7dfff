"""Findings of analyses that have no section of their own, as tables. This module formats the columns that an analysis named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pipeline.interfaces import Table
from pipeline.report.values import MISSING, format_interval, format_number, format_p, plain
from pipeline.report.verdict_text import select

__all__ = ["describe_tables", "table_cells"]

_FORMS: Mapping[str, Callable[[Any, int], str]] = {
    "text": lambda value, _: str(value),
    "count": lambda value, _: f"{value:,}",
    "score": format_number,
    "p": lambda value, _: format_p(value),
    "interval": format_interval,
    "p-interval": lambda value, _: f"[{format_p(value['lo'])}, {format_p(value['hi'])}]",
    "number": lambda value, _: f"{value:.3g}",
}


def describe_tables(tables: Sequence[Table]) -> list[dict[str, Any]]:
    """Give tables as the document holds them: which rows, which columns; the rows are beside them."""
    return [
        {
            "title": table.title,
            "where": plain(table.where),
            "columns": [{"key": c.key, "head": c.head, "form": c.form} for c in table.columns],
            "caption": table.caption,
        }
        for table in tables
    ]


def table_cells(rows: Sequence[Mapping[str, Any]], table: Mapping[str, Any], digits: int) -> Iterator[tuple[str, ...]]:
    """Format the rows that a table shows; ``digits`` are of scores."""
    for row in select(rows, **table["where"]):
        values = [(row[column["key"]], _FORMS[column["form"]]) for column in table["columns"]]
        yield tuple(MISSING if value is None else form(value, digits) for value, form in values)
