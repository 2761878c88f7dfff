"""Whole gains compared as bytes: what `compare_values` counts replicate by replicate, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.whole_gains import empty_tally, thresholds

from pipeline.resampling.address import CELL
from pipeline.resampling.comparison.compare import Thresholds, compare_values, fold_lanes
from pipeline.resampling.comparison.compare_bytes import GainBytes, count_whole_gains
from pipeline.resampling.comparison.compare_integers import GainTables

ROWS = 5
PAIRS = np.stack(np.triu_indices(ROWS, 1), axis=1)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    step=st.sampled_from([1, 3]),
    spread=st.sampled_from([0.3, 2.0, 11.0, 28.0]),
    gains=st.sampled_from([0, 3, 127, 130, 5000]),
    margin=st.booleans(),
    lengths=st.lists(st.sampled_from([1, 63, 64, 65, 128, 2048, 2080, 4096]), min_size=1, max_size=4),
)
def test_bytes_say_what_every_replicate_says(
    seed: int, step: int, spread: float, gains: int, margin: bool, lengths: list[int]
) -> None:
    rng = np.random.default_rng(seed)
    limits = thresholds(rng, rows=ROWS, step=step, spread=spread, gains=gains, margin=margin)
    counter = GainBytes.of(limits, largest_sum=step * (2**14 - 1))
    assert counter is not None
    plain, read = empty_tally(len(PAIRS)), empty_tally(len(PAIRS))
    for cell in range(2):
        for length in lengths:
            values = np.rint(100 + spread / 1.5 * rng.normal(size=(ROWS, length)))
            # Gains at the ends of a byte and beyond, around δ of the first pair.
            far = rng.integers(ROWS, size=6), rng.integers(length, size=6)
            values[far] += rng.choice([-129, -128, -127, 126, 127, 128, 129, 400, -9000, 9000], 6)
            values *= step
            compare_values(values, limits, plain, cell)
            counter.add(values, read, cell)
        counter.close(read, cell)
    np.testing.assert_array_equal(plain.counts, read.counts)
    np.testing.assert_array_equal(plain.histogram, read.histogram)
    np.testing.assert_array_equal(fold_lanes(plain.lanes), fold_lanes(read.lanes))
    assert (read.histogram.sum(axis=2) == sum(lengths)).all()


@pytest.mark.parametrize("center", [0, 40, 3000])
def test_every_distance_of_a_byte_and_beyond_is_told_apart(center: int) -> None:
    """Each of 600 gains around δ once, with a bin for every third of them."""
    gains = center + np.arange(-300.0, 300.0)
    values = np.ascontiguousarray(np.stack([gains, np.zeros(600)]))
    none, one = np.zeros(0), np.ones(1)
    low = np.array([[0.0, center, 2.0 * center]])
    places = np.zeros(1, np.int64)
    limits = Thresholds(places, places, places + 1, low, low, center * one, one / 3, none, none, one)
    counter, plain, read = GainBytes.of(limits, largest_sum=9999), empty_tally(1), empty_tally(1)
    assert counter is not None
    compare_values(values, limits, plain, 0)
    counter.add(values, read, 0)
    counter.close(read, 0)
    assert (plain.histogram[0, 0, 10:80] == 3).all()
    np.testing.assert_array_equal(plain.histogram, read.histogram)
    np.testing.assert_array_equal(plain.counts, read.counts)
    np.testing.assert_array_equal(fold_lanes(plain.lanes), fold_lanes(read.lanes))


def test_a_cell_of_equal_gains_does_not_overflow() -> None:
    none, one, places = np.zeros(0), np.ones(1), np.zeros(1, np.int64)
    for gain in (-128, 127, 126):
        limits = Thresholds(places, places, places + 1, np.zeros((1, 3)), np.zeros((1, 3)), 0 * one, one, none, none, one)
        counter, plain, read = GainBytes.of(limits, largest_sum=200), empty_tally(1), empty_tally(1)
        assert counter is not None
        values = np.stack([np.full(CELL, float(gain)), np.zeros(CELL)])
        compare_values(values, limits, plain, 0)
        counter.add(values, read, 0)
        counter.close(read, 0)
        np.testing.assert_array_equal(plain.counts, read.counts)
        np.testing.assert_array_equal(plain.histogram, read.histogram)
        np.testing.assert_array_equal(fold_lanes(plain.lanes), fold_lanes(read.lanes))


def test_what_does_not_fit_a_byte_is_counted_otherwise() -> None:
    limits = thresholds(np.random.default_rng(1), rows=ROWS, step=2, spread=5.0, gains=15, margin=False)
    assert GainBytes.of(limits, largest_sum=2**15 - 1) is not None
    assert GainBytes.of(limits, largest_sum=2**15) is None  # 2^14 steps
    assert GainBytes.of(limits._replace(center=limits.center + 0.5), largest_sum=9) is None
    assert GainBytes.of(limits._replace(center=limits.center + 2.0**15), largest_sum=9) is None
    assert GainBytes.of(limits._replace(step=np.arange(1.0, len(limits.step) + 1)), largest_sum=9) is None
    assert GainBytes.of(limits._replace(bin_scale=limits.bin_scale / 10), largest_sum=9) is None
    assert GainBytes.of(limits._replace(center=limits.center - 99), largest_sum=9) is None
    wide = limits._replace(bin_scale=limits.bin_scale / 10)
    for chosen, replicates, kind in ((limits, 10**9, GainBytes), (limits, 10**7, GainTables), (wide, 10**9, GainTables)):
        assert type(count_whole_gains(chosen, largest_sum=9, batch=2048, replicates=replicates)) is kind
