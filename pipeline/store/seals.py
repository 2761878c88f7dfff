"""Detect damage: JSON with a checksum inside, and folders with a list of the digests of their files.

Results of the store and of cubes have checksums of their own. These are for the files around them, which people and other programs
read as they are: a bit that flips on a disk must not change what they are believed to say.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from pipeline.errors import Problem, StoreError
from pipeline.store.addresses import canonical_json
from pipeline.store.files import RECOMPUTE, read_json, store_error, write_bytes, write_json

__all__ = ["LIST", "damaged_file_of", "read_list", "read_listed_json", "read_sealed", "sha256_of", "write_list", "write_sealed"]

LIST = "files.txt"
"""The list of a folder's files, as the program sha256sum reads and writes it."""

_CRC = "crc32"
_LISTED = re.compile(r"(?:([0-9a-f]{64})  )?([^\0\n]+)")  # no path has a zero, which a damaged list may be full of
_OTHER = "its content is not what was written"


def write_sealed(path: Path | str, value: Mapping[str, Any]) -> None:
    """Write a mapping as JSON, atomically, with the CRC-32 of its canonical form as the last key."""
    write_json(path, {**value, _CRC: _crc(value)})


def read_sealed(path: Path | str, *, help: str = RECOMPUTE) -> dict[str, Any]:
    """Read what `write_sealed` wrote, without the checksum; what an earlier version wrote has none and is taken as it is.

    Raises
    ------
    StoreError
        P704 or P705 it is missing or damaged, with this help.
    """
    value = read_json(path, help=help)
    if not isinstance(value, dict):
        raise StoreError(Problem("P705", "a stored file is damaged: it holds no mapping", str(path), help))
    written = value.pop(_CRC, None)
    if written not in (None, _crc(value)):
        raise StoreError(Problem("P705", f"a stored file is damaged: {_OTHER}", str(path), help))
    return value


def write_list(folder: Path, digests: Mapping[str, str]) -> None:
    """Write the list of a folder's files: the SHA-256 of each, in hexadecimal digits, by its path within."""
    write_bytes(folder / LIST, "".join(f"{digests[name]}  {name}\n" for name in sorted(digests)).encode())


def read_list(folder: Path) -> dict[str, str]:
    """Return the digests of a folder's files by path, empty for those listed by an earlier version; nothing without a list."""
    try:
        lines = (folder / LIST).read_bytes().decode("utf-8", "replace").splitlines()
    except (FileNotFoundError, IsADirectoryError):
        return {}
    except OSError as error:
        raise store_error(error, folder / LIST) from error
    return {found[2]: found[1] or "" for line in lines if (found := _LISTED.fullmatch(line))}


def damaged_file_of(folder: Path, *, verify: bool) -> str:
    """Return the first listed file that is gone, or nothing; with ``verify`` also one whose bytes are others than were listed."""
    listed = read_list(folder)
    if verify and not listed:
        return LIST
    for name, digest in listed.items():
        path = folder / name
        if not path.is_file() or (verify and digest and sha256_of(path) != digest):
            return name
    return ""


def read_listed_json(path: Path, *, help: str = RECOMPUTE) -> Any:
    """Read a JSON file of a folder with a list, held to its digest there; StoreError where it is missing or damaged."""
    listed = read_list(path.parent).get(path.name)
    if listed and path.is_file() and sha256_of(path) != listed:
        raise StoreError(Problem("P705", f"a stored file is damaged: {_OTHER}", str(path), help))
    return read_json(path, help=help)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits, as a list of a folder has it."""
    try:
        with open(path, "rb") as file:
            found = sha256()
            while piece := file.read(1 << 20):
                found.update(piece)
    except OSError as error:
        raise store_error(error, path) from error
    return found.hexdigest()


def _crc(value: Mapping[str, Any]) -> str:
    return f"{zlib.crc32(canonical_json(value)):08x}"
