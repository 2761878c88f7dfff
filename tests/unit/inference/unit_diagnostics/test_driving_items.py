"""What an item adds to a gain, and how many must go before it is gone, against every subset."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.inference.unit_diagnostics.driving_items import (
    contributions,
    count_to_flip,
    gain_of,
    gains_without,
    is_dead,
    rank_contributions,
)


def ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return sums[0] / sums[1]


def two_outputs(rng: np.random.Generator, items: int, *, lengths: bool) -> NDArray[np.int64]:
    counts = rng.integers(0, 10, (items, 2))
    weights = rng.integers(10, 30, (items, 1)) if lengths else np.full((items, 1), 10)
    return np.stack([counts, np.broadcast_to(weights, counts.shape)], axis=2).astype(np.int64)


def flip(statistics: NDArray[np.int64], direction: float = 1.0) -> int | None:
    return count_to_flip(statistics, ratio, direction, rank_contributions(contributions(statistics, ratio, direction)))


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_leaving_out_is_summing_what_is_left(direction: float) -> None:
    statistics = two_outputs(np.random.default_rng(1), 9, lengths=True)
    group = np.array([0, 0, 1, 2, 2, 2, 1, 3, 3])
    for item, found in enumerate(gains_without(statistics, ratio, direction)):
        assert found == gain_of(np.delete(statistics, item, axis=0), ratio, direction)
    for number, found in enumerate(gains_without(statistics, ratio, direction, group)):
        assert found == gain_of(statistics[group != number], ratio, direction)


def test_fewer_items_than_it_says_cannot_flip_a_mean() -> None:
    rng = np.random.default_rng(2)
    tried = 0
    while tried < 20:
        statistics = two_outputs(rng, 8, lengths=False)
        if gain_of(statistics, ratio, 1.0) <= 0:
            continue
        tried += 1
        fewest = next(
            (
                size
                for size in range(1, 8)
                for gone in combinations(range(8), size)
                if gain_of(np.delete(statistics, gone, axis=0), ratio, 1.0) <= 0
            ),
            None,
        )
        assert flip(statistics) == fewest


def test_contributions_add_up_and_are_none_where_both_do_the_same() -> None:
    rng = np.random.default_rng(3)
    for lengths, within in ((False, 1e-12), (True, 0.05)):
        statistics = two_outputs(rng, 40, lengths=lengths)
        statistics[5, 0] = statistics[5, 1]
        found = contributions(statistics, ratio, 1.0)
        gain = gain_of(statistics, ratio, 1.0)
        assert found[5] == 0
        assert found.sum() == pytest.approx(gain, abs=within * np.abs(found).sum())
    lengths = two_outputs(rng, 40, lengths=True)  # over one denominator, whatever the items'
    assert contributions(lengths, ratio, 1.0).sum() == pytest.approx(gain_of(lengths, ratio, 1.0), rel=1e-12)
    mean = two_outputs(rng, 40, lengths=False)
    assert contributions(mean, ratio, -1.0) == pytest.approx((mean[:, 1, 0] - mean[:, 0, 0]) / 400)


def test_contributions_add_up_where_denominators_differ_and_most_items_are_equal() -> None:
    """As of alignments, where the short sentences are those on which two systems do the same."""
    rng = np.random.default_rng(4)
    statistics = rng.integers(5, 60, (400, 1, 2)).repeat(2, axis=1)
    statistics[:, :, 0] = np.minimum(statistics[:, :, 0], statistics[:, :, 1])
    long = np.flatnonzero(statistics[:, 0, 1] > 40)
    statistics[long, 0, 1] -= rng.integers(0, 9, long.size)
    statistics[long, 0, 0] -= rng.integers(0, 7, long.size)
    found, gain = contributions(statistics, ratio, 1.0), gain_of(statistics, ratio, 1.0)
    assert (found[np.setdiff1d(np.arange(400), long)] == 0).all()
    assert found.sum() == pytest.approx(gain, abs=0.001 * np.abs(found).sum())
    assert np.count_nonzero(found > 0) > 10 < np.count_nonzero(found < 0)


def test_a_gain_that_is_none_and_one_that_stays_have_no_number() -> None:
    ahead = np.array([[[2, 1], [1, 1]]] * 4)
    assert flip(ahead) is None
    assert flip(ahead[:, ::-1]) is None
    assert flip(ahead[:, ::-1], -1.0) is None  # ahead by the metric that falls, and on every item


def test_an_item_on_which_any_system_differs_is_alive() -> None:
    statistics = np.zeros((4, 3, 2), np.int64)
    statistics[1, 2, 1] = 1
    statistics[3] = 5
    assert is_dead(statistics.swapaxes(0, 1)).tolist() == [True, False, True, True]
    assert is_dead(iter([statistics[:, 0]])).all()  # one system
