"""Null data sets made by swaps: what is counted of all of them at once is what the passes count of each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.resampling import null_laboratory
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure
from pipeline.resampling.null_laboratory import SHARED, NullSwaps, TwoOutputs, make_nulls, randomize_nulls, resample_nulls
from pipeline.resampling.observe import TOLERANCE, observe
from pipeline.resampling.resample import resample
from pipeline.resampling.strata import StratifiedDraws
from pipeline.resampling.swaps import draw_swap

NULLS = 150  # more than two blocks, and more than meet the same resamples


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


def make_draws(pair: TwoOutputs, key: int) -> Draws:
    return Draws(key, len(pair.statistics), len(pair.statistics))


def swaps_of(pair: TwoOutputs, key: int) -> NullSwaps:
    return NullSwaps(make_draws(pair, key))


def load_measure(pair: TwoOutputs, statistics: NDArray[np.int64]) -> Measure:
    systems = statistics.shape[1]
    return Measure(statistics, pair.score, "general", True, np.arange(systems).reshape(-1, 2), np.zeros(systems, np.bool_))


def test_a_null_has_the_outputs_of_each_unit_in_one_order_or_the_other() -> None:
    pair = PAIRS["four statistics"]
    made = make_nulls(pair, swaps_of(pair, 5), 20, 3)
    for null in range(3):
        swapped = draw_swap(make_draws(pair, 5), 20 + null)
        expected = np.where(swapped[:, None, None], pair.statistics[:, ::-1], pair.statistics)
        assert np.array_equal(made[:, 2 * null : 2 * null + 2], expected)


def assert_counted_as_each(pair: TwoOutputs, swaps: NullSwaps, draws: Draws | StratifiedDraws) -> None:
    """Assert that the first `SHARED` null data sets meet replicates 0 … 299, the others 300 … 599, and are counted as in a pass."""
    found = resample_nulls(pair, swaps, draws, nulls=NULLS, replicates=300)
    stratum = draws.stratum if isinstance(draws, StratifiedDraws) else None
    measure = replace(load_measure(pair, make_nulls(pair, swaps, 0, NULLS)), stratum=stratum)
    seen = observe(measure)
    (once,), (twice,) = (resample(draws, [measure], cells=range(1), replicates=b, observed=[seen]) for b in (300, 600))
    later = np.arange(NULLS) >= SHARED
    counts = np.where(later[:, None], twice.counts[:, 0] - once.counts[:, 0], once.counts[:, 0])
    empty = np.where(later, twice.empty[:, 0] - once.empty[:, 0], once.empty[:, 0])
    assert np.array_equal(found.delta, seen.delta, equal_nan=True)
    known = np.isfinite(seen.delta)
    assert np.array_equal(found.counts[known][:, :6], counts[known][:, :6])
    assert (found.counts[known][:, 6:] == -1).all()
    assert np.array_equal(found.defined[known], 300 - empty[known])
    assert not found.defined[~known].any()


@pytest.mark.parametrize("name", PAIRS)
def test_the_bootstrap_of_all_nulls_is_that_of_each(name: str) -> None:
    pair = PAIRS[name]
    assert_counted_as_each(pair, swaps_of(pair, 7), make_draws(pair, 8))


def test_units_are_drawn_within_their_strata() -> None:
    pair = PAIRS["four statistics"]
    stratum = np.arange(len(pair.statistics)) // 2
    assert_counted_as_each(pair, swaps_of(pair, 7), StratifiedDraws(8, stratum))


def test_units_of_a_group_change_sides_together() -> None:
    pair = PAIRS["four statistics"]
    group = np.random.default_rng(2).permutation(len(pair.statistics)) // 5
    swaps = NullSwaps(Draws(7, 14, 14), group)
    made = make_nulls(pair, swaps, 0, 4)
    for null in range(4):
        turned = draw_swap(Draws(7, 14, 14), null)[group]
        assert np.array_equal(made[:, 2 * null], np.where(turned[:, None], pair.statistics[:, 1], pair.statistics[:, 0]))
    assert_counted_as_each(pair, swaps, make_draws(pair, 8))


@pytest.mark.parametrize("name", PAIRS)
def test_the_randomization_of_all_nulls_is_a_comparison_with_one_law(name: str) -> None:
    pair = PAIRS[name]
    swaps, others = swaps_of(pair, 7), make_draws(pair, 9)
    found = randomize_nulls(pair, swaps, others, nulls=40, replicates=200)
    seen, law = (observe(load_measure(pair, make_nulls(pair, d, 0, n))) for d, n in ((swaps, 40), (NullSwaps(others), 200)))
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
        return function(pair, swaps_of(pair, 1), make_draws(pair, 2), nulls=NULLS, replicates=100).counts.tolist()

    before = [count(resample_nulls), count(randomize_nulls)]
    monkeypatch.setattr(null_laboratory, "_ROWS", 7)
    monkeypatch.setattr(null_laboratory, "_MEMORY", 1)
    assert [count(resample_nulls), count(randomize_nulls)] == before


def test_sums_that_would_not_be_exact_are_refused() -> None:
    pair = TwoOutputs(lengths(30) * 10**14, harmonic)
    with pytest.raises(ValueError, match="not exact"):
        resample_nulls(pair, swaps_of(pair, 1), make_draws(pair, 2), nulls=10, replicates=10)
