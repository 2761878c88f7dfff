"""Items of several files as those of one. This module joins them, and refuses outputs whose system nobody names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.errors import DataError
from pipeline.interfaces import Items

__all__ = ["join_items", "name_items", "need_system"]


def name_items(names: Sequence[str | None]) -> tuple[tuple[str, ...], bool]:
    """Return identifiers, and whether they are numbers: the names where each item has one of its own, else numbers from 1."""
    named = [name for name in names if name]
    if names and len(named) == len(names) == len(set(named)):
        return tuple(named), False
    return tuple(map(str, range(1, len(names) + 1))), True


def join_items(parts: Sequence[Items]) -> Items:
    """Return the items of all parts, one after another.

    They keep their identifiers where no two have the same, and are numbered otherwise. A column that only some parts have is
    kept where it names documents or other groups (the others are in none, ``""``), and left out where it holds more than text.
    """
    if len(parts) == 1:
        return parts[0]
    ids, numbered = name_items([None if part.numbered else name for part in parts for name in part.ids])
    columns = {}
    for name in dict.fromkeys(name for part in parts for name in part.columns):
        held = [part.columns.get(name, ("",) * len(part)) for part in parts]
        if all(name in part.columns for part in parts) or all(isinstance(value, str) for values in held for value in values):
            columns[name] = tuple(value for values in held for value in values)
    lines = tuple(line for part in parts for line in part.lines)
    return Items(ids, columns, parts[0].source, lines, numbered)


def need_system(system: str | None, path: Path, kind: str) -> str:
    """Return the name of the system whose output a file is; a study that names none is refused."""
    if system is None:
        raise DataError.of(
            "P219",
            f"a file of {kind} holds the output of one system, and none is named",
            where=str(path),
            help=f'write the place of the name into the path, `outputs: "systems/{{system}}{path.suffix}"`, or map names to paths',
        )
    return system
