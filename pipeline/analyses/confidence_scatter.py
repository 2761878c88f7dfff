"""Confidence against gain with a colour a group: the scatter of Berg-Kirkpatrick and others (2012), figures 9 to 11."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.analyses.pairs import BORDERLINE
from pipeline.interfaces.charts import Chart
from pipeline.interfaces.figures import GRID, PALETTE, SHAPES
from pipeline.interfaces.wording import name_metric, shorten

__all__ = ["draw_confidence"]

_LONGEST = 28


def draw_confidence(groups: Sequence[tuple[str, Sequence[Mapping[str, Any]]]], metric: str, chart: Chart) -> None:
    """Draw 1 − p against the gain, a point a pair.

    Parameters
    ----------
    groups : sequence of (str, sequence of mapping)
        Of each group the name and its pairs, with ``gain`` and ``p``; as many groups as there are colours.
    metric : str
    chart : Chart
    """
    # Gains far beyond the point where all pairs are confident would press the others together.
    doubtful = [pair["gain"] for _, pairs in groups for pair in pairs if pair["p"] >= 0.001]
    largest = max((pair["gain"] for _, pairs in groups for pair in pairs), default=1.0)
    right = min(largest, 1.6 * max(doubtful)) if doubtful else largest
    chart.span(100 * (1 - BORDERLINE[1]), 100 * (1 - BORDERLINE[0]), colour=GRID)
    for (name, pairs), colour, marker in zip(groups, PALETTE, SHAPES, strict=False):
        gains, confidence = [pair["gain"] for pair in pairs], [100 * (1 - pair["p"]) for pair in pairs]
        chart.points(gains, confidence, marker, colour=colour, size=5, opacity=0.55, label=shorten(name, _LONGEST))
    chart.x.label, chart.x.low, chart.x.high = f"gain in {name_metric(metric)}", 0, 1.02 * right
    chart.y.label, chart.y.low, chart.y.high = "confidence, 100 (1 − p)", 48, 101
    chart.legend = "bottom right"
