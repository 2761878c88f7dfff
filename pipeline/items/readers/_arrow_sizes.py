"""How much an Arrow file holds. This module weighs its messages before Arrow decompresses them.

Arrow allocates what the header of a compressed buffer says. The few fields that are needed are read from the flatbuffers of the
messages (``Message.fbs`` and ``File.fbs`` of the Arrow format), for which pyarrow has no function.
"""

from __future__ import annotations

import importlib
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

from pipeline.inputs import Meter

__all__ = ["weigh_arrow"]

_MAGIC = b"ARROW1"
_TAIL = 4 + len(_MAGIC)
_RECORD_BATCH, _DICTIONARY_BATCH = 3, 2
_BLOCK, _BUFFER = 24, 16
_PLAIN = -1  # the length before a buffer that is not compressed after all


class _Table:
    """A table of a flatbuffer; what is not in it is 0 or None."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at
        self._fields = at - _number(data, "<i", at)

    @classmethod
    def root(cls, data: bytes) -> _Table:
        return cls(data, _number(data, "<I", 0))

    def number(self, field: int, form: str) -> int:
        at = self._find(field)
        return _number(self._data, form, at) if at else 0

    def table(self, field: int) -> _Table | None:
        at = self._find(field)
        return _Table(self._data, at + _number(self._data, "<I", at)) if at else None

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


def weigh_arrow(file: BinaryIO, meter: Meter) -> None:
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
    root = _Table.root(footer)
    for field in (2, 3):  # dictionaries, batches
        for at in root.structs(field, _BLOCK):
            file.seek(_number(footer, "<q", at))
            yield arrow.ipc.read_message(file)


def _weigh(head: bytes, body: Any, meter: Meter) -> None:
    message = _Table.root(head)
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
