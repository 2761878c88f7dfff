"""One table, formatted: the value that pages lay out, and its lines on a terminal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from pipeline.dataclass import dataclass

__all__ = ["View", "align_text", "fill", "text_width"]


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
    first : frozenset of str
        Columns that a narrow screen shows before it is asked for the others; all where there are none.
    later : frozenset of str
        Columns that no screen shows before it is asked for them.
    shows_gain : bool
        False where a test whose null is not about the gain calls a system better: the page then claims no gain of a pair.
    """

    kind: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    text: frozenset[str] = frozenset()
    first: frozenset[str] = frozenset()
    later: frozenset[str] = frozenset()
    shows_gain: bool = True

    def pick(self, columns: Sequence[str]) -> View:
        """Return the table with some of its columns, without its caption."""
        places = [self.columns.index(column) for column in columns]
        return View(self.kind, self.title, tuple(columns), tuple(tuple(row[k] for k in places) for row in self.rows), "", self.text)


def align_text(view: View) -> Iterator[str]:
    """Yield the lines of a table for a terminal, its columns aligned."""
    rows = [view.columns, *view.rows]
    widths = [max(text_width(row[k]) for row in rows) for k in range(len(view.columns))]
    for row in rows:
        cells = []
        for cell, width, column in zip(row, widths, view.columns, strict=True):
            space = " " * (width - text_width(cell))
            cells.append(cell + space if column in view.text else space + cell)
        yield "  ".join(cells).rstrip()


def text_width(text: str) -> int:
    """Count the columns a text takes on a terminal: wide characters take two; marks above, below and between others none.

    Examples
    --------
    >>> text_width("system"), text_width("系统"), text_width("ระบบที่ดี"), text_width("न्यू")
    (6, 4, 6, 2)
    """
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:  # many marks of Thai and Hindi do not combine by their class
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


_WORD = re.compile(r"( *)([^ ]+(?: [=≤≥<>±×] [\d.\-][^ ]*)?)")
"""A word, or what is said of its size: no line ends within α = 0.05."""


def fill(text: str, width: int, indent: str = "  ") -> str:
    """Break a text between words into lines that a terminal does not break; a word that is wider than that stays whole.

    Parameters
    ----------
    indent : str
        What the second line and those after it begin with.

    Examples
    --------
    >>> print(fill("大きなモデル has the best score", 24))
    大きなモデル has the
      best score
    >>> print(fill("two-sided, at α = 0.05 and n = 200", 20))
    two-sided, at
      α = 0.05 and
      n = 200
    """
    lines = [""]
    for spaces, word in _WORD.findall(text.replace("\n", " ")):  # other spaces keep a number and its unit together
        line = lines[-1] + spaces + word
        if lines[-1].strip() and text_width(line) > width:
            lines.append(indent + word)
        else:
            lines[-1] = line
    return "\n".join(lines)
