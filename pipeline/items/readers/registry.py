"""Readers by name. This module makes them."""

from __future__ import annotations

from pipeline.interfaces import Reader
from pipeline.plugins import import_plugin

__all__ = ["load_reader"]


def load_reader(name: str) -> Reader:
    """Make a reader from its name; an unknown one is P301, one that cannot be imported P302."""
    reader: Reader = import_plugin("readers", name)()
    return reader
