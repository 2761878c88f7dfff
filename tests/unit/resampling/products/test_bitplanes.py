"""Sums by counting bits are the integers that the matrix product gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.resampling.draws import Draws
from pipeline.resampling.products import bitplanes
from pipeline.resampling.products.bitplanes import BitPlanes, pad_words, plan_swap_product
from pipeline.resampling.products.contract import plan_contraction
from pipeline.resampling.swaps import draw_swap_words, draw_swaps


def sums(columns, draws, replicates):
    masks = draw_swap_words(draws, 3, replicates, n_words=pad_words(draws.n_units))
    out = np.empty((len(columns), replicates))
    BitPlanes.of(columns).sum_over(masks, out)
    return out


@settings(max_examples=60, deadline=None)
@given(
    n_units=st.sampled_from([1, 2, 63, 64, 65, 511, 512, 513, 700]),
    bits=st.integers(0, 40),
    is_signed=st.booleans(),
    replicates=st.sampled_from([1, 63, 64, 65, 200]),
    seed=st.integers(0, 2**32 - 1),
)
def test_sums_are_those_of_integer_arithmetic(n_units, bits, is_signed, replicates, seed):
    columns = np.random.default_rng(seed).integers(-(2**bits) if is_signed else 0, 2**bits, (3, n_units), endpoint=True)
    draws = Draws(seed, n_units, n_units)
    expected = columns @ draw_swaps(draws, 3, replicates).astype(np.int64).T
    assert np.array_equal(sums(columns, draws, replicates), expected)


@pytest.mark.parametrize("values", [[0, 0], [-1, -1], [-8, 7], [-8, 8], [2**52 - 1, -(2**52)], [1, 2**52]])
def test_edges_of_two_s_complement_are_exact(values):
    draws = Draws(9, 2, 2)
    expected = np.array([values]) @ draw_swaps(draws, 3, 64).astype(np.int64).T
    assert np.array_equal(sums(np.array([values]), draws, 64), expected)


def test_a_product_has_the_bits_of_the_matrix_product():
    rng = np.random.default_rng(4)
    unit = np.arange(1300)
    sparse = [np.where(unit % 90 == 7, rng.integers(-3, 4, 1300), 0), np.where(unit % 17 == 2, -5, 0), np.zeros(1300, np.int64)]
    columns = [np.where(unit % 8 == 1, 0, rng.integers(0, 50, 1300)), *sparse, rng.integers(0, 2**30, 1300)]
    contraction = plan_contraction(columns, n_units=1300, n_draws=1300)
    draws = Draws(31, 1300, 1300)
    product = plan_swap_product(contraction).multiply(draw_swap_words(draws, 0, 100, n_words=pad_words(1300)))
    expected = contraction.multiply(draw_swaps(draws, 0, 100))
    assert len(contraction.units) > 64, "a second word of chosen units is needed"
    assert len(contraction.sparse) == 3
    assert len(contraction.wide) == 1
    for name in ("narrow", "sparse", "wide"):
        one, other = getattr(product, name), getattr(expected, name)
        assert one.dtype == other.dtype
        assert np.array_equal(one, other), name


def test_masks_of_too_few_words_are_refused():
    with pytest.raises(ValueError, match="masks have 2 words, columns have 8"):
        BitPlanes.of(np.ones((1, 100), np.int64)).sum_over(np.zeros((2, 5), np.uint64), np.empty((1, 5)))


def test_columns_have_masks_of_their_own_and_may_be_named_twice():
    columns = np.random.default_rng(6).integers(-9, 40, (3, 130))
    draws = Draws(5, 6 * 64, 6 * 64)
    masks = draw_swap_words(draws, 0, 70, n_words=3 + pad_words(130))
    apart = draw_swaps(draws, 0, 70).astype(np.int64).reshape(70, 2, 192)[:, :, :130]  # those of either run
    out = np.empty((4, 70))
    BitPlanes.of(columns).take(np.array([2, 0, 0, 1])).sum_over(masks, out, np.array([0, 0, 3, 3]))
    assert np.array_equal(out[:2], columns[[2, 0]] @ apart[:, 0].T)
    assert np.array_equal(out[2:], columns[[0, 1]] @ apart[:, 1].T)
    with pytest.raises(ValueError, match="masks have 11 words, columns have 12"):
        BitPlanes.of(columns).sum_over(masks, out[:3], np.array([0, 0, 4]))


def test_more_bits_than_are_taken_apart_at_once_are_all_taken():
    columns = np.random.default_rng(2).integers(0, 2**20, (5, 3000))
    assert columns.size * 20 > 2 * bitplanes._TAKEN_APART
    masks = np.full((pad_words(3000), 1), 2**64 - 1, np.uint64)
    out = np.empty((5, 1))
    BitPlanes.of(columns).sum_over(masks, out)
    assert np.array_equal(out[:, 0], columns.sum(axis=1))
