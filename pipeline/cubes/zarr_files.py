"""Groups and arrays of Zarr's third format, written as files or into memory.

Zarr's own writer hands every file to an event loop in another thread: for the four hundred files of a small run's cube that took a
third of the time of the run. Zarr reads what is written here as its own; a test compares descriptions and values of the two.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.chunk_files import Files
from pipeline.dataclass import dataclass
from pipeline.store.packing import LEVEL
from pipeline.store.zstandard import zstd

__all__ = ["KEYS", "ShardedArray", "WholeArray", "ZarrArray", "ZarrGroup", "is_chunk", "shards_of"]

META = "zarr.json"
_LEVEL = 2  # 3 takes two to three times as long for two per cent
_COMPRESSION: Mapping[int, int] = {zstd.CompressionParameter.compression_level: _LEVEL, zstd.CompressionParameter.checksum_flag: 1}
_CODECS = {"name": "zstd", "configuration": {"level": _LEVEL, "checksum": True}}
_CODECS_WITHIN = {"name": "zstd", "configuration": {"level": LEVEL, "checksum": False}}
_LENGTH = struct.Struct("<I")
KEYS = {"name": "default", "configuration": {"separator": "."}}
"""How chunks are named: all of an array are in its folder, for to make a folder takes as long as to write a small file."""

_CHUNK = "c."
_NOWHERE = 2**64 - 1  # where an inner chunk would be that has been left out
_SHORT = 256  # bytes: one value over and over takes no more


@dataclass(frozen=True, eq=False)
class ZarrArray:
    """An array in chunks. As in Zarr, chunks that contain only the fill value are not files."""

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
        """Yield the path of each chunk that a region overlaps, with the overlap within the chunk and within the region."""
        met = (range(span.start // length, -(-span.stop // length)) for span, length in zip(spans, self.chunks, strict=True))
        for places in product(*met):
            starts = [place * length for place, length in zip(places, self.chunks, strict=True)]
            ends = [(max(s, span.start), min(s + c, span.stop)) for s, c, span in zip(starts, self.chunks, spans, strict=True)]
            within = tuple(slice(first - start, stop - start) for (first, stop), start in zip(ends, starts, strict=True))
            of_block = tuple(slice(first - span.start, stop - span.start) for (first, stop), span in zip(ends, spans, strict=True))
            yield f"{self.path}/{_CHUNK}{'.'.join(map(str, places))}", within, of_block

    def _is_whole(self, within: tuple[slice, ...], path: str) -> bool:
        """Tell whether a region covers the whole part of a chunk that is within the array; the last chunks reach beyond it."""
        lengths = (slice(0, part.stop - part.start) for part in self.place_of(path))
        return all(part == length for part, length in zip(within, lengths, strict=True))

    def _is_blank(self, chunk: NDArray[Any]) -> bool:
        """Tell whether a chunk contains only the fill value: then it needs no file."""
        unknown = isinstance(self.fill, float) and math.isnan(self.fill)
        parts = (chunk.reshape(-1)[:1], chunk)  # for most chunks the first value settles it
        return all(np.isnan(part).all() if unknown else (part == self.fill).all() for part in parts)

    def _blank(self) -> NDArray[Any]:
        return np.full(self.chunks, self.fill, self.dtype)

    def _read(self, path: str) -> NDArray[Any]:
        found = self.files.read(path)
        return self._blank() if found is None else self._decode(found)

    def _encode(self, chunk: NDArray[Any]) -> bytes:
        return zstd.compress(self._bytes_of(chunk), options=_COMPRESSION)

    def _bytes_of(self, values: NDArray[Any]) -> bytes | memoryview:
        return _join(values.reshape(-1).tolist()) if self.dtype == object else values.reshape(-1).view(np.uint8).data

    def _decode(self, content: bytes) -> NDArray[Any]:
        return self._unpack(content, self.chunks)

    def _unpack(self, content: bytes | memoryview, shape: tuple[int, ...]) -> NDArray[Any]:
        plain = zstd.decompress(content)
        if self.dtype != object:
            return np.frombuffer(bytearray(plain), self.dtype).reshape(shape)
        values = np.empty(math.prod(shape), object)
        values[:] = _split(plain)
        return values.reshape(shape)


@dataclass(frozen=True, eq=False)
class ShardedArray(ZarrArray):
    """An array whose chunks are cut into ``inner`` ones, each packed separately as stored arrays are: Zarr's shards.

    A file has the inner chunks one after the other, and at its end where each begins and how long it is; those with only the fill
    value are left out. The bytes do not depend on whether a chunk was packed here or taken over.
    """

    inner: tuple[int, ...]

    def adopt(self, start: tuple[int, ...], packed: Sequence[bytes | memoryview]) -> None:
        """Let the first inner chunks of the chunk from ``start`` be those that have been packed; the others are left out."""
        places = (at // length for at, length in zip(start, self.chunks, strict=True))
        path = f"{self.path}/{_CHUNK}{'.'.join(map(str, places))}"
        absent = [b""] * (math.prod(self._several) - len(packed))
        there = [b"" if len(own) < _SHORT and self._is_blank(self._unpack(own, self.inner)) else own for own in packed]
        if any(there) or self.files.has(path):
            self.files.write(path, _join_inner([*there, *absent]))

    @property
    def _several(self) -> tuple[int, ...]:
        """How many inner chunks a chunk has, along each dimension."""
        return tuple(length // own for length, own in zip(self.chunks, self.inner, strict=True))

    def _regions(self) -> Iterator[tuple[slice, ...]]:
        for place in np.ndindex(self._several):
            yield tuple(slice(at * own, (at + 1) * own) for at, own in zip(place, self.inner, strict=True))

    def _encode(self, chunk: NDArray[Any]) -> bytes:
        parts = (chunk[region] for region in self._regions())
        return _join_inner([b"" if self._is_blank(part) else zstd.compress(self._bytes_of(part), LEVEL) for part in parts])

    def _decode(self, content: bytes) -> NDArray[Any]:
        chunk, several = self._blank(), math.prod(self._several)
        index = np.frombuffer(content, "<u8", offset=len(content) - 16 * several).reshape(-1, 2)
        for region, (first, length) in zip(self._regions(), index.tolist(), strict=True):
            if first != _NOWHERE:
                chunk[region] = self._unpack(content[first : first + length], self.inner)
        return chunk


@dataclass(frozen=True, eq=False)
class WholeArray(ZarrArray):
    """An array of one chunk, which is filled in memory and becomes a file when it is whole (`ZarrGroup.finish`)."""

    values: NDArray[Any]

    def __setitem__(self, region: tuple[Any, ...], values: Any) -> None:
        self.values[region] = values

    def __getitem__(self, region: tuple[Any, ...]) -> NDArray[Any]:
        return np.array(self.values[region])

    def finish(self) -> None:
        """Write the file, unless all values are the fill value."""
        super().__setitem__((slice(None),) * len(self.shape), self.values)


class ZarrGroup:
    """A group, and the arrays and groups that have been made in it.

    Parameters
    ----------
    files : Files
        The files to which its description is written at once.
    attributes : mapping
        Plain JSON.
    path : str, optional
        The path of the group among the files.
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
        *,
        inner: tuple[int, ...] | None = None,
        held: bool = False,
    ) -> ZarrArray:
        """Return a new array in this group; ``dtype`` is NumPy's name of it, or ``str``, and ``about`` are its attributes.

        With ``inner`` its chunks are cut again (`ShardedArray`); ``held`` is one chunk, filled in memory (`WholeArray`).
        """
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
            "codecs": [first, _CODECS] if inner is None else [shards_of(inner, [first, _CODECS_WITHIN])],
            "attributes": about,
            "dimension_names": dims,
            "zarr_format": 3,
            "node_type": "array",
            "storage_transformers": [],
        }
        self.files.write(self._within(f"{path}/{META}"), _describe(description))
        given = (self.files, self._within(path), shape, chunks, plain if text else plain.newbyteorder("<"), fill)
        if inner is not None:
            return self._arrays.setdefault(path, ShardedArray(*given, inner))
        if held:
            return self._arrays.setdefault(path, WholeArray(*given, np.full(shape, fill, given[-2])))
        return self._arrays.setdefault(path, ZarrArray(*given))

    def finish(self) -> None:
        """Write the arrays that have been filled in memory, those of the groups below too."""
        for array in self._arrays.values():
            if isinstance(array, WholeArray):
                array.finish()
        for group in self._groups.values():
            group.finish()

    def _within(self, path: str) -> str:
        return f"{self._path}/{path}" if self._path else path


def is_chunk(path: str) -> bool:
    """Tell whether a path is that of a chunk rather than of a description."""
    return path.rpartition("/")[2].startswith(_CHUNK)


def shards_of(inner: Sequence[int], codecs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the codec of chunks that are cut into ``inner`` ones, each packed by ``codecs``."""
    index = [{"name": "bytes", "configuration": {"endian": "little"}}]  # it needs no checksum: the file has one
    asked = {"chunk_shape": inner, "codecs": codecs, "index_codecs": index, "index_location": "end"}
    return {"name": "sharding_indexed", "configuration": asked}


def _join_inner(packed: Sequence[bytes | memoryview]) -> bytes:
    """Return inner chunks one after the other, and where they are; those without a byte are left out."""
    index, end = [], 0
    for content in packed:
        index += [end, len(content)] if len(content) else [_NOWHERE, _NOWHERE]
        end += len(content)
    return b"".join([*packed, np.array(index, "<u8").tobytes()])


def _describe(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, indent=2).encode()


def _join(texts: Sequence[str]) -> bytes:
    """Return texts as Zarr stores them: their number, then each with its length in bytes before it."""
    # Each once: the systems of pairs, and models and methods of systems, are few names over and over.
    of_text = {text: _LENGTH.pack(len(encoded)) + encoded for text, encoded in ((text, text.encode()) for text in set(texts))}
    return b"".join([_LENGTH.pack(len(texts)), *map(of_text.__getitem__, texts)])


def _split(content: bytes) -> list[str]:
    texts, at = [], _LENGTH.size
    for _ in range(_LENGTH.unpack_from(content)[0]):
        start = at + _LENGTH.size
        at = start + _LENGTH.unpack_from(content, at)[0]
        texts.append(content[start:at].decode())
    return texts
