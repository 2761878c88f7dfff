"""Counts by estimates are those of the scores, replicate by replicate: on any input, and with estimates as wrong as they may be."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import small_measures as small

from pipeline.metrics.bleu import Bleu
from pipeline.resampling.comparison import swapped_pairs as module
from pipeline.resampling.comparison.comparison_rules import plan_swaps
from pipeline.resampling.comparison.swapped_pairs import bound_errors, find_doubtful
from pipeline.resampling.draws import Draws
from pipeline.resampling.observe import observe
from pipeline.resampling.randomize import randomize

REPLICATES = 700


def count(measure, *, key=5, replicates=REPLICATES):
    units = len(measure.statistics)
    return randomize(Draws(key, units, units), [measure], cells=range(1), replicates=replicates)[0]


def assert_counts_of_scores(measure, **options):
    """Count with estimates and with a score that hides them, and give both."""
    found = count(measure, **options)
    expected = count(replace(measure, score=lambda sums: measure.score(sums)), **options)
    for name in ("counts", "empty", "rule"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    return found, expected


def errors_of(measure):
    observed = observe(measure)
    return bound_errors(measure, observed, plan_swaps(measure, observed).rules[0])


OPTIONS = [{}, {"smooth": "none"}, {"smooth": "floor", "effective_order": True}, {"smooth": "add-k"}]


@st.composite
def bleu_statistics(draw):
    """Counts that tie: few distinct segments, copies of systems, systems that differ in one segment, silent and garbled ones."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    units, systems = draw(st.integers(2, 60)), draw(st.integers(2, 5))
    length = rng.integers(0, draw(st.sampled_from([3, 8, 60])), (units, systems))
    statistics = np.zeros((units, systems, 10), np.int64)
    statistics[:, :, 0] = length
    statistics[:, :, 1] = np.maximum(length[:, :1] + rng.integers(-2, 3, (units, 1)), 1) * draw(st.sampled_from([1, 1, 2, 5]))
    for k in range(4):
        statistics[:, :, 6 + k] = np.maximum(length - k, 0)
        statistics[:, :, 2 + k] = rng.binomial(statistics[:, :, 6 + k], draw(st.sampled_from([0.05, 0.4, 0.9])))
    kinds = draw(st.integers(1, units))
    statistics = statistics[rng.integers(0, kinds, units)]
    twin = draw(st.sampled_from(["none", "copy", "one segment", "two segments", "permuted"]))
    if twin != "none":
        other = statistics[:, 0].copy()
        other = rng.permutation(other) if twin == "permuted" else other
        changed = {"one segment": 1, "two segments": 2}.get(twin, 0)
        other[:changed, 2] = np.maximum(other[:changed, 2] - 1, 0)
        statistics[:, 1] = other
    return statistics


@given(bleu_statistics(), st.sampled_from(OPTIONS))
@settings(max_examples=60, deadline=None)
def test_counts_of_bleu_are_those_of_its_scores(statistics, options):
    score = Bleu(**options).scorer((0,) * 10)
    assert_counts_of_scores(small.make_measure(statistics, score=score, form="general"))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_plausible_outputs_are_estimated_and_no_sum_is_far_from_that_of_scores(options):
    measure = small.bleu_measure(units=300, systems=4, **options)
    assert np.isfinite(errors_of(measure)).all()
    found, expected = assert_counts_of_scores(measure, replicates=3000)
    most = 200 * measure.score.relative_error * 3000
    assert not np.array_equal(found.sums, expected.sums), "nothing was estimated"
    assert np.abs(found.sums - expected.sums)[:, 0, [0, 2]].max() <= most
    np.testing.assert_allclose(found.sums[:, 0, 1], expected.sums[:, 0, 1], rtol=1e-4)
    assert np.abs(found.histogram.astype(int) - expected.histogram).sum() <= 10


class WrongAsAllowed:
    """A linear score that ties often; its estimates are off by nearly what they may be, up or down, or are nothing at all."""

    relative_error = 2.0**-9

    def __init__(self, direction):
        self.direction = direction
        self.n_scored = 0

    def __call__(self, sums):
        self.n_scored += np.asarray(sums[0]).size
        return 100.0 + np.asarray(sums[0], np.float64)

    def estimate_swaps(self, totals, moved, rows, start, out):
        a, b = rows.T
        if (a == b).all():  # the question whether there are estimates of the observed scores
            out[:] = 0.0
            return
        here = moved[:, 0, start : start + out.shape[1]]
        for side, one, other in ((0, a, b), (1, b, a)):
            exact = 100.0 + totals[one, 0][:, None] - here[one] + here[other]
            rng = np.random.default_rng(int(exact.sum()))
            sign = {"apart": 1 - 2 * side, "together": 2 * side - 1}.get(self.direction, rng.choice([-1, 1], exact.shape))
            out[side::2] = exact * (1 + 0.999 * self.relative_error * sign)
            if self.direction == "absent":
                out[side::2][rng.random(exact.shape) < 0.3] = rng.choice([np.nan, np.inf, -np.inf])


@pytest.mark.parametrize("direction", ["apart", "together", "either", "absent"])
@pytest.mark.parametrize("units", [6, 40])
def test_estimates_as_wrong_as_they_may_be_move_no_count(monkeypatch, direction, units):
    monkeypatch.setattr(module, "_SMALL", np.inf)  # however doubtful
    monkeypatch.setattr(module, "_TILE", 64)  # many chunks
    monkeypatch.setattr(module, "_EVALUATIONS", 500)
    score = WrongAsAllowed(direction)
    statistics = np.random.default_rng(3).integers(0, 6, (units, 5, 1))
    measure = small.make_measure(statistics, score=score, form="general")
    assert np.isfinite(errors_of(measure)).all()
    score.n_scored = 0
    found = count(measure)
    in_all = score.n_scored
    expected = count(replace(measure, score=lambda sums: 100.0 + np.asarray(sums[0], np.float64)))
    assert found.counts[:, 0, [1, 4]].min() > 0, "a test of ties needs ties"
    assert found.counts[:, 0, 3].max() > 0
    assert np.array_equal(found.counts, expected.counts)
    assert np.array_equal(found.empty, expected.empty)
    if units == 40 and direction != "absent":
        assert in_all < len(measure.pairs) * 2 * REPLICATES, "all replicates were scored"


@given(
    st.lists(st.floats(-60, 60, width=32), min_size=2, max_size=300),
    st.floats(0, 30),
    st.sampled_from([2.0**-9, 2.0**-20]),
    st.sampled_from([1e-12, 1.0]),
    st.integers(0, 2**32),
)
@settings(max_examples=150, deadline=None)
def test_what_is_not_doubtful_stays_where_it_is_however_the_scores_err(values, delta, error, slack, seed):
    """Gains near thresholds, from −δ through δ, and scores at the four corners of what the estimates allow."""
    rng = np.random.default_rng(seed)
    first = np.array(values, np.float32)
    aimed = rng.choice([-delta, 0.0, delta], len(first)) * (1 + error * rng.normal(size=len(first)))
    aimed += slack * rng.choice([-1.0, -0.5, 0.0, 1.0], len(first))
    estimates = np.stack([first, (first - aimed).astype(np.float32)])
    low, high = np.array([-delta, 0.0, delta]) - slack, np.array([-delta, 0.0, delta]) + slack
    gains, places = np.empty((1, len(first))), np.empty(len(first), np.int64)
    found = find_doubtful(estimates, np.array([error]), np.concatenate([low, high])[None], gains, places)
    sure = np.ones(len(first), bool)
    sure[places[:found]] = False
    assert found == len(set(places[:found].tolist()))
    one, other = estimates[:, sure].astype(float)
    assert np.array_equal(gains[0], estimates[0].astype(float) - estimates[1])
    for up, down in product((-1, 1), repeat=2):
        gain = (one + up * error * 0.999 * np.abs(one)) - (other + down * error * 0.999 * np.abs(other))
        for k in range(3):
            assert np.array_equal(gain < low[k], gains[0, sure] < low[k])
            assert np.array_equal(gain > high[k], gains[0, sure] > high[k])


@pytest.mark.parametrize("replicates", [1, 15, 16, 17, 48, 333])
def test_those_are_doubtful_whose_reach_meets_a_threshold_and_no_others(replicates):
    """Exactly these: which replicates are scored decides bits of sums and histograms."""
    rng = np.random.default_rng(replicates)
    estimates = rng.normal(0, 3, (6, replicates)).astype(np.float32)
    estimates[rng.random(estimates.shape) < 0.05] = np.nan
    errors, low = np.array([0.01, 0.3, 1e-7]), np.sort(rng.normal(0, 2, (3, 3)), axis=1)
    high = low + np.array([[0.0, 1e-9, 0.5]])
    gains, places = np.zeros((4, replicates)), np.empty(3 * replicates, np.int64)
    found = find_doubtful(estimates, errors, np.concatenate([low, high, np.ones((3, 1))], axis=1), gains, places)
    one, other = estimates.astype(float).reshape(3, 2, -1).swapaxes(0, 1)
    np.testing.assert_array_equal(gains[:3], one - other)
    reach = errors[:, None] * (np.abs(one) + np.abs(other))
    sides = [(gains[:3] + reach < low[:, k, None]) | (gains[:3] - reach > high[:, k, None]) for k in range(3)]
    assert places[:found].tolist() == np.flatnonzero(~np.all(sides, axis=0)).tolist()
    assert not gains[3].any()


def test_estimates_that_do_not_lie_side_by_side_are_refused():
    """Below there are addresses alone."""
    room = np.zeros((2, 64), np.float32)
    with pytest.raises(ValueError, match="estimates and gains of a pair lie side by side"):
        find_doubtful(room[:, ::2], np.ones(1), np.ones((1, 7)), np.zeros((1, 32)), np.zeros(32, np.int64))


def test_pairs_that_estimates_do_not_serve_are_scored_whoever_else_is_there():
    measure = small.bleu_measure(units=300, systems=6)
    statistics = measure.statistics.copy()
    statistics[:, 1] = statistics[:, 0]  # no standard error
    statistics[:, 2, 0] += 2**17  # beyond float32 in 300 units
    statistics[0, 3, 2] = -1  # no count
    statistics[:, 4, 0] //= 3  # too short: no estimate at all
    finite = np.isfinite(errors_of(replace(measure, statistics=statistics)))
    expected = [not {a, b} & {2, 3, 4} and (a, b) != (0, 1) for a, b in measure.pairs.tolist()]
    assert finite.tolist() == expected
    assert_counts_of_scores(replace(measure, statistics=statistics))


def test_a_score_without_an_estimate_is_scored():
    measure = small.bleu_measure()
    assert np.isinf(errors_of(replace(measure, score=lambda sums: measure.score(sums)))).all()
    assert np.isinf(errors_of(small.bleu_measure(smooth="add-k", smooth_value=1e-9))).all()
