"""Intervals for quantiles over pairs: binomial order statistics, independent pairs, and populations whose quantile is known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, optimize, stats

from pipeline.inference.intervals.system_quantiles import SystemSample, needed_pairs, order_limits, quantile_interval

Z = 1.6448536269514722


def alone(systems: int) -> SystemSample:
    return SystemSample(np.arange(systems), np.zeros(systems, dtype=np.int64))


def disjoint(values: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64], SystemSample]:
    """Pairs that share no system, each brought by one draw."""
    number = len(values)
    draws = np.repeat(np.arange(number), 2)
    return np.arange(0, 2 * number, 2), np.arange(1, 2 * number, 2), SystemSample(draws, np.zeros(2 * number, dtype=np.int64))


@pytest.mark.parametrize("share", [0.5, 0.75, 0.9, 0.95, 0.99])
def test_both_ends_exist_from_as_many_values_as_the_binomial_law_says(share: float) -> None:
    needed = needed_pairs(share)
    assert needed is not None
    # The largest of n values is below the quantile with the probability q^n.
    assert stats.binom.pmf(needed, needed, share) <= 0.025 < stats.binom.pmf(needed - 1, needed - 1, share)
    assert None not in order_limits(needed, share)
    assert order_limits(needed - 1, share)[1] is None
    assert order_limits(needed - 1, 1 - share)[0] is None


@pytest.mark.parametrize(("pairs", "share"), [(20, 0.5), (100, 0.5), (100, 0.95), (150, 0.95), (400, 0.9)])
def test_the_limits_are_those_of_the_binomial_law(pairs: int, share: float) -> None:
    low, high = order_limits(pairs, share)
    assert low is not None
    assert high is not None
    upper, lower = high * pairs, low * pairs
    assert stats.binom.sf(np.ceil(upper) - 1, pairs, share) <= 0.025 < stats.binom.sf(np.floor(upper) - 1, pairs, share)
    assert stats.binom.cdf(np.floor(lower) - 1, pairs, share) <= 0.025 < stats.binom.cdf(np.ceil(lower) - 1, pairs, share)


def test_pairs_that_share_nothing_are_worth_their_number() -> None:
    values = np.random.default_rng(1).normal(size=400)
    first, second, systems = disjoint(values)
    found = quantile_interval(values, first, second, 0.5, systems=systems)
    # The jackknife divides by m − 1, and Student's t stands in the normal law's place.
    widen = (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 399)) ** 2
    assert found.pairs == pytest.approx(399 * widen, rel=0.01)
    low, high = order_limits(found.pairs, 0.5)
    ordered = np.sort(values)
    assert low is not None
    assert high is not None
    assert (found.lo, found.hi) == (ordered[int(np.ceil(low * 400)) - 1], ordered[int(np.ceil(high * 400))])


def test_systems_that_come_together_are_no_more_than_one() -> None:
    """Forty draws, each of one system or of five: the pairs are ten and twenty-five times as many and worth the same."""
    rng = np.random.default_rng(2)
    spread = rng.gamma(2.0, size=40)
    found = []
    for copies in (1, 5):
        own = np.repeat(spread, copies)
        first, second = np.triu_indices(len(own), 1)
        there = own[first] != own[second]
        systems = SystemSample(np.repeat(np.arange(40), copies), np.zeros(len(own), dtype=np.int64))
        values = (own[first] + own[second])[there]
        found.append(quantile_interval(values, first[there], second[there], 0.5, systems=systems))
    assert found[1].pairs == pytest.approx(found[0].pairs, rel=1e-9)


def test_draws_within_strata_do_not_count_what_lies_between_strata() -> None:
    rng = np.random.default_rng(3)
    level = np.repeat([0.0, 10.0, 20.0], 30) + rng.normal(size=90)
    first, second = np.triu_indices(90, 1)
    values = level[first] + level[second]
    together = quantile_interval(values, first, second, 0.5, systems=alone(90))
    within = SystemSample(np.arange(90), np.repeat(np.arange(3), 30))
    apart = quantile_interval(values, first, second, 0.5, systems=within)
    assert apart.pairs == 90  # at most one a system
    assert together.pairs < 75


def test_neither_the_order_of_pairs_nor_that_of_systems_matters() -> None:
    rng = np.random.default_rng(4)
    spread = rng.gamma(2.0, size=100)
    first, second = np.triu_indices(100, 1)
    values = np.round(spread[first] + spread[second], 1)  # with ties
    order, named = rng.permutation(len(values)), rng.permutation(100)
    one = quantile_interval(values, first, second, 0.9, systems=alone(100))
    other = quantile_interval(values[order], named[first[order]], named[second[order]], 0.9, systems=alone(100))
    assert (one.lo, one.hi) == (other.lo, other.hi)
    assert one.pairs == pytest.approx(other.pairs)
    assert one.lo is not None


def test_few_systems_have_no_upper_end_whatever_their_pairs() -> None:
    spread = np.random.default_rng(5).gamma(2.0, size=60)
    first, second = np.triu_indices(60, 1)
    found = quantile_interval(spread[first] + spread[second], first, second, 0.95, systems=alone(60))
    assert len(first) == 1770
    assert found.pairs <= 60 < (found.needed or 0) == 72
    assert found.hi is None


def test_one_system_that_makes_the_tail_is_worth_little() -> None:
    """The largest twentieth of the pairs of 80 systems: here all of them are pairs of two systems, there of any."""
    first, second = np.triu_indices(80, 1)
    rng = np.random.default_rng(6)
    of_two = rng.random(len(first)) + ((first < 2) | (second < 2))
    of_any = rng.random(len(first))
    few, many = (quantile_interval(values, first, second, 0.95, systems=alone(80)) for values in (of_two, of_any))
    assert few.pairs < 50
    assert few.hi is None
    assert many.hi is not None


def _gamma_spread(rng: np.random.Generator, systems: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Standard errors whose squares are sums of two gamma variables, one a system."""
    variance = rng.gamma(3.0, size=systems)
    first, second = np.triu_indices(systems, 1)
    return np.sqrt(variance[first] + variance[second]), first, second


def test_the_planted_threshold_by_standard_errors_is_in_the_interval() -> None:
    """The squared se is gamma with twice the shape, so its quantile is known; misses of a 95 % interval: 14 of 200 have p = .12."""
    truth = Z * float(np.sqrt(stats.gamma.ppf(0.95, 6.0)))
    covered, shown = 0, 0
    for study in range(200):
        se, first, second = _gamma_spread(np.random.default_rng([7, study]), 120)
        found = quantile_interval(Z * se, first, second, 0.95, systems=alone(120))
        shown += found.lo is not None and found.hi is not None
        covered += found.lo is not None and found.hi is not None and found.lo <= truth <= found.hi
    assert shown >= 180
    assert covered >= 0.93 * shown


def test_the_planted_threshold_of_the_window_is_in_the_interval() -> None:
    """Gains are Gaussian and independent of se, so the law of a gain with p in [.04, .06] is an integral."""
    wide, low, high = 6.0, float(stats.norm.isf(0.06)), float(stats.norm.isf(0.04))

    def share(limit: float) -> float:
        """Return the mass of pairs in the window with a gain up to a limit, se² gamma with shape 6."""

        def at(variance: float) -> float:
            se = np.sqrt(variance)
            ends = stats.norm.cdf([low * se / wide, max(min(high * se, limit), low * se) / wide])
            return float((ends[1] - ends[0]) * stats.gamma.pdf(variance, 6.0))

        return float(integrate.quad(at, 0, 60, limit=200)[0])

    whole = share(np.inf)
    truth = float(optimize.brentq(lambda limit: share(limit) / whole - 0.95, 2.0, 10.0))
    covered, shown = 0, 0
    for study in range(200):
        rng = np.random.default_rng([8, study])
        se, first, second = _gamma_spread(rng, 150)
        score = rng.normal(0, wide / np.sqrt(2), 150)
        gain = np.abs(score[first] - score[second])
        p = stats.norm.sf(gain / se)
        inside = (p >= 0.04) & (p <= 0.06)
        found = quantile_interval(gain[inside], first[inside], second[inside], 0.95, systems=alone(150))
        shown += found.lo is not None and found.hi is not None
        covered += found.lo is not None and found.hi is not None and found.lo <= truth <= found.hi
    assert shown >= 150
    assert covered >= 0.93 * shown


def test_pairs_of_exactly_the_percentile_are_worth_the_systems_that_make_them() -> None:
    """Eight of 80 systems make every pair with the value 2, a fifth of all: the percentile is 2, and eight systems say little."""
    first, second = np.triu_indices(80, 1)
    values = np.where((first < 8) | (second < 8), 2.0, 1.0)
    assert np.mean(values == 2.0) == pytest.approx(604 / 3160)
    assert np.percentile(values, 95) == 2.0
    found = quantile_interval(values, first, second, 0.95, systems=alone(80))
    assert found.pairs < 50
    assert found.hi is None
