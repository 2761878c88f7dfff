"""The bytes of a cube by path, in a folder or in memory."""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Protocol

__all__ = ["Files", "FilesInFolder", "FilesInMemory"]


class Files(Protocol):
    """Bytes by path, in a folder or in memory."""

    def read(self, path: str) -> bytes | None:
        """Return the bytes at a path; None where there is no such file."""
        ...

    def has(self, path: str) -> bool:
        """Tell whether a path has anything."""
        ...

    def write(self, path: str, content: bytes | memoryview) -> None:
        """Write the bytes at a path."""
        ...


class FilesInFolder:
    """Files below a folder, which are not synced one by one.

    Attributes
    ----------
    checksums : dict of str to int
        CRC-32 of what was written last, by path.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.checksums: dict[str, int] = {}
        self._made: set[str] = set()

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file; None where there is none."""
        try:
            return (self.root / path).read_bytes()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return None

    def has(self, path: str) -> bool:
        """Tell whether there is a file."""
        return path in self.checksums or os.path.isfile(f"{self.root}/{path}")

    def write(self, path: str, content: bytes | memoryview) -> None:
        """Write a file, with the folders that it is in."""
        self._make(path.rpartition("/")[0])
        with open(f"{self.root}/{path}", "wb") as file:
            file.write(content)
        self.checksums[path] = zlib.crc32(content)

    def _make(self, folder: str) -> None:
        # Each once, from above: of a path that is made from below, every folder is tried in vain first.
        if folder in self._made:
            return
        if folder:
            self._make(folder.rpartition("/")[0])
            with suppress(FileExistsError):
                os.mkdir(f"{self.root}/{folder}")
        else:
            self.root.mkdir(parents=True, exist_ok=True)
        self._made.add(folder)


class FilesInMemory(dict[str, bytes]):
    """Bytes by path."""

    def read(self, path: str) -> bytes | None:
        """Return what a path has; None where it has nothing."""
        return self.get(path)

    def has(self, path: str) -> bool:
        """Tell whether a path has anything."""
        return path in self

    def write(self, path: str, content: bytes | memoryview) -> None:
        """Write the bytes at a path."""
        self[path] = bytes(content)
