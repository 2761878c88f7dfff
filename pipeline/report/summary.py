"""A report in a few lines for the terminal. This module gives plain text, without colour."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.report.views import View, view_all

__all__ = ["summarise"]

SHOWN = ("better", "worse", "gain", "p", "Holm", "verdict")


def summarise(document: Mapping[str, Any], *, most_pairs: int = 20) -> str:
    """Give systems by score, the pairs and the verdict of each test set and metric, as aligned text.

    Parameters
    ----------
    most_pairs : int
        Pairs to list; where there are more, those with p nearest to α were listed first in the report and the rest is counted.
    """
    views = view_all(document)
    boards = [view for view in views if view.kind == "leaderboard"]
    tables = [view for view in views if view.kind == "pairs"]
    blocks = []
    for verdict, board, pairs in zip(document["verdict"], boards, tables, strict=True):
        total = sum(1 for row in document["pairs"] if all(row[k] == verdict[k] for k in ("test_set", "metric", "procedure")))
        lines = [board.title, "", *_lines(_pick(board, ("rank", "system", "score", "rank interval"))), ""]
        chosen = _pick(pairs, SHOWN)
        lines += [*_lines(View("", "", chosen.columns, chosen.rows[:most_pairs], "", chosen.text))]
        if total > most_pairs:
            lines.append(f"… {total - min(most_pairs, len(chosen.rows)):,} more pairs are in the report")
        blocks.append("\n".join([*lines, "", *verdict["sentences"]]))
    return "\n\n".join(blocks)


def _pick(view: View, columns: Sequence[str]) -> View:
    places = [view.columns.index(column) for column in columns]
    return View(view.kind, view.title, tuple(columns), tuple(tuple(row[k] for k in places) for row in view.rows), "", view.text)


def _lines(view: View) -> Iterator[str]:
    rows = [view.columns, *view.rows]
    widths = [max(_width(row[k]) for row in rows) for k in range(len(view.columns))]
    for row in rows:
        cells = []
        for cell, width, column in zip(row, widths, view.columns, strict=True):
            space = " " * (width - _width(cell))
            cells.append(cell + space if column in view.text else space + cell)
        yield "  ".join(cells).rstrip()


def _width(text: str) -> int:
    """Count the columns a text takes on a terminal: wide characters take two, combining ones none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
