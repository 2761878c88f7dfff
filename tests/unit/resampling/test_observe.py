"""Observed scores: exact order of ratios, the jackknife against its definition, discordant units."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np
import pytest
from support import small_measures as small

from pipeline.resampling.observe import observe
from pipeline.resampling.standard_errors.influence import _pair_errors, leave_one_out, left_out_of, pair_errors, pair_moments
from pipeline.resampling.standard_errors.influence_spread import linear_errors


@pytest.mark.parametrize("higher", [True, False])
def test_the_standard_error_is_the_jackknife_by_deleting_units(higher):
    statistics = small.own_statistics(30, 3, 5, width=3)
    observed = observe(small.make_measure(statistics, score=small.root_of_products, form="general", higher=higher))
    left = np.stack([small.root_of_products(np.delete(statistics, i, axis=0).sum(axis=0).T.astype(float)) for i in range(30)])
    for pair, (a, b) in enumerate(small.all_pairs(3)):
        d = left[:, a] - left[:, b]
        assert observed.se[pair] == pytest.approx(np.sqrt(29 / 30 * np.sum((d - d.mean()) ** 2)), rel=1e-12)


def test_the_gain_is_positive_where_the_first_of_the_pair_is_better():
    statistics = np.array([[[3, 10], [1, 10]]])
    pairs = [(0, 1), (1, 0)]
    assert observe(small.make_measure(statistics, pairs=pairs)).delta.tolist() == [20.0, -20.0]
    assert observe(small.make_measure(statistics, pairs=pairs, higher=False)).delta.tolist() == [-20.0, 20.0]


def test_ratios_that_round_to_one_float_keep_their_exact_order():
    statistics = np.array([[[2**50 - 1, 2**50], [2**50 - 2, 2**50 - 1]]])
    rounded = small.make_measure(statistics, score=lambda s: np.float64(np.float32(s[0] / s[1])), pairs=[(0, 1), (1, 0)])
    delta = observe(rounded).delta
    assert delta[0] == 1 / (2.0**50 * (2**50 - 1))
    assert delta[1] == -delta[0]


@pytest.mark.parametrize("largest", [50, 2**25, 2**48], ids=["few", "exact", "beyond floats"])
def test_gains_of_ratios_are_those_of_whole_numbers_pair_by_pair(largest):
    rng = np.random.default_rng(largest)
    statistics = np.stack([rng.integers(0, largest, (1, 9)), rng.integers(0, 3, (1, 9)) * (largest - 7)], axis=2)
    statistics[0, :3] = [
        [largest // 2, largest],
        [largest // 2, largest],
        [largest // 2 + 1, largest],
    ]  # a tie, and the next number
    score = small.make_measure(statistics, score=lambda s: np.round(s[0] / s[1], 10))
    delta = observe(score).delta
    for pair, (a, b) in enumerate(small.all_pairs(9)):
        (n_a, c_a), (n_b, c_b) = (tuple(map(int, statistics[0, system])) for system in (a, b))
        if not (c_a and c_b):
            assert np.isnan(delta[pair])
            continue
        gain, rounded = (n_a * c_b - n_b * c_a) / (c_a * c_b), float(np.round(n_a / c_a, 10) - np.round(n_b / c_b, 10))
        assert delta[pair] == (0.0 if gain == 0 else rounded if rounded * gain > 0 else gain)


def test_equal_ratios_with_different_denominators_are_a_tie():
    statistics = np.array([[[1, 3], [7, 21]]])
    observed = observe(small.make_measure(statistics, score=lambda s: 100 * s[0] / s[1]))
    assert observed.delta.tolist() == [0.0]
    assert observed.identical.tolist() == [False]


def test_general_scores_within_the_tolerance_are_a_tie_and_beyond_it_are_not():
    statistics = np.array([[[2**41], [2**41 + 2], [2**41 + 8]]])
    observed = observe(small.make_measure(statistics, score=lambda s: s[0] * 1.0, form="general"))
    assert observed.delta.tolist() == [0.0, -8.0, -6.0]


def test_discordant_units_are_those_where_any_statistic_differs():
    statistics = small.own_statistics(50, 4, 8, width=3) // 14
    statistics[:, 3] = statistics[:, 0]
    observed = observe(small.make_measure(statistics, score=lambda s: s[0] - s[1] + 0.5 * s[2], form="general"))
    expected = [int(np.any(statistics[:, a] != statistics[:, b], axis=1).sum()) for a, b in small.all_pairs(4)]
    assert observed.discordant.tolist() == expected
    assert observed.identical.tolist() == [count == 0 for count in expected]
    assert observed.identical[2]


@pytest.mark.parametrize(("one", "other"), [(0, 255), (0, 256), (-1, 255), (5, 2**40 + 5)])
def test_statistics_that_are_equal_in_their_lowest_byte_alone_are_told_apart(one, other):
    statistics = np.full((40, 3, 2), one)
    statistics[:7, 1, 1], statistics[4:9, 2, 0] = other, other
    observed = observe(small.make_measure(statistics, score=lambda s: s[0] - s[1] * 1.0, form="general"))
    assert observed.discordant.tolist() == [7, 5, 9]


def test_scores_without_a_unit_are_made_once_for_a_measure():
    asked = []

    def score(sums):
        asked.append(sums.shape)
        return small.root_of_products(sums)

    measure = small.make_measure(small.own_statistics(30, 3, 5, width=3), score=score, form="general")
    found = left_out_of(measure)
    made = len(asked)
    observe(measure)
    linear_errors(measure)
    assert left_out_of(measure) is found
    assert [shape for shape in asked[made:] if shape == (3, 30)] == []
    assert np.array_equal(found, leave_one_out(measure.statistics, score), equal_nan=True)


@pytest.mark.parametrize("pairs", [0, 1, 3, 4, 5, 10])
def test_standard_errors_of_four_pairs_at_a_time_are_those_of_one_alone(pairs):
    rng = np.random.default_rng(pairs)
    scores = rng.normal(size=(5, 57))
    scores[4, 3] = np.nan
    some = rng.permutation(small.all_pairs(5))[:pairs].reshape(-1, 2)
    alone = []
    for a, b in some:
        differences = (scores[a] - scores[b]).tolist()
        mean = functools.reduce(operator.add, differences) / 57  # `sum` of floats is another one since Python 3.12
        alone.append(math.sqrt(56 / 57 * functools.reduce(operator.add, [(d - mean) * (d - mean) for d in differences])))
    compiled = np.empty(pairs)
    _pair_errors(scores, np.ascontiguousarray(some), compiled)
    for found in (pair_errors(scores, some), compiled, pair_moments(scores, some).se):
        np.testing.assert_array_equal(found, alone)


def test_standard_errors_that_are_given_are_not_made_again(monkeypatch):
    measure = small.make_measure(small.own_statistics(30, 3, 5, width=3), score=small.root_of_products, form="general")
    made = observe(measure)
    moments = pair_moments(left_out_of(measure), measure.pairs)
    monkeypatch.setattr("pipeline.resampling.observe.pair_errors", None)
    given = observe(measure, se=moments.se)
    assert all(np.array_equal(getattr(given, name), values) for name, values in vars(made).items())


def test_one_unit_has_no_standard_error():
    assert np.isnan(observe(small.make_measure(np.array([[[1, 2], [2, 2]]]))).se).all()


@pytest.mark.parametrize(
    ("score", "message"),
    [(lambda s: -s[0] / s[1], "positive factor, not -1"), (lambda s: s[0] / (s[1] + 1), "ratio scores")],
)
def test_a_ratio_that_is_none_is_refused(score, message):
    with pytest.raises(ValueError, match=message):
        observe(small.make_measure(np.array([[[1, 3], [2, 3]]]), score=score))


def test_totals_that_are_not_exact_are_refused_with_both_numbers():
    with pytest.raises(ValueError, match=f"{2**54} .*{2**53}"):
        observe(small.make_measure(np.array([[[1, 2**53], [2, 3]]] * 2)))
