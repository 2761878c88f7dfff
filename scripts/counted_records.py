"""What scripts that simulate have in common: they count into a file of docs/, print its tables, and write these into a page."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["add_files", "fill_document", "read_records", "say"]

Records = Sequence[Mapping[str, Any]]


def add_files(parser: argparse.ArgumentParser, records: Path) -> None:
    """Add the flags that say which files are read and written."""
    parser.add_argument("--simulate", type=Path, metavar="FILE", help="simulate anew, and write what was counted")
    parser.add_argument("--records", type=Path, default=records, help="what --simulate wrote")
    parser.add_argument("--document", type=Path, help="write the tables between the marks of this page")


def read_records(asked: argparse.Namespace, simulate: Callable[[], Records]) -> Records:
    """Return what was counted; first count it anew and write it, where that is asked for."""
    if asked.simulate is None:
        found: Records = json.loads(asked.records.read_text(encoding="utf-8"))["records"]
        return found
    records = simulate()
    lines = ",\n".join(json.dumps(record) for record in records)
    asked.simulate.write_text(f'{{"schema_version": 1, "records": [\n{lines}\n]}}\n', encoding="utf-8")
    return records


def fill_document(document: Path | None, fill: Callable[[str], str]) -> None:
    """Write the tables of a page anew, where one is given."""
    if document is not None:
        document.write_text(fill(document.read_text(encoding="utf-8")), encoding="utf-8")


def say(what: str) -> None:
    """Tell how far it is, where the tables do not go."""
    print(what, file=sys.stderr, flush=True)
