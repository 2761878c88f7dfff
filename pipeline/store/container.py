"""The bytes of stored arrays: named arrays behind a JSON head, the same bytes for the same content.

Layout: 8 bytes of magic · length of the head, CRC-32 of the head (4 bytes little-endian each) · head (JSON: name, dtype,
shape, offset, crc32) · buffers, each starting at a multiple of 64. A buffer holds its array raw, little-endian, in C order, or
as pieces that `pipeline.store.packing` packed, where the head has the lengths of these ``pieces``, the ``rows`` of each, and
whether they are ``ordered``. A file of raw arrays alone says version 1, which older versions of the package read too.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.store.packing import pack_rows, unpack_rows, unpacked_size

__all__ = ["StoredArrays", "pack"]

_RAW, _PACKED = b"PIPEARR1", b"PIPEARR2"
_PREFIX = struct.Struct("<8sII")
_ALIGNMENT = 64
_MOST_RATIO = 2**15  # of what packed bytes unpack to: more than Zstandard makes of zeros
_KINDS = "biufSU"  # no objects: nothing that is stored is ever unpickled


def pack(arrays: Mapping[str, NDArray[Any]]) -> Iterator[bytes | memoryview]:
    """Yield the bytes of named arrays piece by piece; names are sorted, so their order does not matter."""
    head: list[dict[str, Any]] = []
    buffers: list[list[bytes | memoryview]] = []
    offset = 0
    for name in sorted(arrays):
        array = _little_endian(name, arrays[name])
        packed = pack_rows(array)
        buffer: list[bytes | memoryview] = [array.reshape(-1).view(np.uint8).data] if packed is None else [*packed.pieces]
        check = 0
        for piece in buffer:
            check = zlib.crc32(piece, check)
        head.append({"name": name, "dtype": array.dtype.str, "shape": list(array.shape), "offset": offset, "crc32": check})
        if packed is not None:
            head[-1] |= {"rows": packed.rows, "ordered": packed.ordered, "pieces": [len(piece) for piece in buffer]}
        buffers.append(buffer)
        offset = _aligned(offset + sum(map(len, buffer)))
    text = json.dumps(head, separators=(",", ":")).encode("ascii")
    magic = _PACKED if any("pieces" in entry for entry in head) else _RAW
    yield _PREFIX.pack(magic, len(text), zlib.crc32(text)) + text
    position = _PREFIX.size + len(text)
    for written in buffers:
        yield bytes(_aligned(position) - position)
        yield from written
        position = _aligned(position) + sum(map(len, written))


@dataclass(frozen=True)
class _Entry:
    """The position and form of an array in a file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    first: int
    crc32: int
    rows: int  # of each piece but the last; 0 where the array is raw
    ordered: bool
    ends: tuple[int, ...]  # of its pieces, counted from `first`; of the whole array where it is raw

    @property
    def stop(self) -> int:
        return self.first + (self.ends[-1] if self.ends else 0)


class StoredArrays:
    """The arrays in bytes or in a mapped file, read whole or by rows.

    Parameters
    ----------
    data : buffer
        What `pack` yielded. Its head and its length are held against what was written, its buffers where they are verified.

    Raises
    ------
    ValueError
        The bytes are damaged.
    """

    def __init__(self, data: Any) -> None:
        self._view = view = memoryview(data)
        if len(view) < _PREFIX.size:
            raise ValueError(f"{len(view)} bytes are too few")
        magic, length, check = _PREFIX.unpack(view[: _PREFIX.size])
        text = bytes(view[_PREFIX.size : _PREFIX.size + length])
        if magic not in (_RAW, _PACKED) or len(text) != length or zlib.crc32(text) != check:
            raise ValueError("its head is not what was written")
        self._entries = _read_head(text, _aligned(_PREFIX.size + length))
        end = _PREFIX.size + length
        for name, entry in self._entries.items():
            end = entry.stop
            if len(view) < end:
                raise ValueError(f"it ends after {len(view)} bytes, within the array {name!r}")
        if len(view) != end:
            raise ValueError(f"it has {len(view)} bytes, {end} were written")

    def verify(self) -> None:
        """Read every byte; ValueError where the buffers are not those that were written."""
        for name, entry in self._entries.items():
            if zlib.crc32(self._view[entry.first : entry.stop]) != entry.crc32:
                raise ValueError(f"the array {name!r} is not what was written")

    def whole(self) -> dict[str, NDArray[Any]]:
        """Return all arrays, read-only; those that are raw are views of the data."""
        return {name: self.rows(name, 0, entry.shape[0] if entry.shape else 1) for name, entry in self._entries.items()}

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of an array; KeyError where there is none of this name."""
        return self._entries[name].shape

    def rows(self, name: str, first: int, stop: int) -> NDArray[Any]:
        """Return the rows of an array from ``first`` to before ``stop``, read-only: only the pieces that hold them are unpacked.

        Raises
        ------
        KeyError
            There is no array of this name.
        ValueError
            A piece is damaged.
        """
        entry = self._entries[name]
        if not entry.rows:
            array = np.ndarray(entry.shape, entry.dtype, buffer=self._view, offset=entry.first)
            array = array[first:stop] if entry.shape else array
        else:
            numbers = range(first // entry.rows, -(-stop // entry.rows))
            begin, end = numbers.start * entry.rows, min(numbers.stop * entry.rows, entry.shape[0])
            joined = np.empty((max(end - begin, 0), *entry.shape[1:]), entry.dtype)
            for number in numbers:
                at = number * entry.rows - begin
                unpack_rows(self._piece(entry, number), joined[at : at + entry.rows], ordered=entry.ordered)
            array = joined[first - begin : stop - begin]
        array.flags.writeable = False
        return array

    def packed_row(self, name: str, row: int) -> memoryview | None:
        """Return a row as Zstandard packed it by itself, its bytes in their order; None where it was packed in another way."""
        entry = self._entries[name]
        if entry.rows != 1 or entry.ordered:
            return None
        piece = self._piece(entry, row)
        return piece if unpacked_size(piece) == math.prod(entry.shape[1:]) * entry.dtype.itemsize else None

    def _piece(self, entry: _Entry, number: int) -> memoryview:
        start = entry.ends[number - 1] if number else 0
        return self._view[entry.first + start : entry.first + entry.ends[number]]


def _read_head(text: bytes, start: int) -> dict[str, _Entry]:
    """Return the entries of a head that describe arrays we may have written: a checksum does not say by whom it was."""
    try:
        return {entry["name"]: _read_entry(entry, start) for entry in json.loads(text)}
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"its head describes no arrays: {error}") from error


def _read_entry(entry: Mapping[str, Any], start: int) -> _Entry:
    dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
    rows, lengths = entry.get("rows", 0), entry.get("pieces", [])
    numbers = [*shape, entry["offset"], entry["crc32"], rows, *lengths]
    if dtype.kind not in _KINDS or not all(type(n) is int and n >= 0 for n in numbers):
        raise ValueError("numbers or the type of an array cannot be those of one")
    if not isinstance(entry["name"], str):
        raise ValueError("an array has no name")
    if not rows:
        lengths = [math.prod(shape) * dtype.itemsize]
    elif not shape or len(lengths) != -(-shape[0] // rows) or math.prod(shape) * dtype.itemsize > _MOST_RATIO * sum(lengths):
        raise ValueError(f"the pieces of the array {entry['name']!r} cannot be all of it")
    return _Entry(
        dtype, shape, start + entry["offset"], entry["crc32"], rows, entry.get("ordered") is True, tuple(accumulate(lengths))
    )


def _little_endian(name: str, array: NDArray[Any]) -> NDArray[Any]:
    array = np.asarray(array)
    if array.dtype.kind not in _KINDS:
        raise ValueError(f"the array {name!r} has dtype {array.dtype}, which is not stored; kinds are {_KINDS!r}")
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def _aligned(position: int) -> int:
    return -(-position // _ALIGNMENT) * _ALIGNMENT
