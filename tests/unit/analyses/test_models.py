"""What runs say of their models is SciPy's t-test or the quasi-F, floored where few units differ, and asks for known runs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from support.synthetic_runs import build

from pipeline.analyses.replicas.models import compare_models
from pipeline.inference.multiplicity import holm
from pipeline.report.model_text import count_pairs
from pipeline.report.models import judge_all, judge_models
from pipeline.resampling.replicas.outputs import Replicas
from pipeline.resampling.replicas.quasi_f import quasi_f


def gains(models, *, claim=None, runs_are=None, drop=()):
    cubes, statistics = build(models)
    cube = cubes["news"].drop_vars(drop)
    if runs_are is not None:
        cube = cube.assign_coords(runs_are=("system", runs_are * cube.sizes["system"] if len(runs_are) == 1 else runs_are))
    return compare_models(cube, statistics["news"]["m"], test_set="news", metric="m", claim=claim)


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


def test_the_budget_is_that_of_the_components_and_leaves_run_effects_out_of_a_claim_about_systems():
    methods, systems = (gains(MODELS, claim=claim) for claim in ("methods", "systems"))
    parts = methods.variances.components
    system_unit, run, rest = (max(float(part[0]), 0.0) for part in (parts.system_unit, parts.run, parts.residual))
    assert methods.se_with(0, more_units=50) == pytest.approx(np.sqrt(2 * system_unit / 100 + (run + rest / 100) * 2 / 4))
    assert systems.se_with(0, more_runs=4) == pytest.approx(np.sqrt(2 * system_unit / 50 + rest / 50 * 2 / 8))


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
    assert count_pairs([row for row in judged if row.verdict == "better"]) == "All 2 pairs of models are separated."
    flat = np.arange(36).reshape(3, 12) % 12
    odd = judge_models(gains({"a": flat, "b": flat, "c": flat + 3}, runs_are=["samples"]), alpha=0.05).pairs
    told = count_pairs(odd)
    assert told.startswith("0 of 1 pairs of models are separated; 1 identical; 2 could not be tested: all runs and units differ by")
