"""Answers as strings of letters. This module takes apart tables with a row each system and one character for each item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pipeline.errors import DataError
from pipeline.interfaces import FileSample, Items
from pipeline.items.readers._layouts import find_systems, only_rows, refuse_twice
from pipeline.items.readers._tables import Table

__all__ = ["LETTERS", "fit_letters", "looks_like_letters", "split_letters", "tell_signs"]

LETTERS = "letters"
_LEAST_RECOGNISED = 50
"""Letters of the shortest string that is recognised as one: labels and identifiers are shorter."""


def split_letters(table: Table, *, system: str | None, columns: Mapping[str, str]) -> dict[str, Items]:
    """Return the answers of each system of a table: the k-th character is that to the k-th item.

    Raises
    ------
    DataError
        P208 a system twice; P211 where it is not plain which column holds the letters; P212 where a string is empty.
    """
    of_system = find_systems(table, columns)
    letters = _letter_column(table, of_system, columns)
    names = table.column(of_system)
    refuse_twice(names, table, "P208", "the system", "leave one row for each system")
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


def fit_letters(gold: Items, output: Items) -> Items:
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


def tell_signs(found: Mapping[str, Items], source: str) -> list[str]:
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


def looks_like_letters(sample: FileSample) -> bool:
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
