"""Class labels: one a line, or a table with identifiers and labels.

A table may also have a row for each system and its answers as a string of letters, one for each item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.errors import DataError
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._files import Lines, number_lines, read_lines, with_warnings
from pipeline.items.readers._join import join_items
from pipeline.items.readers._layouts import LAYOUTS, check_layout, only_rows, refuse_twice, split_systems
from pipeline.items.readers._roles import find_roles, find_systems
from pipeline.items.readers._tables import Table, find_column, find_head, leave_out_blank, parse_table, write_table
from pipeline.items.readers._typed_tables import SPLIT_ENDING, read_typed, recognise_typed

__all__ = ["LETTERS", "LabelReader"]

LETTERS = "letters"
_LEAST_RECOGNISED = 50
"""Letters of the shortest string that is recognised as one: labels and identifiers are shorter."""


def _split_letters(table: Table, *, system: str | None, columns: Mapping[str, str]) -> dict[str, Items]:
    """Return the answers of each system of a table: the k-th character is that to the k-th item.

    Raises
    ------
    DataError
        P208 a system twice; P211 where it is not plain which column holds the letters; P212 where a string is empty.
    """
    of_system = find_systems(table, columns)
    letters = _letter_column(table, of_system, columns)
    names = table.column(of_system)
    refuse_twice(names, table, "P208", "the system", "keep one row for each system")
    rows_of = {name: [row] for row, name in enumerate(names)}
    if system is not None:
        rows_of = {system: only_rows(table, system, rows_of)}
    numbers: dict[int, tuple[str, ...]] = {}  # of equally long strings there is one tuple of numbers
    found = {}
    strings = table.column(letters)
    for name, (row,) in rows_of.items():
        answers, line = strings[row], table.lines[row]
        if not answers:
            raise DataError.of("P212", f"the system '{name}' has no letters", where=f"{table.source}:{line}", help="leave it out")
        ids = numbers.get(len(answers)) or tuple(map(str, range(1, len(answers) + 1)))
        numbers[len(answers)] = ids
        found[name] = Items(ids, {"label": tuple(answers)}, table.source, (line,) * len(ids))
    return found


def _fit_letters(gold: Items, output: Items) -> Items:
    """Return an output the items of the gold, in whose order its letters stand.

    Raises
    ------
    DataError
        P203 where there are more or fewer letters than items: which of them lack cannot be known.
    """
    if len(gold) != len(output):
        raise DataError.of(
            "P203",
            f"items do not align: the string has {len(output)} letters, the gold has {len(gold)} items",
            where=f"{output.source}:{output.lines[0]}" if output.lines else output.source,
            help="write one character for each item of the gold, in its order, and a sign of its own where there is no answer",
            note=f"the gold is {gold.source}",
        )
    return replace(output, ids=gold.ids, numbered=gold.numbered)


def _tell_signs(found: Mapping[str, Items], source: str) -> list[str]:
    """Tell of signs among the letters, most often what stands for no answer: they are compared with the gold like any other."""
    counts: Counter[str] = Counter()
    held = 0
    for items in found.values():
        signs = {sign: many for sign, many in Counter(items.columns["label"]).items() if not sign.isalnum()}
        counts.update(signs)
        held += bool(signs)
    if not counts:
        return []
    shown = ", ".join(f"{sign!r} {many} time{'s' * (many > 1)}" for sign, many in counts.most_common(8))
    return [f"{source}: {shown}, in {held} of {len(found)} systems: where the gold has another label, these are wrong answers"]


def _looks_like_letters(sample: FileSample) -> bool:
    """Tell whether every row of a sample is a name and a long string of letters, all equally long."""
    rows = [line.split("\t") for line in sample.lines[1:]]
    lengths: Sequence[int] = [len(row[1]) for row in rows if len(row) == 2 and " " not in row[1]]
    return bool(rows) and len(lengths) == len(rows) and len(set(lengths)) == 1 and lengths[0] >= _LEAST_RECOGNISED


def _letter_column(table: Table, of_system: str, columns: Mapping[str, str]) -> str:
    others = [name for name in table.header if name != of_system]
    named = columns.get("label")
    if named in others:
        return str(named)
    if len(others) == 1:
        return others[0]
    shown = ", ".join(map(repr, table.header[:20]))
    raise DataError.of(
        "P211",
        f"the layout is letters: a column of systems and one of strings, and the header has {shown}",
        where=f"{table.source}:1",
        help="name them: `columns: {system: …, label: …}`",
    )


GOLD = "\0gold"
"""The name under which the gold is read: no system has it."""


class LabelReader(Reader):
    """One label a line, or CSV/TSV with the columns ``id`` and ``label``; gold and outputs alike.

    A file is a table where its first line has several fields, and one of them is the item or the label column. A table of all
    systems has a system column, or one column for each system; the gold may be another column of it. Parquet, Arrow and Feather
    files are tables.

    Parameters
    ----------
    layout : str
        How a table of all systems is laid out: *wide*, *long*, *rows* (a row each system, a column each item), *letters* (a row
        each system, with one character for each item of the gold), or *auto*, one of the first two.
    rename : mapping, optional
        Labels that stand for another, in gold and outputs: ``{neutral: other, contradiction: other}``.
    """

    name: ClassVar[str] = "labels"
    endings: ClassVar[tuple[str, ...]] = (
        ".txt",
        ".csv",
        ".tsv",
        ".label",
        ".labels",
        ".pred",
        ".preds",
        ".predictions",
        ".parquet",
        ".arrow",
        ".feather",
        SPLIT_ENDING,
    )
    targets: ClassVar[tuple[str, ...]] = ("label",)
    compares_with: Literal["references", "gold", "nothing"] = "gold"
    usual_metric: str | None = "accuracy"
    holds_systems: ClassVar[bool] = True
    blank: str = ""

    def __init__(self, *, layout: str = "auto", rename: Mapping[str, str] | None = None) -> None:
        self.layout = check_layout(layout, (*LAYOUTS, LETTERS))
        words = (*rename, *rename.values()) if isinstance(rename, Mapping) else (rename,)
        if rename is not None and not all(isinstance(word, str) for word in words):
            raise ValueError(f"option 'rename' maps labels to labels, not {rename!r}; put those that look like numbers in quotes")
        self.rename = dict(rename or {})
        self._told: list[str] = []

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take lines of one word each, or a table with a column of labels, where there is a gold."""
        if not sample.gold:
            return None
        typed = recognise_typed(sample, "beside a file to compare with")
        if typed is not None or not sample.lines:
            return typed
        if _looks_like_letters(sample):
            return Recognised(0.7, "each row is a name and one long string, beside a file to compare with", {"layout": LETTERS})
        head = find_head(sample.lines)
        header = head.names()
        if len(header) > 1 and {"label", "item", "id", "item_id"} & set(header):
            return Recognised(0.6, f"a table with the columns {', '.join(header[:4])}, beside a file to compare with")
        if all(line and not any(map(str.isspace, line)) for line in sample.lines):
            return Recognised(0.4, "one word a line, beside a file to compare with")
        return None

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return the gold labels as the column ``label``, those of several files one after the other; None without a gold file."""
        return join_items([self._renamed(self._read_one(path, GOLD, options)) for path in paths]) if paths else None

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the labels of one system, or of all systems in a table, as the column ``label``."""
        return {name: self._renamed(items) for name, items in self._read_systems(path, system, options).items()}

    def _read_systems(self, path: Path, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        if system is not None:
            return {system: self._read_one(path, system, options)}
        columns: Mapping[str, str] = options.get("columns", {})
        table = self._read_table(path, columns, None, need=True)
        if not isinstance(table, Table):
            raise DataError.of(
                "P219",
                "the file has one column, and no system is named",
                where=str(path),
                help='write the place of the name into the path, `outputs: "labels/{system}.txt"`, or give a table of all systems',
            )
        if self.layout == LETTERS:
            found = _split_letters(table, system=None, columns=columns)
            self._told.extend(_tell_signs(found, table.source))
            return found
        gold = columns.get("label")
        one_each = self.layout in {"wide", "rows"}
        long = not one_each and find_column("system", table.header, columns, table.source) is not None
        leave_out = [gold] if gold is not None and gold in table.header and not long else []

        def choose(of: Table, others: Sequence[str]) -> list[str]:
            return _label_column(of, columns) if long else list(others)

        return split_systems(
            table,
            system=None,
            columns=columns,
            choose=choose,
            value="label",
            leave_out=leave_out,
            rename=True,
            layout=self.layout,
        )

    def fit(self, gold: Items, output: Items) -> Items:
        """Return letters the items of the gold, in whose order they stand; other outputs are as they were read."""
        return _fit_letters(gold, output) if self.layout == LETTERS and output.numbered else output

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write a table of identifiers and labels, and of all else that is known of the items."""
        labels = columns.get("label", [self.blank] * len(ids))
        others = {name: values for name, values in columns.items() if name not in {"id", "label"}}
        write_table(path, {"id": ids, "label": [str(label) for label in labels], **others})

    def _read_one(self, path: Path, name: str, options: Mapping[str, Any]) -> Items:
        columns: Mapping[str, str] = options.get("columns", {})
        table = self._read_table(path, columns, name, need=False)
        if not isinstance(table, Table):
            ids, numbers = number_lines(len(table.values))
            return Items(ids, {"label": table.values}, table.source, numbers)
        written = {"id", "label"} <= set(table.header)  # the outputs of a training, as `write` writes them
        if self.layout == LETTERS and name != GOLD and not written:
            return _split_letters(table, system=name, columns=columns)[name]
        chosen = split_systems(
            table, system=name, columns=columns, choose=lambda of, others: _label_column(of, columns), value="label", rename=True
        )
        return chosen[name]

    def _renamed(self, items: Items) -> Items:
        if not self.rename:
            return items
        labels = tuple(self.rename.get(label, label) for label in items.columns["label"])
        return replace(items, columns={**items.columns, "label": labels})

    def _read_table(self, path: Path, columns: Mapping[str, str], system: str | None, *, need: bool) -> Table | Lines:
        """Return a file as a table where it is one; ``need`` takes every file of several fields for one."""
        table = read_typed(path)
        if table is None:
            lines = read_lines(path)
            self._told.extend(lines.warnings)
            several = find_head(lines.values).delimiter is not None
            if not (several and (need or self.layout == LETTERS or _is_table(lines, columns))):
                return lines
            table = parse_table(lines)
        table = leave_out_blank(table, lambda left: self._names_items(left, columns, system))
        self._told.extend(table.warnings)
        return table

    def _names_items(self, table: Table, columns: Mapping[str, str], system: str | None) -> bool:
        """Tell whether a column has the names of rows: those of items, or of systems where each has a row."""
        by_row = self.layout == LETTERS or (self.layout == "rows" and system is None)
        asked: dict[str, Any] = {"columns": columns, "leave_out": (), "layout": self.layout, "models": False}
        return by_row or find_roles(table, system=system, **asked).item is not None


def _is_table(lines: Lines, columns: Mapping[str, str]) -> bool:
    head = find_head(lines.values)
    if head.delimiter is None:
        return False
    wanted = {columns.get("label", "label"), columns.get("item", "id"), "id", "item"}
    return not wanted.isdisjoint(head.names())


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
