"""How large are gains on another test set, beside those on the base? A line through the origin, and the pairs one by one.

The line is that of least squares, Σxy / Σx² with x the gain on the base and y that on the other test set: whichever system of a
pair is taken for the first, it is the same. Its slope is the share of a gain that is found again. Two things make it differ from
one: gains on the base are partly chance, which are lost, and the other test set may tell systems further apart, or less far. The
*true slope* has the first taken out, Σxy / Σ(x² − se²): the squares of measured gains are too large by the squares of their
standard errors, on average. It takes the two test sets as independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.calibration_transfer.rows import Carried
from pipeline.analyses.pairs import FEW_PAIRS
from pipeline.analyses.presentation import in_parts, name_procedure, say_intervals, select
from pipeline.analyses.system_bootstrap import system_interval
from pipeline.interfaces import Column, Figure, Table
from pipeline.interfaces.charts import Chart
from pipeline.interfaces.figures import INK, MOST_POINTS, PALETTE, SHAPES
from pipeline.interfaces.wording import name_metric, shorten

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["draw_gains", "find_line", "list_points", "show_lines"]

LEAST_SHARE = 0.05
"""Of the squares of the gains that must be left without chance, at the lower end of its interval: of less, the true slope is not
known, as its denominator may be nothing."""

_PLACE = ("test_set", "metric", "procedure")
_LONGEST = 28
_COLUMNS = (
    Column("against", "on"),
    Column("pairs", "pairs", "count"),
    Column("slope", "slope", "number"),
    Column("interval", "95 % interval", "interval"),
    Column("signal", "not chance", "share"),
    Column("true_slope", "true slope", "number"),
    Column("true_slope_interval", "95 % interval", "interval"),
    Column("remark", "remark"),
)
_CAPTION = (
    "Slope: of the least-squares line through the origin, the gain there by the gain on the base, over all pairs. Not chance: the "
    "share of the squares of the gains on the base that is not from their standard errors. True slope: the slope without that "
    "chance, for test sets of other items; above 1 the other test set tells these systems further apart."
)


def find_line(carried: Carried, *, replicates: int, shared: int | None) -> dict[str, Any]:
    """Return the slopes of the gains on another test set by those on the base, with intervals by resampling the systems.

    Of test sets that share items there is no true slope: the chance in these items is in both gains, and Σxy is too large.
    """
    table, systems = carried.table, carried.systems
    known = table.measured & np.isfinite(carried.delta)
    x, y, se = table.gain[known], carried.delta[known], table.se[known]
    products, squares, without = x * y, x**2, x**2 - se**2
    ends = partial(system_interval, systems, table.first[known], table.second[known], replicates=replicates)
    row = {
        **carried.where,
        "pairs": len(x),
        "slope": float(products.sum() / squares.sum()) if squares.any() else None,
        "interval": None,
        "signal": None,
        "true_slope": None,
        "true_slope_interval": None,
        "reason": None if squares.any() else "no pair with a gain on both test sets",
        "interval_note": None,
        "warning": f"only {len(x)} pair{'s' * (len(x) != 1)}" if 0 < len(x) < FEW_PAIRS else None,
    }
    if row["slope"] is None:
        return row
    row["interval"], note = ends(lambda weights: _ratio(weights @ products, weights @ squares))
    row["interval_note"] = note or systems.note
    signal = float(without.sum() / squares.sum())
    surely, _ = ends(lambda weights: _ratio(weights @ without, weights @ squares))
    row["signal"] = max(0.0, signal)
    if shared:
        items = "1 item is" if shared == 1 else f"{shared:,} items are"
        return row | {"reason": f"no true slope: {items} in both test sets, by their names, and chance in both gains"}
    if surely is None:
        return row | {"reason": "no true slope: from so few systems it is not known how much of the gains is chance"}
    if surely["lo"] < LEAST_SHARE:
        return row | {"reason": "no true slope: the gains on the base may be little more than chance"}
    row["true_slope"] = float(products.sum() / without.sum())
    row["true_slope_interval"], _ = ends(lambda weights: _ratio(weights @ products, weights @ without))
    return row


def _ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), np.nan)


def list_points(carried: Carried) -> Iterator[dict[str, Any]]:
    """Go through the pairs with their gains on both test sets, where they are few enough."""
    table = carried.table
    known = np.flatnonzero(table.measured & np.isfinite(carried.delta)).tolist()
    if len(known) > MOST_POINTS:
        return
    for at in known:
        gains = {"gain": float(table.gain[at]), "gain_there": float(carried.delta[at])}
        yield {**carried.where, "better": table.better[at], "worse": table.worse[at], **gains}


def show_lines(lines: Sequence[Mapping[str, Any]], section: str, shared: Sequence[str]) -> Iterator[Table]:
    """Yield the tables of slopes, one for each base, metric and procedure."""
    for where in _places(lines):
        own = select(lines, **where)
        title = f"Gains elsewhere by gains on {where['test_set']} · {name_metric(where['metric'])} · {where['procedure']}"
        caption = " ".join([_CAPTION, *shared, *say_intervals(own)])
        yield Table(title, where, _COLUMNS, caption, section, tuple(map(_shown, own)))


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    why = None if row["interval"] else row["interval_note"]
    return {**row, "remark": "; ".join(words for words in (row["reason"], row["warning"], why) if words) or None}


def _places(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [dict(zip(_PLACE, place, strict=True)) for place in dict.fromkeys(tuple(row[key] for key in _PLACE) for row in rows)]


def draw_gains(
    cubes: Mapping[str, xr.Dataset], lines: Sequence[Mapping[str, Any]], points: Sequence[Mapping[str, Any]], section: str
) -> Iterator[Figure]:
    """Yield the figures of each base, metric and procedure, each with no more test sets than there are colours."""
    for where in _places(points):
        named = f"{name_metric(where['metric'])}{name_procedure(cubes, where['procedure'])}"
        others = [
            row for row in select(lines, **where) if row["slope"] is not None and select(points, **where, against=row["against"])
        ]
        for part, some in in_parts(f"Gains elsewhere by gains on {where['test_set']}, {named}", others):
            alt = "Gain on another test set against the gain on the base, a point a pair. " + " ".join(
                f"{row['against']}: slope {row['slope']:.2f}, {row['pairs']:,} pairs." for row in some
            )
            caption = (
                "A point is a pair, the system that is better on the base first; below the horizontal line it is the worse one "
                "there. Lines: least squares through the origin, with their slopes. Dashed: as large as on the base."
            )
            drawn = [(row, select(points, **where, against=row["against"])) for row in some]
            yield Figure(
                "gains-elsewhere",
                part,
                alt,
                caption,
                partial(_draw, drawn, where["metric"]),
                "calibration_gains",
                section,
                size=(7.2, 4.6),
                plain=True,
            )


def _draw(drawn: Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]], metric: str, chart: Chart) -> None:
    far = max(point["gain"] for _, points in drawn for point in points)
    chart.rule(y=0, width=0.8, dashes="")
    chart.line([0, far], [0, far], colour=INK, width=1.2, dashes="5 4")
    for (row, points), colour, marker in zip(drawn, PALETTE, SHAPES, strict=False):
        x, y = ([point[key] for point in points] for key in ("gain", "gain_there"))
        label = f"{shorten(str(row['against']), _LONGEST)} ({row['slope']:.2f})"
        chart.points(x, y, marker, colour=colour, size=5, opacity=0.5, label=label)
    for (row, _), colour in zip(drawn, PALETTE, strict=False):
        chart.line([0, far], [0, row["slope"] * far], colour=colour, width=1.8)
    chart.x.label, chart.x.low, chart.x.high = (
        f"gain in {name_metric(metric)} on {shorten(str(drawn[0][0]['test_set']), _LONGEST)}",
        0,
        1.02 * far,
    )
    chart.y.label, chart.legend = f"gain in {name_metric(metric)} on the other test set", "top left"
