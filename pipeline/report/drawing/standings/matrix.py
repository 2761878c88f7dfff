"""All pairs as a matrix, the best system first: which are separated, with a line where all above are separated from all below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.interfaces.figures import GRID, INK, PALETTE
from pipeline.interfaces.wording import shorten
from pipeline.report.drawing.shapes import NARROW, SIZE, bar, line, picture, width_of, words

__all__ = ["STATES", "Grid", "draw_matrix"]

WIDTH = 720.0
LONGEST = 30
LONGEST_WRITTEN, LONGEST_NARROW = 28, 17
"""Characters of a name: where numbers stand in the cells, and for a phone."""
NUMBERS = 11.0
"""Size of the numbers in cells."""
WRITTEN = 12
"""Systems of which the numbers can be written into the cells."""
STATES = ("other", "not separated", "separated", "equivalent")
_FILLS = {1: (GRID, 0.25), 2: (PALETTE[0], 0.7), 3: (PALETTE[2], 0.55)}
"""Colour and opacity of the cells by the number of their state; a pair without a verdict is left empty."""


@dataclass(frozen=True, eq=False)
class Grid:
    """The pairs of some systems, the best first.

    Parameters
    ----------
    names : sequence of str
    state : (system, system) int8
        Of the better system in a row with the worse one in a column, by number in `STATES`.
    gain, p : (system, system) object, optional
        What is written of a pair: its gain, and its adjusted p.
    leads : (system,) bool
        Not separated from the best.
    ruled : (system,) bool
        All systems above are separated from this and all below.
    """

    names: Sequence[str]
    state: NDArray[np.int8]
    gain: NDArray[np.object_] | None
    p: NDArray[np.object_] | None
    leads: Sequence[bool]
    ruled: Sequence[bool]


def draw_matrix(grid: Grid, *, title: str, alt: str, narrow: bool = False) -> str:
    """Return the figure: gains above the diagonal and adjusted p below it where there is room, colours alone where there is not."""
    count = len(grid.names)
    written = not narrow and count <= WRITTEN and grid.gain is not None and grid.p is not None
    longest = LONGEST_NARROW if narrow else LONGEST_WRITTEN if written else LONGEST
    labels = [f"{place} {shorten(name, longest)}" for place, name in enumerate(grid.names, start=1)]
    left = width_of(labels) + 14
    room = ((NARROW if narrow else WIDTH) - left - 4) / count
    wide, tall = (min(64.0, max(room, _widest(grid))), 26.0) if written else (min(22.0, room), min(22.0, room))
    # With many systems there is room for only some names and numbers.
    each, every = (max(1, int(np.ceil(room / size))) for room, size in ((1.2 * SIZE, tall), (30.0 if count > 99 else 20.0, wide)))
    top, right = 24.0, left + wide * count
    bottom = top + tall * count
    heavy = round(min(1.5, max(0.5, tall / 12)), 1)  # lines between groups do not hide small cells

    def parts() -> Iterator[str]:
        gap = 1.5 if tall > 8 else 0.0
        for state, (colour, opacity) in _FILLS.items():
            if written and state == 2:
                opacity = 0.35
            shape = "".join(_runs(grid.state == state, left, top, wide, tall, gap))
            if shape:
                yield f'<path class="{STATES[state].replace(" ", "-")}" d="{shape}" fill="{colour}" fill-opacity="{opacity:g}"/>'
        for place in range(count):
            middle = top + tall * (place + 0.5)
            if grid.leads[place]:
                yield bar(left - 6, top + tall * place + gap / 2, 3, tall - gap, colour=PALETTE[0])
            if place % each == 0:
                yield words(0, middle, labels[place], bold=grid.leads[place])
            if place % every == 0:
                number = str(place + 1)
                middle_of = min(left + wide * (place + 0.5), right + 4 - width_of([number]) / 2)
                yield words(middle_of, 14, number, anchor="middle", quiet=True)
            if grid.ruled[place]:
                edge = top + tall * place
                yield f'<g class="rule">{line(left - 8, edge, right, edge, width=heavy)}</g>'
                yield line(left + wide * place, top, left + wide * place, bottom, width=heavy)
        if written:
            yield from _numbers()
        yield line(left, top, right, top, colour=GRID, width=0.8)
        yield line(left, top, left, bottom, colour=GRID, width=0.8)
        yield f'<path d="M{left:.1f} {top:.1f}L{right:.1f} {bottom:.1f}" stroke="{INK}" stroke-opacity=".35" fill="none"/>'

    def _numbers() -> Iterator[str]:
        assert grid.gain is not None
        assert grid.p is not None
        for row, column in zip(*(side.tolist() for side in np.triu_indices(count, 1)), strict=True):
            bold = bool(grid.state[row, column] == 2)
            for text, x, y in ((grid.gain[row, column], column, row), (grid.p[row, column], row, column)):
                if text:
                    at = left + wide * (x + 0.5), top + tall * (y + 0.5)
                    yield words(*at, str(text), anchor="middle", quiet=x == row, bold=bold and x != row, size=NUMBERS)

    return picture(max(right + 4, 260.0), bottom + 8, parts(), title=title, alt=alt)


def _widest(grid: Grid) -> float:
    """Return the width of a cell whose number touches no other."""
    texts = (str(text) for of in (grid.gain, grid.p) if of is not None for text in of.flat)
    return width_of(texts) * NUMBERS / SIZE + 3


def _runs(cells: NDArray[np.bool_], left: float, top: float, wide: float, tall: float, gap: float) -> Iterator[str]:
    """Yield the outlines of cells; adjacent ones are merged where no line is between them, which saves bytes with many systems."""
    for row, of in enumerate(cells):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], of, [False]]).astype(np.int8)))
        for start, stop in edges.reshape(-1, 2).tolist():
            spans = [(start, stop)] if not gap else [(k, k + 1) for k in range(start, stop)]
            for first, last in spans:
                x, y = left + wide * first + gap / 2, top + tall * row + gap / 2
                width, height = wide * (last - first) - gap, tall - gap
                yield f"M{x:.1f} {y:.1f}h{width:.1f}v{height:.1f}h-{width:.1f}z"
