"""Arrays in a third of their bytes: pieces of whole rows, of which each can be unpacked without the others.

Zstandard sees the bytes of a piece in one of two orders, whichever made its first piece smaller: as they are, where the same
numbers come again, as scores of few items do; or all first bytes of its numbers, then all second ones, and so on, where numbers
differ but little, as counts do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.store.zstandard import zstd

__all__ = ["LEVEL", "PackedRows", "pack_rows", "unpack_rows", "unpacked_size"]

PIECE_BYTES = 2**17
"""Of a piece, unpacked: a block of Zstandard, and the scores of a system in a cell, which a cube takes over as they are packed."""

_SMALL = 2**14  # bytes that are not worth a piece
_WORTH = 0.9  # of its bytes: an array that stays larger is left as it is
LEVEL = 1
"""Of Zstandard: higher ones gain a percent for a third more time."""


@dataclass(frozen=True)
class PackedRows:
    """The pieces of an array, each of ``rows`` rows but for the last, and whether their bytes are ordered by significance."""

    rows: int
    ordered: bool
    pieces: Sequence[bytes]


def pack_rows(array: NDArray[Any]) -> PackedRows | None:
    """Return an array's pieces, or None where they would save little: the array is small, or no smaller when packed."""
    if array.nbytes < _SMALL or array.dtype.kind not in "biuf":
        return None
    rows = max(1, PIECE_BYTES * array.shape[0] // array.nbytes)
    first, *others = (array[start : start + rows] for start in range(0, array.shape[0], rows))
    as_it_is, ordered = _compress(first, ordered=False), _compress(first, ordered=True)
    smaller = min(as_it_is, ordered, key=len)
    if len(smaller) > _WORTH * first.nbytes:
        return None
    return PackedRows(rows, smaller is ordered, [smaller, *(_compress(part, ordered=smaller is ordered) for part in others)])


def unpack_rows(piece: bytes | memoryview, rows: NDArray[Any], *, ordered: bool) -> None:
    """Fill contiguous rows with those of a piece; ValueError where it does not hold as much."""
    size = rows.nbytes
    opened = zstd.ZstdDecompressor()
    try:
        # One byte more than is wanted: a piece that holds more is not unpacked to its end.
        content = opened.decompress(piece, max_length=size + 1)
    except zstd.ZstdError as error:
        raise ValueError(f"a piece cannot be unpacked: {error}") from error
    if len(content) != size or not opened.eof or opened.unused_data:
        raise ValueError("a piece does not hold what its array says")
    numbers, filled = np.frombuffer(content, np.uint8), rows.reshape(-1).view(np.uint8)
    if not ordered:
        filled[:] = numbers
        return
    by_number = filled.reshape(-1, rows.dtype.itemsize)
    # The bytes of one place at a time: turning all around at once takes NumPy up to twice as long.
    for place, significance in enumerate(numbers.reshape(rows.dtype.itemsize, -1)):
        by_number[:, place] = significance


def unpacked_size(piece: bytes | memoryview) -> int | None:
    """Return how many bytes a piece says it has, unpacked; None where it does not say so."""
    try:
        return zstd.get_frame_info(piece).decompressed_size
    except zstd.ZstdError:
        return None


def _compress(part: NDArray[Any], *, ordered: bool) -> bytes:
    numbers = np.ascontiguousarray(part).reshape(-1).view(np.uint8)
    if ordered:
        numbers = np.ascontiguousarray(numbers.reshape(-1, part.dtype.itemsize).T)
    return zstd.compress(numbers.data, LEVEL)
