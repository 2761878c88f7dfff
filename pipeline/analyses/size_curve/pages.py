"""What the report shows of a curve of test sizes: a table of its points, one of its lines, the curve, and the pairs by size."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.analyses.confidence_scatter import draw_confidence
from pipeline.analyses.presentation import decimals_of, in_parts, name_procedure, select, title_of
from pipeline.analyses.size_curve.fits import QUANTITIES
from pipeline.dataclass import dataclass
from pipeline.interfaces import Column, Figure, Section, Table
from pipeline.interfaces.charts import Chart
from pipeline.interfaces.figures import PALETTE, SHAPES
from pipeline.interfaces.wording import MISSING, format_number, name_metric, shorten

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["SECTION", "list_figures", "list_tables"]

SECTION = Section("size-curve", "Test size", after="figures")
_POINTS = (
    Column("units", "units", "count"),
    Column("gain", "threshold", "score"),
    Column("pairs_in_window", "pairs in window", "count"),
    Column("se_gain", "threshold by se", "score"),
    Column("median_se", "median se", "score"),
    Column("least_significant", "smallest gain with one-sided p ≤ α", "score"),
    Column("largest_not_significant", "largest with p > α", "score"),
)
_LINES = (
    Column("what", "what"),
    Column("sizes", "sizes", "count"),
    Column("slope", "slope ± se", "written"),
    Column("p_square_root", "p of −½", "p"),
    Column("c", "c of c/√n", "written"),
    Column("needed", "units needed for a gain of"),
    Column("reason", "remark"),
)
_LONGEST = 28
_HOW = {
    "prefix": "Sizes are prefixes of the test set.",
    "random": "Sizes are random subsets of the test set.",
    "with-replacement": "Units are drawn with replacement from the whole test set.",
}
_DRAWN = {"prefix": "", "random": " · random subsets", "with-replacement": " · drawn with replacement"}


def _places(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    keys = ("test_set", "metric", "procedure", "draw")
    return [dict(zip(keys, place, strict=True)) for place in dict.fromkeys(tuple(row[key] for key in keys) for row in rows)]


def list_tables(
    cubes: Mapping[str, xr.Dataset], points: Sequence[Mapping[str, Any]], fits: Sequence[Mapping[str, Any]], caption: str
) -> Iterator[Table]:
    """Go through the tables, two a test set, metric, procedure and way of drawing: a row a size, and a row a line."""
    for where in _places(points):
        digits, own = decimals_of(cubes, where["metric"]), select(points, **where)
        title = f"{title_of(where)}{_DRAWN[where['draw']]}"
        many = f"{own[0]['repeats']:,} subsets of each size. " if own[0]["repeats"] > 1 else ""
        yield Table(title, where, _POINTS, f"{many}{caption}", SECTION.key, tuple(own))
        shown = tuple(_shown(fit, digits) for fit in select(fits, **where))
        yield Table(f"{title} · lines", where, _LINES, "", SECTION.key, shown)


def _shown(fit: Mapping[str, Any], digits: int) -> dict[str, Any]:
    needed = (f"{need['gain']:g}: {_units(need['by_fit'])} (c/√n: {_units(need['by_root'])})" for need in fit["units_for"])
    return {
        "what": QUANTITIES[fit["quantity"]],
        "sizes": fit["sizes"],
        "slope": None if fit["slope"] is None else f"{fit['slope']:.3f} ± {fit['slope_se']:.3f}",
        "p_square_root": fit["p_square_root"],
        "c": None if fit["c"] is None else format_number(fit["c"], max(digits - 1, 2)),
        "needed": "; ".join(needed) or None,
        "reason": fit["reason"],
    }


def _units(value: float | None) -> str:
    return MISSING if value is None else f"{math.ceil(value):,}"


def list_figures(
    cubes: Mapping[str, xr.Dataset],
    points: Sequence[Mapping[str, Any]],
    fits: Sequence[Mapping[str, Any]],
    pairs: Sequence[Mapping[str, Any]],
) -> Iterator[Figure]:
    """Go through the figures: the curves of each metric, procedure and way of drawing, and the pairs of each test set by size."""
    for metric, procedure, rule in dict.fromkeys((row["metric"], row["procedure"], row["draw"]) for row in points):
        where = {"metric": metric, "procedure": procedure, "draw": rule}
        quantity = "gain" if rule != "with-replacement" else "se_gain"
        curves = [
            _Curve(str(name), select(points, **where, test_set=name), select(fits, **where, test_set=name, quantity=quantity)[0])
            for name in dict.fromkeys(row["test_set"] for row in select(points, **where))
        ]
        drawn = [curve for curve in curves if sum(bool(p["gain"] or p["median_se"]) for p in curve.points) >= 2]
        of = f"Gain against test size, {name_metric(metric)}{name_procedure(cubes, procedure)}{_DRAWN[rule]}"
        for title, some in in_parts(of, drawn):
            slopes = [(curve.test_set, curve.fit["slope"]) for curve in some if curve.fit["slope"] is not None]
            alt = "The threshold and the typical standard error against the number of units, both on log scales. "
            alt += " ".join(f"Slope of the threshold on {name}: {slope:.2f}." for name, slope in slopes)
            caption = "Line: the fit of the threshold by standard errors. " if quantity == "se_gain" else (
                "Filled: the threshold among the pairs borderline at that size. Line: its fit. "
            )  # fmt: skip
            caption += (
                f"Hollow: {some[0].points[0]['gaussian_z']:.3f} × the median standard error of the pairs that are not identical "
                f"there. {_HOW[rule]}"
            )
            yield Figure("size-curve", title, alt, caption, partial(_draw, some, metric), "size_curve", SECTION.key, plain=True)
    for test_set, metric, procedure in dict.fromkeys((row["test_set"], row["metric"], row["procedure"]) for row in pairs):
        own = select(pairs, test_set=test_set, metric=metric, procedure=procedure)
        groups = [(f"{n:,} units", select(own, units=n)) for n in dict.fromkeys(row["units"] for row in own)]
        title = f"Confidence against gain by test size on {test_set}, {name_metric(metric)}{name_procedure(cubes, procedure)}"
        for part, shown in in_parts(title, groups):
            alt = "One minus the one-sided p against the gain, a point a pair, a colour a test size. "
            alt += ", ".join(f"{name}: {len(of_size):,} pairs" for name, of_size in shown) + "."
            caption = "A point is a pair of systems. Band: p in [.04, .06]. The smaller the test set, the larger a gain must be."
            draw = partial(draw_confidence, shown, metric)
            yield Figure("size-confidence", part, alt, caption, draw, "size_pairs", SECTION.key, plain=True)


@dataclass(frozen=True)
class _Curve:
    test_set: str
    points: Sequence[Mapping[str, Any]]
    fit: Mapping[str, Any]  # of the thresholds


def _draw(curves: Sequence[_Curve], metric: str, chart: Chart) -> None:
    for curve, colour, marker in zip(curves, PALETTE, SHAPES, strict=False):
        _draw_curve(chart, curve, colour, marker)
    units = sorted({p["units"] for curve in curves for p in curve.points})
    chart.x.label, chart.x.log, chart.x.ticks = "units in the test set (log)", True, [(n, f"{n:,}") for n in units]
    chart.y.label, chart.y.log, chart.legend = f"gain in {name_metric(metric)} (log)", True, "top right"


def _draw_curve(chart: Chart, curve: _Curve, colour: str, marker: str) -> None:
    there = [(p["units"], p["gain"]) for p in curve.points if p["gain"]]
    label = shorten(curve.test_set, _LONGEST)
    # Drawn also when empty: the legend must name every test set.
    chart.points([n for n, _ in there], [gain for _, gain in there], marker, colour=colour, size=8, label=label)
    spread = [(p["units"], p["gaussian_z"] * p["median_se"]) for p in curve.points if p["median_se"]]
    if spread:
        units, gains = zip(*spread, strict=True)
        chart.points(units, gains, marker, colour=colour, filled=False)
        chart.line(units, gains, colour=colour, width=1, dashes="1 2")
    if curve.fit["slope"] is not None:
        fitted = [p["units"] for p in curve.points if p[curve.fit["quantity"]]]
        ends = (min(fitted), max(fitted))
        heights = np.exp(curve.fit["intercept"] + curve.fit["slope"] * np.log(ends))
        chart.line(ends, heights.tolist(), colour=colour, width=1.6, opacity=0.8)
