"""How systems' items align, as rows of one shape. This module lays out what files publish beside what their items give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["spread_published"]


def spread_published(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with three cells for each column that some file publishes a mean of: published, here, and their difference.

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
