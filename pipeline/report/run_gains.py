"""Gains by number of runs, after Figs. 1 and 2 of Clark and others 2011. This module draws a histogram for each pair of models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from pipeline.analyses.replicas.analysis import ReplicaAnalysis
from pipeline.report.document import digits_of
from pipeline.report.svg import INK, PALETTE, Drawing, canvas, finish, tidy_axes
from pipeline.report.values import format_number
from pipeline.report.verdict_text import select

__all__ = ["draw_run_gains"]

MOST_PAIRS = 6
COLUMNS = 2
FEWEST = 9
"""Gains: of fewer a histogram says less than their list."""


def draw_run_gains(document: Mapping[str, Any]) -> Iterator[Drawing]:
    """Draw a figure for each test set and metric on which models have three runs or more."""
    findings = [finding for finding in document["findings"] if finding["analysis"] == ReplicaAnalysis.name]
    rows = [row for finding in findings for row in finding["rows"] if row["kind"] == "gains" and (row["gains"] or 0) >= FEWEST]
    for test_set, metric in dict.fromkeys((row["test_set"], row["metric"]) for row in rows):
        own = select(rows, test_set=test_set, metric=metric)
        pairs = list(dict.fromkeys((row["model_a"], row["model_b"]) for row in own))
        # The nearest models: of the others everybody sees which is better.
        pairs.sort(key=lambda pair: _first(own, pair)["delta"])
        yield _draw(own, pairs[:MOST_PAIRS], len(pairs), digits_of(document, metric))


def _first(rows: Sequence[Mapping[str, Any]], pair: tuple[str, str]) -> Mapping[str, Any]:
    return next(row for row in rows if (row["model_a"], row["model_b"]) == pair)


def _draw(rows: Sequence[Mapping[str, Any]], pairs: Sequence[tuple[str, str]], all_pairs: int, digits: int) -> Drawing:
    test_set, metric = rows[0]["test_set"], rows[0]["metric"]
    title = f"Gains by number of runs on {test_set}, {metric}"
    alt = "Histograms of the gain of models by the number of runs of either. " + " ".join(
        f"{row['model_a']} - {row['model_b']}, {_runs(row)}: 95 % from {format_number(row['gain_low'], digits)} to "
        f"{format_number(row['gain_high'], digits)}, {100 * row['against']:.0f} % below 0."
        for pair in pairs
        for row in _chosen(rows, pair)
    )
    wide = min(COLUMNS, len(pairs))
    deep = -(-len(pairs) // wide)
    with canvas(7.2, 0.3 + 2.1 * deep) as (figure, whole):
        whole.remove()
        panels = figure.subplots(deep, wide, squeeze=False).ravel().tolist()
        for number, panel in enumerate(panels):
            if number >= len(pairs):
                panel.remove()
                continue
            _one_panel(panel, _chosen(rows, pairs[number]))
            tidy_axes(panel, x=f"gain in {metric}", y="share" if number % wide == 0 else "")
            panel.set_title(" - ".join(_short(name) for name in pairs[number]), fontsize=8.5, loc="left")
        svg = finish(figure, title=title, alt=alt)
    caption = "Filled: all pairs of single runs. Lines: means of more runs, drawn without replacement from those that there are. "
    caption += "The dashed line is no gain: what lies left of it would have been called the other way."
    if all_pairs > len(pairs):
        caption += f" Shown: the {len(pairs)} nearest of {all_pairs:,} pairs."
    return Drawing("run-gains", "", title, alt, caption, svg)


def _chosen(rows: Sequence[Mapping[str, Any]], pair: tuple[str, str]) -> list[Mapping[str, Any]]:
    """Give the fewest, the most and a middle number of runs."""
    own = [row for row in rows if (row["model_a"], row["model_b"]) == pair]
    return [own[place] for place in sorted({0, len(own) // 2, len(own) - 1})]


def _one_panel(axes: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    axes.axvline(0, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
    for number, row in enumerate(rows):
        edges, shares = np.array(row["edges"]), np.array(row["counts"]) / row["gains"]
        if len(shares) + 1 != len(edges) or edges[0] == edges[-1]:
            continue  # all gains are one
        colour = PALETTE[number]
        axes.stairs(shares, edges, color=colour, fill=number == 0, alpha=0.3 if number == 0 else 1, linewidth=1.3)
        top = int(np.argmax(shares))
        axes.annotate(
            _runs(row),
            (edges[top + 1], shares[top]),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            color=colour,
            annotation_clip=False,
        )
    axes.margins(y=0.14)


def _runs(row: Mapping[str, Any]) -> str:
    return f"{row['runs_each']} run{'' if row['runs_each'] == 1 else 's'}"


def _short(name: str, limit: int = 20) -> str:
    return name if len(name) <= limit else name[: limit - 1] + "…"
