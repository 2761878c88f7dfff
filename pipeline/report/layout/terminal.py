"""Tables and emphasis on a terminal: no line is too wide, no word is broken, and no column is hidden silently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.dataclass import dataclass
from pipeline.report.layout.view import View, fill, text_width

__all__ = ["Screen", "lay_out"]

INDENT = 4
"""Of the second line of a row that takes several."""

STYLES = {"bold": "1", "dim": "2", "green": "32", "red": "31", "yellow": "33", "cyan": "36"}

VERDICTS = {"better": "green", "worse": "red", "equivalent": "cyan", "identical": "cyan"}
"""Colours of what a verdict begins with; the others, which claim nothing, are dim."""


@dataclass(frozen=True)
class Screen:
    """The screen for which a text is written.

    Parameters
    ----------
    width : int, optional
        Columns of the terminal; None for a file or a pipe, where no line is broken and no column left out.
    colour : bool
        Whether the text has the codes of a terminal for colours and bold.
    """

    width: int | None = None
    colour: bool = False

    def paint(self, text: str, *styles: str) -> str:
        r"""Return a text in the styles of a terminal; as it is where there are none.

        Examples
        --------
        >>> Screen().paint("better", "green"), Screen(colour=True).paint("better", "green")
        ('better', '\x1b[32mbetter\x1b[0m')
        """
        if not self.colour or not text.strip() or not styles:
            return text
        return f"\x1b[{';'.join(STYLES[style] for style in styles)}m{text}\x1b[0m"

    def fit(self, line: str) -> str:
        """Break a line between words where the terminal would break it within one.

        Examples
        --------
        >>> print(Screen(width=20).fit("large has the best score, 0.756"))
        large has the best
          score, 0.756
        """
        if self.width is None:
            return line
        return fill(line, self.width)


def lay_out(table: View, screen: Screen, *, dispensable: Sequence[str] = (), first: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the lines of a table, in the way that keeps most of it readable.

    Where it is too wide, heads take two lines; then what is dispensable is left out, which a last line says; then every row takes
    several lines, with all columns.

    Parameters
    ----------
    dispensable : sequence of str
        Columns that may be left out, the first of them first.
    first : frozenset of str
        Names to stress in the column of systems.
    """
    if screen.width is None:
        yield from _Painted(table, screen, first, wrapped=False).lines([range(len(table.columns))])
        return
    most = screen.width
    there = [column for column in dispensable if column in table.columns]
    for number in range(len(there) + 1):
        left_out = there[:number]
        narrower = table.pick([column for column in table.columns if column not in left_out])
        for wrapped in (False, True):
            if _total(_measure(narrower, wrapped=wrapped)) <= most:
                yield from _Painted(narrower, screen, first, wrapped=wrapped).lines([range(len(narrower.columns))])
                if left_out:
                    yield screen.paint(f"columns that do not fit: {', '.join(left_out)}", "dim")
                return
    shortened = _shorten(table, most - INDENT)
    yield from _Painted(shortened, screen, first, wrapped=False).lines(_fold(_measure(shortened, wrapped=False), most))


@dataclass(frozen=True)
class _Painted:
    """The lines of a table that fits the screen."""

    table: View
    screen: Screen
    first: frozenset[str]
    wrapped: bool

    def lines(self, groups: Sequence[range]) -> Iterator[str]:
        """Yield heads and rows, each group of columns on a line of its own."""
        widths = _measure(self.table, wrapped=self.wrapped)
        heads = [_head(self.table, k, wrapped=self.wrapped) for k in range(len(widths))]
        height = max(map(len, heads))
        for level in range(height):  # heads of one line stand on the last
            cells = [head[level - height + len(head)] if level >= height - len(head) else "" for head in heads]
            yield from (self.screen.paint(line, "dim") for line in self._rows(cells, widths, groups, ()))
        for row in self.table.rows:
            yield from self._rows(row, widths, groups, row)

    def _rows(self, cells: Sequence[str], widths: Sequence[int], groups: Sequence[range], row: Sequence[str]) -> Iterator[str]:
        for number, group in enumerate(groups):
            parts = []
            for k in group:
                space = " " * (widths[k] - text_width(cells[k]))
                words = self.table.columns[k] in self.table.text
                last = words and k == group[-1]
                cell = self.screen.paint(cells[k], *self._styles(k, row)) if row else cells[k]
                parts.append(cell + space * (not last) if words else space + cell)
            yield " " * (INDENT * (number > 0)) + "  ".join(parts).rstrip(" ")

    def _styles(self, k: int, row: Sequence[str]) -> tuple[str, ...]:
        column = self.table.columns[k]
        if column == "verdict" or column.startswith("than "):
            return (VERDICTS.get(row[k].split(" ")[0], "dim"),)
        return ("bold",) if column in {"system", "model", "better"} and row[k] in self.first else ()


def _head(table: View, k: int, *, wrapped: bool) -> list[str]:
    """Return a column's head, on several lines where it is wider than what stands below it."""
    head = table.columns[k]
    if not wrapped:
        return [head]
    below = max((text_width(row[k]) for row in table.rows), default=0)
    return fill(head, max(below, *map(text_width, head.split()), 1), "").split("\n")


def _measure(table: View, *, wrapped: bool) -> list[int]:
    heads = ([*_head(table, k, wrapped=wrapped), *(row[k] for row in table.rows)] for k in range(len(table.columns)))
    return [max(map(text_width, cells)) for cells in heads]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _fold(widths: Sequence[int], most: int) -> list[range]:
    """Return which columns stand on which line of a row."""
    groups, start = [], 0
    for k in range(1, len(widths) + 1):
        room = most - INDENT * (start > 0)
        if k == len(widths) or _total(widths[start : k + 1]) > room:
            groups.append(range(start, k))
            start = k
    return groups


def _shorten(table: View, most: int) -> View:
    """Return a table whose heads and cells are no wider than that: of a longer name the middle is left out."""
    columns, *rows = (tuple(_cut(cell, most) for cell in row) for row in (table.columns, *table.rows))
    text = frozenset(_cut(column, most) for column in table.text)
    return View(table.kind, table.title, columns, tuple(rows), table.caption, text)


def _cut(text: str, most: int) -> str:
    if text_width(text) <= most:
        return text
    left, right = text[: len(text) // 2], text[len(text) // 2 :]
    while text_width(left) + 1 + text_width(right) > most:
        if text_width(left) > text_width(right):
            left = left[:-1]
        else:
            right = right[1:]
    return f"{left}…{right}"
