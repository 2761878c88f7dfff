"""Equivalence: counts read as p, four verdicts in their order, and a gate that fails on what is worse alone."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pipeline.inference.equivalence import VERDICTS, equivalence, judge


def count_bootstrap(differences, margin):
    """Enumerate all n^n bootstrap samples of the mean of unit differences, whose sum is not negative."""
    n = len(differences)
    delta = sum(differences)
    found = [sum(sample) for sample in product(differences, repeat=n)]
    above = sum(x >= 2 * delta + margin * n for x in found)
    below = sum(x <= 2 * delta - margin * n for x in found)
    return above, below, len(found)


def test_the_p_of_an_enumerated_bootstrap():
    above, below, b = count_bootstrap([1, 0, 0, 0, -1], 1)
    assert above == below == 1  # δ = 0: five wins or five losses
    found = equivalence(np.array([above]), np.array([below]), np.array([b]), identical=np.zeros(1, bool))
    assert found.p.tolist() == [1 / 3125]
    above, below, b = count_bootstrap([1, 1, 0, 0, -1], 1)
    # δ = 1/5: all five must gain 7 of 5, which none can; or lose 3 of 5.
    samples = np.array(list(product([1, 1, 0, 0, -1], repeat=5))).sum(axis=1)
    assert (above, below) == (0, (samples <= -3).sum())
    found = equivalence(np.array([above]), np.array([below]), np.array([b]), identical=np.zeros(1, bool))
    assert found.p.tolist() == [below / 3125]
    assert found.p_plus_one.tolist() == [(below + 1) / 3126] == found.p_behind.tolist()
    assert found.p_ahead.tolist() == [1 / 3126]
    assert found.lo[0] < found.p[0] < found.hi[0]


def test_no_margin_no_replicate_and_identity_have_no_p():
    counts = np.array([-1, 5, 5, 5])
    found = equivalence(counts, counts, np.array([10, 0, 10, 10]), identical=np.array([False, False, True, False]))
    for values in (found.p, found.p_plus_one, found.lo, found.hi, found.p_ahead, found.p_behind):
        assert np.isnan(values).tolist() == [True, True, True, False]
    assert found.hits.tolist() == [0, 0, 0, 5]


def test_swapping_the_systems_swaps_the_sides_and_nothing_else():
    one, other, b = np.array([3, 40]), np.array([20, 1]), np.array([100, 100])
    same = np.zeros(2, bool)
    there, back = equivalence(one, other, b, identical=same), equivalence(other, one, b, identical=same)
    assert there.p.tolist() == back.p.tolist() == [0.2, 0.4]
    assert there.p_ahead.tolist() == back.p_behind.tolist()


def judge_intervals(p, lo, hi, same, alpha=0.05):
    """Judge by intervals: a difference is shown where they exclude 0."""
    return judge(p, better=lo > 0, worse=hi < 0, measured=np.isfinite(lo) & np.isfinite(hi), identical=same, alpha=alpha)


def verdict(p, lo, hi, *, same=False, alpha=0.05):
    found = judge_intervals(np.array([p]), np.array([lo]), np.array([hi]), np.array([same]), alpha)
    return VERDICTS[found.verdict[0]], bool(found.differs_within_margin[0]), bool(found.fails[0])


nan = float("nan")


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ((0.05, -0.1, 0.1), ("equivalent", False, False)),
        ((0.01, 0.1, 0.2), ("equivalent", True, False)),
        ((0.01, -0.2, -0.1), ("equivalent", True, False)),  # worse, within the margin: the gate passes
        ((0.06, 0.1, 0.2), ("better", False, False)),
        ((0.06, -0.2, -0.1), ("worse", False, True)),
        ((nan, -0.2, -0.1), ("worse", False, True)),  # no margin
        ((0.06, 0.0, 0.2), ("inconclusive", False, False)),  # an end at 0 does not exclude it
        ((0.06, -0.2, 0.0), ("inconclusive", False, False)),
        ((0.06, nan, nan), ("inconclusive", False, False)),
        ((0.04, nan, nan), ("equivalent", False, False)),
        ((nan, nan, nan), ("not measured", False, False)),
    ],
)
def test_verdicts_come_in_their_order(case, expected):
    assert verdict(*case) == expected


def test_identical_systems_are_equivalent_at_any_margin_and_do_not_differ():
    assert verdict(nan, nan, nan, same=True) == ("equivalent", False, False)


def test_the_level_is_the_one_that_is_asked_for():
    assert verdict(0.04, -1.0, 1.0, alpha=0.01)[0] == "inconclusive"


def test_turning_the_pair_turns_better_and_worse():
    rng = np.random.default_rng(0)
    p, lo = rng.random(200) * 0.1, rng.normal(size=200)
    hi, same = lo + rng.random(200), rng.random(200) < 0.1
    there, back = judge_intervals(p, lo, hi, same), judge_intervals(p, -hi, -lo, same)
    mirror = np.array([0, 1, 3, 2, 4])
    assert np.array_equal(mirror[there.verdict], back.verdict)
    assert np.array_equal(there.differs_within_margin, back.differs_within_margin)
    assert set(there.verdict.tolist()) == {1, 2, 3, 4}


def test_shapes_that_do_not_match_are_refused():
    with pytest.raises(ValueError, match=r"\(2,\)"):
        equivalence(np.zeros(1, int), np.zeros(2, int), np.zeros(1, int), identical=np.zeros(1, bool))
    no = np.zeros(1, bool)
    with pytest.raises(ValueError, match=r"\(1,\), \(3,\)"):
        judge(np.zeros(3), better=no, worse=no, measured=no, identical=no, alpha=0.05)


def test_no_pair_is_both_better_and_worse():
    yes = np.ones(1, bool)
    with pytest.raises(ValueError, match="1 pairs are shown to be better and worse"):
        judge(np.ones(1), better=yes, worse=yes, measured=yes, identical=~yes, alpha=0.05)
