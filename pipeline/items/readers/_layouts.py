"""The layouts of systems in a table: wide, long, one row per system, and files of one system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pipeline.dataclass import dataclass
from pipeline.errors import DataError, Problem
from pipeline.interfaces import Items
from pipeline.items.readers._holes import EmptyValues, Holes, find_holes, missing_items, refuse_halves
from pipeline.items.readers._roles import Roles, find_roles, find_systems, is_index
from pipeline.items.readers._tables import Table, find_column, refuse
from pipeline.study.grouping import REPLICA

__all__ = ["LAYOUTS", "check_layout", "only_rows", "refuse_twice", "split_systems"]

LAYOUTS = ("auto", "wide", "long", "rows")
"""*wide*: a column each system. *long*: a row for each item and system. *rows*: a row each system, a column each item."""

_ONE_ROW = "keep one row for each item; or, where there is a row for each item and system, name the column: `columns: {system: …}`"
_ONE_RUN = "keep one row for each item; or, where a model has a row for each of its runs, name the column: `columns: {replica: …}`"

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
    empty: EmptyValues | None = None,
    check: Callable[[Table, Roles], None] | None = None,
) -> dict[str, Items]:
    """Return the items of each system in a table.

    With ``system`` the table is of that one. Else a system column makes it long: one row for each item and system, or, where
    every system has one row, one column for each item. Without a system column it is wide: each column of values is a system.
    A layout that is named is taken for granted, and refused where the table cannot have it. A column of runs makes each run a
    system of its own, ``model/replica``.

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
    empty : callable, optional
        Gives the values of a chosen column that say that there is none; called after ``choose``.
    check : callable, optional
        Raises where the table, with these roles, is not one of a single test set.

    Raises
    ------
    DataError
        P208 a system twice; P209 an item twice; P210 a row that has some of its values; P211 a column that is not there; P212 a run
        without a name.
    """
    convert = convert or _as_they_are
    if layout == "rows" and system is None:
        return _split_rows(table, columns, choose, value, leave_out, convert, empty)
    roles = find_roles(table, system=system, columns=columns, leave_out=leave_out, layout=layout, models=models)
    if check is not None:
        check(table, roles)
    others = _others(table, roles, leave_out)
    parts = _part(table, roles, system)
    chosen = choose(table, others)
    holes = find_holes(table, chosen, empty)
    wide = roles.system is None and system is None
    if wide:
        if not chosen:
            return {}
        table = convert(table, chosen, True)
        if roles.replica is None and not holes:
            return _side_by_side(table, roles, chosen, value)
        split = []
        for name in chosen:
            missing = missing_items({value: name}, holes, value)
            own = ((part, _select(table, part, roles, {value: name}, missing, model=name, help_=_ONE_ROW)) for part in parts)
            split += [(part.name_of(name), items) for part, items in own]
        return _by_name(table, split)
    one_each = roles.system is not None and roles.item is None and all(len(part.rows) == 1 for part in parts)
    across = one_each and len(chosen) > 1 and layout == "auto"
    table = convert(table, chosen, across)
    if across:
        return _across(table, parts, chosen, value, holes)
    single = {value: chosen[0]} if rename and len(chosen) == 1 else {name: name for name in chosen}
    missing = missing_items(single, holes, value)
    refuse_halves(table, chosen, holes, missing)
    split = [(part.name_of(), _select(table, part, roles, single, missing, help_=_ONE_RUN)) for part in parts]
    return _by_name(table, split)


@dataclass(frozen=True)
class _Part:
    """The rows of one system, or of one of its runs; of a wide table, those of all systems."""

    system: str
    replica: str | None
    rows: Sequence[int]

    def name_of(self, model: str | None = None) -> str:
        """Return the name of the system."""
        named = self.system if model is None else model
        return named if self.replica is None else f"{named}/{self.replica}"

    def coordinates(self, model: str | None = None) -> dict[str, str]:
        """Return what it is a run of."""
        return {} if self.replica is None else {"model": self.system if model is None else model, REPLICA: self.replica}


def _part(table: Table, roles: Roles, system: str | None) -> list[_Part]:
    """Return the rows of each system and run, in the order in which a table first names them."""
    rows_of: dict[str, list[int]] = {}
    if roles.system is None:
        rows_of[system or ""] = list(range(len(table.rows)))
    else:
        for row, name in enumerate(table.column(roles.system)):
            rows_of.setdefault(name, []).append(row)
        if system is not None:
            rows_of = {system: only_rows(table, system, rows_of)}
    if roles.replica is None:
        return [_Part(name, None, rows) for name, rows in rows_of.items()]
    runs = table.column(roles.replica)
    refuse(
        Problem("P212", f"the column '{roles.replica}' names no run", f"{table.source}:{line}", "write its number, or its name")
        for run, line in zip(runs, table.lines, strict=True)
        if not run.strip()
    )
    parts: dict[tuple[str, str], list[int]] = {}
    for name, rows in rows_of.items():
        for row in rows:
            parts.setdefault((name, runs[row]), []).append(row)
    return [_Part(name, run, rows) for (name, run), rows in parts.items()]


def _side_by_side(table: Table, roles: Roles, chosen: Sequence[str], value: str) -> dict[str, Items]:
    """Return systems that all have the same items: what is not a score is looked at once, of 150 systems as of one."""
    whole = _Part("", None, range(len(table.rows)))
    first = _select(table, whole, roles, {value: chosen[0]}, None, help_=_ONE_ROW)
    scores = {name: {**first.columns, value: table.column(name)} for name in chosen[1:]}
    return {chosen[0]: first, **{name: replace(first, columns=columns) for name, columns in scores.items()}}


def _by_name(table: Table, split: Sequence[tuple[str, Items]]) -> dict[str, Items]:
    """Return the systems of a table; refuse two of the same name, as runs of different models are whose names have a slash."""
    twice = [name for name, times in Counter(name for name, _ in split).items() if times > 1]
    message = "two runs of different models are called '{}'"
    refuse(Problem("P208", message.format(name), table.source, "write the runs without a slash") for name in twice)
    return dict(split)


def check_layout(value: str, known: Sequence[str] = LAYOUTS) -> str:
    """Return the name of a layout; another is a mistake of the study."""
    if value not in known:
        raise ValueError(f"option 'layout' is one of {', '.join(known)}, not {value!r}")
    return value


def _split_rows(
    table: Table,
    columns: Mapping[str, str],
    choose: ChooseColumns,
    value: str,
    leave_out: Sequence[str],
    convert: ConvertColumns,
    empty: EmptyValues | None,
) -> dict[str, Items]:
    """Return the systems of a table with a row each: every other column is an item, whatever its name."""
    replica = find_column(REPLICA, table.header, columns, table.source) if REPLICA in columns else None
    roles = Roles(None, find_systems(table, columns), replica, {})
    parts = _part(table, roles, None)
    names = {row: part.name_of() for part in parts for row in part.rows}
    refuse_twice([names[row] for row in range(len(names))], table, "P208", "the system", "keep one row for each system")
    chosen = choose(table, _others(table, roles, leave_out))
    holes = find_holes(table, chosen, empty)
    return _across(convert(table, chosen, True), parts, chosen, value, holes)


def _others(table: Table, roles: Roles, leave_out: Sequence[str]) -> list[str]:
    """Return the columns that may hold values."""
    others = [name for name in roles.leave(table.header, leave_out) if not is_index(table, name)]
    if not others:
        raise DataError.of("P211", "the table has no column of values", where=f"{table.source}:1")
    return others


def _as_they_are(table: Table, chosen: Sequence[str], alike: bool) -> Table:
    return table


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
    part: _Part,
    roles: Roles,
    columns: Mapping[str, str],
    missing: frozenset[int] | None,
    *,
    model: str | None = None,
    help_: str,
) -> Items:
    """Return the items of some rows but for those that are missing; None where no row of the table has a hole.

    Elsewhere items without identifiers are known by their places, so that a file that lacks some is not aligned line by line.
    """
    rows = part.rows
    taken = {**columns, **{name: column for name, column in roles.groups.items() if name not in columns}}
    places = {name: table.header.index(column) for name, column in taken.items()}
    numbers: Sequence[int] = range(len(rows))
    if missing:
        numbers = [k for k, row in enumerate(rows) if row not in missing]
        rows = [rows[k] for k in numbers]
    lines = tuple([table.lines[row] for row in rows])
    found = {name: tuple([table.rows[row][place] for row in rows]) for name, place in places.items()}
    coordinates = part.coordinates(model)
    if roles.item is None:
        ids = tuple([str(k + 1) for k in numbers])
        return Items(ids, found, table.source, lines, numbered=missing is None, coordinates=coordinates)
    place = table.header.index(roles.item)
    ids = tuple([table.rows[row][place] for row in rows])
    _refuse_duplicates(ids, lines, table.source, help_=help_)
    return Items(ids, found, table.source, lines, numbered=False, coordinates=coordinates)


def _across(table: Table, parts: Sequence[_Part], chosen: Sequence[str], value: str, holes: Holes) -> dict[str, Items]:
    """Return the systems of a table with a row each."""
    place = {name: k for k, name in enumerate(table.header)}
    split = []
    for part in parts:
        (at,) = part.rows
        row, line = table.rows[at], table.lines[at]
        items = tuple([name for name in chosen if at not in holes.get(name, ())])
        scores = {value: tuple([row[place[name]] for name in items])}
        found = Items(items, scores, table.source, (line,) * len(items), numbered=False, coordinates=part.coordinates())
        split.append((part.name_of(), found))
    return _by_name(table, split)


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
