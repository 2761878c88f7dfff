"""What few units allow: the floor of exact tests by enumeration, the rejection rate by simulation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pipeline.inference.few_units import beyond_reach, expected_rejection, sign_flip_floor
from pipeline.inference.multiplicity import holm


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


def test_five_to_nothing_is_beyond_reach_and_six_is_not():
    p = np.array([0.034])
    assert beyond_reach(p, sign_flip_floor(np.array([5])), 0.05).tolist() == [True]
    assert beyond_reach(p, sign_flip_floor(np.array([6])), 0.05).tolist() == [False]


def test_reach_is_that_of_holm_in_the_family():
    p = np.full(10, 1e-5)
    floor = sign_flip_floor(np.full(10, 8))  # .0078: below .05 alone, not for the last of ten pairs only
    assert holm(p).max() <= 0.05
    assert not beyond_reach(p, floor, 0.05).any()  # the one that is asked comes last, where Holm multiplies by 1
    p[1:] = 0.9
    assert beyond_reach(p, floor, 0.05).tolist() == [True] + [False] * 9


def test_pairs_that_are_not_rejected_or_have_no_p_are_not_beyond_reach():
    assert beyond_reach(np.array([0.3, np.nan]), np.array([1.0, 1.0]), 0.05).tolist() == [False, False]
