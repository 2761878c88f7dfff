"""Null data sets made by swaps: what is counted of all of them at once is what the passes count of each of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.resampling import null_laboratory
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure
from pipeline.resampling.null_laboratory import TwoOutputs, make_nulls, randomize_nulls, resample_nulls
from pipeline.resampling.observe import TOLERANCE, observe
from pipeline.resampling.resample import resample
from pipeline.resampling.swaps import draw_swap

NULLS = 150  # more than two blocks


def share(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return sums[0] / sums[1]


def harmonic(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return 200 * sums[0] / (sums[1] + sums[2] + 3 * sums[3])


def binary(units: int, discordant: int) -> NDArray[np.int64]:
    right = np.random.default_rng(3).integers(0, 2, (units, 1)).repeat(2, axis=1)
    right[:discordant, 1] = 1 - right[:discordant, 0]
    return np.stack([right, np.ones_like(right)], axis=2).astype(np.int64)


def lengths(units: int) -> NDArray[np.int64]:
    """Statistics of which one follows another in nearly all units, and one is the same for both systems."""
    rng = np.random.default_rng(4)
    said = rng.integers(3, 30, (units, 2))
    later = said - 1
    later[:2, 1] += 1
    shared = rng.integers(3, 30, (units, 1)).repeat(2, axis=1)
    return np.stack([rng.binomial(said, 0.6), said, shared, later], axis=2).astype(np.int64)


def often_empty(units: int) -> NDArray[np.int64]:
    statistics = np.zeros((units, 2, 2), np.int64)
    statistics[0] = [[1, 1], [0, 1]]
    statistics[1] = [[0, 1], [1, 1]]
    statistics[2] = [[1, 1], [0, 0]]
    return statistics


PAIRS = {
    "0/1": TwoOutputs(binary(80, 15), share),
    "all discordant": TwoOutputs(binary(20, 20), share),
    "identical": TwoOutputs(binary(20, 0), share),
    "four statistics": TwoOutputs(lengths(70), harmonic),
    "large numbers": TwoOutputs(lengths(70) * 10**7, harmonic),
    "empty resamples": TwoOutputs(often_empty(6), share),
}


def draws_of(pair: TwoOutputs, key: int) -> Draws:
    return Draws(key, len(pair.statistics), len(pair.statistics))


def measure_of(pair: TwoOutputs, statistics: NDArray[np.int64]) -> Measure:
    systems = statistics.shape[1]
    return Measure(statistics, pair.score, "general", True, np.arange(systems).reshape(-1, 2), np.zeros(systems, np.bool_))


def test_a_null_has_the_outputs_of_each_unit_in_one_order_or_the_other() -> None:
    pair = PAIRS["four statistics"]
    made = make_nulls(pair, draws_of(pair, 5), 20, 3)
    for null in range(3):
        swapped = draw_swap(draws_of(pair, 5), 20 + null)
        expected = np.where(swapped[:, None, None], pair.statistics[:, ::-1], pair.statistics)
        assert np.array_equal(made[:, 2 * null : 2 * null + 2], expected)


@pytest.mark.parametrize("name", PAIRS)
def test_the_bootstrap_of_all_nulls_is_that_of_each(name: str) -> None:
    pair = PAIRS[name]
    swaps, draws = draws_of(pair, 7), draws_of(pair, 8)
    found = resample_nulls(pair, swaps, draws, nulls=NULLS, replicates=300)
    measure = measure_of(pair, make_nulls(pair, swaps, 0, NULLS))
    seen = observe(measure)
    (counted,) = resample(draws, [measure], cells=range(1), replicates=300, observed=[seen])
    assert np.array_equal(found.delta, seen.delta, equal_nan=True)
    known = np.isfinite(seen.delta)
    assert np.array_equal(found.counts[known], counted.counts[known, 0])
    assert np.array_equal(found.defined[known], 300 - counted.empty[known, 0])
    assert not found.defined[~known].any()


@pytest.mark.parametrize("name", PAIRS)
def test_the_randomization_of_all_nulls_is_a_comparison_with_one_law(name: str) -> None:
    pair = PAIRS[name]
    swaps, others = draws_of(pair, 7), draws_of(pair, 9)
    found = randomize_nulls(pair, swaps, others, nulls=40, replicates=200)
    seen, law = (observe(measure_of(pair, make_nulls(pair, d, 0, n))) for d, n in ((swaps, 40), (others, 200)))
    gains = law.delta[np.isfinite(law.delta)]
    for null, delta in enumerate(np.abs(seen.delta)):
        if np.isnan(delta):
            assert found.defined[null] == 0
            continue
        slack = TOLERANCE * np.abs(seen.score[2 * null : 2 * null + 2]).sum()
        expected = [
            np.sum(gains < -delta - slack),
            np.sum(np.abs(gains + delta) <= slack),
            np.sum(gains < -slack),
            np.sum(np.abs(gains) <= slack),
            np.sum(np.abs(gains - delta) <= slack),
            np.sum(gains > delta + slack),
        ]
        assert found.counts[null, :6].tolist() == expected
        assert found.defined[null] == len(gains)


def test_nothing_depends_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = PAIRS["four statistics"]

    def count(function: Callable[..., null_laboratory.NullCounts]) -> list[list[int]]:
        return function(pair, draws_of(pair, 1), draws_of(pair, 2), nulls=NULLS, replicates=100).counts.tolist()

    before = [count(resample_nulls), count(randomize_nulls)]
    monkeypatch.setattr(null_laboratory, "_ROWS", 7)
    monkeypatch.setattr(null_laboratory, "_MEMORY", 1)
    assert [count(resample_nulls), count(randomize_nulls)] == before


def test_sums_that_would_not_be_exact_are_refused() -> None:
    pair = TwoOutputs(lengths(30) * 10**14, harmonic)
    with pytest.raises(ValueError, match="not exact"):
        resample_nulls(pair, draws_of(pair, 1), draws_of(pair, 2), nulls=10, replicates=10)
