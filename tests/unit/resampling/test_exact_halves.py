"""Sums of half of the draws give the tails of few units as going through all samples does, on a lattice of any width."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import fields
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.resampling.exact import bootstrap as exact_bootstrap
from pipeline.resampling.exact.bootstrap import bootstrap_chances
from pipeline.resampling.exact.budget import OF_TAILS, QUICK
from pipeline.resampling.exact.factors import make_factor
from pipeline.resampling.exact.halves import count_halves, split_halves
from pipeline.resampling.exact.plane import _heavy_rows


def enumerate_event(atoms, counts, hollow, draws, x):
    """Return the chances of below, at, above, up to and from there on, in whole numbers."""
    found, ways_in_all = Counter(), 0
    for chosen in combinations_with_replacement(range(len(atoms)), draws):
        if all(hollow[a] for a in chosen):
            continue
        ways = math.factorial(draws)
        for a, times in Counter(chosen).items():
            ways = ways // math.factorial(times) * counts[a] ** times
        total = sum(atoms[a] for a in chosen)
        found[(total > x) - (total < x)] += ways
        ways_in_all += ways
    below, at, above = (Fraction(found[side], ways_in_all) for side in (-1, 0, 1))
    return below, at, above, below + at, at + above


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    units=st.lists(
        st.tuples(st.one_of(st.integers(0, 4), st.integers(0, 10**15)), st.integers(1, 9), st.booleans()),
        min_size=1,
        max_size=4,
        unique_by=lambda unit: (unit[0], unit[2]),
    ).filter(lambda units: not all(is_hollow for _, _, is_hollow in units)),
    draws=st.integers(1, 6),
    place=st.floats(-0.1, 1.1),
)
def test_halves_give_what_all_samples_give(units, draws, place):
    lowest = min(value for value, _, _ in units)
    atoms, counts, hollow = zip(*sorted((value - lowest, times, flag) for value, times, flag in units), strict=True)
    near = round(place * draws * atoms[-1])
    law = make_factor(np.array(atoms), np.array(counts), draws=draws, hollow=np.array(hollow))
    for x in (near, atoms[-1] * (draws // 2)):
        event = split_halves(law, x)
        for field, truth in zip(fields(event), enumerate_event(atoms, counts, hollow, draws, x), strict=True):
            chance = getattr(event, field.name)
            assert chance.is_exact
            assert chance.p == pytest.approx(float(truth), rel=1e-11, abs=0), field.name


@pytest.mark.parametrize("budget", [OF_TAILS, QUICK])
@pytest.mark.parametrize(("decimals", "ends"), [(3, (5, 60)), (9, (5, 60)), (9, (7, 7))])
def test_no_tail_of_twelve_units_is_an_enclosure_or_a_plane(budget, decimals, ends, monkeypatch):
    """A lattice may have any number of points: planes took seconds for one pair, and enclosures were wide."""
    monkeypatch.setattr(exact_bootstrap, "_across", lambda *given: pytest.fail("a plane"))
    rng = np.random.default_rng(decimals)
    c = rng.integers(*ends, 12, endpoint=True)
    found = bootstrap_chances(np.round(10**decimals * rng.normal(0.05, 0.1, 12) * c).astype(np.int64), c, budget=budget)
    assert all(getattr(found, name).is_exact for name in ("above_twice", "at_twice", "below_zero", "at_zero", "two_sided"))


def test_halves_are_no_more_than_may_be_asked_for():
    """Of more draws than 64 the chances of single sums could leave the floats; of one and two there are halves of none and one."""
    assert [count_halves(make_factor(np.arange(2), np.ones(2), draws=draws)) for draws in (1, 2, 3, 64, 65)] == [2, 2, 3, 33, 0]
    assert count_halves(make_factor(np.arange(14), np.ones(14), draws=14)) <= QUICK.halves
    assert count_halves(make_factor(np.arange(15), np.ones(15), draws=15)) > QUICK.halves


def test_the_smallest_tail_that_halves_may_have_is_above_the_smallest_float():
    law = make_factor(np.array([0, 1, 10**9]), np.array([31, 32, 1]), draws=64)
    assert split_halves(law, 64 * 10**9 - 1).above.log_low == pytest.approx(-64 * math.log(64), rel=1e-12)


def test_rows_of_a_plane_are_not_listed_beyond_the_most_that_there_may_be():
    """Of few units nearly every frequency is heavy: a hundred thousand were looked at before a plane was given up."""
    gain, chances, which = np.array([0, 70_001, 100_003]), np.full(3, 1 / 3), np.array([0, 1, 2])
    assert len(_heavy_rows(10**6, gain, chances, which, 3, 1e-9, 100)) == 101
    assert len(_heavy_rows(101, gain, chances, which, 3, 1e-9, 100)) == 51
