"""Tables of scores in CSV and TSV, a number for each item: wide, long, or one file per system.

Their numbers are written plainly, as true and false or yes and no, in percent, or with decimal commas: `_spelling.spell` says
which, from all values of a column together. Where the study says what becomes of missing items, one without a number is missing.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.errors import DataError, PipelineError, Problem
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._files import read_lines, refuse_gold, with_warnings
from pipeline.items.readers._layouts import check_layout, split_systems
from pipeline.items.readers._roles import find_roles
from pipeline.items.readers._sets import check_rows, choose_rows, find_set_column, list_sets, refuse_several_sets
from pipeline.items.readers._spelling import EMPTY, Spelling, is_numeral, spell
from pipeline.items.readers._tables import Table, find_head, is_number, leave_out_blank, parse_table, refuse, write_table
from pipeline.items.readers._typed_tables import SPLIT_ENDING, begins_json, read_typed, recognise_typed

__all__ = ["ScoreReader"]


def _lacks_header(header: Sequence[str]) -> bool:
    """Tell whether a header looks like a row of data: numbers behind the name of an item.

    Examples
    --------
    >>> _lacks_header(["q1", "0", "1"]), _lacks_header(["item", "2019", "2020"]), _lacks_header(["item", "a"])
    (True, False, False)
    """
    return len(header) > 1 and any(map(str.isdigit, header[0])) and all(map(is_number, header[1:]))


def _fields(line: str, delimiter: str) -> list[str]:
    """Return the fields of a line, where a name in quotes may hold the delimiter.

    Examples
    --------
    >>> _fields('item,one,"two, the second"', ",")
    ['item', 'one', 'two, the second']
    """
    split = line.split(delimiter) if delimiter == "\t" else next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
    return [field.strip().strip('"') for field in split]


def _first_values(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Return the header and the first row of a table; where that has an empty cell, what stands first in the column below it.

    Examples
    --------
    >>> _first_values(["item,system,score", "q1,a,", "q1,b,0.5"], ",")
    [['item', 'system', 'score'], ['q1', 'a', '0.5']]
    """
    header, first = (_fields(line, delimiter) for line in lines[:2])
    for line in lines[2:]:
        lacking = [cell.lower() in EMPTY for cell in first]
        if not any(lacking):
            break
        row = _fields(line, delimiter)
        if len(row) == len(first):
            first = [below if lacks else here for here, below, lacks in zip(first, row, lacking, strict=True)]
    return [header, first]


_SUMMARIES = frozenset({"mean", "average", "avg", "total", "sum", "overall", "all", "macro avg", "micro avg"})
"""What a row below the items is called that sums them up."""
_COMMA = "write a decimal point, or separate the fields of the table by semicolons"
_NO_NUMBERS = "give a column of scores to each system; labels need a gold file to be compared with"
_DECIDE = "write a number, or say what becomes of items without one: `missing: drop` or `missing: zero`"
_LEAVE = "write numbers, or leave the column out: it has none"
_WRITE = "write a number"


class ScoreReader(Reader):
    """CSV or TSV of scores; the delimiter is found in the header, or named by a line ``sep=;`` above it.

    *wide*: one column for each system. *long*: columns item, system and one or more of numbers. *one file a system*: an item
    column and columns of numbers. Values stay the strings of the file, so that its decimals can be counted; identifiers and
    names are never read as numbers, and ``NA`` is a name like any other. Parquet, Arrow and Feather files are tables, and so are
    objects in JSON, one for each row.

    Parameters
    ----------
    layout : str
        How a table of all systems is laid out: *wide*, *long*, *rows* (a row each system, a column each item), or *auto*: by its
        columns of systems and items.
    rows : mapping, optional
        The rows to take of a table of several test sets, by what a column has in them: ``{task: arc}``.
    """

    name: ClassVar[str] = "scores"
    endings: ClassVar[tuple[str, ...]] = (
        ".csv", ".tsv", ".score", ".scores", ".parquet", ".arrow", ".feather", SPLIT_ENDING, ".json", ".jsonl", ".ndjson",
    )  # fmt: skip
    targets: ClassVar[tuple[str, ...]] = ()
    compares_with: Literal["references", "gold", "nothing"] = "nothing"
    usual_metric: str | None = "mean"
    holds_systems: ClassVar[bool] = True
    blank: str = "0"

    def __init__(self, *, layout: str = "auto", rows: Mapping[str, Any] | None = None) -> None:
        self.layout = check_layout(layout)
        self.rows = check_rows(rows)
        self._told: list[str] = []
        self._percent: dict[str, tuple[bool, str]] = {}  # by column, what the first file of one system had, and which it was

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take a table with numbers in it, where nothing is to be compared with a gold."""
        if sample.gold or sample.references:
            return None
        typed = recognise_typed(sample, "with nothing to compare it with")
        if typed is not None or len(sample.lines) < 2 or begins_json(sample.head):
            return typed
        head = find_head(sample.lines)
        below = [line for line in sample.lines[head.place :] if line.strip()]
        rows = _first_values(below, head.delimiter) if head.delimiter and len(below) > 1 else []
        if not rows or len(rows[0]) != len(rows[1]) or all(map(is_number, rows[0])):
            return None
        plain = [field for field in rows[1] if is_number(field)]
        fields = dict(zip(*rows, strict=True))
        # Where a comma separates fields, decimal commas are refused when the table is read: the advice is about numbers.
        words = [name for name, field in fields.items() if not is_number(field) and is_numeral(field, commas=True)]
        if words == ["label"] and len(fields) == 2:
            return None  # under this name yes and no are labels, whose gold was forgotten
        if not plain and not words:
            return None
        what = "numbers" if plain else f"{fields[words[0]]} and the like"
        return Recognised(0.5, f"a table of {len(rows[0])} columns with {what} below its header")

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return None: scores are already compared with the gold."""
        refuse_gold(paths, "scores need no gold and no references")
        return None

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the numbers of each system: the column ``score`` of wide tables, else the columns of the file."""
        columns: Mapping[str, str] = options.get("columns", {})
        lenient = options.get("missing", "error") != "error"
        table = self._read(path, columns, system=system)
        if _lacks_header(table.header):
            shown = ", ".join(map(repr, table.header[:3])) + ", …" * (len(table.header) > 3)
            self._told.append(f"{table.source}: the first line, {shown}, is read as the header: if it is data, put names above it")
        if last := _name_of_summary(table):
            self._told.append(
                f"{table.source}: the last row is called {last!r}, and is an item: if it sums up the others, delete it"
            )
        spelled: dict[str, Spelling] = {}

        def convert(of: Table, chosen: Sequence[str], alike: bool) -> Table:
            self._refuse_scales(of, chosen, spelled, system=system, alike=alike)
            return _write_plainly(of, {name: spelled[name].numbers for name in chosen if spelled[name].numbers})

        return split_systems(
            table,
            system=system,
            columns=columns,
            choose=lambda of, others: self._choose(of, others, spelled, lenient=lenient),
            value="score",
            leave_out=list(self.rows),
            layout=self.layout,
            convert=convert,
            models=True,
            empty=(lambda name: _empty(spelled[name])) if lenient else None,
            check=refuse_several_sets,
        )

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write a table of identifiers and numbers, of one system."""
        write_table(path, {"item": ids, **columns})

    def _read(self, path: Path, columns: Mapping[str, str], *, system: str | None) -> Table:
        table = read_typed(path)
        if table is None:
            lines = read_lines(path)
            self._told.extend(lines.warnings)
            table = parse_table(lines)
        table = leave_out_blank(table, lambda left: self._names_items(left, columns, system=system))
        self._told.extend(table.warnings)
        return choose_rows(table, self.rows)

    def _names_items(self, table: Table, columns: Mapping[str, str], *, system: str | None) -> bool:
        """Tell whether a column has the names of rows: those of items, or of systems where each has a row."""
        asked: dict[str, Any] = {"columns": columns, "leave_out": list(self.rows), "layout": self.layout}
        by_row = self.layout == "rows" and system is None
        return by_row or find_roles(table, system=system, models=True, **asked).item is not None

    def find_sets(self, path: Path, columns: Mapping[str, str]) -> tuple[str, list[str]] | None:
        """Return the column of a table that names several test sets, and these; None where it is of one."""
        self._told = []
        table = self._read(path, columns, system=None)
        roles = find_roles(table, system=None, columns=columns, leave_out=(), layout=self.layout, models=True)
        column = find_set_column(table, roles)
        return None if column is None else (column, list_sets(table, column))

    def _choose(self, table: Table, others: Sequence[str], spelled: dict[str, Spelling], *, lenient: bool) -> list[str]:
        """Take the columns of numbers, and note how they are written; one that has text from top to bottom is something else."""
        chosen = []
        problems: list[Problem] = []
        with_commas: dict[str, Sequence[str]] = {}  # decimal commas, or spans and lists of numbers
        for name in others:
            values = table.column(name)
            distinct = set(values)  # of ten thousand items that are right or wrong, two are looked at
            odd = {value for value in distinct if not is_number(value)}
            spelling = spell(distinct, odd, commas=table.delimiter == ";")
            if spelling.kind == "other" and any(map(str.strip, odd)) and all(is_numeral(value, commas=True) for value in odd):
                with_commas[name] = values
                continue
            if spelling.kind == "other":
                self._told.append(f"{table.source}: the column '{name}' holds text, and was left out")
                continue
            chosen.append(name)
            spelled[name] = spelling
            allowed = _empty(spelling) if lenient and spelling.wrong < distinct else frozenset()
            problems.extend(_doubts(table, name, values, spelling, allowed))
        for name, written in with_commas.items():
            if chosen and table.delimiter != ",":  # where nobody quotes them, they are more often spans, or lists
                self._told.append(f"{table.source}: the column '{name}' holds commas within numbers, and was left out")
            else:
                problems.append(_refuse_commas(table, name, written))
        refuse(problems)
        if not chosen:
            raise DataError.of("P211", "the table has no column of numbers", where=f"{table.source}:1", help=_NO_NUMBERS)
        return chosen

    def _refuse_scales(
        self, table: Table, chosen: Sequence[str], spelled: Mapping[str, Spelling], *, system: str | None, alike: bool
    ) -> None:
        """Refuse percent beside plain numbers of one quantity, in a table and in files of one column, and two decimal marks."""
        marks = {spelled[name].mark: name for name in chosen if spelled[name].mark}
        if len(marks) > 1:
            raise DataError.of(
                "P277",
                f"the column '{marks['comma']}' has decimal commas, '{marks['point']}' decimal points",
                where=f"{table.source}:1",
                help="write all numbers of a table with the same decimal mark",
            )
        kinds = {spelled[name].kind: name for name in chosen}
        if alike and len(kinds) > 1 and "percent" in kinds:
            other = next(name for kind, name in kinds.items() if kind != "percent")
            raise _two_scales(f"the column '{kinds['percent']}'", f"'{other}'", f"{table.source}:1")
        if system is None:
            return
        for name in chosen:
            key = "" if len(chosen) == 1 else name  # the only column is compared whatever its name
            percent = spelled[name].kind == "percent"
            before, source = self._percent.setdefault(key, (percent, table.source))
            if before != percent:
                files = (table.source, source) if percent else (source, table.source)
                raise _two_scales(f"the column '{name}' of {files[0]}", files[1], table.source)


def _two_scales(percent: str, other: str, where: str) -> PipelineError:
    message = f"{percent} is in percent, and {other} is not"
    return DataError.of("P277", message, where=where, help="write the numbers of all systems on the same scale")


def _empty(spelling: Spelling) -> frozenset[str]:
    """Return what in a column says that there is no number, and not that it is infinite, or something else."""
    return frozenset(value for value in spelling.wrong if value.strip().lower() in EMPTY)


def _name_of_summary(table: Table) -> str | None:
    """Return what the last row is called, where it seems to sum up the others: no other row has that name."""
    last = [cell.strip() for cell in table.rows[-1]]
    place = next((place for place, cell in enumerate(last) if cell.casefold() in _SUMMARIES), None)
    if place is None or any(row[place].strip() == last[place] for row in table.rows[:-1]):
        return None
    return last[place]


def _refuse_commas(table: Table, name: str, values: Sequence[str]) -> Problem:
    """Refuse a column of decimal commas, in a table where commas may mean something else."""
    wrong = [(value, line) for value, line in zip(values, table.lines, strict=True) if not is_number(value)]
    (value, line), more = wrong[0], f" ({len(wrong) - 1} more rows have such)" if len(wrong) > 1 else ""
    message = f"column '{name}' has {value!r}, which is not a finite number{more}"
    return Problem("P210", message, f"{table.source}:{line}:{name}", _COMMA)


def _doubts(table: Table, name: str, values: Sequence[str], spelling: Spelling, allowed: Collection[str]) -> Iterator[Problem]:
    """Yield what of a column is not a number, or is written in another way than the rest of it."""
    if not spelling.mixed and spelling.wrong <= set(allowed):
        return
    decide = _DECIDE if set(values) > spelling.wrong else _LEAVE
    for value, line in zip(values, table.lines, strict=True):
        place = f"{table.source}:{line}:{name}"
        if value in spelling.wrong and value not in allowed:
            comma = is_numeral(value, commas=True)
            yield Problem(
                "P210",
                f"column '{name}' has {value!r}, which is not a finite number" if value else f"column '{name}' has no value",
                place,
                _COMMA if comma else decide if value in _empty(spelling) else _WRITE,
            )
        elif value in spelling.rarer:
            yield Problem("P276", f"column '{name}' mixes {spelling.mixed}: {value!r}", place, "write all of them in one way")


def _write_plainly(table: Table, numbers: Mapping[str, Mapping[str, str]]) -> Table:
    """Return a table with plain numbers in place of what its columns have."""
    if not numbers:
        return table
    plain = [numbers.get(name, {}) for name in table.header]
    rows = tuple(tuple(known.get(value, value) for known, value in zip(plain, row, strict=True)) for row in table.rows)
    return replace(table, rows=rows)
