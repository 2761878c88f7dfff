"""What the report shows of the calibration on drawn test sets: a table and a figure for each population and metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pipeline.analyses.presentation import select
from pipeline.interfaces import Column, Figure, Section, Table
from pipeline.interfaces.charts import Chart
from pipeline.interfaces.figures import PALETTE
from pipeline.interfaces.wording import name_metric

__all__ = ["SECTION", "list_figures", "list_tables"]

SECTION = Section("calibration-iid", "Calibration on test sets drawn from a population", after="figures")
_COLUMNS = (
    Column("edges", "p"),
    Column("pairs", "pairs", "count"),
    Column("same_sign", "right sign", "count"),
    Column("share", "share", "share"),
    Column("interval", "95 % interval", "share-interval"),
    Column("expected", "expected", "share"),
    Column("systems", "systems", "count"),
    Column("test_sets", "drawn test sets", "count"),
    Column("remark", "remark"),
)


def list_tables(rows: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> Iterator[Table]:
    """Go through the tables: the reasons why there is nothing, then one a population and metric, a row a bin."""
    for row in select(rows, kind="none"):
        title = " · ".join(str(part) for part in (row["test_set"], name_metric(row["metric"])) if part)
        yield Table(title, {"kind": "none"}, (Column("reason", "remark"),), section=SECTION.key, rows=(row,))
    for where in _places(rows):
        own = select(rows, **where)
        ties = sum(row["ties"] for row in own)
        size = f"{own[0]['drawn']:,} test sets of {own[0]['units']:,} of {own[0]['population_units']:,} units."
        tied = f" {ties:,} pair{' is' if ties == 1 else 's are'} tied on a drawn test set." if ties else ""
        caption = " ".join([f"{size}{tied}", *notes])
        title = f"{where['test_set']} · {name_metric(where['metric'])}"
        yield Table(title, where, _COLUMNS, caption, SECTION.key, tuple(map(_shown, own)))


def list_figures(rows: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """Yield the figures, one for each population and metric."""
    for where in _places(rows):
        own = [row for row in select(rows, **where, kind="bin") if row["share"] is not None]
        if not own:
            continue
        title = f"Right signs by p on test sets drawn from {where['test_set']}, {name_metric(where['metric'])}"
        alt = "Share of pairs with the sign of the population, by p on a drawn test set. " + " ".join(
            f"p to {row['p_high']:g}: {100 * row['share']:.0f} % of {row['pairs']:,}." for row in own
        )
        caption = "Bars: found, with 95 % intervals and the number of pairs below them. Diamonds: expected of Gaussian gains."
        yield Figure(
            "calibration-iid", title, alt, caption, partial(_draw, own), "calibration_iid", SECTION.key, size=(7.2, 3.9), plain=True
        )


def _places(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    there = dict.fromkeys((row["test_set"], row["metric"]) for row in rows if row["kind"] != "none")
    return [{"test_set": test_set, "metric": metric} for test_set, metric in there]


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    named = {"all": "all", "window": f"{row['p_low']:g} – {row['p_high']:g} (window)"}
    remark = "; ".join(words for words in (row["reason"], row["warning"], row["interval_note"]) if words)
    return {**row, "edges": named.get(row["kind"], f"{row['p_low']:g} – {row['p_high']:g}"), "remark": remark or None}


def _draw(rows: Sequence[Mapping[str, Any]], chart: Chart) -> None:
    chart.rule(y=50)
    for x, row in enumerate(rows):
        ends, height = [x - 0.35, x + 0.35], [100 * row["share"]] * 2
        chart.area(ends, [0, 0], height, colour=PALETTE[0], label="found" if x == 0 else None)
        if row["interval"] is not None:
            chart.line([x, x], [100 * row["interval"][end] for end in ("lo", "hi")], colour=PALETTE[0], width=2.4)
        chart.words(x, 0, f"{row['pairs']:,}", anchor="middle", up=-9)  # below 0, where no interval crosses them
    expected = [(x, 100 * row["expected"]) for x, row in enumerate(rows) if row["expected"] is not None]
    if expected:
        xs, heights = zip(*expected, strict=True)
        chart.points(xs, heights, "D", colour=PALETTE[1], label="expected")
    chart.x.ticks = [(x, f"{_edge(row['p_low'])}–{_edge(row['p_high'])}") for x, row in enumerate(rows)]
    chart.x.label, chart.y.label = "one-sided p on a drawn test set", "right sign, % of pairs"
    chart.y.low, chart.y.high, chart.x.grid, chart.legend = -9, 104, False, "above"


def _edge(value: float) -> str:
    return f"{value:g}".removeprefix("0") or "0"
