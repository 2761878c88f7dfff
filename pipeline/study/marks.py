"""Values that remember where in a file they and each of their parts were written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Document", "KeyPath", "dotted"]

KeyPath = tuple[str | int, ...]


@dataclass
class Document:
    """A tree of plain values under construction, with the place (``file:line:column`` or a flag) of each.

    Parameters
    ----------
    value : object
        Mappings are dict, sequences are list.
    values, keys : dict
        Where each value, and the key it stands under, was written.
    """

    value: Any = None
    values: dict[KeyPath, str] = field(default_factory=dict)
    keys: dict[KeyPath, str] = field(default_factory=dict)

    def where(self, path: KeyPath, *, key: bool = False) -> str | None:
        """Return the place of a value (or its key), or of the nearest part around it that has one."""
        for length in range(len(path), -1, -1):
            part = path[:length]
            place = (self.keys.get(part) if key else None) or self.values.get(part)
            if place:
                return place
        return None

    def put(self, path: KeyPath, other: Document, place: str) -> str | None:
        """Set the value at a path, making mappings on the way; return what is in the way, or None."""
        if self.value is None:
            self.value = {}
        inner = self.value
        for depth, part in enumerate(path):
            last = depth == len(path) - 1
            if isinstance(inner, dict):
                # `a.b` under a key that was left empty makes a mapping of it.
                following = other.value if last else inner[part] if inner.get(str(part)) is not None else {}
                inner[str(part)] = following
            elif isinstance(inner, list):
                if not str(part).isdecimal() or int(part) >= len(inner):
                    return f"{dotted(path[:depth])} is a list of {len(inner)}: name one by its position from 0"
                inner[int(part)] = other.value if last else inner[int(part)]
                following = inner[int(part)]
            else:
                return f"{dotted(path[:depth])} holds {inner!r}, which has no keys"
            inner = following
        path = self._typed(path)
        for marks in (self.values, self.keys):
            for old in [known for known in marks if known[: len(path)] == path]:
                del marks[old]
        self.keys[path] = place
        for below in other.values:
            self.values[path + below] = place
        for below in other.keys:
            self.keys[path + below] = place
        return None

    def _typed(self, path: KeyPath) -> KeyPath:
        typed: list[str | int] = []
        inner = self.value
        for part in path:
            step = int(part) if isinstance(inner, list) else str(part)
            typed.append(step)
            inner = inner[step]
        return tuple(typed)


def dotted(path: KeyPath) -> str:
    """Write a path as a user would: ``metrics[1].beta``.

    Examples
    --------
    >>> dotted(("metrics", 1, "beta")), dotted(("test_sets", "news.1", "gold"))
    ('metrics[1].beta', 'test_sets."news.1".gold')
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (f'"{part}"' if "." in part or '"' in part or not part else part)
    return text or "the file"


def look_up(value: Any, path: KeyPath) -> tuple[KeyPath, Any, KeyPath]:
    """Follow a path as far as the value goes, passing over parts that name no key or position of it.

    Gives the path that was followed, the value there, and the parts that were passed over. Validators put such parts into
    their paths for branches of a union and for keys that a shorthand left out.
    """
    followed: list[str | int] = []
    passed: list[str | int] = []
    for part in path:
        is_key = isinstance(value, Mapping) and part in value
        is_position = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if is_key or is_position:
            value = value[part]
            followed.append(part)
        else:
            passed.append(part)
    return tuple(followed), value, tuple(passed)
