"""Keep records in a file, write their tables into a document, and check that both say the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markdown_tables import fill_marked

from benchmarks.tables import TABLES, render_all

__all__ = ["fill_tables", "merge_records", "read_results", "update_document", "write_results"]

_IDENTITY = ("kind", "job", "metric", "procedure", "systems", "items", "sentences", "axis", "command", "study", "product_form")
_NOTHING = "Nothing to show."


def merge_records(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the old records in their order, each replaced where it was measured again, and then the rest of the new."""
    by_identity = {tuple(record.get(key) for key in _IDENTITY): record for record in (*old, *new)}
    return list(by_identity.values())


def read_results(path: Path) -> list[Mapping[str, Any]]:
    """Read what `write_results` wrote."""
    return list(json.loads(path.read_text(encoding="utf-8"))["records"])


def write_results(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write one record a line, so that a later measurement can be compared."""
    lines = ",\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    path.write_text(f'{{"schema_version": 1, "records": [\n{lines}\n]}}\n', encoding="utf-8")


def fill_tables(text: str, records: Sequence[Mapping[str, Any]]) -> str:
    """Return a document with the table of each ``<!-- bench: NAME -->`` … ``<!-- end -->`` written anew.

    Raises
    ------
    ValueError
        Where a marker names no table.
    """
    shown = render_all(records)

    def make(name: str) -> str:
        if name not in TABLES:
            raise ValueError(f"there is no table {name!r}; there are {', '.join(TABLES)}")
        return shown.get(name, _NOTHING)

    return fill_marked(text, "bench", make)


def update_document(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write the tables of a document anew."""
    path.write_text(fill_tables(path.read_text(encoding="utf-8"), records), encoding="utf-8")
