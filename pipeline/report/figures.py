"""The figures of a report. This module draws ranks, size curves and calibration, and gathers all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from pipeline.report.document import digits_of
from pipeline.report.input import ReportInput
from pipeline.report.procedures import name_procedure
from pipeline.report.qq_plots import draw_quantiles
from pipeline.report.run_gains import draw_run_gains
from pipeline.report.scatter import draw_scatters
from pipeline.report.suite_figure import draw_suites
from pipeline.report.svg import INK, PALETTE, Drawing, canvas, finish, tidy_axes
from pipeline.report.values import format_number
from pipeline.report.verdict_text import select

__all__ = ["draw_all"]

MOST_SYSTEMS = 20
MARKERS = "o^sDvP"


def draw_all(report: ReportInput, document: Mapping[str, Any]) -> list[Drawing]:
    """Draw every figure that the findings allow, in the order of the page."""
    drawings = [*_leaderboards(document), *draw_scatters(report, document), *_size_curves(document), *_calibrations(document)]
    drawings += [*draw_quantiles(report), *draw_run_gains(document)]
    drawings += draw_suites(document)
    numbers: dict[str, int] = {}
    named = []
    for drawing in drawings:
        numbers[drawing.kind] = numbers.get(drawing.kind, 0) + 1
        named.append(Drawing(**{**vars(drawing), "file": f"{drawing.kind}-{numbers[drawing.kind]:02d}.svg"}))
    return named


def _where(document: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for row in document["signature"]:
        yield {key: row[key] for key in ("test_set", "metric", "procedure")}


def _leaderboards(document: Mapping[str, Any]) -> Iterator[Drawing]:
    for where in _where(document):
        rows = [row for row in select(document["leaderboard"], **where) if row["rank"] is not None]
        shown = rows[:MOST_SYSTEMS]
        if len(shown) < 3:
            continue
        title = f"Ranks on {where['test_set']}, {where['metric']}{name_procedure(document, where['procedure'])}"
        alt = f"Of {len(rows)} systems the first {len(shown)}; " if len(rows) > len(shown) else f"{len(rows)} systems; "
        low, high = shown[0]["rank_low"], shown[0]["rank_high"]
        alt += f"{shown[0]['name']} " + (f"has rank {low}." if low == high else f"may have rank {low} to {high}.")
        with canvas(7.2, 0.9 + 0.2 * len(shown)) as (figure, axes):
            y = np.arange(len(shown))[::-1]
            first, last = (np.array([row[key] for row in shown]) for key in ("rank_low", "rank_high"))
            axes.hlines(y, first, last, color=PALETTE[0], linewidth=5, alpha=0.3)
            axes.plot([r["rank"] for r in shown], y, "o", color=PALETTE[0], markersize=4.5)
            names = [f"{_short(r['name'])} · {format_number(r['score'], digits_of(document, where['metric']))}" for r in shown]
            axes.set_yticks(y, names)
            axes.set_ylim(-0.8, len(shown) - 0.2)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            tidy_axes(axes, x="rank", y="")
            axes.grid(False, axis="y")
            svg = finish(figure, title=title, alt=alt)
        caption = "The dot is the rank by score, the bar the ranks that the separated pairs do not exclude."
        yield Drawing(
            "ranks", "", title, alt, caption + (f" Shown: the first {len(shown)}." if len(rows) > len(shown) else ""), svg
        )


def _size_curves(document: Mapping[str, Any]) -> Iterator[Drawing]:
    keys = dict.fromkeys((curve["metric"], curve["procedure"]) for curve in document["size_curve"])
    for metric, procedure in keys:
        curves = select(document["size_curve"], metric=metric, procedure=procedure)
        drawn = [c for c in curves if sum(bool(p["gain"] or p["median_se"]) for p in c["points"]) >= 2]
        if not drawn:
            continue
        title = f"Gain against test size, {metric}{name_procedure(document, procedure)}"
        slopes = [
            (c["test_set"], f["slope"]) for c in drawn for f in c["fits"] if f["quantity"] == "gain" and f["slope"] is not None
        ]
        alt = "The threshold and the typical standard error against the number of units, both on log scales. "
        alt += " ".join(f"Slope of the threshold on {name}: {slope:.2f}." for name, slope in slopes)
        z = drawn[0]["points"][0]["gaussian_z"]
        with canvas(7.2, 4.0) as (figure, axes):
            for number, curve in enumerate(drawn[: len(PALETTE)]):
                _one_curve(axes, curve, PALETTE[number], MARKERS[number])
            axes.set_xscale("log")
            axes.set_yscale("log")
            units = sorted({p["units"] for c in drawn for p in c["points"]})
            axes.set_xticks(units, [f"{n:,}" for n in units])
            axes.xaxis.set_minor_formatter(NullFormatter())
            for which in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
                which(FuncFormatter(lambda value, _: f"{value:g}"))
            tidy_axes(axes, x="units in the test set (log)", y=f"gain in {metric} (log)")
            axes.legend(loc="upper right")
            svg = finish(figure, title=title, alt=alt)
        caption = (
            f"Filled: the threshold among the pairs borderline at that size. Line: its fit. Hollow: {z:.3f} × the median standard "
            "error of the pairs that are not identical there. Sizes are prefixes of the test set."
        )
        yield Drawing("size-curve", "", title, alt, caption, svg)


def _one_curve(axes: Any, curve: Mapping[str, Any], colour: str, marker: str) -> None:
    there = [(p["units"], p["gain"]) for p in curve["points"] if p["gain"]]
    # Drawn also when empty: the legend must name every test set.
    axes.plot(
        [n for n, _ in there], [gain for _, gain in there], marker, color=colour, markersize=6, label=_short(curve["test_set"])
    )
    spread = [(p["units"], p["gaussian_z"] * p["median_se"]) for p in curve["points"] if p["median_se"]]
    if spread:
        axes.plot(*zip(*spread, strict=True), marker, color=colour, markersize=5, fillstyle="none", linestyle=":", linewidth=0.8)
    fit = next((f for f in curve["fits"] if f["quantity"] == "gain" and f["slope"] is not None), None)
    if fit is not None:
        n = np.array([min(x for x, _ in there), max(x for x, _ in there)], dtype=float)
        axes.plot(n, np.exp(fit["intercept"] + fit["slope"] * np.log(n)), color=colour, linewidth=1.2, alpha=0.8)


def _calibrations(document: Mapping[str, Any]) -> Iterator[Drawing]:
    rows = [row for row in document["calibration"] if row["kind"] == "bin" and row["share"] is not None]
    keys = dict.fromkeys((row["test_set"], row["metric"], row["procedure"]) for row in rows)
    for base, metric, procedure in keys:
        here = select(rows, test_set=base, metric=metric, procedure=procedure)
        others = list(dict.fromkeys(row["against"] for row in here))[: len(PALETTE)]
        edges = sorted({(row["p_low"], row["p_high"]) for row in here})
        title = f"What p on {base} says of other test sets, {metric}{name_procedure(document, procedure)}"
        alt = "Share of pairs with the same sign, by p. " + " ".join(
            f"{row['against']}, p to {row['p_high']:g}: {100 * row['share']:.0f} % of {row['same_sign'] + _lost(row)}."
            for row in here
        )
        width = 0.8 / len(others)
        with canvas(7.2, 3.9) as (figure, axes):
            axes.axhline(50, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
            for number, other in enumerate(others):
                for row in select(here, against=other):
                    x = edges.index((row["p_low"], row["p_high"])) + (number - (len(others) - 1) / 2) * width
                    label = _short(other) if row is select(here, against=other)[0] else None
                    axes.bar(x, 100 * row["share"], width * 0.9, color=PALETTE[number], alpha=0.45, label=label)
                    if row["interval"] is not None:
                        ends = [100 * row["interval"]["lo"], 100 * row["interval"]["hi"]]
                        axes.vlines(x, *ends, color=PALETTE[number], linewidth=1.8)
                    axes.annotate(
                        f"{row['same_sign'] + _lost(row):,}",
                        (x, 0),
                        xytext=(0, 3),
                        textcoords="offset points",
                        ha="center",
                        fontsize=7.5,
                    )
            axes.set_xticks(range(len(edges)), [f"{_edge(a)}–{_edge(b)}" for a, b in edges], fontsize=8)
            axes.set_ylim(0, 104)
            tidy_axes(axes, x=f"one-sided p on {_short(base)}", y="same sign, % of pairs")
            axes.grid(False, axis="x")
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
            svg = finish(figure, title=title, alt=alt)
        caption = "Numbers at the foot are pairs; lines are 95 % intervals with the systems resampled; at 50 % p says nothing."
        yield Drawing("calibration", "", title, alt, caption, svg)


def _lost(row: Mapping[str, Any]) -> int:
    """Count the pairs whose sign turned."""
    return int(row["pairs"]) - int(row["ties"]) - int(row["same_sign"])


def _edge(value: float) -> str:
    return f"{value:g}".removeprefix("0") or "0"


def _short(name: str, limit: int = 28) -> str:
    return name if len(name) <= limit else name[: limit - 1] + "…"
