"""Every value a study asks for, and who asked. This module lists values with the line, the flag or the default they come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.study.load import LoadedStudy, resolve
from pipeline.study.marks import KeyPath, dotted, look_up

__all__ = ["list_origins"]


def list_origins(loaded: LoadedStudy) -> list[tuple[str, Any, str]]:
    """Give (key path, value, origin) for every value of a study; the origin is a place, a flag, or ``default``."""
    return [(dotted(path), value, _origin(loaded, path)) for path, value in _leaves(resolve(loaded.study), ())]


def _leaves(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list) and any(isinstance(inner, (Mapping, list)) for inner in value):
        for position, inner in enumerate(value):
            yield from _leaves(inner, (*path, position))
    else:
        yield path, value


def _origin(loaded: LoadedStudy, path: KeyPath) -> str:
    followed, written, passed = look_up(loaded.document.value, path)
    # A mapping that lacks the key leaves it to the default; anything else is a short way of writing it.
    if passed and isinstance(written, Mapping) and not (len(written) == 1 and path[0] == "analyses"):
        return "default"
    return "default" if not followed else loaded.document.where(followed) or "default"
