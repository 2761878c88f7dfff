"""What few units allow: the floor of exact tests by enumeration, the rejection rate by simulation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pipeline.inference.multiple_comparisons.multiplicity import holm
from pipeline.inference.unit_diagnostics.few_units import evidence_floor, expected_rejection, holm_within_reach, sign_flip_floor


@pytest.mark.parametrize("m", [1, 2, 5, 7, 10])
def test_the_floor_is_the_smallest_p_of_all_sign_flips(m):
    d = np.random.default_rng(m).uniform(0.5, 2, m)  # all in one direction: nothing can be more extreme
    sums = np.array([signs @ d for signs in np.array(list(product([-1.0, 1.0], repeat=m)))])
    assert sign_flip_floor(np.array([m]))[0] == np.mean(np.abs(sums) >= d.sum() * (1 - 1e-12))


def test_no_discordant_unit_leaves_a_p_of_one():
    assert sign_flip_floor(np.array([0])).tolist() == [1.0]


@pytest.mark.parametrize(("units", "expected"), [(5, 0.154), (10, 0.096), (20, 0.071), (50, 0.058)])
def test_the_expected_rejection_is_the_known_one(units, expected):
    assert round(expected_rejection(units), 3) == expected


def test_no_units_to_vary_have_no_rejection_rate():
    assert expected_rejection(1.0) is None
    assert 0.05 < expected_rejection(3.9) < 0.3


@pytest.mark.statistical
def test_a_normal_bootstrap_of_ten_units_rejects_as_expected():
    """10^5 nulls of 10 Gaussian units: the share has sd .00093, 6 sd have a false-alarm chance of 2e-9."""
    rng = np.random.default_rng(np.random.SeedSequence().entropy)
    d = rng.normal(size=(100_000, 10))
    rejected = np.abs(d.mean(axis=1)) > 1.959964 * d.std(axis=1) / np.sqrt(10)  # the bootstrap's own variance: divided by n
    assert rejected.mean() == pytest.approx(expected_rejection(10), abs=6 * 0.00093)


def test_below_twenty_units_the_exact_p_is_the_floor_and_from_twenty_on_the_smallest_there_can_be():
    exact = np.array([0.3, 0.07, 0.2, 0.2, np.nan])
    found = evidence_floor(np.array([2, 19, 20, -1, 5]), exact)
    assert found.tolist() == [0.5, 0.07, 2.0**-19, 0.0, 2.0**-4]


def test_a_procedure_with_a_law_of_its_own_has_the_smallest_p_of_exact_tests_for_a_floor():
    assert evidence_floor(np.array([5, -1])).tolist() == [2.0**-4, 0.0]
    assert evidence_floor(np.array([5]), mid_p=True).tolist() == [2.0**-5]


def test_all_pairs_have_their_floors_in_place_of_smaller_p_values_at_once():
    rng = np.random.default_rng(8)
    separated = set()
    for _ in range(1000):
        size = int(rng.integers(1, 8))
        p = np.where(rng.random(size) < 0.1, np.nan, rng.choice([0.001, 0.004, 0.008, 0.0125, 0.02, 0.03, 0.3], size))
        floor = np.exp2(1.0 - rng.integers(1, 12, size))
        found = holm_within_reach(p, floor, 0.05)
        asked = np.array([max(own, least) if own == own else own for own, least in zip(p, floor, strict=True)])
        assert found.tolist() == (holm(asked) <= 0.05).tolist()
        separated |= set(found.tolist())
    assert separated == {True, False}


def test_the_floor_of_mid_p_is_its_own_smallest_p():
    for m in range(1, 12):
        # All wins: P(X > m) = 0, and half of 2^-m on either side.
        assert sign_flip_floor(np.array([m]), mid_p=True)[0] == 2 * 0.5 * 2.0**-m
