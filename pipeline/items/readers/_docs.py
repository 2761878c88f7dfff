"""Documents of segments as mt-metrics-eval lists them. This module reads ``DOMAIN DOCUMENT`` lines, one a segment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import Problem
from pipeline.items.readers._files import read_lines
from pipeline.items.readers._tables import refuse

__all__ = ["DocumentLines", "read_documents"]


@dataclass(frozen=True)
class DocumentLines:
    """The domain of each segment, and its document, named ``DOMAIN/NAME``: names may come again in another domain."""

    domains: tuple[str, ...]
    documents: tuple[str, ...]


def read_documents(path: Path) -> DocumentLines:
    """Read a file of documents.

    Raises
    ------
    DataError
        P222 where a line is not a domain and a document; and as `read_lines`.
    """
    lines = read_lines(path)
    rows = [line.split() for line in lines.values]
    help_ = "write the domain and the name of the document of each segment, with a blank between them"
    refuse(
        Problem("P222", f"the line has {len(row)} fields, where a domain and a document are wanted", f"{path}:{number}", help_)
        for number, row in enumerate(rows, start=1)
        if len(row) != 2
    )
    return DocumentLines(tuple(row[0] for row in rows), tuple(f"{row[0]}/{row[1]}" for row in rows))
