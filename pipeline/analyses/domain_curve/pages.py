"""Thresholds by domain in a report: a table, the thresholds side by side, and the pairs of each test set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pipeline.analyses.confidence_scatter import draw_confidence
from pipeline.analyses.presentation import decimals_of, in_parts, name_procedure, select
from pipeline.interfaces import Column, Figure, Section, Table
from pipeline.interfaces.charts import Chart
from pipeline.interfaces.figures import PALETTE
from pipeline.interfaces.wording import format_number, format_p, name_metric, shorten

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["SECTION", "list_figures", "list_tables"]

SECTION = Section("domain-curve", "Domains at one size", after="figures")
_COLUMNS = (
    Column("test_set", "test set"),
    Column("units", "units", "count"),
    Column("gain", "threshold", "score"),
    Column("pairs_in_window", "pairs in window", "count"),
    Column("se_gain", "threshold by se", "score"),
    Column("typical_se", "typical se", "score"),
    Column("interval", "95 % interval", "interval"),
    Column("relative", "relative", "number"),
    Column("remark", "remark"),
)
_LONGEST = 28


def list_tables(
    cubes: Mapping[str, xr.Dataset], rows: Sequence[Mapping[str, Any]], tests: Sequence[Mapping[str, Any]], notes: Sequence[str]
) -> Iterator[Table]:
    """Yield the tables, one for each metric and procedure, with a row for each test set."""
    for test in tests:
        where = {"metric": test["metric"], "procedure": test["procedure"]}
        title = f"{test['units']:,} units · {name_metric(test['metric'])}{name_procedure(cubes, test['procedure'])}"
        shown = tuple(_shown(row) for row in select(rows, **where))
        yield Table(title, where, _COLUMNS, " ".join([_describe(test, shown), *notes]), SECTION.key, shown)


def _describe(test: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """Say what the test found, and what was brought to the size by √n."""
    if test["p"] is None:
        told = f"No test: {test['reason']}."
    else:
        told = (
            f"The largest typical se is {test['largest_over_smallest']:.2f} times the smallest; that all {test['test_sets']} test "
            f"sets have one has p = {format_p(test['p'])} (F = {test['statistic']:.2f}, over {test['pairs']:,} pairs)."
        )
    scaled = [str(row["test_set"]) for row in rows if row["scale"] != 1]
    if scaled:
        told += f" Brought to {test['units']:,} units by the square root of their number: {', '.join(scaled)}."
    return told


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    remark = "; ".join(words for words in (row["reason"], row["warning"]) if words)
    return {**row, "remark": remark or None}


def list_figures(
    cubes: Mapping[str, xr.Dataset], rows: Sequence[Mapping[str, Any]], points: Sequence[Mapping[str, Any]]
) -> Iterator[Figure]:
    """Yield the figures of each metric and procedure: all test sets side by side, and their pairs, as many as there are colours."""
    for metric, procedure in dict.fromkeys((row["metric"], row["procedure"]) for row in rows):
        where = {"metric": metric, "procedure": procedure}
        own, added = select(rows, **where), name_procedure(cubes, procedure)
        digits = decimals_of(cubes, metric)
        there = [row for row in own if row["se_gain"] is not None]
        if there:
            alt = "Thresholds by test set. " + " ".join(
                f"{row['test_set']}: {format_number(row['se_gain'], digits)} by standard errors." for row in there
            )
            caption = (
                "Filled: the threshold by standard errors. Hollow: that of the pairs in the window. Diamond: "
                f"{there[0]['gaussian_z']:.3f} × the typical se, with its 95 % interval."
            )
            size = (7.2, 1.3 + 0.28 * len(there))
            title = f"Thresholds by test set, {name_metric(metric)}{added}"
            yield Figure(
                "domains", title, alt, caption, partial(_draw, there, metric), "domain_curve", SECTION.key, size=size, plain=True
            )
        groups = {str(row["test_set"]): select(points, **where, test_set=row["test_set"]) for row in own}
        drawn = [(name, some) for name, some in groups.items() if some]
        for title, some in in_parts(f"Confidence against gain by test set, {name_metric(metric)}{added}", drawn):
            sizes = ", ".join(f"{name}: {len(pairs):,} pairs" for name, pairs in some)
            alt = f"One minus the one-sided p against the gain, a point a pair, a colour a test set. {sizes}."
            yield Figure(
                "domain-confidence",
                title,
                alt,
                "A point is a pair of systems. Band: the window of borderline pairs.",
                partial(draw_confidence, some, metric),
                "domain_pairs",
                SECTION.key,
                plain=True,
            )


def _draw(rows: Sequence[Mapping[str, Any]], metric: str, chart: Chart) -> None:
    for y, row in enumerate(reversed(rows)):
        chart.points([row["se_gain"]], [y], "o", colour=PALETTE[0], size=8)
        if row["gain"] is not None:
            chart.points([row["gain"]], [y], "o", colour=PALETTE[0], size=8, filled=False)
        if row["typical_se"] is not None:
            chart.points([row["gaussian_z"] * row["typical_se"]], [y], "D", colour=PALETTE[1])
        if row["interval"] is not None:
            chart.line([row["gaussian_z"] * row["interval"][end] for end in ("lo", "hi")], [y, y], colour=PALETTE[1], width=2)
    chart.y.ticks = [(y, shorten(str(row["test_set"]), _LONGEST)) for y, row in enumerate(reversed(rows))]
    chart.y.low, chart.y.high, chart.y.grid = -0.7, len(rows) - 0.3, False
    chart.x.label, chart.x.low = f"gain in {name_metric(metric)}", 0
