"""Stored values whose name is the digest of their content. This module holds each to its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline.errors import StoreError
from pipeline.store.files import RECOMPUTE, read_json, write_json

__all__ = ["read_addressed", "write_addressed"]

Address = Callable[[Any], str]
"""Gives the address of a value; KeyError, TypeError or ValueError where it is no such value."""


def read_addressed(path: Path, key: str, address: Address) -> Any:
    """Read a value that is what its address says.

    Raises
    ------
    StoreError
        P704 where it is not there; P705 where it is damaged.
    """
    value = read_json(path)
    try:
        found = address(value)
    except (KeyError, TypeError, ValueError):
        found = ""
    if found != key:
        raise StoreError.of(
            "P705", "a stored file is damaged: its content is not what its name says", where=str(path), help=RECOMPUTE
        )
    return value


def write_addressed(path: Path, key: str, value: Any, address: Address) -> None:
    """Write a value unless it is there, whole: what was damaged is written again."""
    try:
        read_addressed(path, key, address)
    except StoreError:
        write_json(path, value)
