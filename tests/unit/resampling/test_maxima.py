"""Successive maxima: by hand, against a loop over replicates, and in the pass."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.resampling.draws import Draws
from pipeline.resampling.maxima import Family, count_maxima, make_family
from pipeline.resampling.measures import Measure
from pipeline.resampling.resample import observe, resample


def ratio(sums):
    return 100.0 * (sums[0] / sums[1])


def measure_of(statistics, *, higher=True, keep=None):
    systems = statistics.shape[1]
    pairs = np.stack(np.triu_indices(systems, 1), axis=1).astype(np.int64)
    keep = np.zeros(systems, bool) if keep is None else keep
    return Measure(statistics, ratio, "ratio", higher, pairs, keep)


def correct_of(units, systems, seed):
    rng = np.random.default_rng(seed)
    right = rng.random((units, 1)) + 0.3 * rng.normal(size=(units, systems)) < 0.6
    return np.stack([right, np.ones_like(right)], axis=2).astype(np.int64)


def count_slowly(scores, measure, observed, family):
    """Count u_(j) >= t_(j), one replicate and one member at a time, by the definition."""
    sign = 1.0 if measure.higher_is_better else -1.0
    counts = np.zeros(len(family.pair), np.int64)
    for replicate in scores.T:
        t_star = []
        for pair in family.pair:
            a, b = measure.pairs[pair]
            t_star.append(abs(sign * (replicate[a] - replicate[b]) - observed.delta[pair]) / observed.se[pair])
        for j, pair in enumerate(family.pair):
            t = abs(observed.delta[pair]) / observed.se[pair]
            a, b = measure.pairs[pair]
            tolerance = 2.0**-40 * (abs(observed.score[a]) + abs(observed.score[b])) / observed.se[pair]
            counts[j] += any(np.isnan(value) or value >= t - tolerance for value in t_star[j:])
    return counts


@given(seed=st.integers(0, 2**31), units=st.integers(3, 40), systems=st.integers(2, 6), higher=st.booleans())
@settings(max_examples=60, deadline=None)
def test_counts_are_those_of_a_loop_over_replicates(seed, units, systems, higher):
    measure = measure_of(correct_of(units, systems, seed), higher=higher, keep=np.ones(systems, bool))
    observed = observe(measure)
    family = make_family(measure, observed)
    draws = Draws(seed, units, units)
    scores = resample(draws, [measure], cells=range(1), replicates=200, keep_replicates=200)[0].score
    scores[0, 7] = np.nan
    counts = np.zeros(len(family.pair), np.int64)
    count_maxima(scores, family, counts)
    assert counts.tolist() == count_slowly(scores, measure, observed, family).tolist()


def test_a_family_is_ordered_by_t_and_leaves_out_pairs_without_an_error():
    statistics = correct_of(50, 4, 1)
    statistics[:, 3] = statistics[:, 0]
    measure = measure_of(statistics)
    observed = observe(measure)
    family = make_family(measure, observed)
    copies = measure.pairs.tolist().index([0, 3])
    assert sorted([*family.pair.tolist(), copies]) == list(range(6))
    assert (np.diff(family.t) <= 0).all()
    assert np.array_equal(family.t, np.abs(observed.delta[family.pair]) / observed.se[family.pair])
    assert make_family(measure, observed, np.array([0, copies])).pair.tolist() == [0]


def test_the_pass_counts_what_kept_scores_count_in_every_division():
    statistics = correct_of(60, 5, 2)
    measure = measure_of(statistics, keep=np.ones(5, bool))
    family = make_family(measure, observe(measure))
    draws = Draws(3, 60, 60)
    replicates = 2**14 + 3000
    whole = resample(draws, [measure], cells=range(2), replicates=replicates, keep_replicates=replicates, families=[family])[0]
    counts = np.zeros((len(family.pair), 2), np.int64)
    for cell, part in enumerate((whole.score[:, : 2**14], whole.score[:, 2**14 :])):
        count_maxima(part, family, counts[:, cell])
    assert whole.maxima is not None
    assert np.array_equal(whole.maxima, counts)
    assert (whole.maxima.sum(axis=1) > 0).all()
    apart = resample(draws, [measure], cells=range(1, 2), replicates=replicates, families=[family], memory_bytes=1)[0]
    assert apart.maxima is not None
    assert np.array_equal(apart.maxima[:, 0], counts[:, 1])
    assert np.array_equal(apart.counts[:, 0], whole.counts[:, 1])
    assert resample(draws, [measure], cells=range(1), replicates=100)[0].maxima is None


@pytest.mark.parametrize("factor", [1.0, 100.0])
def test_ties_of_a_tiny_gain_between_large_scores_are_counted(factor):
    """Three wins and two losses among 20 011 units: δ is a ten-thousandth of the scores, and ties are most of the count."""
    statistics = np.ones((20_011, 2, 2), np.int64)
    statistics[:2000, :, 0] = 0
    statistics[:3, 0, 0] = 1
    statistics[3:5, 1, 0] = 1
    pairs = np.array([[0, 1]], np.int64)
    measure = Measure(statistics, lambda sums: factor * (sums[0] / sums[1]), "ratio", True, pairs, np.zeros(2, bool))
    family = make_family(measure, observe(measure))
    counted = resample(Draws(9, 20_011, 20_011), [measure], cells=range(1), replicates=500, families=[family])[0]
    below, at_zero, _, _, at_twice, above = counted.counts[0, 0, :6]
    assert counted.maxima is not None
    assert counted.maxima[0, 0] == below + at_zero + at_twice + above


def test_an_undefined_replicate_reaches_every_t_from_its_pair_up():
    """Left out of the count but not of b it would make p too small."""
    scores = np.array([[3.0, 1.0], [0.0, 0.0], [0.1, np.nan]])
    rows = np.array([0, 1])
    family = Family(
        pair=rows, systems=np.arange(3), first=np.array([0, 1]), second=np.array([1, 2]), delta=np.array([3.0, 0.0]),
        se=np.ones(2), t=np.array([3.0, 0.0]), least=np.array([3.0, 0.5]),
    )  # fmt: skip
    counts = np.zeros(2, np.int64)
    count_maxima(scores, family, counts)
    assert counts.tolist() == [1, 1]


def test_a_family_of_one_pair_counts_its_two_sided_replicates():
    """With one pair u is t*: the count is #(|δ* − δ| ≥ |δ|), ties included."""
    statistics = correct_of(40, 2, 5)
    measure = measure_of(statistics)
    family = make_family(measure, observe(measure))
    counted = resample(Draws(9, 40, 40), [measure], cells=range(1), replicates=5000, families=[family])[0]
    below, at_zero, _, _, at_twice, above = counted.counts[0, 0, :6]
    assert counted.maxima is not None
    assert at_zero + at_twice > 0
    assert counted.maxima[0, 0] == below + at_zero + at_twice + above
