"""A chart as values: points, lines, areas and words over two axes, which the report draws as SVG without a plotting library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pipeline.dataclass import dataclass, field
from pipeline.interfaces.figures import INK

__all__ = ["Area", "Axis", "Chart", "Corner", "Line", "Panels", "Points", "Rule", "Span", "Words"]

Corner = Literal["above", "top left", "top right", "bottom left", "bottom right"]
"""Where a legend stands: above the chart, or in a corner of it."""

MARKERS = "os^vDPX*hp<x|"
"""Shapes of points, by the letters that matplotlib has for them; ``x`` and ``|`` are strokes."""


@dataclass(frozen=True)
class Points:
    """Marks of one shape and colour, each centred at a point; sizes are widths in pixels."""

    x: Sequence[float]
    y: Sequence[float]
    marker: str
    colour: str
    size: float
    filled: bool
    opacity: float
    label: str | None

    def __post_init__(self) -> None:
        _check_lengths(self.x, self.y)
        if self.marker not in MARKERS or len(self.marker) != 1:
            raise ValueError(f"{self.marker!r} is not a marker; there are {MARKERS}")


@dataclass(frozen=True)
class Line:
    """A line through points; ``dashes`` are lengths of strokes and gaps, as in SVG."""

    x: Sequence[float]
    y: Sequence[float]
    colour: str
    width: float
    dashes: str
    opacity: float

    def __post_init__(self) -> None:
        _check_lengths(self.x, self.y)


@dataclass(frozen=True)
class Area:
    """What lies between two curves; a bar is the area over two points."""

    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    colour: str
    opacity: float
    label: str | None

    def __post_init__(self) -> None:
        _check_lengths(self.x, self.low)
        _check_lengths(self.x, self.high)


@dataclass(frozen=True)
class Rule:
    """A line across the whole chart, at a value of x or of y."""

    along: Literal["x", "y"]
    at: float
    colour: str
    width: float
    dashes: str


@dataclass(frozen=True)
class Span:
    """A band across the whole chart, between two values of y."""

    low: float
    high: float
    colour: str
    opacity: float


@dataclass(frozen=True)
class Words:
    """Words beside a point, ``right`` and ``up`` of it in pixels; where ``y`` is None, beside the lower end of the chart."""

    x: float
    y: float | None
    text: str
    colour: str
    anchor: Literal["start", "middle", "end"]
    right: float
    up: float
    size: float


@dataclass
class Axis:
    """What an axis shows.

    Parameters
    ----------
    label : str
    low, high : float, optional
        Its ends; as far as the marks go where they are not given. ``low`` may lie above ``high``.
    log : bool
    ticks : sequence of (float, str), optional
        Where it has marks, and what is written there; round numbers where not given.
    grid : bool
    """

    label: str = ""
    low: float | None = None
    high: float | None = None
    log: bool = False
    ticks: Sequence[tuple[float, str]] | None = None
    grid: bool = True


@dataclass
class Chart:
    """A chart, empty at first; marks lie over those that were added before.

    Parameters
    ----------
    x, y : Axis
    legend : Corner, optional
        Where the marks that have a label are named.
    title : str
        Above the chart, where a figure has several.

    Examples
    --------
    >>> chart = Chart(legend="above")
    >>> chart.points([1, 2, 3], [2, 4, 8], "o", colour="#0072b2", label="found")
    >>> chart.rule(y=5)
    >>> chart.x.label, chart.y.log = "units", True
    >>> [type(mark).__name__ for mark in chart.marks]
    ['Points', 'Rule']
    """

    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    legend: Corner | None = None
    title: str = ""
    marks: list[Points | Line | Area | Rule | Span | Words] = field(default_factory=list)

    def points(
        self,
        x: Sequence[float],
        y: Sequence[float],
        marker: str = "o",
        *,
        colour: str,
        size: float = 7.0,
        filled: bool = True,
        opacity: float = 1.0,
        label: str | None = None,
    ) -> None:
        """Add points; such as have a label and no place are in the legend only."""
        self.marks.append(Points(x, y, marker, colour, size, filled, opacity, label))

    def line(
        self, x: Sequence[float], y: Sequence[float], *, colour: str, width: float = 1.5, dashes: str = "", opacity: float = 1.0
    ) -> None:
        """Add a line through points, two or more."""
        self.marks.append(Line(x, y, colour, width, dashes, opacity))

    def area(
        self,
        x: Sequence[float],
        low: Sequence[float],
        high: Sequence[float],
        *,
        colour: str,
        opacity: float = 0.45,
        label: str | None = None,
    ) -> None:
        """Add what lies between two curves."""
        self.marks.append(Area(x, low, high, colour, opacity, label))

    def histogram(
        self, edges: Sequence[float], heights: Sequence[float], *, colour: str, opacity: float | None = None, width: float = 1.3
    ) -> None:
        """Add the outline of a histogram, and below it its area where that has an opacity; edges are one more than heights.

        Examples
        --------
        >>> chart = Chart()
        >>> chart.histogram([0, 1, 3], [4, 2], colour="#0072b2")
        >>> chart.marks[0].x, chart.marks[0].y
        ([0, 0, 1, 1, 3, 3], [0.0, 4, 4, 2, 2, 0.0])
        """
        _check_lengths(edges[1:], heights)
        x = [edge for edge in edges for _ in range(2)]
        y = [0.0, *(height for height in heights for _ in range(2)), 0.0]
        if opacity is not None:
            self.area(x, [0.0] * len(x), y, colour=colour, opacity=opacity)
        self.line(x, y, colour=colour, width=width)

    def rule(
        self, *, x: float | None = None, y: float | None = None, colour: str = INK, width: float = 1.2, dashes: str = "5 4"
    ) -> None:
        """Add a line across the chart, at a value of x or of y."""
        if (x is None) == (y is None):
            raise ValueError("a rule stands at a value of x or of y")
        self.marks.append(
            Rule("y", y, colour, width, dashes) if x is None and y is not None else Rule("x", x or 0.0, colour, width, dashes)
        )

    def span(self, low: float, high: float, *, colour: str, opacity: float = 0.25) -> None:
        """Add a band across the chart, between two values of y."""
        self.marks.append(Span(low, high, colour, opacity))

    def words(
        self,
        x: float,
        y: float | None,
        text: str,
        *,
        colour: str = INK,
        anchor: Literal["start", "middle", "end"] = "start",
        right: float = 0.0,
        up: float = 0.0,
        size: float = 10.0,
    ) -> None:
        """Add words whose middle is at the height of a point, moved by some pixels."""
        self.marks.append(Words(x, y, text, colour, anchor, right, up, size))


@dataclass
class Panels:
    """Charts of one size side by side, row after row; empty at first.

    Parameters
    ----------
    columns : int
        Charts in a row.

    Examples
    --------
    >>> panels = Panels()
    >>> panels.columns = 2
    >>> panels.add("north").points([1], [2], colour="#0072b2")
    >>> [chart.title for chart in panels.charts]
    ['north']
    """

    columns: int = 1
    charts: list[Chart] = field(default_factory=list)

    def add(self, title: str = "") -> Chart:
        """Return the next chart, empty."""
        self.charts.append(Chart(title=title))
        return self.charts[-1]


def _check_lengths(x: Sequence[float], y: Sequence[float]) -> None:
    if len(x) != len(y):
        raise ValueError(f"{len(x)} values of x and {len(y)} of y")
