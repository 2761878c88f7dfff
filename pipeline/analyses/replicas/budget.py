"""Runs or units? Lines of equal standard error over both, with what the same number of outputs could have been spent on.

A gain of two models with R runs each on n units has the variance 2σ²_SU/n + 2(σ²_run + σ²_e/n)/R. Of B = R n outputs of each model
it is least with n = √(B σ²_SU/σ²_run) units: run effects then add as much to it as effects of units. R of unequal numbers of runs
is their harmonic mean, which gives the same variance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from pipeline.analyses.presentation import select
from pipeline.analyses.replicas.variance import FEW_DEGREES
from pipeline.dataclass import dataclass
from pipeline.interfaces import Column, Figure, Table
from pipeline.interfaces.charts import Chart, Panels
from pipeline.interfaces.figures import INK, PALETTE
from pipeline.interfaces.wording import name_metric, shorten

__all__ = ["budget_rows", "list_budget_figures", "show_budgets"]

MOST_PAIRS = 4
_COLUMNS = 2
_LONGEST = 20
_TIMES = (2.0, sqrt(2), 1.0, 1 / sqrt(2), 0.5)
"""Standard errors whose lines are drawn, in that of the gain as it is."""
_REACH = 8
"""How far the axis of units goes, in the number of units; that of runs goes as far, but for less than one run."""
_STEPS = 33
_HEADS = (
    Column("model_a", "better"),
    Column("model_b", "worse"),
    Column("now_units", "units", "count"),
    Column("now_runs", "runs of each", "number"),
    Column("now_se", "se", "score"),
    Column("best_units", "best units", "count"),
    Column("best_runs", "best runs", "number"),
    Column("best_se", "se there", "score"),
    Column("remark", "remark"),
)
_BEST = (
    "if a run costs its outputs and nothing else, and further units are like these; not below an eighth of the units, nor above "
    "eight times as many. It takes the variance components as known, and one run of each model would not show what runs differ by"
)
_UNEQUAL = "Runs of each: the harmonic mean of unequal numbers, which has the same variance."


@dataclass(frozen=True)
class _Parts:
    """Variance components of a pair, none below 0, and where it stands."""

    system_unit: float
    run: float
    residual: float
    units: int
    runs: float

    def variance(self, units: float, runs: float) -> float:
        return 2 * self.system_unit / units + 2 * (self.run + self.residual / units) / runs

    def runs_for(self, variance: float, units: float) -> float | None:
        """Return the runs with which so many units have a variance; None where no number is enough."""
        left = variance - 2 * self.system_unit / units
        return 2 * (self.run + self.residual / units) / left if left > 0 else None

    def best(self) -> tuple[float, float]:
        """Return the units and runs of the least variance that as many outputs can have, as far as the chart goes."""
        outputs = self.units * self.runs
        most, least = min(outputs, self.units * _REACH), max(self.units / _REACH, 1.0)
        units = most if not self.run else sqrt(outputs * self.system_unit / self.run)
        units = min(max(units, least), most)
        return units, outputs / units


def budget_rows(rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Go through the points of the lines of each pair of models whose components are known.

    Rows have the kind ``se``, a point on the line of that standard error; ``outputs``, a point on the line of as many outputs as
    there are; ``now``; and ``best``, the point of that line with the smallest standard error.
    """
    for row in rows:
        if row["kind"] != "pair" or row["se"] is None or row["variance_run"] is None or not row["se"]:
            continue
        own = select(rows, kind="model", test_set=row["test_set"], metric=row["metric"])
        runs_a, runs_b = (select(own, model=row[key])[0]["runs"] for key in ("model_a", "model_b"))
        system_unit, run, residual = (max(float(row[f"variance_{name}"]), 0.0) for name in ("system_unit", "run", "residual"))
        parts = _Parts(system_unit, run, residual, row["units"], 2 / (1 / runs_a + 1 / runs_b))
        where = {key: row[key] for key in ("test_set", "metric", "model_a", "model_b", "delta", "run_degrees")}
        where |= {"equal_runs": runs_a == runs_b, "run_effect": run > 0}
        for point in _points(parts):
            yield where | point


def _points(parts: _Parts) -> Iterator[dict[str, Any]]:
    now = sqrt(parts.variance(parts.units, parts.runs))
    grid = (parts.units * np.geomspace(1 / _REACH, _REACH, _STEPS)).tolist()
    most_runs, outputs = parts.runs * _REACH, parts.units * parts.runs

    def point(kind: str, units: float, runs: float) -> dict[str, Any]:
        return {"kind": kind, "units": units, "runs": runs, "se": sqrt(parts.variance(units, runs))}

    for times in _TIMES:
        for units in grid:
            runs = parts.runs_for((times * now) ** 2, units)
            if runs is not None and 1 <= runs <= most_runs:
                yield point("se", units, runs) | {"line": times * now}
    for units in grid:
        if 1 <= outputs / units <= most_runs:
            yield point("outputs", units, outputs / units) | {"line": outputs}
    yield point("now", parts.units, parts.runs) | {"line": None}
    yield point("best", *parts.best()) | {"line": None}


def list_budget_figures(rows: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """Yield the figures, one for each test set and metric, with a panel for each of the nearest pairs of models."""
    for test_set, metric in dict.fromkeys((row["test_set"], row["metric"]) for row in rows):
        own = select(rows, test_set=test_set, metric=metric)
        gaps = {(row["model_a"], row["model_b"]): row["delta"] for row in own}
        shown = sorted(gaps, key=lambda pair: gaps[pair])[:MOST_PAIRS]
        drawn = [(pair, select(own, model_a=pair[0], model_b=pair[1])) for pair in shown]
        alt = "Lines of equal standard error of a gain over units and runs. " + " ".join(_tell(*one) for one in drawn)
        caption = (
            "Solid: numbers of units and runs of each model with the same standard error, which is written at the line. Dashed: as "
            f"many outputs as there are. Dot: what there is. Cross: the smallest standard error of as many outputs, {_BEST}."
        )
        if not all(row["equal_runs"] for _, points in drawn for row in points):
            caption += f" {_UNEQUAL}"
        if any(row["run_degrees"] < FEW_DEGREES for _, points in drawn for row in points):
            caption += " What runs differ by is hardly known from so few."
        if len(gaps) > len(shown):
            caption += f" Shown: the {len(shown)} nearest of {len(gaps):,} pairs."
        deep = -(-len(shown) // min(_COLUMNS, len(shown)))
        size = (7.2, 0.3 + 2.9 * deep)
        title, draw = f"Standard error by runs and units on {test_set}, {name_metric(metric)}", partial(_draw, drawn)
        yield Figure("run-budget", title, alt, caption, draw, "replicas_budget", size=size, panels=True, plain=True)


def show_budgets(rows: Sequence[Mapping[str, Any]]) -> Iterator[Table]:
    """Yield the tables of the outputs there are and of the best use of as many, one for each test set and metric."""
    for test_set, metric in dict.fromkeys((row["test_set"], row["metric"]) for row in rows):
        where = {"test_set": test_set, "metric": metric}
        ends = [row for row in select(rows, **where) if row["kind"] in ("now", "best")]
        shown = tuple(_compare(now, best) for now, best in zip(select(ends, kind="now"), select(ends, kind="best"), strict=True))
        caption = f"Best: the smallest standard error of a gain that as many outputs have, {_BEST}."
        if not all(row["equal_runs"] for row in ends):
            caption += f" {_UNEQUAL}"
        yield Table(f"{test_set} · {name_metric(metric)} · as many outputs, at best", where, _HEADS, caption, rows=shown)


def _compare(now: Mapping[str, Any], best: Mapping[str, Any]) -> dict[str, Any]:
    few = f"σ² run of {now['run_degrees']} degrees of freedom is hardly known" if now["run_degrees"] < FEW_DEGREES else None
    none = None if now["run_effect"] else "σ² run was estimated as 0 or less, so that more units always look better than more runs"
    places = {f"{name}_{key}": row[key] for name, row in (("now", now), ("best", best)) for key in ("units", "runs", "se")}
    return {
        **{key: now[key] for key in ("model_a", "model_b")},
        **places,
        "best_units": round(best["units"]),
        "remark": "; ".join(filter(None, (few, none))) or None,
    }


def _tell(pair: tuple[str, str], points: Sequence[Mapping[str, Any]]) -> str:
    (now,), (best,) = select(points, kind="now"), select(points, kind="best")
    told = f"{' - '.join(pair)}: {now['se']:.3g} with {now['runs']:.3g} runs on {now['units']:,} units; as many outputs have "
    return f"{told}{best['se']:.3g} with {best['runs']:.3g} runs on {best['units']:,.0f} units."


def _draw(pairs: Sequence[tuple[tuple[str, str], Sequence[Mapping[str, Any]]]], panels: Panels) -> None:
    panels.columns = min(_COLUMNS, len(pairs))
    for number, (pair, points) in enumerate(pairs):
        chart = panels.add(" - ".join(shorten(name, _LONGEST) for name in pair))
        _draw_pair(points, chart)
        chart.x.label = "units (log)" if number + panels.columns >= len(pairs) else ""
        chart.y.label = "runs of each (log)" if number % panels.columns == 0 else ""


def _draw_pair(points: Sequence[Mapping[str, Any]], chart: Chart) -> None:
    (now,), (best,) = select(points, kind="now"), select(points, kind="best")
    budget = select(points, kind="outputs")
    chart.line([row["units"] for row in budget], [row["runs"] for row in budget], colour=INK, width=1.2, dashes="5 4")
    for line in dict.fromkeys(row["line"] for row in select(points, kind="se")):
        own = select(points, kind="se", line=line)
        if len(own) > 1:
            chart.line([row["units"] for row in own], [row["runs"] for row in own], colour=PALETTE[0], width=1.5)
            # Lines rise to the left and run out to the right, where their ends lie apart.
            chart.words(own[-1]["units"], own[-1]["runs"], f"{line:.3g}", colour=PALETTE[0], right=4, size=9)
    chart.points([best["units"]], [best["runs"]], "X", colour=PALETTE[1], size=9)
    chart.points([now["units"]], [now["runs"]], "o", colour=INK, size=8)
    chart.x.log = chart.y.log = True
    chart.x.low, chart.x.high = 0.9 * now["units"] / _REACH, now["units"] * _REACH * 1.8  # room for words
    chart.y.low, chart.y.high = 0.9, 1.15 * now["runs"] * _REACH
