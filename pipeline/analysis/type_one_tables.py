"""How the null laboratory is shown. This module names the columns of one table a test set and metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.interfaces import Column, Table

__all__ = ["make_tables"]

_COLUMNS = (
    Column("pair", "pair"),
    Column("chosen", "chosen for"),
    Column("discordant", "discordant", "count"),
    Column("procedure", "procedure"),
    Column("convention", "convention"),
    Column("nulls", "nulls", "count"),
    Column("rate_01", "rejected at .01", "p"),
    Column("rate_05", "at .05", "p"),
    Column("interval_05", "95 % interval", "p-interval"),
    Column("rate_10", "at .10", "p"),
    Column("says", "level"),
    Column("reason", "why not"),
)


def make_tables(rows: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> Iterator[Table]:
    """Give the table of every test set and metric; a column that says nothing in all of its rows is left out."""
    for test_set, metric in dict.fromkeys((row["test_set"], row["metric"]) for row in rows):
        where = {"test_set": test_set, "metric": metric}
        own = [row for row in rows if row["test_set"] == test_set and row["metric"] == metric]
        used = tuple(column for column in _COLUMNS if any(row[column.key] is not None for row in own))
        yield Table(f"{test_set} · {metric} · null laboratory", where, used, " ".join(notes))
