"""A forest: one line for each system or model, its score with an interval beside the ranks that it may have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.interfaces.figures import GRID, INK, PALETTE
from pipeline.interfaces.wording import name_metric, shorten
from pipeline.report.drawing.charts.scales import Scale, widen
from pipeline.report.drawing.shapes import bar, dot, line, picture, rule, ticks, width_of, words

__all__ = ["Entry", "draw_forest"]

WIDTH = 720.0
LONGEST = 34
RANKS = 150.0
TOP = 30.0
BOTTOM = 30.0


@dataclass(frozen=True)
class Entry:
    """A line of the forest.

    Parameters
    ----------
    name, number : str
        What stands in front: whose line it is, and the score as it is printed.
    score : float
    ends : tuple of float, optional
        Of the thin bar.
    core : tuple of float, optional
        Of the thick bar within.
    ranks : tuple of int, optional
        Rank, and the lowest and highest that are left open.
    leads : bool
        Not separated from the best.
    ruled : bool
        All systems above are separated from this and all below.
    """

    name: str
    number: str
    score: float
    ends: tuple[float, float] | None = None
    core: tuple[float, float] | None = None
    ranks: tuple[int, int, int] | None = None
    leads: bool = False
    ruled: bool = False


def draw_forest(entries: Sequence[Entry], *, metric: str, systems: int, title: str, alt: str) -> str:
    """Return the figure; ``systems`` is how many ranks there are, more than the entries where only the first are shown."""
    ranked = any(entry.ranks for entry in entries)
    step = 26.0 if len(entries) <= 12 else 20.0 if len(entries) <= 25 else 16.0
    names = [shorten(entry.name, LONGEST) for entry in entries]
    left = width_of(names) + 14 + width_of(entry.number for entry in entries) + 18
    right = WIDTH - 14 - (RANKS + 30 if ranked else 0)
    numbers = [number for entry in entries for number in (entry.score, *(entry.ends or ()), *(entry.core or ()))]
    low, high = float(min(numbers)), float(max(numbers))
    scale = Scale(*widen(low, high, 0.04, 0.5), left, right)
    end = TOP + step * len(entries)

    def across(score: float) -> float:
        return float(scale.at(score))

    def along(rank: float) -> float:
        return WIDTH - 14 - RANKS + RANKS * (rank - 0.5) / systems

    def parts() -> Iterator[str]:
        yield words(left - 18, 12, name_metric(metric), anchor="end", quiet=True)
        axes: list[tuple[Callable[[float], float], Sequence[tuple[float, str]]]] = [(across, ticks(scale.low, scale.high))]
        if ranked:
            yield words(WIDTH - 14 - RANKS / 2, 12, "rank", anchor="middle", quiet=True)
            whole = ticks(1, systems, most=6) if systems > 6 else [(rank, str(rank)) for rank in range(1, systems + 1)]
            axes.append((along, [(number, text) for number, text in whole if "." not in text]))
        for place, marks in axes:
            for number, text in marks:
                yield line(place(number), TOP, place(number), end, colour=GRID, width=0.8, opacity=0.4)
                yield words(place(number), end + 13, text, anchor="middle", quiet=True)
        for position, (entry, name) in enumerate(zip(entries, names, strict=True)):
            yield from _line(entry, name, TOP + step * (position + 0.5))
            if entry.ruled:
                yield rule(0, TOP + step * position, WIDTH)

    def _line(entry: Entry, name: str, y: float) -> Iterator[str]:
        colour = PALETTE[0] if entry.leads else INK
        yield words(0, y, name, bold=entry.leads)
        yield words(left - 18, y, entry.number, anchor="end", quiet=True)
        if entry.ends:
            yield line(across(entry.ends[0]), y, across(entry.ends[1]), y, colour=colour, width=1.6)
        if entry.core:
            yield bar(across(entry.core[0]), y - 3.5, across(entry.core[1]) - across(entry.core[0]), 7, colour=colour, opacity=0.35)
        yield dot(across(entry.score), y, colour=colour, radius=4.5 if entry.leads else 3.5)
        if entry.ranks:
            rank, first, last = entry.ranks
            span = RANKS / systems
            yield bar(along(first) - span / 2, y - 3.5, span * (last - first + 1), 7, colour=colour, opacity=0.35, round_by=3)
            yield dot(along(rank), y, colour=colour, radius=3)

    return picture(WIDTH, end + BOTTOM, parts(), title=title, alt=alt)
