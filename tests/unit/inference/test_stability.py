"""Stable means: whatever p-values lie within the bounds, Holm decides the same."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.inference.multiplicity import holm
from pipeline.inference.p_values import clopper_pearson
from pipeline.inference.stability import decide


def plus_one(hits, b):
    return (hits + 1) / (b + 1)


def test_it_is_the_decision_of_holm_and_not_that_of_the_unadjusted_p():
    b = np.full(10, 100_000)
    # .005 · 10 = .05: far below α alone, on the edge after Holm. .0475 is near α alone, far from it after Holm.
    hits = np.array([500, 4750, *[50_000] * 8])
    found = decide(hits, b, p=plus_one(hits, b), alpha=0.05)
    assert found.stable.tolist() == [False, *[True] * 9]
    alone = decide(hits[:1], b[:1], p=plus_one(hits[:1], b[:1]), alpha=0.05)
    assert alone.stable.tolist() == [True]


def test_the_level_asked_for_is_the_one_that_counts():
    hits, b = np.array([1000]), np.array([100_000])
    p = plus_one(hits, b)
    assert decide(hits, b, p=p, alpha=0.05).stable.all()
    assert not decide(hits, b, p=p, alpha=0.01).stable.any()


def test_any_p_within_the_bounds_is_decided_as_the_stable_pairs_say():
    rng = np.random.default_rng(2)
    b = np.full(30, 5000)
    for _ in range(50):
        hits = rng.integers(0, 40, 30)
        found = decide(hits, b, p=plus_one(hits, b), alpha=0.05)
        lo, hi = clopper_pearson(hits, b, 1 - 0.01 / 30)
        for _ in range(10):
            decided = holm(rng.uniform(lo, hi)) <= 0.05
            assert np.array_equal(decided[found.stable], found.surely[found.stable])


def test_the_reported_p_lies_within_the_bounds_even_without_a_hit():
    hits, b = np.array([0, 7, 1000]), np.full(3, 1000)
    found = decide(hits, b, p=plus_one(hits, b), alpha=0.05)
    reported = holm(plus_one(hits, b)) <= 0.05
    assert np.all(reported[found.stable] == found.surely[found.stable])


def test_a_p_by_definition_is_certain_and_a_pair_without_p_is_not_in_the_family():
    b = np.full(3, 1000)
    found = decide(np.array([0, 5, 0]), b, p=np.array([1.0, plus_one(5, 1000), np.nan]), alpha=0.05)
    assert found.stable.tolist() == [True, True, True]
    assert found.surely.tolist() == [False, True, False]
    alone = decide(np.array([5]), b[:1], p=np.array([plus_one(5, 1000)]), alpha=0.005)
    assert not alone.stable.any()


def test_shapes_that_do_not_match_are_refused():
    with pytest.raises(ValueError, match=r"hits \(2,\), replicates \(1,\)"):
        decide(np.zeros(2, int), np.ones(1, int), p=np.ones(2), alpha=0.05)
