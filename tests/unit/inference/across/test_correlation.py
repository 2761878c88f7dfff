"""Correlations and shares with intervals: those of SciPy and statsmodels, and what has none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, pearsonr

from pipeline.inference.across.correlation import correlate, share_above


def test_correlation_and_its_interval_are_scipys() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=40)
    y = 0.6 * x + rng.normal(size=40)
    found, other = correlate(x, y), pearsonr(x, y)
    assert found is not None
    ends = other.confidence_interval(0.95)
    assert (found.value, found.low, found.high) == pytest.approx((other.statistic, ends.low, ends.high))
    turned = correlate(x, -y)
    assert turned is not None
    assert (turned.value, turned.low) == pytest.approx((-found.value, -found.high))


def test_four_pairs_are_the_fewest_with_an_interval() -> None:
    x, y = np.array([1.0, 2.0, 4.0, 3.0]), np.array([1.0, 3.0, 2.0, 4.0])
    found, ends = correlate(x, y), pearsonr(x, y).confidence_interval(0.95)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))


def test_what_does_not_vary_has_no_correlation_and_a_line_no_interval() -> None:
    assert correlate(np.ones(5), np.arange(5.0)) is None
    assert correlate(np.arange(1.0), np.arange(1.0)) is None
    line = correlate(np.arange(6.0), 3 * np.arange(6.0))
    assert line is not None
    assert (line.value, line.low) == (pytest.approx(1.0), None)
    three = correlate(np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 2.0]))
    assert three is not None
    assert three.low is None


def test_the_share_has_wilsons_interval_and_ties_count_one_half() -> None:
    x, y = np.array([1.0] * 9 + [0.0] * 3), np.array([0.0] * 9 + [1.0] * 3)
    found = share_above(x, y)
    ends = binomtest(9, 12).proportion_ci(method="wilson")
    assert (found.value, found.low, found.high) == pytest.approx((0.75, ends.low, ends.high))
    assert share_above(x, x).value == 0.5
    assert share_above(y, x).value == pytest.approx(0.25)
