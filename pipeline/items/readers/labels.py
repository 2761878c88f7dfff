"""Class labels. This module reads one label a line, or a table with identifiers and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pipeline.errors import DataError
from pipeline.interfaces import Items
from pipeline.items.readers._files import Lines, read_lines
from pipeline.items.readers._join import join_items
from pipeline.items.readers._layouts import split_systems
from pipeline.items.readers._tables import Table, find_column, find_delimiter, parse_table, write_table

__all__ = ["LabelReader"]


class LabelReader:
    """One label a line, or CSV/TSV with the columns ``id`` and ``label``; gold and outputs alike.

    A file is a table where its first line has several fields, and one of them is the item or the label column. A table of all
    systems has a system column, or one column for each system; the gold may be another column of it.

    Attributes
    ----------
    warnings : list of str
        What was odd about the files read so far.
    """

    name: ClassVar[str] = "labels"
    targets: ClassVar[tuple[str, ...]] = ("label",)
    blank: ClassVar[str] = ""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Give the gold labels as the column ``label``, those of several files one after the other; None without a gold file."""
        return join_items([self._read_one(path, "gold", options) for path in paths]) if paths else None

    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Give the labels of one system, or of all systems in a table, as the column ``label``."""
        if system is not None:
            return {system: self._read_one(path, system, options)}
        lines = self._read(path)
        if find_delimiter(lines.values[0]) is None:
            raise DataError.of(
                "P219",
                "the file has one column, and no system is named",
                where=str(path),
                help='write the place of the name into the path, `outputs: "labels/{system}.txt"`, or give a table of all systems',
            )
        table = parse_table(lines)
        columns: Mapping[str, str] = options.get("columns", {})
        gold = columns.get("label")
        long = find_column("system", table.header, columns, table.source) is not None
        leave_out = [gold] if gold is not None and gold in table.header and not long else []

        def choose(of: Table, others: Sequence[str]) -> list[str]:
            return _label_column(of, columns) if long else list(others)

        return split_systems(table, system=None, columns=columns, choose=choose, value="label", leave_out=leave_out, rename=True)

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write a table of identifiers and labels, and of all else that is known of the items."""
        labels = columns.get("label", [self.blank] * len(ids))
        others = {name: values for name, values in columns.items() if name not in {"id", "label"}}
        write_table(path, {"id": ids, "label": [str(label) for label in labels], **others})

    def _read_one(self, path: Path, name: str, options: Mapping[str, Any]) -> Items:
        lines = self._read(path)
        columns: Mapping[str, str] = options.get("columns", {})
        if not _is_table(lines, columns):
            numbers = tuple(range(1, len(lines.values) + 1))
            return Items(tuple(map(str, numbers)), {"label": lines.values}, lines.source, numbers)
        table = parse_table(lines)
        chosen = split_systems(
            table, system=name, columns=columns, choose=lambda of, others: _label_column(of, columns), value="label", rename=True
        )
        return chosen[name]

    def _read(self, path: Path) -> Lines:
        lines = read_lines(path)
        self.warnings.extend(lines.warnings)
        return lines


def _is_table(lines: Lines, columns: Mapping[str, str]) -> bool:
    delimiter = find_delimiter(lines.values[0])
    if delimiter is None:
        return False
    fields = [field.strip('"') for field in lines.values[0].split(delimiter)]
    wanted = {columns.get("label", "label"), columns.get("item", "id"), "id", "item"}
    return not wanted.isdisjoint(fields)


def _label_column(table: Table, columns: Mapping[str, str]) -> list[str]:
    name = find_column("label", table.header, columns, table.source)
    if name is None:
        raise DataError.of(
            "P211",
            f"there is no column 'label'; the header has {', '.join(map(repr, table.header))}",
            where=f"{table.source}:1",
            help="name it in the study: columns: {label: …}",
        )
    return [name]
