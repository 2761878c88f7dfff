"""A forest: one line for each system or model, its score with an interval beside the ranks that it may have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pipeline.dataclass import dataclass
from pipeline.interfaces.figures import GRID, INK, PALETTE
from pipeline.interfaces.wording import name_metric, shorten
from pipeline.report.drawing.charts.scales import Scale, widen
from pipeline.report.drawing.shapes import NARROW, bar, dot, line, picture, rule, ticks, width_of, words

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


def draw_forest(entries: Sequence[Entry], *, metric: str, systems: int, title: str, alt: str, narrow: bool = False) -> str:
    """Return the figure.

    Parameters
    ----------
    entries : sequence of Entry
    metric : str
    systems : int
        How many ranks there are, more than the entries where only the first are shown.
    title, alt : str
    narrow : bool, optional
        For a phone: names stand above their lines and not beside them.
    """
    numbers = [number for entry in entries for number in (entry.score, *(entry.ends or ()), *(entry.core or ()))]
    low, high = float(min(numbers)), float(max(numbers))
    ends = widen(low, high, 0.04, 0.5)
    place = _place(entries, narrow=narrow)
    shown = ticks(*ends, most=min(7, max(2, int((place.right - place.left) / 48))))
    place = place.with_room(width_of(text for _, text in shown) / 2)
    scale = Scale(*ends, place.left, place.right)
    end = TOP + place.step * len(entries)

    def across(score: float) -> float:
        return float(scale.at(score))

    def along(rank: float) -> float:
        return place.ranks_at + place.ranks * (rank - 0.5) / systems

    def parts() -> Iterator[str]:
        yield words(place.width if narrow else place.left - 18, 12, name_metric(metric), anchor="end", quiet=True)
        axes: list[tuple[Callable[[float], float], Sequence[tuple[float, str]]]] = [(across, shown)]
        if place.ranks:
            middle = place.ranks_at + place.ranks / 2
            yield words(middle, end + 27 if narrow else 12, "rank", anchor="middle", quiet=True)
            most = 3 if narrow else 6
            whole = ticks(1, systems, most=most) if systems > most else [(rank, str(rank)) for rank in range(1, systems + 1)]
            axes.append((along, [(number, text) for number, text in whole if "." not in text]))
        for at, marks in axes:
            for number, text in marks:
                yield line(at(number), TOP, at(number), end, colour=GRID, width=0.8, opacity=0.4)
                yield words(at(number), end + 13, text, anchor="middle", quiet=True)
        for position, entry in enumerate(entries):
            yield from _line(entry, TOP + place.step * position)
            if entry.ruled:
                yield rule(0, TOP + place.step * position, place.width)

    def _line(entry: Entry, top: float) -> Iterator[str]:
        colour = PALETTE[0] if entry.leads else INK
        named, y = (top + 11, top + 25) if narrow else (top + place.step / 2, top + place.step / 2)
        yield words(0, named, shorten(entry.name, LONGEST), bold=entry.leads)
        yield words(place.width if narrow else place.left - 18, named, entry.number, anchor="end", quiet=True)
        if entry.ends:
            yield line(across(entry.ends[0]), y, across(entry.ends[1]), y, colour=colour, width=1.6)
        if entry.core:
            yield bar(across(entry.core[0]), y - 3.5, across(entry.core[1]) - across(entry.core[0]), 7, colour=colour, opacity=0.35)
        yield dot(across(entry.score), y, colour=colour, radius=4.5 if entry.leads else 3.5)
        if entry.ranks:
            rank, first, last = entry.ranks
            span = place.ranks / systems
            yield bar(along(first) - span / 2, y - 3.5, span * (last - first + 1), 7, colour=colour, opacity=0.35, round_by=3)
            yield dot(along(rank), y, colour=colour, radius=3)

    return picture(place.width, end + BOTTOM + 12 * narrow, parts(), title=title, alt=alt)


@dataclass(frozen=True)
class _Place:
    """Where scores and ranks lie in the picture, and how high a line is."""

    width: float
    left: float
    right: float
    ranks_at: float
    ranks: float
    step: float

    def with_room(self, beside: float) -> _Place:
        """Return a place whose first and last number of the axis, so wide on each side, are within the picture."""
        return replace(self, left=max(self.left, beside), right=min(self.right, self.width - beside))


def _place(entries: Sequence[Entry], *, narrow: bool) -> _Place:
    ranked = any(entry.ranks for entry in entries)
    if narrow:
        ranks = 84.0 * ranked
        return _Place(NARROW, 4, NARROW - 14 - (ranks + 22 if ranked else 0), NARROW - 14 - ranks, ranks, 36.0)
    step = 26.0 if len(entries) <= 12 else 20.0 if len(entries) <= 25 else 16.0
    names = width_of(shorten(entry.name, LONGEST) for entry in entries)
    left = names + 14 + width_of(entry.number for entry in entries) + 18
    right = WIDTH - 14 - (RANKS + 30 if ranked else 0)
    return _Place(WIDTH, left, right, WIDTH - 14 - RANKS, RANKS * ranked, step)
