"""Stable means: whatever p-values lie within the bounds, Holm decides the same."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.inference.decision import Bounds, bound_computed, bound_counted, decide, decide_max_t, stable_alone, stable_level
from pipeline.inference.multiple_comparisons.multiplicity import holm
from pipeline.inference.p_values import clopper_pearson
from pipeline.inference.unit_diagnostics.few_units import holm_within_reach


def plus_one(hits, b):
    return (hits + 1) / (b + 1)


def decide_counts(hits, b, *, p, alpha, floor=None):
    return decide(bound_counted(hits, b, p=p), alpha=alpha, floor=floor)


def test_it_is_the_decision_of_holm_and_not_that_of_the_unadjusted_p():
    b = np.full(10, 100_000)
    # .005 · 10 = .05: far below α alone, on the edge after Holm. .0475 is near α alone, far from it after Holm.
    hits = np.array([500, 4750, *[50_000] * 8])
    found = decide_counts(hits, b, p=plus_one(hits, b), alpha=0.05)
    assert found.stable.tolist() == [False, *[True] * 9]
    alone = decide_counts(hits[:1], b[:1], p=plus_one(hits[:1], b[:1]), alpha=0.05)
    assert alone.stable.tolist() == [True]


def test_the_level_asked_for_is_the_one_that_counts():
    hits, b = np.array([1000]), np.array([100_000])
    p = plus_one(hits, b)
    assert decide_counts(hits, b, p=p, alpha=0.05).stable.all()
    assert not decide_counts(hits, b, p=p, alpha=0.01).stable.any()


def test_any_p_within_the_bounds_is_decided_as_the_stable_pairs_say():
    rng = np.random.default_rng(2)
    b = np.full(30, 5000)
    for _ in range(50):
        hits = rng.integers(0, 40, 30)
        found = decide_counts(hits, b, p=plus_one(hits, b), alpha=0.05)
        lo, hi = clopper_pearson(hits, b, 1 - 0.01 / 30)
        for _ in range(10):
            decided = holm(rng.uniform(lo, hi)) <= 0.05
            assert np.array_equal(decided[found.stable], found.surely[found.stable])


def test_the_reported_p_lies_within_the_bounds_even_without_a_hit():
    hits, b = np.array([0, 7, 1000]), np.full(3, 1000)
    found = decide_counts(hits, b, p=plus_one(hits, b), alpha=0.05)
    reported = holm(plus_one(hits, b)) <= 0.05
    assert np.all(reported[found.stable] == found.surely[found.stable])


def test_a_p_by_definition_is_certain_and_a_pair_without_p_is_not_in_the_family():
    b = np.full(3, 1000)
    found = decide_counts(np.array([0, 5, 0]), b, p=np.array([1.0, plus_one(5, 1000), np.nan]), alpha=0.05)
    assert found.stable.tolist() == [True, True, True]
    assert found.surely.tolist() == [False, True, False]
    alone = decide_counts(np.array([5]), b[:1], p=np.array([plus_one(5, 1000)]), alpha=0.005)
    assert not alone.stable.any()


def test_shapes_that_do_not_match_are_refused():
    with pytest.raises(ValueError, match=r"hits \(2,\), replicates \(1,\)"):
        decide_counts(np.zeros(2, int), np.ones(1, int), p=np.ones(2), alpha=0.05)


def test_a_pair_is_unstable_where_another_pair_s_draws_decide_whether_its_floor_is_small_enough():
    # Six discordant units: .03125 passes Holm's last step, if the other pair passes the first: its p must be at most .025.
    b, floor = np.full(2, 100_000), np.array([2.0**-5, 0.0])
    for other, stable, separated in ((2500, False, None), (2000, True, True), (3000, True, False), (50_000, True, False)):
        hits = np.array([0, other])
        found = decide_counts(hits, b, p=plus_one(hits, b), alpha=0.05, floor=floor)
        assert found.stable[0] == stable
        assert separated is None or found.surely[0] == separated
        assert decide_counts(hits, b, p=plus_one(hits, b), alpha=0.05).surely[0]  # Holm alone is sure of it in any case


def test_max_t_is_stable_where_the_floor_alone_is_above_alpha():
    adjusted = Bounds(np.array([0.04, 0.04, 0.001]), np.array([0.06, 0.06, 0.002]))
    found = decide_max_t(adjusted, alpha=0.05, floor=np.array([0.0, 0.07, 0.03]))
    assert found.stable.tolist() == [False, True, True]
    assert found.surely.tolist() == [False, False, True]


@pytest.mark.parametrize("by_max_t", [False, True])
def test_no_p_values_within_the_bounds_change_a_stable_decision_floors_and_all(by_max_t):
    rng = np.random.default_rng(5)
    moved = 0
    for _ in range(300):
        size = int(rng.integers(2, 7))
        middle = rng.choice([0.002, 0.008, 0.016, 0.03, 0.06, 0.3], size) * rng.uniform(0.8, 1.2, size)
        bounds = Bounds(middle * 0.8, np.minimum(middle * 1.2, 1))
        adjusted = Bounds(bounds.lo * 2, np.minimum(bounds.hi * 2, 1))
        floor = np.where(rng.random(size) < 0.7, np.exp2(1.0 - rng.integers(4, 12, size)), 0.0)
        found = decide_max_t(adjusted, alpha=0.05, floor=floor) if by_max_t else decide(bounds, alpha=0.05, floor=floor)
        for _ in range(20):
            p = rng.uniform(bounds.lo, bounds.hi)
            if by_max_t:
                decided = np.maximum(rng.uniform(adjusted.lo, adjusted.hi), floor) <= 0.05
            else:
                decided = holm_within_reach(p, floor, 0.05)
            assert np.array_equal(decided[found.stable], found.surely[found.stable])
            moved += int((decided != found.surely).sum())
    assert moved > 100  # unstable pairs do change


def test_an_error_of_95_percent_is_widened_to_the_level_of_all_decisions_and_an_enclosure_is_not():
    p, error = np.full(2, 0.04), np.full(2, 0.008)  # at 95 % below .05
    random = np.array([True, False])
    assert stable_alone(bound_computed(p, error, random=random, decisions=1), 0.05).tolist() == [False, True]
    narrow = bound_computed(p, error / 2, random=random, decisions=1)
    assert stable_alone(narrow, 0.05).tolist() == [True, True]
    many = bound_computed(p, error / 2, random=random, decisions=1000)
    assert stable_alone(many, 0.05).tolist() == [True, True]
    assert many.hi[0] - 0.04 == pytest.approx(
        0.004 * 4.4172 / 1.95996, rel=1e-4
    )  # the Gaussian quantile of 1 - .01/1000, two-sided
    assert stable_level(1000) == 1 - 1e-5


def test_a_computed_p_that_is_known_has_no_bounds_but_itself():
    found = bound_computed(np.array([0.05, np.nan]), np.array([0.0, np.nan]), random=np.zeros(2, bool), decisions=2)
    assert (found.lo[0], found.hi[0]) == (0.05, 0.05)
    assert np.isnan([found.lo[1], found.hi[1]]).all()
    assert stable_alone(found, 0.05).tolist() == [True, False]
