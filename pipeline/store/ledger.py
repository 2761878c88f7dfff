"""The ledger of a run: append the receipts of finished tasks to a file, and read them back.

One line an entry: a JSON object whose last key is the CRC-32 of the object without it, written with one call and fsynced
before `Ledger.append` returns. A last line that a crash tore is dropped; its work is simply done again. A damaged line
before the last one cannot come from a crash, so it is an error.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from pipeline.errors import Problem, StoreError
from pipeline.store.addresses import canonical_json
from pipeline.store.files import FILE_MODE, store_error
from pipeline.store.syncing import sync_directory, sync_file

__all__ = ["Added", "Ledger", "first_entry", "iterate_ledger", "last_fence", "read_added", "read_ledger"]

MOST_LINES = 3
"""Damaged lines that a person may be asked to delete."""

_CHECKED = re.compile(rb',"crc32":"([0-9a-f]{8})"\}$')
_FENCE = re.compile(rb'(?<!\\)"fence":([0-9]{1,9})[,}]')  # not the one in a text, where quotes are escaped
_RESERVED = ("crc32", "fence")


class Ledger:
    """An open ledger. One process at a time has one: the holder of the run's lease.

    Parameters
    ----------
    path : Path
        The file; it is made where it is missing, and a torn last line is cut off.
    fence : int
        The lease's fencing number, written into every entry: an entry tells which attempt made it.

    Attributes
    ----------
    torn : int
        Lines that were torn and cut off at opening: 0 or 1.
    """

    def __init__(self, path: Path | str, *, fence: int = 0) -> None:
        self.path, self.fence = Path(path), fence
        self.torn, self._size = _measure(self.path)
        try:
            self._handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, FILE_MODE)
            os.ftruncate(self._handle, self._size)
            sync_file(self._handle, self.path)
            sync_directory(self.path.parent)
        except OSError as error:
            raise store_error(error, self.path) from error

    def append(self, entry: Mapping[str, Any]) -> None:
        """Add a receipt; when this returns it is on disk, when it raises the ledger is as it was."""
        taken = [key for key in _RESERVED if key in entry]
        if taken:
            raise ValueError(f"an entry may not have the key {taken[0]!r}")
        line = _line({**entry, "fence": self.fence})
        try:
            rest = line
            while rest:  # a disk that is nearly full takes a part, and says why only when the rest is tried
                rest = rest[os.write(self._handle, rest) :]
            sync_file(self._handle, self.path)
        except OSError as error:
            os.ftruncate(self._handle, self._size)
            raise store_error(error, self.path) from error
        self._size += len(line)

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def read_ledger(path: Path | str) -> tuple[tuple[dict[str, Any], ...], int]:
    """Return the entries of a ledger in order, and the number of torn last lines that were dropped (0 or 1).

    A ledger that does not exist is empty. Reading needs no lease.
    """
    scan = _Scan(Path(path))
    return tuple(scan), scan.torn


def iterate_ledger(path: Path | str) -> Iterator[dict[str, Any]]:
    """Yield the entries of a ledger one at a time, in order, without a torn last line; what is damaged is told at the end."""
    return iter(_Scan(Path(path)))


class Added(NamedTuple):
    """The entries added to a ledger since it was last read, and how many bytes of it are read now."""

    entries: tuple[dict[str, Any], ...]
    size: int


def read_added(path: Path | str, size: int) -> Added | None:
    """Return the entries after the first ``size`` bytes of a ledger, without a torn last line; None if one is damaged."""
    try:
        with open(path, "rb") as file:
            file.seek(size)
            lines = [line for line in file if line.endswith(b"\n")]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise store_error(error, path) from error
    entries = tuple(entry for line in lines if (entry := _entry(line[:-1])) is not None)
    return Added(entries, size + sum(map(len, lines))) if len(entries) == len(lines) else None


def first_entry(path: Path | str, event: str) -> dict[str, Any] | None:
    """Return the first sound entry of a kind; None where there is none. Nothing after it is read."""
    try:
        with open(path, "rb") as lines:
            return next((entry for line in lines if (entry := _entry(line.rstrip(b"\n"))) and entry.get("event") == event), None)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise store_error(error, path) from error


def last_fence(path: Path | str) -> int:
    """Return the highest fence that a ledger names, damaged or not; 0 where there is none: a lease's number may not be lower."""
    try:
        with open(path, "rb") as lines:
            return max((int(found) for line in lines for found in _FENCE.findall(line)), default=0)
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise store_error(error, path) from error


def _line(entry: Mapping[str, Any]) -> bytes:
    body = canonical_json(entry)
    return body[:-1] + b',"crc32":"%08x"}\n' % zlib.crc32(body)


def _entry(line: bytes) -> dict[str, Any] | None:
    found = _CHECKED.search(line)
    if found is None:
        return None
    body = line[: found.start()] + b"}"
    if zlib.crc32(body) != int(found[1], 16):
        return None
    entry: dict[str, Any] = json.loads(body)
    return entry


class _Scan:
    """The sound entries of a ledger; once they are through, the bytes that they take and how many last lines were torn (0 or 1).

    One line at a time is held: a ledger may be larger than what its readers keep of it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.size, self.torn = 0, 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        damaged: list[int] = []
        number = sound = tail = 0
        try:
            with open(self._path, "rb") as lines:
                for line in lines:
                    if not line.endswith(b"\n"):  # the last line, which was cut
                        tail = 1
                        break
                    number += 1
                    entry = _entry(line[:-1])
                    if entry is None:
                        damaged.append(number)
                        continue
                    sound += 1
                    self.size += len(line)
                    yield entry
        except FileNotFoundError:
            return
        except OSError as error:
            raise store_error(error, self._path) from error
        if damaged == [number] and not tail:
            self.torn = 1
        elif damaged:
            raise _damaged(self._path, damaged, sound)
        else:
            self.torn = tail


def _measure(path: Path) -> tuple[int, int]:
    """Return lines torn, and the length of the sound part."""
    scan = _Scan(path)
    for _ in scan:
        pass
    return scan.torn, scan.size


def _damaged(path: Path, numbers: list[int], sound: int) -> StoreError:
    if len(numbers) > MOST_LINES:
        help = "delete this file: `pipeline resume` computes again what it cannot find in other runs"
        return StoreError(Problem("P706", f"{len(numbers)} lines of the ledger are damaged", str(path), help, f"{sound} are sound"))
    help = "delete this line: `pipeline resume` computes again what it said was done"
    return StoreError(*(Problem("P706", "a line of the ledger is damaged", f"{path}:{number}", help) for number in numbers))
