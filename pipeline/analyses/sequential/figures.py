"""Confidence sequences against the number of units, a panel for each pair, with the interval of a single look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pipeline.analyses.presentation import in_parts, select
from pipeline.analyses.sequential.tables import SECTION, write_e
from pipeline.interfaces import Figure
from pipeline.interfaces.figures import INK, PALETTE, tidy_axes
from pipeline.interfaces.wording import name_metric, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure

__all__ = ["list_figures"]

_COLUMNS = 2
_LONGEST = 22
_SHOWN_FROM = 0.1  # of the units: before, a sequence is as wide as the scores

Looks = Sequence[Mapping[str, Any]]


def list_figures(rows: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """Yield the figures of each test set and metric, with at most six panels each."""
    for test_set, metric in dict.fromkeys((row["test_set"], row["metric"]) for row in select(rows, kind="look")):
        own = select(rows, kind="look", test_set=test_set, metric=metric)
        pairs = dict.fromkeys((row["system_a"], row["system_b"]) for row in own)
        of_pair = [select(own, system_a=a, system_b=b) for a, b in pairs]
        for title, some in in_parts(f"Gains as units come in, {test_set}, {name_metric(metric)}", of_pair):
            alt = "Confidence sequence of the gain against the number of units. " + " ".join(map(_describe, some))
            caption = (
                "Band: the interval at all looks together; it never widens. Dashed: the interval of a single look that was fixed "
                "beforehand at that number of units; it is not valid for several. Line: the mean gain so far."
            )
            lines = -(-len(some) // _COLUMNS)
            size = (7.2, 0.5 + 2.1 * lines)
            draw = partial(_draw, some, metric)
            yield Figure("sequential", title, alt, caption, draw, "sequential_looks", SECTION.key, size=size, panels=True)


def _describe(looks: Looks) -> str:
    last = looks[-1]
    who = f"{last['system_a']} over {last['system_b']}, {last['units']:,} units:"
    if last["interval"] is None:
        return f"{who} no gain fits all looks."
    return f"{who} {last['interval']['lo']:.3g} to {last['interval']['hi']:.3g}, e = {write_e(last['log10_e'])}."


def _draw(pairs: Sequence[Looks], metric: str, figure: MatplotlibFigure) -> None:
    columns = min(_COLUMNS, len(pairs))
    panels = figure.subplots(-(-len(pairs) // columns), columns, sharex=True, sharey=True, squeeze=False).ravel()
    for place, (axes, looks) in enumerate(zip(panels, pairs, strict=False)):
        _draw_pair(axes, looks)
        below = place + columns >= len(pairs)
        axes.tick_params(labelbottom=below)
        tidy_axes(axes, x="units (log)" if below else "", y=f"gain in {name_metric(metric)}" if place % columns == 0 else "")
    for axes in panels[len(pairs) :]:
        axes.remove()
    panels[0].set_ylim(*_heights(pairs))


def _heights(pairs: Sequence[Looks]) -> tuple[float, float]:
    """Return the range of the panels: everything from a tenth of the units on, and 0."""
    late = [row for looks in pairs for row in looks if row["units"] >= _SHOWN_FROM * looks[-1]["units"]]
    ends = [row["interval"][end] for row in late if row["interval"] for end in ("lo", "hi")]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    room = 0.05 * (high - low) or 1.0
    return low - room, high + room


def _ticks(first: int, last: int) -> list[int]:
    """Return round numbers between the first and the last look, or these two if there are fewer than two.

    Examples
    --------
    >>> _ticks(4, 60), _ticks(22, 48), _ticks(30, 30)
    ([5, 10, 20, 50], [22, 48], [30])
    """
    # Of fewer units than a few hundred, powers of ten alone would leave one number at the axis.
    ticks = [step * 10**power for power in range(10) for step in (1, 2, 5) if first <= step * 10**power <= last]
    return ticks if len(ticks) > 1 else sorted({first, last})


def _draw_pair(axes: Axes, looks: Looks) -> None:
    there = [row for row in looks if row["interval"] is not None]
    units = [row["units"] for row in there]
    axes.set_xscale("log")
    axes.axhline(0, color=INK, linewidth=0.9)
    lo, hi = ([row["interval"][end] for row in there] for end in ("lo", "hi"))
    axes.fill_between(units, lo, hi, color=PALETTE[0], alpha=0.25, linewidth=0)
    once = [row for row in looks if row["interval_of_one_look"] is not None]
    for end in ("lo", "hi"):
        heights = [row["interval_of_one_look"][end] for row in once]
        axes.plot([row["units"] for row in once], heights, color=PALETTE[1], linewidth=1, linestyle=(0, (4, 3)))
    axes.plot([row["units"] for row in looks], [row["mean_gain"] for row in looks], color=INK, linewidth=1.2)
    axes.set_xticks(_ticks(looks[0]["units"], looks[-1]["units"]))
    axes.xaxis.set_minor_formatter(lambda *_: "")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    names = (shorten(looks[0][key], _LONGEST) for key in ("system_a", "system_b"))
    axes.set_title(" over ".join(names), loc="left", fontsize=8.5)
