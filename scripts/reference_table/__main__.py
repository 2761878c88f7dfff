"""The command line of `scripts/reference`: read flags, print tables, write the page and its records."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np

import pipeline
from pipeline.store.files import write_bytes
from reference_table.document import fill_parts, parse_blocks, render_blocks

FAMILIES = ("chunkers", "winnows", "taggers", "parsers", "parser_settings", "aligners", "grammars")
"""Each is a module of this package with ``table(data: Path) -> str``, Markdown."""

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def main(arguments: list[str]) -> None:
    """Print the figures of families, trained now or as they were recorded."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    unknown = [family for family in asked.family if family not in FAMILIES]
    if unknown:  # argparse refuses an empty list of choices before Python 3.12
        parser.error(f"there is no family {unknown[0]!r}; there are {', '.join(FAMILIES)}")
    records = asked.document.with_suffix(".json") if asked.document else None
    if asked.render:
        if records is None:
            parser.error("--render writes a page: name it with --document")
        recorded = _read(records)
        made = {family: recorded[family] for family in (asked.family or recorded)}
    elif not asked.family:
        parser.error(f"name one or more of {', '.join(FAMILIES)}")
    elif not asked.data.is_dir():
        parser.error(f"{asked.data} is not a folder: set PIPELINE_DATA, or give --data, the folder of data sets")
    else:
        made = {family: measure(family, asked.data) for family in asked.family}
    if records is not None:
        parts = {family: record["blocks"] for family, record in made.items()}
        write_bytes(asked.document, fill_parts(asked.document.read_text(encoding="utf-8"), parts).encode())
        if not asked.render:
            # Read again: other families may have been recorded while these were trained.
            _write(records, {**_read(records), **made})
    print("\n\n".join(render_blocks(record["blocks"]) for record in made.values()))


def measure(family: str, data: Path) -> dict[str, Any]:
    """Train the systems of one family, and give their figures with what made them."""
    start = time.perf_counter()
    blocks = parse_blocks(importlib.import_module(f"reference_table.{family}").table(data))
    seconds = round(time.perf_counter() - start)
    print(f"{family}: {seconds} seconds", file=sys.stderr, flush=True)
    versions = {"pipeline": pipeline.__version__, "numpy": np.__version__, "numba": numba.__version__}
    return {"versions": versions, "seconds": seconds, "blocks": blocks}


def _read(records: Path) -> dict[str, Any]:
    return json.loads(records.read_text(encoding="utf-8"))["families"] if records.exists() else {}


def _write(records: Path, families: dict[str, Any]) -> None:
    ordered = {family: families[family] for family in FAMILIES if family in families}
    text = json.dumps({"schema_version": 1, "families": ordered}, indent=1, ensure_ascii=False)
    write_bytes(records, f"{text}\n".encode())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts/reference", description=__doc__)
    parser.add_argument("family", nargs="*", metavar="FAMILY", help=", ".join(FAMILIES))
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("PIPELINE_DATA") or DATA), help="folder of data sets")
    parser.add_argument("--document", type=Path, metavar="PAGE", help="write between the marks of PAGE, and beside it the records")
    parser.add_argument("--render", action="store_true", help="write the page from its records, training nothing")
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])
