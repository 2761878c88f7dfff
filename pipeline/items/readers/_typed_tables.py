"""Tables that are not lines of fields: Parquet, Arrow and Feather, JSON of column names and rows, and JSON of records.

The first JSON, ``{"columns": […], "data": [[…], …]}``, is what pandas writes with ``orient="split"``, and what Weights & Biases
keeps of a logged table (``….table.json``). The second has an object for each row, one per line or in a list, as pandas writes it
with ``orient="records"``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pipeline.errors import DataError, Problem, name_some
from pipeline.interfaces import FileSample, Recognised
from pipeline.items.readers._arrow import is_columnar, read_columnar, recognise_columnar
from pipeline.items.readers._files import read_head
from pipeline.items.readers._json import need, number_text, read_json, read_json_lines, read_json_list, refuse_shape
from pipeline.items.readers._roles import holds_scores
from pipeline.items.readers._tables import Table, find_column, refuse

__all__ = ["SPLIT_ENDING", "begins_json", "begins_split", "first_record", "read_typed", "recognise_typed"]

SPLIT_ENDING = ".table.json"
"""How Weights & Biases names its tables."""

_HEAD = 1 << 16
_OBJECT = re.compile(rb'(\xef\xbb\xbf)?\s*(\[\s*)?\{\s*"(?:[^"\\\n]|\\.)*"\s*:')
"""How a JSON object, or a list of them, begins."""
_LIST = re.compile(rb"(\xef\xbb\xbf)?\s*\[")
_BEGINS = re.compile(r"[^\s,\[]")
"""How an object begins, in a list or on lines."""
_SPLIT = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*"columns"\s*:\s*\[')


def begins_split(head: bytes) -> bool:
    """Tell by its first bytes whether a file is JSON of column names and rows."""
    return _SPLIT.match(head) is not None


def begins_json(head: bytes) -> bool:
    """Tell by its first bytes whether a file is a JSON object, or a list or lines of them."""
    return _OBJECT.match(head) is not None


def first_record(head: bytes) -> Mapping[str, Any] | None:
    """Return the object that a file begins with, alone or in a list, or None; what is null in it is taken from those that follow.

    Examples
    --------
    >>> first_record(b'[{"id": 1, "north": null},{"id": 2, "north": 0.5},'), first_record(b"id,north")
    ({'id': 1, 'north': 0.5}, None)
    """
    if not begins_json(head):
        return None
    text, decoder = head.decode("utf-8-sig", errors="ignore"), json.JSONDecoder()
    record: dict[str, Any] = {}
    at = 0
    with suppress(ValueError, RecursionError):  # there is none, or it is longer than what is looked at, or malformed
        while not record or None in record.values():
            begins = _BEGINS.search(text, at)
            if begins is None:
                break
            value, at = decoder.raw_decode(text, begins.start())
            if not isinstance(value, dict):
                break
            record = {name: value.get(name) if known is None else known for name, known in (record or value).items()}
    return record or None


def recognise_typed(sample: FileSample, beside: str) -> Recognised | None:
    """Take a sample that begins as such files do; records only where they are scores, which nothing is compared with."""
    record = None if sample.gold or sample.references else first_record(sample.head)
    if record is not None and holds_scores(record):
        return Recognised(0.6, f"an object for each row, with numbers: {name_some([repr(name) for name in record], 6)}")
    if begins_split(sample.head):
        return Recognised(0.6, f"it begins as JSON of column names and rows does, {beside}")
    return recognise_columnar(sample, beside)


def read_typed(path: Path) -> Table | None:
    """Read a table; None where the file is written in lines, or cannot be opened.

    Rows are numbered from 1, as if they were lines; names that pandas gives them are the column ``item``. Numbers are written with
    the fewest digits that are no other number, true is ``1``, false ``0``, nothing is an empty field. Columns of lists and objects
    are left out, and told.

    Raises
    ------
    DataError
        P206 a damaged file, or pyarrow is missing; P211 a column name twice, or no column of single values; P212 no rows, or one of
        another length; P257 JSON of another shape; P286 more than is read.
    """
    if is_columnar(path):
        return read_columnar(path)
    try:
        head, _ = read_head(path, _HEAD)
    except DataError:
        return None  # what reads the lines says why
    if begins_split(head):
        return _read_split(path)
    return _read_records(path, listed=_LIST.match(head) is not None) if begins_json(head) else None


def _read_split(path: Path) -> Table:
    source = str(path)
    value, told = read_json(path, strict=True)
    names: list[Any] = need(value, "columns", list, source)
    rows: list[Any] = need(value, "data", list, source)
    for name in names:
        if not isinstance(name, str):
            raise refuse_shape(source, 0, "a name of a column", "a text", name)
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError.of("P211", f"the table names a column twice: {', '.join(map(repr, repeated))}", where=source)
    if not rows:
        raise DataError.of("P212", "the table has no rows", where=source)
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, list):
            raise refuse_shape(source, 0, f"row {number} of `data`", "a list", row)
    refuse(
        Problem("P212", f"the row has {len(row)} fields, there are {len(names)} columns", f"{source}:{number}")
        for number, row in enumerate(rows, start=1)
        if len(row) != len(names)
    )
    columns: dict[str, Sequence[str]] = _index(value, len(rows)) if find_column("item", names, {}, source) is None else {}
    nested = []
    for place, name in enumerate(names):
        values = [row[place] for row in rows]
        if any(isinstance(one, list | dict) for one in values):
            nested.append(repr(name))
        else:
            columns[name] = [_text(one) for one in values]
    if not columns:
        message = f"every column of the table holds lists or objects: {', '.join(nested)[:300]}"
        raise DataError.of("P211", message, where=source, help="write the values as columns of their own")
    if nested:
        told.append(f"{source}: columns of lists or objects were left out: {', '.join(nested)[:300]}")
    found = tuple(zip(*columns.values(), strict=True))
    return Table(tuple(columns), found, tuple(range(1, len(found) + 1)), source, tuple(told))


def _read_records(path: Path, *, listed: bool) -> Table:
    """Read objects as rows; one that lacks a field of the others has it empty."""
    source = str(path)
    found, told = (read_json_list if listed else read_json_lines)(path, strict=True)
    names = dict.fromkeys(name for record in found for name in record.value)
    nested = [name for name in names if any(isinstance(record.value.get(name), list | dict) for record in found)]
    header = tuple(name for name in names if name not in nested)
    if nested:
        told.append(f"{source}: columns of lists or objects were left out: {', '.join(map(repr, nested))[:300]}")
    rows = tuple([tuple([_text(record.value.get(name)) for name in header]) for record in found])
    return Table(header, rows, tuple([record.line for record in found]), source, tuple(told))


def _index(value: Mapping[str, Any], rows: int) -> dict[str, Sequence[str]]:
    """Return names of rows that pandas keeps beside them, as the column ``item``; nothing where they are just numbered."""
    index = value.get("index")
    if not isinstance(index, list) or len(index) != rows or index == list(range(rows)):
        return {}
    return {"item": [_text(name) for name in index]}


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else (number_text(value) or str(value))
