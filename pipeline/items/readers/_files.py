"""Files as lines of text. This module decompresses by content, decodes UTF-8 strictly, splits on line feeds only, and writes."""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.errors import DataError

__all__ = ["Lines", "read_head", "read_lines", "read_text", "write_lines", "zstd_decompressor"]

LONGEST_LINE = 50_000_000
"""Characters of a line: what is longer is no text of an item."""

_BOM = b"\xef\xbb\xbf"
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Lines:
    """The lines of a file without their ends, and what was odd about it."""

    values: tuple[str, ...]
    source: str
    warnings: tuple[str, ...] = ()


def read_lines(path: Path) -> Lines:
    """Read a text file, compressed or not.

    Lines end at a line feed and nowhere else: U+2028 or a carriage return inside a segment is part of it. A last line need not
    end. An empty line is an empty value.

    Raises
    ------
    DataError
        P201 not there, P202 not readable, P204 not UTF-8, P205 empty, P206 not decompressible, P265 a line is too long.
    """
    text, warnings = read_text(path)
    lines = text.split("\n")
    _refuse_long(lines, path)
    if lines[-1] == "":
        lines.pop()
    carriage_returns = sum(line.endswith("\r") for line in lines) if "\r" in text else 0
    if carriage_returns:
        lines = [line.removesuffix("\r") for line in lines]
        warnings.append(f"{path} has carriage returns at the end of {carriage_returns} of {len(lines)} lines, which were left out")
    return Lines(tuple(lines), str(path), tuple(warnings))


def read_text(path: Path) -> tuple[str, list[str]]:
    """Give the text of a file, decompressed and without a byte order mark, and what was odd about it.

    Raises
    ------
    DataError
        P201 not there, P202 not readable, P204 not UTF-8, P205 empty, P206 not decompressible.
    """
    data = _decompress(_read_bytes(path), path)
    warnings = []
    if data.startswith(_BOM):
        data = data[len(_BOM) :]
        warnings.append(f"{path} begins with a byte order mark, which was left out")
    if not data:
        raise DataError.of(
            "P205", f"{path.name} is empty", where=str(path), help="write one line for each item; an empty output is an empty line"
        )
    return _decode(data, path), warnings


def _refuse_long(lines: Sequence[str], path: Path) -> None:
    """Refuse what is no text of an item: a file without line feeds, binary data, a line of a table that was never ended."""
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST_LINE:
            raise DataError.of(
                "P265",
                f"line {number} has {len(line):,} characters, and the longest that is read has {LONGEST_LINE:,}",
                where=f"{path}:{number}",
                help="check that the file is what its format says, and that its lines end in line feeds",
            )


def read_head(path: Path, size: int) -> tuple[bytes, bool]:
    """Give the first bytes of a file, decompressed, and whether they are the whole of it.

    Raises
    ------
    DataError
        P201 not there, P202 not readable, P206 not decompressible.
    """
    data = _decompress(_read_bytes(path), path)
    return data[:size], len(data) <= size


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines, each with its end, as UTF-8; compressed where the name ends in ``.gz``. The same lines are the same bytes.

    Raises
    ------
    ValueError
        Where a line would not be read as it is: one that holds a line feed, or ends in a carriage return, or a first one that
        begins as a compressed file does.
    """
    values = list(lines)
    lost = next((value for value in values if "\n" in value or value.endswith("\r")), None)
    if lost is not None:
        raise ValueError(f"the line {lost!r} holds a line feed, or ends in a carriage return")
    data = "".join(f"{value}\n" for value in values).encode()
    if data.startswith(_BOM):
        data = _BOM + data  # reading leaves one out
    if _find_decompressor(data, path) is not None:
        raise ValueError(f"the line {values[0]!r} begins as a compressed file does")
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as exc:
        raise DataError.of(
            "P201", f"there is no file {path.name}", where=str(path), help="paths are relative to the study file"
        ) from exc
    except (OSError, ValueError) as exc:  # a ValueError where the name holds the character NUL
        if isinstance(exc, IsADirectoryError):
            reason = "it is a directory"
        else:
            reason = exc.strerror or str(exc) if isinstance(exc, OSError) else "its name holds the character NUL"
        where = str(path).replace("\0", "\\0")
        raise DataError.of("P202", f"{Path(where).name} cannot be read: {reason}", where=where, help="mend the path") from exc


def _decompress(data: bytes, path: Path) -> bytes:
    opener = _find_decompressor(data, path)
    if opener is None:
        return data
    try:
        return opener(data)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as exc:
        raise DataError.of(
            "P206", f"{path.name} is compressed, and damaged: {exc}", where=str(path), help="copy or make the file again"
        ) from exc


def _find_decompressor(data: bytes, path: Path) -> Callable[[bytes], bytes] | None:
    """Choose by the first bytes: names lie after a download."""
    if data.startswith(b"\x1f\x8b\x08"):
        return gzip.decompress
    if data[:3] == b"BZh" and data[4:10] in {b"1AY&SY", b"\x17rE8P\x90"}:
        return bz2.decompress
    if data.startswith(b"\xfd7zXZ\x00"):
        return lzma.decompress
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        return zstd_decompressor(path)
    return None


def zstd_decompressor(path: Path) -> Callable[[bytes], bytes]:
    """Give what decompresses Zstandard; P206 where nothing installed does."""
    # The standard library has it from Python 3.14; before that, whichever package is there.
    for module in ("compression.zstd", "backports.zstd", "zstandard"):
        try:
            found: Any = importlib.import_module(module)
        except ImportError:
            continue
        return partial(_decompress_zstd, found)
    raise DataError.of(
        "P206",
        f"{path.name} is compressed with Zstandard, which this Python cannot read",
        where=str(path),
        help="`pip install backports.zstd`, or decompress the file",
    )


def _decompress_zstd(module: Any, data: bytes) -> bytes:
    try:
        if hasattr(module, "decompress") and hasattr(module, "ZstdFile"):
            plain: bytes = module.decompress(data)
        else:
            plain = module.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
    except module.ZstdError as exc:
        raise ValueError(str(exc)) from exc
    return plain


def _decode(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as exc:
        start = exc.start
        line = data.count(b"\n", 0, start) + 1
        column = start - (data.rfind(b"\n", 0, start) + 1) + 1
        wide = data.startswith(_WIDE_BOMS)
        convert = "the file looks like UTF-16: " * wide + f"convert it: iconv -f {'UTF-16' if wide else 'LATIN1'} -t UTF-8"
        raise DataError.of(
            "P204",
            f"line {line} is not UTF-8: byte 0x{data[start]:02x} at byte {column} of the line, offset {start} of the text",
            where=f"{path}:{line}",
            help=convert if wide or b"\0" not in data else "the file is binary, and no text: check that it is the one you mean",
        ) from exc
