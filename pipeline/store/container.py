"""The bytes of stored arrays: named arrays behind a JSON head, the same bytes for the same content.

Layout: 8 bytes of magic · length of the head, CRC-32 of the head (4 bytes little-endian each) · head (JSON: name, dtype,
shape, offset, crc32) · raw little-endian C-order buffers, each starting at a multiple of 64 so that they can be mapped.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["pack", "unpack"]

_MAGIC = b"PIPEARR1"
_PREFIX = struct.Struct("<8sII")
_ALIGNMENT = 64
_KINDS = "biufSU"  # no objects: nothing that is stored is ever unpickled


def pack(arrays: Mapping[str, NDArray[Any]]) -> Iterator[bytes | memoryview]:
    """Yield the bytes of named arrays piece by piece; names are sorted, so their order does not matter."""
    plain = {name: _little_endian(name, arrays[name]) for name in sorted(arrays)}
    buffers = [array.reshape(-1).view(np.uint8).data for array in plain.values()]
    head, offset = [], 0
    for (name, array), buffer in zip(plain.items(), buffers, strict=True):
        shape = list(array.shape)
        head.append({"name": name, "dtype": array.dtype.str, "shape": shape, "offset": offset, "crc32": zlib.crc32(buffer)})
        offset = _aligned(offset + buffer.nbytes)
    text = json.dumps(head, separators=(",", ":")).encode("ascii")
    yield _PREFIX.pack(_MAGIC, len(text), zlib.crc32(text)) + text
    position = _PREFIX.size + len(text)
    for buffer in buffers:
        yield bytes(_aligned(position) - position)
        yield buffer
        position = _aligned(position) + buffer.nbytes


def unpack(data: Any, *, verify: bool = True) -> dict[str, NDArray[Any]]:
    """Return the arrays in bytes (or a mapped file) as read-only views; ValueError where they are damaged."""
    view = memoryview(data)
    if len(view) < _PREFIX.size:
        raise ValueError(f"{len(view)} bytes are too few")
    magic, length, check = _PREFIX.unpack(view[: _PREFIX.size])
    text = bytes(view[_PREFIX.size : _PREFIX.size + length])
    if magic != _MAGIC or len(text) != length or zlib.crc32(text) != check:
        raise ValueError("its head is not what was written")
    start, end, arrays = _aligned(_PREFIX.size + length), _PREFIX.size + length, {}
    for entry in _read_head(text):
        dtype, count = np.dtype(entry["dtype"]), math.prod(entry["shape"])
        first = start + entry["offset"]
        end = first + count * dtype.itemsize
        if len(view) < end:
            raise ValueError(f"it ends after {len(view)} bytes, within the array {entry['name']!r}")
        if verify and zlib.crc32(view[first:end]) != entry["crc32"]:
            raise ValueError(f"the array {entry['name']!r} is not what was written")
        array = np.ndarray(tuple(entry["shape"]), dtype, buffer=view, offset=first)
        array.flags.writeable = False
        arrays[str(entry["name"])] = array
    if len(view) != end:
        raise ValueError(f"it has {len(view)} bytes, {end} were written")
    return arrays


def _read_head(text: bytes) -> list[dict[str, Any]]:
    """Return the entries of a head that describe arrays we may have written: a checksum does not say by whom it was."""
    try:
        entries = json.loads(text)
        for entry in entries:
            numbers = [*entry["shape"], entry["offset"], entry["crc32"]]
            if np.dtype(entry["dtype"]).kind not in _KINDS or not all(type(n) is int and n >= 0 for n in numbers):
                raise ValueError("numbers or the type of an array cannot be those of one")
            if not isinstance(entry["name"], str):
                raise ValueError("an array has no name")
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"its head describes no arrays: {error}") from error
    return list(entries)


def _little_endian(name: str, array: NDArray[Any]) -> NDArray[Any]:
    array = np.asarray(array)
    if array.dtype.kind not in _KINDS:
        raise ValueError(f"the array {name!r} has dtype {array.dtype}, which is not stored; kinds are {_KINDS!r}")
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def _aligned(position: int) -> int:
    return -(-position // _ALIGNMENT) * _ALIGNMENT
