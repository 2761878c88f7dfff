"""Statistics of items are added up by unit, and are their own sums where each item is a unit."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.resampling.measures import sum_by_unit


@pytest.mark.parametrize(
    "unit_of_item",
    [[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [1, 0, 3, 2, 5, 4], [0, 0, 0, 0, 0, 0], [5, 4, 3, 2, 1, 0]],
)
@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize("shape", [(6,), (6, 2), (6, 3, 2)])
def test_each_unit_has_the_sum_of_its_items(unit_of_item, dtype, shape):
    values = np.random.default_rng(3).integers(-9, 9, shape).astype(dtype)
    units = np.array(unit_of_item)
    given = values.copy()
    found = sum_by_unit(values, units)
    expected = [values[units == unit].sum(axis=0) for unit in range(units.max() + 1)]
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == np.int64
    found[:] = 99  # an array of its own
    np.testing.assert_array_equal(values, given)
