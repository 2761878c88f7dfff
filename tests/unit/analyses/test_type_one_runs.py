"""Null data sets made of runs have the levels that can be counted by hand, and what one run does to another is no level."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom
from support.synthetic_runs import build, mean

from pipeline.analyses import load_analysis
from pipeline.analyses.type_one.analysis import TypeOne
from pipeline.analyses.type_one.as_is import AS_THEY_ARE
from pipeline.analyses.type_one.runs import MIXED, SPLIT
from pipeline.analyses.type_one.words import check_runs
from pipeline.errors import StudyError
from pipeline.interfaces import Check
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.nulls import NULLS
from pipeline.resampling.replicas.outputs import Replicas
from pipeline.resampling.replicas.p_values import find_p
from pipeline.resampling.replicas.splits import split_runs

FALSE_ALARM = 1e-6


def find(built: tuple[Any, Any], **options: Any) -> list[dict[str, Any]]:
    cubes, statistics = built
    asked = {"nulls": 100, "pairs": 1, "replicates": 99, **options}
    return [dict(row) for row in TypeOne().with_statistics(statistics).find(cubes, asked).rows]


def only(rows: list[dict[str, Any]], design: str, procedure: str, pair: str = "") -> dict[str, Any]:
    (row,) = [r for r in rows if (r["design"], r["procedure"]) == (design, procedure) and r["pair"].startswith(pair)]
    return row


def distinct_sums(runs: int, units: int = 12) -> NDArray[np.int64]:
    """Runs whose sums are powers of 3, apart from a constant: no two ways to part them have the same difference."""
    values = np.random.default_rng(1).integers(0, 4000, (runs, units))
    values[:, -1] += 3 ** np.arange(runs) - values.sum(axis=1)
    return values


def noisy(runs: int, *, run: float, units: int = 40, seed: int = 1) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    return np.rint(1000 * (rng.normal(0, run, (runs, 1)) + rng.normal(0, 1, (runs, units)))).astype(np.int64)


def test_whole_runs_of_all_ways_reject_as_often_as_can_be_counted() -> None:
    # Of 6 runs there are ten ways, all with other |δ|: the largest alone has p = 2/20, the second 4/20.
    row = only(find(build({"a": distinct_sums(6)})), SPLIT, "whole-run")
    assert (row["nulls"], row["arrangements"], row["pair"]) == (10, 10, "a: 3 + 3 of 6 runs")
    assert (row["rejected_01"], row["rejected_05"], row["rejected_10"]) == (0, 0, 1)
    assert sorted(set(row["quantiles"])) == pytest.approx(np.arange(1, 11) / 10)
    # They are all there is of these runs: nothing is left to chance that an interval could be about.
    assert (row["interval_10"], row["says"], row["remark"]) == (None, None, "all ways to part these runs")


def test_mixed_runs_of_two_models_are_parted_as_they_were() -> None:
    runs = distinct_sums(7)
    rows = find(build({"a": runs[:4], "b": runs[4:]}))
    row = only(rows, MIXED, "whole-run")
    assert (row["nulls"], row["pair"]) == (35, "b / a: 3 + 4 of 7 runs")
    # p of 35 arrangements of unequal groups, none tied: k/35 for each k, so that one reaches .05 and three .10.
    assert (row["rejected_01"], row["rejected_05"], row["rejected_10"]) == (0, 1, 3)
    unequal = only(rows, MIXED, "per-output")
    assert (unequal["rate_05"], unequal["reason"]) == (None, "this null needs as many runs of one side as of the other")


def test_every_null_is_asked_of_every_way() -> None:
    values = noisy(4, run=1.0)
    rows = find(build({"a": values}), replicates=199)
    key = draw_key(seed=5, purpose="null-laboratory-runs", test_set="news", size="full", rule="splits of a")
    splits = split_runs(Draws(key, 1, 1), 4, first=2, second=2, most=3)
    ways = list(zip(splits.first, splits.second, strict=True))
    for null in NULLS:
        key = draw_key(seed=5, purpose="null-laboratory-runs", test_set="news", size="full", rule=null.name)
        p = []
        for sides in ways:
            groups = tuple(np.stack([values[list(g)], np.ones((2, 40), np.int64)], axis=2) for g in sides)
            pair = Replicas(groups, mean, "ratio", True, np.array([[0, 1]]))
            p.append(find_p(null.name, Draws(key, 40, 40), pair, replicates=199).p[0])
        row = only(rows, SPLIT, null.name)
        assert set(row["quantiles"]) == set(p)
        assert row["rejected_10"] == sum(value <= 0.1 for value in p)
    assert {row["procedure"] for row in rows if row["design"] == SPLIT} == {*(null.name for null in NULLS), "paired-bootstrap"}


def runs_checked(rates: dict[str, tuple[int, int]], *, every: bool = True) -> Check | None:
    """Check rows of nulls, rejected and all, by procedure; of the study is the bootstrap."""
    rows = [
        {
            "design": SPLIT, "procedure": name, "in_study": name == "paired-bootstrap", "rejected_05": hits, "nulls": nulls,
            "rate_05": hits / nulls, "interval_05": None if every else {}, "reference": None,
        }
        for name, (hits, nulls) in rates.items()
    ]  # fmt: skip
    return check_runs([*rows, {"design": "outputs swapped", "procedure": "paired-bootstrap", "rate_05": 0.9}])


def test_trust_tells_how_often_single_runs_of_one_model_are_called_different() -> None:
    check = runs_checked({"paired-bootstrap": (44, 126), "quasi-f": (6, 126), "crossed": (60, 126)})
    assert check is not None
    assert (check.check, check.status) == ("Null data sets made of runs", "check")
    assert "paired-bootstrap rejects 34.9 % of null data sets in which one run stands for its model" in check.detail
    assert "quasi-f rejects 4.8 % of those in which models have several runs each" in check.detail
    assert "crossed" not in check.detail
    assert check.detail.endswith("A verdict on two single runs is not a verdict on their models.")


@pytest.mark.parametrize(
    ("rates", "every", "status"),
    [
        ({"paired-bootstrap": (5, 126), "quasi-f": (6, 126)}, True, "ok"),
        ({"paired-bootstrap": (5, 126), "quasi-f": (20, 126)}, True, "check"),
        ({"paired-bootstrap": (2, 10), "quasi-f": (1, 10)}, True, "not checked"),  # of ten ways one or two tell nothing
        ({"paired-bootstrap": (14, 200), "quasi-f": (10, 200)}, False, "ok"),  # 7 % of 200 may be chance
        ({"paired-bootstrap": (40, 200), "quasi-f": (10, 200)}, False, "check"),
    ],
)
def test_a_rate_above_its_level_asks_for_a_check_unless_it_may_be_chance(rates, every, status) -> None:
    assert runs_checked(rates, every=every).status == status


def test_without_runs_nothing_is_told_of_them() -> None:
    assert runs_checked({}) is None


@pytest.mark.statistical
def test_a_null_without_run_effects_is_called_liberal_where_runs_differ() -> None:
    # Of 12 runs 23 of 462 ways are rejected at .05 by whole runs, exactly; 400 are drawn. False alarm 1e-6.
    rows = find(build({"a": noisy(12, run=1.0)}), run_nulls=400)
    whole = only(rows, SPLIT, "whole-run")
    assert binom.sf(whole["rejected_05"] - 1, 400, 23 / 462) > FALSE_ALARM / 2
    assert binom.cdf(whole["rejected_05"], 400, 23 / 462) > FALSE_ALARM / 2
    assert whole["interval_05"]["lo"] < whole["rate_05"] < whole["interval_05"]["hi"]
    # Run effects are 40 times the variance that blocks know of: hardly a data set is not rejected.
    blocks = only(rows, SPLIT, "segment-block")
    assert (blocks["says"], blocks["rate_05"] > 0.5) == ("liberal", True)


@pytest.mark.statistical
def test_runs_that_are_numbered_by_chance_leave_paired_runs_their_level() -> None:
    # Two models far from each other, mixed: of 2^6 signs those of p ≤ .05 are two or none, hence at most 2/64 of all orders.
    models = {"a": noisy(6, run=0.3), "b": noisy(6, run=0.3, seed=2) + 3000}
    row = only(find(build(models), run_nulls=400), MIXED, "paired-runs")
    assert binom.sf(row["rejected_05"] - 1, 400, 2 / 64) > FALSE_ALARM
    assert binom.sf(row["rejected_10"] - 1, 400, 6 / 64) > FALSE_ALARM


@pytest.mark.statistical
def test_a_single_run_of_either_group_has_the_studys_own_p() -> None:
    # Of the three ways one never takes 0-1 or 2-3; each of the others has four pairs of single runs, of which two are these.
    p = {frozenset(pair): value for pair, value in {("a-0", "a-1"): 0.01, ("a-2", "a-3"): 0.02}.items()}
    p |= {frozenset((f"a-{a}", f"a-{b}")): 0.3 + 0.1 * a + 0.05 * b for a in (0, 1) for b in (2, 3)}
    met, seen = 0, set()
    for seed in range(40):
        row = only(find(build({"a": noisy(4, run=0.5)}, p, seed=seed)), SPLIT, "paired-bootstrap")
        assert row["nulls"] == 3
        met += row["rejected_05"]
        seen |= set(row["quantiles"])
    assert binom.cdf(met, 80, 0.5) > FALSE_ALARM
    assert binom.sf(met - 1, 80, 0.5) > FALSE_ALARM
    assert seen == set(p.values())  # that 40 seeds never meet one of the pairs has a chance of 1e-9


def test_replicas_as_they_are_count_pairs_of_runs_of_one_model_and_are_no_level() -> None:
    p = {frozenset(("a-0", "a-1")): 0.04, frozenset(("b-0", "b-2")): 0.008, frozenset(("a-0", "b-0")): 0.001}
    rows = find(build({"a": noisy(3, run=0.5), "b": noisy(3, run=0.5, seed=2), "c": noisy(1, run=0.5, seed=3)}, p))
    (row,) = [r for r in rows if r["design"] == AS_THEY_ARE]
    assert row["pair"] == "2 models: 6 runs, 6 pairs of runs of one model"
    assert (row["nulls"], row["rejected_01"], row["rejected_05"], row["rejected_10"]) == (6, 1, 2, 2)
    assert (row["interval_05"], row["says"], row["decides"]) == (None, None, False)
    assert "this is no level" in row["remark"]


def test_pairs_that_the_study_does_not_compare_are_told() -> None:
    cubes, statistics = build({"a": noisy(4, run=0.5)})
    rows = find(({"news": cubes["news"].isel(pair=slice(3))}, statistics))  # those with a-0 only
    for design in (SPLIT, AS_THEY_ARE):
        row = only(rows, design, "paired-bootstrap")
        assert (row["rate_05"], row["reason"]) == (None, "the study does not compare these runs with each other")


def test_another_seed_parts_the_runs_otherwise() -> None:
    values = noisy(12, run=0.3)
    one, same, other = (find(build({"a": values}, seed=seed), run_nulls=50) for seed in (5, 5, 6))
    rates = [[row["rejected_10"] for row in rows if row["design"] == SPLIT] for rows in (one, same, other)]
    assert rates[0] == rates[1] != rates[2]


def test_copies_are_no_runs_and_identical_models_are_not_mixed() -> None:
    runs = noisy(3, run=0.5)
    rows = find(build({"a": runs, "b": runs, "c": np.concatenate([runs, runs[:1]])}))
    assert not any(row["design"] in (SPLIT, MIXED) for row in rows)


def test_the_models_with_the_most_runs_and_the_nearest_neighbours_are_taken() -> None:
    models = {"a": noisy(4, run=0.1), "b": noisy(6, run=0.1, seed=2) + 300, "c": noisy(5, run=0.1, seed=3) + 5000}
    rows = find(build(models), run_nulls=20)
    pools = list(dict.fromkeys(row["pair"] for row in rows if row["design"] in (SPLIT, MIXED)))
    assert pools == ["b: 3 + 3 of 6 runs", "b / a: 6 + 4 of 10 runs"]
    assert len({row["pair"] for row in find(build(models), run_nulls=20, pairs=3) if row["design"] in (SPLIT, MIXED)}) == 5


def test_without_models_or_runs_nothing_is_said() -> None:
    cubes, statistics = build({"a": noisy(4, run=0.5)})
    plain = {"news": cubes["news"].drop_vars("model")}
    for rows in (find((plain, statistics)), find((cubes, statistics), run_nulls=0)):
        assert {row["design"] for row in rows} == {"outputs of a unit swapped"}
    # Every run has a replica of its own: by that column there are four models.
    assert not any(row["design"] == SPLIT for row in find((plain, statistics), model="replica"))


def test_a_budget_gives_fewer_data_sets_and_then_none() -> None:
    of_one = 25 * 99 * 12 * 40 * 2.0
    swapped = 100 * 99 * 40 * 2.0  # one pair of outputs comes first
    built = build({"a": noisy(12, run=0.5)})
    assert only(find(built, budget=swapped + 30.5 * of_one), SPLIT, "crossed")["nulls"] == 30
    (row,) = [r for r in find(built, budget=swapped + 10 * of_one) if r["design"] == SPLIT]
    assert "budget" in row["reason"]


@pytest.mark.parametrize("options", [{"run_nulls": 5}, {"run_nulls": -1}, {"model": ""}, {"replica": 3}, {"runs": 100}])
def test_options_of_no_use_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(StudyError):
        load_analysis("type-one", options)
