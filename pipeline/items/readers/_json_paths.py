"""Places in JSON objects. This module follows keys to a value, and finds the systems that a place has a key for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.errors import DataError, PipelineError
from pipeline.items.readers._json import JsonLine, refuse_shape

__all__ = ["LACKS", "SYSTEM", "Keys", "find_systems", "follow", "parse_keys", "show"]

Keys = tuple[str, ...]
"""Keys from the object of a line to a value; one of them may be `SYSTEM`."""

SYSTEM = "{system}"
LACKS = object()
"""What stands for a value whose system the line does not have."""


def parse_keys(option: str, value: Any) -> Keys:
    """Split ``scores.{system}.rouge`` at its dots; a list is taken as it is, for keys that hold dots.

    Examples
    --------
    >>> parse_keys("score", "systems.{system}.f1")
    ('systems', '{system}', 'f1')
    """
    keys: Sequence[Any] = value.split(".") if isinstance(value, str) else value
    if not isinstance(keys, (list, tuple)) or not keys or not all(isinstance(key, str) and key for key in keys):
        raise ValueError(f"option '{option}' is keys with dots between them, or a list of keys, not {value!r}")
    if any("{" in key and key != SYSTEM for key in keys) or keys.count(SYSTEM) > 1:
        raise ValueError(f"option '{option}' has {SYSTEM} as one of its keys, once, or not at all: {value!r}")
    return tuple(keys)


def show(keys: Keys) -> str:
    """Return keys as a study has them."""
    return ".".join(keys)


def follow(line: JsonLine, keys: Keys, source: str, *, system: str = "") -> Any:
    """Return the value at a place; `LACKS` where the line has no such system.

    Raises
    ------
    DataError
        P257 where a key is not there, or what should have keys is something else.
    """
    value: Any = line.value
    for depth, key in enumerate(keys):
        if isinstance(value, list) and key.isascii() and key.isdecimal() and len(key) < 9:
            if int(key) >= len(value):
                raise _lacks(keys[: depth + 1], f"{source}:{line.line}", f"{len(value)} values")
            value = value[int(key)]
            continue
        if not isinstance(value, Mapping):
            raise refuse_shape(source, line.line, f"'{show(keys[:depth])}'", "an object", value)
        if key == SYSTEM:
            if system not in value:
                return LACKS
            value = value[system]
        elif key not in value:
            there = ", ".join(map(repr, list(value)[:8])) or "nothing"
            raise _lacks(keys[: depth + 1], f"{source}:{line.line}", there)
        else:
            value = value[key]
    return value


def find_systems(line: JsonLine, keys: Keys, source: str) -> list[str]:
    """Return the keys that stand where the place has `SYSTEM`."""
    found = follow(line, keys[: keys.index(SYSTEM)], source)
    if not isinstance(found, Mapping):
        raise refuse_shape(source, line.line, f"'{show(keys[: keys.index(SYSTEM)])}'", "an object", found)
    return list(found)


def _lacks(keys: Keys, where: str, there: str) -> PipelineError:
    return DataError.of(
        "P257",
        f"there is no '{show(keys)}'; there are {there}",
        where=where,
        help="mend the keys in `format:` of the test set; a key with a dot in it stands in a list of keys",
    )
