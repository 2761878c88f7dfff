"""Scores of runs, and p by number of runs, as figures: Fig. 1 and the last rows of Table 2 of Clark and others 2011."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pipeline.analyses.presentation import decimals_of, select
from pipeline.analyses.replicas.figures import FEWEST, MOST_PAIRS, describe_panels, next_panel
from pipeline.interfaces import Figure
from pipeline.interfaces.charts import Chart, Panels
from pipeline.interfaces.figures import PALETTE
from pipeline.interfaces.wording import format_number, format_p, name_metric, shorten

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["list_p_figures", "list_score_figures"]

_LONGEST = 20
_BINS = (5, 30)
_LEAST = 1e-4  # a p below is drawn there


def list_score_figures(rows: Sequence[Mapping[str, Any]], cubes: Mapping[str, xr.Dataset]) -> Iterator[Figure]:
    """Go through the histograms of scores, one figure a test set and metric, a panel for each of the nearest pairs of models."""
    models = [row for row in rows if row["kind"] == "model" and None not in row["scores"].values() and row["runs"] >= FEWEST]
    for test_set, metric in dict.fromkeys((row["test_set"], row["metric"]) for row in models):
        scores = {row["model"]: list(row["scores"].values()) for row in select(models, test_set=test_set, metric=metric)}
        found = select(rows, kind="pair", test_set=test_set, metric=metric)
        known = [row for row in found if {row["model_a"], row["model_b"]} <= set(scores) and row["delta"] is not None]
        pairs = [(row["model_a"], row["model_b"]) for row in sorted(known, key=lambda row: row["delta"])]
        if not pairs:
            continue
        shown, digits = pairs[:MOST_PAIRS], decimals_of(cubes, metric)
        told = {
            name: f"{name}: {len(own)} runs from {format_number(min(own), digits)} to {format_number(max(own), digits)}, mean "
            f"{format_number(float(np.mean(own)), digits)}."
            for name, own in scores.items()
        }
        alt = "Histograms of the scores of runs. " + " ".join(told[name] for name in dict.fromkeys(sum(shown, ())))
        caption = "The scores of single runs of two models; lines: their means. Where the two overlap, which model looks better "
        caption += f"depends on which runs one has.{_tell_left(len(shown), len(pairs))}"
        axis = name_metric(metric)
        draw = partial(_draw_panels, shown, lambda chart, pair, own=scores: _draw_scores(chart, pair, own), axis, "runs")
        yield describe_panels(
            "run-scores", f"Scores of runs on {test_set}, {axis}", alt, caption, draw, "replicas_scores", len(shown)
        )


def list_p_figures(rows: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """Yield the figures of p by number of runs, one for each test set and metric with p of two numbers or more."""
    known = [row for row in rows if row["kind"] == "subset" and row["p_median"] is not None]
    for test_set, metric in dict.fromkeys((row["test_set"], row["metric"]) for row in known):
        by_pair: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for row in select(known, test_set=test_set, metric=metric):
            by_pair.setdefault((row["model_a"], row["model_b"]), []).append(row)
        several = {pair: own for pair, own in by_pair.items() if len({row["runs_each"] for row in own}) > 1}
        if not several:
            continue
        gaps = {
            (row["model_a"], row["model_b"]): row["delta"] for row in select(rows, kind="pair", test_set=test_set, metric=metric)
        }
        pairs = sorted(several, key=lambda pair: gaps.get(pair) or 0.0)
        shown = pairs[:MOST_PAIRS]
        alt = "p against the number of runs of each model. " + " ".join(
            f"{' - '.join(pair)}, {row['null']}, {row['runs_each']} of each: median {format_p(row['p_median'])}, 95 % from "
            f"{format_p(row['p_low'])} to {format_p(row['p_high'])}."
            for pair in shown
            for row in several[pair]
        )
        first = several[shown[0]][0]
        caption = f"Line: the median of p over {first['subsets']:,} draws of so many runs of each model; band: 95 % of the draws. "
        caption += f"Dashed: α = {first['alpha']:g}. Where the band crosses it, another draw of runs would decide otherwise."
        if any(row["p_low"] < _LEAST for pair in shown for row in several[pair]):
            caption += f" p below {_LEAST:g} stands at {_LEAST:g}."
        caption += _tell_left(len(shown), len(pairs))
        draw = partial(_draw_panels, shown, lambda chart, pair, own=several: _draw_p(chart, own[pair]), "runs of each", "p (log)")
        yield describe_panels(
            "run-p", f"p by number of runs on {test_set}, {name_metric(metric)}", alt, caption, draw, "replicas_subsets", len(shown)
        )


def _tell_left(shown: int, pairs: int) -> str:
    return f" Shown: the {shown} nearest of {pairs:,} pairs." if pairs > shown else ""


def _draw_panels(pairs: Sequence[tuple[str, str]], draw: Any, x: str, y: str, panels: Panels) -> None:
    for pair in pairs:
        draw(next_panel(panels, pair, of=len(pairs), x=x, y=y), pair)


def _draw_scores(chart: Chart, pair: tuple[str, str], scores: Mapping[str, Sequence[float]]) -> None:
    """Draw both histograms on the same bins; the names stand outside of the two means."""
    both = [np.array(scores[name]) for name in pair]
    values = np.concatenate(both)
    bins = int(np.clip(ceil(sqrt(len(values))), *_BINS))
    edges = np.histogram_bin_edges(values, bins)
    counts = [np.histogram(own, edges)[0] for own in both]
    chart.y.low, chart.y.high = 0.0, 1.22 * float(max(count.max() for count in counts))
    left = int(np.argmin([own.mean() for own in both]))
    for number, (name, own) in enumerate(zip(pair, both, strict=True)):
        colour, mean, is_left = PALETTE[number], float(own.mean()), number == left
        chart.histogram(edges.tolist(), counts[number].tolist(), colour=colour, opacity=0.35)
        chart.line([mean, mean], [0.0, chart.y.high], colour=colour, width=1.2, dashes="5 4")
        anchor: Literal["start", "end"] = "end" if is_left else "start"
        shown = shorten(name, _LONGEST)
        chart.words(mean, chart.y.high, shown, colour=colour, anchor=anchor, right=-4 if is_left else 4, up=-8)


def _draw_p(chart: Chart, rows: Sequence[Mapping[str, Any]]) -> None:
    numbers = sorted({row["runs_each"] for row in rows})
    least = 10.0 ** float(np.floor(np.log10(max(min(row["p_low"] for row in rows), _LEAST) + 1e-12)))
    chart.x.log = chart.y.log = True
    chart.x.low, chart.x.high = numbers[0] * 0.9, numbers[-1] * 2.4  # room for the names of nulls
    chart.y.low, chart.y.high = least * 0.8, 1.3
    chart.x.ticks = [(number, str(number)) for number in numbers]
    ticks = [tick for tick in (1, 0.1, 0.01, 0.001, 0.0001) if tick >= least * 0.99]
    chart.y.ticks = [(tick, f"{tick:g}".removeprefix("0")) for tick in ticks]
    ends = []
    for number, null in enumerate(dict.fromkeys(row["null"] for row in rows)):
        own = sorted(select(rows, null=null), key=lambda row: row["runs_each"])
        colour, x = PALETTE[number % len(PALETTE)], [row["runs_each"] for row in own]
        low, middle, high = (np.maximum([row[key] for row in own], _LEAST).tolist() for key in ("p_low", "p_median", "p_high"))
        chart.area(x, low, high, colour=colour, opacity=0.2)
        chart.line(x, middle, colour=colour, width=1.3)
        chart.points(x, middle, "os^Dv"[number % 5], colour=colour, size=5)
        ends.append((float(np.log10(middle[-1])), x[-1], null, colour))
    chart.rule(y=rows[0]["alpha"])
    gap, place = 0.09 * float(np.log10(chart.y.high / chart.y.low)), np.inf  # between names, in decades
    for height, x_end, null, colour in sorted(ends, reverse=True):
        place = min(height, place - gap)
        chart.words(x_end, 10**place, null, colour=colour, right=7)
