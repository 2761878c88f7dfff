"""What the report shows of measures side by side: tables of each, of every two and against the reference, and a scatter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from pipeline.analyses.presentation import select
from pipeline.analyses.sensitivity.rows import say_measure
from pipeline.interfaces import Column, Figure, Section, Table
from pipeline.interfaces.charts import Chart
from pipeline.interfaces.figures import INK, PALETTE
from pipeline.interfaces.wording import shorten

__all__ = ["SECTION", "list_figures", "list_tables"]

SECTION = Section("sensitivity", "Metrics on the same pairs", after="figures")
_MEASURES = (
    Column("measure", "measure"),
    Column("pairs", "pairs", "count"),
    Column("at_most_alpha", "p ≤ α", "count"),
    Column("separated", "separated", "count"),
    Column("median_ratio", "median |δ|/se", "number"),
)
_TWO = (
    Column("first", "first"),
    Column("second", "second"),
    Column("ratio", "ratio of |δ|/se", "number"),
    Column("interval", "95 % interval", "interval"),
    Column("larger_under_first", "larger by the first", "count"),
    Column("same_sign", "same sign", "count"),
    Column("both", "p ≤ α by both", "count"),
    Column("only_first", "by the first only", "count"),
    Column("only_second", "by the second only", "count"),
    Column("interval_note", "remark"),
)
_VALIDITY = (
    Column("measure", "measure"),
    Column("pairs", "pairs", "count"),
    Column("soft_pairwise_accuracy", "soft pairwise accuracy", "share"),
    Column("interval", "95 % interval", "share-interval"),
    Column("pairwise_accuracy", "same order", "share"),
    Column("interval_note", "remark"),
)
_TESTS = (
    Column("first", "first"),
    Column("second", "second"),
    Column("difference", "difference of accuracy", "number"),
    Column("p", "p of exchangeable", "p"),
    Column("reason", "remark"),
)
_KINDS = (
    ("measure", "", _MEASURES),
    ("two", "every two", _TWO),
    ("validity", "agreement with {reference}", _VALIDITY),
    ("test", "tests of two", _TESTS),
)
_LONGEST = 28


def _called(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row in which measures are called as people call them."""
    return {**row, **{key: say_measure(row[key]) for key in ("measure", "first", "second", "reference") if row.get(key)}}


def list_tables(rows: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> Iterator[Table]:
    """Go through the tables of each scope and procedure: measures, every two, and against the reference."""
    for row in select(rows, kind="none"):
        yield Table(
            f"{row['scope']} · {row['procedure']}", {"kind": "none"}, (Column("reason", "remark"),), "", SECTION.key, (row,)
        )
    for scope, procedure in dict.fromkeys((row["scope"], row["procedure"]) for row in rows):
        for kind, title, columns in _KINDS:
            own = select(rows, scope=scope, procedure=procedure, kind=kind)
            if own:
                parts = [scope, procedure, title.format(**_called(own[0])) if "{" in title else title]
                where = {"scope": scope, "procedure": procedure, "kind": kind}
                # What is said of all of them stands once.
                caption = " ".join([f"α = {own[0]['alpha']:g}.", *notes]) if kind == "measure" else ""
                yield Table(" · ".join(filter(None, parts)), where, columns, caption, SECTION.key, tuple(map(_called, own)))


def list_figures(rows: Sequence[Mapping[str, Any]], points: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """Go through the figures: each measure against the next, a point a pair."""
    for scope, procedure in dict.fromkeys((row["scope"], row["procedure"]) for row in points):
        own = select(points, scope=scope, procedure=procedure)
        for one, other in pairwise(dict.fromkeys(row["measure"] for row in own)):
            two = select(rows, scope=scope, procedure=procedure, kind="two", first=one, second=other)[0]
            names = (say_measure(one), say_measure(other))
            title = f"Gains in standard errors by {names[0]} and {names[1]}, {scope}"
            alt = (
                f"Of {two['pairs']:,} pairs, {two['larger_under_first']:,} have a larger gain in standard errors by "
                f"{names[0]} than by {names[1]}; {two['same_sign']:,} have the same sign by both."
            )
            caption = "A point is a pair, turned so that its gain by the first is positive. Dashed: equal. Dotted: 1.96."
            ratios = [[row["ratio"] for row in select(own, measure=name)] for name in (one, other)]
            draw = partial(_draw, ratios, names)
            yield Figure("sensitivity", title, alt, caption, draw, "sensitivity_pairs", SECTION.key, size=(5.2, 4.6), plain=True)


def _draw(ratios: Sequence[Sequence[float]], names: tuple[str, str], chart: Chart) -> None:
    x, y = (np.array(values) for values in ratios)
    turn = np.where(x < 0, -1.0, 1.0)
    chart.points((turn * x).tolist(), (turn * y).tolist(), "o", colour=PALETTE[0], size=5.5, opacity=0.55)
    far = max(float(np.max(np.abs([x, y]))), 2.5)
    chart.line([0, far], [0, far], colour=INK, width=1.2, dashes="5 4")
    chart.rule(x=1.96, width=0.9, dashes="1 2")
    chart.rule(y=1.96, width=0.9, dashes="1 2")
    chart.rule(y=0, width=0.8, dashes="")
    first, second = (shorten(name, _LONGEST) for name in names)
    chart.x.label, chart.x.low, chart.x.high = f"|δ|/se by {first}", 0, 1.03 * far
    chart.y.label = f"δ/se by {second}"
