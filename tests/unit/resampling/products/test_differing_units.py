"""Units that differ, counted in bits: against the product of weights and columns, whatever the sizes; t* have the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.resampling.draws import Draws, draw_weights
from pipeline.resampling.measures import Measure
from pipeline.resampling.products.differing_units import DifferingUnits
from pipeline.resampling.standard_errors import studentise as studentising
from pipeline.resampling.standard_errors.studentise import studentise


def zeros_and_ones(systems, units):
    return (np.random.default_rng([systems, units]).random((systems, units)) < 0.7).astype(np.int64)


def shuffled_pairs(systems):
    pairs = np.stack(np.triu_indices(systems, 1), axis=1)
    return np.random.default_rng(systems).permutation(pairs)


@pytest.mark.parametrize(
    ("systems", "units", "replicates"), [(2, 1, 1), (5, 63, 16), (5, 64, 17), (7, 130, 40), (64, 131, 5), (66, 193, 33)]
)
def test_the_numbers_are_those_of_the_product_of_weights_and_columns(systems, units, replicates):
    values, pairs = zeros_and_ones(systems, units), shuffled_pairs(systems)
    draws = Draws(key=3, n_units=units, n_draws=units)
    columns = (values[pairs[:, 0]] - values[pairs[:, 1]]) ** 2
    numbers, row = DifferingUnits(draws, replicates, values, pairs, memory_bytes=2**20).of(0, len(pairs))
    assert np.array_equal(numbers[row, :replicates], columns @ draw_weights(draws, 0, replicates).T)


def test_little_memory_changes_no_number():
    values, pairs = zeros_and_ones(9, 100), shuffled_pairs(9)
    given = Draws(key=4, n_units=100, n_draws=100), 20, values, pairs
    numbers, row = DifferingUnits(*given, memory_bytes=2**20).of(0, 36)
    few = DifferingUnits(*given, memory_bytes=10 * 2 * 32)  # of ten pairs
    for start, stop in [(0, 7), (7, 10), (8, 11), (11, 36), (3, 5)]:
        some, place = few.of(start, stop)
        assert np.array_equal(some[place], numbers[row[start:stop]])


@pytest.mark.parametrize("denominator", [1, 3])
def test_t_has_the_same_bits_whether_units_are_counted_or_summed(monkeypatch, denominator):
    values, pairs = zeros_and_ones(20, 150), shuffled_pairs(20)
    values[1] = values[0]
    values[1, 7] ^= 1  # one unit differs, which some replicates miss, and in others is looked at
    statistics = np.stack([values.T, np.full_like(values.T, denominator)], axis=2)
    measure = Measure(statistics, lambda s: 100.0 * (s[0] / s[1]), "ratio", True, pairs, np.zeros(20, bool))
    chosen = np.random.default_rng(1).permutation(len(pairs))[:180]
    counted = []
    monkeypatch.setattr(
        studentising, "DifferingUnits", lambda *args, **options: counted.append(1) or DifferingUnits(*args, **options)
    )

    def found():
        asked = {"replicates": 1100, "chosen": chosen, "memory_bytes": 2**22}
        return list(studentise(Draws(5, 150, 150), measure, **asked))

    summed = found()
    assert not counted
    monkeypatch.setattr(studentising, "MANY", 0)
    by_bits = found()
    assert counted
    assert len(summed) == len(by_bits) > 1
    for one, other in zip(summed, by_bits, strict=True):
        for name in ("pair", "t", "empty", "observed", "se", "lost"):
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name


def test_numbers_that_are_not_0_or_1_are_summed(monkeypatch):
    monkeypatch.setattr(studentising, "MANY", 0)
    monkeypatch.setattr(studentising, "DifferingUnits", lambda *args, **options: pytest.fail("counted"))
    statistics = np.random.default_rng(2).integers(0, 3, (40, 3, 2))
    statistics[..., 1] = 2
    measure = Measure(statistics, lambda s: s[0] / s[1], "ratio", True, shuffled_pairs(3), np.zeros(3, bool))
    (block,) = studentise(Draws(5, 40, 40), measure, replicates=20)
    assert np.isfinite(block.t).all()
