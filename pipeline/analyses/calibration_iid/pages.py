"""What the report shows of the calibration on drawn test sets: a table and a figure for each population and metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pipeline.analyses.presentation import select
from pipeline.interfaces import Column, Figure, Section, Table
from pipeline.interfaces.figures import INK, PALETTE, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        title = " · ".join(str(part) for part in (row["test_set"], row["metric"]) if part)
        yield Table(title, {"kind": "none"}, (Column("reason", "remark"),), section=SECTION.key, rows=(row,))
    for where in _places(rows):
        own = select(rows, **where)
        ties = sum(row["ties"] for row in own)
        size = f"{own[0]['drawn']:,} test sets of {own[0]['units']:,} of {own[0]['population_units']:,} units."
        tied = f" {ties:,} pairs are tied on a drawn test set." if ties else ""
        caption = " ".join([f"{size}{tied}", *notes])
        title = f"{where['test_set']} · {where['metric']}"
        yield Table(title, where, _COLUMNS, caption, SECTION.key, tuple(map(_shown, own)))


def list_figures(rows: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """Go through the figures, one a population and metric."""
    for where in _places(rows):
        own = [row for row in select(rows, **where, kind="bin") if row["share"] is not None]
        if not own:
            continue
        title = f"Right signs by p on test sets drawn from {where['test_set']}, {where['metric']}"
        alt = "Share of pairs with the sign of the population, by p on a drawn test set. " + " ".join(
            f"p to {row['p_high']:g}: {100 * row['share']:.0f} % of {row['pairs']:,}." for row in own
        )
        caption = "Bars: found, with 95 % intervals and the number of pairs at the foot. Diamonds: expected of Gaussian gains."
        yield Figure("calibration-iid", title, alt, caption, partial(_draw, own), "calibration_iid", SECTION.key, size=(7.2, 3.9))


def _places(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    there = dict.fromkeys((row["test_set"], row["metric"]) for row in rows if row["kind"] != "none")
    return [{"test_set": test_set, "metric": metric} for test_set, metric in there]


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    named = {"all": "all", "window": f"{row['p_low']:g} – {row['p_high']:g} (window)"}
    remark = "; ".join(words for words in (row["reason"], row["warning"], row["interval_note"]) if words)
    return {**row, "edges": named.get(row["kind"], f"{row['p_low']:g} – {row['p_high']:g}"), "remark": remark or None}


def _draw(rows: Sequence[Mapping[str, Any]], axes: Axes) -> None:
    axes.axhline(50, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
    for x, row in enumerate(rows):
        axes.bar(x, 100 * row["share"], 0.7, color=PALETTE[0], alpha=0.45, label="found" if x == 0 else None)
        if row["interval"] is not None:
            axes.vlines(x, 100 * row["interval"]["lo"], 100 * row["interval"]["hi"], color=PALETTE[0], linewidth=1.8)
        if row["expected"] is not None:
            label = "expected" if x == 0 else None
            axes.plot(x, 100 * row["expected"], "D", color=PALETTE[1], markersize=5.5, linestyle="none", label=label)
        axes.annotate(f"{row['pairs']:,}", (x, 0), xytext=(0, 3), textcoords="offset points", ha="center", fontsize=7.5)
    axes.set_xticks(range(len(rows)), [f"{_edge(row['p_low'])}–{_edge(row['p_high'])}" for row in rows], fontsize=8)
    axes.set_ylim(0, 104)
    tidy_axes(axes, x="one-sided p on a drawn test set", y="right sign, % of pairs")
    axes.grid(False, axis="x")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)


def _edge(value: float) -> str:
    return f"{value:g}".removeprefix("0") or "0"
