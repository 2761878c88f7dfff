"""Readers by name. This module finds them through entry points."""

from __future__ import annotations

import difflib
from importlib.metadata import EntryPoint, entry_points

from pipeline.errors import PluginError
from pipeline.interfaces import Reader

__all__ = ["GROUP", "list_readers", "load_reader"]

GROUP = "pipeline.readers"


def list_readers() -> dict[str, EntryPoint]:
    """Give the installed readers by name, sorted; nothing is imported."""
    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


def load_reader(name: str) -> Reader:
    """Make a reader from its name; an unknown one is P301, one that cannot be imported P302."""
    known = list_readers()
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        there_are = f"there are: {', '.join(known)}" if known else "there are none"
        raise PluginError.of(
            "P301", f"there is no reader '{name}'", help=f"did you mean '{close[0]}'? ({there_are})" if close else there_are
        )
    try:
        reader: Reader = known[name].load()()
    except (ImportError, AttributeError) as exc:
        raise PluginError.of(
            "P302", f"the reader '{name}' cannot be loaded: {exc}", where=known[name].value, help="install what it needs"
        ) from exc
    return reader
