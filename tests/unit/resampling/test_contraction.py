"""The product: exact on both sides of its limits, and no column twice."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.resampling.draws import Draws, draw_weights
from pipeline.resampling.products import contract
from pipeline.resampling.products.contract import plan_contraction


def sums_of(plan, weights):
    """Return (asked column, replicate) sums, whatever form the columns have."""
    product = plan.multiply(weights)
    return np.concatenate([product.narrow.astype(float), product.sparse, product.wide])[plan.position]


def test_sums_equal_integer_arithmetic_in_both_precisions():
    rng = np.random.default_rng(0)
    columns = [rng.integers(-50, 50, 60), rng.integers(-(2**45), 2**45, 60), rng.integers(0, 2, 60), rng.integers(0, 2**18, 60)]
    weights = draw_weights(Draws(1, 60, 60), 0, 100)
    plan = plan_contraction(columns, n_units=60, n_draws=60)
    sums = sums_of(plan, weights)
    assert len(plan.narrow) == 3
    assert len(plan.wide) == 1
    assert np.array_equal(sums.astype(np.int64), np.stack(columns) @ weights.T.astype(np.int64))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("largest", "is_wide"), [(2**22 - 1, False), (2**22, True)])
def test_float32_is_left_where_n_draws_times_the_largest_reaches_two_to_the_24(sign, largest, is_wide):
    plan = plan_contraction([np.array([sign * largest, 1])], n_units=2, n_draws=4)
    assert len(plan.wide) == is_wide
    weights = np.array([[4, 0], [3, 1]], np.float32)
    assert sums_of(plan, weights).tolist() == [[4 * sign * largest, 3 * sign * largest + 1]]


def test_sums_are_exact_just_below_two_to_the_53_and_refused_with_both_numbers_at_it():
    plan = plan_contraction([np.array([2**51 - 1, 1])], n_units=2, n_draws=4)
    assert sums_of(plan, np.array([[4, 0], [3, 1]], np.float32))[0].astype(int).tolist() == [2**53 - 4, 3 * 2**51 - 2]
    with pytest.raises(ValueError, match=f"{2**53} .*below {2**53}"):
        plan_contraction([np.array([-(2**51), 1])], n_units=2, n_draws=4)


def test_equal_columns_are_multiplied_once():
    one, other = np.array([1, 2, 3]), np.array([3, 2, 1])
    plan = plan_contraction([one, other, one.copy(), 2**40 * one, other.copy()], n_units=3, n_draws=3)
    assert len(plan.narrow) == 2
    assert plan.position.tolist() == [0, 1, 0, 2, 1]


@pytest.mark.parametrize("factor", [contract._FACTOR, 0, 1])
def test_columns_are_told_apart_whatever_their_product_with_the_fixed_one(factor, monkeypatch):
    monkeypatch.setattr(contract, "_FACTOR", factor)
    columns = [*np.concatenate([size * np.eye(4, dtype=np.int64) for size in range(-10, 11) if size])]
    distinct = contract.DistinctColumns()
    assert [distinct.number(column.copy()) for column in 2 * columns] == 2 * [*range(80)]
    assert np.array_equal(distinct.columns, columns)


def test_a_column_that_is_nearly_everywhere_zero_is_summed_over_few_units():
    rng = np.random.default_rng(3)
    columns = [rng.integers(1, 9, 64), np.zeros(64, np.int64), np.zeros(64, np.int64), np.zeros(64, np.int64)]
    columns[1][[3, 60]] = 5, -7
    columns[2][[3, 11, 20, 63]] = 1
    columns[3][:5] = 1
    plan = plan_contraction(columns, n_units=64, n_draws=64)
    assert plan.units.tolist() == [3, 11, 20, 60, 63]
    assert (len(plan.narrow), len(plan.sparse)) == (2, 2)  # 4 of 64 are few, 5 are not
    weights = draw_weights(Draws(1, 64, 64), 0, 50)
    assert np.array_equal(sums_of(plan, weights).astype(np.int64), np.stack(columns) @ weights.T.astype(np.int64))


def test_a_sparse_column_too_large_for_float32_is_wide():
    column = np.zeros(64, np.int64)
    column[5] = 2**20
    plan = plan_contraction([column], n_units=64, n_draws=64)
    assert (len(plan.sparse), len(plan.wide)) == (0, 1)
