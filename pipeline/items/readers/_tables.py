"""Tables in CSV and TSV: rows of strings with their line numbers, and columns found by role."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pipeline.dataclass import dataclass
from pipeline.errors import DataError, Problem, name_some
from pipeline.items.readers._files import Lines, write_lines
from pipeline.options import suggest

__all__ = [
    "NO_ROWS",
    "NUMBER",
    "Head",
    "Table",
    "find_column",
    "find_delimiter",
    "find_head",
    "is_number",
    "leave_out_blank",
    "parse_header",
    "parse_table",
    "refuse",
    "usual_names",
    "write_table",
]

_USUAL: dict[str, tuple[str, ...]] = {
    "item": ("item", "id", "item_id", "segment"),
    "system": ("system",),
    "document": ("document",),
    "label": ("label",),
}
_MOST_SHOWN = 10
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
"""A number as tables write them: no words, no underscores."""

_QUOTED = re.compile(r'(?:^|(?<=[\t,;]))"(?:[^"]|"")*"(?=[\t,;]|$)')
"""A whole field in quotes; quotes within a field quote nothing."""

_SEPARATOR = re.compile(r'("?)sep=([^\w"]|_)\1', re.IGNORECASE)
"""A first line that names what separates fields, which Excel reads so and does not show."""


@dataclass(frozen=True)
class Table:
    """A header, rows of strings, the 1-based line on which each row begins, what was odd, and what stands between fields."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    source: str
    warnings: tuple[str, ...] = ()
    delimiter: str | None = None

    def column(self, name: str) -> tuple[str, ...]:
        """Return the values of a column from top to bottom."""
        place = self.header.index(name)
        return tuple([row[place] for row in self.rows])


class Head(NamedTuple):
    """The header of a table: its place among the lines, the line itself, and what separates fields; None for a single column."""

    place: int
    line: str
    delimiter: str | None

    def names(self) -> tuple[str, ...]:
        r"""Return the names of the columns, without quotes around them; with all that is there where these are not closed.

        Examples
        --------
        >>> Head(0, '"id"\t"label"', "\t").names(), Head(0, 'id, label', ",").names()
        (('id', 'label'), ('id', 'label'))
        """
        try:
            return _split([self.line], self._replace(place=0), "")[0][1]
        except DataError:
            return tuple(self.line.split(self.delimiter))


NO_ROWS = "write a row for each item below the header"
_FIELDS = "give every row as many fields as the header; a field with a comma in it needs double quotes"


def find_delimiter(header: str) -> str | None:
    """Choose tab, comma or semicolon, the first that is in the header and not only in quotes; None for a single column.

    Examples
    --------
    >>> find_delimiter("item,a"), find_delimiter('item;a;"b, the second"'), find_delimiter("score")
    (',', ';', None)
    """
    outside = _QUOTED.sub("", header)
    return next((delimiter for delimiter in "\t,;" if delimiter in outside), None)


def find_head(lines: Sequence[str]) -> Head:
    """Return the header of a table: the first line, or the second where the first names the separator, as Excel reads it.

    Examples
    --------
    >>> find_head(["sep=;", "item;A, the first;B"]).delimiter, find_head(["item,a"]).place
    (';', 0)
    """
    named = _SEPARATOR.fullmatch(lines[0]) if len(lines) > 1 else None
    return Head(0, lines[0], find_delimiter(lines[0])) if named is None else Head(1, lines[1], named[2])


def parse_table(lines: Lines) -> Table:
    """Split lines into a header and rows.

    Fields may stand in double quotes; where tabs separate them, only if all names of the header do. A first line ``sep=;`` names
    the separator. A blank behind each separator of the header is no part of a name or a field. An empty line is a row of empty
    fields (`leave_out_blank`). Such rows at the end, as spreadsheets leave them behind, are left out, and told where they are more
    than empty lines. Values stay strings: ``1.0``, ``NA`` and ``007`` are what the file says.

    Raises
    ------
    DataError
        P211 a column name twice; P212 rows with another number of fields, or no rows at all.
    """
    values = list(lines.values)
    while len(values) > 1 and not values[-1].strip():
        values.pop()
    head = find_head(values)
    (first, header), *body = _split(values, head, lines.source)
    nothing = ("",) * len(header)
    body = [(line, row if len(row) > 1 or "".join(row).strip() else nothing) for line, row in body]
    last = len(body)
    while last and len(body[last - 1][1]) > 1 and not any(map(str.strip, body[last - 1][1])):
        last -= 1
    blank, body = len(body) - last, body[:last]
    repeated = [name for name, times in Counter(header).items() if times > 1] if len(set(header)) < len(header) else []
    if repeated:
        message = f"the header names a column twice: {', '.join(map(repr, repeated))}"
        raise DataError.of("P211", message, where=f"{lines.source}:{first}", help="give each column a name of its own")
    if not body:
        raise DataError.of("P212", "the table has a header and no rows", where=lines.source, help=NO_ROWS)
    problems = (
        Problem("P212", f"the row has {len(row)} fields, the header has {len(header)}", f"{lines.source}:{line}", _FIELDS)
        for line, row in body
        if len(row) != len(header)
    )
    refuse(problems)
    told = (f"{lines.source}: the last {blank} row{'s' * (blank > 1)} of empty fields were left out",) if blank else ()
    rows, numbers = tuple(row for _, row in body), tuple(line for line, _ in body)
    return Table(header, rows, numbers, lines.source, told, head.delimiter)


def parse_header(lines: Lines) -> tuple[str, ...]:
    """Split the header alone; the rest may be no rows of a table."""
    head = find_head(lines.values)
    return _split(lines.values[: head.place + 1], head, lines.source)[0][1]


def leave_out_blank(table: Table, names_items: Callable[[Table], bool] = lambda table: True) -> Table:
    """Return a table without the rows in which all fields are empty, where what is left names its items: such a row is none.

    Without names a row may stand for the item at its place, which one system did not answer: leaving it out would pair all rows
    below it with those of other items in another file.
    """
    blank = {k for k, row in enumerate(table.rows) if not (row[0].strip() or any(map(str.strip, row)))}
    if not blank or len(table.header) < 2 or len(blank) == len(table.rows):
        return table
    kept = [k for k in range(len(table.rows)) if k not in blank]
    rows, lines = tuple(table.rows[k] for k in kept), tuple(table.lines[k] for k in kept)
    left = replace(table, rows=rows, lines=lines)
    if not names_items(left):
        return table
    dropped = [str(table.lines[k]) for k in sorted(blank)]
    told = f"line {dropped[0]}, which is blank, was left out"
    if len(dropped) > 1:
        told = f"{len(dropped)} blank lines were left out: {name_some(dropped)}"
    return replace(left, warnings=(*table.warnings, f"{table.source}: {told}"))


def write_table(path: Path, columns: Mapping[str, Sequence[str]]) -> None:
    """Write columns of strings as CSV, every value in quotes: `parse_table` reads them back, whatever they hold but line feeds.

    Raises
    ------
    ValueError
        Where a value holds a line feed, or columns differ in length.
    """
    rows = [tuple(columns), *zip(*columns.values(), strict=True)]
    write_lines(path, (",".join('"' + value.replace('"', '""') + '"' for value in row) for row in rows))


def find_column(role: str, header: Sequence[str], columns: Mapping[str, str], source: str) -> str | None:
    """Return the name of the column that has a role: the one the study names, which must be there, else a usual one."""
    named = columns.get(role)
    if named is None:
        return next((name for name in _USUAL[role] if name in header), None)
    if named in header:
        return named
    raise DataError.of(
        "P211",
        f"there is no column '{named}' for the {role}; the header has {', '.join(map(repr, header))}",
        where=f"{source}:1",
        help=suggest(named, header, otherwise=f"name it in the study: columns: {{{role}: …}}"),
    )


def spell(name: str) -> str:
    """Return the name of a column as usual names are written.

    Examples
    --------
    >>> spell("Question ID"), spell("question-id")
    ('question_id', 'question_id')
    """
    return re.sub(r"[ -]+", "_", name.strip().lower())


def usual_names(role: str) -> tuple[str, ...]:
    """Return the names under which columns of a role are known."""
    return _USUAL[role]


def is_number(value: str) -> bool:
    """Tell whether a field of a table is a finite number."""
    text = value.strip()
    return NUMBER.fullmatch(text) is not None and abs(float(text)) != float("inf")


def refuse(problems: Iterable[Problem]) -> None:
    """Raise the first problems of a kind together, and say how many more there are."""
    found = list(problems)
    if not found:
        return
    if len(found) > _MOST_SHOWN:
        last = found[_MOST_SHOWN - 1]
        more = Problem(
            last.code, last.message, last.where, last.help, f"and {len(found) - _MOST_SHOWN} more of this kind in the file"
        )
        found = [*found[: _MOST_SHOWN - 1], more]
    raise DataError(*found)


_Rows = Iterator[tuple[int, tuple[str, ...]]]


def _split(values: Sequence[str], head: Head, source: str) -> list[tuple[int, tuple[str, ...]]]:
    """Return the number and the fields of the header and of every line below it."""
    below, first = values[head.place :], head.place + 1
    if head.delimiter is None:
        return [(line, (value,)) for line, value in enumerate(below, start=first)]
    if head.delimiter == "\t" and not _all_quoted(head.line):
        return [(line, tuple(value.split("\t"))) for line, value in enumerate(below, start=first)]
    return list(_split_quoted(below, head.delimiter, first, source, spaced=_is_spaced(head)))


def _all_quoted(header: str) -> bool:
    """Tell whether all names between tabs stand in quotes, as R writes them: then quotes are no part of what is in them."""
    return all(re.fullmatch('"(?:[^"]|"")*"', name) for name in header.split("\t"))


def _is_spaced(head: Head) -> bool:
    """Tell whether a blank follows every separator of a header, as where a table is typed: it is then no part of a field."""
    return all(part.startswith(" ") for part in head.line.split(head.delimiter)[1:])


def _split_quoted(values: Sequence[str], delimiter: str, first: int, source: str, *, spaced: bool) -> _Rows:
    reader = csv.reader((value + "\n" for value in values), delimiter=delimiter, strict=True, skipinitialspace=spaced)
    while True:
        line = reader.line_num + first
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as exc:
            raise DataError.of(
                "P212", f"the row cannot be split: {exc}", where=f"{source}:{line}", help="check its quotes"
            ) from exc
        yield line, tuple(row)
