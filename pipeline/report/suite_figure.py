"""The gains of a suite's most decided pairs on every test set. This module draws a forest of small panels for each metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from pipeline.report.procedures import name_procedure
from pipeline.report.svg import GRID, INK, PALETTE, Drawing, canvas, finish, tidy_axes

__all__ = ["draw_suites"]

COLUMNS = 3
LOOKS = {
    "better": (PALETTE[0], "o", "full"),
    "worse": (PALETTE[1], "s", "full"),
    "not separated": (INK, "o", "none"),
}
LONGEST = 24


def draw_suites(document: Mapping[str, Any]) -> Iterator[Drawing]:
    """Draw a forest for each metric that the analysis ``suite`` was asked of."""
    rows = [row for finding in document["findings"] if finding["analysis"] == "suite" for row in finding["rows"]]
    for metric, procedure in dict.fromkeys((row["metric"], row["procedure"]) for row in rows if row["kind"] == "pair"):
        here = [row for row in rows if row["metric"] == metric and row["procedure"] == procedure and row.get("shown")]
        pairs = [row for row in here if row["kind"] == "pair"]
        gains = [row for row in here if row["kind"] == "test-set"]
        by_pair = [[g for g in gains if (g["system_a"], g["system_b"]) == (p["system_a"], p["system_b"])] for p in pairs]
        total = sum(row["kind"] == "pair" and row["metric"] == metric and row["procedure"] == procedure for row in rows)
        title = f"Gains on every test set, {metric}{name_procedure(document, procedure)}"
        alt = " ".join(_describe(row) for row in pairs)
        svg = _draw(pairs, by_pair, metric, title=title, alt=alt)
        percent = f"{100 * (1 - pairs[0]['alpha']):g} %"
        caption = (
            f"Filled: separated by Holm over the pair's test sets, round where better, square where worse. Bars are {percent} "
            "intervals of one gain, normal and not adjusted: they describe, the fill decides. The diamond is the mean weighted by "
            "1/se², grey where gains differ by more than chance, so that it stands for none."
        )
        shown = f" Shown: the {len(pairs)} most decided of {total:,} pairs." if total > len(pairs) else ""
        yield Drawing("suite", "", title, alt, caption + shown, svg)


def _draw(
    pairs: Sequence[Mapping[str, Any]], gains: Sequence[Sequence[Mapping[str, Any]]], metric: str, *, title: str, alt: str
) -> str:
    columns = min(COLUMNS, len(pairs))
    lines = -(-len(pairs) // columns)
    names = list(dict.fromkeys(row["test_set"] for of_pair in gains for row in of_pair))
    with canvas(7.2, 0.5 + lines * (0.62 + 0.19 * (len(names) + 1))) as (figure, first):
        first.remove()
        panels = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for axes, pair, of_pair in zip(panels, pairs, gains, strict=False):
            _one_pair(axes, pair, of_pair, names)
        for axes in panels[len(pairs) :]:
            axes.remove()
        for place, axes in enumerate(panels[: len(pairs)]):
            below = place + columns >= len(pairs)
            axes.tick_params(labelbottom=below)
            tidy_axes(axes, x=f"gain in {metric}" if below else "", y="")
        return finish(figure, title=title, alt=alt)


def _one_pair(axes: Axes, pair: Mapping[str, Any], gains: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    axes.axvline(0, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
    for row in gains:
        y = len(names) - names.index(row["test_set"])
        if row["gain"] is None or row["conclusion"] not in LOOKS:
            axes.annotate("not compared", (0, y), ha="center", va="center", fontsize=7)
            continue
        colour, marker, fill = LOOKS[row["conclusion"]]
        if row["interval"] is not None:
            axes.hlines(y, row["interval"]["lo"], row["interval"]["hi"], color=colour, linewidth=1.4, alpha=0.7)
        axes.plot([row["gain"]], [y], marker, color=colour, fillstyle=fill, markersize=4.5)
    if pair["mean_gain"] is not None:
        agree = pair["p_equal_gains"] is None or pair["p_equal_gains"] > pair["alpha"]
        axes.plot([pair["mean_gain"]], [0], "D", color=INK if agree else GRID, markersize=4.5)
    axes.set_yticks([*range(len(names), 0, -1), 0], [*map(_short, names), "mean"], fontsize=8)
    axes.set_ylim(-0.7, len(names) + 0.7)
    axes.set_title(f"{_short(pair['system_a'])}\nagainst {_short(pair['system_b'])}", loc="left", fontsize=8)


def _describe(row: Mapping[str, Any]) -> str:
    counts = [
        f"{word} on at least {row[f'{word}_at_least']}" for word in ("better", "worse") if row[f"{word}_at_least"] is not None
    ]
    return f"{row['system_a']} against {row['system_b']}: {' and '.join(counts)} of {row['test_sets']} test sets."


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
