"""The product: exact on both sides of its limits, and no column twice."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.resampling.contract import plan_contraction
from pipeline.resampling.draws import Draws, draw_weights


def test_sums_equal_integer_arithmetic_in_both_precisions():
    rng = np.random.default_rng(0)
    columns = [rng.integers(-50, 50, 60), rng.integers(-(2**45), 2**45, 60), rng.integers(0, 2, 60), rng.integers(0, 2**18, 60)]
    weights = draw_weights(Draws(1, 60, 60), 0, 100)
    plan = plan_contraction(columns, n_units=60, n_draws=60)
    sums = plan.multiply(weights).take(plan.position)
    assert len(plan.narrow) == 3
    assert len(plan.wide) == 1
    assert np.array_equal(sums.astype(np.int64), np.stack(columns) @ weights.T.astype(np.int64))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("largest", "is_wide"), [(2**22 - 1, False), (2**22, True)])
def test_float32_is_left_where_n_draws_times_the_largest_reaches_two_to_the_24(sign, largest, is_wide):
    plan = plan_contraction([np.array([sign * largest, 1])], n_units=2, n_draws=4)
    assert len(plan.wide) == is_wide
    weights = np.array([[4, 0], [3, 1]], np.float32)
    assert plan.multiply(weights).take(plan.position).tolist() == [[4 * sign * largest, 3 * sign * largest + 1]]


def test_sums_are_exact_just_below_two_to_the_53_and_refused_with_both_numbers_at_it():
    plan = plan_contraction([np.array([2**51 - 1, 1])], n_units=2, n_draws=4)
    assert plan.multiply(np.array([[4, 0], [3, 1]], np.float32)).take([0])[0].astype(int).tolist() == [2**53 - 4, 3 * 2**51 - 2]
    with pytest.raises(ValueError, match=f"{2**53} .*below {2**53}"):
        plan_contraction([np.array([-(2**51), 1])], n_units=2, n_draws=4)


def test_equal_columns_are_multiplied_once():
    one, other = np.array([1, 2, 3]), np.array([3, 2, 1])
    plan = plan_contraction([one, other, one.copy(), 2**40 * one, other.copy()], n_units=3, n_draws=3)
    assert len(plan.narrow) == 2
    assert plan.position.tolist() == [0, 1, 0, 2, 1]
