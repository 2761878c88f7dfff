"""Ratios of standard errors with the gain held: against least squares by NumPy, and p against all permutations one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.inference.across.label_permutation import count_arrangements, draw_orders, list_arrangements, permute_labels
from pipeline.resampling.philox import draw_words


def study(
    labels: list[int], seed: int, effect: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[NDArray[np.int64], ...]]:
    """Return se and gain of all pairs, the se of pairs of one label larger by ``effect``."""
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(len(labels), 1)
    score = rng.normal(size=len(labels))
    gain = np.abs(score[first] - score[second])
    same = np.array(labels)[first] == np.array(labels)[second]
    return 1 + 0.2 * gain + effect * same + 0.1 * rng.normal(size=len(first)), gain, (first, second)


def same_of(labels: NDArray[np.int64], pairs: tuple[NDArray[np.int64], ...]) -> NDArray[np.bool_]:
    return labels[..., pairs[0]] == labels[..., pairs[1]]


@pytest.mark.parametrize(
    ("labels", "effect"), [([0, 0, 0, 1, 1, 2, 2], -0.1), ([0, 0, 0, 0, 1, 1], 0.0), ([0, 1, 1, 2, 2, 3], 0.2)]
)
def test_ratio_and_p_are_those_of_least_squares_under_every_permutation(labels: list[int], effect: float) -> None:
    se, gain, pairs = study(labels, 1, effect)
    given = np.array(labels)

    def fit(dealt: NDArray[np.int64]) -> NDArray[np.float64]:
        design = np.column_stack([np.ones_like(gain), gain, same_of(dealt, pairs)])
        return np.linalg.lstsq(design, se, rcond=None)[0]

    constant, slope, shift = fit(given)
    level = constant + slope * gain.mean()
    effects = np.abs([fit(given[list(order)])[2] for order in permutations(range(len(given)))])
    found = permute_labels(
        se,
        gain,
        same_of(given, pairs),
        lambda: (same_of(np.array([dealt]), pairs) for dealt in list_arrangements(given)),
        complete=True,
    )
    assert found is not None
    assert found.ratio == pytest.approx((level + shift) / level, rel=1e-9)
    assert found.p == pytest.approx(np.mean(effects >= abs(shift) * (1 - 1e-9)), abs=1e-12)
    assert found.arrangements == count_arrangements(given)


def test_a_planted_ratio_comes_out_and_has_the_smallest_p_there_is() -> None:
    """Three pairs of kin: 90 arrangements, of which the 6 that exchange whole pairs are the observed one."""
    labels = np.array([0, 0, 1, 1, 2, 2])
    first, second = np.triu_indices(6, 1)
    gain = np.abs(np.subtract.outer(np.arange(6.0) ** 1.5, np.arange(6.0) ** 1.5))[first, second]
    same = labels[first] == labels[second]
    level = 0.8 + 0.05 * gain.mean()
    se = 0.8 + 0.05 * gain - 0.3 * level * same
    found = permute_labels(
        se,
        gain,
        same,
        lambda: (same_of(np.array([dealt]), (first, second)) for dealt in list_arrangements(labels)),
        complete=True,
    )
    assert found is not None
    assert found.ratio == pytest.approx(0.7, rel=1e-12)
    assert found.p == pytest.approx(6 / 90)


def test_arrangements_are_all_different_ones_and_no_other() -> None:
    labels = np.array([2, 0, 1, 1, 0, 0])
    listed = [tuple(one.tolist()) for one in list_arrangements(labels)]
    assert sorted(set(permutations(labels.tolist()))) == listed
    assert count_arrangements(labels) == len(listed) == 60


def test_drawn_labels_give_the_p_of_all_arrangements() -> None:
    """Of 20 000 draws p has the standard error √(p (1 − p)/20 000): six of them are a false alarm of 2e-9."""
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    se, gain, pairs = study(labels.tolist(), 5, -0.01)

    def drawn() -> Iterator[NDArray[np.bool_]]:
        for at in range(0, 20_000, 5000):
            yield same_of(labels[draw_orders(11, at, 5000, 8)], pairs)

    exact = permute_labels(
        se, gain, same_of(labels, pairs), lambda: (same_of(np.array([a]), pairs) for a in list_arrangements(labels)), complete=True
    )
    found = permute_labels(se, gain, same_of(labels, pairs), drawn, complete=False)
    assert exact is not None
    assert found is not None
    assert found.arrangements == 20_001
    assert 0.05 < exact.p < 0.95
    assert found.p == pytest.approx(exact.p, abs=6 * np.sqrt(exact.p * (1 - exact.p) / 20_000))


def test_a_kind_that_the_gain_tells_apart_has_no_ratio() -> None:
    gain = np.array([0.0, 0.0, 0.0, 2.0, 2.0, 2.0])
    assert permute_labels(np.arange(6.0), gain, gain > 1, lambda: iter([]), complete=False) is None


def test_every_order_is_as_likely_and_has_its_address() -> None:
    """24 orders of four things in 24 000 draws: 1000 each, standard deviation 31; six of them are a false alarm of 5e-8."""
    orders = draw_orders(3, 0, 24_000, 4)
    times = Counter(map(tuple, orders.tolist()))
    assert len(times) == 24
    assert max(abs(count - 1000) for count in times.values()) < 6 * 31
    # Alone or in a batch, by the words of the replicate.
    assert draw_orders(3, 17, 1, 6).tolist() == draw_orders(3, 10, 20, 6)[7:8].tolist()
    assert draw_orders(3, 17, 1, 6)[0].tolist() == np.argsort(draw_words(3, 17, 2)[:6], kind="stable").tolist()
