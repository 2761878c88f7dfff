"""Correlation within units, design effect and effective units: against plain loops, in cases known by algebra, by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.inference.unit_diagnostics.units import REASONS, count_items, effective_units, unit_effects
from pipeline.resampling.standard_errors.influence import leave_one_out, pair_errors

PAIR = np.array([[0, 1]])
REPOSITORIES = [231, 75, 44, 34, 32, 22, 22, 19, 10, 8, 2, 1]


def mean_score(sums):
    return sums[0] / sums[1]


def effects_of(x, unit):
    """Effects of one pair whose difference is x, a mean."""
    scores = np.stack([np.asarray(x, float), np.zeros(len(x))])
    return unit_effects(scores, PAIR, unit=np.asarray(unit))


def by_loops(x, unit):
    """ICC and design effect as the books have them, a unit at a time."""
    groups = [x[unit == g] for g in np.unique(unit)]
    n, G, N = np.array([len(g) for g in groups]), len(groups), len(x)
    msb = sum(len(g) * (g.mean() - x.mean()) ** 2 for g in groups) / (G - 1)
    msw = sum(((g - g.mean()) ** 2).sum() for g in groups) / (N - G)
    n0 = (N - (n**2).sum() / N) / (G - 1)
    sums = np.array([(g - x.mean()).sum() for g in groups])
    return (msb - msw) / (msb + (n0 - 1) * msw), G * sums.var(ddof=1) / (N * x.var(ddof=1))


@pytest.mark.parametrize("seed", range(5))
def test_unequal_units_are_as_a_slow_program_has_them(seed):
    rng = np.random.default_rng(seed)
    unit = rng.permutation(np.repeat(np.arange(9), rng.integers(1, 8, 9)))  # items of a unit lie apart
    x = rng.normal(size=len(unit)) + 0.7 * rng.normal(size=9)[unit]
    found = effects_of(x, unit)
    assert (found.correlation[0], found.design_effect[0]) == pytest.approx(by_loops(x, unit), rel=1e-12)


def test_all_pairs_are_the_pairs_one_by_one_bit_for_bit():
    rng = np.random.default_rng(3)
    scores, unit = 40 + rng.normal(size=(6, 60)) * 1e-3, np.repeat(np.arange(12), 5)
    pairs = np.stack(np.triu_indices(6, 1), axis=1)
    together = unit_effects(scores, pairs, unit=unit)
    for number, pair in enumerate(pairs):
        alone = unit_effects(scores[pair], PAIR, unit=unit)
        assert alone.correlation[0] == together.correlation[number]
        assert alone.design_effect[0] == together.design_effect[number]


def test_swapping_the_systems_or_the_names_of_units_changes_nothing():
    rng = np.random.default_rng(4)
    scores, unit = rng.normal(size=(2, 40)), np.repeat(np.arange(8), 5)
    one = unit_effects(scores, PAIR, unit=unit)
    other = unit_effects(scores, PAIR[:, ::-1], unit=unit)
    renamed = unit_effects(scores, PAIR, unit=7 - unit)
    assert one.correlation == other.correlation
    assert one.design_effect == other.design_effect
    assert renamed.correlation == pytest.approx(one.correlation, rel=1e-12)


def test_the_design_effect_is_the_ratio_of_the_two_jackknife_variances():
    """Of a mean over equally large units: leaving units out, over leaving items out."""
    rng = np.random.default_rng(5)
    unit = np.repeat(np.arange(20), 4)
    right = (rng.random((80, 2)) + 0.3 * rng.normal(size=(20, 1))[unit] < 0.5).astype(np.int64)
    items = np.stack([right, np.ones_like(right)], axis=2)
    by_unit = items.reshape(20, 4, 2, 2).sum(axis=1)
    se_items, se_units = (pair_errors(leave_one_out(s, mean_score), PAIR)[0] for s in (items, by_unit))
    found = unit_effects(leave_one_out(items, mean_score), PAIR, unit=unit)
    assert found.design_effect[0] == pytest.approx((se_units / se_items) ** 2, rel=1e-9)


def test_items_that_repeat_within_units_count_once():
    """Ten copies: correlation 1, and units of 10 vary ten times as much, but for (N − 1)/(G − 1)."""
    found = effects_of(np.repeat(np.random.default_rng(6).normal(size=50), 10), np.repeat(np.arange(50), 10))
    assert found.correlation[0] == pytest.approx(1.0, abs=1e-12)
    assert found.design_effect[0] == pytest.approx(10 * (499 / 500) / (49 / 50), rel=1e-12)


def test_items_that_cancel_within_units_have_the_lowest_correlation():
    found = effects_of([1, -1] * 6, np.repeat(np.arange(6), 2))
    assert found.correlation[0] == pytest.approx(-1.0)
    assert found.design_effect[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.statistical
def test_a_made_correlation_is_found():
    """4000 units of 5 items, ICC .3: the estimate has sd .0077; 6 sd have a false-alarm chance of 2e-9."""
    rng = np.random.default_rng(np.random.SeedSequence().entropy)
    unit = np.repeat(np.arange(4000), 5)
    x = np.sqrt(0.3) * rng.normal(size=4000)[unit] + np.sqrt(0.7) * rng.normal(size=20_000)
    sd = 0.7 * (1 + 4 * 0.3) * np.sqrt(2 / (5 * 4 * 4000))  # Fisher's, for equal units
    found = effects_of(x, unit)
    assert found.correlation[0] == pytest.approx(0.3, abs=6 * sd)
    assert found.design_effect[0] == pytest.approx(1 + 4 * found.correlation[0], rel=0.01)


@pytest.mark.parametrize(
    ("x", "unit", "reason"),
    [
        ([1, 2, np.nan, 4], [0, 0, 1, 1], "undefined influence"),
        ([0, 0, 0, 0], [0, 0, 1, 1], "no variation"),
        ([0.1, 0.1, 0.1, 0.1], [0, 0, 1, 1], "no variation"),
        ([1, 2, 3, 4], [0, 0, 0, 0], "one unit"),
        ([1, 2, 3, 4], [0, 1, 2, 3], "one item a unit"),
    ],
)
def test_what_cannot_be_said_is_nan_with_its_reason(x, unit, reason):
    found = effects_of(x, unit)
    assert REASONS[found.reason[0]] == reason
    assert np.isnan(found.correlation[0])
    assert found.design_effect.tolist() == [1.0] if reason == "one item a unit" else np.isnan(found.design_effect[0])


def test_a_constant_difference_of_unequal_scores_is_no_variation():
    scores = 40 + np.random.default_rng(7).normal(size=100) * 1e-3
    found = unit_effects(np.stack([scores, scores - 0.1]), PAIR, unit=np.repeat(np.arange(10), 10))
    assert REASONS[found.reason[0]] == "no variation"


def test_one_undefined_system_leaves_the_other_pairs_alone():
    scores = np.random.default_rng(8).normal(size=(3, 20))
    scores[2, 5] = np.nan
    found = unit_effects(scores, np.array([[0, 1], [0, 2], [1, 2]]), unit=np.repeat(np.arange(5), 4))
    assert [REASONS[code] for code in found.reason] == ["", "undefined influence", "undefined influence"]


def test_effective_units_of_repositories_are_fewer_than_four():
    assert effective_units(np.array(REPOSITORIES)) == 500**2 / sum(n * n for n in REPOSITORIES)
    assert round(effective_units(np.array(REPOSITORIES)), 1) == 3.9
    assert effective_units(np.array([7])) == 1.0


def test_units_are_numbered_without_a_gap():
    assert count_items(np.array([1, 0, 1])).tolist() == [1, 2]
    with pytest.raises(ValueError, match="without a gap"):
        count_items(np.array([0, 2]))
    with pytest.raises(ValueError, match="numbered from 0"):
        count_items(np.array([-1, 0]))
    with pytest.raises(ValueError, match=r"\(2, 3\) and \(4,\)"):
        unit_effects(np.zeros((2, 3)), PAIR, unit=np.zeros(4, np.int64))
    with pytest.raises(ValueError, match="positive"):
        effective_units(np.array([3, 0]))
