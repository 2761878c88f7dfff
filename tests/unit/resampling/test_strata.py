"""Draws within strata: definition, fixed bits, uniformity, what they take out of the variance, and that a pass takes them."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import chdtri
from support import small_measures as small

from pipeline.resampling import resample as passing
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws, draw_units, draw_weights
from pipeline.resampling.strata import StratifiedDraws, draw_stratified_units, draw_stratified_weights, stratified_key

FALSE_ALARM = 1e-6
MIXED = np.array([2, 0, 0, 1, 2, 0, 3, 0, 2, 3, 0])
WHERE = {"seed": 17, "purpose": "paired-bootstrap", "test_set": "newstest «17»", "size": "full", "rule": "units"}


def strata(*sizes):
    return np.repeat(np.arange(len(sizes)), sizes).astype(np.int64)


@pytest.mark.parametrize("stratum", [MIXED, strata(1), strata(1, 1, 1), strata(5, 3), strata(33, 1, 95), strata(500, 400)])
@pytest.mark.parametrize("first", [0, 2**32 - 2, 2**40 + 5])
def test_weights_are_the_counts_of_the_units_drawn_one_replicate_at_a_time(stratum, first):
    draws = StratifiedDraws(0xFEDCBA9876543210, stratum)
    weights = draw_stratified_weights(draws, first, 4)
    expected = [np.bincount(draw_stratified_units(draws, first + r), minlength=len(stratum)) for r in range(4)]
    assert weights.dtype == np.float32
    assert np.array_equal(weights, expected)


def test_every_replicate_has_as_many_draws_of_a_stratum_as_it_has_units():
    weights = draw_stratified_weights(StratifiedDraws(9, MIXED), 0, 500)
    for h in range(4):
        assert np.all(weights[:, h == MIXED].sum(axis=1) == np.sum(h == MIXED))


def test_a_unit_alone_in_its_stratum_is_drawn_once_and_counted_as_fixed():
    draws = StratifiedDraws(9, MIXED)
    assert np.all(draw_stratified_weights(draws, 0, 100)[:, 3] == 1)
    assert draws.fixed == 1


def test_one_stratum_is_the_plain_draw_of_the_same_key():
    for replicate in (0, 7, 2**33):
        one = draw_stratified_units(StratifiedDraws(123, strata(50)), replicate)
        assert np.array_equal(one, draw_units(Draws(123, 50, 50), replicate))


def test_batches_of_any_length_give_the_same_bits():
    draws = StratifiedDraws(5, MIXED)
    whole = draw_stratified_weights(draws, 3, 40)
    parts = np.concatenate([draw_stratified_weights(draws, 3 + start, min(7, 40 - start)) for start in range(0, 40, 7)])
    assert whole.tobytes() == parts.tobytes()
    buffer = np.full((6, len(MIXED)), -1.0, np.float32)
    assert np.array_equal(draw_stratified_weights(draws, 3, 4, out=buffer), whole[:4])
    assert np.all(buffer[4:] == -1)


def test_the_key_knows_the_partition_and_not_its_names():
    key = stratified_key(**WHERE, stratum=MIXED)
    assert key == stratified_key(**WHERE, stratum=np.array([50, 10, 20, 30])[MIXED])
    assert key == stratified_key(**WHERE, stratum=MIXED.astype(np.int32))
    moved = MIXED.copy()
    moved[0] = 0
    assert key != stratified_key(**WHERE, stratum=moved)
    # No plain stream is met again, not even where there is one stratum.
    assert stratified_key(**WHERE, stratum=strata(11)) != draw_key(**WHERE)


@pytest.mark.golden
def test_stratified_draws_have_the_bits_they_always_had():
    stratum = (np.arange(899) * 7 % 31 % 12).astype(np.int64)
    key = stratified_key(**WHERE, stratum=stratum)
    weights = draw_stratified_weights(StratifiedDraws(key, stratum), 2**32 - 8, 16)
    assert key == 0xB30BAB9A15D6C0FB
    assert (
        hashlib.sha256(weights.astype("<f4").tobytes()).hexdigest()
        == "285ab555906f42c789ad55e270373f5835c8eb2b1b58dd6e8b54f2a398901e69"
    )


@pytest.mark.statistical
def test_units_of_a_stratum_are_drawn_equally_often():
    """Pearson's chi-square within each of three strata, 3000 replicates: 2 + 39 + 199 degrees; false alarm 1e-6."""
    stratum = np.random.default_rng(2).permutation(strata(3, 40, 200))
    totals = draw_stratified_weights(StratifiedDraws(20240229, stratum), 0, 3000).sum(axis=0, dtype=np.float64)
    assert np.sum((totals - 3000) ** 2 / 3000) < chdtri(3 - 1 + 40 - 1 + 200 - 1, FALSE_ALARM)


@pytest.mark.statistical
def test_strata_take_what_lies_between_them_out_of_the_variance():
    """Var of Σwx is Σ_h n_h σ_h², plain n σ²; a sample variance of 20 000 has a relative sd of .01, 6 of them 2e-9."""
    rng = np.random.default_rng(3)
    stratum = strata(2, 30, 68)
    x = rng.normal(size=100) + np.array([0.0, 3.0, -1.0])[stratum]
    within = sum(np.sum(stratum == h) * x[stratum == h].var() for h in range(3))
    stratified = (draw_stratified_weights(StratifiedDraws(1, stratum), 0, 20_000) @ x).var()
    plain = (draw_weights(Draws(1, 100, 100), 0, 20_000) @ x).var()
    assert stratified == pytest.approx(within, rel=0.06)
    assert plain == pytest.approx(100 * x.var(), rel=0.06)
    assert within < 0.4 * 100 * x.var()


def test_a_pass_takes_them_in_place_of_plain_draws():
    """The same counts as by the definition, one replicate at a time."""
    stratum = np.random.default_rng(4).permutation(strata(1, 9, 30))
    draws, measure = (
        StratifiedDraws(77, stratum),
        replace(small.make_measure(small.accuracy_statistics(40, 4, 1)), stratum=stratum),
    )
    (found,) = passing.resample(draws, [measure], cells=range(1), replicates=300)
    seen = passing.observe(measure)
    samples = np.stack([draw_stratified_units(draws, r) for r in range(300)])
    for pair, (a, b) in enumerate(measure.pairs):
        gain = measure.statistics[samples, a, 0].sum(axis=1) - measure.statistics[samples, b, 0].sum(axis=1)
        whole = measure.statistics[:, a, 0].sum() - measure.statistics[:, b, 0].sum()
        sign = -1 if seen.delta[pair] < 0 else 1
        assert found.counts[pair, 0, 0] == np.sum(sign * gain < 0)
        assert found.counts[pair, 0, 5] == np.sum(sign * gain > 2 * sign * whole)


@pytest.mark.parametrize("given", [None, MIXED[::-1].copy()])
def test_a_pass_refuses_errors_of_another_law(given):
    measure = small.make_measure(small.accuracy_statistics(len(MIXED), 3, 1))
    with pytest.raises(ValueError, match="different strata"):
        passing.resample(StratifiedDraws(7, MIXED), [replace(measure, stratum=given)], cells=range(1), replicates=10)
    with pytest.raises(ValueError, match="different strata"):
        passing.resample(Draws(7, len(MIXED), len(MIXED)), [replace(measure, stratum=MIXED)], cells=range(1), replicates=10)


@pytest.mark.parametrize(
    ("key", "stratum", "words"),
    [(-1, strata(2), "64 bits"), (1, np.array([0, 2]), "without a gap"), (1, np.zeros(0, np.int64), "one dimension")],
)
def test_impossible_strata_are_refused(key, stratum, words):
    with pytest.raises(ValueError, match=words):
        StratifiedDraws(key, stratum)


def test_impossible_replicates_and_buffers_are_refused():
    draws = StratifiedDraws(1, strata(2, 3))
    with pytest.raises(ValueError, match="replicates -1"):
        draw_stratified_weights(draws, -1, 2)
    with pytest.raises(ValueError, match=r"\(2, 4\) weights, \(2, 5\)"):
        draw_stratified_weights(draws, 0, 2, out=np.empty((2, 4), np.float32))
