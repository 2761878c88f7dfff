"""The bytes of a file, decompressed by content, a piece at a time, within the limits of `pipeline.inputs`."""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO

from pipeline.errors import DataError, Problem
from pipeline.inputs import Meter, NotRegular, open_input, size_text
from pipeline.options import nearest

__all__ = ["CHUNK", "bzip2_chunks", "is_compressed", "open_data", "read_chunks", "refuse_window", "zstd_chunks"]

CHUNK = 1 << 20
MOST_WINDOW = 256 << 20
"""Bytes of earlier content that decompressing may look back to: `xz -9` needs 64 MiB, and a file may ask for 4 GiB."""

_MAGIC = 16
_MOST_LOOKED_AT = 10_000
"""Names in a folder among which one that is not there is looked for."""

_FEW = 6
"""Names in a folder that are all listed where none is like the one that is not there."""

_WINDOWS = ("Memory usage limit", "too much memory", "Window size")
"""How liblzma and libzstd say that a file asks for more memory than it may have."""

_Decompress = Callable[[IO[bytes]], Iterator[bytes]]


def open_data(path: Path) -> BinaryIO:
    """Open a file of data.

    Raises
    ------
    DataError
        P201 not there, P202 not readable, P285 no regular file.
    """
    try:
        return open_input(path)
    except FileNotFoundError as exc:
        raise _not_there(path) from exc
    except NotRegular as exc:
        help_ = "write it to a file: inputs are read several times, by several processes"
        raise DataError.of("P285", f"{exc.name} cannot be read: {exc.strerror}", where=str(path), help=help_) from exc
    except (OSError, ValueError) as exc:  # a ValueError where the name holds the character NUL
        reason = exc.strerror or str(exc) if isinstance(exc, OSError) else "its name holds the character NUL"
        where = str(path).replace("\0", "\\0")
        raise DataError.of("P202", f"{Path(where).name} cannot be read: {reason}", where=where, help="correct the path") from exc


def _not_there(path: Path) -> DataError:
    """Say that there is no such file, and which one beside it may be meant; a pattern that a shell left as it was matches none."""
    help_ = "paths are relative to the study file"
    if any(sign in path.name for sign in "*?["):
        said = f"no file matches {path.name}"
        with suppress(OSError, ValueError):
            if any(path.parent.glob(path.name)):
                said = f"no file is called {path.name}, and a pattern is not expanded here"
        return DataError(Problem("P201", said, str(path), help_))
    with suppress(OSError, ValueError):
        names = sorted(found.name for found in islice(path.parent.iterdir(), _MOST_LOOKED_AT))
        near = nearest(path.name, names, cutoff=0.8)
        shown = [name for name in names if not name.startswith(".")]
        if near is not None:
            help_ = f"did you mean {near}? {help_}"
        elif 0 < len(shown) <= _FEW:
            help_ = f"there are {', '.join(shown)}; {help_}"
    return DataError(Problem("P201", f"there is no file {path.name}", str(path), help_))


def read_chunks(path: Path, *, tokens: bool = False) -> Iterator[bytes]:
    """Yield the content of a file in pieces, decompressed; ``tokens`` as in `Meter`.

    Raises
    ------
    DataError
        P201 not there, P202 not readable, P206 not decompressible, P285 no regular file, P286 and P287 too large, P288 compressed
        so that decompressing takes too much memory.
    """
    with open_data(path) as file:
        stored = os.fstat(file.fileno()).st_size
        meter = Meter(str(path), stored, tokens=tokens)
        meter.expect(stored)
        decompress = None
        try:
            decompress = _find_decompressor(file.read(_MAGIC), path)
            file.seek(0)
            for chunk in (decompress or _plain_chunks)(file):
                meter.take(chunk)
                yield chunk
        except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as exc:
            if decompress is None:
                reason = getattr(exc, "strerror", None) or str(exc)
                raise DataError.of(
                    "P202", f"{path.name} cannot be read: {reason}", where=str(path), help="correct the path"
                ) from exc
            refuse_window(exc, path.name, str(path))
            raise DataError.of(
                "P206", f"{path.name} is compressed, and damaged: {exc}", where=str(path), help="copy or make the file again"
            ) from exc


def is_compressed(data: bytes) -> bool:
    """Tell by its first bytes whether a file would be decompressed."""
    return _compression(data) is not None


def refuse_window(error: Exception, name: str, where: str) -> None:
    """Raise P288 where decompressing failed for the memory that it would take."""
    if any(words in str(error) for words in _WINDOWS):
        raise DataError.of(
            "P288",
            f"{name} is compressed so that decompressing it takes more than {size_text(MOST_WINDOW)} of memory",
            where=where,
            help="decompress it, or compress it with usual settings",
        ) from error


def bzip2_chunks(file: IO[bytes]) -> Iterator[bytes]:
    """Return the content of bzip2."""
    return iter(partial(bz2.BZ2File(file).read, CHUNK), b"")


def zstd_chunks(file: IO[bytes], *, path: Path) -> Iterator[bytes]:
    """Yield the content of Zstandard; P206 where nothing installed reads it.

    libzstd itself refuses windows of more than 128 MiB where nothing else is said.
    """
    # The standard library has it from Python 3.14; before that, whichever package is there.
    for name in ("compression.zstd", "backports.zstd", "zstandard"):
        try:
            module: Any = importlib.import_module(name)
        except ImportError:
            continue
        # The package zstandard has no such file, and another function.
        own = hasattr(module, "ZstdFile")
        open_file = module.ZstdFile if own else partial(module.ZstdDecompressor().stream_reader, read_across_frames=True)
        try:
            yield from iter(partial(open_file(file).read, CHUNK), b"")
        except module.ZstdError as exc:
            raise ValueError(str(exc)) from exc
        return
    raise DataError.of(
        "P206",
        f"{path.name} is compressed with Zstandard, which this Python cannot read",
        where=str(path),
        help="`pip install backports.zstd`, or decompress the file",
    )


def _find_decompressor(start: bytes, path: Path) -> _Decompress | None:
    kind = _compression(start)
    return partial(zstd_chunks, path=path) if kind == "zstd" else _DECOMPRESS[kind] if kind else None


def _compression(start: bytes) -> str | None:
    """Tell by the first bytes: names lie after a download."""
    if start.startswith(b"\x1f\x8b\x08"):
        return "gzip"
    if start[:3] == b"BZh" and start[4:10] in {b"1AY&SY", b"\x17rE8P\x90"}:
        return "bzip2"
    if start.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    return "zstd" if start.startswith(b"\x28\xb5\x2f\xfd") else None


def _plain_chunks(file: IO[bytes]) -> Iterator[bytes]:
    return iter(partial(file.read, CHUNK), b"")


def _gzip_chunks(file: IO[bytes]) -> Iterator[bytes]:
    return iter(partial(gzip.GzipFile(fileobj=file).read, CHUNK), b"")


_MOST_HOLLOW = 1000
"""Empty streams in a row: each is read by itself, and a file may have millions."""


def _xz_chunks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of streams of xz, one behind the other: `lzma.LZMAFile` knows no limit of memory."""
    data, first, hollow = file.read(CHUNK), True, 0
    while data:
        decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_WINDOW)
        try:
            found = decompressor.decompress(data, CHUNK)
        except lzma.LZMAError as exc:
            if first or _WINDOWS[0] in str(exc):
                raise
            return  # what is behind the last stream is left alone, as by `lzma.decompress`
        hollow += 1
        if hollow > _MOST_HOLLOW:
            raise lzma.LZMAError("it is made of streams without content")
        while True:
            if found:
                hollow = 0
                yield found
            if decompressor.eof:
                break
            data = file.read(CHUNK) if decompressor.needs_input else b""
            if not data and decompressor.needs_input:
                raise EOFError("it ends in the middle")
            found = decompressor.decompress(data, CHUNK)
        data, first = decompressor.unused_data.lstrip(b"\0"), False  # streams may be padded
        while not data and (more := file.read(CHUNK)):
            data = more.lstrip(b"\0")


_DECOMPRESS: dict[str, _Decompress] = {"gzip": _gzip_chunks, "bzip2": bzip2_chunks, "xz": _xz_chunks}
