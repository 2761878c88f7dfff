"""Permutations, runs and shuffles are drawn with equal chances, by address."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare

from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.permutations import draw_orders, draw_permutations, draw_runs
from pipeline.resampling.replicas.shuffles import draw_shuffle

FALSE_ALARM = 1e-6
ADDRESS = Draws(key=9, n_units=3000, n_draws=3000)


def assert_even(codes, many):
    counts = np.bincount(codes, minlength=many)
    assert len(counts) == many
    assert chisquare(counts).pvalue > FALSE_ALARM


def codes_of(rows):
    number = {order: place for place, order in enumerate(permutations(range(rows.shape[1])))}
    return [number[tuple(row)] for row in rows.tolist()]


@pytest.mark.statistical
@pytest.mark.parametrize("places", [2, 3, 5])
def test_all_permutations_are_equally_likely(places):
    many = len(list(permutations(range(places))))
    assert_even(codes_of(draw_permutations(ADDRESS, 2**33 + 1, places)), many)
    assert_even(codes_of(draw_orders(ADDRESS, 5, 3000, places)), many)


def test_an_order_is_the_permutation_of_the_first_unit():
    for replicate in (0, 77, 2**40):
        order = draw_orders(ADDRESS, replicate, 1, 6)[0]
        np.testing.assert_array_equal(order, draw_permutations(ADDRESS, replicate, 6)[0])


@pytest.mark.statistical
def test_the_runs_of_both_sides_are_drawn_apart():
    first, second = (draw_runs(ADDRESS, 0, 8000, 3, side=side) for side in range(2))
    assert_even((9 * first[:, 0] + 3 * first[:, 2] + second[:, 0]), 27)
    np.testing.assert_array_equal(draw_runs(ADDRESS, 100, 50, 3, side=1), second[100:150])
    assert (draw_runs(ADDRESS, 0, 20, 1, side=0) == 0).all()


@pytest.mark.statistical
def test_coins_of_a_shuffle_do_not_depend_on_its_permutation():
    swapped, order = draw_shuffle(ADDRESS, 3, 3)
    assert_even(np.array(codes_of(order)) * 8 + swapped @ np.array([1, 2, 4]), 48)


def test_a_shuffle_of_many_runs_has_a_coin_for_each():
    swapped, order = draw_shuffle(ADDRESS, 3, 40)  # coins of more than one word
    assert np.abs(swapped.mean(axis=0) - 0.5).max() < 5.5 * 0.5 / np.sqrt(3000)  # 1e-6 over forty
    assert (np.sort(order, axis=1) == np.arange(40)).all()
