"""The exact sign-flip p of few discordant units is the procedure's, whether or not it was asked for."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from support import direct_measures as small

from pipeline.inference.direct.exact import exact_tests, sign_flips_of_few
from pipeline.inference.direct.unit_tests import mcnemar
from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe


def some(values, *, denominators=None, higher_is_better=True):
    """A ratio of five systems: the first, and others that differ from it on 0, 1, 7, 19 and 20 of 60 units."""
    rng = np.random.default_rng(4)
    first = rng.integers(0, values, 60)
    rows = [first]
    for moved in (0, 1, 7, 19, 20):
        other = first.copy()
        other[rng.choice(60, moved, replace=False)] += rng.choice([-1, 1], moved) * rng.integers(1, values, moved)
        rows.append(other)
    if values == 2:
        rows = [row % 2 for row in rows]
    bottom = np.ones(60, np.int64) if denominators is None else denominators
    statistics = np.stack([np.stack([row, bottom], axis=1) for row in rows], axis=1).astype(np.int64)
    pairs = np.stack(np.triu_indices(len(rows), 1), axis=1)
    return Measure(statistics, lambda sums: sums[0] / sums[1], "ratio", higher_is_better, pairs, np.zeros(len(rows), np.bool_))


@pytest.mark.parametrize("higher_is_better", [True, False])
@pytest.mark.parametrize("varying", [False, True])
@pytest.mark.parametrize("values", [2, 9])
def test_it_is_the_exact_sign_flip_test_where_few_units_differ_and_nothing_elsewhere(values, varying, higher_is_better):
    denominators = np.random.default_rng(2).integers(10, 30, 60) if varying else None
    measure = some(values, denominators=denominators, higher_is_better=higher_is_better)
    observed = observe(measure)
    few = observed.discordant < FEW_DISCORDANT
    assert {0, 1, 7, 19, 20} <= set(observed.discordant.tolist())
    found = sign_flips_of_few(measure, observed)
    np.testing.assert_array_equal(np.isfinite(found), few)
    expected = exact_tests(measure, observed)["sign-flip"].two_sided
    np.testing.assert_allclose(found[few], expected[few], rtol=1e-9)
    if values == 2 and not varying:
        np.testing.assert_allclose(found[few], mcnemar(measure, observed).two_sided[few], rtol=1e-12)
    np.testing.assert_array_equal(sign_flips_of_few(measure, observed, memory_bytes=1), found)


def swapped_by_definition(measure, pair):
    """Swap every subset of the units, one after the other, and score both systems again."""
    a, b = measure.pairs[pair]
    first, second = measure.statistics[:, a], measure.statistics[:, b]
    differ = np.flatnonzero((first != second).any(axis=1))
    score = lambda rows: float(measure.score(rows.sum(axis=0).astype(np.float64)[:, None])[0])  # noqa: E731
    observed = abs(score(first) - score(second))
    hits = defined = 0
    for subset in product([False, True], repeat=len(differ)):
        moved = differ[np.array(subset, bool)]
        left, right = first.copy(), second.copy()
        left[moved], right[moved] = second[moved], first[moved]
        with np.errstate(invalid="ignore"):
            gap = abs(score(left) - score(right))
        defined += bool(np.isfinite(gap))
        hits += bool(gap >= observed - 1e-9)
    return hits / defined


def f1_with_copies():
    """F1 of chunks on ten units, of which several differ alike, in one direction or in both."""
    rows = [[2, 4, 4], [2, 4, 4], [2, 4, 4], [0, 2, 2], [0, 2, 2], [4, 4, 6], [0, 3, 3], [2, 2, 2], [2, 5, 5], [2, 5, 5]]
    others = [[0, 4, 3], [0, 4, 3], [0, 4, 3], [2, 2, 3], [2, 2, 3], [4, 4, 5], [2, 3, 5], [2, 2, 2], [0, 5, 4], [0, 5, 4]]
    statistics = np.array([rows, others], np.int64).transpose(1, 0, 2)[:, :, [0, 2]]
    return small.make_measure(statistics)


def precision_that_may_be_undefined():
    """One unit is answered by the first system alone, and two by the second: some swaps leave a system without an answer."""
    statistics = np.array([[[1, 1], [0, 0]], [[0, 0], [0, 1]], [[0, 0], [0, 1]], [[0, 0], [0, 0]]], np.int64)
    return small.make_measure(statistics)


@pytest.mark.parametrize(
    "measure",
    [f1_with_copies(), precision_that_may_be_undefined(), small.bleu_measure(9, 4, 0.05), small.f1_measure(10, 3)],
    ids=["equal units", "undefined", "BLEU", "F1"],
)
def test_where_denominators_differ_both_systems_are_scored_again_after_every_swap(measure):
    found = sign_flips_of_few(measure, observe(measure))
    expected = [swapped_by_definition(measure, pair) for pair in range(len(measure.pairs))]
    assert min(expected) < 1
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_denominator_that_differs_once_hardly_changes_the_law_and_twenty_units_are_too_many():
    measure = some(9)
    statistics = measure.statistics.copy()
    statistics[3, 2, 1] += 1
    changed = replace(measure, statistics=statistics)
    touched = (measure.pairs == 2).any(axis=1)
    observed = observe(changed)
    before, found = sign_flips_of_few(measure, observe(measure)), sign_flips_of_few(changed, observed)
    np.testing.assert_array_equal(found[~touched], before[~touched])
    np.testing.assert_array_equal(np.isfinite(found), observed.discordant < FEW_DISCORDANT)
    assert (found[touched] != before[touched]).any()


@pytest.mark.parametrize("units", [25, 2000])
def test_a_pair_that_gains_the_same_on_every_unit_has_a_p_of_one_swap_in_all(units):
    bottom = np.random.default_rng(5).integers(1, 5, units)
    first = np.random.default_rng(6).integers(0, 9, units)
    rows = [first, first + 3 * bottom, first + np.random.default_rng(7).integers(1, 9, units)]
    statistics = np.stack([np.stack([row, bottom], axis=1) for row in rows], axis=1).astype(np.int64)
    pairs = np.array([[0, 1], [0, 2]])
    measure = Measure(statistics, lambda sums: sums[0] / sums[1], "ratio", True, pairs, np.zeros(3, np.bool_))
    found = sign_flips_of_few(measure, observe(measure))
    assert found[0] == max(2.0 ** (1 - units), 5e-324)
    assert np.isnan(found[1])  # it gains on every unit too, but not the same
