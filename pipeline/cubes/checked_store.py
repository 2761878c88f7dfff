"""A store of Zarr that compares every chunk with its checksum."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.core.metadata.v3 import ArrayV3Metadata
from zarr.storage import LocalStore

from pipeline.cubes.checked import META, damaged, read_seal
from pipeline.errors import StoreError

__all__ = ["CheckedStore", "check_descriptions"]


class CheckedStore(LocalStore):
    """A read-only group of a sealed cube: `StoreError` if a chunk is missing or differs from what was written."""

    def __init__(self, root: Path | str, *, read_only: bool = True) -> None:
        super().__init__(root, read_only=read_only)
        self._seals: dict[str, dict[str, int]] = {}
        self._sound: set[str] = set()

    async def get(self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Read one key, or a part of it, and compare the whole with its checksum."""
        self._check_before(key, byte_range)
        return self._checked(key, await super().get(key, prototype, byte_range), whole=byte_range is None)

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Read one key, or a part of it, and compare the whole with its checksum."""
        self._check_before(key, byte_range)
        return self._checked(key, super().get_sync(key, prototype=prototype, byte_range=byte_range), whole=byte_range is None)

    def _check_before(self, key: str, byte_range: ByteRequest | None) -> None:
        """Check a file before the first part of it is read: a part says nothing about the rest, and has no checksum of its own."""
        if byte_range is None or key in self._sound:
            return
        array, part = _split(key)
        expected = self._seal(array).get(part) if part is not None else None
        if expected is not None:
            path = self.root / key
            found = path.read_bytes() if path.is_file() else None
            if found is None or zlib.crc32(found) != expected:
                raise StoreError(damaged(self.root, array, str(part), missing=found is None))
        self._sound.add(key)

    def _checked(self, key: str, found: Buffer | None, *, whole: bool) -> Buffer | None:
        array, part = _split(key)
        if part is None:
            return found
        expected = self._seal(array).get(part)
        if expected is not None and (found is None or (whole and zlib.crc32(_bytes(found)) != expected)):
            raise StoreError(damaged(self.root, array, part, missing=found is None))
        return found

    def _seal(self, array: str) -> dict[str, int]:
        if array not in self._seals:
            self._seals[array] = read_seal(self.root / array) or {}
        return self._seals[array]


def check_descriptions(group: Path) -> None:
    """Raise what Zarr would raise about the first array of a group with a bad description.

    Zarr reads all descriptions at the same time and handles only the first error: other errors, and what it was still waiting for,
    are printed on standard error when the process ends.
    """
    for array in sorted(path for path in group.iterdir() if path.is_dir()):
        try:
            description = (array / META).read_bytes()
        except FileNotFoundError:
            description = None
        expected = (read_seal(array) or {}).get(META)
        if expected is not None and (description is None or zlib.crc32(description) != expected):
            raise StoreError(damaged(group, array.name, META, missing=description is None))
        # An empty file is no absent one: Zarr reads it.
        if description is not None and (described := json.loads(description))["node_type"] == "array":
            ArrayV3Metadata.from_dict(described)


def _split(key: str) -> tuple[str, str | None]:
    """Return the array and the file within it that a key names; None for a file that belongs to no array."""
    name, _, rest = key.partition("/")
    return (name, rest) if rest == META or rest == "c" or rest.startswith(("c.", "c/")) else (name, None)


def _bytes(buffer: Buffer) -> Any:
    return np.ascontiguousarray(buffer.as_numpy_array())
