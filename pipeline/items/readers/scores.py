"""Scores in tables. This module reads CSV and TSV with a number for each item: wide, long, or one file a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.errors import DataError, Problem
from pipeline.interfaces import FileSample, Items, Recognised
from pipeline.items.readers._arrow import is_columnar, read_columnar, recognise_columnar
from pipeline.items.readers._files import read_lines
from pipeline.items.readers._layouts import check_layout, split_systems
from pipeline.items.readers._tables import NUMBER, Table, find_delimiter, is_number, parse_table, refuse, write_table

__all__ = ["ScoreReader"]

_MISSING = frozenset({"", "-", "nan", "na", "n/a", "none", "null", "inf", "+inf", "-inf", "infinity", "-infinity", "#n/a"})


class ScoreReader:
    """CSV or TSV of scores; the delimiter is found in the header.

    *wide*: one column for each system. *long*: columns item, system and one or more of numbers. *one file a system*: an item
    column and columns of numbers. Values stay the strings of the file, so that its decimals can be counted; identifiers and
    names are never read as numbers, and ``NA`` is a name like any other. Parquet, Arrow and Feather files are tables.

    Parameters
    ----------
    layout : str
        How a table of all systems is laid out: *wide*, *long*, *rows* (a row each system, a column each item), or *auto*: by its
        columns of systems and items.

    Attributes
    ----------
    warnings : list of str
        What was odd about the files read so far.
    """

    name: ClassVar[str] = "scores"
    endings: ClassVar[tuple[str, ...]] = (".csv", ".tsv", ".score", ".scores", ".parquet", ".arrow", ".feather")
    targets: ClassVar[tuple[str, ...]] = ()
    compares_with: ClassVar[Literal["references", "gold", "nothing"]] = "nothing"
    usual_metric: ClassVar[str | None] = "mean"
    holds_systems: ClassVar[bool] = True
    blank: ClassVar[str] = "0"

    def __init__(self, *, layout: str = "auto") -> None:
        self.layout = check_layout(layout)
        self.warnings: list[str] = []

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take a table with numbers in it, where nothing is to be compared with a gold."""
        if sample.gold or sample.references:
            return None
        columnar = recognise_columnar(sample, "with nothing to compare it with")
        if columnar is not None or len(sample.lines) < 2:
            return columnar
        delimiter = find_delimiter(sample.lines[0])
        rows = [line.split(delimiter) for line in sample.lines[:2]] if delimiter else []
        if rows and len(rows[0]) == len(rows[1]) and any(map(is_number, rows[1])) and not all(map(is_number, rows[0])):
            return Recognised(0.5, f"a table of {len(rows[0])} columns with numbers below its header")
        return None

    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Give None: scores are already compared with the gold."""
        if paths:
            raise DataError.of(
                "P219", "scores need no gold and no references", where=str(paths[0]), help="leave it out of the study"
            )
        return None

    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Give the numbers of each system: the column ``score`` of wide tables, else the columns of the file."""
        columns: Mapping[str, str] = options.get("columns", {})
        table = self._read(path)
        return split_systems(table, system=system, columns=columns, choose=self._choose, value="score", layout=self.layout)

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write a table of identifiers and numbers, of one system."""
        write_table(path, {"item": ids, **columns})

    def _read(self, path: Path) -> Table:
        if is_columnar(path):
            table = read_columnar(path)
        else:
            lines = read_lines(path)
            self.warnings.extend(lines.warnings)
            table = parse_table(lines)
        self.warnings.extend(table.warnings)
        return table

    def _choose(self, table: Table, others: Sequence[str]) -> list[str]:
        """Take the columns of numbers; one that has text from top to bottom is something else."""
        chosen = []
        problems: list[Problem] = []
        for name in others:
            values = table.column(name)
            distinct = set(values)  # of ten thousand items that are right or wrong, two are looked at
            if all(_is_text(value) for value in distinct):
                self.warnings.append(f"{table.source}: the column '{name}' holds text, and was left out")
                continue
            chosen.append(name)
            wrong = {value for value in distinct if not is_number(value)}
            problems.extend(
                Problem(
                    "P210",
                    f"column '{name}' has {value!r}, which is not a finite number",
                    f"{table.source}:{line}:{name}",
                    "a score that is missing must be decided upon: leave the row out and set `missing:`, or write a number",
                )
                for value, line in zip(values if wrong else (), table.lines if wrong else (), strict=True)
                if value in wrong
            )
        refuse(problems)
        if not chosen:
            raise DataError.of("P211", "the table has no column of numbers", where=f"{table.source}:1")
        return chosen


def _is_text(value: str) -> bool:
    text = value.strip()
    return text.lower() not in _MISSING and NUMBER.fullmatch(text) is None
