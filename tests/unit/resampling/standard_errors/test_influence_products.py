"""Σwu² on a lattice: exact integers' worth of it, whatever the order of units, the batch and the pairs beside."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.resampling.standard_errors.influence_products import InfluenceLines, InfluenceProducts
from pipeline.resampling.standard_errors.influence_spread import spread_of_influences


def pairs_of(systems: int) -> NDArray[np.int64]:
    return np.array(list(combinations(range(systems), 2)))


def draw(rng: np.random.Generator, units: int, replicates: int) -> NDArray[np.float32]:
    counted = [np.bincount(rng.integers(0, units, units), minlength=units) for _ in range(replicates)]
    return np.array(counted, np.float32)


def gaussian(rng: np.random.Generator, units: int) -> NDArray[np.float64]:
    return rng.normal(size=(5, units))


def few_large(rng: np.random.Generator, units: int) -> NDArray[np.float64]:
    """One unit in a hundred carries nearly all of the spread, a million times as much as another."""
    return rng.normal(size=(5, units)) * np.where(rng.random((5, units)) < 0.01, 1.0, 1e-6)


def near_copies(rng: np.random.Generator, units: int) -> NDArray[np.float64]:
    """Systems that differ on two units, and by a billionth on all."""
    values = np.repeat(rng.normal(size=(1, units)), 5, axis=0)
    values[1, :2] += 1e-3
    values[2] += 1e-9 * rng.normal(size=units)
    values[3, 7] -= 2.0
    return values


def exact(values: NDArray[np.float64], pair: NDArray[np.int64], weights: NDArray[np.float32]) -> float:
    units = len(weights)
    x = [Fraction(a) - Fraction(b) for a, b in zip(values[pair[0]].tolist(), values[pair[1]].tolist(), strict=True)]
    w = [int(weight) for weight in weights.tolist()]
    mean = sum(wi * xi for wi, xi in zip(w, x, strict=True)) / units
    return float(Fraction(units, units - 1) * sum(wi * (xi - mean) ** 2 for wi, xi in zip(w, x, strict=True)))


@pytest.mark.parametrize("make", [gaussian, few_large, near_copies])
@pytest.mark.parametrize("units", [9, 300])
def test_it_is_the_sum_of_fractions(make, units: int) -> None:
    rng = np.random.default_rng(units)
    values, weights, pairs = make(rng, units), draw(rng, units, 12), pairs_of(5)
    found = InfluenceProducts.of(values, pairs).spread(weights)
    for place, pair in enumerate(pairs):
        for number, row in enumerate(weights):
            expected = exact(values, pair, row)
            # Below 2^-40 of Σw(x − mean)² what the subtraction of the replicate's own mean leaves is rounding.
            x = values[pair[0]] - values[pair[1]]
            rounding = 2.0**-39 * float(row @ (x - x.mean()) ** 2)
            assert found[place, number] == pytest.approx(expected, rel=1e-7, abs=rounding)


@pytest.mark.parametrize("make", [gaussian, few_large, near_copies])
def test_no_bit_depends_on_the_batch_or_the_other_pairs(make) -> None:
    rng = np.random.default_rng(6)
    values, weights, pairs = make(rng, 500), draw(rng, 500, 70), pairs_of(5)
    whole = InfluenceProducts.of(values, pairs).spread(weights)
    alone = np.concatenate([InfluenceProducts.of(values, pairs[place : place + 1]).spread(weights) for place in range(len(pairs))])
    assert np.array_equal(whole, alone)
    batches = np.concatenate([InfluenceProducts.of(values, pairs).spread(weights[at : at + 13]) for at in range(0, 70, 13)], axis=1)
    assert np.array_equal(whole, batches)


def test_sums_of_centred_values_are_those_of_any_order_of_units() -> None:
    rng = np.random.default_rng(7)
    values, weights, pairs = gaussian(rng, 800), draw(rng, 800, 40), pairs_of(5)
    values -= values.mean(axis=1, keepdims=True)
    values[:, 0] -= values.sum(axis=1)
    lattice = np.rint(values * 2**20) / 2**20  # a mean of exactly 0 in any order
    lattice[:, 0] -= lattice.sum(axis=1)
    order = rng.permutation(800)
    assert np.array_equal(
        InfluenceProducts.of(lattice, pairs).spread(weights),
        InfluenceProducts.of(np.ascontiguousarray(lattice[:, order]), pairs).spread(np.ascontiguousarray(weights[:, order])),
    )


def test_pairs_without_variation_and_without_influence_have_no_spread() -> None:
    rng = np.random.default_rng(8)
    values, weights, pairs = np.rint(gaussian(rng, 60) * 2**20) / 2**20, draw(rng, 60, 9), pairs_of(5)
    values[1] = values[0]
    values[2] = values[0] + 3.0  # another mean, which no spread knows
    values[3, 5] = np.nan
    found, direct = (
        InfluenceProducts.of(values, pairs).spread(weights),
        spread_of_influences(values, pairs, weights, np.array([60])),
    )
    assert not found[[0, 1]].any()
    assert np.array_equal(found == 0, direct == 0)
    assert not found[2].any()  # whose influence is unknown: as the units one by one
    assert found == pytest.approx(direct, rel=1e-9)
    assert InfluenceProducts.of(values[:, :1], pairs).spread(np.ones((2, 1), np.float32)).tolist() == [[0.0, 0.0]] * 10


def test_a_replicate_that_misses_what_carries_the_spread_is_looked_at_unit_by_unit() -> None:
    values = np.zeros((2, 40))
    values[0] = 1e-5 * np.random.default_rng(9).normal(size=40)
    values[0, 0] = 1.0
    weights = np.ones((1, 40), np.float32)
    weights[0, 0], weights[0, 1] = 0, 2
    pair = np.array([[0, 1]])
    found = InfluenceProducts.of(values, pair).spread(weights)
    assert found[0, 0] == pytest.approx(exact(values, pair[0], weights[0]), rel=1e-6)
    assert 0 < found[0, 0] < 1e-7
    squares = InfluenceProducts.of(values, pair)
    # The lattice alone knows three digits of it.
    assert squares.step[0] * 40 / 2 > 1e-5 * found[0, 0]


def many(make, rng: np.random.Generator, units: int) -> NDArray[np.float64]:
    """Thirteen systems, so that there are more pairs than NumPy takes; the influence of one of them is unknown."""
    values = np.concatenate([make(rng, units), make(rng, units), make(rng, units)])[:13]
    values[11] = np.nan
    return values


@pytest.mark.parametrize("make", [gaussian, few_large, near_copies])
def test_many_pairs_have_the_bits_of_few_and_lines_are_made_once(make) -> None:
    rng = np.random.default_rng(10)
    values, weights, pairs = many(make, rng, 90), draw(rng, 90, 21), pairs_of(13)
    lines = InfluenceLines.of(values)
    whole = InfluenceProducts.of(values, pairs, lines).spread(weights, first=0)
    few = [InfluenceProducts.of(values, some).spread(weights) for some in np.array_split(pairs, 6)]
    assert np.array_equal(whole, np.concatenate(few))
    others = draw(rng, 90, 21)
    assert np.array_equal(lines.sums(others, first=21), InfluenceLines.of(values).sums(others), equal_nan=True)
    assert lines.sums(others, first=21) is lines.sums(others, first=21)
