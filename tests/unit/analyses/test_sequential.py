"""Sequences of a study: what they are made of, in which order, when they are refused, and that looks may be added at will."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from pipeline.analyses import load_analysis
from pipeline.analyses.sequential.analysis import Sequential
from pipeline.errors import StudyError
from pipeline.inference.sequential.betting import BoundedSequences
from pipeline.interfaces import ScoredStatistics


def percent(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return 100 * sums[0] / sums[1]


def share(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return sums[0] / sums[1]


def right(*rates: float, items: int = 400, seed: int = 1) -> NDArray[np.int64]:
    """(system, item) zeros and ones."""
    return (np.random.default_rng(seed).random((len(rates), items)) < np.array(rates)[:, None]).astype(np.int64)


def build(
    numerators: NDArray[np.int64],
    *,
    denominators: NDArray[np.int64] | int = 1,
    unit: NDArray[np.int64] | None = None,
    form: str = "ratio",
    score: Any = percent,
    better: bool = True,
    test_set: str = "news",
    items: list[str] | None = None,
    **attrs: Any,
) -> tuple[dict[str, xr.Dataset], dict[str, dict[str, ScoredStatistics]]]:
    """Return the part of a cube that the analysis reads, and the statistics beside it."""
    systems = [f"s{number}" for number in range(len(numerators))]
    a, b = np.triu_indices(len(systems), 1)
    cube = xr.Dataset(
        coords={
            "metric": ["accuracy"],
            "system": systems,
            "system_a": ("pair", [systems[place] for place in a]),
            "system_b": ("pair", [systems[place] for place in b]),
        },
        attrs={"seed": 5, "alpha": 0.05, "unit": "item" if unit is None else "document", **attrs},
    )
    statistics = np.stack([numerators, np.broadcast_to(denominators, numerators.shape)], axis=2)
    coords: dict[str, Any] = {"system": systems}
    if unit is not None:
        coords["unit"] = ("item", unit)
    if items is not None:
        coords["item"] = items
    data = xr.Dataset({"statistics": (("system", "item", "statistic"), statistics)}, coords=coords)
    return {test_set: cube}, {test_set: {"accuracy": ScoredStatistics(data, score, form, better)}}  # type: ignore[arg-type]


def find(built: tuple[Any, Any], **options: Any) -> list[dict[str, Any]]:
    cubes, statistics = built
    return [dict(row) for row in Sequential().with_statistics(statistics).find(cubes, options).rows]


def of_kind(rows: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["kind"] == kind]


def test_a_row_has_the_sequence_of_its_differences_in_points() -> None:
    scores = right(0.6, 0.8)
    (row,) = of_kind(find(build(scores)), "pair")
    gains = 100.0 * (scores[1] - scores[0])
    assert (row["system_a"], row["system_b"], row["units"]) == ("s1", "s0", 400)
    given = BoundedSequences(gains[None], -100.0, 100.0, 0.05)
    expected, capital = given.exclude([400]), given.bet_against(0.0)
    assert row["mean_gain"] == pytest.approx(gains.mean())
    assert (row["interval"]["lo"], row["interval"]["hi"]) == pytest.approx((expected.lo[0, 0], expected.hi[0, 0]))
    assert row["log10_e"] == pytest.approx(capital.log_hedged[0, -1] / math.log(10))
    assert row["p"] == pytest.approx(math.exp(-capital.log_hedged[0].max()))
    first = int(np.flatnonzero(capital.log_above[0] >= math.log(40))[0]) + 1
    assert (row["says"], row["decided_at"], row["e_bh"]) == ("better", first, True)


def test_the_interval_of_one_look_is_students_and_the_price_is_their_ratio() -> None:
    scores = right(0.6, 0.7)
    (row,) = of_kind(find(build(scores), alpha=0.1), "pair")
    once = ttest_rel(scores[1], scores[0]).confidence_interval(0.9)
    own = row["interval_of_one_look"]
    assert (own["lo"], own["hi"]) == pytest.approx((100 * once.low, 100 * once.high))
    width = row["interval"]["hi"] - row["interval"]["lo"]
    assert row["width_ratio"] == pytest.approx(width / (100 * (once.high - once.low)))
    assert 1.3 < row["width_ratio"] < 2.5


def test_the_words_name_bounds_order_and_price() -> None:
    cubes, statistics = build(right(0.6, 0.7))
    finding = Sequential().with_statistics(statistics).find(cubes, {})
    told = finding.notes[-1]
    assert "Scores of items lie in 0 … 100" in told
    assert "in the order of the test set" in told
    (row,) = of_kind([dict(row) for row in finding.rows], "pair")
    assert f"{row['width_ratio']:.2g} times as wide" in told
    assert f"one look at {400 / row['width_ratio'] ** 2:,.0f} units" in told


def test_items_of_one_document_are_one_value_their_mean() -> None:
    scores = right(0.5, 0.7, items=300)
    unit = np.random.default_rng(2).integers(0, 60, 300)
    unit[:60] = np.arange(60)
    (row,) = of_kind(find(build(scores, unit=unit)), "pair")
    means = np.array([100 * (scores[1] - scores[0])[unit == number].mean() for number in range(60)])
    assert (row["units"], row["items"]) == (60, 300)
    assert row["mean_gain"] == pytest.approx(means.mean())
    expected = BoundedSequences(means[None], -100.0, 100.0).exclude([60])
    assert (row["interval"]["lo"], row["interval"]["hi"]) == pytest.approx((expected.lo[0, 0], expected.hi[0, 0]))


def test_where_lower_is_better_the_lower_score_is_ahead() -> None:
    (row,) = of_kind(find(build(right(0.6, 0.8), better=False)), "pair")
    assert (row["system_a"], row["says"]) == ("s0", "better")
    assert row["mean_gain"] > 0


def test_looks_added_in_between_change_nothing_at_the_others() -> None:
    built = build(right(0.6, 0.7))
    few = {row["units"]: row for row in of_kind(find(built, looks=[50, 200]), "look")}
    many = {row["units"]: row for row in of_kind(find(built, looks=[*range(10, 400, 7), 400]), "look")}
    assert sorted(few) == [50, 200, 400]
    both = find(built, looks=[50, 101, 200])
    for row in of_kind(both, "look"):
        if row["units"] in few:
            assert row == few[row["units"]]
    (pair,) = of_kind(both, "pair")
    assert few[400]["interval"] == pair["interval"]
    assert many[400]["interval"] == pair["interval"]


def test_items_that_come_later_change_no_earlier_look() -> None:
    scores = right(0.6, 0.7)
    early = of_kind(find(build(scores[:, :200]), looks=[80]), "look")
    late = of_kind(find(build(scores), looks=[80, 200]), "look")
    assert early == late[:2]


def test_a_permuted_order_is_drawn_from_the_seed() -> None:
    scores = right(0.6, 0.7)
    given, permuted, again, other = (
        of_kind(find(build(scores, **attrs), order=order), "pair")[0]
        for order, attrs in (("given", {}), ("permuted", {}), ("permuted", {}), ("permuted", {"seed": 6}))
    )
    assert permuted == again
    assert len({row["log10_e"] for row in (given, permuted, other)}) == 3
    assert given["mean_gain"] == pytest.approx(permuted["mean_gain"])


def test_units_that_drift_may_leave_no_gain_at_all_and_the_row_says_so() -> None:
    scores = np.zeros((2, 600), np.int64)
    scores[1, :300] = 1  # all wins, then all losses
    scores[0, 300:] = 1
    (row,) = of_kind(find(build(scores)), "pair")
    assert row["interval"] is None
    assert "drift" in row["reason"]
    (mixed,) = of_kind(find(build(scores), order="permuted"), "pair")
    assert mixed["interval"]["lo"] < 0 < mixed["interval"]["hi"]


def test_against_a_baseline_only_its_pairs_are_looked_at() -> None:
    rows = of_kind(find(build(right(0.6, 0.7, 0.8), asked_baseline="s1")), "pair")
    assert [{row["system_a"], row["system_b"]} for row in rows] == [{"s0", "s1"}, {"s1", "s2"}]


def test_e_bh_is_over_the_pairs_of_a_metric() -> None:
    rows = of_kind(find(build(right(0.6, 0.6, 0.6, 0.9))), "pair")
    logs = sorted((row["log10_e"] for row in rows), reverse=True)
    best = max((k for k in range(1, 7) if logs[k - 1] >= math.log10(6 / (0.05 * k))), default=0)
    assert 0 < best < 6
    assert sum(row["e_bh"] for row in rows) == best


def test_curves_are_of_neighbours_in_rank_first() -> None:
    rows = of_kind(find(build(right(0.5, 0.9, 0.7, 0.8)), curves=3), "look")
    assert list(dict.fromkeys((row["system_a"], row["system_b"]) for row in rows)) == [("s1", "s3"), ("s3", "s2"), ("s2", "s0")]
    assert not of_kind(find(build(right(0.5, 0.9)), curves=0), "look")


@pytest.mark.parametrize(
    ("built", "options", "words"),
    [
        (build(right(0.5, 0.6), form="general"), {}, "no mean over items"),
        (build(right(0.5, 0.6), denominators=np.arange(1, 401)), {}, "different denominators"),
        (build(3 * right(0.5, 0.6) + 1, score=share), {}, "bounds: {accuracy: [low, high]}"),
        (build(3 * right(0.5, 0.6), score=share), {"bounds": [0, 2]}, "not within the bounds 0 and 2"),
        (build(0 * right(0.5, 0.6)), {}, "say which bounds"),
    ],
)
def test_scores_without_bounds_have_no_sequence_and_a_reason(built: Any, options: dict[str, Any], words: str) -> None:
    (row,) = find(built, **options)
    assert row["kind"] == "none"
    assert words in row["reason"]


def test_declared_bounds_are_those_of_the_metric_they_name() -> None:
    built = build(right(0.5, 0.6) + right(0.5, 0.6, seed=2), score=share)
    (row,) = of_kind(find(built, bounds={"accuracy": [0, 2], "other": [0, 1]}), "pair")
    (same,) = of_kind(find(built, bounds=[0, 2]), "pair")
    (wide,) = of_kind(find(built, bounds=[0, 20]), "pair")
    assert row == same
    assert wide["width_ratio"] > row["width_ratio"]
    assert of_kind(find(built, bounds={"other": [0, 2]}), "none")


def test_statistics_that_are_not_at_hand_are_a_reason() -> None:
    cubes, _ = build(right(0.5, 0.6))
    (row,) = find((cubes, {}))
    assert row["reason"] == "the statistics of its items are not at hand"


def nights(*scores: NDArray[np.int64]) -> tuple[Any, Any]:
    cubes, statistics = {}, {}
    for number, one in enumerate(scores, start=1):
        cube, beside = build(one, test_set=f"night-{number}")
        cubes |= cube
        statistics |= beside
    return cubes, statistics


def test_e_values_of_different_items_are_multiplied_in_order() -> None:
    built = nights(right(0.5, 0.7, items=150, seed=3), right(0.5, 0.7, items=150, seed=4), right(0.5, 0.7, items=150, seed=5))
    rows = find(built, multiply=["night-1", "night-2", "night-3"])
    single = [row for row in of_kind(rows, "pair")]
    (row,) = of_kind(rows, "product")
    assert row["log10_e"] == pytest.approx(sum(one["log10_e"] for one in single))
    assert row["log10_e_by_look"] == pytest.approx(np.cumsum([one["log10_e"] for one in single]))
    assert (row["system_a"], row["says"], row["units"]) == ("s1", "better", 450)
    assert row["p"] == pytest.approx(10 ** -max(row["log10_e_by_look"]))


def test_directed_products_take_each_look_from_the_same_side() -> None:
    built = nights(right(0.5, 0.8, items=100, seed=3), right(0.8, 0.5, items=100, seed=4))
    rows = find(built, multiply=["night-1", "night-2"])
    first, second = of_kind(rows, "pair")
    assert (first["system_a"], second["system_a"]) == ("s1", "s0")
    (row,) = of_kind(rows, "product")
    of_s1 = first["log10_e_better"] + second["log10_e_worse"]
    of_s0 = first["log10_e_worse"] + second["log10_e_better"]
    assert (row["log10_e_better"], row["log10_e_worse"]) == pytest.approx((max(of_s1, of_s0), min(of_s1, of_s0)))


def test_test_sets_with_items_in_common_are_not_multiplied() -> None:
    names = [f"q{number}" for number in range(100)]
    cubes, statistics = build(right(0.5, 0.8, items=100), test_set="old", items=names)
    for other, shared in ((names[90:] + [f"r{number}" for number in range(90)], 10), ([f"r{number}" for number in range(100)], 0)):
        more, beside = build(right(0.5, 0.8, items=100), test_set="new", items=other)
        rows = find((cubes | more, statistics | beside), multiply=["old", "new"])
        assert len(of_kind(rows, "product")) == (0 if shared else 1)
        assert [row["reason"] for row in of_kind(rows, "none")] == (
            ["not multiplied: 10 of its items are in old too, by their names, and would count twice"] if shared else []
        )


def test_a_pair_that_lacks_on_a_test_set_has_no_product_and_a_reason() -> None:
    graded, beside = build(2 * right(0.5, 0.8) + right(0.5, 0.5), test_set="graded", score=share)
    cubes, statistics = build(right(0.5, 0.8), test_set="right")
    rows = find((cubes | graded, statistics | beside), multiply=["right", "graded"])
    assert not of_kind(rows, "product")
    assert "no pair has a sequence on all of right, graded" in [row["reason"] for row in of_kind(rows, "none")]


def test_beyond_the_budget_pairs_keep_their_e_values() -> None:
    rows = of_kind(find(build(right(0.5, 0.6, 0.7)), budget=400 * 80 * 2), "pair")
    assert [row["interval"] is None for row in rows] == [False, False, True]
    assert rows[2]["reason"] == "beyond the budget"
    assert rows[2]["log10_e"] is not None


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"order": "sorted"}, "order"),
        ({"bounds": [1, 0]}, "bounds"),
        ({"bounds": {"mean": [0, 1, 2]}}, "bounds"),
        ({"bounds": {"mean": 1}}, "bounds"),
        ({"bounds": "0 to 1"}, "bounds"),
        ({"looks": [100, 50]}, "looks"),
        ({"multiply": ["one"]}, "multiply"),
        ({"alpha": 1.5}, "alpha"),
        ({"curves": 100}, "curves"),
    ],
)
def test_options_of_no_use_are_refused_at_their_place(options: dict[str, Any], place: str) -> None:
    with pytest.raises(StudyError) as refused:
        load_analysis("sequential", options)
    assert [problem.where for problem in refused.value.problems] == [f"analyses.sequential.{place}"]


def test_test_sets_that_are_multiplied_must_be_in_the_study() -> None:
    with pytest.raises(StudyError, match="night-9"):
        load_analysis("sequential", {"multiply": ["night-1", "night-9"]}, test_sets=["night-1"])
