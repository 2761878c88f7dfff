"""Swap masks: the readable definition, fair and independent bits, and fixed ones."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from scipy.special import chdtri

from pipeline.resampling import swaps
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.philox import philox
from pipeline.resampling.products.byte_product import pack_counts, quads_of, zero_counts
from pipeline.resampling.swaps import KeptSwaps, draw_swap, draw_swap_words, draw_swaps, spread_bits

FALSE_ALARM = 1e-6


@pytest.mark.parametrize("n_units", [1, 7, 8, 31, 32, 33, 64, 65, 128, 129, 2034])
@pytest.mark.parametrize("first", [0, 2**14 - 1, 2**32 - 70, 2**40 + 5])
def test_masks_of_a_batch_are_those_drawn_one_replicate_at_a_time(n_units, first):
    draws = Draws(0xFEDCBA9876543210, n_units, n_units)
    expected = np.array([draw_swap(draws, first + r) for r in range(133)])
    assert np.array_equal(draw_swaps(draws, first, 133), expected)
    words = draw_swap_words(draws, first, 133)
    unit = np.arange(n_units)
    assert np.array_equal((words[unit // 64] >> (unit % 64)[:, None].astype(np.uint64)).T & np.uint64(1), expected)


def test_a_unit_is_swapped_where_its_bit_of_the_word_at_its_counter_is_set():
    draws = Draws((0x299F31D0 << 32) | 0xA4093822, 300, 300)
    words = philox(np.array([2, 0x9ABCDEF0, 0x12345678, 0], np.uint32), np.array([0xA4093822, 0x299F31D0], np.uint32))
    mask = draw_swap(draws, 0x123456789ABCDEF0)
    assert mask[256:].tolist() == [bool(int(words[i // 32]) >> (i % 32) & 1) for i in range(44)]


def test_masks_do_not_depend_on_how_replicates_are_divided():
    draws = Draws(12, 150, 150)
    whole = draw_swaps(draws, 5, 200)
    parts = np.concatenate([draw_swaps(draws, 5, 1), draw_swaps(draws, 6, 130), draw_swaps(draws, 136, 69)])
    assert np.array_equal(whole, parts)


def test_writing_into_a_buffer_gives_the_same_masks_and_touches_no_other_row():
    draws = Draws(5, 20, 20)
    buffer = np.full((6, 20), -1.0, np.float32)
    swaps = draw_swaps(draws, 3, 4, out=buffer)
    assert np.array_equal(swaps, draw_swaps(draws, 3, 4))
    assert np.array_equal(buffer[:4], swaps)
    assert np.all(buffer[4:] == -1)


def test_words_beyond_the_units_are_zero():
    assert not draw_swap_words(Draws(5, 70, 70), 0, 9, n_words=8)[2:].any()


@pytest.mark.statistical
@pytest.mark.parametrize("n_units", [3, 100, 1023])
def test_units_are_swapped_half_of_the_time(n_units):
    """Pearson's chi-square of swaps and stays of each unit in 4000 replicates; false alarm 1e-6 per case."""
    swapped = draw_swaps(Draws(20240229, n_units, n_units), 0, 4000).sum(axis=0, dtype=np.float64)
    assert np.sum((swapped - 2000) ** 2 / 1000) < chdtri(n_units, FALSE_ALARM)


@pytest.mark.statistical
@pytest.mark.parametrize("lag", [1, 8, 32, 64, 128])
def test_units_and_successive_replicates_are_independent(lag):
    """Chi-square of agreement of bits ``lag`` units apart, and of replicates ``lag`` apart; false alarm 2e-6 per case."""
    swaps = draw_swaps(Draws(77, 300, 300), 0, 1500).astype(int)
    for one, other in ((swaps[:, :-lag], swaps[:, lag:]), (swaps[:-lag], swaps[lag:])):
        # Overlapping pairs of fair independent bits are pairwise independent: the statistic has the variance of distinct ones.
        joint = np.bincount((2 * one + other).ravel(), minlength=4)
        agreement = joint[0] + joint[3]
        assert (agreement - one.size / 2) ** 2 / (one.size / 4) < chdtri(1, FALSE_ALARM)


@pytest.mark.golden
def test_masks_have_the_bits_they_always_had():
    key = draw_key(seed=17, purpose="approximate-randomization", test_set="newstest «17»", size="full", rule="prefix")
    masks = draw_swaps(Draws(key, 899, 899), 2**32 - 8, 16).astype(np.uint8)
    assert hashlib.sha256(masks.tobytes()).hexdigest() == "53c47f46928eb35e8c80dbdadd91284bebc902303cf774f2e3935fcc9fea2876"


def test_impossible_masks_are_refused_with_their_numbers():
    with pytest.raises(ValueError, match="20 units have 20 draws, not 21"):
        draw_swaps(Draws(1, 20, 21), 0, 1)
    with pytest.raises(ValueError, match=r"\(2, 20\) swaps, \(3, 20\)"):
        draw_swaps(Draws(1, 20, 20), 0, 3, out=np.empty((2, 20), np.float32))
    with pytest.raises(ValueError, match="130 units need 3 words, not 2"):
        draw_swap_words(Draws(1, 130, 130), 0, 3, n_words=2)
    with pytest.raises(ValueError, match="-1"):
        draw_swap(Draws(1, 20, 20), -1)


@pytest.mark.parametrize("n_units", [1, 4, 63, 64, 65, 257])
@pytest.mark.parametrize("replicates", [1, 16, 33, 64])
def test_spread_bits_are_the_swaps(n_units: int, replicates: int) -> None:
    draws = Draws(5, n_units, n_units)
    masks = zero_counts(replicates, n_units)
    spread_bits(draw_swap_words(draws, 7, replicates), masks)
    swaps = draw_swaps(draws, 7, replicates)
    packed = pack_counts(swaps)
    rows = lambda counts: counts.transpose(0, 2, 1, 3).reshape(-1, 4 * quads_of(n_units))[:replicates, :n_units]  # noqa: E731
    np.testing.assert_array_equal(rows(masks), rows(packed))
    assert masks.max() <= 1


def test_kept_swaps_are_drawn_once_as_long_as_they_are_few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Draws, int, int]] = []
    monkeypatch.setattr(swaps, "draw_swaps", lambda *address: asked.append(address) or draw_swaps(*address))
    draws, kept = Draws(key=7, n_units=133, n_draws=133), KeptSwaps(most_bytes=150)  # 17 bytes a replicate
    for first, count in ((0, 5), (0, 5), (5, 4), (0, 5), (5, 4)):
        found = kept.draw(draws, first, count)
        assert found.dtype == np.uint8
        assert np.array_equal(found, draw_swaps(draws, first, count))
    assert [address[1:] for address in asked] == [(0, 5), (5, 4), (5, 4)]
