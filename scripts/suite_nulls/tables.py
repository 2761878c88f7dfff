"""Render the table of docs/suites.md from counted claims, and write it between its marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markdown_tables import fill_marked, render_table

from suite_nulls.simulate import RULES, SIZES

__all__ = ["fill_table", "table"]


def table(records: Sequence[Mapping[str, Any]]) -> str:
    """Return a line a scenario: per cent of suites in which some claim is made, by rule and number of test sets."""
    head = ("gains of units", "units", *(f"{rule}: {' / '.join(map(str, SIZES))} test sets" for rule in RULES))
    rows = [(record["law"], str(record["units"]), *(_shares(record, rule) for rule in RULES)) for record in records]
    return render_table(head, rows)


def _shares(record: Mapping[str, Any], rule: str) -> str:
    sizes = map(str, SIZES)
    return " / ".join(f"{100 * record['claims'][rule][size] / record['suites'][size]:.1f}" for size in sizes)


def fill_table(text: str, records: Sequence[Mapping[str, Any]]) -> str:
    """Return a document with the table between ``<!-- suites -->`` and ``<!-- end -->`` written anew."""
    return fill_marked(text, "suites", lambda _: table(records))
