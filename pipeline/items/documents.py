"""Documents as units. This module reads which document each item belongs to, and makes the frame."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from pipeline.errors import DataError, Problem
from pipeline.interfaces import Items
from pipeline.items.compare import Candidate
from pipeline.items.frame import Frame
from pipeline.items.readers._files import read_lines
from pipeline.items.readers._tables import find_column, find_delimiter, parse_table, refuse
from pipeline.study.schema import TestSet

__all__ = ["assign_units", "read_documents"]


def assign_units(test_set: str, ids: Sequence[str], kept: Collection[str], documents: Sequence[str] | None) -> Frame:
    """Make a frame of the items that are kept; units are documents in order of their first item, else the items."""
    places = [k for k, name in enumerate(ids) if name in kept]
    chosen = tuple(ids[k] for k in places)
    if documents is None:
        return Frame(test_set, chosen, tuple(range(len(chosen))), chosen)
    position: dict[str, int] = {}
    unit_of_item = tuple(position.setdefault(documents[k], len(position)) for k in places)
    return Frame(test_set, chosen, unit_of_item, tuple(position))


def read_documents(
    spec: TestSet, base: Path, ids: tuple[str, ...], gold: Items | None, candidates: Sequence[Candidate]
) -> tuple[str, ...]:
    """Give the document of each item: from the file of documents, the gold, or a column of the outputs.

    Raises
    ------
    DataError
        P215 where the file has another number of lines than there are items; P222 where an item has no document, or two.
    """
    if spec.documents is not None:
        return _from_file(base / spec.documents, spec, ids)
    known: dict[str, str] = {}
    sources: list[tuple[str, Sequence[str], Sequence[str]]] = []
    if gold is not None and "document" in gold.columns:
        sources.append((gold.source, gold.ids, gold.columns["document"]))
    sources.extend((c.source, c.ids, c.documents) for c in candidates if c.documents is not None)
    problems = []
    for source, names, documents in sources:
        for name, document in zip(names, documents, strict=True):
            if known.setdefault(name, document) != document:
                message = f"item '{name}' is of document '{document}', and of '{known[name]}' in another file"
                problems.append(Problem("P222", message, source))
    problems.extend(Problem("P222", f"item '{name}' has no document") for name in ids if not known.get(name))
    refuse(problems)
    return tuple(known[name] for name in ids)


def _from_file(path: Path, spec: TestSet, ids: tuple[str, ...]) -> tuple[str, ...]:
    lines = read_lines(path)
    documents, first = lines.values, 1
    named = spec.columns.get("document")
    if named is not None and named in lines.values[0].split(find_delimiter(lines.values[0]) or "\t"):
        table = parse_table(lines)
        documents, first = table.column(named), 2
        item = find_column("item", table.header, {k: v for k, v in spec.columns.items() if v in table.header}, table.source)
        by_name = dict(zip(table.column(item), documents, strict=True)) if item is not None else {}
        if all(name in by_name for name in ids):
            documents = tuple(by_name[name] for name in ids)
    if len(documents) != len(ids):
        raise DataError.of(
            "P215",
            f"the documents have {len(documents)} lines, the test set has {len(ids)} items",
            where=str(path),
            help="write one document name a line, in the order of the items",
        )
    refuse(
        Problem("P222", "the item has no document", f"{path}:{k}", "write a name, or use `unit: item`")
        for k, document in enumerate(documents, start=first)
        if not document.strip()
    )
    return tuple(documents)
