"""Minimum detectable effects, against SciPy's noncentral laws and binomial sums that are added up one by one."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import stats

from pipeline.inference.power import (
    critical_value,
    critical_wins,
    detectable_gain,
    exact_detectable_gain,
    exact_units_for_gain,
    level_of,
    units_for_gain,
)

LEVELS = (0.05, 0.05 / 105, 1e-6)


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_a_gaussian_effect_is_the_sum_of_two_quantiles(power: float) -> None:
    se = np.array([0.5, 2.0])
    for level in LEVELS:
        expected = (stats.norm.isf(level / 2) + stats.norm.ppf(power)) * se
        assert detectable_gain(se, level=level, power=power) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("freedom", [2.0, 3.5, 9.0, 19.0, 499.0])
@pytest.mark.parametrize("level", LEVELS)
def test_a_student_effect_has_the_power_of_the_noncentral_law(freedom: float, level: float) -> None:
    (found,) = detectable_gain(np.array([3.0]), level=level, freedom=freedom)
    assert stats.nct.sf(stats.t.isf(level / 2, freedom), freedom, found / 3.0) == pytest.approx(0.8, abs=1e-9)


def test_one_degree_of_freedom_needs_a_gain_in_proportion_to_the_critical_value() -> None:
    (found,) = detectable_gain(np.ones(1), level=1e-6, freedom=1.0)  # nct of SciPy breaks down here
    wide = 1e5
    rng = np.random.default_rng(1)
    spread = np.abs(rng.standard_normal(2_000_000))  # the root of a chi-squared with one degree of freedom
    # P(Z + λ > c W): with λ of hundred thousands Z does not count. False alarm: 5 standard errors of the share.
    assert found > wide
    assert np.mean(found > stats.t.isf(5e-7, 1) * spread) == pytest.approx(0.8, abs=5 * 0.4 / np.sqrt(2e6))


def test_levels_and_critical_values_are_one_another_s() -> None:
    c = np.array([1.96, 3.5])
    assert level_of(c) == pytest.approx(2 * stats.norm.sf(c), rel=1e-12)
    assert level_of(c, np.array([4.0, 30.0])) == pytest.approx(2 * stats.t.sf(c, [4, 30]), rel=1e-12)
    for freedom in (None, 4.0):
        assert critical_value(level_of(c, freedom), freedom) == pytest.approx(c, rel=1e-9)


def tail(wins: int, trials: int, chance: Fraction | float) -> Fraction | float:
    return sum(comb(trials, j) * chance**j * (1 - chance) ** (trials - j) for j in range(wins, trials + 1))


@pytest.mark.parametrize("m", [1, 5, 6, 7, 20, 35, 60, 200])
@pytest.mark.parametrize("level", [0.05, 0.0625, 0.05 / 3, 1e-4])
def test_an_exact_effect_has_its_power_in_binomial_sums(m: int, level: float) -> None:
    (k,) = critical_wins(np.array([m]), level).tolist()
    if k > m:
        assert Fraction(2, 2**m) > Fraction(level)
        assert np.isnan(exact_detectable_gain(np.array([m]), 300, level=level)).all()
        return
    assert 2 * tail(k, m, Fraction(1, 2)) <= Fraction(level) < 2 * tail(k - 1, m, Fraction(1, 2))
    (gain,) = exact_detectable_gain(np.array([m]), 300, level=level)
    theta = (gain * 300 / m + 1) / 2
    assert tail(k, m, float(theta)) == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize(("wins", "losses", "units"), [(13, 7, 100), (55, 45, 1000), (9, 2, 50), (19, 1, 30), (5, 0, 9)])
@pytest.mark.parametrize("level", [0.05, 0.05 / 15])
def test_from_the_units_needed_on_the_exact_test_keeps_its_power(wins: int, losses: int, units: int, level: float) -> None:
    m, share = np.arange(1, 4000), wins / (wins + losses)
    power = stats.binom.sf(stats.binom.isf(level / 2, m, 0.5), m, share)
    smallest = m[np.flatnonzero(power < 0.8)[-1]] + 1
    (found,) = exact_units_for_gain(np.array([wins]), np.array([losses]), units, level=level)
    assert found == np.ceil(Fraction(int(smallest) * units, wins + losses))


def test_very_many_units_come_from_the_gaussian_law() -> None:
    (found,) = exact_units_for_gain(np.array([5001]), np.array([4999]), 20_000, level=0.05)
    (about,) = units_for_gain(np.array([2 / 20_000]), np.array([100 / 20_000]), 20_000, level=0.05)
    assert found == pytest.approx(about, rel=1e-3)


@pytest.mark.parametrize("gain", [0.3, 0.5, 1.0, 1.5])
def test_units_by_student_s_law_have_the_power_of_the_noncentral_one(gain: float) -> None:
    power = [stats.nct.sf(stats.t.isf(0.025, n - 1), n - 1, gain * np.sqrt(n)) for n in range(2, 200)]
    needed = 2 + next(k for k, p in enumerate(power) if p >= 0.8)
    (found,) = units_for_gain(np.array([gain]), np.array([0.1]), 100, level=0.05, student=True)
    assert abs(found - needed) <= 1


def test_four_times_the_units_halve_the_effect_and_what_cannot_be_said_is_nan() -> None:
    (units,) = units_for_gain(np.array([0.5]), np.array([1.0]), 1000, level=0.01)
    (again,) = detectable_gain(np.array([np.sqrt(1000 / units)]), level=0.01)
    assert again == pytest.approx(0.5, rel=1e-4)
    assert np.isnan(detectable_gain(np.array([0.0, np.nan, 1.0]), level=np.array([0.05, 0.05, np.nan]))).all()
    assert np.isnan(units_for_gain(np.array([0.0, -1.0, 1e-9]), np.ones(3), 100, level=0.05)).all()
    assert np.isnan(exact_units_for_gain(np.array([3, 2]), np.array([3, 4]), 10, level=0.05)).all()
