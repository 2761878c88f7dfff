"""Columns that share a column of single precision have the sums that each has alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pipeline.resampling.draws import Draws, draw_units, draw_weights
from pipeline.resampling.measures import Measure
from pipeline.resampling.products.batches import FloatBatches
from pipeline.resampling.products.columns import StatisticColumns
from pipeline.resampling.strata import StratifiedDraws, draw_stratified_weights


def columns_of(statistics: NDArray[Any], n_draws: int) -> StatisticColumns:
    """One statistic of each system, (unit, system)."""
    systems = np.arange(statistics.shape[1])
    pairs = np.empty((0, 2), np.int64)
    measure = Measure(statistics[:, :, None].astype(np.int64), lambda sums: sums[0], "general", True, pairs, systems >= 0)
    return StatisticColumns.of([(0, measure, systems, range(1))], n_units=len(statistics), n_draws=n_draws)


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 2**64 - 1),
    st.integers(1, 60),
    st.integers(1, 300),
    st.lists(st.sampled_from([(0, 1), (-1, 1), (-5, -5), (0, 255), (-128, 127), (-3, 0), (0, 9000)]), min_size=1, max_size=8),
)
def test_sums_in_floats_are_those_of_the_units_drawn(key: int, n_units: int, n_draws: int, ranges: list[tuple[int, int]]) -> None:
    rng = np.random.Generator(np.random.Philox(key))
    statistics = np.stack([rng.integers(low, high + 1, n_units) for low, high in ranges], axis=1)
    columns, draws = columns_of(statistics, n_draws), Draws(key, n_units, n_draws)
    batches = FloatBatches(draws, columns)
    drawn = [statistics[draw_units(draws, replicate)].sum(axis=0) for replicate in range(3, 14)]
    batches.make_room(7)
    found = []
    for first, count in [(3, 7), (10, 4)]:  # the second does not fill the room
        product = batches.multiply(first, count)
        assert product.narrow.dtype == np.float32
        assert product.narrow.flags.c_contiguous
        sources = np.concatenate([product.narrow, product.sparse, product.wide])
        found.append(sources[columns.recipe[:, 0]])
    np.testing.assert_array_equal(np.concatenate(found, axis=1), np.transpose(drawn))


@pytest.mark.parametrize(
    ("n_draws", "systems", "words"),
    [(4095, 6, 3), (4096, 6, None), (255, 6, 2), (4095, 1, None), (256, 7, 4), (4095, 3, 2), (15, 12, 2), (31, 5, 2)],
)
def test_as_many_share_a_column_as_24_bits_hold(n_draws: int, systems: int, words: int | None) -> None:
    rng = np.random.Generator(np.random.Philox(systems))
    statistics = rng.integers(0, 2, (50, systems))
    statistics[:25, -1] = statistics[25:, 0] = 1
    batches = FloatBatches(Draws(1, 50, n_draws), columns_of(statistics, n_draws))
    assert (None if batches._packed is None else len(batches._packed.words)) == words


@pytest.mark.parametrize("n_draws", [4095, 4096])
def test_the_largest_sums_are_exact(n_draws: int) -> None:
    # One unit, right in all systems: every sum is the number of draws, and all bits of a shared column are used.
    statistics = np.array([[1, 1, 0, 1], [1, 0, 1, 1]])
    draws = Draws(2, 2, n_draws)
    columns = columns_of(statistics, n_draws)
    product = FloatBatches(draws, columns).multiply(0, 20)
    weights = draw_weights(draws, 0, 20).astype(np.int64)
    sums = np.concatenate([product.narrow, product.sparse])[columns.recipe[:, 0]]
    np.testing.assert_array_equal(sums, (weights @ statistics).T)
    assert sums.max() == n_draws


def test_strata_share_columns_too() -> None:
    rng = np.random.Generator(np.random.Philox(4))
    statistics = rng.integers(0, 2, (90, 31))
    draws = StratifiedDraws(11, np.repeat([0, 1, 2], [20, 30, 40]))
    batches = FloatBatches(draws, columns_of(statistics, draws.n_draws))
    assert batches._packed is not None
    assert len(batches._packed.words) == 11
    weights = draw_stratified_weights(draws, 0, 12).astype(np.int64)
    np.testing.assert_array_equal(batches.multiply(0, 12).narrow, (weights @ statistics).T)
