"""Tables that are test sets, each with a column for every system: they would otherwise pass for systems without a common item."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.errors import DataError
from pipeline.items.names import name_without_ending
from pipeline.items.readers.registry import load_reader
from pipeline.items.readers.scores import ScoreReader
from pipeline.items.recognise import AUTO, recognise_file
from pipeline.survey.folders import FolderFiles

__all__ = ["find_sets_in_column", "find_sets_in_tables"]

_SCORES = "scores"


def find_sets_in_tables(
    files: FolderFiles, *, base: Path, form: object = AUTO, columns: Mapping[str, str] | None = None, asked: bool = False
) -> dict[str, FolderFiles]:
    """Return the files of each test set, by its name, where each of several files is a table of scores of the same systems.

    They must have the same two columns or more, and no item in common: tables of the same items are systems, and their columns
    metrics. Nothing is returned of other files.

    Parameters
    ----------
    files : FolderFiles
        What was named, or found in a folder.
    form : object
        The format that was asked for, as `pipeline.survey.compare` takes it.
    columns : mapping, optional
        What the columns hold.
    asked : bool
        Whether it is said that each table is a test set, as where every task numbers its items from 1: then whatever the tables
        hold, each is one, if they have different names.
    """
    names = [name_without_ending(os.path.basename(path)) for path in files.outputs]
    if len(names) < 2 or len({*names}) < len(names) or files.references or form not in (AUTO, _SCORES):
        return {}
    sets = {name: FolderFiles([path], []) for name, path in zip(names, files.outputs, strict=True)}
    if asked:
        return sets
    systems: set[frozenset[str]] = set()
    seen: set[str] = set()
    for path in files.outputs:
        there = _read(base / path, columns or {}, named=form == _SCORES)
        ids = {name for items in there.values() for name in items}
        systems.add(frozenset(there))
        if len(there) < 2 or len(systems) > 1 or ids & seen:
            return {}
        seen |= ids
    return sets


def find_sets_in_column(
    files: FolderFiles, *, base: Path, form: object = AUTO, columns: Mapping[str, str] | None = None
) -> dict[str, dict[str, Any]]:
    """Return the format of each test set, by its name, where a column of the only table names several.

    Parameters
    ----------
    files, base, form, columns
        As `find_sets_in_tables` takes them.
    """
    if len(files.outputs) != 1 or files.references or form not in (AUTO, _SCORES):
        return {}
    path = base / files.outputs[0]
    try:
        found = ScoreReader().find_sets(path, columns or {}) if form == _SCORES or recognise_file(path)[0].name == _SCORES else None
    except DataError:
        return {}  # which is told where all systems are read
    return {} if found is None else {name: {"name": _SCORES, "rows": {found[0]: name}} for name in found[1]}


def _read(path: Path, columns: Mapping[str, str], *, named: bool) -> dict[str, tuple[str, ...]]:
    """Return the items of each system of a table of scores; nothing of another file."""
    try:
        if not named and recognise_file(path)[0].name != _SCORES:
            return {}
        outputs = load_reader(_SCORES).read_outputs(path, system=None, options={"columns": columns, "missing": "drop"})
    except DataError:
        return {}
    return {} if any(items.numbered for items in outputs.values()) else {name: items.ids for name, items in outputs.items()}
