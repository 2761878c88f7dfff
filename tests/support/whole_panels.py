"""All places of bars, histograms and q-q plots from the rows of their file alone: none may be missing, and none be beside."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

import numpy as np

from support.drawn_figures import Panel, Place

Rows = Sequence[Mapping[str, str]]
NEAR = 0.22
"""A place is written to a tenth of a pixel, and so are the marks of the axes that it is read by."""

LEAST_P = 0.0005
"""Where q-q plots draw a smaller p."""


class End(NamedTuple):
    """An end of an axis, as a share of it."""

    share: float


Where = tuple[float | End, float | End]


@dataclass
class Whole:
    """All marks and all corners of a panel, in the units of its axes; on an axis with names, by their number from 0."""

    marks: list[Where] = field(default_factory=list)
    corners: list[Where] = field(default_factory=list)


def quantiles(rows: Rows, panel: Panel) -> Whole:
    """Return the curves of one test, each with points, the band of a uniform p, and the line where a test has its level."""
    names = {row["procedure"] + f", {row['convention']}" * (not row["convention"].startswith("two-sided")): row for row in rows}
    (test,) = (row for name, row in names.items() if name in panel.words)
    own = [row for row in rows if (row["procedure"], row["convention"]) == (test["procedure"], test["convention"])]
    shown = [row for row in own if float(row["probability"]) >= 5 / float(row["nulls"])]
    curves = [(float(row["probability"]), max(float(row["p"]), LEAST_P)) for row in shown]
    one = [row for row in shown if row["pair"] == test["pair"]]
    band = [(float(row["probability"]), max(float(row[key]), LEAST_P)) for row in one for key in ("band.lo", "band.hi")]
    return Whole([*curves], [*curves, *band, (1, 1), (0.001, 0.001)])


def bars_by_test_set(rows: Rows, _: Panel) -> Whole:
    """Return a bar for every bin of p and other test set, each with its interval."""
    drawn = [row for row in rows if row["kind"] == "bin" and row["share"]]
    others = [*dict.fromkeys(row["against"] for row in drawn)]
    bins = sorted({(float(row["p_low"]), float(row["p_high"])) for row in drawn})
    width, found = 0.8 / len(others), Whole()
    for row in drawn:
        middle = bins.index((float(row["p_low"]), float(row["p_high"])))
        found.corners += _bar(row, middle + (others.index(row["against"]) - (len(others) - 1) / 2) * width, 0.45 * width)
    return found


def bars_and_expected(rows: Rows, _: Panel) -> Whole:
    """Return a bar for every bin of p, with its interval and what is expected there."""
    drawn = [row for row in rows if row["kind"] == "bin" and row["share"]]
    expected: list[Where] = [(x, 100 * float(row["expected"])) for x, row in enumerate(drawn) if row["expected"]]
    return Whole(expected, [corner for x, row in enumerate(drawn) for corner in _bar(row, x, 0.35)])


def _bar(row: Mapping[str, str], x: float, half: float) -> list[Where]:
    top = 100 * float(row["share"])
    interval: list[Where] = [(x, 100 * float(row[key])) for key in ("interval.lo", "interval.hi") if row[key]]
    return [(x - half, 0), (x + half, 0), (x - half, top), (x + half, top), *interval]


def score_histograms(rows: Rows, panel: Panel) -> Whole:
    """Return the histograms of two models on the bins that they have in common, each filled and outlined, and their means."""
    pair = [name for name in dict.fromkeys(row["model"] for row in rows) if name in panel.words]
    scores = [np.array([float(row["score"]) for row in rows if row["model"] == name]) for name in pair]
    values = np.concatenate(scores)
    edges = np.histogram_bin_edges(values, int(np.clip(math.ceil(math.sqrt(len(values))), 5, 30)))
    found = Whole()
    for own in scores:
        found.corners += _filled(edges.tolist(), np.histogram(own, edges)[0].tolist())
        found.corners += [(float(own.mean()), End(0)), (float(own.mean()), End(1))]
    return found


def gain_histograms(rows: Rows, _: Panel) -> Whole:
    """Return the histograms of the fewest, the most and a middle number of runs, and the line of no gain."""
    numbers = sorted({int(row["runs_each"]) for row in rows})
    found = Whole(corners=[(0, End(0)), (0, End(1))])
    for place in {0, len(numbers) // 2, len(numbers) - 1}:
        own = [row for row in rows if row["runs_each"] == str(numbers[place])]
        edges = [*(float(row["low"]) for row in own), float(own[-1]["high"])]
        found.corners += (_outline if place else _filled)(edges, [float(row["share"]) for row in own])
    return found


def _filled(edges: Sequence[float], heights: Sequence[float]) -> list[Where]:
    """Return the corners of an outline, and of the area below it, which ends at 0 under each of them."""
    below: list[Where] = [(edge, 0.0) for edge in edges for _ in range(2)]
    return 2 * _outline(edges, heights) + below


def _outline(edges: Sequence[float], heights: Sequence[float]) -> list[Where]:
    steps = chain.from_iterable(
        ((low, height), (high, height)) for low, high, height in zip(edges, edges[1:], heights, strict=False)
    )
    return [(edges[0], 0.0), *steps, (edges[-1], 0.0)]


WHOLE: dict[str, Callable[[Rows, Panel], Whole]] = {
    "qq": quantiles,
    "calibration": bars_by_test_set,
    "calibration-iid": bars_and_expected,
    "run-scores": score_histograms,
    "run-gains": gain_histograms,
}


def differences(panel: Panel, whole: Whole) -> list[Place]:
    """Return the places that are wanted and not drawn, as often as they are, and those that are drawn and not wanted."""
    frame = [(panel.left + x * panel.width, panel.top + y * panel.height) for x in (0, 1) for y in (0, 1)]
    found = []
    for wanted, drawn in ((whole.marks, panel.marks), (whole.corners, panel.corners)):
        left = [place for place in drawn if not any(_is_near(place, corner) for corner in frame)]
        for place in [_place(panel, point) for point in wanted]:
            nearest = min(left, key=lambda other: math.dist(place, other), default=None)
            if nearest is not None and _is_near(place, nearest):
                left.remove(nearest)
            elif not any(_is_near(place, corner) for corner in frame):
                found.append(place)
        found += left
    return found


def _is_near(one: Place, two: Place) -> bool:
    return abs(one[0] - two[0]) <= NEAR and abs(one[1] - two[1]) <= NEAR


def _place(panel: Panel, point: Where) -> Place:
    x, y = point
    if isinstance(x, End):
        across = x.share
    elif panel.x is not None:
        across = panel.x.share(x)
    else:
        (first, *_, last) = (place for place, _ in panel.across)
        across = (first + (last - first) * x / (len(panel.across) - 1) - panel.left) / panel.width
    assert panel.y is not None
    up = y.share if isinstance(y, End) else panel.y.share(y)
    return panel.left + across * panel.width, panel.top + up * panel.height
