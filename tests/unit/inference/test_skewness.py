"""One-sided p of skewed gains: Hall's formula from SciPy's skewness, what it never does, and how often true nulls are rejected."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pipeline.inference.skewness import skewed_tail, unskew
from pipeline.inference.unit_diagnostics.few_units import StudentTails
from pipeline.resampling.standard_errors.influence import leave_one_out, pair_moments


def test_it_is_hall_s_formula_with_the_skewness_of_the_units():
    """t + g (t²/3 + 1/6)/√n + g² t³/(27 n), from the skewness g of units by SciPy; the acceleration from leave-one-out scores."""
    gains = np.round(1000 * np.random.default_rng(2).gamma(2.0, size=25)).astype(np.int64)
    statistics = np.stack([np.stack([gains, np.zeros_like(gains)], axis=1), np.ones((25, 2), np.int64)], axis=2)
    scores = leave_one_out(statistics, lambda sums: sums[0] / sums[1])
    (a,) = pair_moments(scores, np.array([[0, 1]])).acceleration
    skewness = stats.skew(gains)
    assert a == pytest.approx(skewness / 6 / 5)
    t = np.linspace(-4, 4, 9)
    assert unskew(t, np.full(9, a)) == pytest.approx(t + skewness * (t**2 / 3 + 1 / 6) / 5 + skewness**2 * t**3 / 27 / 25)


@given(a=st.floats(-1, 1), t=st.lists(st.floats(-30, 30), min_size=2, max_size=20), units=st.integers(2, 1000))
@settings(max_examples=100, deadline=None)
def test_it_rises_with_t_and_no_p_is_below_student_s(a, t, units):
    values = np.sort(np.array(t))
    found = unskew(values, np.full(len(values), a))
    assert (np.diff(found) >= -1e-9 * (1 + np.abs(found[1:]))).all()
    p = skewed_tail(values, np.full(len(values), a), tails=StudentTails(units))
    assert (p >= stats.t.sf(values, units - 1) * (1 - 1e-12)).all()


def test_without_skewness_or_where_it_is_unknown_it_is_student_s():
    t = np.array([-1.0, 0.0, 3.0])
    for a in (0.0, np.nan):
        assert skewed_tail(t, np.full(3, a), tails=StudentTails(12)) == pytest.approx(stats.t.sf(t, 11))
    # A long tail above makes large t rarer than Student says: it is not taken as evidence.
    assert skewed_tail(t[2:], np.array([0.1]), tails=StudentTails(12)) == pytest.approx(stats.t.sf(3.0, 11))


@pytest.mark.statistical
def test_a_long_tail_below_deceives_student_s_t_and_this_less():
    """20 units of 2 − gamma(2): at .00125, of 20 test sets and two directions, Student rejects above .0075, this below .005.

    60 000 nulls; the rates are .0097 and .0036, the margins more than five standard errors: false alarms 1e-7. Fresh seed.
    """
    gains = 2 - np.random.default_rng().gamma(2.0, size=(20, 60_000))
    t = gains.mean(axis=0) / stats.sem(gains, axis=0)
    tails = StudentTails(20)
    plain, corrected = tails.tail(t), skewed_tail(t, stats.skew(gains, axis=0) / 6 / np.sqrt(20), tails=tails)
    assert (plain <= 0.00125).mean() > 0.0075
    assert (corrected <= 0.00125).mean() < 0.005
