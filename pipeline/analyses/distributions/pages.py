"""What the report shows of distributions over training samples: tables of each kind, all scores, and a map of test sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.analyses.presentation import select
from pipeline.interfaces import Column, Figure, Section, Table
from pipeline.interfaces.charts import Chart
from pipeline.interfaces.figures import INK, PALETTE
from pipeline.interfaces.wording import format_number, name_metric, shorten

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["SECTION", "list_figures", "list_tables"]

SECTION = Section("distributions", "Distributions over training samples", after="figures")
_SPREAD = (
    Column("model", "model"),
    Column("sampling", "sampled by"),
    Column("samples", "trained", "count"),
    Column("mean", "mean", "score"),
    Column("sd", "sd", "score"),
    Column("interval", "95 % interval of the mean", "interval"),
    Column("whole", "whole", "score"),
    Column("shift", "mean − whole", "score"),
    Column("interval_note", "remark"),
)
_TWO = (
    Column("first", "first"),
    Column("second", "second"),
    Column("sampling", "sampled by"),
    Column("samples", "in common", "count"),
    Column("gain", "gain", "score"),
    Column("sd_of_gain", "its sd", "score"),
    Column("better", "first better", "share"),
    Column("better_interval", "95 % interval", "share-interval"),
    Column("correlation", "correlation", "number"),
    Column("interval", "95 % interval", "interval"),
    Column("remark", "remark"),
)
_TEST_SETS = (
    Column("model", "model"),
    Column("sampling", "sampled by"),
    Column("first", "first"),
    Column("second", "second"),
    Column("samples", "trained", "count"),
    Column("correlation", "correlation", "number"),
    Column("interval", "95 % interval", "interval"),
    Column("remark", "remark"),
)
_LONGEST = 34
_WIDEST = 60  # rows of a figure


def list_tables(cubes: Mapping[str, xr.Dataset], rows: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> Iterator[Table]:
    """Go through the tables: of each test set and metric, then of the test sets under each metric."""
    for test_set, metric in dict.fromkeys((row["test_set"], row["metric"]) for row in rows):
        for kind, title, columns in (
            ("spread", "{test_set} · {metric}", _SPREAD),
            ("two", "{test_set} · {metric} · on the same samples", _TWO),
            ("test-sets", "{metric} · test sets under one model", _TEST_SETS),
        ):
            where = {"test_set": test_set, "metric": metric, "kind": kind}
            own = tuple({**row, "remark": row.get("reason") or row.get("interval_note")} for row in select(rows, **where))
            if own:
                caption = " ".join(notes) if kind == "spread" else ""
                yield Table(title.format(test_set=test_set, metric=name_metric(metric)), where, columns, caption, SECTION.key, own)


def list_figures(rows: Sequence[Mapping[str, Any]], scores: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """Go through the figures: all scores of each test set and metric, and the correlations of test sets under each model."""
    for test_set, metric in dict.fromkeys((row["test_set"], row["metric"]) for row in scores):
        spread = select(rows, kind="spread", test_set=test_set, metric=metric)
        several = [row for row in spread if row["samples"] > 1]
        for part in range(0, len(several), _WIDEST):
            shown = several[part : part + _WIDEST]
            own = select(scores, test_set=test_set, metric=metric)
            title = f"Scores over training samples on {test_set}, {name_metric(metric)}"
            title += f" ({part // _WIDEST + 1})" if len(several) > _WIDEST else ""
            alt = "Scores by model and samples. " + " ".join(
                f"{row['model']}, {row['sampling']}: {format_number(row['mean'], 2)} ± {format_number(row['sd'], 2)}."
                for row in shown
            )
            caption = "A dot is a replica, the bar its mean ± one standard deviation, the diamond the whole training set."
            size = (7.2, 1.2 + 0.34 * len(shown))
            draw = partial(_draw_scores, shown, own, metric)
            yield Figure("distributions", title, alt, caption, draw, "distributions_scores", SECTION.key, size=size, plain=True)
    found = select(rows, kind="test-sets")
    for metric, model, sampling in dict.fromkeys((row["metric"], row["model"], row["sampling"]) for row in found):
        own = [row for row in select(found, metric=metric, model=model, sampling=sampling) if row["correlation"] is not None]
        names = list(dict.fromkeys(name for row in own for name in (row["first"], row["second"])))
        if len(names) < 3:
            continue
        title = f"Test sets under {model}, {sampling}, {name_metric(metric)}"
        alt = "Correlations of test sets. " + " ".join(f"{r['first']} and {r['second']}: {r['correlation']:.2f}." for r in own)
        caption = "Correlation of the scores on two test sets over the replicas of one model."
        side = 1.6 + 0.5 * len(names)
        draw_map = partial(_draw_map, own, names)
        yield Figure(
            "test-sets", title, alt, caption, draw_map, "distributions_test_sets", SECTION.key, size=(max(side + 0.8, 4.4), side)
        )


def _draw_scores(shown: Sequence[Mapping[str, Any]], scores: Sequence[Mapping[str, Any]], metric: str, chart: Chart) -> None:
    models = list(dict.fromkeys(row["model"] for row in shown))
    for y, row in enumerate(reversed(shown)):
        colour = PALETTE[models.index(row["model"]) % len(PALETTE)]
        own = [one["score"] for one in select(scores, model=row["model"], sampling=row["sampling"])]
        chart.points(own, [y] * len(own), "o", colour=colour, size=5.5, opacity=0.35)
        chart.line([row["mean"] - row["sd"], row["mean"] + row["sd"]], [y + 0.24] * 2, colour=colour, width=3)
        chart.points([row["mean"]], [y + 0.24], "|", colour=INK, size=11)
        if row["whole"] is not None:
            chart.points([row["whole"]], [y], "D", colour=INK, size=6.5, filled=False)
    chart.y.ticks = [(y, shorten(f"{row['model']} · {row['sampling']}", _LONGEST)) for y, row in enumerate(reversed(shown))]
    chart.y.low, chart.y.high, chart.y.grid = -0.6, len(shown) - 0.2, False
    chart.x.label = name_metric(metric)


def _draw_map(rows: Sequence[Mapping[str, Any]], names: Sequence[str], axes: Axes) -> None:
    place = {name: position for position, name in enumerate(names)}
    # The lower triangle without its diagonal: rows begin with the second test set, columns end before the last.
    values = np.full((len(names) - 1, len(names) - 1), np.nan)
    for row in rows:
        a, b = sorted((place[row["first"]], place[row["second"]]))
        values[b - 1, a] = row["correlation"]
    axes.imshow(values, cmap="RdBu", vmin=-1, vmax=1, aspect="equal")
    for row in rows:
        a, b = sorted((place[row["first"]], place[row["second"]]))
        ink = "white" if abs(row["correlation"]) > 0.7 else INK
        axes.annotate(f"{row['correlation']:.2f}", (a, b - 1), ha="center", va="center", fontsize=8, color=ink)
    labels = [shorten(name, 18) for name in names]
    axes.set_xticks(range(len(names) - 1), labels[:-1], rotation=40, ha="right", fontsize=8)
    axes.set_yticks(range(len(names) - 1), labels[1:], fontsize=8)
    axes.grid(False)
