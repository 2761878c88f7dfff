"""What the report shows of driving items: tables of test sets, pairs, items and documents, and how a gain wears away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.analyses.presentation import select
from pipeline.interfaces import Column, Figure, Section, Table
from pipeline.interfaces.charts import Chart
from pipeline.interfaces.figures import PALETTE
from pipeline.interfaces.wording import name_metric, shorten

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["SECTION", "list_figures", "list_tables"]

SECTION = Section("driving-items", "Items that drive the gains", after="pairs")
_PAIRS = (
    Column("system_a", "better"),
    Column("system_b", "worse"),
    Column("gain", "gain", "score"),
    Column("wins", "wins", "count"),
    Column("losses", "losses", "count"),
    Column("to_flip", "to flip", "count"),
    Column("without_ten", "without the ten that add most", "score"),
    Column("lowest_without", "lowest without one document or unit", "score"),
    Column("highest_without", "highest", "score"),
)
_ITEMS = (
    Column("item", "item"),
    Column("adds", "adds", "number"),
    Column("without", "gain without it", "score"),
)
_DOCUMENTS = (
    Column("first_item", "first item"),
    Column("items", "items", "count"),
    Column("without", "gain without it", "score"),
)
_LONGEST = 40


def list_tables(cubes: Mapping[str, xr.Dataset], rows: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> Iterator[Table]:
    """Go through the tables of each test set and metric: its pairs, then the items and documents of each."""
    for row in select(rows, kind="none"):
        title = " · ".join(str(part) for part in (row["test_set"], name_metric(row["metric"])) if part)
        yield Table(title, {"kind": "none"}, (Column("reason", "remark"),), "", SECTION.key, (row,))
    for row in select(rows, kind="test-set"):
        where = {"test_set": row["test_set"], "metric": row["metric"]}
        own = select(rows, **where, kind="pair")
        if not own:
            continue
        dead = f"{row['dead_items']:,} of {row['items']:,} items are dead ({100 * row['dead_share']:.1f} %)."
        title = f"{row['test_set']} · {name_metric(row['metric'])}"
        yield Table(title, where | {"kind": "pair"}, _PAIRS, " ".join([dead, *notes]), SECTION.key, tuple(own))
        for pair in own:
            names = {"system_a": pair["system_a"], "system_b": pair["system_b"]}
            said = f"{title} · {pair['system_a']} and {pair['system_b']}"
            for kind, columns in (("item", _ITEMS), ("document", _DOCUMENTS)):
                listed = select(rows, **where, **names, kind=kind)
                if listed:
                    what = "items" if kind == "item" else f"without one {listed[0]['unit']}, those that add most first"
                    yield Table(f"{said} · {what}", where | names | {"kind": kind}, columns, "", SECTION.key, tuple(listed))


def list_figures(rows: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """Yield the figures, one for each test set and metric: the items that add most to each pair's gain and take most from it."""
    for row in select(rows, kind="test-set"):
        where = {"test_set": row["test_set"], "metric": row["metric"]}
        pairs = select(rows, **where, kind="pair")
        items = select(rows, **where, kind="item")
        if not items:
            continue
        alt = "What single items add to the gain. " + " ".join(
            f"{pair['system_a']} over {pair['system_b']}: {pair['gain']:.3g}, {pair['wins']:,} wins, {pair['losses']:,} losses."
            for pair in pairs
        )
        caption = "A dot is an item: those that add most to the gain of a pair, and those that take most from it. Bar: the gain."
        size = (7.2, 1.2 + 0.36 * len(pairs))
        title = f"Items that drive the gains on {row['test_set']}, {name_metric(row['metric'])}"
        draw = partial(_draw, pairs, items, row["metric"])
        yield Figure("driving-items", title, alt, caption, draw, "driving_items_listed", SECTION.key, size=size, plain=True)


def _draw(pairs: Sequence[Mapping[str, Any]], items: Sequence[Mapping[str, Any]], metric: str, chart: Chart) -> None:
    for y, pair in enumerate(reversed(pairs)):
        adds = np.array([row["adds"] for row in select(items, system_a=pair["system_a"], system_b=pair["system_b"])])
        chart.area([0, pair["gain"]], [y - 0.25] * 2, [y + 0.25] * 2, colour=PALETTE[0], opacity=0.25)
        for own, colour in ((adds[adds > 0], PALETTE[0]), (adds[adds < 0], PALETTE[1])):
            chart.points(own.tolist(), [y] * len(own), "o", colour=colour, size=6, opacity=0.6)
    chart.rule(x=0, width=1, dashes="")
    labels = [shorten(f"{pair['system_a']} – {pair['system_b']}", _LONGEST) for pair in reversed(pairs)]
    chart.y.ticks = list(enumerate(labels))
    chart.y.low, chart.y.high, chart.y.grid = -0.6, len(pairs) - 0.4, False
    chart.x.label = f"gain in {name_metric(metric)}"
