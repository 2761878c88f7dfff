"""Quantiles of p under the laboratory's nulls against those of a uniform p: a panel for each test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.presentation import select
from pipeline.analyses.type_one.as_is import AS_THEY_ARE
from pipeline.analyses.type_one.pairs import BY_DOCUMENT, SWAPPED
from pipeline.analyses.type_one.rows import PROBABILITIES, band_of
from pipeline.interfaces import Figure
from pipeline.interfaces.figures import GRID, INK, PALETTE, tidy_axes
from pipeline.interfaces.wording import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure

__all__ = ["list_figures", "list_quantiles"]

FEWEST = 100
"""Null data sets: of fewer, quantiles say little."""

MOST_CURVES = 3
_COLUMNS = 3
_LONGEST = 14
MARKERS = "o^s"
TICKS = (1.0, 0.1, 0.01, 0.001)
EDGE = 0.0005
_GAP = 0.27  # between labels, in decades


def list_figures(rows: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """Go through the figures, one a test set, metric and way to make null data sets; a panel is a test, a curve a pair."""
    usable = [row for row in rows if row["quantiles"] and row["nulls"] >= FEWEST and row["design"] != AS_THEY_ARE]
    for where in dict.fromkeys((row["test_set"], row["metric"], row["design"]) for row in usable):
        own = select(usable, **dict(zip(("test_set", "metric", "design"), where, strict=True)))
        yield _describe(own)


def list_quantiles(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the quantiles of p of every test, a row a quantile, with the 95 % band of a uniform p."""
    keys = ("test_set", "metric", "design", "pair", "procedure", "convention", "nulls")
    bands = {nulls: band_of(nulls) for nulls in {row["nulls"] for row in rows if row["nulls"]}}
    return [
        {**{key: row[key] for key in keys}, "probability": at, "p": p, "band": {"lo": low, "hi": high}}
        for row in rows
        if row["quantiles"]
        for at, p, (low, high) in zip(PROBABILITIES, row["quantiles"], bands[row["nulls"]], strict=True)
    ]


def _describe(rows: Sequence[Mapping[str, Any]]) -> Figure:
    test_set, metric, design = (rows[0][key] for key in ("test_set", "metric", "design"))
    tests = list(dict.fromkeys((row["procedure"], row["convention"]) for row in rows))
    pairs = list(dict.fromkeys(row["pair"] for row in rows))
    title = f"Level of the tests on {test_set}, {metric}: {design}"
    alt = "Quantiles of p of null data sets against those of a uniform p, on log scales. At .05 " + "; ".join(
        f"{_name(procedure, convention)} rejects "
        + " and ".join(f"{100 * row['rate_05']:.1f} %" for row in select(rows, procedure=procedure, convention=convention))
        for procedure, convention in tests
    )
    size = (7.2, 0.4 + 2.25 * -(-len(tests) // _COLUMNS))
    draw, caption = partial(_draw, rows, tests, pairs[:MOST_CURVES]), _caption(rows, pairs)
    return Figure("qq", title, alt + ".", caption, draw, "type_one_quantiles", size=size, panels=True)


def _draw(
    rows: Sequence[Mapping[str, Any]], tests: Sequence[tuple[str, str]], pairs: Sequence[str], figure: MatplotlibFigure
) -> None:
    deep = -(-len(tests) // _COLUMNS)
    panels = figure.subplots(deep, _COLUMNS, sharex=True, sharey=True, squeeze=False).ravel().tolist()
    for panel, (procedure, convention) in zip(panels, tests, strict=False):
        own = select(rows, procedure=procedure, convention=convention)
        curves = [(number, row) for row in own for number, pair in enumerate(pairs) if row["pair"] == pair]
        _draw_test(panel, curves, np.array(PROBABILITIES), np.array(band_of(min(row["nulls"] for row in own))))
        panel.set_title(_name(procedure, convention), fontsize=8.5, loc="left")
    for number, panel in enumerate(panels):
        if number >= len(tests):
            panel.remove()
            continue
        below = number + _COLUMNS >= len(tests)
        panel.tick_params(labelbottom=below)
        panel.set_xlabel("p if uniform (log)" if below else "")
        panel.set_ylabel("p found (log)" if number % _COLUMNS == 0 else "")
    _label_sides(panels[0])


def _draw_test(axes: Axes, curves: Sequence[tuple[int, Mapping[str, Any]]], x: NDArray[Any], band: NDArray[Any]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(1.3, EDGE / 20)  # room for labels where p is small
    axes.set_ylim(1.3, EDGE * 0.8)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(TICKS)
        axis.set_ticks([], minor=True)
        axis.set_major_formatter(lambda value, _: f"{value:g}".removeprefix("0"))
    tidy_axes(axes, x="", y="")
    ends = []
    shown = [_is_drawn(x, row) for _, row in curves]
    wide = np.any(shown, axis=0)
    axes.fill_between(x[wide], *np.maximum(band[wide], EDGE).T, color=GRID, alpha=0.3, linewidth=0)
    axes.plot([1, TICKS[-1]], [1, TICKS[-1]], color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    for (number, row), told in zip(curves, shown, strict=True):
        y = np.maximum(np.array(row["quantiles"]), EDGE)[told]
        axes.plot(x[told], y, MARKERS[number] + "-", color=PALETTE[number], markersize=3, linewidth=1, clip_on=False)
        ends.append((float(np.log10(y[0])), float(x[told][0]), number, row))
    _label_ends(axes, ends)


def _is_drawn(x: NDArray[Any], row: Mapping[str, Any]) -> NDArray[Any]:
    """Say which quantiles are of a few data sets at least, and not below the smallest p that there is."""
    least = max(5 / row["nulls"], 1 / (row["replicates"] + 1) if row["replicates"] else 0.0)
    return np.asarray(x >= least)


def _label_ends(axes: Axes, ends: Sequence[tuple[float, float, int, Mapping[str, Any]]]) -> None:
    """Name the curves at their ends, one label clear of the next."""
    place = -np.inf
    for height, x, number, row in sorted(ends, key=lambda end: end[0]):  # from the top: the smallest p lies highest
        place = max(height, place + _GAP)
        axes.annotate(
            row["chosen"] or shorten(row["pair"].rpartition(": ")[0], _LONGEST),
            (x, 10**place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            color=PALETTE[number],
            annotation_clip=False,
        )


def _label_sides(axes: Axes) -> None:
    for words, x, y, across, up in (
        ("rejects too often", 0.03, 0.97, "left", "top"),
        ("too seldom", 0.97, 0.03, "right", "bottom"),
    ):
        axes.text(x, y, words, transform=axes.transAxes, ha=across, va=up, fontsize=7.5, style="italic", color=INK, alpha=0.75)


def _caption(rows: Sequence[Mapping[str, Any]], pairs: Sequence[str]) -> str:
    least, most = (choose(row["nulls"] for row in rows) for choose in (min, max))
    count = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    told = f"{count} null data sets each, on the dashed line where a test has its level; above it p is too small. Grey: pointwise "
    told += f"95 % band of a uniform p. Points below {EDGE:g} stand at {EDGE:g}; a p that takes few values goes in steps."
    if rows[0]["design"] in (SWAPPED, BY_DOCUMENT):
        names = {row["pair"]: f"{row['chosen']} {row['pair']} ({row['discordant']:,} units)" for row in rows}
        return f"{told} Pairs by discordant units: {', '.join(names[pair] for pair in pairs[:MOST_CURVES])}."
    told += f" Curves: {'; '.join(pairs[:MOST_CURVES])}."
    left = len(pairs) - MOST_CURVES
    return told + (f" Not drawn: {left:,} more, which are in tables/type_one_quantiles.csv." if left > 0 else "")


def _name(procedure: str, convention: str) -> str:
    return procedure if convention.startswith("two-sided") else f"{procedure}, {convention}"
