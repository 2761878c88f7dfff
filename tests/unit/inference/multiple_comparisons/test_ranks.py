"""Ranks from pairs: intervals, lines, ties and letters, with copies and systems that have no score."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.inference.multiple_comparisons.ranks import CLUSTERS, name_letters, rank_intervals, separate


def all_pairs(systems):
    return np.stack(np.triu_indices(systems, 1), axis=1)


def relate(score, separated, *, identical=(), alpha=0.05):
    """Make a relation of the pairs that are separated; all others have p = .5."""
    score, pairs = np.array(score, float), all_pairs(len(score))
    p = np.array([0.001 if tuple(pair) in separated else 0.5 for pair in pairs.tolist()])
    same = np.array([tuple(pair) in identical for pair in pairs.tolist()])
    delta = score[pairs[:, 0]] - score[pairs[:, 1]]
    p[np.isnan(delta)] = np.nan
    return separate(pairs, score=score, delta=delta, p=p, identical=same, alpha=alpha)


def clusters(found, name):
    return [np.flatnonzero(column).tolist() for column in CLUSTERS[name](found).T]


# Five systems in order; 1 and 2 are noisy, so that 0 beats 3 and 4, 1 beats 4 only, 2 beats nobody, 3 beats 4.
FIVE = relate([5, 4, 3, 2, 1], {(0, 3), (0, 4), (1, 4), (3, 4)})


def test_intervals_by_hand():
    found = rank_intervals(FIVE)
    assert found.rank.tolist() == [1, 2, 3, 4, 5]
    assert found.low.tolist() == [1, 1, 1, 2, 4]
    assert found.high.tolist() == [3, 4, 5, 4, 5]


def test_each_definition_of_clusters_by_hand():
    assert clusters(FIVE, "lines-between-neighbours") == [[0, 1, 2, 3], [4]]
    assert clusters(FIVE, "lines-all-above-all-below") == [[0, 1, 2, 3, 4]]  # 2 does not beat 4
    assert clusters(FIVE, "ties-with-the-best") == [[0, 1, 2]]
    assert clusters(FIVE, "letters") == [[0, 1, 2], [1, 2, 3], [2, 4]]


def test_a_line_between_neighbours_is_not_one_between_all():
    found = relate([3, 2, 1], {(1, 2), (0, 1)})  # 0 has a large error towards 2
    assert clusters(found, "lines-between-neighbours") == [[0], [1], [2]]
    assert clusters(found, "lines-all-above-all-below") == [[0, 1, 2]]
    all_of_them = relate([3, 2, 1], {(0, 1), (0, 2)})
    assert clusters(all_of_them, "lines-all-above-all-below") == [[0], [1, 2]]


@given(seed=st.integers(0, 2**31), systems=st.integers(2, 8))
@settings(max_examples=80, deadline=None)
def test_everything_is_its_definition_and_the_order_of_systems_and_pairs_does_not_matter(seed, systems):
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 2 * systems, systems).astype(float)
    pairs = all_pairs(systems)
    p = np.where(rng.random(len(pairs)) < 0.5, 0.01, 0.5)
    delta = score[pairs[:, 0]] - score[pairs[:, 1]]
    identical = np.zeros(len(pairs), bool)
    found = separate(pairs, score=score, delta=delta, p=p, identical=identical, alpha=0.05)
    intervals = rank_intervals(found)
    for system in range(systems):
        better = worse = ahead = 0
        for (a, b), gain, value in zip(pairs.tolist(), delta.tolist(), p.tolist(), strict=True):
            if system in (a, b):
                gain_of_other = -gain if system == a else gain
                ahead += gain_of_other > 0
                better += gain_of_other > 0 and value <= 0.05
                worse += gain_of_other < 0 and value <= 0.05
        assert intervals.rank[system] == 1 + ahead
        assert (intervals.low[system], intervals.high[system]) == (1 + better, systems - worse)
    order, shuffle = rng.permutation(systems), rng.permutation(len(pairs))
    where = np.argsort(order)
    turned = where[pairs[shuffle]][:, ::-1]
    moved = separate(turned, score=score[order], delta=-delta[shuffle], p=p[shuffle], identical=identical, alpha=0.05)
    assert np.array_equal(moved.beats, found.beats[np.ix_(order, order)])
    for name in CLUSTERS:
        if name != "letters" or len(set(score.tolist())) == systems:  # ties may come in any order: other letters are as good
            assert np.array_equal(CLUSTERS[name](moved), CLUSTERS[name](found)[order]), name


def test_identical_systems_share_rank_interval_and_letters():
    found = relate([3, 2, 2, 1], {(0, 3), (1, 3), (2, 3)}, identical={(1, 2)})
    intervals = rank_intervals(found)
    assert intervals.rank.tolist() == [1, 2, 2, 4]
    assert intervals.low[1] == intervals.low[2] == 1
    assert intervals.high[1] == intervals.high[2] == 3
    assert name_letters(CLUSTERS["letters"](found)) == ["a", "a", "a", "b"]


def test_equal_scores_share_a_rank_but_not_their_letters():
    """1 and 2 score the same, differ, and have other errors: only 1 is beaten by 0."""
    found = relate([3, 2, 2], {(0, 1)})
    assert rank_intervals(found).rank.tolist() == [1, 2, 2]
    assert rank_intervals(found).low.tolist() == [1, 2, 1]
    assert name_letters(CLUSTERS["letters"](found)) == ["a", "b", "ab"]
    assert clusters(found, "lines-between-neighbours") == [[0, 1, 2]]


def test_a_difference_without_a_direction_separates_nobody():
    found = relate([2, 2], {(0, 1)})
    assert not found.beats.any()
    same = relate([2, 1], {(0, 1)}, identical={(0, 1)})
    assert not same.beats.any()


def test_a_system_without_a_score_has_no_rank_and_does_not_count():
    found = relate([3, np.nan, 1], {(0, 2)})
    intervals = rank_intervals(found)
    assert intervals.rank.tolist() == [1, 0, 2]
    assert (intervals.low.tolist(), intervals.high.tolist()) == ([1, 0, 2], [1, 0, 2])
    for name in CLUSTERS:
        assert not CLUSTERS[name](found)[1].any()
    nobody = relate([np.nan, np.nan], set())
    assert rank_intervals(nobody).high.tolist() == [0, 0]
    assert all(CLUSTERS[name](nobody).shape[0] == 2 and not CLUSTERS[name](nobody).any() for name in CLUSTERS)


def test_a_pair_without_a_p_is_not_separated():
    pairs, delta = np.array([[0, 1]]), np.array([1.0])
    score, nan = np.array([2.0, 1.0]), np.array([np.nan])
    found = separate(pairs, score=score, delta=delta, p=nan, identical=np.zeros(1, bool), alpha=0.05)
    assert rank_intervals(found).high.tolist() == [2, 2]


def test_two_bests_tie_with_whom_neither_beats():
    assert clusters(relate([2, 2, 1, 1], {(0, 2), (1, 3)}), "ties-with-the-best") == [[0, 1]]
    assert clusters(relate([2, 2, 1, 1], {(0, 2)}), "ties-with-the-best") == [[0, 1, 3]]


def test_ranks_against_a_baseline_or_of_a_part_of_the_pairs_are_refused_in_words():
    given_ = {"score": np.arange(3.0), "identical": np.zeros(2, bool), "p": np.ones(2), "delta": np.ones(2), "alpha": 0.05}
    with pytest.raises(ValueError, match="'against-baseline' gives no ranks"):
        separate(np.array([[0, 1], [0, 2]]), **given_, family="against-baseline")
    with pytest.raises(ValueError, match=r"all pairs of the 3 systems .* 1 are not"):
        separate(np.array([[0, 1], [0, 2]]), **given_)
    with pytest.raises(ValueError, match=r"of 3 pairs"):
        separate(all_pairs(3), **given_)
