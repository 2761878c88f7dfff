"""Items of several files as those of one.

`join_items` puts items one after another; `as_items` does so for sentences, and numbers them and the documents that have no names
throughout. An output whose system nobody names is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.dataclass import dataclass
from pipeline.errors import DataError
from pipeline.interfaces import Items

__all__ = ["NOT_GIVEN", "Part", "as_items", "given_columns", "join_items", "name_items", "need_system"]


def name_items(names: Sequence[str | None]) -> tuple[tuple[str, ...], bool]:
    """Return identifiers, and whether they are numbers: the names where each item has one of its own, else numbers from 1."""
    named = [name for name in names if name]
    if names and len(named) == len(names) == len(set(named)):
        return tuple(named), False
    return tuple(map(str, range(1, len(names) + 1))), True


def join_items(parts: Sequence[Items]) -> Items:
    """Return the items of all parts, one after another.

    They keep their identifiers where no two have the same, and are numbered otherwise. A column that only some parts have is
    kept where it names documents or other groups (the others are in none, ``""``), and left out where it holds more than text.
    """
    if len(parts) == 1:
        return parts[0]
    ids, numbered = name_items([None if part.numbered else name for part in parts for name in part.ids])
    columns = {}
    for name in dict.fromkeys(name for part in parts for name in part.columns):
        held = [part.columns.get(name, ("",) * len(part)) for part in parts]
        if all(name in part.columns for part in parts) or all(isinstance(value, str) for values in held for value in values):
            columns[name] = tuple(value for values in held for value in values)
    lines = tuple(line for part in parts for line in part.lines)
    return Items(ids, columns, parts[0].source, lines, numbered)


def need_system(system: str | None, path: Path, kind: str) -> str:
    """Return the name of the system whose output a file is; a study that names none is refused."""
    if system is None:
        raise DataError.of(
            "P219",
            f"a file of {kind} holds the output of one system, and none is named",
            where=str(path),
            help=f'write the place of the name into the path, `outputs: "systems/{{system}}{path.suffix}"`, or map names to paths',
        )
    return system


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
