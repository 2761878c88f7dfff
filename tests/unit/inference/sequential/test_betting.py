"""Betting capital is a martingale by enumeration, holds its level however often one looks, and its sequences cover at all looks."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom
from scipy.stats import t as student

from pipeline.inference.sequential.betting import BoundedSequences

FALSE_ALARM = 1e-6
FAIR = [  # (values, their chances): all with mean ½
    ([0.0, 0.5, 1.0], [0.3, 0.4, 0.3]),
    ([0.0, 0.6, 1.0], [0.3, 0.5, 0.2]),
    ([0.0, 0.4, 1.0], [0.125, 0.625, 0.25]),
]


def every_sequence(values: list[float], chances: list[float], length: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """All sequences of a length, with the chance of each."""
    paths = np.array(list(itertools.product(range(len(values)), repeat=length)))
    return np.array(values)[paths], np.array(chances)[paths].prod(axis=1)


def by_hand(x: list[float], m: float, alpha: float) -> tuple[list[float], list[float]]:
    """Both capitals by the formulas of the paper, one value after the other."""
    above, below, total, squares = [1.0], [1.0], 0.0, 0.0
    variance = 0.25
    for t, value in enumerate(x, start=1):
        bet = math.sqrt(2 * math.log(2 / alpha) / (variance * t * math.log(1 + t)))
        above.append(above[-1] * (1 + min(bet, 0.5 / m) * (value - m)))
        below.append(below[-1] * (1 - min(bet, 0.5 / (1 - m)) * (value - m)))
        total += value
        squares += (value - (0.5 + total) / (t + 1)) ** 2
        variance = (0.25 + squares) / (t + 1)
    return above[1:], below[1:]


@pytest.mark.parametrize(("m", "alpha"), [(0.5, 0.05), (0.21, 0.05), (0.8, 0.3)])
def test_the_capital_is_that_of_a_loop_over_the_formulas(m: float, alpha: float) -> None:
    x = np.random.default_rng(3).beta(2, 3, size=200)
    found = BoundedSequences(x[None], 0.0, 1.0, alpha).bet_against(m)
    above, below = by_hand(x.tolist(), m, alpha)
    np.testing.assert_allclose(np.exp(found.log_above[0]), above, rtol=1e-10)
    np.testing.assert_allclose(np.exp(found.log_below[0]), below, rtol=1e-10)
    np.testing.assert_allclose(np.exp(found.log_hedged[0]), (np.array(above) + below) / 2, rtol=1e-10)


@pytest.mark.parametrize(("values", "chances"), FAIR)
def test_the_mean_capital_is_one_after_every_value(values: list[float], chances: list[float]) -> None:
    assert np.dot(values, chances) == pytest.approx(0.5)
    x, chance = every_sequence(values, chances, 8)
    # At this level bets are small enough to stay below the largest that is allowed, and differ from value to value.
    found = BoundedSequences(x, 0.0, 1.0, 0.9).bet_against(0.5)
    for log in (found.log_above, found.log_below, found.log_hedged):
        np.testing.assert_allclose(chance @ np.exp(log), 1.0, rtol=1e-12)


@pytest.mark.parametrize(("values", "chances"), FAIR)
@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
def test_no_way_to_stop_reaches_the_bound_more_often_than_alpha(values: list[float], chances: list[float], alpha: float) -> None:
    # Whoever may stop at any look rejects if the capital ever was 1/α: all 3^8 sequences, no simulation.
    x, chance = every_sequence(values, chances, 8)
    found = BoundedSequences(x, 0.0, 1.0, alpha).bet_against(0.5)
    ever = (found.log_hedged >= np.log(1 / alpha)).any(axis=1)
    assert 0 < chance[ever].sum() <= alpha


def test_values_that_depend_on_the_past_do_not_break_it() -> None:
    # After a win the stakes are small, after a loss large: each value has mean ½ whatever came before it.
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=11)))
    behind = np.cumsum(signs, axis=1) - signs < 0
    x = 0.5 + signs * np.where(behind, 0.5, 0.1)
    found = BoundedSequences(x, 0.0, 1.0, 0.9).bet_against(0.5)
    np.testing.assert_allclose(np.exp(found.log_hedged).mean(axis=0), 1.0, rtol=1e-12)
    assert 0 < (found.log_hedged >= np.log(2)).any(axis=1).mean() <= 0.5


@pytest.mark.parametrize("mean", [0.5, 0.3])
def test_the_sequence_covers_the_mean_at_all_looks_together(mean: float) -> None:
    alpha, chances = 0.3, [0.8 * (1 - mean), 0.2, 0.8 * mean]
    values = [0.0, mean, 1.0]
    x, chance = every_sequence(values, chances, 8)
    found = BoundedSequences(x, 0.0, 1.0, alpha).exclude(range(1, 9))
    missed = ((found.lo > mean) | (found.hi < mean)).any(axis=1)
    assert 0 < chance[missed].sum() <= alpha


def test_the_sequence_holds_the_means_that_were_never_excluded() -> None:
    x = np.random.default_rng(4).choice([0.0, 0.5, 1.0], p=[0.1, 0.5, 0.4], size=(3, 90))
    looks = [5, 30, 90]
    given = BoundedSequences(x, 0.0, 1.0, 0.05)
    found = given.exclude(looks)
    rich = np.log(2 / 0.05)
    for m in np.linspace(0.013, 0.987, 60):
        capital = given.bet_against(float(m))
        for place, look in enumerate(looks):
            np.testing.assert_array_equal(capital.log_above[:, :look].max(axis=1) >= rich, m < found.lo[:, place])
            np.testing.assert_array_equal(capital.log_below[:, :look].max(axis=1) >= rich, m > found.hi[:, place])


def test_ends_never_move_outward_and_mirror_with_the_sides() -> None:
    gains = np.random.default_rng(5).uniform(-1, 1, size=(4, 300)).clip(-0.4, 1)
    one = BoundedSequences(gains, -1.0, 1.0).exclude([1, 10, 100, 300])
    other = BoundedSequences(-gains, -1.0, 1.0).exclude([1, 10, 100, 300])
    assert (np.diff(one.lo, axis=1) >= 0).all()
    assert (np.diff(one.hi, axis=1) <= 0).all()
    np.testing.assert_allclose(one.lo, -other.hi, atol=1e-11)


def test_zero_is_left_out_only_where_the_e_value_has_reached_its_bound() -> None:
    gains = np.random.default_rng(6).choice([-1.0, 0.0, 1.0], p=[0.1, 0.7, 0.2], size=(200, 150))
    given = BoundedSequences(gains, -1.0, 1.0)
    found, capital = given.exclude([150]), given.bet_against(0.0)
    rich = np.maximum(capital.log_above, capital.log_below).max(axis=1) >= np.log(2 / 0.05)
    out = (found.lo[:, 0] >= 0) | (found.hi[:, 0] <= 0)
    np.testing.assert_array_equal(out, rich)
    assert 0 < out.sum() < 200
    assert (capital.log_hedged.max(axis=1)[out] >= np.log(1 / 0.05)).all()


@pytest.mark.statistical
def test_a_thousand_looks_reject_no_more_than_the_level() -> None:
    """2000 nulls of paired 0/1 scores, a look after each unit; false alarm 1e-6. A t-test that looks as often rejects a third."""
    trials, units, alpha = 2000, 1000, 0.05
    gains = np.random.default_rng(np.random.SeedSequence().entropy).choice(
        np.array([-1.0, 0.0, 1.0], np.float32), p=[0.15, 0.7, 0.15], size=(trials, units)
    )
    ever = (BoundedSequences(gains, -1.0, 1.0, alpha).bet_against(0.0).log_hedged >= np.log(1 / alpha)).any(axis=1)
    assert ever.sum() <= binom.isf(FALSE_ALARM, trials, alpha)
    n = np.arange(1, units + 1)
    mean = np.cumsum(gains, axis=1, dtype=np.float64) / n
    se = np.sqrt(np.maximum(np.cumsum(gains**2, axis=1, dtype=np.float64) / n - mean**2, 1e-12) / np.maximum(n - 1, 1))
    peeking = (2 * student.sf(np.abs(mean / se), np.maximum(n - 1, 1)) <= alpha)[:, 29:].any(axis=1)
    assert peeking.mean() > 0.25


@pytest.mark.statistical
def test_the_price_is_an_interval_half_as_wide_again() -> None:
    """1000 units, three in ten discordant: between 1.5 and 2 times the width of Student's interval; a sd of .01, 60 sequences."""
    gains = np.random.default_rng(8).choice([-1.0, 0.0, 1.0], p=[0.15, 0.7, 0.15], size=(60, 1000))
    found = BoundedSequences(gains, -1.0, 1.0).exclude([1000])
    once = 2 * student.ppf(0.975, 999) * gains.std(axis=1, ddof=1) / np.sqrt(1000)
    assert 1.5 < np.median((found.hi - found.lo)[:, 0] / once) < 2.0


def test_what_is_outside_the_bounds_is_refused_with_both_numbers() -> None:
    with pytest.raises(ValueError, match=r"values lie in 0\.0 … 1\.0, not 0\.2 … 1\.5"):
        BoundedSequences(np.array([[0.2, 1.5]]), 0.0, 1.0)
    with pytest.raises(ValueError, match="two increasing numbers"):
        BoundedSequences(np.array([[0.2]]), 1.0, 1.0)
    with pytest.raises(ValueError, match=r"between 0\.0 and 1\.0, not at 1\.0"):
        BoundedSequences(np.array([[0.2]]), 0.0, 1.0).bet_against(1.0)
    with pytest.raises(ValueError, match="increasing numbers of values, 1 … 1"):
        BoundedSequences(np.array([[0.2]]), 0.0, 1.0).exclude([2])


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(("units", "gain"), [(200, 0.1), (1000, 0.05), (5000, 0.02)])
def test_what_looking_costs(units: int, gain: float) -> None:
    """The tables of docs/sequential.md: three in ten discordant, 2000 trials; bounds with a false-alarm chance of 1e-6."""
    rng, trials, alpha = np.random.default_rng([units, 1]), 2000, 0.05
    found = {}
    for true in (0.0, gain):
        rejected = np.zeros(3)
        at, ratios = [], []
        for _ in range(trials // 100):
            gains = rng.choice([-1.0, 0.0, 1.0], p=[0.15 - true / 2, 0.7, 0.15 + true / 2], size=(100, units))
            given = BoundedSequences(gains, -1.0, 1.0, alpha)
            capital = given.bet_against(0.0)
            rich = np.maximum(capital.log_above, capital.log_below) >= np.log(2 / alpha)
            at += (np.argmax(rich, axis=1) + 1)[rich.any(axis=1)].tolist()
            n = np.arange(1, units + 1)
            mean = np.cumsum(gains, axis=1) / n
            se = np.sqrt(np.maximum(np.cumsum(gains**2, axis=1) / n - mean**2, 1e-12) / np.maximum(n - 1, 1))
            once = 2 * student.sf(np.abs(mean / se), np.maximum(n - 1, 1)) <= alpha
            rejected += [rich.any(axis=1).sum(), once[:, -1].sum(), once[:, 29:].any(axis=1).sum()]
            if not true:
                widths = given.exclude([units])
                ratios += ((widths.hi - widths.lo)[:, 0] / (2 * student.ppf(0.975, units - 1) * se[:, -1])).tolist()
        found[true] = rejected
        told = f"n {units}, gain {true}: sequence {rejected[0] / trials:.3f}, one look {rejected[1] / trials:.3f}, "
        told += f"t at each look {rejected[2] / trials:.3f}, median decided at {np.median(at) if at else None}"
        print(told, f"width {np.median(ratios):.2f}" if ratios else "")
    assert found[0.0][0] <= binom.isf(FALSE_ALARM, trials, alpha)
    assert found[gain][0] < found[gain][1]
