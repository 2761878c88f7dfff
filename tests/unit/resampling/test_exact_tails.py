"""Tails far below the smallest float64 error, against integer convolution without rounding."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pipeline.resampling.exact.bootstrap import bootstrap_chances
from pipeline.resampling.exact.flips import sign_flip_chances
from pipeline.resampling.exact.lattice import DIRECT, count_points, split
from pipeline.resampling.exact.tilt import Factors, cumulants, highest, make_factor, reflect, window


def raise_polynomial(coefficients, power):
    """Give the coefficients of a polynomial of integers to a power, as one large integer in a large base."""
    bits = power * sum(coefficients).bit_length() + 8
    number = sum(value << (bits * k) for k, value in enumerate(coefficients)) ** power
    size = power * (len(coefficients) - 1) + 1
    return [(number >> (bits * k)) & ((1 << bits) - 1) for k in range(size)]


def error(log, ways, log_total):
    if ways == 0:
        return 0.0 if log == -math.inf else math.inf
    return abs(math.expm1(log - (math.log(ways) - log_total)))


LAWS = {
    "accuracy": [9, 120, 21],
    "skewed": [60, 0, 3, 0, 0, 1, 0, 0, 0, 1],
    "far outlier": [1, 40, 30, *[0] * 40, 1],
    "two points": [80, 1],
    "sparse": [90, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 1],
}


@pytest.mark.parametrize("name", LAWS)
def test_tails_of_any_depth_agree_with_integer_convolution(name):
    counts = LAWS[name]
    draws = sum(counts)
    values = np.flatnonzero(counts)
    law = make_factor(values, np.array(counts)[values], draws=draws)
    ways = raise_polynomial(counts, draws)
    beyond = [0]
    for value in reversed(ways):
        beyond.append(beyond[-1] + value)
    beyond.reverse()  # ways to reach s or more
    deepest, log_total = 0.0, draws * math.log(draws)
    for x in range(0, len(ways), max(1, len(ways) // 60)):
        found = split(law, x)
        assert error(found.above, beyond[x + 1], log_total) < 1e-9
        assert error(found.below, beyond[0] - beyond[x], log_total) < 1e-9
        assert error(float(np.logaddexp(found.at, found.above)), beyond[x], log_total) < 1e-9
        assert error(float(np.logaddexp(found.at, found.below)), beyond[0] - beyond[x + 1], log_total) < 1e-9
        # A point mass is known relative to the smaller tail from it on.
        log_least = math.log(min(beyond[x], beyond[0] - beyond[x + 1])) - log_total
        exact = math.exp(math.log(ways[x]) - log_total - log_least) if ways[x] else 0.0
        assert math.exp(found.at - log_least) == pytest.approx(exact, rel=1e-9, abs=1e-9)
        deepest = min(deepest, found.above if found.above > -math.inf else 0)
    assert deepest < -math.log(10) * 100


@pytest.mark.parametrize(("wins", "losses", "ties"), [(300, 10, 90), (320, 1, 0)])
def test_bootstrap_p_values_near_1e_300_have_a_relative_error_below_1e_9(wins, losses, ties):
    """P(δ* ≤ 0) by integer convolution; a plain transform gives about 1e-16."""
    draws = wins + losses + ties
    ways = sum(raise_polynomial([losses, ties, wins], draws)[: draws + 1])
    found = bootstrap_chances(np.repeat([1, -1, 0], [wins, losses, ties])).up_to_zero
    assert error(found.log_low, ways, draws * math.log(draws)) < 1e-9
    assert found.log10_p < (-300 if losses == 1 else -90)


@pytest.mark.parametrize("wins", [60, 400, 1000, 1100])
def test_sign_flips_of_wins_and_losses_are_binomial_to_1e_9(wins):
    losses = 5
    m = wins + losses
    ways = 2 * sum(math.comb(m, k) for k in range(losses + 1))
    found = sign_flip_chances(np.repeat([1, -1], [wins, losses])).two_sided
    assert error(found.log_low, ways, m * math.log(2)) < 1e-9
    assert math.isfinite(found.log10_p)


def test_sign_flips_of_many_sizes_agree_with_integer_convolution():
    rng = np.random.default_rng(3)
    d = rng.integers(1, 900, 300) * np.where(rng.random(300) < 0.2, -1, 1)
    ways = 1
    for size in np.abs(d).tolist():
        ways += ways << (320 * size)
    least = (int(d.sum()) + int(np.abs(d).sum())) // 2
    ways >>= 320 * least
    total, mask = 0, (1 << (320 * 4096)) - 1
    while ways:
        block = ways & mask
        ways >>= 320 * 4096
        total += sum(int.from_bytes(block.to_bytes(40 * 4096, "little")[i : i + 40], "little") for i in range(0, 40 * 4096, 40))
    found = sign_flip_chances(d).one_sided
    assert found.is_exact
    assert error(found.log_low, total, 300 * math.log(2)) < 1e-9
    assert found.log10_p < -8


def test_a_fast_transform_and_direct_sums_agree():
    rng = np.random.default_rng(4)
    values = np.unique(np.concatenate([[0], rng.integers(1, 4000, 400)]))
    counts = rng.integers(1, 9, len(values))
    law = make_factor(values, counts, draws=300)
    x = int(cumulants(law, 0.0)[1] * 1.2)
    assert len(law.atoms) * count_points(law, x) > DIRECT
    # The same law twice, as two factors: neither result can be a copy of the other.
    few = values[:12]
    single = make_factor(few, counts[:12], draws=40)
    double = Factors(np.tile(few, 2), np.tile(single.chances, 2), np.array([0, 12, 24]), np.array([25, 15]))
    middle = highest(single) // 2
    np.testing.assert_allclose(split(single, middle), split(double, middle), rtol=1e-11)
    found, turned = split(law, x), split(reflect(law), highest(law) - x)
    np.testing.assert_allclose(found[0], turned[2], rtol=1e-11)
    np.testing.assert_allclose(found[2], turned[0], rtol=1e-11)


def test_the_window_leaves_next_to_nothing_outside():
    law = make_factor(np.array([0, 1, 40]), np.array([90, 9, 1]), draws=100)
    ways = raise_polynomial([90, 9] + [0] * 38 + [1], 100)
    low, high = window(law, 0.0)
    assert high < highest(law)
    assert sum(ways[:low]) + sum(ways[high + 1 :]) < 10 ** (200 - 29)


def test_a_ring_that_is_too_wide_is_refused_with_both_numbers():
    law = make_factor(np.array([0, 1, 10**6]), np.array([5, 5, 1]), draws=11)
    with pytest.raises(ValueError, match=r"\d+ points is asked for, and 1000 are allowed"):
        split(law, 3 * 10**6, max_points=1000)
