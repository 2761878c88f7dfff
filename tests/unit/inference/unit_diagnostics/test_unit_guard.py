"""The guard warns at the stated numbers; the correction for few units is exact where it says so."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pipeline.inference.unit_diagnostics.few_units import FEW_EFFECTIVE, expected_rejection
from pipeline.inference.unit_diagnostics.unit_guard import (
    WARNINGS,
    correct_few_units,
    expected_stratified_rejection,
    guard_units,
    warning_words,
)


@pytest.mark.parametrize("units", [2, 5, 12, 50])
def test_the_corrected_p_of_a_mean_is_that_of_students_t(units):
    x = np.random.default_rng(units).normal(0.4, 1, units)
    found = correct_few_units(np.array([-x.mean()]), np.array([x.std() / np.sqrt(units)]), units=units)
    known = stats.ttest_1samp(x, 0)
    low, high = known.confidence_interval(0.95)
    assert found.p[0] == pytest.approx(known.pvalue, rel=1e-12)
    assert found.half_width[0] == pytest.approx((high - low) / 2, rel=1e-9)
    assert found.se[0] == pytest.approx(stats.sem(x), rel=1e-12)


@pytest.mark.parametrize("units", [5, 10, 20, 50])
def test_the_uncorrected_test_rejects_at_the_corrected_p_as_often_as_expected(units):
    """p of the correction, taken at the edge where the Gaussian test rejects, is the share that it rejects."""
    edge = correct_few_units(np.array([1.959963984540054]), np.array([1.0]), units=units).p[0]
    assert edge == pytest.approx(expected_rejection(units), rel=1e-12)


@pytest.mark.statistical
def test_corrected_nulls_of_six_units_are_rejected_at_the_level():
    """10^5 nulls: the share at .05 has sd .00069; 6 sd have a false-alarm chance of 2e-9. Uncorrected it would be .131."""
    x = np.random.default_rng(np.random.SeedSequence().entropy).normal(size=(100_000, 6))
    found = correct_few_units(x.mean(axis=1), x.std(axis=1) / np.sqrt(6), units=6)
    assert np.mean(found.p <= 0.05) == pytest.approx(0.05, abs=6 * 0.00069)
    assert np.mean(found.half_width < np.abs(x.mean(axis=1))) == np.mean(found.p < 0.05)


def test_too_few_units_or_no_spread_have_no_corrected_p():
    assert np.isnan(correct_few_units(np.ones(1), np.ones(1), units=1.4).p[0])
    assert np.isnan(correct_few_units(np.ones(1), np.zeros(1), units=9).p[0])
    with pytest.raises(ValueError, match=r"not 0\.5"):
        correct_few_units(np.ones(1), np.ones(1), units=0.5)
    with pytest.raises(ValueError, match="not at 1"):
        correct_few_units(np.ones(1), np.ones(1), units=5, alpha=1)


def test_the_guard_warns_below_fifty_effective_and_below_twenty_discordant_units():
    assert guard_units(FEW_EFFECTIVE, np.array([20, 19, 0])).tolist() == [0, 2, 0]
    assert guard_units(49.9, np.array([20, 19, 0])).tolist() == [1, 3, 0]
    assert WARNINGS == ("few effective units", "few discordant units")


def test_a_warning_says_how_much_is_lost_and_what_to_read():
    (words,) = warning_words(1, effective=10.0, units=10, discordant=10)
    assert words == "Few effective units: there are 10; a bootstrap test at .05 rejects about 10 % of true nulls."
    assert "no test is possible" in warning_words(1, effective=1.0, units=1, discordant=1)[0]
    assert "at least 0.062" in warning_words(2, effective=99.0, units=99, discordant=5)[0]
    assert warning_words(0, effective=99.0, units=99, discordant=50) == ()


@pytest.mark.statistical
def test_the_expected_rejection_within_strata_is_met_whatever_their_sizes():
    """40 000 Gaussian means, the bootstrap's normal limit: standard error at most .0016, five of them 6e-7."""
    sizes = np.array([2, 2, 3, 5, 8])
    stratum = np.repeat(np.arange(5), sizes)
    x = np.random.default_rng(31).normal(size=(40_000, 20))
    means = np.stack([x[:, stratum == h].mean(axis=1) for h in range(5)], axis=1)[:, stratum]
    spread = np.sqrt(((x - means) ** 2).sum(axis=1)) / 20  # of replicates: √Σ n_h σ̂_h² / n
    found = np.mean(np.abs(x.mean(axis=1)) > 1.959963984540054 * spread)
    expected = expected_stratified_rejection(20, 5)
    assert found == pytest.approx(expected, abs=5 * np.sqrt(expected / 40_000))
    assert expected > 0.1
    assert expected_stratified_rejection(20, 1) == pytest.approx(expected_rejection(20))
    assert expected_stratified_rejection(5, 5) is None
