"""Who is in a family, in which order, and why the others are not."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.inference.multiple_comparisons.families import REASONS, order_family
from pipeline.inference.unit_diagnostics.few_units import StudentTails

PAIRS = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])


def made(delta, se, identical=None, **options):
    identical = np.zeros(6, bool) if identical is None else np.asarray(identical)
    return order_family(PAIRS, score=np.zeros(4), delta=np.array(delta), se=np.array(se), identical=identical, **options)


def test_every_reason_to_be_left_out_has_its_name():
    nan = np.nan
    family = made([2.0, 0.0, 0.0, 1.0, 1.0, nan], [1.0, 0.0, nan, 0.0, nan, 1.0], [False, True, False, False, False, False])
    assert [REASONS[code] for code in family.reason] == ["", "identical", "no order", "no spread", "undefined", "undefined"]
    assert family.certain.tolist() == [False, True, True, True, False, False]
    assert family.pair.tolist() == [0]
    outside = made([1.0] * 6, [1.0] * 6, baseline=3)
    assert [REASONS[code] == "not in the family" for code in outside.reason] == [True, True, False, True, False, False]


def test_equal_scores_with_a_standard_error_are_in_the_family_with_t_zero():
    family = made([0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [1.0] * 6)
    assert family.t.tolist() == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("pairs", [[[0, 1], [2, 3]], [[2, 3], [0, 1]]])
def test_equal_t_come_in_the_order_of_what_reaches_them(pairs):
    """Ties among large scores are wider, 2^-40 of them: that pair comes last, in whatever order the pairs are given."""
    score = np.array([2.0**30 + 1, 2.0**30, 1.0, 0.0])
    family = order_family(np.array(pairs), score=score, delta=np.ones(2), se=np.ones(2), identical=np.zeros(2, bool))
    assert family.t.tolist() == [1.0, 1.0]
    assert family.members.least.tolist() == [1.0 - 2.0**-40, 1.0 - 2.0**-40 * (2.0**31 + 1)]
    assert family.members.first.tolist() == [2, 0]


def test_a_side_turns_pairs_towards_the_other_system():
    family = made([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0] * 6, baseline=1, alternative="better")
    # 0 is better than 1 by 1; 1 is better than 2 by 4 and than 3 by 5.
    assert family.pair.tolist() == [0, 3, 4]
    assert family.t.tolist() == [1.0, -4.0, -5.0]
    assert (family.members.first.tolist(), family.members.second.tolist()) == ([0, 2, 3], [1, 1, 1])
    worse = made([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0] * 6, baseline=1, alternative="worse")
    assert worse.t.tolist() == [5.0, 4.0, -1.0]


@pytest.mark.parametrize("alternative", ["two-sided", "better", "worse"])
@pytest.mark.parametrize("higher", [True, False])
def test_scores_that_are_the_observed_ones_lie_in_the_centre(alternative, higher):
    """first − second of the observed scores is δ, whatever the direction of the metric and the side: t* is 0."""
    score = np.array([3.0, 1.0, 7.0, 2.0])
    delta = (score[PAIRS[:, 0]] - score[PAIRS[:, 1]]) * (1 if higher else -1)
    family = order_family(
        PAIRS, score=score, delta=delta, se=np.ones(6), identical=np.zeros(6, bool), higher_is_better=higher,
        baseline=2, alternative=alternative,
    )  # fmt: skip
    members = family.members
    assert np.array_equal(score[members.first] - score[members.second], members.center)
    best = family.pair[0]
    if alternative == "better":  # than system 2: the highest score where lower is better
        assert set(PAIRS[best]) == {1, 2} if not higher else {0, 2}


def test_pairs_that_are_not_chosen_are_not_in_the_family():
    chosen = np.array([True, False, True, True, False, False])
    assert sorted(made([1.0] * 6, [1.0] * 6, chosen=chosen).pair.tolist()) == [0, 2, 3]
    both = made([1.0] * 6, [1.0] * 6, chosen=chosen, baseline=3)
    assert both.pair.tolist() == [2]
    assert [REASONS[code] == "not in the family" for code in both.reason] == [True, True, False, True, True, True]
    assert made([1.0] * 6, [1.0] * 6, chosen=~chosen & chosen).pair.tolist() == []


def test_few_units_move_what_reaches_t_and_not_t():
    tails = StudentTails(20)
    family = made([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0] * 6, tails=tails)
    assert family.t.tolist() == [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    np.testing.assert_allclose(family.members.least, tails.to_replicates(family.t), rtol=1e-15)
    assert family.members.least[0] < 4.5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alternative": "better"}, "than what"),
        ({"alternative": "greater", "baseline": 0}, "two-sided, better, worse"),
        ({"baseline": 9}, "none of the 6 pairs"),
    ],
)
def test_a_family_that_means_nothing_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        made([1.0] * 6, [1.0] * 6, **options)


def test_shapes_that_do_not_match_are_refused():
    with pytest.raises(ValueError, match=r"se \(5,\)"):
        made([1.0] * 6, [1.0] * 5)
    with pytest.raises(ValueError, match=r"0 … 3, there are 2"):
        order_family(PAIRS, score=np.zeros(2), delta=np.ones(6), se=np.ones(6), identical=np.zeros(6, bool))
