"""Every count, sum and bin of approximate randomization against a slow recomputation in exact arithmetic on the same masks."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support import small_measures as small

from pipeline.inference.p_values import p_values
from pipeline.metrics.bleu import Bleu
from pipeline.metrics.kernels import score_ratio
from pipeline.resampling.address import CELL
from pipeline.resampling.comparison.swapped_pairs import scores_single
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import RULES, Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.products import swap_batches
from pipeline.resampling.randomize import randomize
from pipeline.resampling.swaps import draw_swap

INTEGER, TOLERANCE = RULES.index("integer"), RULES.index("tolerance")


def percent(sums):
    return score_ratio(sums, decimals=(0, 0), factor=100.0)


def first_statistic(sums):
    return np.asarray(sums[0], np.float64)


def swapped_sums(statistics, a, b, mask):
    """Sums of both systems after the swaps, in Python integers: (statistic,) twice."""
    one = [sum(row) for row in zip(*(u[b if w else a] for u, w in zip(statistics, mask, strict=True)), strict=True)]
    other = [sum(row) for row in zip(*(u[a if w else b] for u, w in zip(statistics, mask, strict=True)), strict=True)]
    return one, other


def gain_of(measure, one, other):
    """δ° as an exact fraction where the measure is a ratio, as the difference of its scores otherwise; None where undefined."""
    if measure.form == "ratio":
        if one[1] == 0 or other[1] == 0:
            return None
        gain = 100 * (Fraction(one[0], one[1]) - Fraction(other[0], other[1]))
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = [float(measure.score(np.array(sums, np.float64)[:, None])[0]) for sums in (one, other)]
        if not np.isfinite(scores).all():
            return None
        gain = scores[0] - scores[1]
    return gain if measure.higher_is_better else -gain


def recount(measure, observed, pair, masks):
    """Count one pair by the definitions, a mask at a time: a dict of every result."""
    statistics = measure.statistics.tolist()
    a, b = measure.pairs[pair].tolist()
    if observed.delta[pair] < 0:
        a, b = b, a
    delta, se = abs(observed.delta[pair]), observed.se[pair]
    slack = 2.0**-40 * (abs(observed.score[a]) + abs(observed.score[b]))
    if measure.form == "ratio":
        exact = gain_of(measure, *swapped_sums(statistics, a, b, [False] * len(statistics)))
        thresholds = [-exact, 0, exact]
    else:
        thresholds = [-delta, 0.0, delta]
    counts, empty, gains = [0] * 6, 0, []
    for mask in masks:
        gain = gain_of(measure, *swapped_sums(statistics, a, b, mask))
        if gain is None:
            empty += 1
            continue
        gains.append(float(gain))
        if measure.form == "ratio":
            order = [(gain > t) - (gain < t) for t in thresholds]
        else:
            order = [0 if t - slack <= gain <= t + slack else 1 if gain > t else -1 for t in thresholds]
        for place, (threshold, sign) in enumerate([(0, -1), (0, 0), (1, -1), (1, 0), (2, 0), (2, 1)]):
            counts[place] += order[threshold] == sign
    gains = np.array(gains)
    bins = np.floor(gains / se * 4 + 2.0**-20) + 48 if se > 0 else np.full(len(gains), 48)
    return {
        "counts": [*counts, -1, -1],
        "empty": empty,
        "sums": [gains.sum(), (gains**2).sum(), np.abs(gains).sum()],
        "histogram": np.bincount(np.clip(bins, 0, 95).astype(int), minlength=96).tolist(),
    }


def check(measure, found, masks, *, error=1e-12):
    """``error`` is that of a gain, which the squares multiply: 2 error |δ°| ≤ error (δ°² + 1)."""
    observed = observe(measure)
    for pair in range(len(measure.pairs)):
        expected = recount(measure, observed, pair, masks)
        assert found.counts[pair, 0].tolist() == expected["counts"]
        assert found.empty[pair, 0] == expected["empty"]
        assert found.histogram[pair, 0].tolist() == expected["histogram"]
        # Of Σδ° almost all may cancel: errors are in proportion to Σ|δ°|.
        sizes = np.array([expected["sums"][2], expected["sums"][1], expected["sums"][2]])
        assert np.all(np.abs(found.sums[pair, 0] - expected["sums"]) <= error * (sizes + len(masks)))


def check_drawn(measure, *, key=99, replicates=200, error=1e-12):
    units = len(measure.statistics)
    draws = Draws(key, units, units)
    (found,) = randomize(draws, [measure], cells=range(1), replicates=replicates)
    check(measure, found, [draw_swap(draws, r).tolist() for r in range(replicates)], error=error)
    return found


@pytest.fixture
def all_masks(monkeypatch):
    """Replicate r swaps unit i where bit i of r is set: n units have 2^n masks, each once."""

    def every_mask(draws, first, count, *, n_words):
        words = np.zeros((n_words, count), np.uint64)
        words[0] = np.arange(first, first + count)
        return words

    monkeypatch.setattr(swap_batches, "draw_swap_words", every_mask)


def enumerate_masks(measure):
    units = len(measure.statistics)
    (found,) = randomize(Draws(1, units, units), [measure], cells=range(1), replicates=2**units)
    return found


def small_measures(units, seed):
    return {
        "accuracy": small.make_measure(small.accuracy_statistics(units, 4, seed)),
        "shared": small.make_measure(small.shared_statistics(units, 4, seed, high=4), higher=False, margin=1.0),
        "own": small.make_measure(np.random.default_rng(seed).integers(0, 3, (units, 4, 2))),
        "general": small.make_measure(
            small.own_statistics(units, 4, seed, 3), score=small.root_of_products, form="general", higher=False
        ),
    }


@pytest.mark.parametrize("units", [1, 2, 5, 8])
@pytest.mark.parametrize("name", ["accuracy", "shared", "own", "general"])
@pytest.mark.usefixtures("all_masks")
def test_all_masks_are_counted_as_an_enumeration_counts_them(name, units):
    measure = small_measures(units, 6)[name]
    check(measure, enumerate_masks(measure), list(product([False, True], repeat=units)))


@pytest.mark.usefixtures("all_masks")
def test_counts_of_all_masks_are_the_exact_p_values():
    """Rule 1 of the conventions: 8 wins and 4 losses, of which the sign-flip p is .3877 and the mid-p of McNemar .2668."""
    right = np.repeat([[[1, 1], [0, 1]], [[0, 1], [1, 1]]], [8, 4], axis=0)
    measure = Measure(right.astype(np.int64), percent, "ratio", True, np.array([[1, 0]]), np.zeros(2, bool))
    found = enumerate_masks(measure)
    observed = observe(measure)
    below, at_minus, _, _, at_plus, above = found.counts[0, 0, :6].tolist()
    assert round((below + at_minus + at_plus + above) / 4096, 4) == 0.3877
    assert round((below + at_minus / 2 + at_plus / 2 + above) / 4096, 4) == 0.2668
    read = p_values(found.counts[:, 0], np.array([4096]), delta=observed.delta, identical=observed.identical, sums=found.sums[:, 0])
    assert read.p[1, 0] == 2 * sum(comb(12, wins) for wins in range(8, 13)) / 4096
    assert found.sums[0, 0, 0] == 0


@pytest.mark.statistical
def test_drawn_masks_come_near_the_exact_p_values():
    """8 wins and 4 losses of 100 units in 65 536 replicates; each of two shares is within 4.9 sd: false alarm 2e-6 together."""
    statistics = np.ones((100, 2, 2), np.int64)
    statistics[10:18, 1, 0] = 0
    statistics[60:64, 0, 0] = 0
    measure = Measure(statistics, percent, "ratio", True, np.array([[0, 1]]), np.zeros(2, bool))
    (found,) = randomize(Draws(20051106, 100, 100), [measure], cells=range(4), replicates=4 * CELL)
    below, at_minus, _, _, at_plus, above = found.counts[0].sum(axis=0)[:6].tolist()
    for share, exact in (((below + at_minus + at_plus + above), 0.38769531), ((below + above), 0.14599609)):
        assert abs(share / (4 * CELL) - exact) < 4.9 * np.sqrt(exact * (1 - exact) / (4 * CELL))


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(["constant", "shared", "own", "general", "linear"]),
    units=st.integers(1, 12),
    systems=st.integers(2, 4),
    high=st.sampled_from([1, 2, 5, 1000, 2**22, 2**33]),
    higher=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_fast_and_slow_agree_on_random_integers(kind, units, systems, high, higher, seed):
    rng = np.random.default_rng(seed)
    statistics = rng.integers(0, high, (units, systems, 2), endpoint=True)
    if kind == "constant":
        statistics[..., 1] = high
    elif kind == "shared":
        statistics[..., 1] = statistics[:, :1, 1]
    pairs = np.array([[b, a] if rng.random() < 0.5 else [a, b] for a in range(systems) for b in range(a + 1, systems)])
    form, score = {"general": ("general", percent), "linear": ("general", first_statistic)}.get(kind, ("ratio", percent))
    measure = Measure(statistics, score, form, higher, pairs, np.zeros(systems, bool))
    assume(np.isfinite(observe(measure).delta).all())  # what is undefined has a test of its own
    check_drawn(measure, key=seed, replicates=100)


def test_accuracy_is_compared_as_integers_with_ties_at_every_threshold():
    found = check_drawn(small.make_measure(small.accuracy_statistics(40, 4, 1)), replicates=1237)
    assert set(found.rule.tolist()) == {INTEGER}
    assert found.counts[:, 0, [1, 4]].min() > 0, "a test of ties needs ties"
    assert found.counts[:, 0, 3].max() > 0


def test_denominators_that_vary_over_units_but_not_over_systems_are_compared_as_integers():
    found = check_drawn(small.make_measure(small.shared_statistics(12, 4, 3, high=4)))
    assert set(found.rule.tolist()) == {INTEGER}
    assert found.counts[:, 0, [1, 3, 4]].sum() > 0, "a test of ties needs ties"


def test_own_denominators_that_vanish_leave_empty_replicates():
    statistics = np.random.default_rng(8).integers(0, 2, (4, 3, 2))
    statistics[0, :, 1] = [1, 0, 1]
    statistics[1:, :, 1] = [[0, 1, 0], [0, 0, 0], [0, 0, 1]]
    found = check_drawn(small.make_measure(statistics), replicates=500)
    assert set(found.rule.tolist()) == {TOLERANCE}
    assert 0 < found.empty[[0, 2]].min() < 500
    assert np.array_equal(found.histogram[:, 0].sum(axis=1) + found.empty[:, 0], [500] * 3)


def test_a_pair_with_an_undefined_gain_is_empty_throughout_and_disturbs_no_other():
    statistics = np.random.default_rng(8).integers(1, 9, (10, 3, 2))
    alone = small.make_measure(statistics)
    nothing = np.concatenate([statistics, np.zeros((10, 1, 2), np.int64)], axis=1)
    (found,) = randomize(Draws(3, 10, 10), [small.make_measure(nothing)], cells=range(2), replicates=CELL + 100)
    (expected,) = randomize(Draws(3, 10, 10), [alone], cells=range(2), replicates=CELL + 100)
    small.assert_same_bits(found, expected, pairs=[0, 1, 3])
    assert found.empty[[2, 4, 5]].tolist() == [[CELL, 100]] * 3
    assert not found.counts[[2, 4, 5], :, :6].any()
    assert not found.histogram[[2, 4, 5]].any()


def test_an_infinite_score_is_undefined():
    def reciprocal(sums):
        return np.float64(1.0) / (np.asarray(sums[0], np.float64) - 1.0)

    statistics = np.array([[[0], [1]], [[3], [1]]])  # 3 and 2; after one swap 4 and 1
    found = check_drawn(small.make_measure(statistics, score=reciprocal, form="general"), replicates=400)
    assert 0 < found.empty[0, 0] < 400


@pytest.mark.parametrize("form", ["ratio", "general"])
def test_systems_with_the_same_statistics_tie_in_every_replicate(form):
    statistics = np.repeat(small.own_statistics(30, 1, 5), 2, axis=1)
    (found,) = randomize(Draws(3, 30, 30), [small.make_measure(statistics, form=form)], cells=range(1), replicates=500)
    assert found.counts[0, 0].tolist() == [0, 500, 0, 500, 500, 0, -1, -1]
    assert found.sums[0, 0].tolist() == [0.0, 0.0, 0.0]


def test_bleu_is_assembled_from_followers_and_a_shared_statistic():
    measure = small.bleu_measure()
    assert scores_single(measure.score, 10)
    check_drawn(measure, error=200 * measure.score.relative_error)


def test_bleu_of_two_units_meets_every_special_case():
    measure = small.bleu_measure(units=2, systems=4, seed=3)
    measure.statistics[:, 1] = 0  # nothing was said
    check_drawn(measure, error=200 * measure.score.relative_error)


@pytest.mark.parametrize("largest", [2**22 - 1, 2**22, 2**22 + 3, 2**30])
def test_ties_are_exact_on_either_side_of_what_float32_holds(largest):
    """Four units: sums are below 2^24 for the first case only, and odd ones above it would be rounded to even ones."""
    statistics = largest - np.array([[0, 1, 2], [3, 2, 0], [0, 1, 0], [2, 0, 5]])[:, :, None]
    assert scores_single(first_statistic, 1)
    found = check_drawn(small.make_measure(statistics, score=first_statistic, form="general"))
    assert found.counts[:, 0, [1, 4]].sum() > 0, "a test of ties needs ties"


@pytest.mark.parametrize(("largest", "rule"), [(2**51 - 1, "integer"), (2**51, "tolerance-too-wide")])
def test_differences_beyond_float64_are_compared_within_the_tolerance(largest, rule):
    statistics = np.array([[[largest, 1], [-largest, 1]], [[-largest, 1], [largest - 5, 1]]])
    found = check_drawn(small.make_measure(statistics))
    assert RULES[found.rule[0]] == rule
    assert found.counts[0, 0, [0, 1, 4, 5]].min() > 0


def test_only_scores_that_convert_their_sums_are_given_float32():
    assert scores_single(percent, 2)
    assert scores_single(Bleu(effective_order=True).scorer((0,) * 10), 10)
    assert not scores_single(small.ratio, 2)
    assert not scores_single(lambda sums: np.asarray(small.root_of_products(sums), np.float64), 3)


def test_units_that_do_not_match_are_refused_with_both_numbers():
    measure = small.make_measure(small.accuracy_statistics(40, 3, 1))
    with pytest.raises(ValueError, match="40 units, swaps of 41"):
        randomize(Draws(1, 41, 41), [measure], cells=range(1), replicates=10)
    with pytest.raises(ValueError, match="40 units have 40 draws, not 39"):
        randomize(Draws(1, 40, 39), [measure], cells=range(1), replicates=10)


def test_a_score_of_the_wrong_shape_is_refused():
    def flat(sums):
        return np.asarray(sums[0], np.float64).reshape(-1)

    measure = small.make_measure(small.own_statistics(10, 3, 1), score=flat, form="general")
    with pytest.raises(ValueError, match="has shape"):
        randomize(Draws(1, 10, 10), [measure], cells=range(1), replicates=10)
