"""A report in a few lines for the terminal. This module gives plain text, without colour."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from pipeline.report.alignment import spread_published
from pipeline.report.document import digits_of
from pipeline.report.pair_table import pair_table
from pipeline.report.presets import tell_preset
from pipeline.report.units import count_units
from pipeline.report.verdict_text import FAMILY, by_family, family_of, select
from pipeline.report.views import MARKS, View, mark_of, view_all

__all__ = ["conclude", "format_alignment", "summarise"]

SHOWN = ("better", "worse", "gain", "p", "exact", "p adjusted", "Holm eq.", "verdict")
BOARD = ("rank", "system", "score", "rank interval", "letters")

_LOWER = " · lower is better"


def conclude(document: Mapping[str, Any], *, most: int = 5) -> list[str]:
    """Return what a run found in a few lines: the verdict of one family, or the first sentence of each of several.

    Parameters
    ----------
    most : int
        Families to name; the rest is counted.
    """
    verdicts = document["verdict"]
    if len(verdicts) == 1:
        return [" ".join(verdicts[0]["sentences"])]
    lines = [f"{verdict['test_set']} · {verdict['metric']}: {verdict['sentences'][0]}" for verdict in verdicts[:most]]
    rest = len(verdicts) - most
    return [*lines, f"… {rest:,} more verdict{'s are' if rest > 1 else ' is'} in the report"] if rest > 0 else lines


def summarise(document: Mapping[str, Any], *, most_pairs: int = 20, rest: str = "are in the report") -> str:
    """Return systems by score, the pairs and the verdict of each test set and metric, and what is odd, as aligned text.

    Parameters
    ----------
    most_pairs : int
        Where there are more pairs, those of the best system and of neighbours in rank are listed, and the rest is counted.
    rest : str
        Where the rest is.
    """
    boards = [view for view in view_all(document) if view.kind == "leaderboard"]
    blocks = []
    families = by_family(document["pairs"])
    shown = {family_of(row): board for row, board in zip(document["signature"], boards, strict=True)}
    lower = {family_of(row) for row in document["signature"] if "|higher:worse" in row["line"]}
    for verdict in document["verdict"]:
        board, rows = shown[family_of(verdict)], families[family_of(verdict)]
        listed = choose_pairs(rows, select(document["leaderboard"], **{key: verdict[key] for key in FAMILY}), most_pairs)
        pairs = pair_table(document, verdict, listed, "", digits=digits_of(document, verdict["metric"]), tables=1)
        (test_set,) = select(document["test_sets"], name=verdict["test_set"])
        lines = [
            f"{board.title} · {count_units(test_set)}" + _LOWER * (family_of(verdict) in lower),
            "",
            *_lines(_pick(board, [c for c in board.columns if c in BOARD or c.startswith("than ")])),
            "",
        ]
        # A terminal has room for the adjustment that decides, and not for the others.
        asked = {*SHOWN, (document["preset"] or {}).get("name")}
        chosen = _pick(pairs, tuple(column for column in pairs.columns if column in asked))
        lines += _lines(chosen)
        if len(rows) > len(chosen.rows):
            lines.append(f"… {len(rows) - len(chosen.rows):,} more pairs {rest}")
        marks = {mark for row in listed for mark in mark_of(row)}
        lines += [f"{mark} {meaning}" for mark, meaning in MARKS.items() if mark in marks]
        blocks.append("\n".join([*lines, "", *verdict["sentences"]]))
    warned = "\n".join(f"warning: {warning}" for warning in document["warnings"])
    return "\n\n".join([*blocks, *([warned] if warned else []), *tell_preset(document)])


def format_alignment(
    test_set: str,
    items: int,
    units: int,
    rows: Sequence[Mapping[str, Any]],
    warnings: Sequence[str] = (),
    *,
    unit: str = "item",
    planned: int = 0,
    recognised: str = "",
) -> str:
    """Return the alignment table of one test set as aligned text, a line a system, with what is odd below it.

    ``unit`` is what is drawn. ``planned`` systems have no outputs yet: they are to be trained. ``recognised`` says which format was
    found, and why.
    """
    there = [f"{len(rows)} systems"] * bool(rows or not planned) + [f"{planned} systems to be trained"] * bool(planned)
    counted = count_units({"format": None, "items": items, "units": units, "unit": unit})
    head = f"{test_set}: {counted}, {' and '.join(there)}"
    spread = spread_published(rows)
    columns = tuple(spread[0]) if spread else ()
    cells = tuple(tuple(_cell(row[column]) for column in columns) for row in spread)
    names = tuple("identical to" if column == "identical_to" else column for column in columns)
    table = View("alignment", test_set, names, cells, "", frozenset({"system", "identical to"}))
    told = [f"  {recognised}"] * bool(recognised)
    lines = [f"  {line}" for line in _lines(table) if line]
    return "\n".join([head, *told, *lines, *(f"  warning: {warning}" for warning in warnings)])


def choose_pairs(rows: Sequence[Mapping[str, Any]], board: Sequence[Mapping[str, Any]], most: int) -> Sequence[Mapping[str, Any]]:
    """Return the pairs that a reader looks for first: the best system with each other one, then neighbours in rank.

    Parameters
    ----------
    rows : sequence of mapping
        All pairs of a family, the largest gain first.
    board : sequence of mapping
        Its leaderboard.
    most : int
        All pairs are given where they are no more; of more than that many systems the first ones have theirs.
    """
    names = [row["name"] for row in board if row["rank"] is not None][: most + 1]
    if len(rows) <= most or len(names) < 2:
        return rows[:most]
    wanted = [frozenset(pair) for pair in (*((names[0], other) for other in names[1:]), *pairwise(names))]
    known = {frozenset((row["system_a"], row["system_b"])): row for row in rows}
    return [known[pair] for pair in dict.fromkeys(wanted) if pair in known]


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4f}" if value == 0 or abs(value) >= 5e-5 else f"{value:.0e}"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


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
