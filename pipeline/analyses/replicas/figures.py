"""Gains by number of runs, after Figs. 1 and 2 of Clark and others 2011: a histogram for each pair of models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.presentation import decimals_of, select
from pipeline.dataclass import dataclass
from pipeline.interfaces import Figure
from pipeline.interfaces.charts import Chart, Panels
from pipeline.interfaces.figures import INK, PALETTE
from pipeline.interfaces.wording import format_number, name_metric, shorten

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["describe_panels", "list_figures", "list_histograms", "next_panel"]

MOST_PAIRS = 6
_COLUMNS = 2
_LONGEST = 20
_GAP = 0.08  # between names, as a share of the highest bar
FEWEST = 9
"""Gains: of fewer a histogram says less than their list."""


def list_figures(rows: Sequence[Mapping[str, Any]], cubes: Mapping[str, xr.Dataset]) -> Iterator[Figure]:
    """Yield the figures, one for each test set and metric on which models have three runs or more."""
    drawn = [row for row in rows if row["kind"] == "gains" and (row["gains"] or 0) >= FEWEST]
    for test_set, metric in dict.fromkeys((row["test_set"], row["metric"]) for row in drawn):
        own = select(drawn, test_set=test_set, metric=metric)
        pairs = list(dict.fromkeys((row["model_a"], row["model_b"]) for row in own))
        # The nearest models: of the others everybody sees which is better.
        pairs.sort(key=lambda pair: _first(own, pair)["delta"])
        yield _describe(own, pairs[:MOST_PAIRS], len(pairs), decimals_of(cubes, metric))


def list_histograms(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the histograms of all gains, a row a bin."""
    keys = ("test_set", "metric", "model_a", "model_b", "runs_each")
    return [
        {**{key: row[key] for key in keys}, "low": low, "high": high, "gains": count, "share": count / row["gains"]}
        for row in rows
        if row["kind"] == "gains" and row["gains"]
        for (low, high), count in zip(pairwise(row["edges"]), row["counts"], strict=False)
    ]


def _first(rows: Sequence[Mapping[str, Any]], pair: tuple[str, str]) -> Mapping[str, Any]:
    return next(row for row in rows if (row["model_a"], row["model_b"]) == pair)


def _describe(rows: Sequence[Mapping[str, Any]], pairs: Sequence[tuple[str, str]], all_pairs: int, digits: int) -> Figure:
    test_set, metric = rows[0]["test_set"], rows[0]["metric"]
    title = f"Gains by number of runs on {test_set}, {name_metric(metric)}"
    alt = "Histograms of the gain of models by the number of runs of either. " + " ".join(
        f"{row['model_a']} - {row['model_b']}, {_runs(row)}: 95 % from {format_number(row['gain_low'], digits)} to "
        f"{format_number(row['gain_high'], digits)}, {100 * row['against']:.0f} % below 0."
        for pair in pairs
        for row in _chosen(rows, pair)
    )
    caption = "Filled: all pairs of single runs. Lines: means of more runs, drawn without replacement from those that there are. "
    caption += "The dashed line is no gain: what lies left of it would have been called the other way."
    if all_pairs > len(pairs):
        caption += f" Shown: the {len(pairs)} nearest of {all_pairs:,} pairs."
    draw = partial(_draw, [(pair, _chosen(rows, pair)) for pair in pairs], metric)
    return describe_panels("run-gains", title, alt, caption, draw, "replicas_histograms", len(pairs))


def describe_panels(
    name: str, title: str, alt: str, caption: str, draw: Callable[[Panels], None], table: str, panels: int
) -> Figure:
    """Return a figure with a panel for each of several pairs of models, two in a row."""
    deep = -(-panels // min(_COLUMNS, panels))
    return Figure(name, title, alt, caption, draw, table, size=(7.2, 0.3 + 2.1 * deep), panels=True, plain=True)


def next_panel(panels: Panels, pair: tuple[str, str], *, of: int, x: str, y: str) -> Chart:
    """Return the next of ``of`` charts, under the names of its pair; the first of a row says what is upwards."""
    panels.columns = min(_COLUMNS, of)
    place = len(panels.charts)
    chart = panels.add(" - ".join(shorten(name, _LONGEST) for name in pair))
    chart.x.label, chart.y.label = x, y if place % panels.columns == 0 else ""
    return chart


def _draw(pairs: Sequence[tuple[tuple[str, str], Sequence[Mapping[str, Any]]]], metric: str, panels: Panels) -> None:
    for pair, rows in pairs:
        _draw_pair(next_panel(panels, pair, of=len(pairs), x=f"gain in {name_metric(metric)}", y="share"), rows)


def _chosen(rows: Sequence[Mapping[str, Any]], pair: tuple[str, str]) -> list[Mapping[str, Any]]:
    """Return the fewest, the most and a middle number of runs."""
    own = [row for row in rows if (row["model_a"], row["model_b"]) == pair]
    return [own[place] for place in sorted({0, len(own) // 2, len(own) - 1})]


@dataclass(frozen=True)
class _Drawn:
    """A histogram of the panel."""

    edges: NDArray[np.float64]
    shares: NDArray[np.float64]
    name: str
    colour: str


def _draw_pair(chart: Chart, rows: Sequence[Mapping[str, Any]]) -> None:
    drawn = []
    for number, row in enumerate(rows):
        edges, shares = np.array(row["edges"]), np.array(row["counts"]) / row["gains"]
        if len(shares) + 1 != len(edges) or edges[0] == edges[-1]:
            continue  # all gains are one
        colour = PALETTE[number]
        chart.histogram(edges.tolist(), shares.tolist(), colour=colour, opacity=None if number else 0.3)
        drawn.append(_Drawn(edges, shares, _runs(row), colour))
    highest = max((float(one.shares.max()) for one in drawn), default=1.0)
    chart.y.low, chart.y.high = 0.0, 1.14 * highest
    chart.line([0.0, 0.0], [0.0, chart.y.high], colour=INK, width=1.2, dashes="5 4")
    ends = [float(end) for one in drawn for end in (one.edges[0], one.edges[-1])]
    place = np.inf
    for one in sorted(drawn, key=lambda one: float(one.shares.max()), reverse=True):  # each clear of the one above
        place = min(float(one.shares.max()), place - _GAP * highest)
        # Beside all bars that reach so high, on the side with more room.
        first, last = _ends_of_higher(drawn, place - _GAP * highest)
        if first - min(ends) > max(ends) - last:
            chart.words(first, place, one.name, colour=one.colour, anchor="end", right=-4)
        else:
            chart.words(last, place, one.name, colour=one.colour, right=4)


def _ends_of_higher(drawn: Sequence[_Drawn], height: float) -> tuple[float, float]:
    """Return where the first bar that is higher begins, and where the last one ends."""
    higher = [(one.edges[:-1], one.edges[1:], one.shares > height) for one in drawn]
    return (
        min(float(left[there].min()) for left, _, there in higher if there.any()),
        max(float(right[there].max()) for _, right, there in higher if there.any()),
    )


def _runs(row: Mapping[str, Any]) -> str:
    return f"{row['runs_each']} run{'' if row['runs_each'] == 1 else 's'}"
