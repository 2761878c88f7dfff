"""The last file of several systems that a process read. This module spares each system of it a reading of the whole."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pipeline.interfaces import Items
from pipeline.items.readers import load_reader
from pipeline.study.schema import FormatSpec

__all__ = ["read_table_once"]

_Stamp = tuple[int, int, int, int]


def read_table_once(form: FormatSpec, path: Path, columns: Mapping[str, str], *, system: str | None = None) -> dict[str, Items]:
    """Give the items of every system in a table, or of every run of one system, parsed again only where the file is another one.

    Extraction asks for one system at a time: of S systems each would parse and check S columns. A file that is changed within
    the tick of the clock and keeps its length is not seen to be another; the digest that an output is held to is then that of
    what was surveyed.

    Parameters
    ----------
    form : FormatSpec
        The format, with its reader's options.
    path : Path
        The table.
    columns : mapping
        Column names by role, from the study file.
    system : str, optional
        The system of which the file holds several runs.
    """
    try:
        found = path.stat()
    except OSError:
        # The reader says what is wrong with it.
        return load_reader(form).read_outputs(path, system=system, options={"columns": dict(columns)})
    stamp = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return _read(form.model_dump_json(), path, system, tuple(columns.items()), stamp)


@lru_cache(maxsize=1)
def _read(form: str, path: Path, system: str | None, columns: tuple[tuple[str, str], ...], stamp: _Stamp) -> dict[str, Items]:
    items = load_reader(json.loads(form)).read_outputs(path, system=system, options={"columns": dict(columns)})
    # Equal fields become one string: what is kept of a large table is its places, not its text.
    one: dict[str, str] = {}
    return {
        named: replace(of, columns={name: _shared(of.columns[name], one) for name in of.columns}) for named, of in items.items()
    }


def _shared(values: Sequence[Any], one: dict[str, str]) -> Sequence[Any]:
    # What a reader of another package gives need be no text: 1 and true are equal, and not the same.
    return tuple(map(one.setdefault, values, values)) if all(type(value) is str for value in values) else values
