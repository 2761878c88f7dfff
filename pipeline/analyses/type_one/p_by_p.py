"""What two tests say of the same pairs: p by one against p by the other, on log scales; also as the study's preset prints them.

Riezler and Maxwell (2005, W05-0908, Table 2) lay both p of a few pairs side by side and find those of the bootstrap the smaller.
Here are all pairs of the study, by the conventions of verdicts and, where a preset has its own p of both tests, by these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import floor, isfinite, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.analyses.presentation import select
from pipeline.analyses.type_one.as_is import read_p
from pipeline.interfaces import Column, Figure, Table
from pipeline.interfaces.analyses import FULL
from pipeline.interfaces.charts import Chart
from pipeline.interfaces.figures import INK, MOST_POINTS, PALETTE, SHAPES
from pipeline.interfaces.wording import name_metric

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["draw_p_by_p", "list_p_by_p", "show_p_by_p"]

FEWEST = 6
"""Pairs: of fewer a scatter shows nothing that their table does not."""
LEAST = 1e-6
"""Smaller p than this are in the file and not in the figure."""
VERDICTS = "as in verdicts"
_PLACE = ("test_set", "metric", "first", "second")
_COLUMNS = (
    Column("first", "first test"),
    Column("second", "second test"),
    Column("kind", "p"),
    Column("pairs", "pairs", "count"),
    Column("both", "p ≤ α by both", "count"),
    Column("first_alone", "by the first alone", "count"),
    Column("second_alone", "by the second alone", "count"),
    Column("smaller", "smaller by the first", "count"),
    Column("ratio", "median of first / second", "number"),
)
_UNCORRECTED = "corrected neither for few units nor for many pairs"


def list_p_by_p(test_set: str, cube: xr.Dataset) -> Iterator[dict[str, Any]]:
    """Go through the pairs of a test set with p by the study's first procedure and by each other one."""
    for metric in map(str, cube["metric"].values.tolist()):
        found = read_p(cube, metric)
        names = list(found)
        if not names or len(found[names[0]]) > MOST_POINTS:
            continue
        known = {VERDICTS: found} | _read_own(cube, metric)
        for second in names[1:]:
            where = {"test_set": test_set, "metric": metric, "first": names[0], "second": second}
            for kind, p in known.items():
                for a, b in _list_pairs(cube, metric):
                    one, other = (p.get(name, {}).get(frozenset((a, b)), float("nan")) for name in (names[0], second))
                    if isfinite(one) and isfinite(other):
                        yield {**where, "kind": kind, "system_a": a, "system_b": b, "p_first": one, "p_second": other}


def _list_pairs(cube: xr.Dataset, metric: str) -> list[tuple[str, str]]:
    """Return the pairs that differ: of others every p is 1."""
    differ = ~cube["identical"].sel(metric=metric, test_size=FULL).values.astype(np.bool_)
    pairs = zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), differ.tolist(), strict=True)
    return [(str(a), str(b)) for a, b, differs in pairs if differs]


def _read_own(cube: xr.Dataset, metric: str) -> dict[str, dict[str, dict[frozenset[str], float]]]:
    """Return the p that the study's preset prints, by preset, procedure and pair."""
    if "tool_p" not in cube:
        return {}
    (preset,) = map(str, cube["preset"].values.tolist())
    pairs = [frozenset(map(str, pair)) for pair in zip(cube["system_a"].values, cube["system_b"].values, strict=True)]
    own = {}
    for procedure in map(str, cube["procedure"].values.tolist()):
        values = cube["tool_p"].sel(preset=preset, metric=metric, procedure=procedure).values
        own[procedure] = dict(zip(pairs, np.asarray(values, np.float64).tolist(), strict=True))
    return {preset: own}


def show_p_by_p(cubes: Mapping[str, xr.Dataset], rows: Sequence[Mapping[str, Any]]) -> Iterator[Table]:
    """Yield the tables, one for each test set and metric, with a row for each second procedure and kind of p that has a figure."""
    for test_set, metric in dict.fromkeys((row["test_set"], row["metric"]) for row in rows):
        where = {"test_set": test_set, "metric": metric}
        own, alpha = select(rows, **where), _alpha(cubes[test_set])
        shown = []
        for first, second, kind in dict.fromkeys((row["first"], row["second"], row["kind"]) for row in own):
            some = select(own, first=first, second=second)
            if len(select(some, kind=VERDICTS)) >= FEWEST:
                shown.append({"first": first, "second": second, "kind": kind, **_count(select(some, kind=kind), alpha)})
        caption = (
            f"Pairs with p ≤ α = {alpha:g} by two tests, p {_UNCORRECTED}; pairs that do not differ on any unit are left out. The "
            "median is of p by the first over p by the second. Pairs share systems, so that these counts are no sample of pairs."
        )
        if shown:
            yield Table(f"{test_set} · {name_metric(metric)} · p by two tests", where, _COLUMNS, caption, rows=tuple(shown))


def _alpha(cube: xr.Dataset) -> float:
    return float(cube.attrs.get("alpha", 0.05))


def _count(rows: Sequence[Mapping[str, Any]], alpha: float) -> dict[str, Any]:
    """Return how many pairs have a small p by which test, and how far one p is from the other."""
    first, second = (np.array([row[key] for row in rows]) for key in ("p_first", "p_second"))
    one, other, known = first <= alpha, second <= alpha, (first > 0) | (second > 0)
    with np.errstate(divide="ignore"):  # a p of 0 by the second alone: the first is infinitely many times as large
        ratio = float(np.median(first[known] / second[known])) if known.any() else np.nan
    return {
        "pairs": len(rows),
        "both": int((one & other).sum()),
        "first_alone": int((one & ~other).sum()),
        "second_alone": int((other & ~one).sum()),
        "smaller": int((first < second).sum()),
        "ratio": ratio if isfinite(ratio) else None,
    }


def draw_p_by_p(cubes: Mapping[str, xr.Dataset], rows: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """Yield the figures, one for each test set, metric and second procedure."""
    for place in dict.fromkeys(tuple(row[key] for key in _PLACE) for row in rows):
        where = dict(zip(_PLACE, place, strict=True))
        own = select(rows, **where)
        if len(select(own, kind=VERDICTS)) < FEWEST:
            continue
        alpha = _alpha(cubes[where["test_set"]])
        title = f"p by {where['first']} and by {where['second']} on {where['test_set']}, {name_metric(where['metric'])}"
        kinds = list(dict.fromkeys(row["kind"] for row in own))
        alt = "A point a pair, on log scales. " + " ".join(_tell(select(own, kind=kind), kind, alpha) for kind in kinds)
        caption = (
            f"A point is a pair, with its p by both tests, {_UNCORRECTED}; on the dashed line they say the same, above it "
            f"{where['first']} has the smaller p. Dotted: α = {alpha:g}."
        )
        beyond = len({(row["system_a"], row["system_b"]) for row in own if min(row["p_first"], row["p_second"]) < LEAST})
        if beyond:
            caption += f" Not drawn: {beyond:,} pair{'s' * (beyond != 1)} with a p below {LEAST:g}."
        draw = partial(_draw, own, kinds, alpha)
        yield Figure("p-by-p", title, alt, caption, draw, "type_one_p", size=(5.4, 4.8), plain=True)


def _tell(rows: Sequence[Mapping[str, Any]], kind: str, alpha: float) -> str:
    told = _count(rows, alpha)
    return (
        f"{kind[0].upper() + kind[1:]}, {told['pairs']:,} pairs: p ≤ {alpha:g} by both {told['both']:,}, by the first alone "
        f"{told['first_alone']:,}, by the second alone {told['second_alone']:,}; {told['smaller']:,} have the smaller p by the "
        "first."
    )


def _draw(rows: Sequence[Mapping[str, Any]], kinds: Sequence[str], alpha: float, chart: Chart) -> None:
    smallest = max(LEAST, min(alpha, *(min(row["p_first"], row["p_second"]) for row in rows)))
    low = 10.0 ** floor(log10(smallest) + 1e-9)
    for axis, name in ((chart.x, rows[0]["first"]), (chart.y, rows[0]["second"])):
        axis.log, axis.low, axis.high, axis.label = True, 0.8 * low, 1.25, f"p by {name} (log)"
        axis.ticks = [(10.0**power, f"{10.0**power:g}".removeprefix("0")) for power in range(round(log10(low)), 1)]
    chart.line([low, 1], [low, 1], colour=INK, width=1.2, dashes="5 4")
    chart.rule(x=alpha, width=0.9, dashes="1 2")
    chart.rule(y=alpha, width=0.9, dashes="1 2")
    for kind, colour, marker in zip(kinds, PALETTE, SHAPES, strict=False):
        own = select(rows, kind=kind)
        x, y = ([row[key] for row in own] for key in ("p_first", "p_second"))
        chart.points(x, y, marker, colour=colour, size=6, opacity=0.6, label=kind)
    chart.legend = "bottom right"
