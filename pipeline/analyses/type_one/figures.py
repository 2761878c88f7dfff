"""Quantiles of p under the laboratory's nulls against those of a uniform p: a panel for each test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.presentation import select
from pipeline.analyses.type_one.as_is import AS_THEY_ARE
from pipeline.analyses.type_one.pairs import BY_DOCUMENT, SWAPPED
from pipeline.analyses.type_one.rows import PROBABILITIES, band_of
from pipeline.interfaces import Figure
from pipeline.interfaces.charts import Chart, Panels
from pipeline.interfaces.figures import GRID, INK, PALETTE
from pipeline.interfaces.wording import name_metric, shorten

__all__ = ["list_figures", "list_quantiles"]

FEWEST = 100
"""Null data sets: of fewer, quantiles say little."""

MOST_CURVES = 3
_COLUMNS = 3
_LONGEST = 14
MARKERS = "o^s"
TICKS = (1.0, 0.1, 0.01, 0.001)
LARGEST, EDGE = 1.3, 0.0005
_GAP = 0.27  # between labels, in decades


def list_figures(rows: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """Yield the figures, one for each test set, metric and kind of null data set; a panel is a test, a curve a pair."""
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
    title = f"Level of the tests on {test_set}, {name_metric(metric)}: {design}"
    alt = "Quantiles of p of null data sets against those of a uniform p, on log scales. At .05 " + "; ".join(
        f"{_name(procedure, convention)} rejects "
        + " and ".join(f"{100 * row['rate_05']:.1f} %" for row in select(rows, procedure=procedure, convention=convention))
        for procedure, convention in tests
    )
    columns = _columns(len(tests))
    size = (7.2 if columns > 1 else 2.4, 0.4 + 2.25 * -(-len(tests) // columns))
    draw, caption = partial(_draw, rows, tests, pairs[:MOST_CURVES]), _caption(rows, pairs)
    return Figure("qq", title, alt + ".", caption, draw, "type_one_quantiles", size=size, panels=True, plain=True)


def _draw(rows: Sequence[Mapping[str, Any]], tests: Sequence[tuple[str, str]], pairs: Sequence[str], panels: Panels) -> None:
    panels.columns = _columns(len(tests))
    for number, (procedure, convention) in enumerate(tests):
        own = select(rows, procedure=procedure, convention=convention)
        curves = [(number, row) for row in own for number, pair in enumerate(pairs) if row["pair"] == pair]
        chart = panels.add(_name(procedure, convention))
        _draw_test(chart, curves, np.array(PROBABILITIES), np.array(band_of(min(row["nulls"] for row in own))))
        chart.x.label = "p if uniform (log)" if number + panels.columns >= len(tests) else ""
        chart.y.label = "p found (log)" if number % panels.columns == 0 else ""
    _label_sides(panels.charts[0])


def _columns(tests: int) -> int:
    """Return how many panels stand side by side: four are two by two, since one alone in a row would leave it empty."""
    return 2 if tests in (2, 4) else min(tests, _COLUMNS)


def _draw_test(chart: Chart, curves: Sequence[tuple[int, Mapping[str, Any]]], x: NDArray[Any], band: NDArray[Any]) -> None:
    chart.x.low, chart.x.high = LARGEST, EDGE / 20  # room for labels where p is small
    chart.y.low, chart.y.high = LARGEST, EDGE * 0.8
    for axis in (chart.x, chart.y):
        axis.log = True
        axis.ticks = [(value, f"{value:g}".removeprefix("0")) for value in TICKS]
    ends = []
    shown = [_is_drawn(x, row) for _, row in curves]
    wide = np.any(shown, axis=0)
    low, high = np.maximum(band[wide], EDGE).T
    chart.area(x[wide].tolist(), low.tolist(), high.tolist(), colour=GRID, opacity=0.3)
    chart.line([1, TICKS[-1]], [1, TICKS[-1]], colour=INK, width=1.0, dashes="4 3")
    for (number, row), told in zip(curves, shown, strict=True):
        across, up = x[told].tolist(), np.maximum(np.array(row["quantiles"]), EDGE)[told].tolist()
        chart.line(across, up, colour=PALETTE[number])
        chart.points(across, up, MARKERS[number], colour=PALETTE[number], size=4.5)
        ends.append((float(np.log10(up[0])), across[0], number, row))
    _label_ends(chart, ends)


def _is_drawn(x: NDArray[Any], row: Mapping[str, Any]) -> NDArray[Any]:
    """Say which quantiles are of a few data sets at least, and not below the smallest p that there is."""
    least = max(5 / row["nulls"], 1 / (row["replicates"] + 1) if row["replicates"] else 0.0)
    return np.asarray(x >= least)


def _label_ends(chart: Chart, ends: Sequence[tuple[float, float, int, Mapping[str, Any]]]) -> None:
    """Name the curves at their ends, one label clear of the next."""
    place = -np.inf
    for height, x, number, row in sorted(ends, key=lambda end: end[0]):  # from the top: the smallest p lies highest
        place = max(height, place + _GAP)
        name = row["chosen"] or shorten(row["pair"].rpartition(": ")[0], _LONGEST)
        chart.words(x, 10**place, name, colour=PALETTE[number], right=6)


def _label_sides(chart: Chart) -> None:
    chart.words(LARGEST, EDGE, "rejects too often", right=5)
    chart.words(EDGE / 20, 1.0, "too seldom", anchor="end", right=-5)


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
