"""The convention of Riezler and Maxwell: a slow program, its exceptions, its level in the limit and on few units."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import stats

from pipeline.inference.convention_levels import (
    NULL_CONVENTIONS,
    folded_p,
    gain_law,
    gaussian_rejection,
    null_p,
    null_rejection,
)
from pipeline.inference.conventions import riezler_maxwell
from pipeline.inference.p_values import REASONS

KNOWN = {"one-sided": 0.0955, "two-sided": 0.3054, "below-zero": 0.0927, "at-or-below-zero": 0.1525}
"""For 8 wins and 4 losses among 100 units."""


def fold(replicates, score, *, delta=None, identical=False):
    pairs = np.stack(np.triu_indices(len(replicates), 1), axis=1)
    delta = score[pairs[:, 0]] - score[pairs[:, 1]] if delta is None else np.full(len(pairs), delta)
    return pairs, riezler_maxwell(replicates, pairs, score=score, delta=delta, identical=np.full(len(pairs), identical))


@pytest.mark.parametrize("b", [1, 31, 33, 1024, 2500])
def test_counts_are_those_of_a_slow_program(b):
    rng = np.random.default_rng(b)
    replicates, score = rng.normal(40, 1, (5, b)), rng.normal(40, 0.5, 5)
    replicates[2, b // 2] = np.nan
    pairs, found = fold(replicates, score)
    for number, (a, c) in enumerate(pairs):
        sizes = [abs(x - y) for x, y in zip(replicates[a], replicates[c], strict=True) if x == x and y == y]
        if not sizes:
            assert REASONS[found.reason[number]] == "no defined replicate"
            assert np.isnan(found.p[number])
            continue
        mean = sum(sizes) / len(sizes)
        hits = sum(size - mean >= abs(score[a] - score[c]) for size in sizes)
        assert found.replicates[number] == len(sizes)
        assert found.mean_absolute[number] == pytest.approx(mean, rel=1e-12)
        assert found.hits[number] == found.above[number] == hits
        assert found.p[number] == found.own[number] == (hits + 1) / (len(sizes) + 1)


def test_other_systems_and_the_order_of_a_pair_change_no_bit():
    rng = np.random.default_rng(1)
    replicates, score = rng.normal(40, 1, (6, 3000)), rng.normal(40, 0.5, 6)
    pairs, together = fold(replicates, score)
    for number, pair in enumerate(pairs):
        for order in (pair, pair[::-1]):
            _, alone = fold(replicates[order], score[order])
            assert alone.mean_absolute[0] == together.mean_absolute[number]
            assert alone.hits[0] == together.hits[number]


def test_identical_systems_have_p_one_and_so_has_the_published_procedure():
    same = np.random.default_rng(2).normal(size=100)
    _, found = fold(np.stack([same, same]), np.array([3.0, 3.0]), identical=True)
    assert (found.p[0], found.own[0], found.p_error[0]) == (1.0, 1.0, 0.0)
    assert (found.hits[0], found.above[0]) == (100, 0)  # strictly above is none: sacreBLEU prints 1/(b + 1)
    assert REASONS[found.reason[0]] == "identical"


def test_equal_scores_have_p_one_where_the_published_procedure_has_about_43_percent():
    rng = np.random.default_rng(3)
    _, found = fold(rng.normal(size=(2, 20_000)), np.array([3.0, 3.0]))
    assert found.p[0] == 1.0
    assert REASONS[found.reason[0]] == "no order"
    assert found.own[0] == pytest.approx(folded_p(0.0), abs=6 * 0.0035)  # false alarm 2e-9, were the seed fresh


def test_ties_within_the_tolerance_are_hits_and_not_above():
    replicates = np.array([[0.1 + 0.2, 0.9, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])  # mean .3, and .9 − .3 against .6 = 3 · .2
    _, found = fold(replicates, np.array([3 * 0.2, 0.0]))
    assert (found.hits[0], found.above[0]) == (1, 0)


def test_arrays_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError, match=r"\(2, 5\) and \(3,\)"):
        riezler_maxwell(np.zeros((2, 5)), np.array([[0, 1]]), score=np.zeros(3), delta=np.zeros(1), identical=np.zeros(1, bool))
    with pytest.raises(ValueError, match="1 pairs, 2 gains"):
        riezler_maxwell(np.zeros((2, 5)), np.array([[0, 1]]), score=np.zeros(2), delta=np.zeros(2), identical=np.zeros(1, bool))


def test_in_the_gaussian_limit_it_rejects_11_and_24_point_6_percent():
    assert round(gaussian_rejection(0.05), 3) == 0.110
    assert round(gaussian_rejection(0.10), 3) == 0.246
    assert gaussian_rejection(0.43) == 1.0
    with pytest.raises(ValueError, match="not at 1"):
        gaussian_rejection(1)


@pytest.mark.parametrize("z", [0.0, 0.5, 1.0, 1.96, 4.0])
def test_the_folded_p_is_that_of_scipys_folded_normal(z):
    law = stats.foldnorm(z)
    assert folded_p(z) == folded_p(-z) == pytest.approx(law.sf(law.mean() + z), rel=1e-9)


@pytest.mark.statistical
def test_simulated_gaussian_nulls_are_rejected_as_computed():
    """10^5 nulls, each by 400 Gaussian replicates of its own gain.

    The share at .05 has sd .00099. With b = 400 the grid of p moves the level by less than half a step of 1/401 in p, .0055 in
    the share; the tolerance is 6 sd and that: false alarm below 2e-9.
    """
    rng = np.random.default_rng(np.random.SeedSequence().entropy)
    gains, rejected = rng.normal(size=100_000), 0
    for part in np.split(gains, 20):
        stars = np.abs(part[:, None] + rng.normal(size=(len(part), 400)))
        p = ((stars - stars.mean(axis=1, keepdims=True) >= np.abs(part)[:, None]).sum(axis=1) + 1) / 401
        rejected += np.sum(p <= 0.05)
    assert rejected / 100_000 == pytest.approx(gaussian_rejection(0.05), abs=6 * 0.00099 + 0.0055)


@pytest.mark.parametrize("convention", sorted(KNOWN))
def test_known_answers_of_eight_wins_and_four_losses(convention):
    assert round(null_p(convention, wins=8, losses=4, units=100), 4) == KNOWN[convention]


def test_randomization_has_its_known_answer_with_and_without_ties():
    assert round(null_p("approximate-randomization", wins=8, losses=4, units=100), 4) == 0.3877
    coins = Fraction(sum(comb(12, k) for k in (*range(4), *range(9, 13))), 2**12)
    assert null_p("approximate-randomization, strict", wins=8, losses=4, units=100) == pytest.approx(float(coins), rel=1e-12)


@pytest.mark.parametrize(("wins", "losses", "units"), [(1, 0, 4), (2, 1, 5), (2, 2, 5), (3, 0, 3)])
def test_every_bootstrap_convention_is_that_of_all_samples(wins, losses, units):
    d = [1] * wins + [-1] * losses + [0] * (units - wins - losses)
    stars, gain = np.array([sum(sample) for sample in product(d, repeat=units)]), wins - losses
    assert gain_law(wins, losses, units) == pytest.approx(np.bincount(stars + units, minlength=2 * units + 1) / len(stars))
    mean = np.abs(stars).mean()
    expected = {
        "one-sided": stars > 2 * gain,
        "two-sided": np.abs(stars - gain) >= gain,
        "below-zero": stars < 0,
        "at-or-below-zero": stars <= 0,
        "riezler-maxwell": np.abs(stars) - mean >= gain - 1e-12,
        "riezler-maxwell, strict": np.abs(stars) - mean > gain + 1e-12,
    }
    for convention, event in expected.items():
        assert null_p(convention, wins=wins, losses=losses, units=units) == pytest.approx(event.mean(), abs=1e-12), convention


@pytest.mark.parametrize("units", [20, 100, 1000])
def test_below_zero_rejects_every_null_of_one_discordant_unit_and_half_of_those_of_two(units):
    assert null_p("below-zero", wins=1, losses=0, units=units) == 0.0
    assert null_rejection("below-zero", discordant=1, units=units) == 1.0
    assert null_rejection("below-zero", discordant=2, units=units) == pytest.approx(0.5, abs=1e-12)


def test_with_one_discordant_unit_the_fold_hangs_on_its_ties():
    """E|δ*| is δ exactly: k draws of the unit are a hit from 2 on, or, strictly, from 3 on."""
    twice = 1 - stats.binom.cdf(1, 100, 0.01)
    assert null_p("riezler-maxwell", wins=1, losses=0, units=100) == pytest.approx(twice, rel=1e-9)
    assert null_p("riezler-maxwell, strict", wins=1, losses=0, units=100) == pytest.approx(twice - stats.binom.pmf(2, 100, 0.01))


def test_the_strict_randomization_rejects_11_and_a_half_percent_where_ties_count_for_4():
    assert round(null_rejection("approximate-randomization, strict", discordant=20, units=20), 3) == 0.115
    assert round(null_rejection("approximate-randomization", discordant=20, units=20), 3) == 0.041


def test_randomization_with_ties_never_exceeds_its_level():
    assert all(null_rejection("approximate-randomization", discordant=m, units=60) <= 0.05 for m in range(1, 61))


def test_impossible_wins_are_refused():
    with pytest.raises(ValueError, match="2 losses"):
        null_p("two-sided", wins=1, losses=2, units=5)
    with pytest.raises(ValueError, match="not among 2 units"):
        gain_law(2, 1, 2)
    with pytest.raises(ValueError, match=r"6 discordant units are not 1 … 5"):
        null_rejection("two-sided", discordant=6, units=5)
    assert len(NULL_CONVENTIONS) == 8
