"""The error of a typical standard error is that of drawing units again, and Welch's test is the textbook's."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import f as fisher
from scipy.stats import ttest_ind

from pipeline.inference.across.typical_error import typical_log_error, welch_test


def log_typical(z: np.ndarray, pairs: np.ndarray) -> float:
    return float(np.mean([np.log(np.std(z[a] - z[b])) for a, b in pairs]))


def test_it_is_the_jackknife_of_the_mean_logarithm() -> None:
    rng = np.random.default_rng(2)
    z = rng.standard_t(6, size=(5, 400)) + rng.normal(size=400)
    pairs = np.array(list(combinations(range(5), 2)))[1:]
    without = [log_typical(np.delete(z, unit, axis=1), pairs) for unit in range(400)]
    jackknife = np.sqrt(399 / 400 * np.sum((np.array(without) - np.mean(without)) ** 2))
    assert typical_log_error(z, pairs) == pytest.approx(jackknife, rel=0.02)
    # A scale of all scores, another origin of one, and the order within pairs say nothing.
    moved = 3 * z + np.arange(5)[:, None]
    assert typical_log_error(moved, pairs[:, ::-1]) == pytest.approx(typical_log_error(z, pairs), rel=1e-12)


def test_pairs_that_do_not_vary_are_left_out() -> None:
    z = np.random.default_rng(3).normal(size=(3, 50))
    with_copy = np.vstack([z, z[:1]])
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    assert typical_log_error(with_copy, np.vstack([pairs, [[0, 3]]])) == pytest.approx(typical_log_error(z, pairs), rel=1e-12)
    assert typical_log_error(with_copy, np.array([[0, 3]])) is None
    assert typical_log_error(z[:, :2], pairs) is None


def test_near_copies_count_as_other_pairs_do() -> None:
    """By the formula, unit by unit, with a pair whose variance is 10⁻¹⁴ of that of its systems."""
    rng = np.random.default_rng(4)
    z = rng.normal(size=(3, 200))
    z[2] = z[1] + 1e-7 * rng.standard_t(4, size=200)
    pairs = np.array(list(combinations(range(3), 2)))
    differences = [z[a] - z[b] - (z[a] - z[b]).mean() for a, b in pairs]
    moved = np.mean([(d**2 / np.mean(d**2) - 1) / 2 for d in differences], axis=0)
    assert typical_log_error(z, pairs) == pytest.approx(moved.std(ddof=1) / np.sqrt(200), rel=1e-6)


def test_of_two_values_it_is_welchs_t() -> None:
    rng = np.random.default_rng(5)
    samples = [rng.normal(0, 1, 12), rng.normal(0.8, 3, 30)]
    found = welch_test(
        [float(x.mean()) for x in samples], [float(x.std(ddof=1) / np.sqrt(len(x))) for x in samples], [len(x) - 1 for x in samples]
    )
    other = ttest_ind(*samples, equal_var=False)
    assert found is not None
    assert (found.statistic, found.p) == (pytest.approx(other.statistic**2), pytest.approx(other.pvalue))
    assert found.freedom[1] == pytest.approx(other.df)


def test_of_three_it_is_welchs_anova_by_hand() -> None:
    values, errors, freedoms = [1.0, 2.0, 4.0], [0.5, 0.4, 0.8], [9, 14, 5]
    w = [4.0, 6.25, 1.5625]
    total = 11.8125
    mean = (4 + 12.5 + 6.25) / total
    between = sum(wi * (v - mean) ** 2 for wi, v in zip(w, values, strict=True)) / 2
    lack = sum((1 - wi / total) ** 2 / k for wi, k in zip(w, freedoms, strict=True))
    statistic = between / (1 + 2 * 1 / 8 * lack)
    found = welch_test(values, errors, freedoms)
    assert found is not None
    assert (found.mean, found.statistic) == (pytest.approx(mean), pytest.approx(statistic))
    assert found.p == pytest.approx(fisher.sf(statistic, 2, 8 / (3 * lack)))
    assert welch_test([1.0], [0.5], [9]) is None
    assert welch_test([1.0, 2.0], [0.5, 0.0], [9, 9]) is None
