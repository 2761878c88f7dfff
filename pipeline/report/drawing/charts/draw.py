"""Draw a chart as SVG: axes with their grid, the layers over them in order, and the legend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pipeline.dataclass import dataclass
from pipeline.interfaces.charts import Area, Chart, Line, Panels, Points, Rule, Span, Words
from pipeline.interfaces.figures import GRID, INK, MOST_POINTS
from pipeline.report.drawing.charts.markers import STROKES, path_of, thin_out
from pipeline.report.drawing.charts.marks_below import TICK, TURN, MarksBelow, marks_below, width_of_words
from pipeline.report.drawing.charts.scales import Scale, scale_of, ticks_of
from pipeline.report.drawing.shapes import NARROW, SIZE, bar, escape_text, line, picture, width_of

__all__ = ["draw_chart", "draw_chart_narrow", "draw_panels", "draw_panels_narrow"]

_INCH = 100.0
_LEGEND_ROW = 19.0
_TITLE, _TITLE_ROW = 12.0, 12.0
_SAMPLE = 22.0
_RIGHT = 16.0
_HIGHEST, _MOST_LEFT = 3.2, 0.4
"""Of a chart for a phone: inches, and the share of its width that stands left of the y axis."""
_ROW = 44.0
"""Of a chart for a phone whose rows have their names above them: pixels from one row to the next."""


@dataclass(frozen=True)
class _Frame:
    """Where the chart lies in its picture."""

    left: float
    top: float
    right: float
    bottom: float


def draw_chart(
    chart: Chart, size: tuple[float, float] = (7.2, 4.0), *, title: str, alt: str, most_points: int = MOST_POINTS
) -> str:
    """Return a chart as SVG.

    Parameters
    ----------
    chart : Chart
    size : tuple of float
        Width and height in inches, of a hundred pixels each.
    title, alt : str
        For who cannot see it.
    most_points : int
        Of one shape and colour; of more, those that lie on others are left out.
    """
    width, height = (_INCH * inches for inches in size)
    return picture(width, height, _parts(chart, width, height, _left_of(chart, height), most_points), title=title, alt=alt)


def draw_chart_narrow(chart: Chart, size: tuple[float, float], *, title: str, alt: str, most_points: int = MOST_POINTS) -> str:
    """Return a chart for a phone.

    Names of rows that would leave no room for the chart beside them stand above their rows; of another chart with such words there
    is none.
    """
    height = min(size[1], _HIGHEST)
    if _left_of(chart, _INCH * height) > _MOST_LEFT * NARROW:
        return _draw_below_names(chart, title, alt, most_points) if _has_rows(chart) else ""
    return draw_chart(chart, (NARROW / _INCH, height), title=title, alt=alt, most_points=most_points)


def _has_rows(chart: Chart) -> bool:
    """Say whether the y axis has names of rows, one apart, with room above what is drawn in them."""
    rows = [value for value, _ in chart.y.ticks or ()]
    full = any(isinstance(mark, Words) or (isinstance(mark, Area) and np.ptp([mark.low, mark.high]) > 0.6) for mark in chart.marks)
    return rows == [*range(len(rows))] and None not in (chart.y.low, chart.y.high) and not chart.y.label and not full


def _draw_below_names(chart: Chart, title: str, alt: str, most_points: int) -> str:
    assert chart.y.low is not None
    assert chart.y.high is not None
    height = _top(chart, _named(chart), NARROW) + _ROW * (chart.y.high - chart.y.low) + _below(chart, _RIGHT, NARROW)
    parts = _parts(chart, NARROW, height, _RIGHT, most_points, names_above=True)
    return picture(NARROW, height, parts, title=title, alt=alt)


def draw_panels_narrow(panels: Panels, size: tuple[float, float], *, title: str, alt: str) -> str:
    """Return charts for a phone, one below the other."""
    rows = -(-len(panels.charts) // max(1, panels.columns))
    height = size[1] / max(1, rows) * len(panels.charts)
    if any(_left_of(chart, _INCH * height) > _MOST_LEFT * NARROW for chart in panels.charts):
        return ""
    stacked = Panels()
    stacked.charts.extend(panels.charts)
    return draw_panels(stacked, (NARROW / _INCH, height), title=title, alt=alt)


def draw_panels(panels: Panels, size: tuple[float, float], *, title: str, alt: str, most_points: int = MOST_POINTS) -> str:
    """Return charts side by side as SVG; the same places of all of them lie under one another.

    Parameters
    ----------
    panels : Panels
    size, title, alt, most_points
        As of `draw_chart`; the size is that of all charts together.
    """
    width, height = (_INCH * inches for inches in size)
    columns = max(1, panels.columns)
    across, down = width / columns, height / max(1, -(-len(panels.charts) // columns))
    left = max((_left_of(chart, down) for chart in panels.charts), default=0.0)
    below = max((_below(chart, left, across) for chart in panels.charts), default=0.0)
    parts = []
    for number, chart in enumerate(panels.charts):
        x, y = across * (number % columns), down * (number // columns)
        parts.append(f'<g transform="translate({x:.1f} {y:.1f})">')
        parts += _parts(chart, across, down, left, most_points, below=below, clip=f"inside-{number + 1}")
        parts.append("</g>")
    return picture(width, height, parts, title=title, alt=alt)


def _below(chart: Chart, left: float, width: float) -> float:
    """Return the height that marks and label of the x axis take."""
    return 14 + TICK + (SIZE + 8) * bool(chart.x.label) + marks_below(chart, left, width - _RIGHT).deeper


def _left_of(chart: Chart, height: float) -> float:
    """Return the width that marks and label of the y axis take."""
    marks = ticks_of(chart.y, scale_of(chart, "y", height, 0.0))
    return 14 + width_of(text for _, text in marks) * TICK / SIZE + (SIZE + 8) * bool(chart.y.label)


def _named(chart: Chart) -> list[Points | Area]:
    """Return what the legend names."""
    return [mark for mark in chart.marks if isinstance(mark, Points | Area) and mark.label]


def _top(chart: Chart, named: Sequence[Points | Area], width: float) -> float:
    """Return the height that title and legend take above the chart."""
    rows = _rows(named, width - 20) if chart.legend == "above" else []
    return 10.0 + _TITLE_ROW * bool(chart.title) + _LEGEND_ROW * len(rows)


def _parts(
    chart: Chart,
    width: float,
    height: float,
    left: float,
    most_points: int,
    *,
    below: float | None = None,
    clip: str = "inside",
    names_above: bool = False,
) -> Iterator[str]:
    named = _named(chart)
    rows = _rows(named, width - 20) if chart.legend == "above" else []
    top = _top(chart, named, width)
    bottom = height - (_below(chart, left, width) if below is None else below)
    upright, across = scale_of(chart, "y", bottom, top), scale_of(chart, "x", left, width - _RIGHT)
    marks = marks_below(chart, left, width - _RIGHT)
    frame = _Frame(left, top, width - _RIGHT, bottom)
    if chart.title:
        yield _text(left, 8.0, chart.title, size=_TITLE)
    yield from _axes(chart, frame, marks, upright, names_above=names_above)
    # Points and words may reach over the edge; lines and areas end there.
    inside = [mark for mark in chart.marks if not isinstance(mark, Points | Words)]
    outside = [mark for mark in chart.marks if isinstance(mark, Points | Words)]
    place = f'<rect x="{left:.1f}" y="{top:.1f}" width="{frame.right - left:.1f}" height="{bottom - top:.1f}"/>'
    yield f'<clipPath id="{clip}">{place}</clipPath><g clip-path="url(#{clip})">'
    yield from (part for mark in inside for part in _draw(mark, frame, across, upright, most_points))
    yield "</g>"
    yield from (part for mark in outside for part in _draw(mark, frame, across, upright, most_points))
    yield from _legend(chart, named, rows, frame)


def _axes(chart: Chart, frame: _Frame, below: MarksBelow, upright: Scale, *, names_above: bool) -> Iterator[str]:
    for mark in below.marks:
        if chart.x.grid:
            yield line(mark.at, frame.top, mark.at, frame.bottom, colour=GRID, width=0.8, opacity=0.3)
        yield line(mark.at, frame.bottom, mark.at, frame.bottom + 4, colour=GRID)
        if below.turned:
            place = f'transform="translate({mark.at + 4:.1f} {frame.bottom + 12:.1f}) rotate(-{TURN:g})"'
            yield f'<text {place} text-anchor="end" font-size="{TICK:g}">{escape_text(mark.text)}</text>'
        elif mark.text:
            middle = min(max(mark.at, mark.width / 2), frame.right + _RIGHT - mark.width / 2)
            yield _text(middle, frame.bottom + 13, mark.text, anchor="middle", size=TICK)
    for y, text in _placed(upright, ticks_of(chart.y, upright)):
        if chart.y.grid:
            yield line(frame.left, y, frame.right, y, colour=GRID, width=0.8, opacity=0.3)
        yield line(frame.left - 4, y, frame.left, y, colour=GRID)
        if names_above:
            yield _text(frame.left + 6, y - _ROW / 2 + 0.6 * TICK, text, size=TICK)
        else:
            yield _text(frame.left - 7, y, text, anchor="end", size=TICK)
    yield line(frame.left, frame.top, frame.left, frame.bottom, colour=GRID)
    yield line(frame.left, frame.bottom, frame.right, frame.bottom, colour=GRID)
    if chart.x.label:
        yield _text((frame.left + frame.right) / 2, frame.bottom + 30 + below.deeper, chart.x.label, anchor="middle")
    if chart.y.label:
        middle = (frame.top + frame.bottom) / 2
        turned = f' transform="translate({SIZE * 0.5 + 4:.1f} {middle:.1f}) rotate(-90)"'
        yield f'<text{turned} y="{0.36 * SIZE:.1f}" text-anchor="middle">{escape_text(chart.y.label)}</text>'


def _placed(scale: Scale, marks: Sequence[tuple[float, str]]) -> Iterator[tuple[float, str]]:
    values, texts = [value for value, _ in marks], [text for _, text in marks]
    return zip(scale.at(values).tolist(), texts, strict=True)


def _draw(
    mark: Points | Line | Area | Rule | Span | Words, frame: _Frame, across: Scale, upright: Scale, most_points: int
) -> Iterator[str]:
    match mark:
        case Points():
            shown = np.flatnonzero(across.shows(mark.x) & upright.shows(mark.y))
            x, y = across.at(mark.x)[shown], upright.at(mark.y)[shown]
            kept = thin_out(x, y, most_points)
            if len(kept):
                yield f'<path d="{path_of(mark.marker, x[kept], y[kept], mark.size)}"{_look(mark)}/>'
        case Line():
            dashes = f' stroke-dasharray="{mark.dashes}"' if mark.dashes else ""
            look = f'stroke="{mark.colour}" stroke-width="{mark.width:g}" stroke-opacity="{mark.opacity:g}"{dashes}'
            for part in _known_parts(mark.x, mark.y):
                points = " ".join(_places(across, mark.x[part], upright, mark.y[part]))
                yield f'<polyline points="{points}" fill="none" {look}/>'
        case Area():
            for part in _known_parts(mark.x, mark.low, mark.high):
                there, back = (_places(across, mark.x[part], upright, curve[part]) for curve in (mark.low, mark.high))
                points = " ".join([*there, *reversed(back)])
                yield f'<polygon points="{points}" fill="{mark.colour}" fill-opacity="{mark.opacity:g}"/>'
        case Rule():
            at = float((across if mark.along == "x" else upright).at(mark.at))
            ends = (at, frame.top, at, frame.bottom) if mark.along == "x" else (frame.left, at, frame.right, at)
            drawn = line(*ends, colour=mark.colour, width=mark.width)
            yield drawn.replace("/>", f' stroke-dasharray="{mark.dashes}"/>') if mark.dashes else drawn
        case Span():
            a, b = sorted(upright.at([mark.low, mark.high]).tolist())
            yield bar(frame.left, a, frame.right - frame.left, b - a, colour=mark.colour, opacity=mark.opacity)
        case Words():
            place = float(across.at(mark.x)) + mark.right
            wide = width_of_words(mark.text) * mark.size / TICK
            before = wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[mark.anchor]
            place = max(min(place, frame.right + _RIGHT - wide + before), before)  # within the picture
            height = frame.bottom - 6 if mark.y is None else float(upright.at(mark.y))
            yield _text(place, height - mark.up, mark.text, anchor=mark.anchor, size=mark.size, colour=mark.colour)


def _known_parts(*columns: Sequence[float]) -> list[slice]:
    """Return the stretches without NaN: a browser draws nothing of a line after the first place that is not a number."""
    known = ~np.isnan(np.asarray(columns, dtype=np.float64)).any(axis=0)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]))).tolist()
    return [slice(start, stop) for start, stop in zip(edges[::2], edges[1::2], strict=True)]


def _places(across: Scale, x: Sequence[float], upright: Scale, y: Sequence[float]) -> list[str]:
    # A point far outside the picture would be a useless number of many digits.
    bounded = (np.clip(scale.at(values), -1e5, 1e5).tolist() for scale, values in ((across, x), (upright, y)))
    return [f"{a:.1f},{b:.1f}" for a, b in zip(*bounded, strict=True)]


def _look(mark: Points | Area) -> str:
    if isinstance(mark, Points) and mark.marker in STROKES:
        return f' fill="none" stroke="{mark.colour}" stroke-width="1.6" stroke-opacity="{mark.opacity:g}"'
    if isinstance(mark, Points) and not mark.filled:
        return f' fill="none" stroke="{mark.colour}" stroke-width="1.1" stroke-opacity="{mark.opacity:g}"'
    return f' fill="{mark.colour}" fill-opacity="{mark.opacity:g}"'


def _rows(named: Sequence[Points | Area], width: float) -> list[list[Points | Area]]:
    """Distribute the entries of a legend among rows."""
    rows: list[list[Points | Area]] = []
    used = width
    for mark in named:
        own = _SAMPLE + width_of([mark.label or ""]) + 10
        if not rows or used + own > width:
            rows.append([])
            used = 0.0
        rows[-1].append(mark)
        used += own
    return rows


def _legend(chart: Chart, named: Sequence[Points | Area], rows: Sequence[Sequence[Points | Area]], frame: _Frame) -> Iterator[str]:
    if chart.legend is None:
        return
    for number, row in enumerate(rows):
        x = 10.0  # not where the axis begins: the rows are as wide as the picture
        for mark in row:
            yield from _entry(mark, x, 10 + _LEGEND_ROW * number)
            x += _SAMPLE + width_of([mark.label or ""]) + 10
    if chart.legend != "above":
        low, left = chart.legend.startswith("bottom"), chart.legend.endswith("left")
        x = frame.left + 8 if left else frame.right - 8 - _SAMPLE - width_of(mark.label or "" for mark in named)
        y = frame.bottom - 6 - _LEGEND_ROW * (len(named) - 0.5) if low else frame.top + 6 + _LEGEND_ROW * 0.5
        for number, mark in enumerate(named):
            yield from _entry(mark, x, y + _LEGEND_ROW * number)


def _entry(mark: Points | Area, x: float, y: float) -> Iterator[str]:
    if isinstance(mark, Points):
        shape = path_of(mark.marker, np.array([x + 8]), np.array([y]), max(mark.size, 7.0))
        yield f'<path d="{shape}"{_look(mark)}/>'
    else:
        yield bar(x, y - 5, 16, 10, colour=mark.colour, opacity=mark.opacity)
    yield _text(x + _SAMPLE, y, mark.label or "")


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: float = SIZE, colour: str = INK) -> str:
    """Return text whose middle is at the height ``y``."""
    look = f' text-anchor="{anchor}"' * (anchor != "start") + f' font-size="{size:g}"' * (size != SIZE)
    look += f' fill="{colour}"' * (colour != INK)
    lines = text.split("\n")
    first = y + 0.36 * size - 1.15 * size * (len(lines) - 1) / 2
    return "".join(
        f'<text x="{x:.1f}" y="{first + 1.15 * size * number:.1f}"{look}>{escape_text(words)}</text>'
        for number, words in enumerate(lines)
    )
