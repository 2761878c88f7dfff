"""Plain text, one segment per line, with one or several files of references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.errors import DataError
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._files import Lines, number_lines, read_lines, with_warnings, write_lines

__all__ = ["TextReader"]

_TABLES = {".csv", ".tsv"}


class TextReader(Reader):
    """One segment a line; the line number is the item's identifier.

    Several references of a segment stand in as many files, or in one file with tabs between them. A reference that is blank where
    another of the segment is not is one that is not there.

    Parameters
    ----------
    split_references : bool
        Whether the lines of reference files are split at tabs. A segment may have fewer references than another.
    """

    name: ClassVar[str] = "text"
    endings: ClassVar[tuple[str, ...]] = (
        ".txt",
        ".text",
        ".out",
        ".output",
        ".hyp",
        ".hyps",
        ".hypo",
        ".pred",
        ".ref",
        ".tok",
        ".detok",
    )
    targets: ClassVar[tuple[str, ...]] = ("text",)
    compares_with: Literal["references", "gold", "nothing"] = "references"
    usual_metric: str | None = "bleu"
    blank: str = ""

    def __init__(self, *, split_references: bool = False) -> None:
        if not isinstance(split_references, bool):
            raise ValueError(f"option 'split_references' is true or false, not {split_references!r}")
        self.split_references = split_references
        self._told: list[str] = []

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take any text that references go with."""
        return Recognised(0.3, "lines of text, beside references") if sample.references and any(sample.lines) else None

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return the references as columns ``reference.0``, ``reference.1``, …; None without references."""
        if not paths:
            return None
        references = [self._read(path) for path in paths]
        first = references[0]
        for other in references[1:]:
            if len(other.values) != len(first.values):
                raise DataError.of(
                    "P215",
                    f"references have different numbers of lines: {len(first.values)} in {first.source}, "
                    f"{len(other.values)} in {other.source}",
                    where=other.source,
                    help="every reference file has one line for each segment; a missing reference is an empty line",
                )
        columns = [column for lines in references for column in self._columns(lines)]
        if len(columns) > 1:
            self._tell_missing(columns, first.source)
        return _number({f"reference.{k}": column for k, column in enumerate(columns)}, first.source)

    def _columns(self, lines: Lines) -> list[tuple[str, ...]]:
        """Return the references of a file: one, or as many as its widest line has between tabs."""
        if not self.split_references:
            tabs = sum("\t" in line for line in lines.values)
            if tabs == len(lines.values):
                told = "to take what is between tabs for references, say `format: {name: text, split_references: true}`"
                self._told.append(f"{lines.source}: every line has a tab; {told}")
            return [lines.values]
        rows = [line.split("\t") for line in lines.values]
        most = max(map(len, rows))
        return [tuple(row[k] if k < len(row) else "" for row in rows) for k in range(most)]

    def _tell_missing(self, columns: Sequence[Sequence[str]], source: str) -> None:
        counts = [sum(bool(value.strip()) for value in row) for row in zip(*columns, strict=True)]
        fewer = sum(0 < count < len(columns) for count in counts)
        if fewer:
            told = f"{fewer} of {len(counts)} segments have fewer references than {len(columns)}: blank ones are left out"
            self._told.append(f"{source}: {told}")

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the segments of one system as the column ``text``."""
        if system is None:
            named = 'write the place of the name into the path, `outputs: "systems/{system}.txt"`, or map names to paths'
            raise DataError.of(
                "P219",
                "a text file holds the output of one system, and none is named",
                where=str(path),
                help="write `format: scores`, if it is a table of scores" if path.suffix in _TABLES else named,
            )
        lines = self._read(path)
        return {system: _number({"text": lines.values}, lines.source)}

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write one segment a line."""
        write_lines(path, columns.get("text", [self.blank] * len(ids)))

    def _read(self, path: Path) -> Lines:
        lines = read_lines(path)
        self._told.extend(lines.warnings)
        return lines


def _number(columns: Mapping[str, Sequence[str]], source: str) -> Items:
    ids, lines = number_lines(len(next(iter(columns.values()))))
    return Items(ids, columns, source, lines)
