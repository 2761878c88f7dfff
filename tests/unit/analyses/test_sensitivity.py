"""Several metrics on the same pairs: counts by hand, whichever way names are ordered, and agreement with a reference."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from support.synthetic_cubes import build_cube

from pipeline.analyses.sensitivity.analysis import Sensitivity
from pipeline.interfaces import Finding, ScoredStatistics

SYSTEMS = tuple("abcdefgh")


def mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return sums[0] / sums[1]


def cube_of(scores: NDArray[np.float64], se: float = 1.0, systems: tuple[str, ...] = SYSTEMS, **given: Any) -> xr.Dataset:
    return build_cube(scores, systems, se=se, **given)


def two_metrics(one: NDArray[np.float64], other: NDArray[np.float64], *, se: tuple[float, float] = (1.0, 1.0)) -> xr.Dataset:
    cubes = [cube_of(one, se[0], metric="bleu"), cube_of(other, se[1], metric="chrf")]
    return xr.concat(cubes, "metric", data_vars="minimal", coords="minimal", compat="override", join="outer")


def of_kind(finding: Finding, kind: str) -> list[dict[str, Any]]:
    return [dict(row) for row in finding.rows if row["kind"] == kind]


def test_what_each_measure_tells_apart_is_counted_on_common_pairs() -> None:
    scores = np.array([7.0, 6.0, 4.0, 1.0, 0.5, 0.2, 0.1, 0.0])
    cube = two_metrics(scores, scores, se=(1.0, 0.5))
    finding = Sensitivity().find({"news": cube}, {})
    bleu, chrf = of_kind(finding, "measure")
    sizes = np.array([abs(a - b) for a, b in combinations(scores, 2)])
    assert (bleu["measure"], chrf["measure"]) == ("bleu", "chrf")
    assert (bleu["pairs"], bleu["at_most_alpha"]) == (28, int((sizes >= 1.96).sum()))
    assert chrf["at_most_alpha"] == int((sizes / 0.5 >= 1.96).sum()) > bleu["at_most_alpha"]
    assert chrf["median_ratio"] == pytest.approx(2 * bleu["median_ratio"])
    (two,) = of_kind(finding, "two")
    assert two["ratio"] == pytest.approx(0.5)
    assert (two["larger_under_first"], two["same_sign"]) == (0, 28)
    assert (two["both"], two["only_first"]) == (bleu["at_most_alpha"], 0)
    assert two["only_second"] == chrf["at_most_alpha"] - bleu["at_most_alpha"]


def test_pairs_that_one_measure_cannot_tell_apart_at_all_are_not_common() -> None:
    cube = two_metrics(np.arange(8.0), np.arange(8.0))
    unknown = cube["se"].copy()
    unknown[{"metric": 1, "pair": 3}] = np.nan
    finding = Sensitivity().find({"news": cube.assign(se=unknown)}, {})
    assert {row["pairs"] for row in of_kind(finding, "measure")} == {27}
    same = cube["identical"].copy()
    same[{"metric": 1, "pair": 3}] = True  # a and e: e is a copy by one measure, and no pair of it is counted
    finding = Sensitivity().find({"news": cube.assign(identical=same)}, {})
    assert {row["pairs"] for row in of_kind(finding, "measure")} == {21}


def test_the_order_of_names_in_a_cube_says_nothing() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.normal(50, 2, (2, 8))
    turned = [(b, a) for a, b in combinations(SYSTEMS, 2)]
    plain = {"m1": cube_of(one), "m2": cube_of(other, name="m2")}
    mixed = {"m1": cube_of(one), "m2": cube_of(other, name="m2", pairs=turned[::-1])}
    options = {"across_test_sets": True, "reference": "m1"}
    expected, found = (Sensitivity().find(cubes, options) for cubes in (plain, mixed))
    for row, again in zip(expected.rows, found.rows, strict=True):
        plain_row, other_row = (
            {**one, **{f"interval.{k}": v for k, v in (one.get("interval") or {}).items()}} for one in (row, again)
        )
        assert (plain_row.pop("interval", None) is None) == (other_row.pop("interval", None) is None)
        assert plain_row == pytest.approx(other_row)
    (two,) = of_kind(found, "two")
    signs = [np.sign(x[a] - x[b]) for x in (one, other) for a, b in combinations(range(8), 2)]
    assert two["same_sign"] == int(np.sum(np.array(signs[:28]) == np.array(signs[28:])))


def test_agreement_with_a_reference_is_that_of_one_sided_p() -> None:
    rng = np.random.default_rng(5)
    human, metric = rng.normal(50, 2, (2, 8))
    finding = Sensitivity().find({"news": two_metrics(human, metric)}, {"reference": "bleu"})
    (row,) = of_kind(finding, "validity")
    from scipy.stats import norm

    p = [[norm.sf(x[a] - x[b]) for a, b in combinations(range(8), 2)] for x in (human, metric)]
    assert row["soft_pairwise_accuracy"] == pytest.approx(1 - np.mean(np.abs(np.subtract(*p))), abs=1e-5)
    same = [(human[a] > human[b]) == (metric[a] > metric[b]) for a, b in combinations(range(8), 2)]
    assert row["pairwise_accuracy"] == np.mean(same)
    assert row["interval"]["lo"] < row["soft_pairwise_accuracy"] < row["interval"]["hi"]
    perfect = Sensitivity().find({"news": two_metrics(human, human)}, {"reference": "bleu"})
    assert of_kind(perfect, "validity")[0]["soft_pairwise_accuracy"] == 1.0


def scored(values: NDArray[np.float64], *, higher_is_better: bool = True) -> ScoredStatistics:
    whole = np.rint(1000 * values).astype(np.int64)
    stacked = np.stack([whole, np.full_like(whole, 1000)], axis=2)
    data = xr.Dataset({"statistics": (("system", "item", "statistic"), stacked)}, coords={"system": list(SYSTEMS)})
    return ScoredStatistics(data, mean, "ratio", higher_is_better)


def test_two_measures_are_tested_against_the_reference_in_the_direction_of_each() -> None:
    rng = np.random.default_rng(6)
    ability = np.linspace(-1, 1, 8)[:, None]
    human, good, noise = (x + rng.normal(size=(8, 60)) for x in (ability, ability, 0 * ability))
    cubes = {name: cube_of(x.mean(axis=1), 0.18, name=name) for name, x in (("human", human), ("error", good), ("noise", noise))}
    items = [f"i{k}" for k in range(60)]
    statistics = {"human": scored(human), "error": scored(-good, higher_is_better=False), "noise": scored(noise)}
    named = {name: {"bleu": replace(one, data=one.data.assign_coords(item=items))} for name, one in statistics.items()}
    analysis = Sensitivity().with_statistics(named)
    finding = analysis.find(cubes, {"across_test_sets": True, "reference": "human", "permutations": 199})
    (test,) = of_kind(finding, "test")
    assert (test["first"], test["second"], test["p"]) == ("error", "noise", 1 / 200)
    accuracies = {row["measure"]: row["soft_pairwise_accuracy"] for row in of_kind(finding, "validity")}
    assert test["difference"] == pytest.approx(accuracies["error"] - accuracies["noise"], abs=0.05)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "has one metric"),
        ({"across_test_sets": True, "reference": "humn"}, "did you mean 'human'"),
    ],
)
def test_what_cannot_be_answered_is_said(options: dict[str, Any], words: str) -> None:
    cubes = {name: cube_of(np.arange(8.0), name=name) for name in ("human", "metric")}
    reasons = [row["reason"] for row in of_kind(Sensitivity().find(cubes, options), "none")]
    assert reasons
    assert all(words in reason for reason in reasons)


def test_without_statistics_or_with_other_units_there_is_no_test_and_the_reason() -> None:
    cubes = {name: cube_of(np.arange(8.0), name=name) for name in ("human", "x", "y")}
    options = {"across_test_sets": True, "reference": "human"}
    (row,) = of_kind(Sensitivity().find(cubes, options), "test")
    assert (row["p"], "not at hand" in row["reason"]) == (None, True)
    rng = np.random.default_rng(1)
    sizes = {"human": 20, "x": 20, "y": 21}
    statistics = {name: {"bleu": scored(rng.normal(size=(8, n)))} for name, n in sizes.items()}
    (row,) = of_kind(Sensitivity().with_statistics(statistics).find(cubes, options), "test")
    assert (row["p"], row["reason"]) == (None, "the two measures are of different units")


def test_measures_that_list_their_items_in_another_order_are_not_tested() -> None:
    cubes = {name: cube_of(np.arange(8.0), name=name) for name in ("human", "x", "y")}
    options = {"across_test_sets": True, "reference": "human", "permutations": 99}
    rng = np.random.default_rng(1)

    def test_of(order_of_y: list[int]) -> dict[str, Any]:
        statistics = {}
        for name in cubes:
            one = scored(rng.normal(size=(8, 20)))
            items = [f"i{k}" for k in (order_of_y if name == "y" else range(20))]
            statistics[name] = {"bleu": replace(one, data=one.data.assign_coords(item=items))}
        (row,) = of_kind(Sensitivity().with_statistics(statistics).find(cubes, options), "test")
        return row

    assert test_of(list(range(20)))["p"] is not None
    row = test_of([1, 0, *range(2, 20)])
    assert (row["p"], row["difference"]) == (None, None)
    assert "in another order" in row["reason"]


@pytest.mark.parametrize("items", [None, [str(k + 1) for k in range(20)]])
def test_numbered_lines_of_two_test_sets_are_not_taken_for_the_same_items(items: list[str] | None) -> None:
    cubes = {name: cube_of(np.arange(8.0), name=name) for name in ("human", "x", "y")}
    rng = np.random.default_rng(1)
    statistics = {name: {"bleu": scored(rng.normal(size=(8, 20)))} for name in cubes}
    if items is not None:
        own = {name: one["bleu"] for name, one in statistics.items()}
        statistics = {name: {"bleu": replace(one, data=one.data.assign_coords(item=items))} for name, one in own.items()}
    options = {"across_test_sets": True, "reference": "human", "permutations": 99}
    (row,) = of_kind(Sensitivity().with_statistics(statistics).find(cubes, options), "test")
    assert (row["p"], row["difference"]) == (None, None)
    assert "whether they are the same is not known" in row["reason"]


def test_numbered_lines_of_one_test_set_are_the_same_for_all_its_metrics() -> None:
    rng = np.random.default_rng(2)
    cube = xr.concat([cube_of(rng.normal(size=8), metric=name) for name in ("m1", "m2", "m3")], "metric", data_vars="all")
    statistics = {"news": {name: scored(rng.normal(size=(8, 20))) for name in ("m1", "m2", "m3")}}
    finding = Sensitivity().with_statistics(statistics).find({"news": cube}, {"reference": "m1", "permutations": 99})
    (row,) = of_kind(finding, "test")
    assert row["p"] is not None


def test_a_reference_that_several_measures_are_called_by_is_asked_for() -> None:
    cubes = {name: two_metrics(np.arange(8.0), np.arange(8.0)) for name in ("x", "y")}
    options = {"across_test_sets": True, "reference": "bleu", "interval_replicates": 100}
    (row,) = of_kind(Sensitivity().find(cubes, options), "none")
    assert row["reason"] == "several measures are called 'bleu': say which of x/bleu, y/bleu"
    assert of_kind(Sensitivity().find(cubes, options | {"reference": "y/bleu"}), "validity")


def test_significance_by_both_is_not_counted_where_a_measure_has_no_p() -> None:
    cube = two_metrics(np.arange(8.0), np.arange(8.0))
    counted = of_kind(Sensitivity().find({"news": cube}, {"interval_replicates": 100}), "two")[0]
    assert counted["both"] is not None
    cube = cube.assign(p_value=cube["p_value"].where(cube["metric"] == "bleu"))
    (row,) = of_kind(Sensitivity().find({"news": cube}, {"interval_replicates": 100}), "two")
    assert (row["both"], row["only_first"], row["only_second"]) == (None, None, None)


def test_every_figure_has_its_points() -> None:
    rng = np.random.default_rng(5)
    finding = Sensitivity().find({"news": two_metrics(*rng.normal(50, 2, (2, 8)))}, {})
    (figure,) = finding.figures
    assert len(finding.files[figure.table]) == 2 * 28
    assert "Of 28 pairs" in figure.alt


@pytest.mark.parametrize("options", [{"alpha": 1.0}, {"permutations": 9}, {"interval_replicates": 1}])
def test_options_of_no_use_are_refused(options: dict[str, Any]) -> None:
    from pipeline.errors import StudyError

    with pytest.raises(StudyError):
        Sensitivity().check(options)
