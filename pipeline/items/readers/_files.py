"""Files as lines of text: UTF-8 decoded strictly, split at line feeds only.

What is odd about a file, such as a byte order mark, is no error: `with_warnings` lets a reader note it with what it has read.
"""

from __future__ import annotations

import gzip
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from pipeline.dataclass import dataclass
from pipeline.errors import DataError
from pipeline.interfaces import Items
from pipeline.items.readers._streams import is_compressed, read_chunks

__all__ = [
    "Lines",
    "NeedsNoGold",
    "number_lines",
    "read_head",
    "read_lines",
    "read_text",
    "refuse_gold",
    "with_warnings",
    "write_lines",
]

LONGEST_LINE = 50_000_000
"""Characters of a line: what is longer is no text of an item."""

_BOM = b"\xef\xbb\xbf"
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")
_MOST_BYTES = 4  # of a character in UTF-8
_MOST_KEPT = 2**16  # numbers that are held from one file to the next: a few megabytes


@dataclass(frozen=True)
class Lines:
    """The lines of a file without their ends, and what was odd about it."""

    values: tuple[str, ...]
    source: str
    warnings: tuple[str, ...] = ()


def read_lines(path: Path, *, tokens: bool = False) -> Lines:
    """Read a text file, compressed or not, a piece at a time.

    Lines end at a line feed and nowhere else: U+2028 or a carriage return inside a segment is part of it. A last line need not
    end. An empty line is an empty value.

    Parameters
    ----------
    path : Path
    tokens : bool
        Whether the reader makes a value of each word: what may be read of a file is less then.

    Raises
    ------
    DataError
        P265 a line is too long; and as `read_text`.
    """
    warnings: list[str] = []
    lines: list[str] = []
    carriage_returns = 0
    for block, offset in _blocks(_text_chunks(path, warnings, tokens=tokens), path, lines):
        found = _decode(block, path, len(lines) + 1, offset).split("\n")
        if len(block) > LONGEST_LINE:
            long = next((k for k, line in enumerate(found) if len(line) > LONGEST_LINE), None)
            if long is not None:
                raise _too_long(path, len(lines) + long + 1)
        if b"\r" in block:
            carriage_returns += sum(line.endswith("\r") for line in found)
            found = [line.removesuffix("\r") for line in found]
        lines += found
    # Where every line ends so, the last one perhaps not at all, that is how the file was written, as CSV is meant to be.
    if 0 < carriage_returns < len(lines) - 1:
        warnings.append(f"{path} has carriage returns at the end of {carriage_returns} of {len(lines)} lines, which were left out")
    return Lines(tuple(lines), str(path), tuple(warnings))


def number_lines(count: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the identifiers and numbers of the lines of a file, from 1: files of the same length share them.

    Examples
    --------
    >>> number_lines(3)
    (('1', '2', '3'), (1, 2, 3))
    """
    return (_number_once if count <= _MOST_KEPT else _number)(count)


def _number(count: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
    lines = tuple(range(1, count + 1))
    return tuple(map(str, lines)), lines


_number_once = lru_cache(maxsize=1)(_number)


def read_text(path: Path) -> tuple[str, list[str]]:
    """Return the text of a file, decompressed and without a byte order mark, and what was odd about it.

    Raises
    ------
    DataError
        P204 not UTF-8, P205 empty; P201, P202, P206 and P285 to P289 as `read_chunks`.
    """
    warnings: list[str] = []
    data = bytearray()
    for chunk in _text_chunks(path, warnings):
        data += chunk
    return _decode(data, path, 1, 0), warnings


def read_head(path: Path, size: int) -> tuple[bytes, bool]:
    """Return the first bytes of a file, decompressed, and whether they are the whole of it.

    Raises
    ------
    DataError
        As `read_chunks`.
    """
    data = bytearray()
    for chunk in read_chunks(path):
        data += chunk
        if len(data) > size:
            break
    return bytes(data[:size]), len(data) <= size


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
    if is_compressed(data):
        raise ValueError(f"the line {values[0]!r} begins as a compressed file does")
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _text_chunks(path: Path, warnings: list[str], *, tokens: bool = False) -> Iterator[bytes]:
    """Yield the content of a file without its byte order mark; P205 where there is none."""
    begun = b""
    chunks = read_chunks(path, tokens=tokens)
    for chunk in chunks:
        begun += chunk
        if len(begun) >= len(_BOM):
            break
    if begun.startswith(_BOM):
        begun = begun[len(_BOM) :]
        warnings.append(f"{path} begins with a byte order mark, which was left out")
    any_content = bool(begun)
    if begun:
        yield begun
    for chunk in chunks:
        any_content = True
        yield chunk
    if not any_content:
        raise DataError.of(
            "P205", f"{path.name} is empty", where=str(path), help="write one line for each item; an empty output is an empty line"
        )


def _blocks(chunks: Iterator[bytes], path: Path, lines: list[str]) -> Iterator[tuple[bytes, int]]:
    """Yield whole lines, many at a time and without the last line feed, with the offset at which they begin.

    ``lines`` holds those that were given before, to say which line is too long before all of it is there.
    """
    parts: list[bytes] = []
    pending = offset = 0
    for chunk in chunks:
        cut = chunk.rfind(b"\n")
        if cut >= 0:
            block = b"".join((*parts, chunk[:cut]))
            yield block, offset
            offset += len(block) + 1
            parts, pending = [], 0
            chunk = chunk[cut + 1 :]
        if chunk:
            parts.append(chunk)
            pending += len(chunk)
        if pending > _MOST_BYTES * LONGEST_LINE:
            raise _too_long(path, len(lines) + 1)
    if parts:
        yield b"".join(parts), offset


def _too_long(path: Path, number: int) -> DataError:
    """Refuse what is no text of an item: a file without line feeds, binary data, a line of a table that was never ended."""
    error = DataError.of(
        "P265",
        f"line {number} has more than {LONGEST_LINE:,} characters, the most that is read",
        where=f"{path}:{number}",
        help="check that the file is what its format says, and that its lines end in line feeds",
    )
    assert isinstance(error, DataError)
    return error


def _redirect(path: Path) -> str:
    """Return from where to where a file is converted, as it is typed; nothing for a part of another file."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        if is_compressed(file.read(16)):
            return ""
    near = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return f" {shlex.quote(str(near))} > {shlex.quote(str(near.with_suffix(f'.utf8{near.suffix}')))}"


def _decode(data: bytes | bytearray, path: Path, first_line: int, offset: int) -> str:
    """Decode what begins at a line and at an offset of the text."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as exc:
        start = exc.start
        line = first_line + data.count(b"\n", 0, start)
        column = start - (data.rfind(b"\n", 0, start) + 1) + 1
        workbook = _name_workbook(data, path) if offset == 0 else None
        if workbook is not None:
            raise DataError.of("P204", f"{path.name} is {workbook}, not text", where=str(path), help=_SAVE_AS_CSV) from exc
        wide = offset == 0 and data.startswith(_WIDE_BOMS)
        convert = f"convert it: iconv -f {'UTF-16' if wide else 'LATIN1'} -t UTF-8{_redirect(path)}"
        if wide:
            convert = f"the file looks like UTF-16: {convert}"
        raise DataError.of(
            "P204",
            f"line {line} is not UTF-8: byte 0x{data[start]:02x} at byte {column} of the line, offset {offset + start} of the text",
            where=f"{path}:{line}",
            help=convert if wide or b"\0" not in data else "the file is binary, not text: check that it is the one you mean",
        ) from exc


_SAVE_AS_CSV = "save the sheet with the scores as CSV (UTF-8), and give that file"


def _name_workbook(data: bytes | bytearray, path: Path) -> str | None:
    """Say which program's workbook begins so; None for anything else."""
    if data.startswith(b"PK\x03\x04") and b"opendocument.spreadsheet" in data[:200]:
        return "a LibreOffice spreadsheet"
    excel = path.suffix.lower() in {".xls", ".xlsx", ".xlsm", ".xlsb"} or (data.startswith(b"PK\x03\x04") and b"xl/" in data[:4096])
    return "an Excel workbook" if excel and data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")) else None


P = ParamSpec("P")
R = TypeVar("R")


class NeedsNoGold(DataError):
    """Files of gold were named where the format has none."""


def refuse_gold(paths: Sequence[Path], why: str) -> None:
    """Refuse files of gold beside outputs that are scores already.

    Raises
    ------
    NeedsNoGold
        P219, where there is any.
    """
    if paths:
        raise NeedsNoGold.of("P219", why, where=str(paths[0]), help="leave it out of the study")


def with_warnings(read: Callable[P, R]) -> Callable[P, R]:
    """Let a method of a reader put what it notes in ``self._told`` into the items it returns, the first of several.

    The list lives as long as one call: a reader remembers nothing of the files it has read.
    """

    @wraps(read)
    def reading(*args: P.args, **kwargs: P.kwargs) -> R:
        reader: Any = args[0]
        reader._told = []
        try:
            return cast(R, _attach(read(*args, **kwargs), tuple(reader._told)))
        finally:
            reader._told = []

    return reading


def _attach(found: Any, told: tuple[str, ...]) -> Any:
    if isinstance(found, Items):
        return replace(found, warnings=(*found.warnings, *told))
    if found:
        first = next(iter(found))
        return {**found, first: _attach(found[first], told)}
    return found
