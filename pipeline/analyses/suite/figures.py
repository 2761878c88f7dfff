"""The gains of a suite's most decided pairs on every test set: a forest of small panels for each metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pipeline.analyses.presentation import name_procedure, select
from pipeline.analyses.suite.tables import SECTION
from pipeline.interfaces import Figure
from pipeline.interfaces.figures import GRID, INK, PALETTE, tidy_axes
from pipeline.interfaces.wording import name_metric, shorten

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure

__all__ = ["list_figures"]

_COLUMNS = 3
_LOOKS = {
    "better": (PALETTE[0], "o", "full"),
    "worse": (PALETTE[1], "s", "full"),
    "not separated": (INK, "o", "none"),
    "not decided": (GRID, "o", "none"),
}
_LONGEST = 24


def list_figures(rows: Sequence[Mapping[str, Any]], cubes: Mapping[str, xr.Dataset]) -> Iterator[Figure]:
    """Yield the forests, one for each metric and procedure."""
    for metric, procedure in dict.fromkeys((row["metric"], row["procedure"]) for row in rows if row["kind"] == "pair"):
        own = select(rows, metric=metric, procedure=procedure)
        pairs = select(own, kind="pair", shown=True)
        gains = select(own, kind="test-set", shown=True)
        by_pair = [[g for g in gains if (g["system_a"], g["system_b"]) == (p["system_a"], p["system_b"])] for p in pairs]
        total = len(select(own, kind="pair"))
        title = f"Gains on every test set, {name_metric(metric)}{name_procedure(cubes, procedure)}"
        alt = " ".join(_describe(row) for row in pairs)
        percent = f"{100 * (1 - pairs[0]['alpha']):g} %"
        caption = (
            f"Filled: separated by Holm over the pair's test sets, round where better, square where worse. Bars are {percent} "
            "intervals of one gain, normal and not adjusted: they describe, the fill decides. The diamond is the mean weighted by "
            "1/se², grey where gains differ by more than chance, so that it stands for none."
        )
        caption += " Grey: not decided there, and no evidence." * any(row["conclusion"] == "not decided" for row in gains)
        caption += f" Shown: the {len(pairs)} most decided of {total:,} pairs." if total > len(pairs) else ""
        names = list(dict.fromkeys(row["test_set"] for of_pair in by_pair for row in of_pair))
        lines = -(-len(pairs) // min(_COLUMNS, len(pairs)))
        size = (7.2, 0.5 + lines * (0.62 + 0.19 * (len(names) + 1)))
        draw = partial(_draw, pairs, by_pair, names, metric)
        yield Figure("suite", title, alt, caption, draw, "suite_test_sets", SECTION.key, size=size, panels=True)


def _draw(
    pairs: Sequence[Mapping[str, Any]],
    gains: Sequence[Sequence[Mapping[str, Any]]],
    names: Sequence[str],
    metric: str,
    figure: MatplotlibFigure,
) -> None:
    columns = min(_COLUMNS, len(pairs))
    panels = figure.subplots(-(-len(pairs) // columns), columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, pair, of_pair in zip(panels, pairs, gains, strict=False):
        _draw_pair(axes, pair, of_pair, names)
    for axes in panels[len(pairs) :]:
        axes.remove()
    for place, axes in enumerate(panels[: len(pairs)]):
        below = place + columns >= len(pairs)
        axes.tick_params(labelbottom=below)
        tidy_axes(axes, x=f"gain in {name_metric(metric)}" if below else "", y="")


def _draw_pair(axes: Axes, pair: Mapping[str, Any], gains: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    axes.axvline(0, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
    for row in gains:
        y = len(names) - names.index(row["test_set"])
        if row["gain"] is None or row["conclusion"] not in _LOOKS:
            axes.annotate("not compared", (0, y), ha="center", va="center", fontsize=7)
            continue
        colour, marker, fill = _LOOKS[row["conclusion"]]
        if row["interval"] is not None:
            axes.hlines(y, row["interval"]["lo"], row["interval"]["hi"], color=colour, linewidth=1.4, alpha=0.7)
        axes.plot([row["gain"]], [y], marker, color=colour, fillstyle=fill, markersize=4.5)
    if pair["mean_gain"] is not None:
        agree = pair["p_equal_gains"] is None or pair["p_equal_gains"] > pair["alpha"]
        axes.plot([pair["mean_gain"]], [0], "D", color=INK if agree else GRID, markersize=4.5)
    axes.set_yticks([*range(len(names), 0, -1), 0], [*(shorten(name, _LONGEST) for name in names), "mean"], fontsize=8)
    axes.set_ylim(-0.7, len(names) + 0.7)
    axes.set_title(f"{shorten(pair['system_a'], _LONGEST)}\nagainst {shorten(pair['system_b'], _LONGEST)}", loc="left", fontsize=8)


def _describe(row: Mapping[str, Any]) -> str:
    counts = [
        f"{word} on at least {row[f'{word}_at_least']}" for word in ("better", "worse") if row[f"{word}_at_least"] is not None
    ]
    return f"{row['system_a']} against {row['system_b']}: {' and '.join(counts)} of {row['test_sets']} test sets."
