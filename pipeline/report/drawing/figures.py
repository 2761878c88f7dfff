"""The figures of a report: standings, confidence against gain as in Berg-Kirkpatrick and others, and those that analyses bring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.pair_classes import DIFFERENT, SAME, PairClass, Relation, find_relation
from pipeline.analyses.pairs import PairTable, read_pairs
from pipeline.interfaces import Figure, Finding, Mark
from pipeline.interfaces.analyses import FULL
from pipeline.interfaces.charts import Chart, Panels
from pipeline.interfaces.figures import GRID, INK, MOST_POINTS, PALETTE
from pipeline.interfaces.wording import name_metric
from pipeline.report.document import Report
from pipeline.report.drawing.charts.draw import draw_chart, draw_chart_narrow, draw_panels, draw_panels_narrow
from pipeline.report.drawing.standings.figures import draw_models, draw_systems
from pipeline.report.drawing.svg import Drawing
from pipeline.report.facts import FindingBlock
from pipeline.report.input import ReportInput
from pipeline.report.values import format_gain, on_set

__all__ = ["draw_all", "draw_finding"]

FEWEST_POINTS = 6
"""Pairs; a scatter of fewer shows nothing that their table does not."""
POINTS_IN_ALL = 20_000
SURE = 0.0005
COLOURS = {"same": PALETTE[0], "different": PALETTE[1], "other": GRID, "all": INK}
MARKERS = {"same": "o", "different": "^", "other": "s", "all": "o"}
NAMED = tuple(zip(PALETTE[2:] * 2, "DvPX*<hp", strict=True))
"""Colour and shape of the classes of pairs that a study names; where there are more, pairs are drawn as same and different."""


def draw_all(given: ReportInput, report: Report) -> list[Drawing]:
    """Draw every figure in the order of the page; the report's own are numbered here, those of findings in the document."""
    scatters = (("confidence", drawing) for drawing in _scatters(given, report))
    numbers: Counter[str] = Counter()
    drawings = []
    for name, drawing in chain(draw_models(report), draw_systems(report), scatters):
        numbers[name] += 1
        drawings.append(replace(drawing, file=f"{name}-{numbers[name]:02d}.svg"))
    for finding, described in zip(given.findings, report.findings, strict=True):
        drawings += draw_finding(finding, described)
    return drawings


def draw_finding(finding: Finding, described: FindingBlock) -> Iterator[Drawing]:
    """Draw the figures of a finding, which the document describes."""
    for figure, words in zip(finding.figures, described.figures, strict=True):
        wide, narrow = _draw_plainly(figure) if figure.plain else (_draw_with_matplotlib(figure), "")
        yield Drawing(**asdict(words), svg=wide, narrow=narrow)


def _draw_plainly(figure: Figure) -> tuple[str, str]:
    """Return a figure for a page of any width, and for a phone."""
    if figure.panels:
        panels = Panels()
        figure.draw(panels)
        draws: Iterable[Callable[..., str]] = (partial(draw, panels) for draw in (draw_panels, draw_panels_narrow))
    else:
        chart = Chart()
        figure.draw(chart)
        draws = (partial(draw, chart) for draw in (draw_chart, draw_chart_narrow))
    wide, narrow = (draw(figure.size, title=figure.title, alt=figure.alt) for draw in draws)
    return wide, narrow


def _draw_with_matplotlib(figure: Figure) -> str:
    # Importing matplotlib takes as long as making the rest of a report of a few systems.
    from pipeline.report.drawing.matplotlib_figures import canvas, finish

    with canvas(*figure.size) as (whole, axes):
        if figure.panels:
            axes.remove()
        figure.draw(whole if figure.panels else axes)
        return finish(whole, title=figure.title, alt=figure.alt)


def _scatters(given: ReportInput, report: Report) -> Iterator[Drawing]:
    """Draw a scatter for each (test set, metric, procedure) that has p-values."""
    # A page holds every figure: of more points than these, those that lie on others are left out.
    most_points = min(MOST_POINTS, POINTS_IN_ALL // max(1, len(report.signature)))
    for where in report.places:
        cube = given.cubes[where.test_set]
        table = read_pairs(cube, metric=where.metric, test_size=FULL, procedure=where.procedure)
        if int(table.usable.sum()) < FEWEST_POINTS:
            continue
        marks = [mark for finding in given.findings for mark in finding.marks if mark.where == where._asdict()]
        relation = find_relation(cube, next((mark.relation for mark in marks), None))
        title = f"Confidence against gain {on_set(where.test_set)}, {name_metric(where.metric)}"
        title += report.name_procedure(where.procedure)
        runs = next((f" of single {row.repeated}s" for row in report.model_pairs_of(where)), "")
        yield _draw_scatter(
            title, where.metric, table, relation, marks, report.decimals(where.metric), most_points, pair=f"pair{runs}"
        )


def _draw_scatter(
    title: str,
    metric: str,
    table: PairTable,
    relation: Relation | None,
    marks: Sequence[Mark],
    digits: int,
    most_points: int,
    *,
    pair: str,
) -> Drawing:
    named = {mark.pairs: PairClass(mark.pairs, mark.values) for mark in marks if mark.values}
    drawn = [*named.values()] if len(named) <= len(NAMED) else []
    classes = _classes(table, relation, drawn)
    styles = _styles(drawn)
    right = _right_end(table)
    alt = " ".join([_describe_points(table, digits), *(mark.alt for mark in marks if mark.alt)])
    caption = " ".join([f"Each point is a {pair}.", *dict.fromkeys(mark.caption for mark in marks if mark.caption)])
    chart = Chart()
    for mark in marks:
        if isinstance(mark.at, tuple):
            chart.span(1 - mark.at[1], 1 - mark.at[0], colour=GRID, opacity=0.28)
    _draw_points(chart, table, classes, relation, styles)
    lines = [mark for mark in marks if mark.pairs in classes or (mark.pairs == "all" and len(classes) == 1)]
    at = [(mark.at, mark.label, styles[mark.pairs][0]) for mark in lines if isinstance(mark.at, float) and mark.at <= right]
    chart.legend = "above" if at else "bottom right"  # there the numbers of the lines stand
    for height, (gain, label, colour) in enumerate(at):
        _draw_line(chart, gain, label, colour, left=_is_left(gain, [other for other, _, _ in at], right), height=height)
    chart.x.label, chart.x.low, chart.x.high = f"gain in {name_metric(metric)}", 0, right
    chart.y.label = "confidence, 1 − p (one-sided)"
    chart.y.low, chart.y.high = min(0.48, 1 - float(table.p[table.usable].max())), 1.008
    size = (7.2, 4.4)
    svg = draw_chart(chart, size, title=title, alt=alt, most_points=most_points)
    narrow = draw_chart_narrow(chart, size, title=title, alt=alt, most_points=most_points // 4)
    if drawn:
        caption += " A pair of several named classes is drawn as the first of them."
    if len(named) > len(drawn):
        caption += f" {len(named)} classes are more than there are colours: pairs are drawn as same and different."
    beyond = int((table.usable & (table.gain > right)).sum())
    if beyond == 1:
        caption += f" 1 pair with a larger gain, with p < {SURE:g}, lies to the right of the axis."
    elif beyond:
        caption += f" {beyond:,} pairs with larger gains, all with p < {SURE:g}, lie to the right of the axis."
    return Drawing("figures", "", title, alt, caption, svg, "pairs.csv", narrow)


def _describe_points(table: PairTable, digits: int) -> str:
    """Describe in words where the points lie."""
    gain, confidence = table.gain[table.usable], 1 - table.p[table.usable]
    count = "1 pair" if len(gain) == 1 else f"{len(gain):,} pairs"
    spans = f"gains from {format_gain(float(gain.min()), digits)} to {format_gain(float(gain.max()), digits)}, "
    return f"{count}: {spans}confidence from {confidence.min():.3f} to {confidence.max():.3f}."


def _classes(table: PairTable, relation: Relation | None, named: Sequence[PairClass]) -> dict[str, NDArray[np.bool_]]:
    """Return the usable pairs by class, the largest class first: it is drawn below the others.

    A pair is drawn once: of the classes that hold it, as the first of those that are named, else as same or different.
    """
    classes: dict[str, NDArray[np.bool_]] = {}
    rest = table.usable
    if relation is not None:
        for kind in (*named, SAME, DIFFERENT):
            classes[kind.label] = rest & relation.mask(table, kind)
            rest = rest & ~classes[kind.label]
    classes["other" if any(mask.any() for mask in classes.values()) else "all"] = rest
    filled = {label: mask for label, mask in classes.items() if mask.any()}
    return dict(sorted(filled.items(), key=lambda item: -int(item[1].sum())))


def _styles(named: Sequence[PairClass]) -> dict[str, tuple[str, str]]:
    """Return colour and shape of each class."""
    own = {kind.label: style for kind, style in zip(named, NAMED, strict=False)}
    return {label: (colour, MARKERS[label]) for label, colour in COLOURS.items()} | own


def _right_end(table: PairTable) -> float:
    """Return the end of the gain axis: beyond it every pair is sure, and would press the others together."""
    undecided = table.usable & (table.p >= SURE)
    return 1.12 * float(table.gain[undecided if undecided.any() else table.usable].max()) or 1.0


def _draw_points(
    chart: Chart,
    table: PairTable,
    classes: Mapping[str, NDArray[np.bool_]],
    relation: Relation | None,
    styles: Mapping[str, tuple[str, str]],
) -> None:
    for label, mask in classes.items():
        words = f"{label} {relation.name}" if relation is not None and label in {"same", "different"} else f"{label} pairs"
        colour, marker = styles[label]
        gains, confidence = table.gain[mask].tolist(), (1 - table.p[mask]).tolist()
        named = f"{words} ({int(mask.sum()):,})"
        chart.points(gains, confidence, marker, colour=colour, size=5, filled=False, opacity=0.75, label=named)


def _is_left(gain: float, all_gains: Sequence[float], right: float) -> bool:
    """Say whether the label of a line stands on its left: where the axis ends, or where it would cross the next line.

    Examples
    --------
    >>> [_is_left(gain, [2.0, 2.2], 4.0) for gain in (2.0, 2.2)]
    [True, False]
    """
    reach = 0.3 * right
    crosses = any(gain < other < gain + reach for other in all_gains)
    return gain > 0.7 * right or (crosses and gain > reach and not any(gain - reach < other < gain for other in all_gains))


def _draw_line(chart: Chart, gain: float, label: str, colour: str, *, left: bool, height: int) -> None:
    """Draw the line of a threshold; the labels of several lines stand one above the other."""
    chart.rule(x=gain, colour=colour, width=1.4)
    anchor: Literal["start", "end"] = "end" if left else "start"
    chart.words(gain, None, label, colour=colour, anchor=anchor, right=-5 if left else 5, up=4 + 15 * height, size=11)
