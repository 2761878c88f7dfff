"""Read members of a zip whole, including those compressed with Zstandard, within limits."""

from __future__ import annotations

import io
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO

from pipeline.errors import DataError
from pipeline.inputs import RATIO, Meter, largest_input, open_input, size_text
from pipeline.items.readers._streams import CHUNK, MOST_WINDOW, bzip2_chunks, open_data, refuse_window, zstd_chunks

__all__ = ["Archive", "looks_like_zip", "open_zip"]

_ZSTANDARD = 93
_LOCAL_HEADER = 30
_LZMA_HEADER = "<HHBI"  # version, length of what follows, packed parameters, size of the window
_MAGIC = b"PK\x03\x04"
_STARTS = (_MAGIC, b"PK\x05\x06")
_DAMAGES = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,  # another compression, or a zip of a later version
    RuntimeError,  # a password
    OverflowError,
    ValueError,
    OSError,
)
"""What reading a zip raises whose bytes are not what they were."""


class Archive:
    """An open zip, whose members are read by name; of two with one name the last counts, as in what writes them."""

    def __init__(self, path: Path, file: BinaryIO, archive: zipfile.ZipFile) -> None:
        self.source = str(path)
        self._path = path
        self._file = file
        self._archive = archive
        self._stored = os.fstat(file.fileno()).st_size
        self._read = 0
        self.names: tuple[str, ...] = tuple(dict.fromkeys(archive.namelist()))

    def read(self, name: str) -> bytes:
        """Return the bytes of a member.

        Raises
        ------
        DataError
            P258 where it is not there, or damaged; P206 where it is compressed with Zstandard and nothing installed reads that;
            P286 to P288 where it, or what was read of the zip in all, is beyond the limits of inputs.
        """
        if name not in self.names:
            raise DataError.of("P258", f"the zip has no member '{name}'", where=self.source, help=_AGAIN)
        info, where = self._archive.getinfo(name), f"{self.source}, {name}"
        # Of headers only the size of the whole archive cannot lie.
        meter = Meter(where, min(info.compress_size, self._stored))
        meter.expect(info.file_size)
        data = bytearray()
        try:
            for chunk in self._chunks(info, where):
                meter.take(chunk)
                self._count(len(chunk))
                data += chunk
            if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
                raise zipfile.BadZipFile("its checksum is another one")
        except DataError:
            raise
        except _DAMAGES as exc:
            refuse_window(exc, f"the member '{name}'", where)
            message = f"the member '{name}' of the zip is damaged: {exc}"
            raise DataError.of("P258", message, where=where, help=_AGAIN) from exc
        return bytes(data)

    def _count(self, size: int) -> None:
        """Refuse an archive whose members lie on top of each other: each is small for its part, and all together have no end."""
        self._read += size
        if self._read > max(largest_input(), RATIO * self._stored):
            message = f"the members of the zip hold more than {size_text(self._read)}, and it has {size_text(self._stored)}"
            raise DataError.of("P287", message, where=self.source, help="check where it comes from")

    def _chunks(self, info: zipfile.ZipInfo, where: str) -> Iterator[bytes]:
        kind = info.compress_type
        if kind == zipfile.ZIP_BZIP2 and not info.flag_bits & 1:
            # The zipfile of the standard library decompresses 4 KiB of it at a time, which may be gigabytes.
            yield from bzip2_chunks(self._part(info))
        elif kind == _ZSTANDARD:
            # It reads these from Python 3.14 only.
            yield from zstd_chunks(self._part(info), path=self._path)
        else:
            if kind == zipfile.ZIP_LZMA:
                header = self._part(info).read(struct.calcsize(_LZMA_HEADER))
                if struct.unpack(_LZMA_HEADER, header)[-1] > MOST_WINDOW:
                    raise lzma.LZMAError("Window size larger than may be")
            with self._archive.open(info) as member:
                yield from iter(partial(member.read, CHUNK), b"")

    def _part(self, info: zipfile.ZipInfo) -> IO[bytes]:
        """Return the compressed bytes of a member."""
        self._file.seek(info.header_offset)
        header = self._file.read(_LOCAL_HEADER)
        if len(header) < _LOCAL_HEADER or header[:4] != _MAGIC:
            raise zipfile.BadZipFile("there is nothing where it should begin")
        start = info.header_offset + _LOCAL_HEADER + sum(struct.unpack("<HH", header[26:30]))
        return io.BufferedReader(_Part(self._file, start, info.compress_size))


class _Part(io.RawIOBase):
    """Some bytes of a file as a file."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        self._file, self._at, self._end = file, start, start + size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        self._file.seek(self._at)  # others read the same file
        data = self._file.read(min(len(buffer), self._end - self._at))
        self._at += len(data)
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def open_zip(path: Path) -> Iterator[Archive]:
    """Open a zip and read its list of members.

    Raises
    ------
    DataError
        P258 where it is damaged; P201, P202 and P285 where it cannot be opened.
    """
    with open_data(path) as file:
        try:
            archive = zipfile.ZipFile(file)
        except _DAMAGES as exc:
            message = f"{path.name} is a zip, and damaged: {exc}"
            help_ = f"{_AGAIN}; one that is cut off has lost the list of its members, which is at its end"
            raise DataError.of("P258", message, where=str(path), help=help_) from exc
        with archive:
            yield Archive(path, file, archive)


def looks_like_zip(path: Path) -> bool:
    """Tell by the first bytes whether a file is a zip; false where it cannot be read."""
    try:
        with open_input(path) as file:
            return file.read(len(_MAGIC)) in _STARTS
    except (OSError, ValueError):
        return False


_AGAIN = "copy or make the file again"
