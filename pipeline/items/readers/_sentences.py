"""Sentences of several files as items of one. This module numbers them throughout, and the documents that have no names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.errors import DataError
from pipeline.interfaces import Items

__all__ = ["NOT_GIVEN", "Part", "as_items", "given_columns"]

NOT_GIVEN = "_"
"""What stands for a value that nobody gave; a column of nothing else is no column."""


@dataclass(frozen=True)
class Part:
    """The sentences of one file.

    Parameters
    ----------
    columns : mapping of str to sequence
        One tuple a sentence, with an entry a token.
    documents : sequence of str or int
        The document of each sentence: its name, or its number in the file; an empty name before the first document.
    lines : tuple of int
        Where each sentence begins, 1-based.
    source : str
    """

    columns: Mapping[str, Sequence[tuple[str, ...]]]
    documents: Sequence[str | int]
    lines: tuple[int, ...]
    source: str


def as_items(parts: Sequence[Part], *, documents: bool = True) -> Items:
    """Return the sentences of all files one after the other; with ``documents`` that column too, where a file has some.

    Raises
    ------
    DataError
        P240, where a file holds no sentence, or other columns than the first.
    """
    first = parts[0]
    for part in parts:
        if not part.lines:
            raise DataError.of("P240", "the file holds no sentence", where=part.source)
        if set(part.columns) != set(first.columns):
            has, others = (", ".join(of.columns) for of in (part, first))
            raise DataError.of("P240", f"the file gives {has}, and {first.source} gives {others}", where=part.source)
    columns: dict[str, Sequence[Any]] = {
        name: tuple(sentence for part in parts for sentence in part.columns[name]) for name in first.columns
    }
    names = _name_documents(parts) if documents else ()
    if any(names):
        columns["document"] = names
    lines = tuple(line for part in parts for line in part.lines)
    source = first.source if len(parts) == 1 else f"{first.source} and {len(parts) - 1} more"
    return Items(tuple(map(str, range(1, len(lines) + 1))), columns, source, lines)


def given_columns(columns: Mapping[str, Sequence[tuple[str, ...]]]) -> dict[str, Sequence[tuple[str, ...]]]:
    """Leave out the columns in which nothing is given."""
    return {name: values for name, values in columns.items() if name == "word" or any(set(value) - {NOT_GIVEN} for value in values)}


def _name_documents(parts: Sequence[Part]) -> tuple[str, ...]:
    names: list[str] = []
    before = 0
    for part in parts:
        numbers = [document for document in part.documents if isinstance(document, int)]
        names += [str(before + document) if isinstance(document, int) else document for document in part.documents]
        before += max(numbers, default=0)
    return tuple(names)
