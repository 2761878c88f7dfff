"""Both directions of many pairs over a suite: by hand, against brute force, enumerated in full, and simulated with dependence."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from pipeline.inference.across.suite_conclusions import CONCLUSIONS, conclude_questions
from pipeline.inference.across.suites import conclude_suite
from pipeline.inference.multiple_comparisons.multiplicity import holm
from pipeline.inference.p_values import clopper_pearson

BETTER, WORSE = 0, 1


def words(conclusion):
    return [[CONCLUSIONS[code] for code in column] for column in conclusion.T]


def test_two_pairs_on_three_test_sets_by_hand():
    """α = .05, so .025 a direction. Pair 0: .002·3, .01·2 and .02·1 all hold. Pair 1: better on one, worse on another."""
    better = np.array([[0.002, 0.001], [0.01, 0.9], [0.02, 0.996]])
    found = conclude_questions(np.stack([better, 1 - better]), alpha=0.05)
    assert found.p[BETTER, :, 0].tolist() == pytest.approx([0.012, 0.04, 0.04])
    assert found.p[BETTER, :, 1].tolist() == pytest.approx([0.006, 1.0, 1.0])
    assert found.p[WORSE, :, 1].tolist() == pytest.approx([0.024, 0.4, 1.0])
    assert found.at_least.tolist() == [[3, 1], [0, 1]]
    assert words(found.conclusion) == [["better", "better", "better"], ["better", "not separated", "worse"]]
    # Holm over the four p_{1/3}: .003, .006, .012 and 1 (of .98, times 3).
    assert found.over_pairs.tolist() == [pytest.approx([0.018, 0.012]), pytest.approx([1.0, 0.024])]
    # Four questions at .0125: p_{u/3} of pair 0 is .006, .02, so one. Pair 1: .003; worse: .012.
    assert found.together.tolist() == [[1, 1], [0, 1]]


def test_a_pair_decided_everywhere_leaves_its_share_to_the_others():
    """Six questions at .05/6. Pair 0 holds on both, so there are four at .0125; pair 1 holds on both, so there are two at .025."""
    better = np.array([[0.001, 0.005, 0.012], [0.002, 0.01, 0.6]])
    p = np.stack([better, 1 - better])
    assert conclude_questions(p, alpha=0.05).together.tolist() == [[2, 2, 1], [0, 0, 0]]
    p[:, 1, 1] = 0.5  # pair 1 holds on one of two only: its share stays, and .024 of pair 2 is above .0125
    assert conclude_questions(p, alpha=0.05).together.tolist() == [[2, 1, 0], [0, 0, 0]]


def slow_together(p, alpha):
    """The same, a question at a time."""
    sides, _, pairs = p.shape
    left = {k for k in range(pairs) if np.isfinite(p[0, :, k]).any()}
    while True:
        level = alpha / (sides * max(len(left), 1))
        counts = [[int(conclude_suite(p[side][:, [k]], alpha=level).at_least[0]) for k in range(pairs)] for side in range(sides)]
        decided = {k for k in left if max(c[k] for c in counts) == np.isfinite(p[0, :, k]).sum()}
        if not decided or decided == left:
            return counts
        left -= decided


def test_one_direction_has_the_whole_level():
    p = np.array([[0.02], [0.04]])
    both, one = conclude_questions(np.stack([p, 1 - p]), alpha=0.05), conclude_questions(p[None], alpha=0.05)
    assert (both.at_least[BETTER, 0], one.at_least[BETTER, 0]) == (0, 2)
    assert one.p[0, :, 0].tolist() == [0.04, 0.04]
    assert words(one.conclusion) == [["better", "better"]]


P = st.floats(0, 1, allow_nan=False)


@given(
    shape=st.tuples(st.integers(1, 6), st.integers(1, 4)),
    seed=st.integers(0, 2**31),
    alpha=st.sampled_from([0.01, 0.05, 0.2]),
)
@settings(max_examples=80, deadline=None)
def test_it_is_two_suites_at_half_the_level_and_the_numbers_agree(shape, seed, alpha):
    rng = np.random.default_rng(seed)
    better = rng.random(shape) ** rng.integers(1, 6)
    better[rng.random(shape) < 0.15] = np.nan
    p = np.stack([better, 1 - better])
    found = conclude_questions(p, alpha=alpha)
    for side, name in ((BETTER, 1), (WORSE, 2)):
        alone = conclude_suite(p[side], alpha=alpha / 2)
        assert np.array_equal(found.at_least[side], alone.at_least)
        assert np.array_equal(found.at_least[side], (found.conclusion == name).sum(axis=0))
        assert np.array_equal(found.at_least[side], np.nansum(found.holm[side] <= alpha, axis=0))
    assert np.array_equal(found.conclusion == 0, np.isnan(better))
    # Brute force of both corrections over pairs.
    totals = np.isfinite(better).sum(axis=0)
    smallest = [[min([x for x in column if np.isfinite(x)], default=np.nan) for column in of.T] for of in p]
    anywhere = np.minimum(np.array(smallest) * totals, 1)
    assert found.over_pairs.ravel() == pytest.approx(holm(anywhere.ravel()), nan_ok=True)
    assert found.together.tolist() == slow_together(p, alpha)
    assert (found.together <= found.at_least).all()


def test_pairs_that_were_not_measured_are_in_no_correction():
    better = np.array([[0.01, np.nan], [0.02, np.nan]])
    with_it = conclude_questions(np.stack([better, 1 - better]), alpha=0.05)
    alone = conclude_questions(np.stack([better[:, :1], 1 - better[:, :1]]), alpha=0.05)
    assert with_it.over_pairs[:, 0].tolist() == alone.over_pairs[:, 0].tolist()
    assert np.isnan(with_it.over_pairs[:, 1]).all()
    assert (with_it.test_sets.tolist(), with_it.at_least[:, 1].tolist()) == ([2, 0], [0, 0])
    assert words(with_it.conclusion)[1] == ["not measured", "not measured"]


def upper_tail(wins, coins):
    """P(X ≥ wins) of fair coins."""
    return sum(comb(coins, k) for k in range(wins, coins + 1)) / 2**coins


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("alpha", [0.1, 0.25, 0.5])
def test_every_outcome_of_three_fair_test_sets_is_wrong_at_most_alpha_of_the_time(together, alpha):
    """Exact: 4 coins on each of 3 test sets, all 4096 outcomes; or the same 4 coins on each, which no correction knows of."""
    outcomes = np.array(list(product(range(2), repeat=4 if together else 12)))
    wins = (np.tile(outcomes, 3) if together else outcomes).reshape(len(outcomes), 3, 4).sum(axis=2)
    p = np.array([[upper_tail(k, 4) for k in row] for row in wins]).T
    q = np.array([[upper_tail(4 - k, 4) for k in row] for row in wins]).T
    found = conclude_questions(np.stack([p, q]), alpha=alpha)
    wrong = float((found.at_least > 0).any(axis=0).mean())
    assert wrong <= alpha
    # 1/16 · 3 ≤ α/2 is what it takes: four wins anywhere. Computed by hand: 1 − (14/16)^3, or 2/16 of the same coins.
    expected = 0.0 if alpha < 2 * 3 / 16 else (2 / 16 if together else 1 - (14 / 16) ** 3)
    assert wrong == pytest.approx(expected)


def simulate(trials, seed):
    """Six systems, 15 pairs, six test sets that share .6 of their noise; 0 and 1 are good on two test sets each, 5 is far ahead.

    Gives how often any of three promises is broken: of a pair, of "any" over pairs, of the counts of all pairs together.
    """
    rng = np.random.default_rng(seed)
    truth = np.zeros((6, 6))
    truth[:2, 0], truth[4:, 1], truth[:, 5] = 2.5, 2.5, 9
    a, b = np.triu_indices(6, 1)
    (equal,) = np.flatnonzero((a == 3) & (b == 4))
    real = truth[:, a] - truth[:, b]
    most = np.stack([(real > 0).sum(axis=0), (real < 0).sum(axis=0)])
    broken, claims = np.zeros(3, int), 0
    for _ in range(trials):
        noise = np.sqrt(0.6) * rng.normal(size=6) + np.sqrt(0.4) * rng.normal(size=(6, 6))
        z = ((truth + noise)[:, a] - (truth + noise)[:, b]) / np.sqrt(2)
        found = conclude_questions(np.stack([ndtr(-z), ndtr(z)]), alpha=0.1)
        one_pair = (found.at_least > most)[:, equal].any()
        anywhere = ((found.over_pairs <= 0.1) & (most == 0)).any()
        broken += np.array([one_pair, anywhere, (found.together > most).any()])
        claims += int(found.together.sum())
    return broken, claims


def assert_levels_hold(trials):
    broken, claims = simulate(trials, np.random.SeedSequence().entropy)
    lo = clopper_pearson(broken, np.full(3, trials), 1 - 2e-6 / 3)[0]
    assert (lo <= 0.1).all(), f"broken {broken} of {trials} at .1"
    assert claims > 30 * trials  # of five pairs on all six
    print(f"broken at .1: pair {broken[0] / trials:.4f}, any {broken[1] / trials:.4f}, together {broken[2] / trials:.4f}, {trials}")


@pytest.mark.statistical
def test_no_promise_is_broken_more_often_than_alpha():
    """Each of three rates is at most .1; a lower bound at 1 − 1e-6/3 is above it with a chance below 1e-6. Fresh seed."""
    assert_levels_hold(1500)


@pytest.mark.slow
@pytest.mark.statistical
def test_no_promise_is_broken_more_often_than_alpha_in_many_suites():
    """As above, with 50 000 suites."""
    assert_levels_hold(50_000)


def test_what_is_no_suite_is_refused():
    with pytest.raises(ValueError, match="one or two directions"):
        conclude_questions(np.ones((3, 2, 2)), alpha=0.05)
    with pytest.raises(ValueError, match="less than 1"):
        conclude_questions(np.full((2, 1, 1), 0.3), alpha=0.05)
    with pytest.raises(ValueError, match="and not in the other"):
        conclude_questions(np.array([[[0.5]], [[np.nan]]]), alpha=0.05)
