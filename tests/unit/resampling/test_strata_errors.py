"""Standard errors and counts within strata: against formulas of surveys, the bootstrap's own spread, and what must not matter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import small_measures as small

from pipeline.inference.direct.result import REASONS
from pipeline.procedures.direct import direct_tests
from pipeline.resampling.address import CELL
from pipeline.resampling.draws import Draws
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample
from pipeline.resampling.standard_errors.influence import leave_one_out, pair_errors, pair_moments, score_errors
from pipeline.resampling.strata import StratifiedDraws, draw_stratified_weights

PAIR = np.array([[0, 1]])


def strata(*sizes, seed=8):
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes).astype(np.int64))


def mean_score(sums):
    return sums[0] / sums[1]


def mean_statistics(values):
    """Two systems with a score a unit; the second has 0."""
    both = np.stack([values, np.zeros_like(values)], axis=1)
    return np.stack([both, np.ones_like(both)], axis=2).astype(np.int64)


def reweighted(statistics, score, pairs, stratum):
    """The textbook: leave one unit out, let the others of its stratum stand for it, (n_h − 1)/n_h Σ (e_hi − mean e)²."""
    total = statistics.sum(axis=0).astype(float)
    variance = np.zeros(len(pairs))
    for h in range(stratum.max() + 1):
        members = np.flatnonzero(stratum == h)
        if len(members) < 2:
            continue
        own = statistics[members].sum(axis=0)
        factor = len(members) / (len(members) - 1)
        sums = np.stack([total - own + (own - statistics[i]) * factor for i in members], axis=-1)  # (system, statistic, unit)
        scores = np.stack([score(system) for system in sums])
        e = scores[pairs[:, 0]] - scores[pairs[:, 1]]
        variance += ((e - e.mean(axis=1, keepdims=True)) ** 2).sum(axis=1) / factor
    return np.sqrt(variance)


@pytest.mark.parametrize("sizes", [(40,), (5, 35), (1, 9, 30), (2, 2, 36), (1, 1, 38)])
def test_the_error_of_a_mean_is_that_of_a_stratified_sample(sizes):
    """√Σ n_h s_h² / n: Cochran 1977, Sampling Techniques, section 5.6, with n_h/n for the weights; a unit alone adds nothing."""
    stratum = strata(*sizes)
    x = np.random.default_rng(1).integers(0, 50, 40) + 30 * stratum
    statistics = mean_statistics(x)
    found = pair_errors(leave_one_out(statistics, mean_score), PAIR, stratum=stratum)
    expected = np.sqrt(sum(n * x[stratum == h].var(ddof=1) for h, n in enumerate(sizes) if n > 1)) / 40
    assert found[0] == pytest.approx(expected, rel=1e-9)
    assert found[0] == pytest.approx(reweighted(statistics, mean_score, PAIR, stratum)[0], rel=1e-9)
    own = score_errors(leave_one_out(statistics, mean_score), stratum=stratum)
    assert own.tolist() == [found[0], 0.0]  # the second system scores 0 on every unit


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-40, 40)), min_size=2, max_size=25))
def test_any_partition_has_the_textbook_error_of_a_mean_and_adds_up(rows):
    """Strata of any sizes, also of one unit; the order of units, and of strata, changes nothing but the last bits."""
    names, values = (np.array(column) for column in zip(*rows, strict=True))
    stratum = np.unique(names, return_inverse=True)[1].astype(np.int64)
    statistics = mean_statistics(values)
    found = pair_errors(leave_one_out(statistics, mean_score), PAIR, stratum=stratum)[0]
    if np.bincount(stratum).max() == 1:
        assert np.isnan(found)
        return
    assert found == pytest.approx(reweighted(statistics, mean_score, PAIR, stratum)[0], rel=1e-9, abs=1e-12)
    order = np.random.default_rng(len(rows)).permutation(len(rows))
    turned = stratum.max() - stratum[order]
    assert pair_errors(leave_one_out(statistics[order], mean_score), PAIR, stratum=turned)[0] == pytest.approx(found, abs=1e-12)


def test_one_stratum_is_no_stratum():
    for measure in (small.make_measure(small.shared_statistics(40, 4, 3)), small.bleu_measure()):
        scores = leave_one_out(measure.statistics, measure.score)
        plain, one = pair_moments(scores, measure.pairs), pair_moments(scores, measure.pairs, stratum=np.zeros(40, np.int64))
        assert np.allclose(one.se, plain.se, rtol=1e-12)
        assert np.allclose(one.acceleration, plain.acceleration, rtol=1e-9)


@pytest.mark.parametrize("make", ["shared", "own", "bleu"])
def test_ratios_and_bleu_have_the_textbook_error_to_first_order(make):
    """Leaving out without giving the stratum its weight back is the same linearisation: some 1/n apart."""
    units, stratum = 400, strata(120, 200, 80)
    measure = {
        "shared": lambda: small.make_measure(small.shared_statistics(units, 4, 3, high=30)),
        "own": lambda: small.make_measure(small.own_statistics(units, 4, 3)),
        "bleu": lambda: small.bleu_measure(units=units),
    }[make]()
    measure = replace(measure, stratum=stratum)
    expected = reweighted(measure.statistics, measure.score, measure.pairs, stratum)
    assert np.allclose(observe(measure).se, expected, rtol=0.02)


def test_the_acceleration_is_the_skewness_within_strata():
    """Σ u³ / (6 (Σ u²)^1.5), u the deviations from the stratum's mean: here of a mean, so of the values themselves."""
    stratum = strata(12, 28)
    x = np.random.default_rng(5).poisson(3, 40) ** 2 + 100 * stratum
    found = pair_moments(leave_one_out(mean_statistics(x), mean_score), PAIR, stratum=stratum).acceleration[0]
    u = x - np.array([x[stratum == h].mean() for h in range(2)])[stratum]
    assert found == pytest.approx((u**3).sum() / (6 * (u**2).sum() ** 1.5), rel=1e-6)
    assert found > 0


def test_a_unit_alone_is_not_looked_at_and_all_alone_have_no_error():
    stratum = np.array([0, 1, 1, 2, 2])
    scores = np.array([[np.nan, 1.0, 2.0, 3.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0]])
    found = pair_moments(scores, PAIR, stratum=stratum)
    assert found.se[0] == pytest.approx(4 / 5 * np.sqrt(2 * 0.5 + 2 * 2.0))
    assert np.isfinite(found.acceleration[0])
    assert np.isnan(pair_errors(np.nan_to_num(scores), PAIR, stratum=np.arange(5))).all()
    assert np.isnan(pair_errors(scores, PAIR, stratum=np.array([0, 0, 1, 1, 1]))).all()
    with pytest.raises(ValueError, match=r"strata are of \(3,\) units, scores of \(5,\)"):
        pair_errors(scores, PAIR, stratum=np.zeros(3, np.int64))


@pytest.mark.statistical
@pytest.mark.parametrize("sizes", [(500,), (100, 300, 100), (40, 460)])
def test_the_error_is_the_spread_of_the_bootstrap_within_strata(sizes):
    """Spread of 16 384 replicates: relative sd .0055, ten of them .055; false alarm below 1e-20, the jackknife's own 1/n apart.

    The bootstrap's variance in a stratum is (n_h − 1)/n_h of the unbiased one: at most 1/40 here.
    """
    stratum = strata(*sizes)
    statistics = small.shared_statistics(500, 3, 11, high=20)
    statistics[:, :, 0] = np.minimum(statistics[:, :, 0] + stratum[:, None] * np.array([1, 0, 2]), statistics[:, :, 1])
    measure = replace(small.make_measure(statistics), stratum=stratum)
    seen = observe(measure)
    (found,) = resample(StratifiedDraws(99, stratum), [measure], cells=range(1), replicates=CELL, observed=[seen])
    mean, square = found.sums[:, 0, 0] / CELL, found.sums[:, 0, 1] / CELL
    assert np.allclose(np.sqrt(square - mean**2), seen.se, rtol=0.055)


@pytest.mark.statistical
def test_the_spread_is_smaller_where_strata_differ():
    """The gain is 5 points larger in one stratum than in the other: within strata nothing of that varies."""
    stratum = strata(60, 140)
    x = np.random.default_rng(2).integers(0, 4, 200) + 20 * stratum
    statistics = mean_statistics(x)
    within = observe(_measure(statistics, stratum)).se[0]
    plain = observe(_measure(statistics, None)).se[0]
    assert within < 0.2 * plain
    one = (draw_stratified_weights(StratifiedDraws(3, stratum), 0, 4000) @ x / 200).std()
    assert one == pytest.approx(within, rel=0.07)  # 4000 values: relative sd .011, six of them


def _measure(statistics, stratum):
    from pipeline.resampling.measures import Measure

    return Measure(statistics, mean_score, "ratio", True, PAIR, np.zeros(2, np.bool_), stratum=stratum)


def test_memory_cells_and_company_change_no_bit():
    stratum = strata(1, 1, 9, 29)
    draws, replicates = StratifiedDraws(4242, stratum), CELL + 777
    measures = [
        replace(small.make_measure(small.accuracy_statistics(40, 4, 1), keep=np.ones(4, bool)), stratum=stratum),
        replace(small.make_measure(small.own_statistics(40, 4, 3), margin=0.5), stratum=stratum),
        replace(small.bleu_measure(), stratum=stratum),
    ]
    whole = resample(draws, measures, cells=range(2), replicates=replicates, keep_replicates=CELL + 50)
    for memory in (1, 40 * 4 * 100, 2**40):
        found = resample(draws, measures, cells=range(2), replicates=replicates, keep_replicates=CELL + 50, memory_bytes=memory)
        for one, other in zip(whole, found, strict=True):
            small.assert_same_bits(one, other)
            assert one.score.tobytes() == other.score.tobytes()
    for position, measure in enumerate(measures):
        parts = [resample(draws, [measure], cells=range(c, c + 1), replicates=replicates)[0] for c in range(2)]
        for name in ("counts", "sums", "histogram", "empty"):
            joined = np.concatenate([getattr(part, name) for part in parts], axis=1)
            assert joined.tobytes() == getattr(whole[position], name).tobytes(), name


def test_the_names_of_strata_change_no_bit_and_the_histogram_has_the_error_within():
    stratum = strata(8, 32)
    x = np.random.default_rng(7).integers(0, 9, 40) + 40 * stratum
    measure = _measure(mean_statistics(x), stratum)
    (found,) = resample(StratifiedDraws(5, stratum), [measure], cells=range(1), replicates=8000)
    inside = found.histogram[0, 0, 48 - 12 : 48 + 12].sum() / 8000  # within three standard errors
    assert inside > 0.99
    # By the plain error everything would lie in a few middle bins.
    assert found.histogram[0, 0, 47:49].sum() / 8000 < 0.3


def test_procedures_that_do_not_know_strata_say_so():
    stratum = strata(10, 30)
    plain = small.make_measure(small.accuracy_statistics(40, 3, 4))
    within = replace(plain, stratum=stratum)
    names = ("exact-bootstrap", "exact-sign-flip", "paired-t", "mcnemar", "sign", "wilcoxon")
    one, other = direct_tests(names, plain, observe(plain)), direct_tests(names, within, observe(within))
    for name in names:
        if name in ("exact-bootstrap", "paired-t"):
            assert set(other[name].reasons) == {REASONS["within strata"]}
            assert np.isnan(other[name].p).all()
        else:
            assert other[name].p.tobytes() == one[name].p.tobytes()


def test_swaps_do_not_know_strata():
    from pipeline.resampling.randomize import randomize

    measure = small.make_measure(small.accuracy_statistics(40, 3, 4))
    within = replace(measure, stratum=strata(10, 30))
    one, other = (randomize(Draws(3, 40, 40), [m], cells=range(1), replicates=900)[0] for m in (measure, within))
    assert one.counts.tobytes() == other.counts.tobytes()
