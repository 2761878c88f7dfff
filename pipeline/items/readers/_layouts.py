"""Systems in a table. This module takes apart the wide, the long and the transposed layout, and files of one system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pipeline.errors import DataError, Problem
from pipeline.interfaces import Items
from pipeline.items.readers._tables import Table, find_column, refuse
from pipeline.study.grouping import ROLES

__all__ = ["split_systems"]

ChooseColumns = Callable[[Table, Sequence[str]], list[str]]
"""Which of the columns without another role hold values; raises where one of them is malformed."""


def split_systems(
    table: Table,
    *,
    system: str | None,
    columns: Mapping[str, str],
    choose: ChooseColumns,
    value: str,
    leave_out: Sequence[str] = (),
    rename: bool = False,
) -> dict[str, Items]:
    """Give the items of each system in a table.

    With ``system`` the table is of that one. Else a system column makes it long: one row for each item and system, or, where
    every system has one row, one column for each item. Without a system column it is wide: each column of values is a system.

    Parameters
    ----------
    table : Table
        Rows of strings.
    system : str, optional
        Whose file it is.
    columns : mapping
        Column names by role, from the study file. Those of documents and of other groups of items are given under their roles.
    choose : callable
        Which of the other columns hold values.
    value : str
        The name under which the values of wide tables are given.
    leave_out : sequence of str
        Columns that are not values, for example the gold.
    rename : bool
        Whether the one column of values of a long table is given under the name ``value`` too.
    """
    item = find_column("item", table.header, columns, table.source)
    # Named for the table of all systems, or for the file of documents: a file of one system need not have them.
    groups = {
        role: name
        for role in ("document", *(role for role in columns if role not in ROLES))
        if (name := _if_there(role, table, columns)) is not None
    }
    of_system = (
        find_column("system", table.header, columns, table.source) if system is None else _if_there("system", table, columns)
    )
    roles = {item, of_system, *groups.values(), *leave_out}
    others = [name for name in table.header if name not in roles]
    if not others:
        raise DataError.of("P211", "the table has no column of values", where=f"{table.source}:1")
    if of_system is None and system is None:
        chosen = choose(table, others)
        if not chosen:
            return {}
        # Lines, identifiers and groups are looked at once: a table of 150 systems has them 150 times.
        first = _select(table, range(len(table.rows)), item, groups, {value: chosen[0]})
        scores = {name: {**first.columns, value: table.column(name)} for name in chosen[1:]}
        return {chosen[0]: first, **{name: replace(first, columns=columns) for name, columns in scores.items()}}
    rows_of: dict[str, list[int]] = {}
    if system is not None and of_system is None:
        rows_of[system] = list(range(len(table.rows)))
    elif of_system is not None:
        for row, name in enumerate(table.column(of_system)):
            rows_of.setdefault(name, []).append(row)
        if system is not None:
            rows_of = {system: _only_rows(table, system, rows_of)}
    chosen = choose(table, others)
    if of_system is not None and item is None and len(chosen) > 1 and all(len(rows) == 1 for rows in rows_of.values()):
        return {name: _transpose(table, rows[0], chosen, value) for name, rows in rows_of.items()}
    single = {value: chosen[0]} if rename and len(chosen) == 1 else {name: name for name in chosen}
    return {name: _select(table, rows, item, groups, single) for name, rows in rows_of.items()}


def _if_there(role: str, table: Table, columns: Mapping[str, str]) -> str | None:
    name = columns.get(role, role)
    return name if name in table.header else None


def _only_rows(table: Table, system: str, rows_of: Mapping[str, list[int]]) -> list[int]:
    """Give the rows of a file that belongs to one system, and yet has a column of systems."""
    if system in rows_of:
        return rows_of[system]
    if len(rows_of) == 1:
        return next(iter(rows_of.values()))
    raise DataError.of(
        "P208",
        f"the file of system '{system}' holds other systems: {', '.join(map(repr, list(rows_of)[:5]))}",
        where=table.source,
        help="name the table once, without a placeholder, where it holds all systems",
    )


def _select(table: Table, rows: Sequence[int], item: str | None, groups: Mapping[str, str], columns: Mapping[str, str]) -> Items:
    lines = tuple(table.lines[row] for row in rows)
    taken = {**columns, **{name: column for name, column in groups.items() if name not in columns}}
    places = {name: table.header.index(column) for name, column in taken.items()}
    values = {name: tuple([table.rows[row][place] for row in rows]) for name, place in places.items()}
    if item is None:
        return Items(tuple(str(k + 1) for k in range(len(rows))), values, table.source, lines)
    place = table.header.index(item)
    ids = tuple([table.rows[row][place] for row in rows])
    _refuse_duplicates(ids, lines, table.source)
    return Items(ids, values, table.source, lines, numbered=False)


def _transpose(table: Table, row: int, chosen: Sequence[str], value: str) -> Items:
    place = {name: k for k, name in enumerate(table.header)}
    scores = tuple(table.rows[row][place[name]] for name in chosen)
    return Items(tuple(chosen), {value: scores}, table.source, (table.lines[row],) * len(chosen), numbered=False)


def _refuse_duplicates(ids: Sequence[str], lines: Sequence[int], source: str) -> None:
    first: dict[str, int] = {}
    problems = []
    for name, line in zip(ids, lines, strict=True):
        if name in first:
            problems.append(
                Problem(
                    "P209",
                    f"the item '{name}' occurs twice, on lines {first[name]} and {line}",
                    f"{source}:{line}",
                    "leave one row for each item",
                )
            )
        else:
            first[name] = line
    refuse(problems)
