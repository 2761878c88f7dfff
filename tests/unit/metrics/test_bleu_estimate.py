"""BLEU in single precision is within its bound of BLEU, or absent, and has the same bits everywhere."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.metrics.bleu import Bleu

LARGEST = 2**24 - 1


def estimate(score, sums):
    """Estimate (10, replicate) sums as those of the first of a pair, which has nothing and is given them by the second."""
    totals = np.zeros((2, 10), np.float32)
    totals[1] = LARGEST
    moved = np.stack([np.zeros_like(sums), sums]).astype(np.float32)
    out = np.empty((2, sums.shape[1]), np.float32)
    score.estimate_swaps(totals, moved, np.array([[0, 1]]), 0, out)
    return out.astype(float)


def assert_within_bound(score, sums):
    """Hold both systems' estimates to their scores: the second is left with what the first has not."""
    for found, held in zip(estimate(score, sums), (sums, LARGEST - sums), strict=True):
        wanted = score(held.astype(np.float64))
        there = np.isfinite(found)
        assert np.all(np.abs(found - wanted)[there] <= score.relative_error * found[there])
        ordinary = (held > 0).all(axis=0) & (held[1] <= 2 * held[0] * (1 - 1e-6)) & (held[2:6].prod(axis=0, dtype=float) > 1e6)
        assert there[ordinary].all()
        assert not np.isfinite(found[(held[[0, 2, 6]] == 0).any(axis=0)]).any()


def scorer(added):
    return Bleu(smooth="add-k", smooth_value=added).scorer((0,) * 10) if added else Bleu().scorer((0,) * 10)


@given(
    st.integers(0, 2**32),
    st.sampled_from([1.5, 10.0, 1e3, 1e5, float(LARGEST)]),
    st.sampled_from([0.0, 1.0, 0.1, 1e-7, 1e6]),
    st.sampled_from(["any", "same length", "short", "text"]),
)
@settings(max_examples=150, deadline=None)
def test_estimates_are_within_their_bound(seed, largest, added, kind):
    """Counts of every size, n-grams fewer than matches among them, and brevity from nothing to e^-1."""
    rng = np.random.default_rng(seed)
    sums = np.floor(np.exp(rng.uniform(-0.5, np.log(largest), (10, 1500)))).astype(np.int64)
    if kind == "same length":
        sums[1] = np.clip(sums[0] + rng.integers(-2, 3, sums.shape[1]), 0, LARGEST)
    elif kind == "short":
        sums[1] = np.minimum(sums[0] * rng.uniform(0.9, 2.1, sums.shape[1]), LARGEST)
    elif kind == "text":
        sums[6:] = np.maximum(sums[0] - np.arange(4)[:, None] * rng.integers(0, 3000), 0)
        sums[2:6] = sums[6:] * rng.uniform(0.05, 0.9, (4, sums.shape[1])) ** np.arange(1, 5)[:, None]
    assert_within_bound(scorer(added), sums)


def test_the_bound_is_about_what_occurs():
    """A bound of a thousand times the error would be true, and score replicates for nothing."""
    rng = np.random.default_rng(1)
    sums = rng.integers(10_000, 60_000, (10, 200_000))
    sums[1] = sums[0] * rng.uniform(1.0, 1.9, sums.shape[1])
    score = scorer(0.1)
    error = np.abs(estimate(score, sums)[0] / score(sums.astype(np.float64)) - 1.0).max()
    assert score.relative_error / 8 < error < score.relative_error


@pytest.mark.parametrize("zero", [0, 2, 3, 4, 5, 6, 7, 8, 9])
def test_what_has_a_rule_of_its_own_has_no_estimate(zero):
    sums = np.full((10, 40), 1000)
    sums[zero, 7] = 0
    found = estimate(scorer(0.0), sums)[0]
    assert np.flatnonzero(~np.isfinite(found)).tolist() == [7]


def test_an_output_below_half_the_reference_has_no_estimate():
    sums = np.full((10, 3), 1000)
    sums[1] = [1999, 2000, 2003]
    assert np.isfinite(estimate(scorer(0.0), sums)[0]).tolist() == [True, True, False]


@pytest.mark.parametrize(("added", "bounded"), [(2.0**-24, True), (2.0**-25, False), (2.0**24 - 1, True), (2.0**24, False)])
def test_constants_beyond_the_argument_have_no_bound(added, bounded):
    assert np.isfinite(scorer(added).relative_error) == bounded


def test_a_floor_is_not_added():
    score = Bleu(smooth="floor", smooth_value=1e-30).scorer((0,) * 10)
    assert score.relative_error == scorer(0.0).relative_error
    assert replace(score, smooth_value=0.1) != score
    assert_within_bound(score, np.random.default_rng(0).integers(0, 5000, (10, 2000)))


@pytest.mark.golden
def test_estimates_have_the_bits_they_always_had():
    place, statistic = np.arange(3000), np.arange(10)[:, None]
    sums = 20_000 + (place * 7919 + statistic * 104729 + place * statistic * 613) % 9973 - 1500 * (statistic % 4)
    sums[1] += 4 * place  # penalties down to e^-1
    digests = [hashlib.sha256(estimate(scorer(added), sums).astype("<f8").tobytes()).hexdigest()[:16] for added in (0.0, 0.1)]
    assert digests == ["dbf880e32c4b3fd0", "4e3e28a0e1d1364b"]


def step_by_step(sums, added):
    """The estimate as written in the module's docstring, an operation of single precision at a time."""
    one, half, more = np.float32(1), np.float32(0.5), np.float32(added)
    length, reference, *rest = sums.astype(np.float32)
    (c1, c2, c3, c4), (d1, d2, d3, d4) = rest[:4], rest[4:]
    matched, counted = ((w * (x + more)) * ((y + more) * (z + more)) for w, x, y, z in ((c1, c2, c3, c4), (d1, d2, d3, d4)))
    inverse = one / (counted * length)
    ratio = (matched * length) * inverse
    x = ((length - reference) * counted) * inverse
    t = half * np.minimum(x, np.float32(0))
    tail = np.float32(1 / 40320)
    for power in (5040, 720, 120, 24, 6, 2):
        tail = tail * t + np.float32(1 / power)
    root = one + (t + (t * t) * tail)
    found = (np.float32(100) * np.sqrt(np.sqrt(ratio))) * (root * root)
    return np.where((ratio >= np.float32(2.0**-100)) & (x >= -one), found, np.float32(np.nan))


@pytest.mark.parametrize("replicates", [1, 15, 16, 17, 31, 255, 256, 257, 300, 530])
@pytest.mark.parametrize("added", [0.0, 0.1])
def test_any_number_of_replicates_from_anywhere_has_the_bits_of_the_definition(replicates, added):
    rng = np.random.default_rng(replicates)
    totals = rng.integers(2000, 9000, (4, 10)).astype(np.float32)
    moved = rng.integers(0, 1500, (4, 10, replicates + 40)).astype(np.float32)
    rows, start = np.array([[0, 3], [2, 1], [1, 1]]), 24
    out = np.empty((6, replicates), np.float32)
    scorer(added).estimate_swaps(totals, moved, rows, start, out)
    for pair, (a, b) in enumerate(rows.tolist()):
        move = (moved[b] - moved[a])[:, start : start + replicates]
        for side, sums in enumerate((totals[a][:, None] + move, totals[b][:, None] - move)):
            assert out[2 * pair + side].tobytes() == step_by_step(sums, added).tobytes()


def test_sums_that_are_not_there_are_refused():
    out = np.empty((2, 20), np.float32)
    for width, start in ((25, 6), (19, 0)):
        with pytest.raises(ValueError, match="replicates from"):
            scorer(0.0).estimate_swaps(np.ones((2, 10)), np.ones((2, 10, width)), np.array([[0, 1]]), start, out)
