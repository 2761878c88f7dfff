"""Tails far below the smallest float64 error, against integer convolution without rounding."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import fields

import numpy as np
import pytest

from pipeline.resampling.exact import lattice as exact_points
from pipeline.resampling.exact.bootstrap import bootstrap_chances
from pipeline.resampling.exact.factors import Factors, highest, make_factor, reflect
from pipeline.resampling.exact.flips import sign_flip_chances
from pipeline.resampling.exact.lattice import DIRECT, count_points, split
from pipeline.resampling.exact.tilt import LOG_ALIAS, cumulants, window


def raise_polynomial(coefficients, power):
    """Return the coefficients of a polynomial of integers to a power, as one large integer in a large base."""
    bits = power * sum(coefficients).bit_length() + 8
    number = sum(value << (bits * k) for k, value in enumerate(coefficients)) ** power
    size = power * (len(coefficients) - 1) + 1
    return [(number >> (bits * k)) & ((1 << bits) - 1) for k in range(size)]


def error(log, ways, log_total):
    if ways == 0:
        return 0.0 if log == -math.inf else math.inf
    return abs(math.expm1(log - (math.log(ways) - log_total)))


def logs(event):
    """Return the logarithms of below, at, above, up to and from there on, all of them exact."""
    chances = [getattr(event, field.name) for field in fields(event)]
    assert all(chance.is_exact for chance in chances)
    return np.array([chance.log_low for chance in chances])


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
        truths = (beyond[0] - beyond[x], ways[x], beyond[x + 1], beyond[0] - beyond[x + 1], beyond[x])
        for field, truth in zip(fields(found), truths, strict=True):
            chance = getattr(found, field.name)
            assert chance.is_exact, (x, field.name)
            assert error(chance.log_low, truth, log_total) < 1e-9, (x, field.name)
        deepest = min(deepest, found.above.log_low if beyond[x + 1] else 0)
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
    d = rng.integers(1, 700, 180) * np.where(rng.random(180) < 0.2, -1, 1)
    ways, length = 1, 24  # bytes of a count, of which there are at most 2**180
    for size in np.abs(d).tolist():
        ways += ways << (8 * length * size)
    least = (int(d.sum()) + int(np.abs(d).sum())) // 2
    counts = (ways >> 8 * length * least).to_bytes(length * (int(np.abs(d).sum()) - least + 1), "little")
    total = sum(int.from_bytes(counts[i : i + length], "little") for i in range(0, len(counts), length))
    found = sign_flip_chances(d).one_sided
    assert found.is_exact
    assert error(found.log_low, total, 180 * math.log(2)) < 1e-9
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
    flags = np.zeros(24, bool)
    double = Factors(np.tile(few, 2), np.tile(single.chances, 2), flags, np.array([0, 12, 24]), np.array([25, 15]))
    middle = highest(single) // 2
    np.testing.assert_allclose(logs(split(single, middle)), logs(split(double, middle)), rtol=1e-11)
    found, turned = logs(split(law, x)), logs(split(reflect(law), highest(law) - x))
    np.testing.assert_allclose(found, turned[[2, 1, 0, 4, 3]], rtol=1e-11)


def test_the_window_leaves_next_to_nothing_outside():
    law = make_factor(np.array([0, 1, 40]), np.array([90, 9, 1]), draws=100)
    ways = raise_polynomial([90, 9] + [0] * 38 + [1], 100)
    low, high = window(law, 0.0, LOG_ALIAS)
    assert high < highest(law)
    assert sum(ways[:low]) + sum(ways[high + 1 :]) < 10 ** (200 - 29)


def test_a_ring_that_is_too_wide_is_refused_with_both_numbers():
    law = make_factor(np.array([0, 1, 10**6]), np.array([5, 5, 1]), draws=11)
    with pytest.raises(ValueError, match=r"\d+ points is asked for, and 1000 are allowed"):
        split(law, 3 * 10**6, max_points=1000)


def count_ways(d, c, event):
    """Count the samples of n units with Σc > 0, and those of them for which the event holds."""
    ways = {(0, 0): 1}
    kinds = Counter(zip(d, c, strict=True))
    for _ in d:
        new: Counter[tuple[int, int]] = Counter()
        for (sum_d, sum_c), many in ways.items():
            for (a, b), count in kinds.items():
                new[sum_d + a, sum_c + b] += many * count
        ways = dict(new)
    defined = {key: many for key, many in ways.items() if key[1]}
    return sum(many for key, many in defined.items() if event(*key)), sum(defined.values())


MISSED = [  # 2δ is a point of the lattice of C d − 2 D c that few samples reach; of the last, none
    ([1, 0, 0, 0, 2, 1, 1, 1, 1, 1, 0, 1, 2, 1, 1, 1, 0, 1, 1, 2], [4, 2, 1, 1, 2, 4, 1, 2, 2, 4, 4, 4, 1, 2, 4, 4, 1, 1, 1, 4]),
    ([2, 1, 1, 1, 1, 0, 1, 1, 2, 1, 0, 1, 1, 1, 1, 1, 1, 0], [4, 4, 0, 2, 2, 4, 0, 2, 0, 4, 4, 2, 4, 0, 1, 4, 0, 2]),
    ([1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1], [2, 2, 0, 0, 4, 1, 2, 4, 4, 0, 0, 4, 2, 4]),
]


@pytest.mark.parametrize(("d", "c"), MISSED)
def test_a_point_that_the_lattice_all_but_misses_keeps_its_digits(d, c):
    hits, defined = count_ways(d, c, lambda sum_d, sum_c: sum_d * sum(c) == 2 * sum(d) * sum_c)
    found = bootstrap_chances(np.array(d), np.array(c)).at_twice
    assert found.is_exact
    assert error(found.log_low, hits, math.log(defined)) < 1e-9


@pytest.mark.parametrize(("d", "c"), MISSED)
def test_on_a_longer_lattice_such_a_point_has_bounds(d, c, monkeypatch):
    """Nothing that could be lost is called exact; the tails that contain the point still are."""
    monkeypatch.setattr(exact_points, "_WIDEST", 0)
    found = bootstrap_chances(np.array(d), np.array(c))
    hits, defined = count_ways(d, c, lambda sum_d, sum_c: sum_d * sum(c) == 2 * sum(d) * sum_c)
    log_truth = math.log(hits) - math.log(defined) if hits else -math.inf
    if found.at_twice.is_exact:
        assert error(found.at_twice.log_low, hits, math.log(defined)) < 1e-9
    assert found.at_twice.log_low <= log_truth + 1e-9
    assert log_truth <= found.at_twice.log_high + 1e-9
    assert found.from_twice.is_exact
    assert found.two_sided.is_exact


def test_a_point_that_no_sum_reaches_has_no_mass():
    law = make_factor(np.array([0, 6, 10, 15]), np.array([1, 1, 1, 1]), draws=6)
    for x in (7, 8, 14, 29, 83):
        assert split(law, x).at.p == 0
    assert split(law, 31).at.p == pytest.approx(6 * 5 * 4 / 4**6, rel=1e-12)  # 6 + 10 + 15 + 0 · 3
