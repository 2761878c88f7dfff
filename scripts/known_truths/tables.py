"""Render the table of docs/truths.md, and write it between its marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markdown_tables import fill_marked, render_table

__all__ = ["fill_tables", "truths_table"]


def truths_table(records: Sequence[Mapping[str, Any]]) -> str:
    """What is true, what was found, and the limits."""
    head = ("truth", "number", "true", "found", "limits", "within")
    rows = [
        (
            record["truth"],
            record["what"],
            f"{record['known']:g}",
            f"{record['found']:.4g}",
            f"{record['low']:g} to {record['high']:g}",
            "yes" if record["low"] <= record["found"] <= record["high"] else "**no**",
        )
        for record in records
    ]
    return render_table(head, rows)


def fill_tables(text: str, records: Sequence[Mapping[str, Any]]) -> str:
    """Return a document with the table between ``<!-- truths -->`` and ``<!-- end -->`` written anew."""
    return fill_marked(text, "truths", lambda _: truths_table(records))
