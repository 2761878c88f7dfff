"""Draws: the readable definition, uniformity, and fixed bits."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from scipy.special import chdtri

from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws, draw_order, draw_units, draw_weights
from pipeline.resampling.philox import philox

FALSE_ALARM = 1e-6


@pytest.mark.parametrize(("n_units", "n_draws"), [(1, 1), (7, 5), (100, 102), (33, 128), (2034, 2035), (5, 3)])
@pytest.mark.parametrize("first", [0, 2**14 - 1, 2**32 - 2, 2**40 + 5])
def test_weights_are_the_counts_of_the_units_drawn_one_replicate_at_a_time(n_units, n_draws, first):
    draws = Draws(0xFEDCBA9876543210, n_units, n_draws)
    weights = draw_weights(draws, first, 4)
    expected = [np.bincount(draw_units(draws, first + r), minlength=n_units) for r in range(4)]
    assert np.array_equal(weights, expected)


def test_a_draw_is_the_word_at_its_counter_times_n_over_two_to_the_32():
    draws = Draws((0x299F31D0 << 32) | 0xA4093822, 1000, 11)
    words = philox(np.array([2, 0x9ABCDEF0, 0x12345678, 0], np.uint32), np.array([0xA4093822, 0x299F31D0], np.uint32))
    assert draw_units(draws, 0x123456789ABCDEF0)[8:].tolist() == [int(w) * 1000 >> 32 for w in words[:3]]


@pytest.mark.statistical
@pytest.mark.parametrize("n_units", [3, 100, 1023])
def test_units_are_drawn_equally_often(n_units):
    """Pearson's chi-square of the counts of 2000 replicates; false alarm 1e-6 per case."""
    totals = draw_weights(Draws(20240229, n_units, n_units), 0, 2000).sum(axis=0, dtype=np.float64)
    expected = 2000.0
    assert np.sum((totals - expected) ** 2 / expected) < chdtri(n_units - 1, FALSE_ALARM)


@pytest.mark.statistical
def test_successive_draws_and_successive_replicates_are_independent():
    """Chi-square of 36 joint frequencies of draws j, j + 1 and of replicates r, r + 1; false alarm 2e-6 together."""
    drawn = np.stack([draw_units(Draws(77, 6, 48), r) for r in range(1500)])
    for one, next_one in ((drawn[:, 0::2], drawn[:, 1::2]), (drawn[0::2], drawn[1::2])):
        joint = np.bincount((one * 6 + next_one).ravel(), minlength=36)
        expected = one.size / 36
        assert np.sum((joint - expected) ** 2 / expected) < chdtri(35, FALSE_ALARM)


@pytest.mark.golden
def test_draws_have_the_bits_they_always_had():
    key = draw_key(seed=17, purpose="paired-bootstrap", test_set="newstest «17»", size="full", rule="units")
    weights = draw_weights(Draws(key, 899, 899), 2**32 - 8, 16)
    assert key == 0x20441D51BF51D994
    assert (
        hashlib.sha256(weights.astype("<f4").tobytes()).hexdigest()
        == "c5124026b6ff6147339089f5ccf0f43c2c003e199fc0d916ffbc4d517d5d37c3"
    )


def test_writing_into_a_buffer_gives_the_same_weights_and_touches_no_other_row():
    draws = Draws(5, 20, 20)
    buffer = np.full((6, 20), -1.0, np.float32)
    weights = draw_weights(draws, 3, 4, out=buffer)
    assert np.array_equal(weights, draw_weights(draws, 3, 4))
    assert np.array_equal(buffer[:4], weights)
    assert np.all(buffer[4:] == -1)


@pytest.mark.parametrize("changed", [{"key": -1}, {"key": 2**64}, {"n_units": 0}, {"n_draws": 0}, {"n_units": 2**31}])
def test_impossible_draws_are_refused(changed):
    with pytest.raises(ValueError, match=str(next(iter(changed.values())))):
        Draws(**({"key": 1, "n_units": 2, "n_draws": 2} | changed))


def test_more_draws_than_float32_counts_are_refused_with_both_numbers():
    with pytest.raises(ValueError, match=r"16777216 draws, not 16777217"):
        draw_weights(Draws(1, 2, 2**24 + 1), 0, 1)


@pytest.mark.statistical
def test_orders_are_permutations_and_every_one_is_as_likely():
    """Chi-square of the 24 orders of four units over 6000 keys; false alarm 1e-6."""
    orders = np.array(
        [draw_order(draw_key(seed=s, purpose="order", test_set="t", size="full", rule="order"), 4) for s in range(6000)]
    )
    assert (np.sort(orders, axis=1) == np.arange(4)).all()
    counts = np.unique(orders @ (4 ** np.arange(4)), return_counts=True)[1]
    assert len(counts) == 24
    assert np.sum((counts - 250.0) ** 2 / 250.0) < chdtri(23, FALSE_ALARM)
    assert sorted(draw_order(2**64 - 1, 1001).tolist()) == list(range(1001))
