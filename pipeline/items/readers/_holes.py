"""Rows of a table that have no value in a column, and which items are missing for that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

from pipeline.errors import Problem
from pipeline.items.readers._tables import Table, refuse

__all__ = ["EmptyValues", "Holes", "find_holes", "missing_items", "refuse_halves"]

EmptyValues = Callable[[str], Collection[str]]
"""Which values of a chosen column say that there is none: the item is then missing."""

Holes: TypeAlias = Mapping[str, frozenset[int]]
"""By column, the rows without a value in it; columns that have one in every row are not there."""


def find_holes(table: Table, chosen: Sequence[str], empty: EmptyValues | None) -> Holes:
    """Return the rows without a value by column, of those columns that have such rows."""
    if empty is None:
        return {}
    found = {}
    for name in chosen:
        none, place = frozenset(empty(name)), table.header.index(name)
        if none:
            found[name] = frozenset(k for k, row in enumerate(table.rows) if row[place] in none)
    return found


def missing_items(columns: Mapping[str, str], holes: Holes, value: str) -> frozenset[int] | None:
    """Return the rows whose items are missing: those without a score, or, where no column is called so, without any value.

    None where the table has no holes.
    """
    if not holes:
        return None
    decide = [columns[value]] if value in columns else columns.values()
    return frozenset.intersection(*(holes.get(column, frozenset()) for column in decide))


def refuse_halves(table: Table, chosen: Sequence[str], holes: Holes, missing: frozenset[int] | None) -> None:
    """Refuse rows whose items are there and lack some of their values."""
    first: dict[int, str] = {}
    for name in chosen:
        for row in holes.get(name, frozenset()) - (missing or frozenset()):
            first.setdefault(row, name)
    problems = []
    for row, name in sorted(first.items()):
        message = f"column '{name}' has {table.rows[row][table.header.index(name)]!r}, and other columns of the row have numbers"
        help_ = "write a number, or leave all numbers of the row empty: the item is then missing"
        problems.append(Problem("P210", message, f"{table.source}:{table.lines[row]}:{name}", help_))
    refuse(problems)
