"""Zips. This module reads members of an archive whole, those that are compressed with Zstandard too."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import DataError
from pipeline.items.readers._files import zstd_decompressor

__all__ = ["Archive", "looks_like_zip", "open_zip"]

_ZSTANDARD = 93
_LOCAL_HEADER = 30
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

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.source = str(path)
        self._path = path
        self._archive = archive
        self.names: tuple[str, ...] = tuple(dict.fromkeys(archive.namelist()))

    def read(self, name: str) -> bytes:
        """Give the bytes of a member.

        Raises
        ------
        DataError
            P258 where it is not there, or damaged; P206 where it is compressed with Zstandard and nothing installed reads that.
        """
        if name not in self.names:
            raise DataError.of("P258", f"the zip has no member '{name}'", where=self.source, help=_AGAIN)
        try:
            info = self._archive.getinfo(name)
            return self._read_zstandard(info) if info.compress_type == _ZSTANDARD else self._archive.read(info)
        except DataError:
            raise
        except _DAMAGES as exc:
            message = f"the member '{name}' of the zip is damaged: {exc}"
            raise DataError.of("P258", message, where=f"{self.source}, {name}", help=_AGAIN) from exc

    def _read_zstandard(self, info: zipfile.ZipInfo) -> bytes:
        # The zipfile of the standard library reads these from Python 3.14 only.
        decompress = zstd_decompressor(self._path)
        with self._path.open("rb") as file:
            file.seek(info.header_offset)
            header = file.read(_LOCAL_HEADER)
            if len(header) < _LOCAL_HEADER or header[:4] != _MAGIC:
                raise zipfile.BadZipFile("there is nothing where it should begin")
            file.seek(sum(struct.unpack("<HH", header[26:30])), 1)
            data = decompress(file.read(min(info.compress_size, self._path.stat().st_size)))
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise zipfile.BadZipFile("its checksum is another one")
        return data


@contextmanager
def open_zip(path: Path) -> Iterator[Archive]:
    """Open a zip and read its list of members.

    Raises
    ------
    DataError
        P258 where it is damaged.
    """
    try:
        archive = zipfile.ZipFile(path)
    except _DAMAGES as exc:
        message = f"{path.name} is a zip, and damaged: {exc}"
        help_ = f"{_AGAIN}; one that is cut off has lost the list of its members, which stands at its end"
        raise DataError.of("P258", message, where=str(path), help=help_) from exc
    with archive:
        yield Archive(path, archive)


def looks_like_zip(path: Path) -> bool:
    """Tell by the first bytes whether a file is a zip; false where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) in _STARTS
    except (OSError, ValueError):
        return False


_AGAIN = "copy or make the file again"
