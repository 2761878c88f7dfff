"""Scores in tables. This module reads CSV and TSV with a number for each item: wide, long, or one file a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pipeline.errors import DataError, Problem
from pipeline.interfaces import Items
from pipeline.items.readers._files import read_lines
from pipeline.items.readers._layouts import split_systems
from pipeline.items.readers._tables import NUMBER, Table, is_number, parse_table, refuse, write_table

__all__ = ["ScoreReader"]

_MISSING = frozenset({"", "-", "nan", "na", "n/a", "none", "null", "inf", "+inf", "-inf", "infinity", "-infinity", "#n/a"})


class ScoreReader:
    """CSV or TSV of scores; the delimiter is found in the header.

    *wide*: one column for each system. *long*: columns item, system and one or more of numbers. *one file a system*: an item
    column and columns of numbers. Values stay the strings of the file, so that its decimals can be counted; identifiers and
    names are never read as numbers, and ``NA`` is a name like any other.

    Attributes
    ----------
    warnings : list of str
        What was odd about the files read so far.
    """

    name: ClassVar[str] = "scores"
    targets: ClassVar[tuple[str, ...]] = ()
    blank: ClassVar[str] = "0"

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Give None: scores are already compared with the gold."""
        if paths:
            raise DataError.of(
                "P219", "scores need no gold and no references", where=str(paths[0]), help="leave it out of the study"
            )
        return None

    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Give the numbers of each system: the column ``score`` of wide tables, else the columns of the file."""
        lines = read_lines(path)
        self.warnings.extend(lines.warnings)
        table = parse_table(lines)
        return split_systems(table, system=system, columns=options.get("columns", {}), choose=self._choose, value="score")

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write a table of identifiers and numbers, of one system."""
        write_table(path, {"item": ids, **columns})

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
