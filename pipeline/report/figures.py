"""The figures of a report: ranks, confidence against gain, and those that analyses bring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from pipeline.interfaces import Finding
from pipeline.interfaces.figures import PALETTE, tidy_axes
from pipeline.interfaces.wording import shorten
from pipeline.report.document import digits_of
from pipeline.report.input import ReportInput
from pipeline.report.procedures import name_procedure
from pipeline.report.scatter import draw_scatters
from pipeline.report.svg import Drawing, canvas, finish
from pipeline.report.values import format_number
from pipeline.report.verdict_text import select

__all__ = ["draw_all", "draw_finding"]

MOST_SYSTEMS = 20


def draw_all(report: ReportInput, document: Mapping[str, Any]) -> list[Drawing]:
    """Draw every figure in the order of the page; the report's own are numbered here, those of findings in the document."""
    own = {"ranks": _leaderboards(document), "confidence": draw_scatters(report, document)}
    drawings = [
        replace(drawing, file=f"{name}-{number:02d}.svg")
        for name, drawn in own.items()
        for number, drawing in enumerate(drawn, start=1)
    ]
    for finding, described in zip(report.findings, document["findings"], strict=True):
        drawings += draw_finding(finding, described)
    return drawings


def draw_finding(finding: Finding, described: Mapping[str, Any]) -> Iterator[Drawing]:
    """Draw the figures of a finding, which the document describes."""
    for figure, words in zip(finding.figures, described["figures"], strict=True):
        with canvas(*figure.size) as (whole, axes):
            if figure.panels:
                axes.remove()
            figure.draw(whole if figure.panels else axes)
            yield Drawing(**words, svg=finish(whole, title=figure.title, alt=figure.alt))


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
            names = [f"{shorten(r['name'], 28)} · {format_number(r['score'], digits_of(document, where['metric']))}" for r in shown]
            axes.set_yticks(y, names)
            axes.set_ylim(-0.8, len(shown) - 0.2)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            tidy_axes(axes, x="rank", y="")
            axes.grid(False, axis="y")
            svg = finish(figure, title=title, alt=alt)
        caption = "The dot is the rank by score, the bar the ranks that the separated pairs do not exclude."
        caption += f" Shown: the first {len(shown)}." if len(rows) > len(shown) else ""
        yield Drawing("leaderboard", "", title, alt, caption, svg, "leaderboard.csv")
