"""The words below an x axis, placed so that no two touch, however narrow the chart is."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from pipeline.dataclass import dataclass
from pipeline.interfaces.charts import Chart
from pipeline.report.drawing.charts.scales import scale_of, ticks_of

__all__ = ["TICK", "TURN", "Mark", "MarksBelow", "marks_below", "width_of_words"]

TICK = 11.0
"""Of the letters."""
TURN = 40.0
"""Degrees, of words that would touch when they are level."""
_GAP = 3.0
_NARROW = dict.fromkeys(".,:;'|il ", 0.32) | dict.fromkeys("–-/()", 0.5)


@dataclass(frozen=True)
class Mark:
    """One mark of the axis: where it stands, and its words, none where they would touch others."""

    at: float
    text: str
    width: float


@dataclass(frozen=True)
class MarksBelow:
    """All marks of an axis; those that are turned reach deeper by some pixels."""

    marks: Sequence[Mark]
    turned: bool = False
    deeper: float = 0.0


def marks_below(chart: Chart, left: float, right: float) -> MarksBelow:
    """Return the marks of the x axis between two pixels.

    Words that would touch are turned where every mark has some to be told, as bins and names have. On a logarithmic axis, whose
    marks are numbers, those are left out that would touch a larger one.
    """
    scale = scale_of(chart, "x", left, right)
    found = ticks_of(chart.x, scale, most=8)
    places = scale.at([value for value, _ in found]).tolist()
    named = sorted(zip(places, (text for _, text in found), strict=True))
    marks = [Mark(at, text, width_of_words(text)) for at, text in named]
    if not any(_touch(one, other) for one, other in pairwise(marks)):
        return MarksBelow(marks)
    if chart.x.ticks is not None and not chart.x.log:
        return MarksBelow(marks, turned=True, deeper=max(mark.width for mark in marks) * math.sin(math.radians(TURN)) - 4)
    kept: list[Mark] = []
    for mark in reversed(marks):
        follows = next((later for later in reversed(kept) if later.text), None)
        kept.append(mark if follows is None or not _touch(mark, follows) else Mark(mark.at, "", 0.0))
    return MarksBelow(kept[::-1])


def _touch(one: Mark, other: Mark) -> bool:
    """Say whether two neighbours touch, the first on the left."""
    return one.at + one.width / 2 + _GAP > other.at - other.width / 2


def width_of_words(text: str) -> float:
    """Return the width of words of the size `TICK` in a font of wide letters: of what is not a digit, little is wider."""
    return TICK * sum(_NARROW.get(c, 1.0 if unicodedata.east_asian_width(c) in "WF" else 0.64) for c in text)
