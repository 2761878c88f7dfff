"""How the items of systems align: rows of one shape, with published means beside those of the items, also as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pipeline.report.facts import Cells
from pipeline.report.layout.view import View, align_text
from pipeline.report.trust.units import count_units

__all__ = ["count_missing", "format_alignment", "spread_published"]

_MOST_LISTED = 12
"""Up to this many systems each have a line of their own."""


def spread_published(rows: Sequence[Cells]) -> list[dict[str, Any]]:
    """Return rows with three cells for each column whose mean some file publishes: published, computed, and their difference.

    A system whose file says nothing has None there; where no file does, there are no such cells.

    Examples
    --------
    >>> spread_published([{"system": "north", "published": {"acc": (0.5, 0.25)}}])
    [{'system': 'north', 'acc published': 0.5, 'acc here': 0.25, 'acc difference': -0.25}]
    """
    names = list(dict.fromkeys(name for row in rows for name in row.get("published") or {}))
    spread = []
    for row in rows:
        cells = {name: value for name, value in row.items() if name != "published"}
        for name in names:
            published, here = (row.get("published") or {}).get(name, (None, None))
            difference = None if published is None else here - published
            cells |= {f"{name} published": published, f"{name} here": here, f"{name} difference": difference}
        spread.append(cells)
    return spread


def count_missing(rows: Sequence[Cells]) -> int:
    """Return how many outputs systems lack."""
    return sum(int(row.get("missing") or 0) for row in rows)


def format_alignment(
    test_set: str,
    items: int,
    units: int,
    rows: Sequence[Cells],
    warnings: Sequence[str] = (),
    *,
    unit: str = "item",
    planned: int = 0,
    recognised: str = "",
) -> str:
    """Return the alignment table of one test set as aligned text, a line for each system, with anything odd below it.

    Of many systems those that have every item once, and publish nothing beside, are counted in place of a line each.

    ``unit`` is what is drawn. ``planned`` systems have no outputs yet: they are to be trained. ``recognised`` says which format was
    found, and why.
    """
    there = [f"{len(rows)} systems"] * bool(rows or not planned) + [f"{planned} systems to be trained"] * bool(planned)
    counted = count_units(items, units, unit)
    head = f"{test_set}: {counted}, {' and '.join(there)}"
    odd = rows if len(rows) <= _MOST_LISTED else [row for row in rows if not _is_whole(row, items)]
    whole = len(rows) - len(odd)
    spread = spread_published(odd)
    columns = tuple(spread[0]) if spread else ()
    cells = tuple(tuple(_cell(row[column]) for column in columns) for row in spread)
    names = tuple("identical to" if column == "identical_to" else column for column in columns)
    table = View("alignment", test_set, names, cells, "", frozenset({"system", "identical to"}))
    told = [f"  {recognised}"] * bool(recognised)
    lines = [f"  {line}" for line in align_text(table) if line] if odd else []
    if whole:
        many = "system has" if whole == 1 else "systems have"
        lines.append(f"  {f'{whole:,} more' if odd else f'all {whole:,}'} {many} all {items:,} items, each once")
    return "\n".join([head, *told, *lines, *(f"  warning: {warning}" for warning in warnings)])


def _is_whole(row: Cells, items: int) -> bool:
    """Tell whether a system has every item once, like no other system, and its file publishes no mean to compare."""
    odd = ("missing", "duplicates", "identical_to", "published")
    return row["items"] == row["common"] == items and not any(row.get(name) for name in odd)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4f}" if value == 0 or abs(value) >= 5e-5 else f"{value:.0e}"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
