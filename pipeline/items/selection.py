"""Part of the items of a file. This module chooses items by ranges of numbers; it is pure."""

from __future__ import annotations

import re

from pipeline.errors import StudyError
from pipeline.interfaces import Items

__all__ = ["item_positions", "select_items"]

_MOST_DIGITS = 12


def item_positions(ranges: str, n_items: int, *, where: str) -> list[int]:
    """Give the positions from 0 of items that are named by ranges of numbers from 1, both ends included.

    Raises
    ------
    StudyError
        P124 where a range is turned round, goes past the items, or overlaps another.

    Examples
    --------
    >>> item_positions("1-3, 5", 5, where="items")
    [0, 1, 2, 4]
    """
    positions: list[int] = []
    for part in ranges.split(","):
        match = re.fullmatch(r"\s*([0-9]+)\s*(?:-\s*([0-9]+)\s*)?", part)
        if match is None:
            raise StudyError.of(
                "P124", f"{part.strip()!r} is no range of items", where=where, help="write 1-3500, or several by comma"
            )
        # Python refuses to read thousands of digits, and no file has as many items as these.
        first, last = (int(digits[:_MOST_DIGITS]) for digits in (match[1], match[2] or match[1]))
        if not 1 <= first <= last <= n_items:
            raise StudyError.of(
                "P124",
                f"there is no range {part.strip()} of {n_items} items",
                where=where,
                help=f"items are numbered from 1 to {n_items}, and a range goes up",
            )
        positions.extend(range(first - 1, last))
    if len(set(positions)) < len(positions):
        raise StudyError.of("P124", f"the ranges {ranges} name an item twice", where=where, help="let no two ranges overlap")
    return sorted(positions)


def select_items(items: Items, ranges: str, *, where: str) -> Items:
    """Give the items in some ranges, in the order of the file, with the identifiers they have in it.

    Examples
    --------
    >>> select_items(Items(("1", "2", "3"), {"label": ("x", "y", "z")}, "f", (1, 2, 3)), "2-3", where="items").columns
    {'label': ('y', 'z')}
    """
    chosen = item_positions(ranges, len(items), where=where)
    return Items(
        ids=tuple(items.ids[k] for k in chosen),
        columns={name: tuple(values[k] for k in chosen) for name, values in items.columns.items()},
        source=items.source,
        lines=tuple(items.lines[k] for k in chosen),
        numbered=items.numbered and len(chosen) == len(items),
    )
