"""Scores over training samples: moments by hand, models joined by sample and not by place, folds without intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr
from scipy.stats import t as student
from support.synthetic_cubes import build_cube

from pipeline.analyses.distributions.analysis import Distributions
from pipeline.interfaces import Finding

Run = tuple[str, str, str, str, float]  # model, sample, fraction, replica, score


def cube_of(runs: list[Run], *, name: str = "news", **attrs: Any) -> Any:
    model, sample, fraction, replica, score = zip(*runs, strict=True)
    systems = [f"{m}-{s}-{f}-{r}" for m, s, f, r, _ in runs]
    coords = {"model": model, "sample": sample, "fraction": fraction, "replica": replica}
    return build_cube(np.array(score), systems, name=name, coords=coords, metric="recall", attrs=attrs)


def bootstrap(model: str, scores: np.ndarray) -> list[Run]:
    return [(model, "bootstrap", "1", str(k), float(score)) for k, score in enumerate(scores)]


def of_kind(finding: Finding, kind: str, **where: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in finding.rows if row["kind"] == kind and where.items() <= row.items()]


def two_models(seed: int = 3, replicas: int = 12) -> tuple[np.ndarray, np.ndarray, list[Run]]:
    rng = np.random.default_rng(seed)
    x = rng.normal(90, 0.3, replicas)
    y = x + 0.1 + rng.normal(0, 0.2, replicas)
    return x, y, [*bootstrap("one", x), *bootstrap("two", y), ("one", "seed", "1", "0", 90.4)]


def test_mean_spread_and_the_whole_training_set() -> None:
    x, _, runs = two_models()
    finding = Distributions().find({"news": cube_of(runs)}, {})
    (row,) = of_kind(finding, "spread", model="one", sampling="bootstrap")
    assert (row["mean"], row["sd"]) == (pytest.approx(x.mean()), pytest.approx(x.std(ddof=1)))
    assert (row["whole"], row["shift"]) == (90.4, pytest.approx(x.mean() - 90.4))
    reach = student.ppf(0.975, 11) * x.std(ddof=1) / np.sqrt(12)
    assert (row["interval"]["lo"], row["interval"]["hi"]) == (pytest.approx(x.mean() - reach), pytest.approx(x.mean() + reach))
    (other,) = of_kind(finding, "spread", model="two")
    assert (other["whole"], other["shift"]) == (None, None)
    (whole,) = of_kind(finding, "spread", sampling="whole")
    assert (whole["samples"], whole["sd"], whole["shift"]) == (1, None, None)


def test_two_models_are_compared_on_the_same_samples_whatever_the_order_of_systems() -> None:
    x, y, runs = two_models()
    shuffled = [runs[k] for k in np.random.default_rng(1).permutation(len(runs))]
    (row,) = of_kind(Distributions().find({"news": cube_of(shuffled)}, {}), "two")
    assert (row["first"], row["second"], row["samples"]) == ("one", "two", 12)
    assert row["better"] == np.mean(x > y)
    assert row["correlation"] == pytest.approx(pearsonr(x, y).statistic)
    assert row["gain"] == pytest.approx((x - y).mean())
    # σ² of the gain from both spreads and their correlation, as the paper has it.
    spread = x.var(ddof=1) + y.var(ddof=1) - 2 * row["correlation"] * x.std(ddof=1) * y.std(ddof=1)
    assert row["sd_of_gain"] ** 2 == pytest.approx(spread)


def test_a_sample_that_one_model_lacks_is_left_out_and_a_falling_metric_turns_the_share() -> None:
    x, y, runs = two_models()
    fewer = [run for run in runs if run[:4] != ("two", "bootstrap", "1", "5")]
    (row,) = of_kind(Distributions().find({"news": cube_of(fewer)}, {}), "two")
    keep = np.arange(12) != 5
    assert (row["samples"], row["better"]) == (11, np.mean((x > y)[keep]))
    falling = cube_of(runs, higher_is_better={"recall": False})
    (turned,) = of_kind(Distributions().find({"news": falling}, {}), "two")
    assert (turned["better"], turned["gain"]) == (np.mean(x < y), pytest.approx((y - x).mean()))


def test_folds_have_intervals_of_means_over_repetitions_and_no_others() -> None:
    rng = np.random.default_rng(4)
    scores = rng.normal(90, 0.4, 17)  # three repetitions of five folds, and two folds of a fourth
    runs = [("one", "cross-validation", "0.8", str(k), float(s)) for k, s in enumerate(scores)]
    runs += [("two", "cross-validation", "0.8", str(k), float(s) + 0.1) for k, s in enumerate(scores[::-1])]
    finding = Distributions().find({"news": cube_of(runs)}, {})
    (row,) = of_kind(finding, "spread", model="one")
    assert row["sampling"] == "5-fold"
    means = scores[:15].reshape(3, 5).mean(axis=1)
    reach = student.ppf(0.975, 2) * means.std(ddof=1) / np.sqrt(3)
    assert row["interval"]["hi"] - row["interval"]["lo"] == pytest.approx(2 * reach)
    (two,) = of_kind(finding, "two")
    assert two["correlation"] is not None
    assert (two["interval"], two["better_interval"]) == (None, None)
    assert "folds" in two["interval_note"]


def test_test_sets_go_together_under_one_model() -> None:
    x, y, runs = two_models()
    rng = np.random.default_rng(9)
    elsewhere = [(m, s, f, r, 0.5 * score + float(rng.normal(0, 0.05))) for m, s, f, r, score in runs]
    order = rng.permutation(len(runs))
    cubes = {
        "news": cube_of(runs),
        "law": cube_of([elsewhere[k] for k in order], name="law"),
        "bare": cube_of(runs[:12], name="bare"),
    }
    finding = Distributions().find(cubes, {})
    rows = of_kind(finding, "test-sets", first="news", second="law")
    assert {row["model"] for row in rows} == {"one", "two"}
    by_model = {row["model"]: row["correlation"] for row in rows}
    other = {run[:4]: run[4] for run in elsewhere}
    for model, own in (("one", x), ("two", y)):
        there = [other[model, "bootstrap", "1", str(k)] for k in range(12)]
        assert by_model[model] == pytest.approx(pearsonr(own, there).statistic)
    assert [row["correlation"] for row in of_kind(finding, "test-sets", first="news", second="bare")] == [pytest.approx(1.0)]


def test_runs_that_share_no_training_sample_are_not_compared_one_by_one() -> None:
    """Seeds of two models: run 3 of one has nothing to do with run 3 of the other."""
    rng = np.random.default_rng(5)
    names = [f"{m}{k}" for m in "ab" for k in range(5)]
    coords = {"model": [n[0] for n in names], "replica": [n[1] for n in names]}
    cube = build_cube(rng.normal(50, 1, 10), names, coords=coords, metric="recall")
    finding = Distributions().find({"news": cube}, {})
    assert len(of_kind(finding, "spread")) == 2
    assert not of_kind(finding, "two")
    bare = build_cube(rng.normal(50, 1, 4), list("wxyz"), metric="recall")
    nothing = Distributions().find({"news": bare}, {})
    assert not nothing.rows
    assert "No system has a model" in nothing.notes[0]


@pytest.mark.parametrize("fraction", ["half", "50 %", "NaN", "0", "-1", "1e999", "2", "0.5", ""])
def test_a_table_may_call_anything_a_sample_or_a_fraction(fraction: str) -> None:
    """Decoded outputs are samples too: such systems are runs, described as the table calls them and not compared one by one."""
    runs = [(model, "nucleus", fraction, f"run{k}", 50.0 + k) for model in "ab" for k in range(3)]
    finding = Distributions().find({"news": cube_of(runs)}, {})
    rows = of_kind(finding, "spread")
    assert [(row["sampling"], row["samples"]) for row in rows] == [(f"nucleus {fraction}".strip(), 3)] * 2
    assert not of_kind(finding, "two")


@pytest.mark.parametrize("fraction", ["half", "NaN", "0", "1.5"])
def test_a_known_method_with_a_fraction_that_is_none_is_not_taken_for_that_method(fraction: str) -> None:
    runs = [(model, "bootstrap", fraction, str(k), 50.0 + k) for model in "ab" for k in range(3)]
    finding = Distributions().find({"news": cube_of(runs)}, {})
    assert {row["sampling"] for row in of_kind(finding, "spread")} == {f"bootstrap {fraction}"}
    assert not of_kind(finding, "two")


@pytest.mark.parametrize(
    ("fraction", "replicas"), [("0.8", ["run0", "run1", "run2"]), ("", ["0", "1", "2"]), ("0.8", ["9" * 5000, "1", "2"])]
)
def test_folds_of_unknown_repetitions_have_a_mean_without_an_interval(fraction: str, replicas: list[str]) -> None:
    runs = [("one", "cross-validation", fraction, name, 50.0 + k) for k, name in enumerate(replicas)]
    (row,) = of_kind(Distributions().find({"news": cube_of(runs)}, {}), "spread")
    assert (row["mean"], row["interval"]) == (51.0, None)
    assert "repetition is not known" in row["interval_note"]


def test_every_figure_has_its_points() -> None:
    _, _, runs = two_models()
    cubes = {name: cube_of(runs, name=name) for name in ("news", "law", "talks")}
    finding = Distributions().find(cubes, {})
    assert {figure.table for figure in finding.figures} <= set(finding.files)
    names = [figure.name for figure in finding.figures]
    assert (names.count("distributions"), names.count("test-sets")) == (3, 2)
    assert len(finding.files["distributions_scores"]) == 3 * len(runs)


def test_it_has_no_options() -> None:
    from pipeline.errors import StudyError

    with pytest.raises(StudyError):
        Distributions().check({"replicates": 3})
