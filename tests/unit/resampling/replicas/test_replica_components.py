"""Variance components are those of the analysis of variance, and spreads those of their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from support import replica_nulls

from pipeline.resampling.draws import Draws, draw_units
from pipeline.resampling.replicas.components import variance_components
from pipeline.resampling.replicas.score_deviation import spread_scores

PAIR = np.array([[0, 1]])
TRUTH = {"unit": 1.0, "system_unit": 0.49, "run": 0.25, "residual": 2.25}


def simulate(rng, runs, units):
    shared = rng.normal(0, 1.0, units)
    return [shared + rng.normal(0, 0.7, units) + rng.normal(0, 0.5, (many, 1)) + rng.normal(0, 1.5, (many, units)) for many in runs]


def test_balanced_components_are_those_of_the_mean_squares():
    runs, units = 4, 30
    values = np.array(simulate(np.random.default_rng(1), (runs, runs), units))  # (system, run, unit)
    grand, system, run = values.mean(), values.mean(axis=(1, 2)), values.mean(axis=2)
    unit, cell = values.mean(axis=(0, 1)), values.mean(axis=1)
    of_unit = 2 * runs * ((unit - grand) ** 2).sum() / (units - 1)
    of_interaction = runs * ((cell - system[:, None] - unit + grand) ** 2).sum() / (units - 1)
    of_run = units * ((run - system[:, None]) ** 2).sum() / (2 * (runs - 1))
    rest = values - cell[:, None] - run[:, :, None] + system[:, None, None]
    of_rest = (rest**2).sum() / (2 * (runs - 1) * (units - 1))
    found = variance_components(list(values), PAIR)
    assert found.residual[0] == pytest.approx(of_rest)
    assert found.run[0] == pytest.approx((of_run - of_rest) / units)
    assert found.system_unit[0] == pytest.approx((of_interaction - of_rest) / runs)
    assert found.unit[0] == pytest.approx((of_unit - of_interaction) / (2 * runs))
    assert found.degrees[0] == 2 * (runs - 1)


@pytest.mark.statistical
@pytest.mark.parametrize("runs", [(4, 4), (2, 6), (1, 3)])
def test_components_are_unbiased_with_as_many_runs_or_not(runs):
    rng = np.random.default_rng(2)
    found = [variance_components(simulate(rng, runs, 20), PAIR) for _ in range(2000)]
    for name, truth in TRUTH.items():
        values = np.array([getattr(each, name)[0] for each in found])
        # 5.4 standard errors of the mean: 1e-6 over all twelve, with some room for tails that are not Gaussian.
        assert values.mean() == pytest.approx(truth, abs=5.4 * values.std() / np.sqrt(len(values))), name


@pytest.mark.statistical
def test_the_variance_of_a_difference_follows_from_the_components():
    rng = np.random.default_rng(3)
    gains = [a.mean() - b.mean() for a, b in (simulate(rng, (3, 5), 20) for _ in range(4000))]
    found = variance_components(simulate(rng, (200, 200), 2000), PAIR)
    expected = 2 * 0.49 / 20 + (0.25 + 2.25 / 20) * (1 / 3 + 1 / 5)
    # False alarm 1e-6: 4.9 standard errors of a variance of 4000, √(2/4000) of it; a few per cent for the components.
    assert np.var(gains) == pytest.approx(expected, rel=4.9 * np.sqrt(2 / 4000))
    assert found.difference_variance(runs_a=3, runs_b=5, units=20)[0] == pytest.approx(expected, rel=0.3)


def test_pairs_are_estimated_one_by_one():
    values = simulate(np.random.default_rng(4), (3, 1, 4), 12)
    pairs = np.array([[0, 1], [2, 0], [1, 2]])
    found = variance_components(values, pairs)
    for row, (a, b) in enumerate(pairs):
        alone = variance_components([values[a], values[b]], PAIR)
        for name in (*TRUTH, "degrees"):
            assert getattr(found, name)[row] == pytest.approx(getattr(alone, name)[0]), name


def test_one_run_each_leaves_runs_undefined():
    found = variance_components(simulate(np.random.default_rng(5), (1, 1), 12), PAIR)
    assert np.isnan([found.run[0], found.residual[0], found.system_unit[0]]).all()
    assert np.isfinite(found.unit[0])


def test_one_unit_is_refused():
    with pytest.raises(ValueError, match="at least 2 units, not 1"):
        variance_components([np.ones((2, 1)), np.ones((2, 1))], PAIR)


def test_spreads_are_their_definitions_and_depend_on_no_batch():
    replicas = replica_nulls.make_replicas((3, 1), 30, kind="ratio")
    draws = Draws(5, 30, 30)
    found = spread_scores(draws, replicas, replicates=3000)
    samples = np.stack([draw_units(draws, r) for r in range(3000)])
    deviations = []
    for array in replicas.statistics:
        scores = [replicas.score(run[samples].sum(axis=1).T.astype(float)) for run in array]
        deviations.append(np.mean([np.std(own, ddof=1) for own in scores]))
    np.testing.assert_allclose(found.s_sel, deviations, rtol=1e-12)
    of_runs = replicas.score(replicas.statistics[0].sum(axis=1).T.astype(float))
    assert found.s_test[0] == pytest.approx(np.std(of_runs, ddof=1))
    assert np.isnan(found.s_test[1])
    again = spread_scores(draws, replicas, replicates=3000, memory_bytes=10_000)
    assert again.s_sel.tobytes() == found.s_sel.tobytes()
    assert found.empty.tolist() == [0, 0]
