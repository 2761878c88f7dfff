"""Many pairs at once are the pairs one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipeline.resampling.exact import pairs as exact_pairs
from pipeline.resampling.exact.bootstrap import bootstrap_chances
from pipeline.resampling.exact.budget import Budget
from pipeline.resampling.exact.flips import sign_flip_chances
from pipeline.resampling.exact.pairs import EXACT, compare_pairs


def all_pairs(systems):
    return np.stack(np.triu_indices(systems, 1), axis=1)


def one_by_one(numerators, pairs):
    logs = []
    for a, b in pairs.tolist():
        found = bootstrap_chances(numerators[:, a] - numerators[:, b])
        flipped = sign_flip_chances(numerators[:, a] - numerators[:, b])
        chances = [getattr(found, name) for name in EXACT[:5]]
        logs.append([chance.log10_p for chance in (*chances, flipped.two_sided)])
    return np.array(logs)


def assert_same_logs(one, other):
    np.testing.assert_array_equal(np.isneginf(one), np.isneginf(other))
    np.testing.assert_allclose(one[np.isfinite(one)], other[np.isfinite(other)], rtol=0, atol=1e-11)


@pytest.mark.parametrize("width", [1, 4, 30])
def test_a_batch_is_its_pairs_one_by_one(width):
    rng = np.random.default_rng(width)
    numerators = rng.binomial(width, np.clip(rng.random((300, 1)) + 0.1 * rng.normal(size=8), 0, 1))
    assert_same_logs(compare_pairs(numerators, all_pairs(8)).log10_p, one_by_one(numerators, all_pairs(8)))


@settings(max_examples=30, deadline=None, derandomize=True)
@given(numerators=arrays(np.int64, st.tuples(st.integers(1, 12), st.just(3)), elements=st.integers(-3, 3)))
def test_any_small_study_is_its_pairs_one_by_one(numerators):
    assert_same_logs(compare_pairs(numerators, all_pairs(3)).log10_p, one_by_one(numerators, all_pairs(3)))


@pytest.mark.parametrize("reach", [9000, 1500])  # too many differences for a histogram; too many terms for direct sums
def test_a_lattice_too_wide_for_the_kernel_is_computed_all_the_same(reach):
    numerators = np.random.default_rng(6).integers(0, reach, (60, 3))
    found = compare_pairs(numerators, all_pairs(3))
    assert np.isfinite(found.log10_p[:, 4]).all()
    np.testing.assert_array_equal(found.log10_p, one_by_one(numerators, all_pairs(3)))


def test_another_system_changes_no_bit_of_a_pair():
    rng = np.random.default_rng(2)
    numerators = rng.binomial(1, 0.7, (400, 5))
    wider = np.column_stack([numerators, rng.integers(-900, 900, 400)])
    alone, beside = compare_pairs(numerators, all_pairs(5)), compare_pairs(wider, all_pairs(5))
    assert alone.log10_p.tobytes() == beside.log10_p.tobytes()


def test_swapping_the_systems_of_a_pair_changes_no_bit_but_the_sign_of_the_gain():
    numerators = np.random.default_rng(9).binomial(3, 0.6, (250, 4))
    one, other = compare_pairs(numerators, all_pairs(4)), compare_pairs(numerators, all_pairs(4)[:, ::-1])
    assert one.log10_p.tobytes() == other.log10_p.tobytes()
    assert one.gain.all()
    np.testing.assert_array_equal(one.gain, -other.gain)
    np.testing.assert_array_equal(one.discordant, other.discordant)


def test_identical_systems_have_a_p_of_one():
    numerators = np.repeat([[1], [0], [1]], 2, axis=1)
    found = compare_pairs(numerators, np.array([[0, 1]]))
    np.testing.assert_array_equal(found.p, [[0, 1, 0, 1, 1, 1]])
    assert found.discordant.tolist() == [0]


def test_malformed_input_is_refused_with_both_numbers():
    with pytest.raises(ValueError, match="systems 0 to 2, and there are 2"):
        compare_pairs(np.zeros((3, 2), np.int64), np.array([[0, 2]]))
    with pytest.raises(ValueError, match=r"not \(3,\) and \(1, 2\)"):
        compare_pairs(np.zeros(3, np.int64), np.array([[0, 1]]))
    with pytest.raises(ValueError, match="do not fit"):
        compare_pairs(np.array([[2**61, -(2**61)]] * 3), np.array([[0, 1]]))
    assert exact_pairs.compare_pairs(np.zeros((3, 2), np.int64), np.zeros((0, 2), np.int64)).p.shape == (0, 6)


def test_unequal_denominators_are_the_pairs_one_by_one():
    rng = np.random.default_rng(11)
    c = rng.integers(0, 9, 90)
    numerators = rng.binomial(c[:, None], np.array([0.5, 0.55, 0.7]))
    found = compare_pairs(numerators, all_pairs(3), denominators=c)
    for logs, (a, b) in zip(found.log10_p, all_pairs(3).tolist(), strict=True):
        one = bootstrap_chances(numerators[:, a] - numerators[:, b], c)
        flipped = sign_flip_chances(numerators[:, a] - numerators[:, b])
        chances = [getattr(one, name) for name in EXACT[:5]]
        assert logs.tolist() == pytest.approx([chance.log10_p for chance in (*chances, flipped.two_sided)], rel=1e-14)
    assert (found.method == "exact").all()
    naive = compare_pairs(numerators, all_pairs(3))
    assert abs(naive.p[:, 0] - found.p[:, 0]).max() > 1e-4
    np.testing.assert_array_equal(naive.log10_p[:, 5], found.log10_p[:, 5])  # swaps leave C alone


def test_a_constant_denominator_changes_no_bit_and_zeros_everywhere_are_refused():
    numerators = np.random.default_rng(3).binomial(1, 0.6, (200, 4))
    one = compare_pairs(numerators, all_pairs(4))
    other = compare_pairs(numerators, all_pairs(4), denominators=np.full(200, 7))
    assert one.log10_p.tobytes() == other.log10_p.tobytes()
    with pytest.raises(ValueError, match="their sum 0"):
        compare_pairs(numerators, all_pairs(4), denominators=np.zeros(200, np.int64))
    with pytest.raises(ValueError, match=r"200 units have denominators of shape \(2,\)"):
        compare_pairs(numerators, all_pairs(4), denominators=np.array([1, 2]))


def test_wide_pairs_are_enclosed_and_labelled_and_a_smaller_budget_is_wider():
    rng = np.random.default_rng(12)
    numerators = rng.integers(0, 10**7, (400, 3)) + np.array([0, 3 * 10**5, 0])
    numerators[:, 2] = numerators[:, 0]
    numerators[:9, 2] += np.arange(1, 10) ** 7 * 1001  # nine discordant units
    quick = compare_pairs(numerators, all_pairs(3))
    hasty = compare_pairs(numerators, all_pairs(3), budget=Budget(frequencies=2**12))
    assert quick.method[:, 4].tolist() == ["enclosure"] * 3
    assert quick.method[:, 5].tolist() == ["enclosure", "exact", "enclosure"]
    for found in (quick, hasty):
        assert (found.low <= found.p).all()
        assert (found.p <= found.high).all()
    width, wider = (found.high[:, 4] - found.low[:, 4] for found in (quick, hasty))
    assert (width < 1e-3 * quick.p[:, 4]).all()
    assert (wider > 5 * width).all()
    assert (np.maximum(quick.low, hasty.low) <= np.minimum(quick.high, hasty.high)).all()
