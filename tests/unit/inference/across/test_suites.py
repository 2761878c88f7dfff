"""A suite of test sets: partial conjunction by hand, against its definition and Holm's, and heterogeneity against SciPy."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import chi2

from pipeline.inference.across.suites import conclude_suite, directed_hits, directed_p, heterogeneity
from pipeline.inference.multiple_comparisons.multiplicity import holm
from pipeline.inference.p_values import clopper_pearson


def slow_partial_conjunction(p):
    """(T − u + 1) p_(u) for u = 1 … T, of one pair."""
    ordered = sorted(p)
    return [min((len(p) - u + 1) * ordered[u - 1], 1.0) for u in range(1, len(p) + 1)]


P = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.001, 0.01, 0.05])), min_size=1, max_size=12)


@given(p=P, alpha=st.sampled_from([0.01, 0.05, 0.3]), missing=st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_it_is_the_definition_and_its_count_is_that_of_holm(p, alpha, missing):
    column = np.array([np.nan] * missing + p)[:, None]
    found = conclude_suite(column, alpha=alpha)
    assert found.test_sets.tolist() == [len(p)]
    assert found.p[: len(p), 0].tolist() == pytest.approx(slow_partial_conjunction(p))
    assert np.isnan(found.p[len(p) :]).all()
    assert found.holm[:, 0].tolist() == pytest.approx(holm(column[:, 0]).tolist(), nan_ok=True)
    assert found.at_least[0] == (holm(np.array(p)) <= alpha).sum()


def test_eleven_language_pairs_by_hand():
    p = np.array([0.001, 0.002, 0.004, 0.005, 0.006, 0.007, 0.009, 0.02, 0.2, 0.6, 0.99])[:, None]
    found = conclude_suite(p, alpha=0.05)
    expected = [0.011, 0.02, 0.036, 0.04, 0.042, 0.042, 0.045, 0.08, 0.6, 1.0, 0.99]
    assert found.p[:, 0].tolist() == pytest.approx(expected)
    assert found.at_least.tolist() == [7]


def test_a_later_u_does_not_count_where_an_earlier_one_fails():
    """p_{2/2} = .04 but p_{1/2} = .08: "on both" cannot be claimed where "on any" is not."""
    found = conclude_suite(np.array([[0.04], [0.04]]), alpha=0.05)
    assert found.p[:, 0].tolist() == [0.08, 0.04]
    assert found.at_least.tolist() == [0]


def test_forty_suites_of_many_pairs_are_forty_suites_of_each():
    rng = np.random.default_rng(4)
    p = rng.random((40, 30)) ** 4
    p[rng.random(p.shape) < 0.1] = np.nan
    p[:, 7] = np.nan
    found = conclude_suite(p, alpha=0.05)
    for pair in range(30):
        alone = conclude_suite(p[:, [pair]], alpha=0.05)
        assert np.array_equal(alone.p[:, 0], found.p[:, pair], equal_nan=True)
        assert np.array_equal(alone.holm[:, 0], found.holm[:, pair], equal_nan=True)
    assert found.test_sets[7] == found.at_least[7] == 0
    assert len(set(found.at_least.tolist())) > 3


def conclude_many(trials, seed):
    """11 test sets, correlated .5; the claim is true on 4 of them, by 2.5 standard errors. Count wrong "at least u"."""
    rng = np.random.default_rng(seed)
    z = np.sqrt(0.5) * rng.normal(size=trials) + np.sqrt(0.5) * rng.normal(size=(11, trials))
    z[:4] += 2.5
    found = conclude_suite(ndtr(-z), alpha=0.05)
    return int((found.at_least > 4).sum()), float(found.at_least.mean())


@pytest.mark.statistical
def test_at_least_u_is_wrong_in_at_most_alpha_of_dependent_suites():
    """The error rate is at most .05; its 1 − 1e-6 lower bound is above .05 with a chance below 1e-6. Seed fresh."""
    trials = 20_000
    wrong, mean = conclude_many(trials, np.random.SeedSequence().entropy)
    lo, hi = (float(bound[0]) for bound in clopper_pearson(np.array([wrong]), np.array([trials]), 1 - 2e-6))
    assert lo <= 0.05, f"{wrong} of {trials} suites claim too many [{lo:.4f}, {hi:.4f}]"
    assert mean > 1  # and it claims something


@pytest.mark.parametrize("wins", range(13))
def test_a_directed_p_is_that_of_its_side_whoever_is_ahead(wins):
    """All sign-flips of 12 coins in place of replicates: A claims to be better, having won `wins` of 12."""
    ahead = wins * 2 >= 12
    distance = abs(2 * wins - 12)
    outcomes = np.repeat(2 * np.arange(13) - 12, [comb(12, k) for k in range(13)])  # δ* − δ
    above, at = (outcomes > distance).sum(), (outcomes == distance).sum()
    p = directed_p(above, at, np.array(4096), ahead=np.array(ahead), identical=np.array(False))
    expected = sum(comb(12, k) for k in range(wins, 13))  # P(X ≥ wins)
    assert p == (expected + 1) / 4097
    assert directed_hits(above, at, np.array(4096), ahead=np.array(ahead)) == expected


def test_a_directed_p_of_identical_systems_is_one_and_without_replicates_there_is_none():
    count, b = np.array([0, 0]), np.array([100, 0])
    found = directed_p(count, count, b, ahead=np.array([True, True]), identical=np.array([True, False]))
    assert found[0] == 1.0
    assert np.isnan(found[1])


@given(seed=st.integers(0, 2**31), test_sets=st.integers(2, 12))
@settings(max_examples=40, deadline=None)
def test_cochran_s_q_is_its_sum_and_its_p_scipy_s(seed, test_sets):
    rng = np.random.default_rng(seed)
    delta, se = rng.normal(size=(test_sets, 1)), rng.uniform(0.3, 2, (test_sets, 1))
    found = heterogeneity(delta, se)
    w = 1 / se**2
    mean = np.average(delta, weights=w)
    q = sum(w[t, 0] * (delta[t, 0] - mean) ** 2 for t in range(test_sets))
    assert found.q[0] == pytest.approx(q)
    assert found.p[0] == pytest.approx(chi2.sf(q, test_sets - 1))
    assert found.i_squared[0] == pytest.approx(max(0, (q - (test_sets - 1)) / q))
    assert found.mean[0] == pytest.approx(mean)


def test_test_sets_without_an_error_are_left_out_and_one_is_not_heterogeneous():
    delta = np.array([[1.0, 1.0, 2.0], [5.0, 9.0, 2.0], [3.0, np.nan, 2.0]])
    se = np.array([[1.0, 1.0, 1.0], [0.0, np.nan, 1.0], [1.0, 1.0, 2.0]])
    found = heterogeneity(delta, se)
    assert found.degrees.tolist() == [1, 0, 2]
    assert found.q[[0, 2]].tolist() == [2.0, 0.0]
    assert np.isnan([found.q[1], found.p[1], found.i_squared[1]]).all()
    assert found.mean.tolist() == [2.0, 1.0, 2.0]
    assert found.i_squared[2] == 0.0
    nothing = heterogeneity(np.full((2, 1), np.nan), np.ones((2, 1)))
    assert np.isnan(nothing.mean).all()


def test_what_is_no_probability_or_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"\(3,\)"):
        conclude_suite(np.ones(3), alpha=0.05)
    with pytest.raises(ValueError, match=r"1\.5"):
        conclude_suite(np.array([[0.5], [1.5]]), alpha=0.05)
    with pytest.raises(ValueError, match=r"\(1, 2\)"):
        heterogeneity(np.ones((1, 2)), np.ones((2, 1)))
