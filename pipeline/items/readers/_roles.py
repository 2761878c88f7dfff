"""Which columns of a table hold its items, its systems, their runs, and what groups its items."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pipeline.dataclass import dataclass
from pipeline.errors import DataError
from pipeline.items.readers._tables import Table, find_column, is_number, spell, usual_names
from pipeline.study.grouping import REPLICA, ROLES

__all__ = ["Roles", "find_roles", "find_systems", "holds_scores"]

_ITEMS = (
    "question", "question_id", "prompt", "prompt_id", "example", "example_id", "sample", "sample_id", "doc_id", "instance",
    "instance_id", "task_id", "segment_id", "index", "idx",
)  # fmt: skip
"""Other names of columns of items, in long tables; in a wide one each might be a system, unless it numbers the items."""

_SPELLED = (*usual_names("item"), *_ITEMS)
"""All names of columns of items, as `spell` gives those that are written otherwise, which may be called so by chance as well."""

_REPLICAS = (REPLICA, "run", "run_id", "seed", "trial", "repeat")
"""Usual names of columns of runs; each is one only where nothing else tells two rows of an item apart."""

_ANSWERS = frozenset(
    {"label", "labels", "gold", "target", "prediction", "predictions", "pred", "answer", "output", "response", "text", "reference"}
)
"""Names of what is compared with a gold, and is no score."""

_UNNAMED = ("", "Unnamed: 0")
"""What pandas calls an index without a name, when it is written and when it is read and written again."""


@dataclass(frozen=True)
class Roles:
    """Names of columns; all others may hold values.

    Parameters
    ----------
    item, system, replica : str or None
        None where the table has no such column.
    groups : mapping of str to str
        By role, columns of documents and of other groups of items.
    """

    item: str | None
    system: str | None
    replica: str | None
    groups: Mapping[str, str]

    def leave(self, header: Sequence[str], taken: Collection[str]) -> list[str]:
        """Return the columns that have no role and are not taken."""
        roles = {self.item, self.system, self.replica, *self.groups.values(), *taken}
        return [name for name in header if name not in roles]


def is_index(table: Table, name: str) -> bool:
    """Tell whether a column without a name numbers the rows, as pandas writes its index, of rows that were chosen or sorted too."""
    column = table.column(name) if name in _UNNAMED else ()
    return 0 < len(column) == len({*column}) and all(map(str.isdecimal, column))


def find_roles(
    table: Table, *, system: str | None, columns: Mapping[str, str], leave_out: Collection[str], layout: str, models: bool
) -> Roles:
    """Return the roles of a table's columns, by the names that a study gives, else by usual names.

    Parameters
    ----------
    table : Table
    system : str, optional
        Whose file it is.
    columns : mapping
        Column names by role, from the study file. Those of documents and of other groups of items are given under their roles.
    leave_out : collection of str
        Columns that are not values, for example the gold.
    layout : str
        ``wide``: no column holds the systems. ``long``: one does.
    models : bool
        Whether a column ``model`` may hold the systems, where values are numbers and cannot be mistaken for names.

    Raises
    ------
    DataError
        P211 for a column that is named and not there.
    """
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
    taken = {*groups.values(), *leave_out}
    if of_system is not None and item is None:
        item = _item_column(table, of_system, columns, taken)
    if item is None and of_system is None:
        item = _numbering_column(table, columns, taken)
    return Roles(item, of_system, _replica_column(table, item, of_system, columns, taken), groups)


def holds_scores(record: Mapping[str, Any]) -> bool:
    """Tell whether an object is a row of scores by its names and values: an item, and numbers of several systems or a named one.

    An object that says a label, an answer or a gold is no such row, even where they are numbers. Lists and objects in it say
    nothing: a table leaves them out.

    Examples
    --------
    >>> holds_scores({"id": "q1", "north": 0.5, "south": True}), holds_scores({"id": 1, "label": 1, "prediction": 0})
    (True, False)
    """
    names = {spell(name) for name in record}
    if names & _ANSWERS or names.isdisjoint(_SPELLED):
        return False
    values = {name: value for name, value in record.items() if spell(name) not in _SPELLED and not isinstance(value, list | dict)}
    numbers = [name for name, value in values.items() if isinstance(value, int | float)]
    if any(isinstance(values.get(name), str) for name in ("system", "model")):
        return len(numbers) > 0
    return len(numbers) > 1 and len(numbers) == len(values)


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


def _model_column(table: Table, item: str | None) -> str | None:
    """Return the column ``model`` where it names systems: it holds no numbers, and some items belong to several models."""
    if "model" not in table.header or any(map(is_number, set(table.column("model")))):
        return None
    several = item is None or len(set(table.column(item))) < len(table.rows)
    return "model" if several and len(set(table.column("model"))) > 1 else None


def _numbering_column(table: Table, columns: Mapping[str, str], taken: Collection[str]) -> str | None:
    """Return the column that is called as items are and has another whole number, or another word, in each row: no score does both.

    Of two rows, words may be a right and a wrong answer. In each row of a run will do, where every run has several.
    """
    alone, by_run = [], []
    for name in table.header:
        if name not in {*taken, columns.get(REPLICA)} and (spell(name) in _SPELLED or name in _UNNAMED):
            column = table.column(name)
            values = set(column)
            numbered = all(map(str.isdecimal, values))
            named = len(values) > 2 and all(re.search(r"[^\W\d_]", value) and not is_number(value) for value in values)
            if not (numbered or named):
                continue
            if len(values) == len(column):
                alone.append(name)
            else:
                run = _tell_apart(table, [("", value) for value in column], columns, {*taken, name})
                if run is not None and min(Counter(filter(str.strip, table.column(run))).values(), default=0) > 1:
                    by_run.append(name)
    return _first(alone, by_run, columns)


def _item_column(table: Table, of_system: str, columns: Mapping[str, str], taken: Collection[str]) -> str | None:
    """Return the column that names the items of a long table under another usual name, several systems having the same.

    One whose values stand once for each system goes before one that needs a column of runs, which stand once for each run; where
    the runs are named it comes after it.
    """
    systems = table.column(of_system)
    if len(set(systems)) == len(systems):
        return None  # a row a system: every column is an item
    alone, by_run = [], []
    usual = sorted((name for name in table.header if spell(name) in _SPELLED), key=lambda name: _SPELLED.index(spell(name)))
    for name in usual:
        if name not in {*taken, columns.get(REPLICA)}:
            values = table.column(name)
            keys = list(zip(systems, values, strict=True))
            if len(keys) == len(set(values)):
                continue
            if len(set(keys)) == len(keys):
                alone.append(name)
            elif _tell_apart(table, keys, columns, {*taken, name, of_system}) is not None:
                by_run.append(name)
    return _first(alone, by_run, columns)


def _first(alone: Sequence[str], by_run: Sequence[str], columns: Mapping[str, str]) -> str | None:
    """Return a column of items that needs no runs, else one that does; the other way round where the study names the runs."""
    return next(iter((*by_run, *alone) if REPLICA in columns else (*alone, *by_run)), None)


def _replica_column(
    table: Table, item: str | None, of_system: str | None, columns: Mapping[str, str], taken: Collection[str]
) -> str | None:
    """Return the column of runs: the one that is named, else a usual one without which an item would stand there twice."""
    if REPLICA in columns:
        return find_column(REPLICA, table.header, columns, table.source)
    if item is None:
        return None
    items = table.column(item)
    if len(set(items)) == len(items):
        return None  # nearly always, where the table is wide or of one system
    systems = table.column(of_system) if of_system is not None else ("",) * len(items)
    keys = list(zip(systems, items, strict=True))
    return None if len(set(keys)) == len(keys) else _tell_apart(table, keys, columns, {*taken, item, of_system})


def _tell_apart(
    table: Table, keys: Sequence[tuple[str, str]], columns: Mapping[str, str], taken: Collection[str | None]
) -> str | None:
    """Return the column of runs by which rows of the same key differ."""
    for name in (columns[REPLICA],) if REPLICA in columns else _REPLICAS:
        if name in table.header and name not in taken and len(set(zip(keys, table.column(name), strict=True))) == len(keys):
            return name
    return None


def _if_there(role: str, table: Table, columns: Mapping[str, str]) -> str | None:
    name = columns.get(role, role)
    return name if name in table.header else None
