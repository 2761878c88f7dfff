"""Groups and arrays of Zarr's third format, written as files or into memory.

Zarr's own writer hands every file to an event loop in a thread of its own: for the cube of a small run, of four hundred files, that
took a third of the time of the run. What is written here Zarr reads as its own; a test holds the two to the same descriptions and
values.
"""

from __future__ import annotations

import json
import math
import os
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.store.zstandard import zstd

__all__ = ["KEYS", "Files", "FilesInFolder", "FilesInMemory", "ZarrArray", "ZarrGroup", "is_chunk"]

META = "zarr.json"
_LEVEL = 2  # 3 takes two to three times as long for two per cent
_COMPRESSION: Mapping[int, int] = {zstd.CompressionParameter.compression_level: _LEVEL, zstd.CompressionParameter.checksum_flag: 1}
_CODECS = {"name": "zstd", "configuration": {"level": _LEVEL, "checksum": True}}
_LENGTH = struct.Struct("<I")
KEYS = {"name": "default", "configuration": {"separator": "."}}
"""How chunks are named: all of an array are in its folder, for to make a folder takes as long as to write a small file."""

_CHUNK = "c."


class Files(Protocol):
    """What has bytes by path: a folder, or memory."""

    def read(self, path: str) -> bytes | None:
        """Return what a path has; None where there is no such file."""
        ...

    def has(self, path: str) -> bool:
        """Tell whether a path has anything."""
        ...

    def write(self, path: str, content: bytes | memoryview) -> None:
        """Let this be what a path has."""
        ...


class FilesInFolder:
    """Files below a folder, which are not brought to disk one by one.

    Attributes
    ----------
    checksums : dict of str to int
        CRC-32 of what was written last, by path.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.checksums: dict[str, int] = {}
        self._made: set[str] = set()

    def read(self, path: str) -> bytes | None:
        """Return what a file has; None where there is none."""
        try:
            return (self.root / path).read_bytes()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return None

    def has(self, path: str) -> bool:
        """Tell whether there is a file."""
        return path in self.checksums or os.path.isfile(f"{self.root}/{path}")

    def write(self, path: str, content: bytes | memoryview) -> None:
        """Write a file, with the folders that it is in."""
        self._make(path.rpartition("/")[0])
        with open(f"{self.root}/{path}", "wb") as file:
            file.write(content)
        self.checksums[path] = zlib.crc32(content)

    def _make(self, folder: str) -> None:
        # Each once, from above: of a path that is made from below, every folder is tried in vain first.
        if folder in self._made:
            return
        if folder:
            self._make(folder.rpartition("/")[0])
            with suppress(FileExistsError):
                os.mkdir(f"{self.root}/{folder}")
        else:
            self.root.mkdir(parents=True, exist_ok=True)
        self._made.add(folder)


class FilesInMemory(dict[str, bytes]):
    """Bytes by path."""

    def read(self, path: str) -> bytes | None:
        """Return what a path has; None where it has nothing."""
        return self.get(path)

    def has(self, path: str) -> bool:
        """Tell whether a path has anything."""
        return path in self

    def write(self, path: str, content: bytes | memoryview) -> None:
        """Let this be what a path has."""
        self[path] = bytes(content)


@dataclass(frozen=True, eq=False)
class ZarrArray:
    """An array in chunks. Those that have the fill value alone are no files, as Zarr has it."""

    files: Files
    path: str
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    dtype: np.dtype[Any]
    fill: Any

    def __setitem__(self, region: tuple[Any, ...], values: Any) -> None:
        spans = self._spans(region)
        block = np.asarray(values).reshape([len(span) for span in spans])
        for path, within, of_block in self._parts(spans):
            part = block[of_block]
            if part.shape == self.chunks:
                chunk = np.ascontiguousarray(part, self.dtype)
            else:
                chunk = self._blank() if self._is_whole(within, path) else self._read(path)
                chunk[within] = part
            if not self._is_blank(chunk) or self.files.has(path):
                self.files.write(path, self._encode(chunk))

    def __getitem__(self, region: tuple[Any, ...]) -> NDArray[Any]:
        spans = self._spans(region)
        block = np.empty([len(span) for span in spans], self.dtype)
        for path, within, of_block in self._parts(spans):
            block[of_block] = self._read(path)[within]
        kept = [len(span) for span, part in zip(spans, region, strict=True) if isinstance(part, slice)]
        return block.reshape(kept)

    def place_of(self, path: str) -> tuple[slice, ...]:
        """Return the region that a chunk has, by its path."""
        places = map(int, path.removeprefix(f"{self.path}/{_CHUNK}").split("."))
        starts = [place * length for place, length in zip(places, self.chunks, strict=True)]
        return tuple(slice(start, min(start + c, n)) for start, c, n in zip(starts, self.chunks, self.shape, strict=True))

    def _spans(self, region: tuple[Any, ...]) -> list[range]:
        return [
            range(*part.indices(length)) if isinstance(part, slice) else range(part, part + 1)
            for part, length in zip(region, self.shape, strict=True)
        ]

    def _parts(self, spans: Sequence[range]) -> Iterator[tuple[str, tuple[slice, ...], tuple[slice, ...]]]:
        """Yield the path of each chunk that a region meets, with the region within the chunk, and the chunk's within the region."""
        met = (range(span.start // length, -(-span.stop // length)) for span, length in zip(spans, self.chunks, strict=True))
        for places in product(*met):
            starts = [place * length for place, length in zip(places, self.chunks, strict=True)]
            ends = [(max(s, span.start), min(s + c, span.stop)) for s, c, span in zip(starts, self.chunks, spans, strict=True)]
            within = tuple(slice(first - start, stop - start) for (first, stop), start in zip(ends, starts, strict=True))
            of_block = tuple(slice(first - span.start, stop - span.start) for (first, stop), span in zip(ends, spans, strict=True))
            yield f"{self.path}/{_CHUNK}{'.'.join(map(str, places))}", within, of_block

    def _is_whole(self, within: tuple[slice, ...], path: str) -> bool:
        """Tell whether a region has all of a chunk that is within the array: at its ends chunks reach beyond it."""
        lengths = (slice(0, part.stop - part.start) for part in self.place_of(path))
        return all(part == length for part, length in zip(within, lengths, strict=True))

    def _is_blank(self, chunk: NDArray[Any]) -> bool:
        """Tell whether a chunk has the fill value alone: then it needs no file."""
        unknown = isinstance(self.fill, float) and math.isnan(self.fill)
        parts = (chunk.reshape(-1)[:1], chunk)  # for most chunks the first value settles it
        return all(np.isnan(part).all() if unknown else (part == self.fill).all() for part in parts)

    def _blank(self) -> NDArray[Any]:
        return np.full(self.chunks, self.fill, self.dtype)

    def _read(self, path: str) -> NDArray[Any]:
        found = self.files.read(path)
        return self._blank() if found is None else self._decode(found)

    def _encode(self, chunk: NDArray[Any]) -> bytes:
        content = _join(chunk.reshape(-1).tolist()) if self.dtype == object else chunk.reshape(-1).view(np.uint8).data
        return zstd.compress(content, options=_COMPRESSION)

    def _decode(self, content: bytes) -> NDArray[Any]:
        plain = zstd.decompress(content)
        if self.dtype != object:
            return np.frombuffer(bytearray(plain), self.dtype).reshape(self.chunks)
        values = np.empty(math.prod(self.chunks), object)
        values[:] = _split(plain)
        return values.reshape(self.chunks)


class ZarrGroup:
    """A group, and the arrays and groups that have been made in it.

    Parameters
    ----------
    files : Files
        Which get its description at once.
    attributes : mapping
        Plain JSON.
    path : str, optional
        Of the group among the files.
    """

    def __init__(self, files: Files, attributes: Mapping[str, Any], path: str = "") -> None:
        self.files, self._path = files, path
        self._arrays: dict[str, ZarrArray] = {}
        self._groups: dict[str, ZarrGroup] = {}
        files.write(self._within(META), _describe({"attributes": dict(attributes), "zarr_format": 3, "node_type": "group"}))

    def __contains__(self, path: str) -> bool:
        return path in self._groups or path in self._arrays

    def __getitem__(self, path: str) -> ZarrArray:
        group, _, name = path.rpartition("/")
        return (self._groups[group] if group else self)._arrays[name]

    def list_arrays(self) -> list[str]:
        """Return the paths of all arrays, those of the groups below it too."""
        return [array.path for array in self._arrays.values()] + [path for g in self._groups.values() for path in g.list_arrays()]

    def create_group(self, path: str, *, attributes: Mapping[str, Any]) -> ZarrGroup:
        """Return a new group below this one, with those that it is in."""
        above, _, _ = path.rpartition("/")
        if above and above not in self._groups:
            self.create_group(above, attributes={})
        made = self._groups[path] = ZarrGroup(self.files, attributes, self._within(path))
        return made

    def create_array(
        self,
        path: str,
        dims: Sequence[str],
        shape: tuple[int, ...],
        chunks: tuple[int, ...],
        dtype: str,
        fill: Any,
        about: Any,
    ) -> ZarrArray:
        """Return a new array in this group; ``dtype`` is NumPy's name of it, or ``str``, and ``about`` are its attributes."""
        text = dtype == "str"
        plain = np.dtype(object if text else dtype)
        first = {"name": "vlen-utf8", "configuration": {}} if text else {"name": "bytes", "configuration": {"endian": "little"}}
        if plain.itemsize == 1:  # has no order of bytes
            del first["configuration"]
        description = {
            "shape": shape,
            "data_type": "string" if text else plain.name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
            "chunk_key_encoding": KEYS,
            "fill_value": "NaN" if isinstance(fill, float) and math.isnan(fill) else fill,
            "codecs": [first, _CODECS],
            "attributes": about,
            "dimension_names": dims,
            "zarr_format": 3,
            "node_type": "array",
            "storage_transformers": [],
        }
        self.files.write(self._within(f"{path}/{META}"), _describe(description))
        made = ZarrArray(self.files, self._within(path), shape, chunks, plain if text else plain.newbyteorder("<"), fill)
        return self._arrays.setdefault(path, made)

    def _within(self, path: str) -> str:
        return f"{self._path}/{path}" if self._path else path


def is_chunk(path: str) -> bool:
    """Tell whether a path is that of a chunk, and not of a description."""
    return path.rpartition("/")[2].startswith(_CHUNK)


def _describe(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, indent=2).encode()


def _join(texts: Sequence[str]) -> bytes:
    """Return texts as Zarr has them: their number, and the length of each in bytes before it."""
    encoded = [text.encode() for text in texts]
    return b"".join([_LENGTH.pack(len(encoded)), *(part for text in encoded for part in (_LENGTH.pack(len(text)), text))])


def _split(content: bytes) -> list[str]:
    texts, at = [], _LENGTH.size
    for _ in range(_LENGTH.unpack_from(content)[0]):
        start = at + _LENGTH.size
        at = start + _LENGTH.unpack_from(content, at)[0]
        texts.append(content[start:at].decode())
    return texts
