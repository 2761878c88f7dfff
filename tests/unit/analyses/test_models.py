"""What runs say of their models is SciPy's t-test or the quasi-F, floored where few units differ, and asks for known runs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import stats
from scipy.special import bdtr, bdtrc
from support.synthetic_runs import build

from pipeline.analyses.replicas.models import ModelGains, compare_models
from pipeline.analyses.replicas.shapes import shape_of_models
from pipeline.inference.equivalence import two_one_sided
from pipeline.inference.multiple_comparisons.multiplicity import holm
from pipeline.inference.unit_diagnostics.undecided import UNDECIDED, find_undecided
from pipeline.report.models.model_text import count_pairs
from pipeline.report.models.models import JudgedModels, judge_all
from pipeline.resampling.replicas.outputs import Replicas, observe_replicas
from pipeline.resampling.replicas.quasi_f import quasi_f


def gains(models, *, claim=None, runs_are=None, drop=()):
    cubes, statistics = build(models)
    cube = cubes["news"].drop_vars(drop)
    if runs_are is not None:
        cube = cube.assign_coords(runs_are=("system", runs_are * cube.sizes["system"] if len(runs_are) == 1 else runs_are))
    return compare_models(cube, statistics["news"]["m"], test_set="news", metric="m", claim=claim)


def judge_models(given: ModelGains, *, alpha: float, margin: float | None = None) -> JudgedModels:
    """The models of one test set and metric, as a report of nothing else judges them."""
    (judged,) = judge_all([given], alpha=alpha, across=False, margins={} if margin is None else {given.metric: margin})
    return judged


def noisy(seed, runs=4, units=50, gain=0.0, run=0.1):
    rng = np.random.default_rng(seed)
    return np.rint(1000 * (gain + rng.normal(0, run, (runs, 1)) + rng.normal(0, 1, (runs, units)))).astype(np.int64)


MODELS = {"a": noisy(1, gain=3.0), "b": noisy(2), "c": noisy(3, runs=3)}


def test_runs_are_judged_by_the_quasi_f_as_a_claim_about_methods():
    found = gains(MODELS)
    statistics = tuple(np.stack([own, np.ones_like(own)], axis=2) for own in MODELS.values())
    direct = quasi_f(Replicas(statistics, lambda sums: sums[0] / sums[1], "ratio", True, np.array([[0, 1], [0, 2], [1, 2]])))
    assert (found.claim, found.run, found.models) == ("methods", "run", ("a", "b", "c"))
    np.testing.assert_array_equal(found.p, direct.p)
    np.testing.assert_array_equal(found.se, direct.se)


@pytest.mark.parametrize(("value", "name"), [("samples", "sample"), ("prompts", "prompt")])
def test_samples_and_prompts_of_one_model_are_judged_by_the_means_of_units(value, name):
    found = gains(MODELS, runs_are=[value])
    assert (found.claim, found.run) == ("systems", name)
    for pair, (a, b) in enumerate(found.pairs.tolist()):
        paired = stats.ttest_rel(*(MODELS[found.models[place]].mean(axis=0) for place in (a, b)))
        assert found.p[pair] == pytest.approx(paired.pvalue, rel=1e-9)
        assert found.degrees[pair] == 49
        interval = paired.confidence_interval(0.9)
        assert [end[pair] for end in found.interval(0.9)] == pytest.approx([interval.low, interval.high], rel=1e-9)


def test_another_claim_can_be_asked_for():
    assert gains(MODELS, claim="systems").claim == "systems"
    assert gains(MODELS, claim="methods", runs_are=["samples"]).claim == "methods"


def test_runs_that_are_partly_samples_are_taken_as_trainings():
    assert gains(MODELS, runs_are=["samples"] * 4 + ["trainings"] * 7).claim == "methods"


def test_nothing_is_said_of_models_whose_systems_are_not_known_to_be_runs():
    assert gains(MODELS, drop=["replica"]) is None  # a column `model` may be a family of systems
    assert gains({"a": noisy(1), "b": noisy(2, runs=1)}) is None


def test_a_model_with_one_run_is_listed_and_not_judged():
    rows = judge_models(gains({**MODELS, "d": noisy(4, runs=1, gain=9.0)}), alpha=0.05).models
    assert [(row.model, row.rank) for row in rows] == [("a", 1), *((row.model, row.rank) for row in rows[1:3]), ("d-0", None)]
    assert (rows[-1].runs, rows[-1].sd) == (1, None)


def test_few_units_that_differ_hold_p_up_to_that_of_swapped_units():
    base = np.random.default_rng(5).integers(0, 2, (3, 40))
    better = base.copy()
    better[:, :5] = base[:, :5] + 1
    found = gains({"a": better, "b": base}, runs_are=["samples"])
    assert found.discordant[0] == 5
    assert found.p[0] < 0.05 < 0.06 < found.floor[0] < 0.07  # 2^(1 − 5) = .0625, and its error of draws
    (row,) = judge_models(found, alpha=0.05).pairs
    assert (row.p, row.p_floor, row.verdict) == (found.floor[0], found.floor[0], "not separated")
    assert gains(MODELS).floor.tolist() == [0, 0, 0]


def test_pairs_are_adjusted_by_holm_and_ranks_follow_from_what_is_separated():
    judged = judge_models(given := gains(MODELS), alpha=0.05)
    adjusted = dict(zip([frozenset((given.models[a], given.models[b])) for a, b in given.pairs], holm(given.p), strict=True))
    for row in judged.pairs:
        assert row.p_adjusted == adjusted[frozenset((row.model_a, row.model_b))]
        assert (row.verdict == "better") == (row.p_adjusted <= 0.05)
        assert row.delta == pytest.approx(row.score_a - row.score_b)
        assert row.interval.lo < row.delta < row.interval.hi
    best = judged.models[0]
    assert (best.model, best.beats, best.rank_low, best.rank_high) == ("a", 2, 1, 1)
    assert best.sd == pytest.approx(MODELS["a"].mean(axis=1).std(ddof=1))
    assert (best.lowest, best.highest) == (MODELS["a"].mean(axis=1).min(), MODELS["a"].mean(axis=1).max())


def test_copies_are_identical_and_a_constant_gain_is_not_measured():
    flat = np.arange(36).reshape(3, 12) % 12
    rows = judge_models(gains({"a": flat, "b": flat, "c": flat + 3}, runs_are=["samples"]), alpha=0.05).pairs
    assert sorted((row.verdict, row.p) for row in rows if row.verdict == "identical") == [("identical", 1.0)]
    assert {(row.verdict, row.p) for row in rows if row.verdict != "identical"} == {("not measured", None)}
    assert all("no spread" in row.reason for row in rows if row.verdict == "not measured")
    assert {(row.se_more_runs, row.se_more_units) for row in rows} == {(None, None)}


def test_the_budget_is_that_of_the_components_and_leaves_run_effects_out_of_a_claim_about_systems():
    methods, systems = (gains(MODELS, claim=claim) for claim in ("methods", "systems"))
    parts = methods.variances.components
    system_unit, run, rest = (max(float(part[0]), 0.0) for part in (parts.system_unit, parts.run, parts.residual))
    assert methods.se_with(0, more_units=50) == pytest.approx(np.sqrt(2 * system_unit / 100 + (run + rest / 100) * 2 / 4))
    assert systems.se_with(0, more_runs=4) == pytest.approx(np.sqrt(2 * system_unit / 50 + rest / 50 * 2 / 8))


@pytest.mark.parametrize("claim", ["methods", "systems"])
def test_a_gain_that_is_added_moves_the_interval_by_as_much(claim):
    """So an interval misses as often as the test of no gain rejects, whatever the gain is."""
    found, more = gains(MODELS, claim=claim), gains({**MODELS, "a": MODELS["a"] + 2_500}, claim=claim)
    of_a = (found.pairs == 0).any(axis=1)
    step = np.where(found.pairs[:, 0] == 0, 1, -1) * 2_500 * of_a
    for low_or_high, moved in zip(found.interval(0.95), more.interval(0.95), strict=True):
        np.testing.assert_allclose(moved, low_or_high + step, rtol=1e-9)
    np.testing.assert_allclose(more.degrees, found.degrees)


def test_with_no_more_runs_and_units_the_standard_error_is_the_one_that_is_told():
    """Of unequal numbers of runs the quasi-F estimates it in another way than from the components."""
    found = gains({"a": noisy(1, runs=2), "b": noisy(2, runs=5, gain=3.0)}, claim="methods")
    parts = np.sqrt(found.variances.variance(0))
    assert found.se[0] != pytest.approx(parts, rel=1e-3)
    assert found.se_with(0) == pytest.approx(found.se[0])
    assert found.se_with(0, more_units=50) / found.se[0] == pytest.approx(
        np.sqrt(found.variances.variance(0, more_units=50)) / parts
    )


def test_across_test_sets_holm_is_over_the_pairs_of_all_of_them():
    given = [gains(MODELS), gains({name: own[:, ::-1] + (name == "b") * 1500 for name, own in MODELS.items()})]
    within, across = (judge_all(given, alpha=0.05, across=across) for across in (False, True))
    adjusted = holm(np.concatenate([one.p for one in given]))
    assert sorted(row.p_adjusted for judged in across for row in judged.pairs) == pytest.approx(sorted(adjusted))
    assert {row.family_size for judged in across for row in judged.pairs} == {6}
    assert {row.family_size for judged in within for row in judged.pairs} == {3}
    assert any(
        a.p_adjusted > w.p_adjusted for x, y in zip(across, within, strict=True) for a, w in zip(x.pairs, y.pairs, strict=True)
    )


def test_pairs_are_counted_in_words():
    judged = judge_models(gains(MODELS), alpha=0.05).pairs
    assert count_pairs(judged).startswith("2 of 3 pairs of models are separated; 1 is not, which does not show")
    assert count_pairs([row for row in judged if row.verdict == "better"]) == "Both pairs of models are separated."
    flat = np.arange(36).reshape(3, 12) % 12
    odd = judge_models(gains({"a": flat, "b": flat, "c": flat + 3}, runs_are=["samples"]), alpha=0.05).pairs
    told = count_pairs(odd)
    assert told.startswith(
        "0 of 1 pair of models is separated; 1 is identical; 2 could not be tested: all runs and units differ by"
    )


def graded(seed, runs=3, units=40, **changes):
    return {name: noisy(seed + place, runs=runs, units=units, **changes) for place, name in enumerate("ab")}


@pytest.mark.parametrize("runs_are", [["samples"], None])
def test_few_units_are_not_decided_whatever_p_is(runs_are):
    """A gain of 3 has p far below .05 with 14 units as with 20, and one of 0 is not separated all the same."""
    for units, expected in ((14, "not decided"), (20, "better")):
        given = gains({"a": noisy(1, units=units, gain=3.0), "b": noisy(2, units=units)}, runs_are=runs_are)
        judged = judge_models(given, alpha=0.05)
        (row,) = judged.pairs
        assert row.p_adjusted < 0.01
        assert (row.verdict, row.undecided) == (expected, "few units" if units == 14 else None)
        assert [model.beats for model in judged.models] == [int(units == 20), 0]
    (row,) = judge_models(gains({"a": noisy(1, units=14), "b": noisy(2, units=14)}, runs_are=runs_are), alpha=1e-9).pairs
    assert (row.verdict, row.undecided) == ("not separated", "few units")


def test_units_of_very_unequal_size_are_few_however_many_they_are():
    cubes, statistics = build(graded(1, gain=3.0))
    found = [
        compare_models(cubes["news"].assign_attrs(effective_units=worth), statistics["news"]["m"], test_set="news", metric="m")
        for worth in (5.9, 6.1)
    ]
    assert [UNDECIDED[of.undecided[0]] for of in found] == ["few units", ""]


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_rare_losses_are_seen_in_the_means_over_runs_in_the_direction_of_the_gain(higher_is_better):
    """SciPy's skewness of the means, over 6 √n: who is ahead and loses much on a unit is not decided, the other way round it is."""
    base = noisy(3, runs=3, units=40)
    gain = np.rint(1000 + 200 * np.random.default_rng(4).normal(size=(3, 40))).astype(np.int64)
    for loss, expected in ((-4000, "rare losses"), (5000, "")):
        moved = gain.copy()
        moved[:, 7] = loss
        statistics = tuple(
            np.stack([own, np.ones_like(own)], axis=2) for own in (base + (1 if higher_is_better else -1) * moved, base)
        )
        pairs = np.array([[0, 1], [1, 0]])
        replicas = Replicas(statistics, lambda sums: sums[0] / sums[1], "ratio", higher_is_better, pairs)
        shape = shape_of_models(replicas, observe_replicas(replicas), np.array([40, 40]), effective=40.0)
        means = moved.mean(axis=0)
        assert shape.acceleration == pytest.approx([stats.skew(means) / 6 / 40**0.5] * 2)
        assert shape.kurtosis == pytest.approx([stats.kurtosis(means, fisher=False)] * 2)
        assert [UNDECIDED[code] for code in find_undecided(shape)] == [expected] * 2


def test_a_model_that_fails_on_a_unit_takes_the_verdict_of_pairs_that_may_fail_there_as_well():
    models = {"a": noisy(1, gain=3.0), "b": noisy(2)}
    failing = noisy(3)
    failing[:, 9] -= 60_000
    assert [row.verdict for row in judge_models(gains(models), alpha=0.05).pairs] == ["better"]
    found = gains({**models, "c": failing})
    named = [found.models[a] + found.models[b] for a, b in found.pairs]
    assert {name: UNDECIDED[code] for name, code in zip(named, found.undecided, strict=True)} == {
        "ab": "failures of others", "ac": "", "bc": "",
    }  # fmt: skip
    # The pair that is not decided is one of three, and leaves the others no share of the level.
    judged = {row.model_a + row.model_b: row.p_adjusted for row in judge_models(found, alpha=0.05).pairs}
    assert found.p[0] < found.p[1:].min()
    assert sorted(judged.values()) == pytest.approx(sorted([3 * found.p[0], *holm(np.array([1.0, *found.p[1:]]))[1:]]))


def test_runs_that_all_give_the_same_right_and_wrong_answers_are_decided_on_few_units():
    """With temperature 0 means over runs are 0 or 1 too, and one third where one run answers otherwise."""
    right = np.zeros((3, 16), np.int64)
    right[:, :12] = 1
    other = right.copy()
    other[0, 15] = 1
    found = [gains({"a": of, "b": np.zeros((2, 16), np.int64)}, runs_are=["samples"]) for of in (right, other)]
    assert [UNDECIDED[of.undecided[0]] for of in found] == ["", "few units"]


@pytest.mark.statistical
def test_equal_models_that_fail_on_rare_units_are_told_apart_less_often():
    """Three runs a model, a total failure of one of them on one unit in twenty; with 14 units nobody decides.

    With 30 units what is withheld takes from the false verdicts and adds none.
    """
    rng = np.random.default_rng(np.random.SeedSequence().entropy)
    for units in (14, 30):
        failed = rng.random((2, 150, 1, units)) < np.array([0.05, 0.0])[:, None, None, None]
        level = np.array([700.0, 665.0])[:, None, None, None]
        values = np.rint(level * ~failed + 30 * rng.normal(size=(2, 150, 3, units))).astype(np.int64)
        found = [
            judge_models(gains({"a": a, "b": b}, runs_are=["samples"]), alpha=0.05).pairs[0] for a, b in zip(*values, strict=True)
        ]
        small, better = sum(row.p_adjusted <= 0.05 for row in found), sum(row.verdict == "better" for row in found)
        assert small > 5  # of 30 units a fifth have no failure, and nearly all of these reject: as few with a chance below 1e-6
        assert better <= small
        assert (better == 0) == (units == 14)


def test_equivalence_of_models_is_two_t_tests_and_agrees_with_the_interval_at_90_per_cent():
    given = gains(graded(7), runs_are=["samples"])
    d = np.subtract(*(own.mean(axis=0) for own in graded(7).values()))
    d = d if d.mean() > 0 else -d
    for margin in (100.0, 400.0, 800.0, 2000.0):
        (row,) = judge_models(given, alpha=0.05, margin=margin).pairs
        assert row.p_ahead == pytest.approx(stats.ttest_1samp(d, -margin, alternative="greater").pvalue)
        assert row.p_behind == pytest.approx(stats.ttest_1samp(d, margin, alternative="less").pvalue)
        assert row.p_equivalence == row.p_equivalence_holm == max(row.p_ahead, row.p_behind)
    seen = set()
    methods = gains(MODELS, claim="methods")
    for margin in np.linspace(50, 6000, 60):
        low, high = methods.interval(0.9)
        for pair in range(len(methods.pairs)):
            one = dataclasses.replace(methods, **{name: getattr(methods, name)[[pair]] for name in OF_PAIRS}, reason=("",))
            p = max(float(p[0]) for p in one.within_margin(margin))
            inside = -margin <= low[pair] and high[pair] <= margin
            assert (p <= 0.05) == inside
            seen.add(inside)
    assert seen == {True, False}


OF_PAIRS = ("pairs", "delta", "se", "degrees", "p", "floor", "discordant", "undecided", "identical")


@pytest.mark.statistical
@pytest.mark.parametrize(("unit", "run"), [(0.7, 0.05), (0.1, 1.0)])
def test_models_that_differ_by_the_margin_are_seldom_equivalent(unit, run):
    """1500 pairs of three runs each, at 5 %: no more than 6 % would make with a chance of 1e-6."""
    rng, pairs, units = np.random.default_rng(np.random.SeedSequence().entropy), 1500, 40
    effect = rng.normal(0, unit, (2 * pairs, 1, units)) + rng.normal(0, run, (2 * pairs, 3, 1))
    values = effect + 0.5 * rng.normal(size=(2 * pairs, 3, units)) + np.tile([1.0, 0.0], pairs)[:, None, None]
    statistics = tuple(np.stack([own, np.ones_like(own)], axis=2) for own in np.rint(1000 * values).astype(np.int64))
    found = quasi_f(
        Replicas(statistics, lambda sums: sums[0] / sums[1], "ratio", True, np.arange(2 * pairs, dtype=np.int64).reshape(-1, 2))
    )
    p = two_one_sided(found.delta, found.se, found.degrees, margin=1000.0).max(axis=0)
    claimed = int((p <= 0.05).sum())
    assert bdtrc(claimed - 1, pairs, 0.06) > 1e-6
    assert bdtr(claimed, pairs, 0.015) > 1e-6


def test_every_pair_of_models_has_one_of_the_verdicts_of_a_margin():
    close = {"a": noisy(1, runs=5, run=0.01), "b": noisy(2, runs=5, run=0.01), "c": noisy(3, runs=5, run=0.01, gain=5.0)}
    rows = {row.model_a + row.model_b: row for row in judge_models(gains(close), alpha=0.05, margin=700.0).pairs}
    (ab,) = (row for name, row in rows.items() if "c" not in name)
    assert {name: row.verdict for name, row in rows.items()} == {
        ab.model_a + ab.model_b: "equivalent", "ca": "better", "cb": "better",
    }  # fmt: skip
    assert [row.p_equivalence_holm for row in rows.values()] == pytest.approx(
        holm(np.array([row.p_equivalence for row in rows.values()]))
    )
    wide = judge_models(gains(close), alpha=0.05, margin=9000.0).pairs
    assert {(row.verdict, row.differs_within_margin) for row in wide} == {("equivalent", True), ("equivalent", False)}
    narrow = judge_models(gains(close), alpha=0.05, margin=1.0).pairs
    assert {row.verdict for row in narrow} == {"better", "inconclusive"}
    assert count_pairs(wide) == "2 of 3 pairs of models are separated; 3 are equivalent within the margin of 9000 (2 of them separated from zero all the same)."  # fmt: skip  # noqa: E501
    assert count_pairs(narrow).startswith(
        "2 of 3 pairs of models are separated; 1 is not, which does not show that the two are equal."
    )
    few = judge_models(gains({name: own[:, :14] for name, own in close.items()}), alpha=0.05, margin=9000.0)
    assert {(row.verdict, row.differs_within_margin, row.undecided) for row in few.pairs} == {("not decided", False, "few units")}
    assert {model.beats for model in few.models} == {0}
    assert "3 are not decided: graded means over runs of n = 14 units do not tell what a model does on others" in count_pairs(
        few.pairs
    )


def test_copies_are_equivalent_at_any_margin_and_a_constant_gain_is_not_measured():
    flat = np.arange(36).reshape(3, 12) % 12
    rows = judge_models(gains({"a": flat, "b": flat, "c": flat + 3}, runs_are=["samples"]), alpha=0.05, margin=100.0).pairs
    assert sorted((row.verdict, row.identical) for row in rows) == [
        ("equivalent", True), ("not measured", False), ("not measured", False),
    ]  # fmt: skip


def test_what_is_not_decided_leaves_no_share_to_other_models_or_test_sets():
    few, many = gains({name: own[:, :14] for name, own in MODELS.items()}), gains(MODELS)
    for across in (True, False):
        judged = judge_all([few, many], alpha=0.05, across=across, margins={"m": 3000.0})
        whole = np.concatenate([many.p, np.maximum(*many.within_margin(3000.0))])
        within, together = np.concatenate([holm(whole[:3]), holm(whole[3:])]), holm(np.concatenate([np.ones(6), whole]))[6:]
        expected = together if across else within
        found = {frozenset((row.model_a, row.model_b)): row for row in judged[1].pairs}
        for k, (a, b) in enumerate(many.pairs.tolist()):
            row = found[frozenset((many.models[a], many.models[b]))]
            assert (row.p_adjusted, row.p_equivalence_holm) == (expected[k], expected[3 + k])
        assert {row.verdict for row in judged[0].pairs} <= {"not decided", "inconclusive"}
