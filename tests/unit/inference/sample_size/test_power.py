"""Minimum detectable effects, against SciPy's noncentral laws and binomial sums that are added up one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pipeline.inference.sample_size import binomial_power
from pipeline.inference.sample_size.binomial_power import (
    critical_wins,
    critical_wins_of_t,
    exact_detectable_gain,
    exact_units_for_gain,
)
from pipeline.inference.sample_size.planning import units_needed
from pipeline.inference.sample_size.power import critical_value, detectable_gain, level_of, power_of_gain, units_for_gain

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
    if losses:
        assert found == np.ceil(Fraction(int(smallest) * units, wins + losses))
        return
    # With wins alone that number of them is always enough; what is left to chance is whether there are that many.
    enough = stats.binom.sf(smallest - 1, [found - 1, found], wins / units)
    assert enough[0] < 0.8 <= enough[1]


@pytest.mark.parametrize(("wins", "units"), [(1, 400), (5, 100), (3, 20)])
def test_without_losses_as_many_units_are_needed_as_for_a_plan(wins: int, units: int) -> None:
    (found,) = exact_units_for_gain(np.array([wins]), np.array([0]), units, level=0.05)
    assert found == units_needed(wins / units, 0.0)


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
    assert units_for_gain(np.array([1e-3]), np.ones(1), 100, level=0.05, power=0.01) == 2  # that power it has by chance
    assert np.isnan(exact_units_for_gain(np.array([3, 2]), np.array([3, 4]), 10, level=0.05)).all()


@pytest.mark.parametrize("freedom", [1.5, 9.0, 49.0, 1e6])
def test_a_gain_has_the_power_that_it_is_the_minimum_for(freedom: float) -> None:
    se, level = np.array([0.5, 2.0]), np.array([0.05, 1e-4])
    for power in (0.3, 0.8):
        gain = detectable_gain(se, level=level, power=power, freedom=freedom)
        assert power_of_gain(gain, se, level=level, freedom=freedom) == pytest.approx(power, abs=1e-8)
    assert power_of_gain(1e4 * gain, se, level=level, freedom=freedom) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("freedom", [9.0, 49.0, None])
def test_a_test_that_divides_by_something_else_asks_a_gain_of_its_own_size(freedom: float | None) -> None:
    se, divisor = np.array([1.0, 1.0, 2.0]), np.array([1.0, 3.0, 0.5])
    gain = detectable_gain(se, level=0.01, freedom=freedom, divisor=divisor)
    law = stats.norm if freedom is None else stats.t(freedom)
    beyond = law.isf(0.005) * divisor / se  # what T or the Gaussian, which have the spread of the gain, must exceed
    found = stats.norm.sf(beyond - gain / se) if freedom is None else stats.nct.sf(beyond, freedom, gain / se)
    assert found == pytest.approx(0.8, abs=1e-9)
    assert detectable_gain(se, level=0.01, freedom=freedom, divisor=se) == pytest.approx(
        detectable_gain(se, level=0.01, freedom=freedom), rel=1e-14
    )


def test_units_of_a_test_that_divides_by_something_else_show_the_gain_with_the_power() -> None:
    se, divisor, gain = np.array([1.0, 1.0]), np.array([3.0, 0.5]), np.array([0.05, 0.05])
    units = units_for_gain(gain, se, 100, level=0.01, divisor=divisor)
    at = np.sqrt(100 / units)
    assert detectable_gain(se * at, level=0.01, divisor=divisor * at) == pytest.approx(gain, rel=1e-3)
    assert np.isnan(units_for_gain(gain, se, 100, level=0.01, divisor=np.array([0.0, np.nan]))).all()


@pytest.mark.parametrize("stretch", [0.6, 1.0, 1.5, 3.0])
@pytest.mark.parametrize("gain", [0.3, 1.0, 2.0])
def test_units_of_a_student_test_that_divides_by_something_else_are_those_of_the_noncentral_law(
    stretch: float, gain: float
) -> None:
    """Within one or two of them: what few units cost is not what it would be if the test divided by what gains vary by."""
    se = np.array([1.0])
    (units,) = units_for_gain(np.array([gain]), se, 30, level=0.05, student=True, divisor=stretch * se).tolist()

    def power(n: float) -> float:
        return float(stats.nct.sf(stretch * stats.t.isf(0.025, n - 1), n - 1, gain / np.sqrt(30 / n)))

    assert power(units + 2) > 0.8 > power(units - 2)


def t_of(wins: int, m: int, units: int) -> float:
    """The gain over its standard error, of units that differ by 1, −1 and 0; where they are few the quantile of their exact p."""
    if m < 20:
        return float(stats.t.isf(min(1.0, 2 * tail(wins, m, 0.5)) / 2, units - 1))
    differences = np.repeat([1.0, -1.0, 0.0], [wins, m - wins, units - m])
    return float(differences.mean() / (differences.std(ddof=1) / np.sqrt(units)))


@pytest.mark.parametrize("units", [60, 100, 1000])
@pytest.mark.parametrize("critical", [1.9, 2.0, 2.9, 4.1])
def test_the_fewest_wins_of_t_reach_the_critical_value_and_one_less_does_not(units: int, critical: float) -> None:
    for m in (3, 8, 12, 19, 20, 24, 41, 59):
        (k,) = critical_wins_of_t(np.array([m]), units, critical=critical, level=0.05).tolist()
        (exact,) = critical_wins(np.array([m]), 0.05).tolist() if m < 20 else (0,)
        reaching = [w for w in range(m // 2 + 1, m + 1) if w >= exact and t_of(w, m, units) >= critical]
        assert k == (reaching[0] if reaching else m + 1)


def test_the_fewest_wins_of_few_units_are_held_to_the_level_and_beyond_the_critical_value() -> None:
    eight, n = np.array([8]), 100
    assert [tail(wins, 8, 0.5) * 2 for wins in (7, 8)] == [0.0703125, 0.0078125]
    assert critical_wins_of_t(eight, n, critical=1.5, level=0.2).tolist() == [7]
    assert critical_wins_of_t(eight, n, critical=1.5, level=0.05).tolist() == [8]  # p of c is .137
    as_seven = float(stats.t.isf(0.0703125 / 2, n - 1))  # what as many as that count for is not beyond it, but for rounding
    for critical, least in ((as_seven * (1 - 1e-6), 7), (as_seven * (1 - 1e-13), 8), (as_seven, 8), (as_seven * (1 + 1e-13), 8)):
        assert critical_wins_of_t(eight, n, critical=critical, level=0.2).tolist() == [least]


def test_one_unit_shows_nothing_even_where_no_t_is_asked_for() -> None:
    with np.errstate(all="raise"):
        assert critical_wins_of_t(np.array([1, 1]), np.array([1, 2]), critical=0.0, level=1.0).tolist() == [2, 2]  # its p is 1


def test_an_exact_effect_of_t_has_its_power_in_binomial_sums() -> None:
    (gain,) = exact_detectable_gain(np.array([24]), 100, level=0.05, critical=2.0)
    assert tail(17, 24, (gain * 100 / 24 + 1) / 2) == pytest.approx(0.8, abs=1e-9)  # McNemar's test asks for 18
    assert np.isnan(exact_detectable_gain(np.array([5]), 100, level=0.05, critical=2.0)).all()


def test_of_neighbours_with_the_same_critical_wins_one_sum_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = binomial_power.betainc
    monkeypatch.setattr(binomial_power, "betainc", lambda k, other, share: asked.append(k.size) or real(k, other, share))
    monkeypatch.setattr(binomial_power, "_GAUSS", np.inf)  # as where the Gaussian law settles nothing
    found = exact_units_for_gain(np.array([300]), np.array([200]), 2000, level=0.05, critical=2.5)
    assert (found.tolist(), sum(asked)) == ([1140.0], 29)  # of 52 numbers of units


@pytest.mark.parametrize("critical", [None, 2.2])
def test_the_units_of_many_pairs_are_those_of_each_by_itself(critical: float | None) -> None:
    rng = np.random.default_rng(3)
    m = rng.integers(6, 90, 60)
    wins = np.minimum(m // 2 + rng.integers(1, 12, 60), m)
    together = exact_units_for_gain(wins, m - wins, 200, level=0.03, critical=critical)
    k = np.arange(1, 8000)
    exact = stats.binom.isf(0.015, k, 0.5) + 1
    for found, own, all_of_them in zip(together, wins.tolist(), m.tolist(), strict=True):
        least = exact if critical is None else critical_wins_of_t(k, k * 200 / all_of_them, critical=critical, level=0.03)
        lacking = np.flatnonzero(stats.binom.sf(least - 1, k, own / all_of_them) < 0.8)
        smallest = int(k[lacking[-1]]) + 1 if lacking.size else 1
        if own == all_of_them:
            assert found == np.ceil(stats.nbinom.ppf(0.8, smallest, own / 200)) + smallest
        elif smallest < 7000:  # no more are looked at here
            assert found == np.ceil(Fraction(smallest * 200, all_of_them))


def test_sums_below_the_last_one_that_is_not_enough_are_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    betainc = binomial_power.betainc
    monkeypatch.setattr(binomial_power, "betainc", lambda *given: asked.append(np.size(given[0])) or betainc(*given))
    m = np.arange(40, 240)
    wins = np.ceil(m * 0.56)
    given: dict[str, Any] = {"level": 0.01, "critical": 2.6}
    found = exact_units_for_gain(wins, m - wins, 500, **given)
    some, _ = sum(asked), asked.clear()
    monkeypatch.setattr(binomial_power, "_STEPS", 1)
    assert np.array_equal(found, exact_units_for_gain(wins, m - wins, 500, **given))
    assert some < 0.7 * sum(asked)


@pytest.mark.parametrize("power", [0.3, 0.8, 0.97])
def test_what_the_gaussian_law_settles_is_so_of_binomial_sums(power: float) -> None:
    rng = np.random.default_rng(7)
    m = np.arange(60) + np.rint(10 ** rng.uniform(0, 4, (300, 1))).astype(np.int64)
    won = np.append(rng.uniform(0.01, 1, 298), [1e-9, 1.0])[:, None]
    k = np.clip(np.rint(m * won + rng.uniform(-3, 3, m.shape) * np.sqrt(m * won * (1 - won))), 0, m + 1).astype(np.int64)
    lacks, is_open = binomial_power._by_gauss(k, m, np.broadcast_to(won, m.shape), power)
    assert np.array_equal(lacks[~is_open], (stats.binom.sf(k - 1, m, won) < power)[~is_open])
    assert is_open[-1].all()
    assert lacks.any()
    assert (~is_open & ~lacks).any()


@pytest.mark.parametrize("critical", [None, 2.6])
def test_sums_are_made_where_the_gaussian_law_leaves_it_open(critical: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    betainc = binomial_power.betainc
    monkeypatch.setattr(binomial_power, "betainc", lambda *given: asked.append(np.size(given[2])) or betainc(*given))
    m = np.arange(20, 420)
    wins = np.minimum(np.rint(m * np.linspace(0.53, 1.1, len(m))), m)
    given: dict[str, Any] = {"level": 0.01, "critical": critical}
    found = exact_units_for_gain(wins, m - wins, 500, **given)
    some, _ = sum(asked), asked.clear()
    monkeypatch.setattr(binomial_power, "_GAUSS", np.inf)
    assert np.array_equal(found, exact_units_for_gain(wins, m - wins, 500, **given))
    assert some < 0.5 * sum(asked)


@pytest.mark.parametrize("critical", [None, 2.0])
def test_up_to_the_most_units_that_sums_are_for_they_agree_with_the_gaussian_law(critical: float | None) -> None:
    for first in range(2000, 2400, 100):
        m = np.arange(first, first + 100)
        wins = np.ceil(m * 0.51)  # 2.8²/(2 · .51 − 1)² is just below 20 000
        found = exact_units_for_gain(wins, m - wins, m, level=0.05, critical=critical)
        share = 2 * wins / m - 1
        about = units_for_gain(
            share, np.sqrt((1 - share**2) / m), m, level=0.05 if critical is None else level_of(np.array(critical))
        )
        assert found == pytest.approx(about, rel=0.02)


def test_swaps_of_few_units_find_the_smallest_gain_of_a_t_test_about_as_often() -> None:
    units, trials = 10, 4000
    gain = detectable_gain(np.array([1 / np.sqrt(units)]), level=0.05, freedom=units - 1.0)
    drawn = np.random.default_rng(5).normal(gain, 1.0, (trials, units))
    sums = drawn @ np.array(list(product((1.0, -1.0), repeat=units))).T
    p = (np.abs(sums) >= np.abs(sums[:, :1]) - 1e-9).mean(axis=1)
    found = np.mean((p <= 0.05) & (sums[:, 0] > 0))
    assert found == pytest.approx(0.8, abs=0.01 + 4.9 * 0.4 / np.sqrt(trials))  # by the Gaussian law it is .7
