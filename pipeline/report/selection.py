"""Numbers read off the tables of a report: of the rows that expectations select, in one pass and keeping no others."""

from __future__ import annotations

import codecs
import csv
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pipeline.dataclass import dataclass, field
from pipeline.options import suggest
from pipeline.report.layout.files import Files
from pipeline.study.expectations import COMPARISON, Expectation

__all__ = ["Selected", "select_numbers"]

_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    **{"<=": operator.le, "≤": operator.le, ">=": operator.ge, "≥": operator.ge, "<": operator.lt, ">": operator.gt}
}
_INTERVAL_OF = {"leaderboard": "score", "pairs": "delta"}
"""Of the report's own tables, the column whose interval the plain ``interval`` is."""
_KEPT = 3
"""Rows that are kept of those that fit: one is needed, and of others it is said how they differ."""
_MOST_WORDS = 10_000
"""Words of a column that are remembered to guess what was meant."""
_LONGEST_CELL = 1 << 30
"""Characters: the limit of the module csv is 131,072, and a cell may name many systems."""
_NO_NAMES = {"letters", "reason", "remark", "interval_note", "warning"}
"""Columns of words that tell no row from another."""


@dataclass(frozen=True)
class Selected:
    """What was found of an expectation.

    Parameters
    ----------
    number : float, optional
    interval : dict, optional
        ``lo`` and ``hi``, where the table has an interval of that number.
    reason : str, optional
        Why there is no number, or what is odd about it.
    found : bool
        Whether the table, the columns and the one row that were asked for are there; a row may still have no number.
    """

    number: float | None = None
    interval: dict[str, float] | None = None
    reason: str | None = None
    found: bool = True


def select_numbers(asked: Sequence[Expectation], tables: Files, interval_of: Mapping[str, str]) -> list[Selected]:
    """Return the number of each expectation; each table is read once, a part at a time.

    Parameters
    ----------
    asked : sequence of Expectation
    tables : Files
        CSV files of a report.
    interval_of : mapping of str to str
        By table of an analysis, the column whose interval its plain ``interval`` is: beside another number it would mislead.
    """
    found: list[Selected] = [Selected()] * len(asked)
    names = [name.removesuffix(".csv") for name in tables if name.endswith(".csv")]
    for table in dict.fromkeys(one.table for one in asked):
        places = [place for place, one in enumerate(asked) if one.table == table]
        if table not in names:
            said = _with_guess(f"there is no table {table!r}", table, names)
            some = [Selected(reason=said, found=False)] * len(places)
        else:
            plain = (_INTERVAL_OF | dict(interval_of)).get(table)
            some = _read([asked[place] for place in places], tables.stream(f"{table}.csv"), plain)
        for place, one in zip(places, some, strict=True):
            found[place] = one
    return found


def _with_guess(said: str, word: str, words: Iterable[str]) -> str:
    meant = suggest(word, sorted(words))
    return f"{said}; {meant}" if meant else said


def _read(asked: Sequence[Expectation], parts: Iterable[bytes], plain: str | None) -> list[Selected]:
    """Return the numbers of the expectations of one table; of its plain intervals are those of the column ``plain``."""
    csv.field_size_limit(_LONGEST_CELL)
    rows = csv.reader(_lines(parts))
    number = 0
    try:
        header = next(rows, [])
        collectors = [_Collector(one, header) for one in asked]
        for row in rows:
            number += 1
            for one in collectors:
                one.take(row)
    except (ValueError, IndexError, csv.Error):  # a line cut short, no UTF-8: somebody else wrote there
        return [Selected(reason=f"line {number + 1} of the table {one.table} cannot be read", found=False) for one in asked]
    return [one.conclude(number, plain) for one in collectors]


def _lines(parts: Iterable[bytes]) -> Iterator[str]:
    """Go through lines of UTF-8 that comes in parts; only a newline ends one."""
    decoder, rest = codecs.getincrementaldecoder("utf-8")(), ""
    for part in parts:
        *whole, rest = (rest + decoder.decode(part)).split("\n")
        yield from (line + "\n" for line in whole)
    if rest:
        yield rest


@dataclass
class _Collector:
    """Rows of a table that one expectation selects."""

    asked: Expectation
    header: list[str]
    tests: list[tuple[str, int, Callable[[str], bool]]] = field(init=False)
    unknown: str | None = field(init=False)
    count: int = 0
    kept: list[dict[str, str]] = field(default_factory=list)
    words: dict[str, set[str]] = field(default_factory=dict)
    """By column of words, those that were seen while no row had the word that is wanted."""

    def __post_init__(self) -> None:
        wanted = (*self.asked.where, *([self.asked.column] if self.asked.column else ()))
        self.unknown = next((key for key in wanted if key not in self.header), None)
        known = [] if self.unknown else list(self.asked.where.items())
        self.tests = [(key, self.header.index(key), _test(value)) for key, value in known]
        self.words = {key: set() for key, value in known if isinstance(value, str) and not COMPARISON.fullmatch(value)}

    def take(self, row: Sequence[str]) -> None:
        """Look at a row."""
        if self.unknown:
            return
        held = True
        for key, place, test in self.tests:
            cell = row[place]
            if test(cell):
                self.words.pop(key, None)
            else:
                held = False
                if key in self.words and len(self.words[key]) < _MOST_WORDS:
                    self.words[key].add(cell)
        if held:
            self.count += 1
            if len(self.kept) < _KEPT:
                self.kept.append(dict(zip(self.header, row, strict=True)))

    def conclude(self, rows: int, plain: str | None) -> Selected:
        """Return the number, once all rows were seen."""
        if self.unknown:
            said = f"the table {self.asked.table} has no column {self.unknown!r}"
            return Selected(reason=_with_guess(said, self.unknown, self.header), found=False)
        if self.asked.count:
            return Selected(float(self.count), reason=None if self.count else self._nowhere())
        if self.count != 1:
            left = f"{self.count:,} rows of {rows:,} are left" if self.count else f"no row of {rows:,} is left"
            why = self._differing() if self.count else self._nowhere()
            return Selected(reason=f"{left}, one is needed" + (f"; {why}" if why else ""), found=False)
        return self._number(self.kept[0], plain)

    def _number(self, row: Mapping[str, str], plain: str | None) -> Selected:
        column = str(self.asked.column)
        value = _number(row[column])
        if value is None:
            why = row.get("reason")
            return Selected(reason=f"{column} has no number there" + (f": {why}" if why else ""))
        interval = _interval(row, f"{column}_interval") or (_interval(row, "interval") if plain == column else None)
        return Selected(value, interval)

    def _nowhere(self) -> str | None:
        """Say which words no row has: there may be none such, or they may be misspelt."""
        wanted = {key: str(self.asked.where[key]) for key in self.words}
        return (
            "; ".join(_with_guess(f"no row has the {key} {word!r}", word, self.words[key]) for key, word in wanted.items()) or None
        )

    def _differing(self) -> str | None:
        """Say by which columns of words the rows that are left differ."""
        first, *others = self.kept
        words = [
            key
            for key, cell in first.items()
            if key not in _NO_NAMES and any(row[key] != cell for row in others) and any(_is_word(row[key]) for row in self.kept)
        ]
        return f"they differ in {', '.join(words[:4])}" if words else None


def _test(wanted: Any) -> Callable[[str], bool]:
    """Return what says whether a cell is what is wanted: a text as it stands, a number as one, a comparison as either."""
    if isinstance(wanted, bool):
        return str(wanted).__eq__
    if isinstance(wanted, int | float):
        near = float(wanted)
        return lambda cell: (value := _number(cell)) is not None and math.isclose(value, near, rel_tol=1e-12)
    compared = COMPARISON.fullmatch(wanted)
    if compared is None:
        return str(wanted).__eq__
    compare, limit = _OPERATORS[compared[1]], float(compared[2])
    return lambda cell: cell == wanted or ((value := _number(cell)) is not None and compare(value, limit))


def _number(cell: str) -> float | None:
    """Return the finite number that a cell holds, if it does."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _is_word(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return bool(cell)
    return False


def _interval(row: Mapping[str, str], prefix: str) -> dict[str, float] | None:
    low, high = (_number(row.get(f"{prefix}.{end}", "")) for end in ("lo", "hi"))
    return None if low is None or high is None else {"lo": low, "hi": high}
