"""Lines of equal standard error over units and runs: held to the variance they are lines of, and the figure to its file."""

from math import sqrt

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from pipeline.analyses.replicas.budget import budget_rows, list_budget_figures, show_budgets
from pipeline.interfaces.charts import Line, Panels, Points
from pipeline.resampling.replicas.components import Components


def rows_of(*, system_unit, run, residual, units=400, runs=(3, 6), names=("new", "old"), delta=0.5):
    components = {"variance_system_unit": system_unit, "variance_run": run, "variance_residual": residual}
    where = {"test_set": "news", "metric": "bleu"}
    se = sqrt(variance(components, units, *runs)) if run is not None else None
    pair = {"kind": "pair", "model_a": names[0], "model_b": names[1], "delta": delta, "units": units, "se": se}
    models = [{"kind": "model", "model": name, "runs": count, **where} for name, count in zip(names, runs, strict=True)]
    return [*models, {**pair, "run_degrees": sum(runs) - 2, **components, **where}]


def variance(components, units, runs_a, runs_b):
    parts = {key: np.array([components[f"variance_{key}"]]) for key in ("system_unit", "run", "residual")}
    known = Components(unit=np.zeros(1), degrees=np.ones(1, np.int64), **parts)
    return float(known.difference_variance(runs_a=runs_a, runs_b=runs_b, units=units)[0])


CASES = [(0.5, 0.004, 2.0), (0.5, 0.0, 2.0), (-0.1, 0.004, 2.0), (3.0, 0.5, 0.0)]


@pytest.mark.parametrize(("system_unit", "run", "residual"), CASES)
def test_every_point_has_the_standard_error_of_its_units_and_runs(system_unit, run, residual):
    rows = rows_of(system_unit=system_unit, run=run, residual=residual)
    points = list(budget_rows(rows))
    for point in points:
        expected = sqrt(variance(rows[-1], point["units"], point["runs"], point["runs"]))
        assert point["se"] == pytest.approx(expected)
        if point["kind"] == "se":
            assert point["se"] == pytest.approx(point["line"])
        if point["kind"] == "outputs":
            assert point["units"] * point["runs"] == pytest.approx(point["line"]) == pytest.approx(400 * 4)  # 3 and 6 runs
    (now,) = [point for point in points if point["kind"] == "now"]
    assert (now["units"], now["runs"], now["se"]) == (400, pytest.approx(4), pytest.approx(rows[-1]["se"]))


@pytest.mark.parametrize(("system_unit", "run", "residual"), CASES)
def test_the_best_of_as_many_outputs_is_the_minimum_by_search(system_unit, run, residual):
    rows = rows_of(system_unit=system_unit, run=run, residual=residual)
    points = list(budget_rows(rows))
    (best,) = [point for point in points if point["kind"] == "best"]
    assert best["units"] * best["runs"] == pytest.approx(1600)
    # From a run each on 1600 units to 50 units, an eighth of those there are.
    found = minimize_scalar(
        lambda log: variance(rows[-1], np.exp(log), 1600 / np.exp(log), 1600 / np.exp(log)),
        bounds=(np.log(50), np.log(1600)),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert best["se"] == pytest.approx(sqrt(found.fun), rel=1e-6)
    assert all(best["se"] <= point["se"] * (1 + 1e-12) for point in points if point["kind"] == "outputs" and point["units"] >= 50)


def test_the_table_says_what_there_is_what_is_best_and_how_little_is_known():
    rows = rows_of(system_unit=0.5, run=0.004, residual=2.0)
    points = list(budget_rows(rows))
    (table,) = show_budgets(points)
    (row,) = table.rows
    assert (row["now_units"], row["now_runs"], row["now_se"]) == (400, pytest.approx(4), pytest.approx(rows[-1]["se"]))
    n = sqrt(1600 * 0.5 / 0.004)  # 447
    assert (row["best_units"], row["best_runs"]) == (round(n), pytest.approx(1600 / n))
    assert row["best_se"] == pytest.approx(sqrt(variance(rows[-1], n, 1600 / n, 1600 / n)))
    assert row["remark"] == "σ² run of 7 degrees of freedom is hardly known"
    assert "the harmonic mean" in table.caption
    (figure,) = list_budget_figures(points)
    assert "the harmonic mean" in figure.caption


@pytest.mark.parametrize("run", [0.0, -0.2])
def test_no_run_effect_that_was_found_is_said_beside_the_best(run):
    rows = rows_of(system_unit=0.5, run=0.004, residual=2.0, runs=(8, 8))
    rows[-1] |= {"variance_run": run}
    points = list(budget_rows(rows))
    (table,) = show_budgets(points)
    (row,) = table.rows
    assert row["remark"] == "σ² run was estimated as 0 or less, so that more units always look better than more runs"
    assert (row["best_units"], row["best_runs"]) == (3200, pytest.approx(1))
    assert "harmonic" not in table.caption + next(iter(list_budget_figures(points))).caption


def test_pairs_without_components_have_no_lines():
    assert not list(budget_rows(rows_of(system_unit=None, run=None, residual=None)))


def test_the_nearest_pairs_are_drawn_from_their_rows():
    rows = []
    for number in range(6):
        names = (f"new-{number}", f"old-{number}")
        rows += rows_of(system_unit=0.5, run=0.004 * (1 + number), residual=2.0, names=names, delta=6.0 - number)
    points = list(budget_rows(rows))
    (figure,) = list_budget_figures(points)
    assert figure.caption.endswith("Shown: the 4 nearest of 6 pairs.")
    assert "hardly known" in figure.caption  # of seven degrees
    panels = Panels()
    figure.draw(panels)
    assert [chart.title for chart in panels.charts] == [f"new-{n} - old-{n}" for n in (5, 4, 3, 2)]
    for chart, number in zip(panels.charts, (5, 4, 3, 2), strict=True):
        own = [point for point in points if point["model_a"] == f"new-{number}"]
        lines = [mark for mark in chart.marks if isinstance(mark, Line)]
        dashed = [line for line in lines if line.dashes]
        drawn = sorted(place for line in lines if not line.dashes for place in zip(line.x, line.y, strict=True))
        assert drawn == sorted((point["units"], point["runs"]) for point in own if point["kind"] == "se")
        budget = [(point["units"], point["runs"]) for point in own if point["kind"] == "outputs"]
        assert [list(zip(line.x, line.y, strict=True)) for line in dashed] == [budget]
        marks = [(mark.marker, mark.x[0], mark.y[0]) for mark in chart.marks if isinstance(mark, Points)]
        assert marks == [
            (marker, point["units"], point["runs"])
            for marker, kind in (("X", "best"), ("o", "now"))
            for point in own
            if point["kind"] == kind
        ]
