"""What units that are not multiplied are worth at least: never more than they are, and most of what can be known."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.resampling.draws import Draws, draw_weights
from pipeline.resampling.standard_errors.heavy_units import count_rare, ends_of, floors_of, heaviest_first


def floor_of(bits, weights, first):
    """Return (pair, replicate) floors."""
    once, twice, whole = floors_of(bits, first).T[:, :, None]
    never, hardly = count_rare(weights, first)
    return whole - once * never - twice * hardly


def least_of(bits, weights):
    """Return (pair, replicate) the least sum there can be: the unit drawn most has the smallest number, and so on."""
    return np.sort(bits, axis=1).astype(np.float64) @ -np.sort(-weights.astype(np.float64), axis=1).T


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.floats(0.1, 8), st.sampled_from([np.uint8, np.float32]))
@settings(max_examples=200, deadline=None)
def test_a_floor_is_never_above_the_least_sum_there_can_be(seed, units, heavy, kind) -> None:
    rng = np.random.default_rng(seed)
    bits = np.minimum(rng.gamma(1 / heavy, 900, (130, units)), 16383).astype(np.int16)
    weights, first = rng.poisson(rng.uniform(0.2, 3), (9, units)).astype(kind), int(rng.integers(units))
    assert np.all(floor_of(bits, weights, first) <= least_of(bits[:, first:], weights[:, first:]))


def test_a_floor_is_most_of_the_least_sum_there_can_be() -> None:
    rng, units = np.random.default_rng(4), 2000
    weights = draw_weights(Draws(3, units, units), 0, 50)
    bits = np.minimum(rng.chisquare(1, (200, units)) * 900, 16383).astype(np.int16)
    share = floor_of(bits, weights, 500) / least_of(bits[:, 500:], weights[:, 500:])
    assert 0.9 < share.min() < share.max() <= 1


@pytest.mark.parametrize("bits", [np.zeros((3, 8), np.int16), np.full((3, 8), 16383, np.int16)])
def test_pairs_whose_units_are_alike_have_the_floor_that_draws_have(bits) -> None:
    weights = np.array([[0, 1, 2, 2, 0, 1, 1, 1], [8, 0, 0, 0, 0, 0, 0, 0]], np.uint8)
    assert floor_of(bits, weights, 0).tolist() == [[8.0 * int(bits[0, 0]), 2.0 * int(bits[0, 0])]] * 3


def test_units_come_by_the_squares_of_all_pairs_and_those_alike_in_their_order() -> None:
    centred = np.random.default_rng(5).normal(size=(6, 30)) * np.arange(1, 31)
    centred[:, 7] = centred[:, 22]
    squares = sum((centred[a] - centred[b]) ** 2 for a, b in combinations(range(6), 2))
    order = heaviest_first(centred)
    assert sorted(order.tolist()) == list(range(30))
    assert np.all(np.diff(squares[order]) <= 1e-9 * squares.max())
    assert order.tolist().index(7) + 1 == order.tolist().index(22)


def test_a_quarter_a_half_or_all_units_may_be_enough_and_one_at_least() -> None:
    assert [ends_of(units) for units in (2, 3, 8, 2034)] == [(1, 1, 2), (1, 1, 3), (2, 4, 8), (508, 1017, 2034)]
