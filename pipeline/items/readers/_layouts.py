"""The layouts of systems in a table: wide, long, one row per system, and files of one system."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from pipeline.errors import DataError, Problem
from pipeline.interfaces import Items
from pipeline.items.readers._tables import Table, find_column, is_number, refuse
from pipeline.study.grouping import ROLES

__all__ = ["LAYOUTS", "check_layout", "find_systems", "only_rows", "refuse_twice", "split_systems"]

LAYOUTS = ("auto", "wide", "long", "rows")
"""*wide*: a column each system. *long*: a row for each item and system. *rows*: a row each system, a column each item."""

_ITEMS = (
    "question", "question_id", "prompt", "prompt_id", "example", "example_id", "sample", "sample_id", "doc_id", "instance",
    "instance_id", "task_id", "segment_id", "index", "idx",
)  # fmt: skip
"""Other names of columns of items, in long tables; in a wide one each might be a system, unless it numbers the items."""

_ONE_ROW = "keep one row for each item; or, where there is a row for each item and system, name the column: `columns: {system: …}`"

_UNNAMED = ("", "Unnamed: 0")
"""What pandas calls an index without a name, when it is written and when it is read and written again."""

ConvertColumns = Callable[[Table, Sequence[str], bool], Table]
"""Gives a table whose chosen columns are written as they are to be read, and whether all of them are of one quantity."""

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
    layout: str = "auto",
    convert: ConvertColumns | None = None,
    models: bool = False,
) -> dict[str, Items]:
    """Return the items of each system in a table.

    With ``system`` the table is of that one. Else a system column makes it long: one row for each item and system, or, where
    every system has one row, one column for each item. Without a system column it is wide: each column of values is a system.
    A layout that is named is taken for granted, and refused where the table cannot have it.

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
    layout : str
        One of `LAYOUTS`.
    convert : callable, optional
        What writes the values of the chosen columns as they are to be read.
    models : bool
        Whether a column ``model`` may hold the systems, where values are numbers and cannot be mistaken for names.
    """
    convert = convert or _as_they_are
    if layout == "rows" and system is None:
        return _split_rows(table, columns, choose, value, leave_out, convert)
    item = find_column("item", table.header, columns, table.source)
    # Named for the table of all systems, or for the file of documents: a file of one system need not have them.
    groups = {
        role: name
        for role in ("document", *(role for role in columns if role not in ROLES))
        if (name := _if_there(role, table, columns)) is not None
    }
    of_system = _system_column(table, columns, layout) if system is None else _if_there("system", table, columns)
    if of_system is None and system is None and models and layout in {"auto", "long"}:
        of_system = _model_column(table, item)
    if of_system is not None and item is None:
        item = _item_column(table, of_system, {*groups.values(), *leave_out})
    if item is None and of_system is None:
        item = _numbering_column(table, {*groups.values(), *leave_out})
    roles = {item, of_system, *groups.values(), *leave_out}
    others = [name for name in table.header if name not in roles]
    if not others:
        raise DataError.of("P211", "the table has no column of values", where=f"{table.source}:1")
    if of_system is None and system is None:
        chosen = choose(table, others)
        if not chosen:
            return {}
        table = convert(table, chosen, True)
        # Lines, identifiers and groups are looked at once: a table of 150 systems has them 150 times.
        first = _select(table, range(len(table.rows)), item, groups, {value: chosen[0]}, help_=_ONE_ROW)
        scores = {name: {**first.columns, value: table.column(name)} for name in chosen[1:]}
        return {chosen[0]: first, **{name: replace(first, columns=columns) for name, columns in scores.items()}}
    rows_of: dict[str, list[int]] = {}
    if system is not None and of_system is None:
        rows_of[system] = list(range(len(table.rows)))
    elif of_system is not None:
        for row, name in enumerate(table.column(of_system)):
            rows_of.setdefault(name, []).append(row)
        if system is not None:
            rows_of = {system: only_rows(table, system, rows_of)}
    chosen = choose(table, others)
    one_each = of_system is not None and item is None and all(len(rows) == 1 for rows in rows_of.values())
    across = one_each and len(chosen) > 1 and layout == "auto"
    table = convert(table, chosen, across)
    if across:
        return {name: _transpose(table, rows[0], chosen, value) for name, rows in rows_of.items()}
    single = {value: chosen[0]} if rename and len(chosen) == 1 else {name: name for name in chosen}
    return {name: _select(table, rows, item, groups, single) for name, rows in rows_of.items()}


def check_layout(value: str, known: Sequence[str] = LAYOUTS) -> str:
    """Return the name of a layout; another is a mistake of the study."""
    if value not in known:
        raise ValueError(f"option 'layout' is one of {', '.join(known)}, not {value!r}")
    return value


def find_systems(table: Table, columns: Mapping[str, str]) -> str:
    """Return the column of systems of a table with a row each: the one that is named, a usual one, or the first of all."""
    return find_column("system", table.header, columns, table.source) or table.header[0]


def _system_column(table: Table, columns: Mapping[str, str], layout: str) -> str | None:
    if layout == "wide":
        return None
    found = find_column("system", table.header, columns, table.source)
    if found is None and layout == "long":
        raise DataError.of(
            "P211",
            f"the layout is long, and no column holds the systems; the header has {', '.join(map(repr, table.header[:20]))}",
            where=f"{table.source}:1",
            help="name it in the study: columns: {system: …}",
        )
    return found


def _split_rows(
    table: Table,
    columns: Mapping[str, str],
    choose: ChooseColumns,
    value: str,
    leave_out: Sequence[str],
    convert: ConvertColumns,
) -> dict[str, Items]:
    """Return the systems of a table with a row each: every other column is an item, whatever its name."""
    of_system = find_systems(table, columns)
    names = table.column(of_system)
    refuse_twice(names, table, "P208", "the system", "leave one row for each system")
    others = [name for name in table.header if name not in {of_system, *leave_out}]
    if not others:
        raise DataError.of("P211", "the table has no column of values", where=f"{table.source}:1")
    chosen = choose(table, others)
    table = convert(table, chosen, True)
    return {name: _transpose(table, row, chosen, value) for row, name in enumerate(names)}


def _as_they_are(table: Table, chosen: Sequence[str], alike: bool) -> Table:
    return table


def _model_column(table: Table, item: str | None) -> str | None:
    """Return the column ``model`` where it names systems: it holds no numbers, and some items belong to several models."""
    if "model" not in table.header or any(map(is_number, set(table.column("model")))):
        return None
    several = item is None or len(set(table.column(item))) < len(table.rows)
    return "model" if several and len(set(table.column("model"))) > 1 else None


def _numbering_column(table: Table, taken: Collection[str]) -> str | None:
    """Return the column that is called as items are and has another whole number, or another word, in each row: no score does both.

    Of two rows, words may be a right and a wrong answer.
    """
    for name in table.header:
        if name not in taken and (name.lower() in _ITEMS or name in _UNNAMED):
            values = table.column(name)
            numbered = all(map(str.isdecimal, values))
            named = len(values) > 2 and all(re.search(r"[^\W\d_]", value) and not is_number(value) for value in values)
            if len(set(values)) == len(values) and (numbered or named):
                return name
    return None


def _item_column(table: Table, of_system: str, taken: Collection[str]) -> str | None:
    """Return the column that names the items of a long table under another usual name: each once a system, the same for several."""
    systems = table.column(of_system)
    if len(set(systems)) == len(systems):
        return None  # a row a system: every column is an item
    for name in _ITEMS:
        if name in table.header and name not in taken:
            values = table.column(name)
            if len(set(zip(systems, values, strict=True))) == len(values) > len(set(values)):
                return name
    return None


def _if_there(role: str, table: Table, columns: Mapping[str, str]) -> str | None:
    name = columns.get(role, role)
    return name if name in table.header else None


def only_rows(table: Table, system: str, rows_of: Mapping[str, list[int]]) -> list[int]:
    """Return the rows of a file that belongs to one system, and yet has a column of systems."""
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


def _select(
    table: Table,
    rows: Sequence[int],
    item: str | None,
    groups: Mapping[str, str],
    columns: Mapping[str, str],
    *,
    help_: str = "keep one row for each item",
) -> Items:
    lines = tuple(table.lines[row] for row in rows)
    taken = {**columns, **{name: column for name, column in groups.items() if name not in columns}}
    places = {name: table.header.index(column) for name, column in taken.items()}
    values = {name: tuple([table.rows[row][place] for row in rows]) for name, place in places.items()}
    if item is None:
        return Items(tuple(str(k + 1) for k in range(len(rows))), values, table.source, lines)
    place = table.header.index(item)
    ids = tuple([table.rows[row][place] for row in rows])
    _refuse_duplicates(ids, lines, table.source, help_=help_)
    return Items(ids, values, table.source, lines, numbered=False)


def _transpose(table: Table, row: int, chosen: Sequence[str], value: str) -> Items:
    place = {name: k for k, name in enumerate(table.header)}
    scores = tuple(table.rows[row][place[name]] for name in chosen)
    return Items(tuple(chosen), {value: scores}, table.source, (table.lines[row],) * len(chosen), numbered=False)


def refuse_twice(names: Sequence[str], table: Table, code: str, noun: str, help_: str) -> None:
    """Refuse names that occur twice, with both lines."""
    _refuse_duplicates(names, table.lines, table.source, code, noun, help_)


def _refuse_duplicates(
    ids: Sequence[str],
    lines: Sequence[int],
    source: str,
    code: str = "P209",
    noun: str = "the item",
    help_: str = "keep one row for each item",
) -> None:
    if len(set(ids)) == len(ids):
        return
    first: dict[str, int] = {}
    problems = []
    for name, line in zip(ids, lines, strict=True):
        if name in first:
            message = f"{noun} '{name}' occurs twice, on lines {first[name]} and {line}"
            problems.append(Problem(code, message, f"{source}:{line}", help_))
        else:
            first[name] = line
    refuse(problems)
