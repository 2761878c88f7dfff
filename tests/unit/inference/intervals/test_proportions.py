"""Intervals of rates are those of published examples and of root finding, and the score intervals cover where few units differ."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binomtest, norm

from pipeline.inference.direct.scores import count_right
from pipeline.inference.intervals.proportions import PROPORTIONS, bonett_price, proportion_intervals, tango, wilson
from pipeline.inference.intervals.replicate_intervals import INTERVAL_REASONS
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe

COUNTS = [(1, 7, 21), (6, 16, 161), (12, 2, 50), (0, 3, 10), (5, 0, 40), (4, 4, 30), (9, 0, 9), (150, 90, 1000)]


def ends(found: tuple[Any, Any]) -> tuple[float, float]:
    return float(found[0]), float(found[1])


def test_published_examples_are_met() -> None:
    # Airway hyper-responsiveness (Bentur and others 2009) in Fagerland and others 2014, doi:10.1002/sim.6148; complete response
    # (Cavo and others 2012) as R's contingencytables 3.0.0 prints it.
    assert ends(tango(np.array(1), np.array(7), 21)) == pytest.approx((-0.517, -0.026), abs=5e-4)
    assert ends(tango(np.array(6), np.array(16), 161)) == pytest.approx((-0.1240, -0.0054), abs=5e-5)
    assert ends(bonett_price(np.array(6), np.array(16), 161)) == pytest.approx((-0.1195, -0.0032), abs=5e-5)


def score(wins: int, losses: int, n: int, difference: float) -> float:
    """Tango's statistic, the rate of losses found by maximising the likelihood itself."""

    def minus_likelihood(q: float) -> float:
        rates = (q + difference, q, 1 - 2 * q - difference)
        counts = (wins, losses, n - wins - losses)
        return -sum(count * math.log(max(rate, 1e-300)) for count, rate in zip(counts, rates, strict=True) if count)

    low, high = max(0.0, -difference), (1 - difference) / 2
    q = minimize_scalar(minus_likelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
    return (wins - losses - n * difference) / math.sqrt(n * (2 * q + difference - difference**2))


@pytest.mark.parametrize(("wins", "losses", "n"), COUNTS)
def test_ends_of_tango_are_roots_of_the_score_equation(wins: int, losses: int, n: int) -> None:
    lo, hi = ends(tango(np.array(wins), np.array(losses), n, alpha=0.1))
    z = norm.isf(0.05)
    middle = (wins - losses) / n
    if middle < 1:
        root = brentq(lambda d: score(wins, losses, n, d) + z, middle + 1e-9, 1 - 1e-9, xtol=1e-12)
        assert hi == pytest.approx(root, abs=2e-6)
    else:
        assert hi == 1
    root = brentq(lambda d: score(wins, losses, n, d) - z, -1 + 1e-9, middle - 1e-9, xtol=1e-12)
    assert lo == pytest.approx(root, abs=2e-6)


def test_tango_leaves_zero_out_where_the_score_of_mcnemar_is_beyond_its_quantile() -> None:
    wins, losses = np.meshgrid(np.arange(26), np.arange(26))
    lo, hi = tango(wins, losses, 60)
    total = np.maximum(wins + losses, 1)
    np.testing.assert_array_equal((lo > 0) | (hi < 0), np.abs(wins - losses) / np.sqrt(total) > norm.isf(0.025))


@pytest.mark.parametrize("name", sorted(PROPORTIONS))
def test_intervals_mirror_grow_with_the_level_and_stay_within_one(name: str) -> None:
    wins, losses = np.meshgrid(np.arange(21), np.arange(21))
    inside = wins + losses <= 20
    wins, losses = wins[inside], losses[inside]
    lo, hi = PROPORTIONS[name](wins, losses, 20)
    other = PROPORTIONS[name](losses, wins, 20)
    np.testing.assert_allclose(lo, -other[1], atol=1e-12)
    wide = PROPORTIONS[name](wins, losses, 20, alpha=0.01)
    assert (wide[0] <= lo).all()
    assert (wide[1] >= hi).all()
    assert (lo >= -1).all()
    assert (hi <= 1).all()
    assert (lo < hi).all()
    if name == "tango":  # the other has its middle nearer to 0
        assert (lo <= (wins - losses) / 20).all()
        assert (hi >= (wins - losses) / 20).all()


def test_systems_that_are_right_on_the_same_units_may_differ_on_others() -> None:
    z = norm.isf(0.025)
    lo, hi = ends(tango(np.array(0), np.array(0), 50))
    assert (lo, hi) == pytest.approx((-(z**2) / (50 + z**2), z**2 / (50 + z**2)))


@pytest.mark.parametrize("n", [1, 10, 148])
def test_wilson_is_scipys(n: int) -> None:
    hits = np.arange(n + 1)
    lo, hi = wilson(hits, n, alpha=0.1)
    for k in hits.tolist():
        own = binomtest(k, n).proportion_ci(0.9, method="wilson")
        assert (lo[k], hi[k]) == pytest.approx((own.low, own.high), abs=1e-12)


def build(numerators: np.ndarray, *, decimals: int = 0, factor: float = 1.0, better: bool = True, form: str = "ratio") -> Measure:
    """(unit, system) scores; all pairs."""
    statistics = np.stack([numerators, np.ones_like(numerators)], axis=2).astype(np.int64)
    pairs = np.stack(np.triu_indices(numerators.shape[1], 1), axis=1)

    def mean(sums: np.ndarray) -> np.ndarray:
        return factor * sums[0] / sums[1] / 10**decimals

    return Measure(statistics, mean, form, better, pairs, np.zeros(numerators.shape[1], np.bool_))  # type: ignore[arg-type]


def test_intervals_are_of_the_gain_in_points_whatever_the_metric_calls_right() -> None:
    right = (np.random.default_rng(1).random((80, 3)) < [0.5, 0.6, 0.8]).astype(np.int64)
    for measure, unit in (
        (build(right), 1.0),
        (build(right, factor=100.0), 100.0),
        (build(30 * right + 10, decimals=1), 3.0),
        (build(right, better=False), -1.0),
    ):
        found = proportion_intervals(measure, observe(measure), alpha=0.05, methods=["tango", "bonett-price"])
        for place, (a, b) in enumerate(measure.pairs.tolist()):
            wins, losses = (int(np.sum(right[:, one] > right[:, other])) for one, other in ((a, b), (b, a)))
            for name, one in found.items():
                expected = sorted(unit * end for end in ends(PROPORTIONS[name](np.array(wins), np.array(losses), 80)))
                assert [one.lo[place], one.hi[place]] == pytest.approx(expected)
                assert one.reason[place] == 0


@pytest.mark.parametrize("form", ["ratio", "general"])
def test_other_scores_have_none_and_the_reason(form: str) -> None:
    graded = np.random.default_rng(2).integers(0, 3 if form == "ratio" else 2, (40, 2))
    measure = build(graded, form=form)
    (found,) = proportion_intervals(measure, observe(measure), alpha=0.05, methods=["tango"]).values()
    assert np.isnan(found.lo).all()
    assert [INTERVAL_REASONS[code] for code in found.reason] == ["not 0/1"]


def test_what_is_no_rate_is_refused() -> None:
    with pytest.raises(ValueError, match="one unit or more"):
        wilson(np.array([0]), 0)
    with pytest.raises(ValueError, match="alpha"):
        tango(np.array([0]), np.array([0]), 3, alpha=1.0)


def test_units_that_are_right_are_counted_where_scores_are_zero_or_one_other_value() -> None:
    right = np.array([[1, 0, 1], [1, 1, 0], [0, 0, 0], [1, 0, 0]])
    assert count_right(build(right)).tolist() == [3, 1, 1]
    assert count_right(build(25 * right, decimals=1)).tolist() == [3, 1, 1]
    assert count_right(build(right, better=False)).tolist() == [3, 1, 1]
    for other in (right + 1, right * [[1, 2, 1]], -right, 0 * right):
        assert count_right(build(other)).tolist() == [-1, -1, -1]
    assert count_right(build(right, form="general")).tolist() == [-1, -1, -1]
