"""Tables in Parquet, Arrow and Feather files. This module gives them as rows of strings, written as their types write them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.errors import DataError
from pipeline.interfaces import FileSample, Recognised
from pipeline.items.readers._tables import Table

__all__ = ["is_columnar", "read_columnar", "recognise_columnar"]

_STREAM = b"\xff\xff\xff\xff"
_KINDS: tuple[tuple[bytes, str], ...] = (
    (b"PAR1", "a Parquet file"),
    (b"PARE", "an encrypted Parquet file"),
    (b"ARROW1", "an Arrow or Feather file"),
    (b"FEA1", "a Feather file of the first version"),
    (_STREAM, "a stream of Arrow"),
)
_PIP = "`pip install pyarrow`, or `pip install 'pipeline[parquet]'`; or write the table as CSV"


def is_columnar(path: Path) -> bool:
    """Tell by its first bytes whether a file is a table in columns; what cannot be read is none, and its reader says why."""
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except (OSError, ValueError):
        return False
    return _kind(head) is not None


def recognise_columnar(sample: FileSample, beside: str) -> Recognised | None:
    """Take a sample that begins as such files do."""
    kind = _kind(sample.head)
    return None if kind is None else Recognised(0.6, f"it begins as {kind} does, {beside}")


def read_columnar(path: Path) -> Table:
    """Read a table; rows are numbered from 1, as if they were lines.

    Numbers are written with the fewest digits that are no other number of their type: a single 0.1 is ``0.1``. True is ``1``,
    false ``0``, nothing is an empty field. Columns of lists and structures are left out, and told.

    Raises
    ------
    DataError
        P206 where pyarrow lacks or the file is damaged; P211 a column name twice, or no column of single values; P212 no rows.
    """
    source = str(path)
    read, arrow_error = _open(path)
    try:
        found = read()
    except (arrow_error, OSError, ValueError, MemoryError) as exc:
        raise DataError.of("P206", f"{path.name} is damaged: {exc}", where=source, help="copy or make the file again") from exc
    names = [str(name) for name in found.column_names]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DataError.of("P211", f"the table names a column twice: {', '.join(map(repr, repeated))}", where=source)
    if not found.num_rows:
        raise DataError.of("P212", "the table has no rows", where=source)
    single = [k for k, field in enumerate(found.schema) if not _is_nested(field.type)]
    nested = [f"'{names[k]}' ({found.schema[k].type})" for k in range(len(names)) if k not in set(single)]
    if not single:
        message = f"every column of the table holds lists or structures: {', '.join(nested)[:300]}"
        raise DataError.of("P211", message, where=source, help="write the values as columns of their own")
    columns = [_as_text(found.column(k)) for k in single]
    told = (f"{source}: columns of lists or structures were left out: {', '.join(nested)[:300]}",) if nested else ()
    rows = tuple(zip(*columns, strict=True))
    return Table(tuple(names[k] for k in single), rows, tuple(range(1, len(rows) + 1)), source, told)


def _kind(head: bytes) -> str | None:
    for magic, kind in _KINDS:
        # A text may begin with the same letters; behind them it goes on with what can be printed, or ends.
        behind = head[len(magic) : len(magic) + 1]
        if head.startswith(magic) and behind and not (behind.isspace() or 32 <= behind[0] < 127):
            return kind
    return None


def _open(path: Path) -> tuple[Callable[[], Any], type[Exception]]:
    """Give what reads the file, and what pyarrow raises where it cannot."""
    with path.open("rb") as file:
        head = file.read(8)
    kind = _kind(head) or "a table in columns"
    try:
        arrow: Any = importlib.import_module("pyarrow")
        feather: Any = importlib.import_module("pyarrow.feather")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError as exc:
        raise DataError.of("P206", f"{path.name} is {kind}, which needs pyarrow to be read", where=str(path), help=_PIP) from exc
    if head.startswith(b"PAR"):
        # One file is one table: folders of parts and types guessed from their names are nobody's wish here.
        return (lambda: parquet.ParquetFile(path).read()), arrow.ArrowException
    if head.startswith(_STREAM):
        return (lambda: arrow.ipc.open_stream(path.read_bytes()).read_all()), arrow.ArrowException
    return (lambda: feather.read_table(str(path), memory_map=False)), arrow.ArrowException


def _is_nested(kind: Any) -> bool:
    types: Any = importlib.import_module("pyarrow.types")
    kind = kind.value_type if types.is_dictionary(kind) else kind
    binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    return bool(types.is_nested(kind) or binary)


def _as_text(column: Any) -> Sequence[str]:
    types: Any = importlib.import_module("pyarrow.types")
    values = column.to_pylist()
    if types.is_float32(column.type):
        return [_short(value, np.float32) for value in values]
    if types.is_float16(column.type):
        return [_short(value, np.float16) for value in values]
    return [_text(value) for value in values]


def _short(value: Any, kind: Callable[[Any], Any]) -> str:
    return "" if value is None else str(kind(value))


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Decimal):
        return format(value, "f")
    return repr(value) if isinstance(value, float) else str(value)
