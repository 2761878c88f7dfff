"""The file that `documents:` names, read once as one document name per line or as a table, and searched for items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

from pipeline.dataclass import dataclass
from pipeline.errors import DataError, Problem
from pipeline.items.readers._files import Lines, read_lines
from pipeline.items.readers._tables import Table, find_column, find_head, leave_out_blank, parse_header, parse_table, refuse
from pipeline.items.readers.mt_metrics_eval import read_documents
from pipeline.options import nearest, suggest
from pipeline.study.grouping import DOCUMENT, ROLES

__all__ = ["ItemTable"]

_DOCS = ("domain", DOCUMENT)
_MOST_COMPARED = 1000
"""Rows of no item that a missing one is compared with."""


@dataclass(frozen=True)
class ItemTable:
    """The documents of a test set, and what else a table says of its items.

    Parameters
    ----------
    path : Path
        The file.
    columns : mapping
        Column names by role, from the study file.
    """

    path: Path
    columns: Mapping[str, str]

    @cached_property
    def lines(self) -> Lines:
        """The lines of the file, read when they are first asked for."""
        return read_lines(self.path)

    @cached_property
    def table(self) -> Table:
        """The file as a table."""
        if self._is_docs:
            found = read_documents(self.path)
            rows = tuple(zip(found.domains, found.documents, strict=True))
            return Table(_DOCS, rows, tuple(range(1, len(rows) + 1)), str(self.path))
        return leave_out_blank(parse_table(self.lines), lambda left: self._item_column_of(left) is not None)

    @property
    def _is_docs(self) -> bool:
        """Whether it is a list of mt-metrics-eval, a domain and a document a line, without a header."""
        return self.path.name.removesuffix(".gz").endswith(".docs")

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns; that of the documents alone where the file is no table."""
        if self._is_docs:
            return _DOCS
        return parse_header(self.lines) if self.is_table else (DOCUMENT,)

    @property
    def is_table(self) -> bool:
        """Whether the first line is a header: it has several fields, or is the name that the study gives a column."""
        if self._is_docs:
            return True
        head = find_head(self.lines.values)
        # A single column may hold a document of that very name: it is a header only where the study says so.
        named = {name for role, name in self.columns.items() if role == DOCUMENT or role not in ROLES}
        return head.delimiter is not None or head.line in named

    def has(self, column: str) -> bool:
        """Tell whether a column is there, by the name that the study gives it, or its own."""
        if column == DOCUMENT and not self.is_table:
            return DOCUMENT not in self.columns
        return self.columns.get(column, column) in self.header

    def likely_document(self) -> str | None:
        """Return the only column whose name speaks of documents."""
        likely = [name for name in self.header if "doc" in name.lower()]
        return likely[0] if len(likely) == 1 else None

    def refuse_documents(self) -> NoReturn:
        """Say why the documents are not there: P223."""
        if DOCUMENT not in self.columns:
            raise DataError.of(
                "P223",
                f"the documents are a table, and no column of it is 'document'; there are: {', '.join(map(repr, self.header))}",
                where=f"{self.path}:1",
                help=f"say which column it is: `columns: {{document: {self.likely_document() or '…'}}}`; "
                "a file of one document name per line has no tab, comma or semicolon in its first line",
            )
        name = self.columns[DOCUMENT]
        if not self.is_table:
            raise DataError.of(
                "P223",
                f"no column '{name}' names the documents: there is one column, and it begins with {self.lines.values[0]!r}",
                where=f"{self.path}:1",
                help=f"leave out `columns: {{document: {name}}}` where every line is a document's name, or correct the header",
            )
        raise DataError.of(
            "P223",
            f"no column '{name}' names the documents; there are: {', '.join(map(repr, self.header))}",
            where=f"{self.path}:1",
            help=suggest(name, self.header, otherwise="correct `columns: {document: …}` of the test set"),
        )

    def groups(
        self, column: str, ids: Sequence[str], *, numbered: bool, scored: Set[str] | None = None
    ) -> tuple[tuple[str, ...], list[str]]:
        """Return the group of each item by a column that is there, in the order of the items, and what is odd.

        Rows are found by the item column where items have names. Items that are line numbers go by it too where it holds all of
        them, and else go line by line, unless it looks as if it named them.

        Parameters
        ----------
        column : str
            A column that `has` says is there.
        ids : sequence of str
            The items.
        numbered : bool
            Whether they are line numbers.
        scored : set of str, optional
            The items that need a group; all where it is not given. Others that have none are of the group ''.

        Raises
        ------
        DataError
            P209 an item twice; P215 another number of lines than items; P222 an item that is not there or has no group.
        """
        if not self.is_table:
            values = self._by_line(self.lines.values, column, ids, scored, first=1)
            return values, [*_told_lines(self.path, ids, numbered), *_told_names(self.path, values)]
        name = self.columns.get(column, column)
        values, lines = self.table.column(name), self.table.lines
        item = self._item_column_of(self.table)
        if item is None or item == name:
            return self._by_line(values, column, ids, scored, first=2), _told_lines(self.path, ids, numbered)
        names = self.table.column(item)
        needed = set(ids) if scored is None else scored
        as_many = len(names) == len(ids)
        if numbered and not self._names_lines(names, ids) and (as_many or not needed <= set(names)):
            told = f"{self.path}: the column '{item}' does not hold the line numbers of the items: documents go line by line"
            return self._by_line(values, column, ids, scored, first=2), [told]
        if numbered and as_many and not set(ids) <= set(names):
            needed = set(ids)  # a row for each item, and some of other numbers: whatever these are, they name no lines
        places = self._places(names, ids, needed)
        self._refuse_empty(((lines[places[name]], values[places[name]]) for name in ids if name in needed), column)
        return tuple(values[places[name]] if name in places else "" for name in ids), self._told_rest(names, ids)

    def _item_column_of(self, table: Table) -> str | None:
        # The study may name it for the outputs: this table need not call it so.
        known = {role: name for role, name in self.columns.items() if name in table.header}
        return find_column("item", table.header, known, table.source)

    def _by_line(
        self, values: Sequence[str], column: str, ids: Sequence[str], scored: Set[str] | None, *, first: int
    ) -> tuple[str, ...]:
        if len(values) != len(ids):
            header = first == 1 and len(values) == len(ids) + 1 and values[0] == DOCUMENT
            raise DataError.of(
                "P215",
                f"the documents have {len(values)} lines, the test set has {len(ids)} items",
                where=str(self.path),
                help="if its first line is a header, say so: `columns: {document: document}`"
                if header
                else "write one document name per line, in the order of the items",
            )
        lines = zip(range(first, first + len(ids)), ids, values, strict=True)
        self._refuse_empty(((line, group) for line, name, group in lines if scored is None or name in scored), column)
        return tuple(values)

    def _refuse_empty(self, found: Iterable[tuple[int, str]], column: str) -> None:
        refuse(
            Problem("P222", f"the item has no {column}", f"{self.path}:{line}", "write a name, or use `unit: item`")
            for line, group in found
            if not group.strip()
        )

    def _names_lines(self, names: Sequence[str], ids: Sequence[str]) -> bool:
        """Say whether a column is about line numbers: it holds them all, or most of them in another order than the lines."""
        known = set(names)
        held = sum(name in known for name in ids)
        return held == len(ids) or (2 * held >= len(ids) and not _ascend(names))

    def _places(self, names: Sequence[str], ids: Sequence[str], needed: Set[str]) -> dict[str, int]:
        """Return the row of each item that has one; those that are needed must."""
        wanted = set(ids)
        places: dict[str, int] = {}
        problems = []
        for place, name in enumerate(names):
            if name not in wanted:
                continue
            if name in places:
                first, second = self.table.lines[places[name]], self.table.lines[place]
                message = f"the item '{name}' occurs twice, on lines {first} and {second}"
                problems.append(Problem("P209", message, f"{self.path}:{second}", "keep one row for each item"))
            places.setdefault(name, place)
        refuse(problems)
        lacking = [name for name in ids if name not in places and name in needed]
        others = {name: line for name, line in zip(names, self.table.lines, strict=True) if name not in wanted}
        refuse([self._lacks(name, others, shown=k < 10) for k, name in enumerate(lacking)])
        return places

    def _lacks(self, name: str, others: Mapping[str, int], *, shown: bool) -> Problem:
        message = f"the item '{name}' is not in the table of the documents"
        if not (others and shown):
            return Problem("P222", message, str(self.path), "give every item of the test set a row")
        close = nearest(name, list(others)[:_MOST_COMPARED], cutoff=0.0) or next(iter(others))
        where, note = (
            f"{self.path}:{others[close]}",
            f"line {others[close]} is about '{close}', which is not an item of the test set",
        )
        return Problem("P222", message, where, "give every item of the test set a row", note)

    def _told_rest(self, names: Sequence[str], ids: Sequence[str]) -> list[str]:
        wanted = set(ids)
        rest = [(name, line) for name, line in zip(names, self.table.lines, strict=True) if name not in wanted]
        if not rest:
            return []
        shown = ", ".join(f"'{name}' (line {line})" for name, line in rest[:3]) + (", …" if len(rest) > 3 else "")
        return [f"{self.path} has {len(rest)} row{'s' * (len(rest) > 1)} of no item of the test set: {shown}"]


def _told_lines(path: Path, ids: Sequence[str], numbered: bool) -> list[str]:
    return [] if numbered else [f"{path} does not name the items: it goes line by line, and the first is that of '{ids[0]}'"]


def _told_names(path: Path, names: Sequence[str]) -> list[str]:
    """Say that lines do not look like names of documents: nearly all stand alone, or few come again and again."""
    count, alone = len(set(names)), sum(times == 1 for times in Counter(names).values())
    if len(names) >= 10 and alone > 0.9 * count and count > 0.5 * len(names):
        each, some = "every line is a document of its own", f"{alone:,} of {len(names):,} lines are documents of their own"
        lines = "a document's name should stand on each of its lines"
        return [f"{path} may not be a list of document names: {each if alone == len(names) else some}, and {lines}"]
    stretches = 1 + sum(a != b for a, b in pairwise(names))
    if stretches >= 10 and stretches > 3 * count:
        return [
            f"{path} may not be a list of document names: {count:,} names recur in {stretches:,} places. Lines of one name are "
            "drawn together, wherever they stand"
        ]
    return []


def _ascend(names: Sequence[str]) -> bool:
    """Say whether a column counts upwards, from whatever number and in whatever steps."""
    if not all(name.isdecimal() for name in names):
        return False
    numbers = [int(name) for name in names]
    return all(a < b for a, b in pairwise(numbers))
