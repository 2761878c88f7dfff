"""A reader with the warnings of all that it has read, for tests that read several files or look at what is told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.interfaces import Items, Reader

__all__ = ["listen", "told_by"]


def told_by(found: Mapping[str, Items] | Items | None) -> list[str]:
    """Return the warnings that came with items."""
    if found is None:
        return []
    return list(found.warnings) if isinstance(found, Items) else [text for items in found.values() for text in items.warnings]


class _Listening:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.warnings: list[str] = []

    def read_gold(self, paths: list[Path], options: Mapping[str, Any]) -> Any:
        found = self._reader.read_gold(paths, options)
        self.warnings.extend(told_by(found))
        return found

    def read_outputs(self, path: Path, **options: Any) -> Any:
        found = self._reader.read_outputs(path, **options)
        self.warnings.extend(told_by(found))
        return found


def listen(reader: Reader) -> Any:
    """Return a reader that keeps what it was told, as ``warnings``."""
    return _Listening(reader)
