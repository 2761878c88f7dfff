"""How the null laboratory is shown: up to three tables per test set and metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.analyses.type_one.as_is import AS_THEY_ARE
from pipeline.analyses.type_one.runs import MIXED, SPLIT
from pipeline.interfaces import Column, Table
from pipeline.interfaces.wording import name_metric

__all__ = ["make_tables"]

_RATES = (
    Column("rate_01", "rejected at .01", "p"),
    Column("rate_05", "at .05", "p"),
    Column("interval_05", "95 % interval", "p-interval"),
    Column("rate_10", "at .10", "p"),
    Column("says", "level"),
    Column("reason", "why not"),
)
_SWAPPED = (
    Column("pair", "pair"),
    Column("chosen", "chosen for"),
    Column("discordant", "discordant", "count"),
    Column("procedure", "procedure"),
    Column("convention", "convention"),
    Column("nulls", "nulls", "count"),
    *_RATES,
)
_PARTED = (
    Column("pair", "runs"),
    Column("procedure", "null of replicas, or procedure"),
    Column("convention", "convention"),
    Column("nulls", "nulls", "count"),
    Column("arrangements", "ways"),
    *_RATES,
    Column("remark", "remark"),
)
_AS_THEY_ARE = (
    Column("pair", "runs"),
    Column("procedure", "procedure"),
    Column("convention", "convention"),
    Column("arrangements", "pairs of runs", "count"),
    Column("rate_01", "one beats the other at .01", "p"),
    *_RATES[1:],
)
AS_IS = (
    "How often one run beats another of the same model, by the study's own p. This is no rate of errors: two outputs that are "
    "there do differ, and a test of these two may say so (Riezler and Maxwell 2005, 4.3, read such a share as one). It says what a "
    "comparison of single runs is worth as one of models."
)


def make_tables(rows: Sequence[Mapping[str, Any]], notes: Mapping[str, Sequence[str]]) -> Iterator[Table]:
    """Yield the tables of every test set and metric; a column that says nothing in all of its rows is left out.

    Parameters
    ----------
    rows : sequence of mapping
    notes : mapping of str to sequence of str
        What must stand beside null data sets, by the way they are made; the first way is that of outputs swapped unit by unit.
    """
    for test_set, metric in dict.fromkeys((row["test_set"], row["metric"]) for row in rows):
        own = [row for row in rows if row["test_set"] == test_set and row["metric"] == metric]
        for design in dict.fromkeys(row["design"] for row in own):
            title = "null laboratory" + ("" if design == next(iter(notes)) else f", {design}")
            columns: tuple[Column, ...] = _PARTED if design in (SPLIT, MIXED) else _SWAPPED
            if design == AS_THEY_ARE:
                title, columns = AS_THEY_ARE, _AS_THEY_ARE
            of_design = [row for row in own if row["design"] == design]
            used = tuple(column for column in columns if any(row[column.key] is not None for row in of_design))
            where = {"test_set": test_set, "metric": metric, "design": design}
            yield Table(f"{test_set} · {name_metric(metric)} · {title}", where, used, " ".join(notes.get(design, (AS_IS,))))
