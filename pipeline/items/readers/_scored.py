"""Scores of items in JSON: tell numbers from the rest, find what groups items, and make columns of both."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pipeline.dataclass import dataclass
from pipeline.errors import DataError, Problem
from pipeline.items.readers._json import number_text
from pipeline.items.readers._tables import refuse
from pipeline.study.grouping import DOCUMENT, ROLES

__all__ = [
    "Numbers",
    "Wanted",
    "choose_numbers",
    "find_at",
    "group_values",
    "is_mean_of",
    "make_columns",
    "name_parts",
    "refuse_depth",
    "refuse_halves",
]

_CONTENT = "content"
_MOST_SHOWN = 8
_MOST_DIGITS = 9
_CLIP = 60


@dataclass(frozen=True)
class Wanted:
    """Which number of an item is wanted, and how people call it.

    Parameters
    ----------
    name : str or None
        None for all there are.
    noun : str
        What it is: a metric, a value.
    option : str
        The option of the format that asks for one.
    source : str
        The file.
    """

    name: str | None
    noun: str
    option: str
    source: str

    def refuse(self, message: str) -> DataError:
        """Return the error that the file has no such number."""
        return DataError(Problem("P261", message, self.source, f"name a {self.noun} that is a number: `{self.option}: …`"))


@dataclass(frozen=True)
class Numbers:
    """Columns of numbers.

    Parameters
    ----------
    columns : mapping of str to tuple of str
        Numbers by name, one for each row that is kept.
    kept : tuple of int
        Places of the rows that have a number in all columns.
    warnings : tuple of str
        What was left out.
    """

    columns: Mapping[str, tuple[str, ...]]
    kept: tuple[int, ...]
    warnings: tuple[str, ...]


def choose_numbers(rows: Sequence[Mapping[str, Any]], wanted: Wanted, place: Callable[[int], str]) -> Numbers:
    """Return the columns of numbers that rows of named values have.

    One that is asked for by name is given alone; where its values are lists or objects, each of their parts is a column
    ``name.part``. Otherwise all names are given that have a number in every row that has any; names of something else, and those
    that only some rows have, are left out and told. A row that has no number (nothing, null or NaN) is not kept.

    Parameters
    ----------
    rows : sequence of mapping
        Values by name.
    wanted : Wanted
    place : callable
        Where a row stands, for messages.

    Raises
    ------
    DataError
        P261 where nothing has the name that is asked, it is not a number, or nothing is; P210 for values that are no finite numbers
        in a column of numbers.
    """
    if wanted.name is not None:
        rows = _parts_of(rows, wanted.name, wanted)
    names = _names(rows)
    refuse_halves(names, wanted.source)
    texts = {name: [number_text(row.get(name)) for row in rows] for name in names}
    numeric = [name for name in names if any(text is not None for text in texts[name])]
    others = [name for name in names if name not in numeric]
    if not numeric or (wanted.name is not None and others):
        all_ = f"any {wanted.noun} of the items ({_list(names)})"
        given = f"the {wanted.noun} '{wanted.name}'" if wanted.name is not None else all_
        shown = f": an item has {_example(rows, others[0])}" if others else ""
        raise wanted.refuse(f"no number is in {given}{shown}")
    refuse(
        Problem("P210", f"'{name}' is {_show(row[name])}, which is not a finite number", place(k), _DECIDE)
        for name in numeric
        for k, row in enumerate(rows)
        if texts[name][k] is None and not _is_missing(row.get(name))
    )
    chosen = numeric
    kept = [k for k in range(len(rows)) if any(texts[name][k] is not None for name in numeric)]
    if wanted.name is None:
        chosen = [name for name in numeric if all(texts[name][k] is not None for k in kept)]
    else:
        kept = [k for k in kept if all(texts[name][k] is not None for name in numeric)]
    if not chosen or not kept:
        raise wanted.refuse(f"no {wanted.noun} has a number in all items; there are {_list(numeric)}")
    columns = {name: tuple(str(texts[name][k]) for k in kept) for name in chosen}
    lacking = {name: sum(texts[name][k] is None for k in kept) for name in numeric if name not in chosen}
    return Numbers(columns, tuple(kept), tuple(_tell(rows, wanted, others, lacking, len(kept))))


def is_mean_of(published: float | None, values: Sequence[str]) -> bool:
    """Say whether what is published is the mean of the items: what is said of another aggregate need not hold of their numbers."""
    if published is None or not values:
        return False
    return math.isclose(published, sum(map(float, values)) / len(values), rel_tol=1e-6)


def name_parts(name: str, value: Any) -> dict[str, Any]:
    """Return the parts of a list or an object under ``name.part``, and anything else under its name; nothing where it is null."""
    if isinstance(value, Mapping):
        return {f"{name}.{key}": part for key, part in value.items()}
    if isinstance(value, list):
        return {f"{name}.{k}": part for k, part in enumerate(value)}
    return {} if value is None else {name: value}


def find_at(value: Any, path: str) -> Any:
    """Return what stands at a path of keys with dots between them, and None where nothing does; lists are counted from 0.

    A key that has dots itself is found where it is the rest of the path.

    Examples
    --------
    >>> find_at({"doc": {"topics": ["sea", "sky"], "a.b": 1}}, "doc.topics.1"), find_at({"doc": {"a.b": 1}}, "doc.a.b")
    ('sky', 1)
    """
    while path:
        if isinstance(value, Mapping) and path in value:
            return value[path]
        key, _, path = path.partition(".")
        if isinstance(value, list) and key.isascii() and key.isdecimal() and len(key) <= _MOST_DIGITS and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, Mapping) and key in value and path:
            value = value[key]
        else:
            return None
    return value


def group_values(
    rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], *, within: str, source: str
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the columns that group items, by role, and what is odd.

    Parameters
    ----------
    rows : sequence of mapping
        The fields of each item.
    columns : mapping of str to str
        Of roles to paths: they are followed from the item, and from its field ``within`` where nothing is found there.
    within : str
        The field that most groups are in.
    source : str
        The file.
    """
    groups, told = {}, []
    for role, path in columns.items():
        if role in ROLES - {DOCUMENT}:
            continue  # of the table that names documents
        values = tuple(_name_group(_first(find_at(row, path), find_at(row.get(within), path))) for row in rows)
        if any(values):
            groups[role] = values
        elif role != path:
            told.append(f"{source}: no item has '{path}', by which `columns:` names the {role} of items")
    return groups, told


def make_columns(
    numbers: Mapping[str, tuple[str, ...]], groups: Mapping[str, tuple[str, ...]], content: tuple[str, ...], source: str
) -> dict[str, tuple[str, ...]]:
    """Return the columns of an output: numbers, groups, and what items asked.

    Raises
    ------
    DataError
        P211 where a score has the name of another column; P257 where a name cannot be written.
    """
    taken = next((name for name in numbers if name in {*groups, _CONTENT, DOCUMENT}), None)
    if taken is not None:
        message = f"'{taken}' is the name of a score, and of a column that is not a score"
        raise DataError.of(
            "P211", message, where=source, help="ask for another score, or give the group another name in `columns:`"
        )
    refuse_halves((name for values in (numbers, *groups.values()) for name in values), source)
    return {**numbers, **groups, **({_CONTENT: content} if content else {})}


def refuse_halves(names: Iterable[str], source: str) -> None:
    """Refuse names with half a character, which JSON can hold and no text can.

    Raises
    ------
    DataError
        P257
    """
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError as exc:
            message = f"the name {name[:_CLIP]!a} holds half a character"
            raise DataError.of("P257", message, where=source, help="write the file again in UTF-8") from exc


def refuse_depth(source: str) -> DataError:
    """Return the error that values lie within more values than can be followed."""
    return DataError(Problem("P257", "the JSON is nested too deeply", source, "check that the file is what its format says"))


_DECIDE = "say what a missing score counts as: leave the item out and set `missing:`, or write a number"


def _names(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _list(names: Sequence[str]) -> str:
    return (", ".join(map(repr, names[:_MOST_SHOWN])) + ", …" * (len(names) > _MOST_SHOWN)) or "none"


def _parts_of(rows: Sequence[Mapping[str, Any]], name: str, wanted: Wanted) -> list[dict[str, Any]]:
    if not any(name in row for row in rows):
        raise wanted.refuse(f"no item has the {wanted.noun} '{name}'; there are {_list(_names(rows))}")
    return [name_parts(name, row.get(name)) for row in rows]


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _show(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text[:_CLIP] + "…" * (len(text) > _CLIP)


def _example(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    return _show(next((row[name] for row in rows if not _is_missing(row.get(name))), None))


def _tell(
    rows: Sequence[Mapping[str, Any]], wanted: Wanted, others: Sequence[str], lacking: Mapping[str, int], count: int
) -> list[str]:
    """Say what is not a number, and what only some items have."""
    the = f"{wanted.source}: the {wanted.noun}"
    return [
        *(f"{the} '{name}' is not a number ({_example(rows, name)}), and was left out" for name in others),
        *(
            f"{wanted.source}: {times} of {count} items have no number for the {wanted.noun} '{name}', which was left out; "
            f"`{wanted.option}: {name}` takes the items that have one"
            for name, times in lacking.items()
        ),
    ]


def _first(value: Any, other: Any) -> Any:
    return other if value is None else value


def _name_group(value: Any) -> str:
    """Return the name of a group. White space is as one blank: summaries of logs keep no more of it."""
    if value is None:
        return ""
    return " ".join(value.split()) if isinstance(value, str) else json.dumps(value, sort_keys=True)
