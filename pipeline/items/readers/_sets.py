"""One table of several test sets: which column names them, and the rows of one of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace

from pipeline.errors import DataError, name_some
from pipeline.items.readers._roles import Roles
from pipeline.items.readers._tables import Table, is_number, spell
from pipeline.options import suggest

__all__ = ["check_rows", "choose_rows", "find_set_column", "list_sets", "refuse_several_sets"]

_SETS = frozenset(
    {
        "task", "task_name", "dataset", "dataset_name", "data_set", "test_set", "testset", "benchmark", "corpus", "subset",
        "split", "language", "lang", "language_pair", "lang_pair", "lp",
    }
)  # fmt: skip
"""Names, as `spell` gives them, of columns that name test sets; each is one only where items would otherwise occur twice."""


def check_rows(rows: object) -> dict[str, frozenset[str]]:
    """Return the wanted values of each column; ValueError where it is no mapping of columns to a value or several."""
    found: dict[str, frozenset[str]] = {}
    for column, wanted in rows.items() if isinstance(rows, Mapping) else [("", rows)] if rows is not None else []:
        values = wanted if isinstance(wanted, (list, tuple)) else [wanted]
        if (
            not column
            or not values
            or not all(isinstance(value, (str, int, float)) and not isinstance(value, bool) for value in values)
        ):
            raise ValueError(f"option 'rows' is the value of a column, or several, as {{task: arc}}, not {rows!r}")
        found[str(column)] = frozenset(map(str, values))
    return found


def choose_rows(table: Table, rows: Mapping[str, frozenset[str]]) -> Table:
    """Return the rows that have one of the wanted values in each column.

    Raises
    ------
    DataError
        P211 for a column that is not there, P212 for a value that no row has.
    """
    for column, wanted in rows.items():
        if column not in table.header:
            raise DataError.of(
                "P211",
                f"there is no column '{column}' for `rows`; the header has {', '.join(map(repr, table.header[:20]))}",
                where=f"{table.source}:1",
                help=suggest(column, table.header, otherwise="name a column of the table"),
            )
        values = table.column(column)
        there = dict.fromkeys(values)
        for value in sorted(wanted.difference(values)):
            same = [name for name in there if is_number(name) and is_number(value) and float(name) == float(value)]
            quoted = f"write it in quotes, as the table does: `{json.dumps(same[0])}`" if same else None
            raise DataError.of(
                "P212",
                f"no row has '{value}' in the column '{column}'; there are {name_some([*map(repr, there)], 8)}",
                where=table.source,
                help=quoted or suggest(value, sorted(there), otherwise="name a value that the column has"),
            )
        kept = [k for k, value in enumerate(values) if value in wanted]
        table = replace(table, rows=tuple(table.rows[k] for k in kept), lines=tuple(table.lines[k] for k in kept))
    return table


def find_set_column(table: Table, roles: Roles) -> str | None:
    """Return the column that names the test set of each row: without it, items would occur twice."""
    if roles.item is None or not any(spell(name) in _SETS for name in table.header):
        return None
    keys = list(zip(*(table.column(name) for name in (roles.item, roles.system, roles.replica) if name is not None), strict=True))
    if len(set(keys)) == len(keys):
        return None
    used = {roles.item, roles.system, roles.replica}
    for name in table.header:
        if spell(name) in _SETS and name not in used and len({*zip(keys, table.column(name), strict=True)}) == len(keys):
            return name
    return None


def list_sets(table: Table, column: str) -> list[str]:
    """Return the test sets that a column names, in the order of the table.

    Raises
    ------
    DataError
        P212 for a row of none.
    """
    nameless = next((line for name, line in zip(table.column(column), table.lines, strict=True) if not name.strip()), None)
    if nameless is not None:
        raise DataError.of(
            "P212",
            f"the row has nothing in the column '{column}', which names the test sets",
            where=f"{table.source}:{nameless}",
            help="write the name of its test set, or delete the row",
        )
    return list(dict.fromkeys(table.column(column)))


def refuse_several_sets(table: Table, roles: Roles) -> None:
    """Refuse a table of several test sets at once, not item by item: P209."""
    column = find_set_column(table, roles)
    if column is None or roles.item is None:
        return  # nearly always
    sets = list_sets(table, column)
    items = table.column(roles.item)
    first: dict[str, int] = {}
    of = table.column(column)
    again = next(k for k, name in enumerate(items) if of[first.setdefault(name, k)] != of[k])
    lines = f"lines {table.lines[first[items[again]]]} and {table.lines[again]}"
    named = f"which the column '{column}' names: {name_some([repr(name) for name in sets], 8)}"
    rows = f"{{{_plain(column)}: {_plain(sets[0])}}}"
    raise DataError.of(
        "P209",
        f"items such as '{items[again]}', {lines}, are in several test sets, {named}",
        where=f"{table.source}:{table.lines[again]}",
        help=f"`pipeline init` makes each a test set; `format: {{name: scores, rows: {rows}}}` takes one of them alone",
    )


def _plain(text: str) -> str:
    """Return a text as YAML reads it in braces."""
    known = text.lower() in {"true", "false", "null", "yes", "no", "on", "off"}
    return text if re.fullmatch(r"[A-Za-z][\w.-]*", text) and not known else json.dumps(text, ensure_ascii=False)
