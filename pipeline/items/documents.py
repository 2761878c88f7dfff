"""Columns that group items: documents, domains. This module reads which group each item belongs to, and makes the frame."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from pipeline.errors import DataError, Problem
from pipeline.interfaces import Items
from pipeline.items.compare import Candidate
from pipeline.items.frame import Frame
from pipeline.items.readers._files import Lines, read_lines
from pipeline.items.readers._tables import Table, find_column, find_delimiter, parse_table, refuse
from pipeline.study.grouping import DOCUMENT, ROLES
from pipeline.study.schema import TestSet

__all__ = ["Grouping", "make_frame", "read_group"]

Grouping = Sequence[str]
"""The group of each item by name, in the order of the items."""


def make_frame(
    test_set: str,
    ids: Sequence[str],
    kept: Collection[str],
    *,
    unit: Grouping | None = None,
    stratum: Grouping | None = None,
    document: Grouping | None = None,
    names: tuple[str, str] = ("unit", "strata"),
) -> Frame:
    """Make a frame of the items that are kept; units are groups in order of their first item, else the items.

    Parameters
    ----------
    test_set : str
    ids : sequence of str
        All items.
    kept : collection of str
        Those that stay.
    unit, stratum, document : sequence of str, optional
        What each item belongs to; ``document`` where items are drawn although it is known.
    names : (str, str)
        Columns of the units and of the strata, for messages.

    Raises
    ------
    DataError
        P224, where a unit lies in several strata.
    """
    places = [k for k, name in enumerate(ids) if name in kept]
    chosen = tuple(ids[k] for k in places)
    units, unit_of_item = (chosen, tuple(range(len(chosen)))) if unit is None else _number([unit[k] for k in places])
    frame = Frame(test_set, chosen, unit_of_item, units)
    if document is not None:
        documents, document_of_item = _number([document[k] for k in places])
        if 1 < len(documents) < len(chosen):  # else there is nothing between documents, or nothing within
            frame = frame.with_documents(document_of_item)
    if stratum is None:
        return frame
    stratum_of: dict[int, str] = {}
    problems = []
    for k, number in zip(places, unit_of_item, strict=True):
        if stratum_of.setdefault(number, stratum[k]) != stratum[k]:
            both = f"'{stratum_of[number]}' and '{stratum[k]}'"
            message = f"the {names[0]} '{units[number]}' lies in two strata: its {names[1]} is {both}"
            help_ = "draw smaller units, or take strata that no unit crosses"
            problems.append(Problem("P224", message, f"test set '{test_set}', item '{ids[k]}'", help_))
    refuse(problems)
    strata, stratum_of_unit = _number([stratum_of[number] for number in range(len(units))])
    return frame.with_strata(stratum_of_unit, strata)


def read_group(
    column: str, spec: TestSet, base: Path, ids: tuple[str, ...], gold: Items | None, candidates: Sequence[Candidate]
) -> tuple[str, ...]:
    """Give the group of each item by one column: from the file of documents, the gold, or the outputs.

    Raises
    ------
    DataError
        P215 where the file has another number of lines than there are items; P222 where an item has no group, or two; P223 where
        nothing has such a column.
    """
    there: list[str] = []
    if spec.documents is not None:
        path = base / spec.documents
        lines = read_lines(path)
        table = _table_of_items(lines, column, spec.columns)
        if table is not None and spec.columns.get(column, column) in table.header:
            return _from_table(table, column, path, spec, ids)
        if table is None and column == DOCUMENT:
            return _checked(lines.values, column, path, 1, ids)
        there += table.header if table is not None else [DOCUMENT]
    known: dict[str, str] = {}
    sources: list[tuple[str, Sequence[str], Sequence[str]]] = []
    if gold is not None and column in gold.columns and not column.startswith("reference"):
        sources.append((gold.source, gold.ids, gold.columns[column]))
    sources.extend((c.source, c.ids, c.groups[column]) for c in candidates if column in c.groups)
    if not sources and column != DOCUMENT:
        raise DataError(_unknown(column, spec, there, gold, candidates))
    problems = []
    for source, names, groups in sources:
        for name, group in zip(names, groups, strict=True):
            if known.setdefault(name, group) != group:
                message = f"item '{name}' is of {column} '{group}', and of '{known[name]}' in another file"
                problems.append(Problem("P222", message, source))
    problems.extend(Problem("P222", f"item '{name}' has no {column}") for name in ids if not known.get(name))
    refuse(problems)
    return tuple(known[name] for name in ids)


def _number(groups: Sequence[str]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Give the groups in the order of their first member, and the position of each member's."""
    position: dict[str, int] = {}
    numbers = tuple(position.setdefault(group, len(position)) for group in groups)
    return tuple(position), numbers


def _table_of_items(lines: Lines, column: str, columns: Mapping[str, str]) -> Table | None:
    """Give the file of documents as a table where its first line is a header, None where it has one name a line."""
    delimiter = find_delimiter(lines.values[0])
    header = lines.values[0].split(delimiter or "\t")
    wanted = {named for role, named in columns.items() if role not in ROLES or role == DOCUMENT} | {columns.get(column, column)}
    # A single column may hold a document of that very name: it is a header only where the study says so.
    is_header = not wanted.isdisjoint(header) if delimiter is not None else columns.get(column) in header
    return parse_table(lines) if is_header or (delimiter is not None and column != DOCUMENT) else None


def _from_table(table: Table, column: str, path: Path, spec: TestSet, ids: tuple[str, ...]) -> tuple[str, ...]:
    groups = table.column(spec.columns.get(column, column))
    item = find_column("item", table.header, {k: v for k, v in spec.columns.items() if v in table.header}, table.source)
    by_name = dict(zip(table.column(item), groups, strict=True)) if item is not None else {}
    if all(name in by_name for name in ids):
        groups = tuple(by_name[name] for name in ids)
    return _checked(groups, column, path, 2, ids)


def _checked(groups: Sequence[str], column: str, path: Path, first: int, ids: tuple[str, ...]) -> tuple[str, ...]:
    if len(groups) != len(ids):
        raise DataError.of(
            "P215",
            f"the documents have {len(groups)} lines, the test set has {len(ids)} items",
            where=str(path),
            help="write one document name a line, in the order of the items",
        )
    refuse(
        Problem("P222", f"the item has no {column}", f"{path}:{k}", "write a name, or use `unit: item`")
        for k, group in enumerate(groups, start=first)
        if not group.strip()
    )
    return tuple(groups)


def _unknown(column: str, spec: TestSet, there: list[str], gold: Items | None, candidates: Sequence[Candidate]) -> Problem:
    """Say that nothing has a column, and which there are."""
    in_gold = [name for name in gold.columns if not name.startswith("reference")] if gold is not None else []
    in_outputs = [name for candidate in candidates for name in candidate.groups]
    if not spec.references and candidates:
        lines = read_lines(Path(candidates[0].source))
        delimiter = find_delimiter(lines.values[0])
        systems = {candidate.system for candidate in candidates}
        in_outputs += [name for name in lines.values[0].split(delimiter) if name not in systems] if delimiter else []
    names = list(dict.fromkeys([*there, *in_gold, *in_outputs]))
    close = difflib.get_close_matches(column, names, n=1)
    shown = ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "") if names else "none"
    return Problem(
        "P223",
        f"no column '{column}' groups the items; there are: {shown}",
        where=str(spec.documents or spec.outputs or ""),
        help=f"did you mean '{close[0]}'?" if close else "give it in the table that `documents:` names, or in a table of outputs",
    )
