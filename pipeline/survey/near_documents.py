"""The documents of a first study: a list or a table beside its files that gives the document of each item."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pipeline.errors import DataError
from pipeline.items.item_table import ItemTable
from pipeline.items.names import name_without_ending
from pipeline.study.grouping import DOCUMENT, WITHOUT_DOCUMENTS
from pipeline.study.load import LoadedStudy, study_from_value
from pipeline.study.sets import TestSet
from pipeline.survey.survey import survey_study

__all__ = ["WithDocuments", "propose_documents"]

_LISTS = frozenset({"doc", "docs", "document", "documents", "docids", "doc_ids"})
"""Names, without endings, of files that may hold the name of a document on each line."""
_TABLES = _LISTS | {"items", "segments", "sentences"}
"""Names of files that may be a table of the items, with a column of documents."""


class WithDocuments(NamedTuple):
    """A study of one test set, with documents where some were found, and what to say about that."""

    loaded: LoadedStudy
    told: str = ""


def propose_documents(loaded: LoadedStudy) -> WithDocuments:
    """Return a study of one test set with the documents that lie beside its outputs or references, where they fit its items.

    A file that does not fit is left out, which is told: its name promises documents.
    """
    ((name, spec),) = loaded.study.test_sets.items()
    if spec.documents is not None or spec.format.name not in WITHOUT_DOCUMENTS or DOCUMENT in spec.columns:
        return WithDocuments(loaded)
    told = ""
    for path, column in _candidates(spec, loaded.base):
        value = json.loads(loaded.text)
        test_set = value["test_sets"][name]
        test_set["documents"] = path
        if column != DOCUMENT:
            test_set["columns"] = {**test_set.get("columns", {}), DOCUMENT: column}
        proposed = study_from_value(value, base=loaded.base)
        try:
            (found,) = survey_study(proposed.study, proposed.base).inputs.test_sets
        except DataError as error:
            told = told or f"documents: {path} is left out: {error.problems[0].message}"
            continue
        doubts = [warning for warning in found.warnings if path in warning]
        if not doubts and found.unit == DOCUMENT and 1 < found.n_units < found.n_items:
            return WithDocuments(proposed, f"documents: {path} names {found.n_units:,}; whole documents are drawn")
        told = told or f"documents: {path} is left out: {doubts[0] if doubts else 'it does not group the items'}"
    return WithDocuments(loaded, told)


def _candidates(spec: TestSet, base: Path) -> Iterator[tuple[str, str]]:
    """Yield files that are called like documents, as they would be named, with the column that has them."""
    outputs = [spec.outputs] if isinstance(spec.outputs, str) else [*(spec.outputs or {}).values()]
    files = [*outputs[:1], *spec.references, *([spec.gold] if isinstance(spec.gold, str) else [])]
    taken = {os.path.normpath(file) for file in (*outputs, *files)}
    for folder in dict.fromkeys(os.path.dirname(file) for file in files):
        try:
            there = sorted(path.name for path in (base / folder).iterdir() if path.is_file())
        except OSError:  # of another user, or no folder at all
            continue
        for file in there:
            path = os.path.normpath(os.path.join(folder, file))
            if name_without_ending(file).lower() in _TABLES and path not in taken:
                column = _column_of(base / path)
                if column is not None:
                    yield path, column


def _column_of(path: Path) -> str | None:
    """Return the column of a file that has documents; None where it has none, or cannot be read."""
    table = ItemTable(path, {})
    try:
        if not table.is_table:
            return DOCUMENT if name_without_ending(path.name).lower() in _LISTS else None
        return DOCUMENT if table.has(DOCUMENT) else table.likely_document()
    except DataError:
        return None
