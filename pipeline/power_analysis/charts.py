"""p against the share of items that a better system hurts: a panel for each number of items, a line for each gain."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from pipeline.dataclass import dataclass
from pipeline.inference.sample_size.planning import bootstrap_p
from pipeline.interfaces.figures import INK, PALETTE, tidy_axes

__all__ = ["ITEMS", "Point", "draw_charts", "list_points", "write_points"]

ITEMS = (100, 500, 2000, 10_000)
GAINS = (0.5, 1.0, 2.0, 5.0)
"""In points."""

_MOST_HURT = 0.3  # of the items
_STEPS = 30


@dataclass(frozen=True)
class Point:
    """A point of a chart.

    Parameters
    ----------
    items : int
    gain : float
        In points.
    helped, hurt : int
    p : float
        Of the plug-in bootstrap, P(δ* ≤ 0).
    """

    items: int
    gain: float
    helped: int
    hurt: int
    p: float


def list_points(items: Sequence[int] = ITEMS, gains: Sequence[float] = GAINS) -> Iterator[Point]:
    """Yield the points of all charts: gains of a whole number of items, with up to 30 % of the items hurt."""
    for number in items:
        for gain in gains:
            net = round(number * gain / 100)
            if net == 0 or abs(100 * net / number - gain) > 1e-9:
                continue  # less than an item, or none that is whole
            most = min(int(_MOST_HURT * number), (number - net) // 2)
            for hurt in sorted({round(most * step / _STEPS) for step in range(_STEPS + 1)}):
                yield Point(number, gain, net + hurt, hurt, bootstrap_p(net + hurt, hurt, number))


def write_points(points: Sequence[Point]) -> str:
    """Return the points as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["items", "gain", "helped", "hurt", "p"])
    writer.writerows([point.items, f"{point.gain:g}", point.helped, point.hurt, repr(point.p)] for point in points)
    return text.getvalue()


def draw_charts(points: Sequence[Point]) -> str:
    """Return the charts as SVG."""
    from pipeline.report.drawing.matplotlib_figures import canvas, finish

    items = list(dict.fromkeys(point.items for point in points))
    title = "p against the share of items hurt"
    alt = "The plug-in p of the paired bootstrap rises with the share of items that are hurt, and falls with gain and items."
    with canvas(7.2, 5.6) as (figure, axes):
        axes.remove()
        panels = figure.subplots(2, (len(items) + 1) // 2, squeeze=False, sharey=True).ravel()
        for panel, number in zip(panels, items, strict=False):
            for gain, colour in zip(sorted({point.gain for point in points}), (*PALETTE, INK), strict=False):
                own = [point for point in points if (point.items, point.gain) == (number, gain)]
                shares = [100 * point.hurt / number for point in own]
                panel.plot(shares, [point.p for point in own], color=colour, linewidth=1.6, label=f"gain of {gain:g} %")
            panel.axhline(0.05, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
            panel.set_title(f"{number:,} items", fontsize=9.5)
            panel.set_ylim(0, 0.5)
            tidy_axes(panel, x="items hurt, %", y="p")
        for panel in panels[len(items) :]:
            panel.remove()
        handles, labels = panels[-1 if len(items) == len(panels) else 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
        return finish(figure, title=title, alt=alt)
