"""Adjustments against their definitions by brute force, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.inference.multiple_comparisons.multiplicity import ADJUSTMENTS, benjamini_hochberg, bonferroni, holm

ADJUST = [adjustment.of_p for adjustment in ADJUSTMENTS.values() if adjustment.of_p is not None]
P = np.array([0.01, 0.3, 0.011, np.nan, 0.04, 1.0, 0.01, 0.0])


def rejects_by_holm(p, alpha):
    """Reject from the smallest on while p ≤ alpha / (hypotheses left)."""
    rejected, order = np.zeros(len(p), bool), np.argsort(p, kind="stable")
    for rank, index in enumerate(order):
        if not p[index] <= alpha / (len(p) - rank):
            break
        rejected[index] = True
    return rejected


def rejects_by_hochberg(p, alpha):
    """Reject all up to the largest rank i with p ≤ alpha·i/K."""
    ordered = np.sort(p)
    passing = [i for i in range(len(p)) if ordered[i] <= alpha * (i + 1) / len(p)]
    return p <= ordered[passing[-1]] if passing else np.zeros(len(p), bool)


def rejects_by_bonferroni(p, alpha):
    return p <= alpha / len(p)


@pytest.mark.parametrize(
    ("adjust", "rejects"),
    [(holm, rejects_by_holm), (benjamini_hochberg, rejects_by_hochberg), (bonferroni, rejects_by_bonferroni)],
)
@pytest.mark.parametrize("alpha", [0.001, 0.0123, 0.0371, 0.0499, 0.0512, 0.0666, 0.1234, 0.5])
def test_adjusted_at_most_alpha_is_rejected_at_alpha(adjust, rejects, alpha):
    p = np.random.default_rng(3).random(40) ** 3
    assert np.array_equal(adjust(p) <= alpha, rejects(p, alpha))


def test_known_adjustments():
    expected_holm = [0.06, 0.6, 0.06, np.nan, 0.12, 1.0, 0.06, 0.0]
    expected_bh = [0.01925, 0.35, 0.01925, np.nan, 0.056, 1.0, 0.01925, 0.0]
    assert holm(P).tolist() == pytest.approx(expected_holm, nan_ok=True)
    assert benjamini_hochberg(P).tolist() == pytest.approx(expected_bh, nan_ok=True)


def test_the_table_names_all_of_them_and_knows_which_one_is_no_function_of_p():
    assert [name for name, adjustment in ADJUSTMENTS.items() if adjustment.of_p is None] == ["max_t"]
    assert {holm, benjamini_hochberg, bonferroni} == set(ADJUST)
    assert all(name == adjustment.of_p.__name__ for name, adjustment in ADJUSTMENTS.items() if adjustment.of_p)


def test_each_is_at_most_the_next_stricter_one():
    p = np.random.default_rng(8).random(60) ** 2
    assert np.all(benjamini_hochberg(p) <= holm(p))
    assert np.all(holm(p) <= bonferroni(p))


@pytest.mark.parametrize("adjust", ADJUST)
def test_a_copy_of_a_system_changes_what_is_adjusted_by_number(adjust):
    """Three pairs become five, or six with the one of the copies, whose p is 1."""
    p = np.array([0.01, 0.02, 0.03])
    with_copy = np.array([*p, 0.01, 0.02, 1.0])  # the copy of the first system meets the other two as the first does
    assert (adjust(with_copy)[:3] != adjust(p)).any()


@pytest.mark.parametrize("adjust", ADJUST)
def test_a_pair_without_a_p_value_is_not_in_the_family(adjust):
    assert adjust(P)[~np.isnan(P)].tolist() == adjust(P[~np.isnan(P)]).tolist()


@pytest.mark.parametrize("adjust", ADJUST)
def test_order_does_not_matter_and_no_p_gets_smaller(adjust):
    order = np.random.default_rng(0).permutation(len(P))
    assert np.array_equal(adjust(P[order]), adjust(P)[order], equal_nan=True)
    assert np.all((adjust(P) >= P) | np.isnan(P))


@pytest.mark.parametrize("adjust", ADJUST)
def test_no_p_values_give_none(adjust):
    assert adjust(np.array([])).tolist() == []


@pytest.mark.parametrize("adjust", ADJUST)
def test_what_is_no_probability_is_refused(adjust):
    with pytest.raises(ValueError, match=r"1\.5"):
        adjust(np.array([0.1, 1.5]))
