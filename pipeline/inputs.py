"""Files that a user names: only regular files are opened, and a budget limits how much of one is read.

A compressed file of some kilobytes can hold terabytes, and a device or a pipe never ends. Whatever reads a file that we did
not write ourselves opens it with `open_input` and counts what it reads of it with a `Meter`.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

from pipeline.amounts import parse_bytes
from pipeline.errors import DataError

__all__ = ["VARIABLE", "Meter", "NotRegular", "largest_input", "locate_input", "open_input", "read_input", "size_text"]

VARIABLE = "PIPELINE_MAX_INPUT"
"""The environment variable that raises `LARGEST`. Not a key of studies: whoever sends a bomb may send its study as well."""

LARGEST = 4 << 30
"""Bytes that an input may take in memory. The outputs of evaluations have some megabytes, the largest logs some hundreds."""

PART = 64
"""Bytes that a line or a field takes in memory beside its text: a file of line feeds would take eight times its size and more."""

FREE = 64 << 20
"""Bytes of content below which nobody asks how well they were compressed."""

RATIO = 200
"""How many times the size of its file a content beyond `FREE` may have. Of 335 public outputs, references and treebanks the best
compressed has 11; prompts that are repeated in every line give some tens. Deflate ends at 1032, the others far beyond."""

_SEPARATORS = b"\n\t,;[{"
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
_STREAM = re.compile(r"/dev/(fd(/.*)?|stdin|stdout|stderr)|/proc/[^/]+/(task/[^/]+/)?fd/.*")
_OPEN_STREAM = "it is an open stream, not a regular file"


class NotRegular(OSError):
    """What is named is there, and is no file that can be read twice."""

    @property
    def name(self) -> str:
        """What to call it: the number of an open stream says nothing without its folder."""
        return str(self.filename) if self.strerror == _OPEN_STREAM else os.path.basename(str(self.filename))


def locate_input(base: Path, path: str) -> Path:
    """Return where a file is that is named as seen from a folder, as messages are to show it: without ``folder/..``.

    Where the folder is a link to another place, its parent is that of the place, and the path is left as it is.

    Examples
    --------
    >>> locate_input(Path("/srv/studies/wmt"), "../../data/ref.txt").as_posix()
    '/srv/data/ref.txt'
    """
    above, rest = base, Path(path)
    while rest.parts[:1] == ("..",):
        above, rest = above / "..", Path(*rest.parts[1:])
    if not above.is_absolute() or ".." not in above.parts:
        return base / path
    folder = Path(os.path.normpath(above))
    return folder / rest if os.path.realpath(folder) == os.path.realpath(above) else base / path


def open_input(path: Path) -> BinaryIO:
    """Open a regular file; links are followed.

    Inputs are read several times, and by several processes: pipes, devices and what this process alone has open are refused,
    and at once, where opening a pipe would wait for somebody to write into it.

    Raises
    ------
    NotRegular
    OSError
        As `open` raises it; ValueError where the name holds the character NUL.
    """
    if _STREAM.fullmatch(os.path.abspath(path)):
        raise NotRegular(0, _OPEN_STREAM, str(path))
    _refuse_odd(os.stat(path), path)
    # What is there may be another thing by now, so the open file is asked again.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        _refuse_odd(os.fstat(handle), path)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_input(path: Path, most: int | None = None) -> bytes | None:
    """Return the bytes of a regular file; None where they are more than ``most``, by default than `largest_input`.

    Raises
    ------
    OSError
        As `open_input` does.
    """
    most = largest_input() if most is None else most
    with open_input(path) as file:
        if os.fstat(file.fileno()).st_size > most:
            return None
        data = file.read(most + 1)
    return data if len(data) <= most else None


def largest_input() -> int:
    """Return the bytes that an input may take.

    Raises
    ------
    DataError
        P289 where the environment names something else than a size.
    """
    return _named_limit() or LARGEST


class Meter:
    """Counts what is read of an input, and refuses what is beyond all measure.

    Parameters
    ----------
    where : str
        The input, for messages.
    stored : int
        Bytes that it takes on disk.
    tokens : bool
        Whether each word becomes a value of its own, and not lines and fields alone.
    """

    def __init__(self, where: str, stored: int, *, tokens: bool = False) -> None:
        named = _named_limit()
        self._where = where
        self._stored = stored
        self._separators = _SEPARATORS + b" " * tokens
        self._most = named or LARGEST
        # Whoever says how much may be read has seen the file: how well it was compressed is no question then.
        self._free = named or FREE
        self._content = 0
        self._parts = 0

    def take(self, data: bytes | bytearray) -> None:
        """Count some of the content.

        Raises
        ------
        DataError
            P286 where the input takes too much memory; P287 where it is too large for its compressed size.
        """
        self.add(len(data), len(data) - len(data.translate(None, self._separators)))

    def add(self, content: int, parts: int = 0) -> None:
        """Count bytes of content, and lines or fields in them."""
        self._content += content
        self._parts += parts
        if self._content > self._free and self._content > RATIO * self._stored:
            times, stored = f"{RATIO:,} times its size on disk", size_text(self._stored)
            raise DataError.of(
                "P287",
                f"what is compressed is more than {times}: {size_text(self._content)} so far, out of {stored}",
                where=self._where,
                help=f"check where it comes from; if it is right, {VARIABLE}=4GiB reads up to 4 GiB, however well compressed",
            )
        if self._content + PART * self._parts > self._most:
            self.refuse()

    def refuse(self) -> None:
        """Say that the input is too large."""
        counted = f" in {self._parts:,} lines and fields" if self._parts > 1 else ""
        raise DataError.of(
            "P286",
            f"the input would take more than {size_text(self._most)} of memory: {size_text(self._content)}{counted} so far",
            where=self._where,
            help=f"check that it is what it should be; if it is right and there is memory for it, set {VARIABLE}, for example to"
            f" {size_text(4 * self._most).replace(' ', '')}",
            note=f"each line and each field counts {PART} bytes beside its text",
        )

    def expect(self, content: int) -> None:
        """Refuse content of which so much is announced, before any of it is read."""
        if content > self._most:
            self._content = content
            self.refuse()


def size_text(size: float) -> str:
    """Return a number of bytes in words.

    Examples
    --------
    >>> size_text(2 << 30), size_text(2_500_000), size_text(12)
    ('2 GiB', '2.4 MiB', '12 bytes')
    """
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{size:.0f} bytes"


def _refuse_odd(found: os.stat_result, path: Path) -> None:
    if stat.S_ISREG(found.st_mode):
        return
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(0, "it is a directory", str(path))
    kind = next((name for is_kind, name in _KINDS if is_kind(found.st_mode)), "something odd")
    raise NotRegular(0, f"it is {kind}, not a regular file", str(path))


def _named_limit() -> int | None:
    text = os.environ.get(VARIABLE, "")
    if not text:
        return None
    try:
        size = int(parse_bytes(text))
    except (ValueError, OverflowError):
        size = 0
    if size <= 0:
        raise DataError.of("P289", f"{VARIABLE} is not a size: {text!r}", where=VARIABLE, help="write 8GiB, or 500 MB")
    return size
