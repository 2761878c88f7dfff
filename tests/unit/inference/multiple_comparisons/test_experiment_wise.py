"""How likely a false finding is: the exact figure, the integral, and what replicates say themselves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import studentized_range

from pipeline.inference.multiple_comparisons.families import order_family
from pipeline.inference.multiple_comparisons.max_t import (
    AnyExceeds,
    among_exchangeable_systems,
    among_independent_tests,
    normal_critical_value,
)


@pytest.mark.parametrize(("tests", "printed"), [(1, 0.05), (105, 0.9954), (465, 1.0)])
def test_independent_tests_are_those_of_the_product(tests, printed):
    exact = 1 - (1 - Fraction(1, 20)) ** tests
    assert among_independent_tests(0.05, tests) == pytest.approx(float(exact), rel=1e-14)
    assert round(among_independent_tests(0.05, tests), 4) == printed


def test_no_test_errs_never_and_a_tiny_level_is_not_rounded_away():
    assert among_independent_tests(0.05, 0) == 0.0
    assert among_independent_tests(1e-20, 105) == pytest.approx(105e-20)


def test_exchangeable_systems_are_those_of_the_studentised_range():
    assert round(among_exchangeable_systems(0.05, 15), 2) == 0.82
    assert among_exchangeable_systems(0.05, 2) == pytest.approx(0.05, rel=1e-9)
    assert among_exchangeable_systems(0.05, 1) == 0.0
    for alpha, systems in ((0.5, 3), (0.01, 15), (1e-4, 150), (1e-6, 2)):
        critical = np.sqrt(2) * normal_critical_value(alpha)
        expected = studentized_range.sf(critical, systems, np.inf)
        assert among_exchangeable_systems(alpha, systems) == pytest.approx(expected, rel=1e-9)


def family_of(systems):
    pairs = np.stack(np.triu_indices(systems, 1), axis=1)
    k = len(pairs)
    return order_family(pairs, score=np.zeros(systems), delta=np.zeros(k), se=np.full(k, np.sqrt(2)), identical=np.zeros(k, bool))


@pytest.mark.statistical
def test_shared_replicates_of_15_equal_systems_find_the_integral():
    """40 000 replicates: the share has sd .0019, six of them .0115; a false-alarm chance of 2e-9. Seed fresh."""
    rng = np.random.default_rng(np.random.SeedSequence().entropy)
    counts = AnyExceeds(family_of(15), np.full(105, normal_critical_value(0.05)))
    for _ in range(4):
        counts.add(rng.normal(size=(15, 10_000)))
    assert counts.replicates == 40_000
    assert counts.share == pytest.approx(among_exchangeable_systems(0.05, 15), abs=0.0115)
    lo, hi = counts.bounds()
    assert lo < counts.share < hi
    assert hi - lo == pytest.approx(2 * 1.96 * np.sqrt(counts.share * (1 - counts.share) / 40_000), rel=0.01)


def test_critical_values_are_each_pair_s_own_and_empty_replicates_are_left_out():
    scores = np.array([[0.0, 3.0, np.nan, 3.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 9.0, 3.0]])
    counts = AnyExceeds(family_of(3), np.array([2.0, 5.0, 5.0]))
    counts.add(scores)
    # t* of (0, 1) is 0, 2.12, nan, 2.12.
    assert (counts.found, counts.replicates) == (2, 3)
    others = AnyExceeds(family_of(3), np.array([5.0, 5.0, 2.0]))
    others.add(scores)
    assert (others.found, others.replicates) == (1, 3)


def test_critical_values_follow_their_pairs_into_the_order_of_the_family():
    pairs = np.array([[0, 1], [2, 3]])
    given = {"score": np.zeros(4), "delta": np.array([0.0, 1.0]), "se": np.ones(2), "identical": np.zeros(2, bool)}
    counts = AnyExceeds(order_family(pairs, **given), np.array([1.0, 9.0]))
    counts.add(np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 1.5], [0.0, 0.0]]))  # t* = (2, 0) and (1, ½)
    assert (counts.found, counts.replicates) == (1, 2)


def test_without_replicates_there_is_no_share_and_shapes_are_checked():
    assert np.isnan(AnyExceeds(family_of(2), np.ones(1)).share)
    with pytest.raises(ValueError, match=r"\(2,\) are not of 1 pairs"):
        AnyExceeds(family_of(2), np.ones(2))
