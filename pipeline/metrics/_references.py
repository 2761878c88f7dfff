"""References of a segment, which may be fewer than of others. This module tells those that are not there from empty ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pipeline.interfaces import Items
from pipeline.metrics._columns import gold_columns

__all__ = ["reference_columns"]


def reference_columns(metric: str, gold: Items | None) -> list[Sequence[Any]]:
    """Return the references as text, with None where one is not there: its line is blank, and another of the segment is not.

    sacreBLEU leaves out None and takes an empty line for a reference of no words, which halves the reference length of TER, and
    is the nearest in length to short outputs for BLEU. A segment all of whose references are blank keeps them: that it is
    translated as nothing may be what they say.
    """
    columns = gold_columns(metric, gold, "reference")
    if len(columns) == 1 or all(value and not value.isspace() for column in columns for value in column):
        return list(columns)
    rows = (_there(row) for row in zip(*columns, strict=True))
    return [tuple(column) for column in zip(*rows, strict=True)]


def _there(row: tuple[str, ...]) -> tuple[str | None, ...]:
    blank = [not value or value.isspace() for value in row]
    return row if all(blank) else tuple(None if lacks else value for value, lacks in zip(row, blank, strict=True))
