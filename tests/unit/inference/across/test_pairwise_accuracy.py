"""Soft pairwise accuracy by hand, Gaussian p as SciPy's, and a test of two measures that holds its level."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom, norm

from pipeline.inference.across.pairwise_accuracy import gaussian_p, permute_measures, soft_accuracy
from pipeline.resampling.draws import Draws
from pipeline.resampling.swaps import draw_swap


def pairs_of(systems: int) -> np.ndarray:
    return np.array(list(combinations(range(systems), 2)))


def test_gaussian_p_is_that_of_the_mean_difference() -> None:
    values = np.random.default_rng(1).normal(size=(4, 30)) + np.array([[0.5], [0.0], [0.1], [0.0]])
    pairs = pairs_of(4)
    for (a, b), p in zip(pairs, gaussian_p(values, pairs), strict=True):
        difference = values[a] - values[b]
        assert p == pytest.approx(norm.sf(difference.mean() / (difference.std(ddof=1) / np.sqrt(30))), abs=1e-12)


def test_where_nothing_varies_p_is_certain() -> None:
    values = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [0.0, 1.0, 2.0]])
    assert gaussian_p(values, pairs_of(3)).tolist() == [0.5, 0.0, 0.0]
    assert gaussian_p(values, pairs_of(3)[:, ::-1]).tolist() == [0.5, 1.0, 1.0]


@pytest.mark.parametrize("changed", [0.1, 1.0, 30.0])
def test_of_a_copy_with_one_unit_changed_it_is_no_more_certain_than_that_unit(changed: float) -> None:
    """Its squares are a millionth of a millionth of the systems' own: δ/se is 1, whatever the unit is changed by."""
    values = np.repeat(np.random.default_rng(1).normal(0, 1e4, (1, 100_000)), 2, axis=0)
    values[1, 0] += changed
    assert gaussian_p(values, np.array([[1, 0], [0, 1]])) == pytest.approx(norm.sf([1, -1]), abs=1e-4)


def test_differences_that_are_rounding_are_none() -> None:
    values = np.random.default_rng(1).normal(50, 10, (1, 1000)).repeat(3, axis=0)
    values[1] *= 1 + 2e-16
    values[2] += 1e-3
    assert (values[1] != values[0]).any()
    assert gaussian_p(values, pairs_of(3)).tolist() == [0.5, 1.0, 1.0]


@pytest.mark.parametrize("units", [2, 3, 10, 1000])
def test_constants_that_differ_by_rounding_are_one(units: int) -> None:
    """Their spread is 0, or rounding itself: what is rounding is told by their size."""
    values = np.repeat([[0.1 * 3], [0.3], [0.7 + 0.1], [0.8], [0.8 + 1e-9]], units, axis=1)
    assert (values[0] != values[1]).all()
    assert (values[2] != values[3]).all()
    pairs = np.array([[0, 1], [1, 0], [2, 3], [3, 2], [2, 1], [3, 4], [4, 2]])
    assert gaussian_p(values, pairs).tolist() == [0.5, 0.5, 0.5, 0.5, 0.0, 1.0, 0.0]


def test_nothing_is_known_of_one_unit() -> None:
    assert gaussian_p(np.array([[1.0], [0.0]]), np.array([[0, 1], [1, 0]])).tolist() == [0.5, 0.5]


def test_small_differences_of_large_values_are_differences() -> None:
    difference = np.random.default_rng(1).normal(1e-5, 1e-4, 100_000)
    base = np.full(100_000, 1e6)
    values = np.stack([base + difference, base])
    seen = values[0] - values[1]
    expected = norm.sf(seen.mean() / (seen.std(ddof=1) / np.sqrt(100_000)))
    assert gaussian_p(values, np.array([[0, 1]]))[0] == pytest.approx(expected, rel=1e-3)


def test_the_test_of_two_measures_swaps_whole_units_of_standardised_values() -> None:
    rng = np.random.default_rng(2)
    systems, units = 5, 40
    ability = rng.normal(size=(systems, 1))
    reference = gaussian_p(ability + rng.normal(size=(systems, units)), pairs_of(systems))
    one, other = 10 * (ability + 2 * rng.normal(size=(systems, units))) + 3, ability + rng.normal(size=(systems, units))
    draws = Draws(key=77, n_units=units, n_draws=units)
    difference, p = permute_measures(one, other, reference, pairs_of(systems), draws, permutations=99)

    def accuracy(values: np.ndarray) -> float:
        return soft_accuracy(gaussian_p(values, pairs_of(systems)), reference)

    a, b = ((x - x.mean()) / x.std() for x in (one, other))
    assert difference == pytest.approx(accuracy(one) - accuracy(other))
    hits = 0
    for number in range(99):
        swapped = draw_swap(draws, number)
        x, y = a.copy(), b.copy()
        x[:, swapped], y[:, swapped] = b[:, swapped], a[:, swapped]
        hits += abs(accuracy(x) - accuracy(y)) >= abs(difference) - 1e-12
    assert p == (hits + 1) / 100


@pytest.mark.statistical
def test_measures_that_are_equally_good_are_told_apart_no_more_often_than_the_level() -> None:
    """200 studies of two measures with the same law: false alarm below 1e-6 where the level is .05."""
    rng = np.random.default_rng(np.random.SeedSequence().entropy)
    systems, units, studies = 6, 40, 200
    rejected = 0
    for _ in range(studies):
        ability, hard = rng.normal(0, 0.3, (systems, 1)), rng.normal(size=(1, units))
        reference = gaussian_p(ability + hard + rng.normal(size=(systems, units)), pairs_of(systems))
        one, other = (ability + hard + rng.normal(size=(systems, units)) for _ in range(2))
        draws = Draws(int(rng.integers(2**63)), units, units)
        rejected += permute_measures(one, other, reference, pairs_of(systems), draws, permutations=39)[1] <= 0.05  # 2 of 40
    assert binom.sf(rejected - 1, studies, 0.05) > 1e-6, rejected


def test_a_measure_of_noise_is_found_out() -> None:
    rng = np.random.default_rng(4)
    ability = np.linspace(-1, 1, 8)[:, None]
    reference = gaussian_p(ability + rng.normal(size=(8, 100)), pairs_of(8))
    good, noise = ability + rng.normal(size=(8, 100)), rng.normal(size=(8, 100))
    difference, p = permute_measures(good, noise, reference, pairs_of(8), Draws(1, 100, 100), permutations=199)
    assert difference > 0.2
    assert p == 1 / 200
    assert permute_measures(good, good, reference, pairs_of(8), Draws(1, 100, 100), permutations=99) == (0.0, 1.0)
