"""Corrections across families: against their definitions step by step, SciPy, and simulated with dependence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import binom, false_discovery_control

from pipeline.inference.multiple_comparisons.multiplicity import ACROSS, adjust_across_families, any_false_rejection, holm

nan = float("nan")


def slow_holm(within, alpha):
    """Reject in every family at α/k; count the families that are not rejected as a whole, and begin again with their number."""
    left = sum(np.isfinite(p).any() for p in within)
    while True:
        rejected = [np.nan_to_num(p, nan=2.0) <= alpha / max(left, 1) for p in within]
        undecided = sum(bool((~of & np.isfinite(p)).any()) for of, p in zip(rejected, within, strict=True))
        if undecided in (0, left):
            return rejected
        left = undecided


def slow_benjamini_bogomolov(within, alpha):
    """Find the largest R such that R families have a p of at most R α/F."""
    smallest = sorted(np.nanmin(p) for p in within if np.isfinite(p).any())
    total = len(smallest)
    selected = max([r for r in range(1, total + 1) if smallest[r - 1] <= r * alpha / total], default=0)
    return [np.nan_to_num(p, nan=2.0) <= selected * alpha / total if selected else np.zeros(len(p), bool) for p in within]


SLOW = {"holm": slow_holm, "benjamini-bogomolov": slow_benjamini_bogomolov}


@pytest.mark.parametrize("by", ACROSS)
@given(
    sizes=st.lists(st.integers(0, 5), min_size=1, max_size=7),
    seed=st.integers(0, 2**31),
    power=st.integers(1, 9),
    alpha=st.sampled_from([0.0101, 0.0507, 0.2003]),
)
@settings(max_examples=150, deadline=None)
def test_adjusted_at_most_alpha_is_rejected_at_alpha(by, sizes, seed, power, alpha):
    rng = np.random.default_rng(seed)
    within = [np.where(rng.random(size) < 0.1, nan, rng.random(size) ** power) for size in sizes]
    found = adjust_across_families(within, by=by, alpha=alpha)
    expected = SLOW[by](within, alpha)
    for p, of, rejected in zip(within, found.p, expected, strict=True):
        assert np.array_equal(np.isnan(of), np.isnan(p))
        assert np.array_equal(np.nan_to_num(of, nan=2.0) <= alpha, rejected)
        # One level for all families says the same, but for families that are gone: these are rejected at it too.
        assert np.array_equal(np.nan_to_num(p, nan=2.0) <= found.share * alpha, rejected)
        assert (of[np.isfinite(of)] >= p[np.isfinite(p)] * (1 - 1e-12)).all()
    assert found.families == sum(np.isfinite(p).any() for p in within)


@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(max_examples=100, deadline=None)
def test_families_of_one_pair_are_adjusted_by_holm_and_by_benjamini_hochberg(p):
    within = [np.array([of]) for of in p]
    by_holm = adjust_across_families(within, by="holm", alpha=0.05)
    assert np.concatenate(by_holm.p) == pytest.approx(holm(np.array(p)))
    assert by_holm.any_pair == pytest.approx(holm(np.array(p)))
    by_selection = adjust_across_families(within, by="benjamini-bogomolov", alpha=0.05)
    assert np.concatenate(by_selection.p) == pytest.approx(false_discovery_control(p))
    assert by_selection.any_pair == pytest.approx(false_discovery_control(p))


@pytest.mark.parametrize("by", ACROSS)
def test_one_family_is_left_as_it_is(by):
    found = adjust_across_families([np.array([0.01, nan, 0.2]), np.array([nan]), np.empty(0)], by=by, alpha=0.05)
    assert found.p[0].tolist() == pytest.approx([0.01, nan, 0.2], nan_ok=True)
    assert np.isnan(found.p[1]).all()
    assert (found.families, found.share) == (1, 1.0)
    assert found.any_pair.tolist() == pytest.approx([0.01, nan, nan], nan_ok=True)


@pytest.mark.parametrize("by", ACROSS)
def test_without_any_p_there_is_nothing_to_adjust(by):
    found = adjust_across_families([np.array([nan]), np.empty(0)], by=by, alpha=0.05)
    assert [p.tolist() for p in found.p] == [pytest.approx([nan], nan_ok=True), []]
    assert (found.families, found.share) == (0, 1.0)


@pytest.mark.parametrize("by", ACROSS)
def test_a_further_family_without_a_small_p_makes_none_smaller(by):
    rng = np.random.default_rng(5)
    for _ in range(50):
        within = [rng.random(3) ** 6 for _ in range(4)]
        fewer, more = (adjust_across_families(of, by=by, alpha=0.05) for of in (within, [*within, np.array([1.0])]))
        assert all((b >= a * (1 - 1e-12)).all() for a, b in zip(fewer.p, more.p, strict=False))


def test_what_is_no_correction_and_no_p_is_refused():
    with pytest.raises(ValueError, match="holm, benjamini-bogomolov, not hommel"):
        adjust_across_families([np.array([0.1])], by="hommel", alpha=0.05)
    with pytest.raises(ValueError, match="0 … 1"):
        adjust_across_families([np.array([0.1]), np.array([1.1])], by="holm", alpha=0.05)


def test_the_chance_of_any_false_rejection_is_that_of_independent_families():
    assert any_false_rejection(0.05, 1) == pytest.approx(0.05)
    assert any_false_rejection(0.05, 8) == pytest.approx(1 - 0.95**8)
    assert any_false_rejection(1e-12, 10**6) == pytest.approx(1e-6)  # where 1 − (1 − α)^F has lost its digits


FAMILIES, PAIRS = 6, 4


def simulate(trials, shared, seed):
    """Six families of four pairs; in five of them one pair is far apart, all other nulls are true.

    ``shared`` is the correlation of all pairs. Gives how often any null is rejected falsely: by Holm, and by testing at α within
    families that Holm over their smallest p rejects; and the share of falsely rejecting families by Benjamini and Bogomolov.
    """
    rng = np.random.default_rng(seed)
    noise = np.sqrt(shared) * rng.normal(size=(trials, 1, 1)) + np.sqrt(1 - shared) * rng.normal(size=(trials, FAMILIES, PAIRS))
    noise[:, 1:, 0] += 9
    p = 2 * ndtr(-np.abs(noise))
    broken = np.zeros(3)
    for of in p:
        within = [holm(family) for family in of]
        strict, lenient = (adjust_across_families(within, by=by, alpha=0.05) for by in ACROSS)
        truly_null = [slice(0 if k == 0 else 1, None) for k in range(FAMILIES)]
        broken[0] += any((q[null] <= 0.05).any() for q, null in zip(strict.p, truly_null, strict=True))
        inside = [(q <= 0.05) & (any_pair <= 0.05) for q, any_pair in zip(within, strict.any_pair, strict=True)]
        broken[1] += any(q[null].any() for q, null in zip(inside, truly_null, strict=True))
        rejecting = [q <= 0.05 for q in lenient.p]
        wrong = sum(bool(q[null].any()) for q, null in zip(rejecting, truly_null, strict=True))
        broken[2] += wrong / max(sum(bool(q.any()) for q in rejecting), 1)
    return broken


@pytest.mark.statistical
@pytest.mark.parametrize("shared", [0.0, 0.6])
def test_what_is_promised_holds_and_testing_within_at_the_whole_level_would_not(shared):
    """Rates of at most .05: above the quantile with a chance below 1e-6, a share in 0 … 1 even less often. Fresh seed."""
    trials = 3000
    by_holm, within_at_alpha, by_selection = simulate(trials, shared, None)
    most = binom.isf(1e-6, trials, 0.05)
    assert by_holm <= most
    assert by_selection <= most
    assert within_at_alpha > most  # about 1 − .96^5 of independent families
