"""What the report shows of the calibration across test sets: one table of all of them, one of each, a heat map and bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pipeline.analyses.presentation import in_parts, name_procedure, say_intervals, select
from pipeline.interfaces import Column, Figure, Section, Table
from pipeline.interfaces.charts import Chart
from pipeline.interfaces.figures import PALETTE
from pipeline.interfaces.wording import name_metric, shorten

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["SECTION", "list_figures", "list_tables"]

SECTION = Section("calibration", "Calibration across test sets", after="figures")
_COLUMNS = (
    Column("p_on_base", "p on the base"),
    Column("pairs", "pairs", "count"),
    Column("same_sign", "same sign", "count"),
    Column("ties", "tied", "count"),
    Column("share", "share", "share"),
    Column("interval", "95 % interval", "share-interval"),
    Column("retained", "gain kept", "share"),
    Column("retained_interval", "95 % interval", "share-interval"),
    Column("systems", "systems", "count"),
    Column("remark", "remark"),
)
_LEVEL_COLUMNS = (
    Column("against", "on"),
    Column("level", "share asked for", "share"),
    Column("up_to", "reached up to p", "written"),
    Column("surely", "with confidence up to p", "written"),
    Column("pairs", "pairs up to it", "count"),
    Column("share", "share", "share"),
    Column("interval", "95 % interval", "share-interval"),
    Column("remark", "remark"),
)
_LEVELS = (
    "The largest edge of the bins such that, at it and at every smaller one, at least the share of the pairs with a p no larger "
    "keeps its sign on the other test set; with confidence where the 95 % interval of that share, with the systems resampled, lies "
    "above it too."
)
_LONGEST = 28
_PLACE = ("test_set", "metric", "procedure")


def list_tables(
    rows: Sequence[Mapping[str, Any]], levels: Sequence[Mapping[str, Any]], notes: Sequence[str], shared: Sequence[str]
) -> Iterator[Table]:
    """Go through the tables.

    First the reasons why there is nothing; then, for a base, metric and procedure, all test sets at a glance, the p that reaches a
    share, and each test set with a row a bin. What is said of items that test sets share, ``shared``, stands beside all of them.
    """
    for row in select(rows, kind="none"):
        title = f"{row['test_set']} → {row['against'] or 'other test sets'}"
        yield Table(title, {"kind": "none"}, (Column("reason", "remark"),), section=SECTION.key, rows=(row,))
    there = [row for row in rows if row["kind"] != "none"]
    for where in _places(there):
        own = select(there, **where)
        others = list(dict.fromkeys(row["against"] for row in own))
        name = " · ".join([name_metric(where["metric"]), where["procedure"]])
        if len(others) > 1:
            yield _overview(f"{where['test_set']} → other test sets · {name}", where, own, others, shared)
        of_levels = select(levels, **where)
        if of_levels:
            title = f"p on {where['test_set']} up to which signs are kept · {name}"
            caption = " ".join([_LEVELS, *shared, *say_intervals(of_levels)])
            yield Table(title, where, _LEVEL_COLUMNS, caption, SECTION.key, tuple(map(_level_shown, of_levels)))
        for other in others:
            bins = select(own, against=other)
            caption = " ".join([*notes, *shared, *say_intervals(bins)])
            title = f"{where['test_set']} → {other} · {name}"
            yield Table(title, where | {"against": other}, _COLUMNS, caption, SECTION.key, tuple(map(_shown, bins)))


def _places(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [dict(zip(_PLACE, place, strict=True)) for place in dict.fromkeys(tuple(row[key] for key in _PLACE) for row in rows)]


def _overview(
    title: str, where: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], others: Sequence[str], shared: Sequence[str]
) -> Table:
    """Return the table of the paper: a row a test set, a column a bin, the share of kept signs and of how many pairs."""
    edges = list(dict.fromkeys(_span(row) for row in rows))
    columns = (Column("against", "on"), *(Column(span, f"p {span}", "written") for span in edges))
    cells = tuple({"against": other} | {_span(row): _cell(row) for row in select(rows, against=other)} for other in others)
    caption = "Share of the pairs with p in a bin that keep their sign on the other test set, and how many pairs have one there."
    return Table(title, where, columns, " ".join([caption, *shared]), SECTION.key, cells)


def _cell(row: Mapping[str, Any]) -> str:
    return "–" if row["share"] is None else f"{100 * row['share']:.0f} % of {_signed(row):,}"


def _span(row: Mapping[str, Any]) -> str:
    return f"{row['p_low']:g} – {row['p_high']:g}" + (" (window)" if row["kind"] == "window" else "")


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    why = None if row["interval"] else row["interval_note"]
    remark = "; ".join(words for words in (row["reason"], row["warning"], why) if words)
    return {**row, "p_on_base": _span(row), "remark": remark or None}


def _level_shown(row: Mapping[str, Any]) -> dict[str, Any]:
    why = None if row["interval"] else row["interval_note"]
    ends = {"up_to": row["largest_p"], "surely": row["certain_p"]}
    shown = {key: "none" if value is None else f"{value:g}" for key, value in ends.items()}
    return {**row, **shown, "remark": "; ".join(words for words in (row["reason"], row["warning"], why) if words) or None}


def list_figures(cubes: Mapping[str, xr.Dataset], rows: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """Go through the figures of each base, metric and procedure: a heat map of all test sets, and bars with intervals.

    There are as many figures of bars as colours for all test sets ask.
    """
    bins = [row for row in rows if row["kind"] == "bin" and row["share"] is not None]
    for where in _places(bins):
        here = select(bins, **where)
        others = list(dict.fromkeys(row["against"] for row in here))
        named = f"{name_metric(where['metric'])}{name_procedure(cubes, where['procedure'])}"
        if len(others) > 1:
            title = f"Kept signs by p on {where['test_set']} and by test set, {named}"
            caption = "Share of pairs that keep their sign, and how many pairs; blue above 50 %, orange below, where p misleads."
            size = (7.2, 1.3 + 0.36 * len(others))
            alt = _tell("Share of pairs with the same sign, by p and test set.", here)
            yield Figure(
                "calibration-map", title, alt, caption, partial(_draw_map, here), "calibration", SECTION.key, size=size, plain=True
            )
        title = f"What p on {where['test_set']} says of other test sets, {named}"
        for part, some in in_parts(title, others):
            drawn = [row for row in here if row["against"] in some]
            alt = _tell("Share of pairs with the same sign, by p.", drawn)
            caption = (
                "Numbers below the bars are pairs; lines are 95 % intervals with the systems resampled; at 50 % p says nothing."
            )
            yield Figure(
                "calibration",
                part,
                alt,
                caption,
                partial(_draw_bars, drawn),
                "calibration",
                SECTION.key,
                size=(7.2, 3.9),
                plain=True,
            )


def _tell(what: str, rows: Sequence[Mapping[str, Any]]) -> str:
    return f"{what} " + " ".join(
        f"{row['against']}, p to {row['p_high']:g}: {100 * row['share']:.0f} % of {_signed(row)}." for row in rows
    )


def _edges(rows: Sequence[Mapping[str, Any]]) -> list[tuple[float, float]]:
    return sorted({(row["p_low"], row["p_high"]) for row in rows})


def _draw_map(rows: Sequence[Mapping[str, Any]], chart: Chart) -> None:
    others, edges = list(dict.fromkeys(row["against"] for row in rows)), _edges(rows)
    for row in rows:
        x, y = edges.index((row["p_low"], row["p_high"])), others.index(row["against"])
        colour = PALETTE[0] if row["share"] >= 0.5 else PALETTE[1]
        opacity = 0.65 * abs(2 * row["share"] - 1)
        chart.area([x - 0.5, x + 0.5], [y - 0.5] * 2, [y + 0.5] * 2, colour=colour, opacity=opacity)
        chart.words(x, y, f"{100 * row['share']:.0f} %", anchor="middle", up=6, size=11)
        chart.words(x, y, f"{_signed(row):,}", anchor="middle", up=-7, size=9)
    chart.x.low, chart.x.high = -0.5, len(edges) - 0.5
    chart.y.low, chart.y.high = len(others) - 0.5, -0.5
    chart.y.ticks = [(y, shorten(other, _LONGEST)) for y, other in enumerate(others)]
    _mark_bins(rows, edges, chart)
    chart.x.grid = chart.y.grid = False


def _draw_bars(rows: Sequence[Mapping[str, Any]], chart: Chart) -> None:
    others, edges = list(dict.fromkeys(row["against"] for row in rows)), _edges(rows)
    width = 0.8 / len(others)
    chart.rule(y=50)
    for number, other in enumerate(others):
        own = select(rows, against=other)
        for row in own:
            x = edges.index((row["p_low"], row["p_high"])) + (number - (len(others) - 1) / 2) * width
            label = shorten(other, _LONGEST) if row is own[0] else None
            ends = [x - 0.45 * width, x + 0.45 * width]
            chart.area(ends, [0, 0], [100 * row["share"]] * 2, colour=PALETTE[number], label=label)
            if row["interval"] is not None:
                heights = [100 * row["interval"][end] for end in ("lo", "hi")]
                chart.line([x, x], heights, colour=PALETTE[number], width=2.4)
            chart.words(x, 0, f"{_signed(row):,}", anchor="middle", up=-9)  # below 0, where no interval crosses them
    _mark_bins(rows, edges, chart)
    chart.y.label, chart.y.low, chart.y.high = "same sign, % of pairs", -9, 104
    chart.x.grid, chart.legend = False, "above"


def _mark_bins(rows: Sequence[Mapping[str, Any]], edges: Sequence[tuple[float, float]], chart: Chart) -> None:
    chart.x.ticks = [(x, f"{_edge(a)}–{_edge(b)}") for x, (a, b) in enumerate(edges)]
    chart.x.label = f"one-sided p on {shorten(rows[0]['test_set'], _LONGEST)}"


def _signed(row: Mapping[str, Any]) -> int:
    """Count the pairs with a sign on the other test set."""
    return int(row["pairs"]) - int(row["ties"])


def _edge(value: float) -> str:
    return f"{value:g}".removeprefix("0") or "0"
