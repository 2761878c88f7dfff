"""Chunks sealed with checksums: every read checks that it gets what was written.

Zarr reads a missing chunk as the fill value, and a chunk that was written whole by somebody else as it is. Both would be
numbers nobody computed, so each array carries a list of its chunks (``checksums.json``, which Zarr does not read).
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import LocalStore

from pipeline.errors import Problem, StoreError
from pipeline.store import canonical_json, write_bytes

__all__ = ["CheckedStore", "damaged", "group_is_sound", "seal", "verify_group"]

SEAL = "checksums.json"
_META = "zarr.json"
GROUP = f"../{_META}"
"""Where an array's list has the checksum of its group's attributes."""

REBUILD = "`pipeline resume RUN` builds the cube again from the stored results"


class CheckedStore(LocalStore):
    """A read-only group of a sealed cube: `StoreError` where a chunk is missing or not what was written."""

    def __init__(self, root: Path | str, *, read_only: bool = True) -> None:
        super().__init__(root, read_only=read_only)
        self._seals: dict[str, dict[str, int]] = {}

    async def get(self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Read one key whole and hold it to its checksum."""
        return self._checked(key, await super().get(key, prototype, byte_range), whole=byte_range is None)

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Read one key whole and hold it to its checksum."""
        return self._checked(key, super().get_sync(key, prototype=prototype, byte_range=byte_range), whole=byte_range is None)

    def _checked(self, key: str, found: Buffer | None, *, whole: bool) -> Buffer | None:
        array, part = _split(key)
        if part is None:
            return found
        if array not in self._seals:
            self._seals[array] = read_seal(self.root / array) or {}
        expected = self._seals[array].get(part)
        if expected is not None and (found is None or (whole and zlib.crc32(_bytes(found)) != expected)):
            raise StoreError(damaged(self.root, array, part, missing=found is None))
        return found


def seal(group: Path) -> None:
    """Write the list of checksums of every array of a group and of the groups below it, with that of its group's attributes."""
    for meta in sorted(group.rglob(_META)):
        array = meta.parent
        if json.loads(meta.read_bytes())["node_type"] == "array":
            sums = {key: zlib.crc32((array / key).read_bytes()) for key in _keys(array)}
            # A group has no list of its own: Zarr would warn of a file there that it does not know.
            sums[GROUP] = zlib.crc32((array / GROUP).read_bytes())
            write_bytes(array / SEAL, canonical_json(sums))


def read_seal(array: Path) -> dict[str, int] | None:
    """Return the checksums of an array's files; None where there is no list."""
    try:
        seal: dict[str, int] = json.loads((array / SEAL).read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise StoreError(damaged(array.parent, array.name, SEAL, missing=False)) from error
    return seal


def group_is_sound(group: Path, description: bytes) -> bool:
    """Say whether this is the description that was written of a group, as far as lists tell: earlier versions did not."""
    for seal in sorted(group.glob(f"*/{SEAL}"))[:1]:
        sums = read_seal(seal.parent) or {}
        return sums.get(GROUP, zlib.crc32(description)) == zlib.crc32(description)
    return True


def verify_group(group: Path, arrays: list[str]) -> list[Problem]:
    """List every chunk of these arrays that is missing or not what was written."""
    problems: list[Problem] = []
    for name in arrays:
        try:
            sums = read_seal(group / name)
        except StoreError as error:
            problems += error.problems
            continue
        if sums is None:
            problems.append(damaged(group, name, SEAL, missing=True))
            continue
        for key, expected in sums.items():
            path = group / name / key
            if not path.is_file():
                problems.append(damaged(group, name, key, missing=True))
            elif zlib.crc32(path.read_bytes()) != expected:
                problems.append(damaged(group, name, key, missing=False))
    return problems


def damaged(group: Path, array: str, part: str, *, missing: bool) -> Problem:
    """Say which chunk of which variable of which test set cannot be trusted."""
    what = f"chunk {part.removeprefix('c/')}" if part.startswith("c") and part != SEAL else f"the file {part}"
    state = "missing" if missing else "damaged"
    message = f"{what} of the variable {array!r} is {state} in the cube of the test set {_test_set(group)!r}"
    return Problem("P707", message, str(group / array / part), REBUILD)


def _split(key: str) -> tuple[str, str | None]:
    """Return the array and the file within it that a key names; None for what belongs to no array."""
    name, _, rest = key.partition("/")
    return (name, rest) if rest == _META or rest == "c" or rest.startswith("c/") else (name, None)


def _keys(array: Path) -> list[str]:
    return sorted(path.relative_to(array).as_posix() for path in array.rglob("*") if path.is_file() and path.name != SEAL)


def _bytes(buffer: Buffer) -> Any:
    return np.ascontiguousarray(buffer.as_numpy_array())


def _test_set(group: Path) -> str:
    for folder in (group, *group.parents[:2]):
        try:
            attributes = json.loads((folder / _META).read_bytes())["attributes"]
        except (OSError, ValueError, KeyError):
            continue
        if "test_set" in attributes:
            return str(attributes["test_set"])
    return group.name
