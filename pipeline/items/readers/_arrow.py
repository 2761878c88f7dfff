"""Tables in Parquet, Arrow and Feather files: rows of strings, as the types of their columns write them.

Arrow allocates what the header of a compressed buffer says. So `_weigh_arrow` weighs the messages of a file before Arrow
decompresses any: the few fields that are needed are read from the flatbuffers of the messages (``Message.fbs`` and ``File.fbs``
of the Arrow format), for which pyarrow has no function.
"""

from __future__ import annotations

import importlib
import os
import struct
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO

from pipeline.errors import DataError
from pipeline.inputs import PART, Meter, largest_input, open_input
from pipeline.interfaces import FileSample, Recognised
from pipeline.items.readers._streams import open_data
from pipeline.items.readers._tables import Table

__all__ = ["is_columnar", "read_columnar", "recognise_columnar"]

_MAGIC = b"ARROW1"
_TAIL = 4 + len(_MAGIC)
_RECORD_BATCH, _DICTIONARY_BATCH = 3, 2
_BLOCK, _BUFFER = 24, 16
_PLAIN = -1  # the length before a buffer that is not compressed after all


class _Message:
    """A table of a flatbuffer; what is not in it is 0 or None."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at
        self._fields = at - _number(data, "<i", at)

    @classmethod
    def root(cls, data: bytes) -> _Message:
        return cls(data, _number(data, "<I", 0))

    def number(self, field: int, form: str) -> int:
        at = self._find(field)
        return _number(self._data, form, at) if at else 0

    def table(self, field: int) -> _Message | None:
        at = self._find(field)
        return _Message(self._data, at + _number(self._data, "<I", at)) if at else None

    def structs(self, field: int, size: int) -> Iterator[int]:
        """Yield the places of the structs of a vector."""
        at = self._find(field)
        if at:
            vector = at + _number(self._data, "<I", at)
            yield from (vector + 4 + k * size for k in range(_number(self._data, "<I", vector)))

    def _find(self, field: int) -> int:
        entry = 4 + 2 * field
        if entry >= _number(self._data, "<H", self._fields):
            return 0
        offset = _number(self._data, "<H", self._fields + entry)
        return self._at + offset if offset else 0


def _weigh_arrow(file: BinaryIO, meter: Meter) -> None:
    """Count what the batches of an open file or stream hold; nothing of it is decompressed.

    Raises
    ------
    DataError
        As `Meter` does.
    ValueError
        Where it is damaged.
    """
    arrow: Any = importlib.import_module("pyarrow")
    try:
        for message in _file_messages(file, arrow) if file.read(len(_MAGIC)) == _MAGIC else _stream_messages(file, arrow):
            _weigh(message.metadata.to_pybytes(), message.body, meter)
    except struct.error as exc:
        raise ValueError("a part of its description is missing") from exc
    finally:
        file.seek(0)


def _stream_messages(file: BinaryIO, arrow: Any) -> Iterator[Any]:
    file.seek(0)
    return iter(arrow.ipc.MessageReader.open_stream(file))


def _file_messages(file: BinaryIO, arrow: Any) -> Iterator[Any]:
    """Yield the messages that the footer names: these are read, whatever else is there."""
    end = file.seek(0, 2)
    file.seek(max(0, end - _TAIL))
    length = _number(file.read(_TAIL), "<i", 0)
    if not 0 < length <= end - _TAIL:
        raise ValueError("its footer is missing")
    file.seek(end - _TAIL - length)
    footer = file.read(length)
    root = _Message.root(footer)
    for field in (2, 3):  # dictionaries, batches
        for at in root.structs(field, _BLOCK):
            file.seek(_number(footer, "<q", at))
            yield arrow.ipc.read_message(file)


def _weigh(head: bytes, body: Any, meter: Meter) -> None:
    message = _Message.root(head)
    kind = message.number(1, "<B")
    batch = message.table(2)
    if batch is not None and kind == _DICTIONARY_BATCH:
        batch = batch.table(1)
    if batch is None or kind not in (_RECORD_BATCH, _DICTIONARY_BATCH):
        return
    columns = sum(1 for _ in batch.structs(1, _BUFFER))
    meter.add(0, max(0, batch.number(0, "<q")) * columns)
    compressed = batch.table(3) is not None
    for at in batch.structs(2, _BUFFER):
        start, length = _number(head, "<q", at), _number(head, "<q", at + 8)
        announced = _number(body[start : start + 8].to_pybytes(), "<q", 0) if compressed and length >= 8 else _PLAIN
        meter.add(max(0, length if announced == _PLAIN else announced))


def _number(data: bytes, form: str, at: int) -> int:
    if at < 0:
        raise struct.error("before the beginning")
    found: int = struct.unpack_from(form, data, at)[0]
    return found


_STREAM = b"\xff\xff\xff\xff"
_KINDS: tuple[tuple[bytes, str], ...] = (
    (b"PAR1", "a Parquet file"),
    (b"PARE", "an encrypted Parquet file"),
    (b"ARROW1", "an Arrow or Feather file"),
    (b"FEA1", "a Feather file of the first version"),
    (_STREAM, "a stream of Arrow"),
)
_ROWS = 1 << 10
"""Rows that are unpacked at a time: a text that is there once in the file may be each row's."""
_PIP = "`pip install pyarrow`, or `pip install 'pipeline[parquet]'`; or write the table as CSV"


def is_columnar(path: Path) -> bool:
    """Tell by its first bytes whether a file is a table in columns; what cannot be read is none, and its reader says why."""
    try:
        with open_input(path) as file:
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
        P201, P202 or P285 where it cannot be opened; P206 where pyarrow is missing or the file is damaged; P211 a column name
        twice, or no column of single values; P212 no rows; P286 where it holds more than is read.
    """
    source = str(path)
    with open_data(path) as file:
        found = _read(path, file)
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
    meter = Meter(source, largest_input())  # of the texts alone
    columns = [_as_text(found.column(k), meter) for k in single]
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


def _read(path: Path, file: BinaryIO) -> Any:
    """Return the file's table, as Arrow has it."""
    head = file.read(8)
    file.seek(0)
    kind = _kind(head) or "a table in columns"
    try:
        arrow: Any = importlib.import_module("pyarrow")
        feather: Any = importlib.import_module("pyarrow.feather")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError as exc:
        raise DataError.of("P206", f"{path.name} is {kind}, which needs pyarrow to be read", where=str(path), help=_PIP) from exc
    stored = os.fstat(file.fileno()).st_size
    meter = Meter(str(path), largest_input())  # how well it was compressed says little: columns of one value take no room
    meter.expect(stored)
    try:
        if head.startswith(b"PAR"):
            # One file is one table: do not read folders of parts, or guess types from their names.
            return _read_parquet(parquet.ParquetFile(file), arrow, meter)
        if head.startswith(b"FEA1"):
            return feather.read_table(file)  # which knows no compression
        _weigh_arrow(file, meter)
        opened = arrow.ipc.open_stream(file) if head.startswith(_STREAM) else arrow.ipc.open_file(file)
        return opened.read_all()
    except (arrow.ArrowException, OSError, ValueError, MemoryError) as exc:
        raise DataError.of("P206", f"{path.name} is damaged: {exc}", where=str(path), help="copy or make the file again") from exc


def _read_parquet(file: Any, arrow: Any, meter: Meter) -> Any:
    """Read some rows at a time: a value that is there a million times takes no more room in the file than once."""
    described = file.metadata
    meter.expect(sum(described.row_group(k).total_byte_size for k in range(described.num_row_groups)))
    meter.expect(PART * described.num_rows * described.num_columns)
    batches = []
    for batch in file.iter_batches(batch_size=_ROWS):
        meter.add(batch.nbytes, batch.num_rows * batch.num_columns)
        batches.append(batch)
    return arrow.Table.from_batches(batches, schema=file.schema_arrow)


def _is_nested(kind: Any) -> bool:
    types: Any = importlib.import_module("pyarrow.types")
    kind = kind.value_type if types.is_dictionary(kind) else kind
    binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    return bool(types.is_nested(kind) or binary)


def _as_text(column: Any, meter: Meter) -> Sequence[str]:
    """Return a column's values, counting what they take."""
    types: Any = importlib.import_module("pyarrow.types")
    found: list[str] = []
    for chunk in column.iterchunks():
        if types.is_dictionary(chunk.type):
            words = _as_text_at_once(chunk.dictionary)
            found += ["" if k is None else words[k] for k in chunk.indices.to_pylist()]
            continue
        for start in range(0, len(chunk), _ROWS):
            texts = _as_text_at_once(chunk.slice(start, _ROWS))
            meter.add(sum(map(len, texts)))
            found += texts
    return found


def _as_text_at_once(column: Any) -> Sequence[str]:
    import numpy as np  # as Arrow does: what only recognises a file needs neither

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
