"""One table as text. This module is the value that pages lay out; it formats nothing."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["View"]


@dataclass(frozen=True)
class View:
    """One table, formatted.

    Parameters
    ----------
    kind : str
        Section of the page it belongs to.
    title : str
        Heading.
    columns : tuple of str
        Column heads; those in ``text`` hold words, the others numbers.
    rows : tuple of tuple of str
        Cells.
    caption : str
        What must stand beside it.
    text : frozenset of str
        Columns that hold words.
    """

    kind: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    text: frozenset[str] = frozenset()
