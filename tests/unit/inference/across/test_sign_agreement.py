"""The share of right signs that normal theory expects, and the error of a share of pairs that share systems and test sets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import norm

from pipeline.inference.across.sign_agreement import SignCounts, expected_agreement, share_error


@pytest.mark.parametrize(("low", "high"), [(0.04, 0.06), (0.0, 0.00125), (0.08, 1.0), (0.0, 1.0), (0.3, 0.7)])
def test_the_expected_share_is_the_integral_of_the_densities(low: float, high: float) -> None:
    effects = np.array([0.0, 0.4, 1.7, 3.2])
    ends = max(float(norm.isf(high)), 0.0), min(float(norm.isf(low)), 40.0)
    right = sum(quad(lambda z, m=m: norm.pdf(z - m), *ends, limit=200)[0] for m in effects)
    both = right + sum(quad(lambda z, m=m: norm.pdf(z + m), *ends, limit=200)[0] for m in effects)
    assert expected_agreement(effects, low, high) == pytest.approx(right / both, abs=1e-7)


def test_without_effects_half_of_the_signs_are_right_and_no_interval_of_p_has_none() -> None:
    assert expected_agreement(np.zeros(3), 0.01, 0.2) == pytest.approx(0.5)
    assert expected_agreement(np.zeros(3), 0.6, 0.9) is None  # a pair turned to a positive gain has p of at most ½
    assert expected_agreement(np.zeros(0), 0.04, 0.06) is None


def count(observations: NDArray[np.int64], hits: NDArray[np.bool_]) -> SignCounts:
    """Count observations (first, second, set) of pairs, which may stand in either order."""
    names = [tuple(sorted(two)) for two in observations[:, :2].tolist()]
    pairs = sorted(set(names))
    # Which system of a pair stands first says nothing.
    turned = [pair[::-1] if place % 2 else pair for place, pair in enumerate(pairs)]
    counts = SignCounts.of(np.array(turned, np.int64), sets=int(observations[:, 2].max()) + 1)
    number = np.array([pairs.index(name) for name in names])
    for test_set in range(int(observations[:, 2].max()) + 1):
        there = observations[:, 2] == test_set
        observed, right = np.zeros(len(pairs), np.bool_), np.zeros(len(pairs), np.bool_)
        observed[number[there]] = True
        right[number[there]] = hits[there]
        counts.add(test_set, observed, right)
    return counts


def sum_of_dependent(observations: NDArray[np.int64], hits: NDArray[np.bool_], *, ways: str) -> float:
    """Sum r_i r_k over observations that are dependent, one by one."""
    residual = (hits - hits.mean()) / len(hits)
    depend: dict[str, Callable[..., object]] = {
        "systems and sets": lambda a, b, t, c, d, u: t == u or {a, b} & {c, d},
        "pairs": lambda a, b, t, c, d, u: {a, b} == {c, d},
        "sets": lambda a, b, t, c, d, u: t == u,
    }
    every = observations.tolist()
    return sum(
        residual[i] * residual[k] for i, one in enumerate(every) for k, other in enumerate(every) if depend[ways](*one, *other)
    )


def observe(systems: int, sets: int, number: int | None, seed: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    every = np.array([(a, b, t) for a in range(systems) for b in range(a + 1, systems) for t in range(sets)])
    some = every if number is None else every[np.sort(rng.choice(len(every), number, replace=False))]
    return some, rng.random(len(some)) < 0.7


@pytest.mark.parametrize("seed", range(12))
def test_the_error_of_a_share_is_the_largest_of_the_sums_over_dependent_twos(seed: int) -> None:
    some, hits = observe(6, 5, 40, seed)
    sums = [sum_of_dependent(some, hits, ways=ways) for ways in ("systems and sets", "pairs", "sets")]
    assert share_error(count(some, hits)) == pytest.approx(np.sqrt(max(sums)), rel=1e-12)


def test_each_of_the_three_sums_is_the_largest_somewhere() -> None:
    """The test above would not see a sum that is never the largest."""
    largest = set()
    for seed in range(12):
        some, hits = observe(6, 5, 40, seed)
        largest.add(int(np.argmax([sum_of_dependent(some, hits, ways=ways) for ways in ("systems and sets", "pairs", "sets")])))
    assert largest == {0, 1, 2}


@pytest.mark.parametrize("seed", range(8))
def test_of_three_systems_any_two_pairs_share_one_and_the_error_is_no_rounding(seed: int) -> None:
    """All observations depend on one another, so that the sum over all twos is 0: only pairs or test sets alone say anything."""
    some, hits = observe(3, 50, None, seed)
    assert sum_of_dependent(some, hits, ways="systems and sets") == pytest.approx(0, abs=1e-15)
    found = share_error(count(some, hits))
    assert found is not None
    assert found**2 == pytest.approx(max(sum_of_dependent(some, hits, ways=ways) for ways in ("pairs", "sets")), rel=1e-9)
    assert found > 0.3 * np.sqrt(0.21 / len(hits))


def test_there_is_no_error_without_observations_or_variation() -> None:
    nobody = SignCounts.of(np.zeros((0, 2), np.int64), sets=1)
    assert (nobody.observed, nobody.systems, nobody.sets, share_error(nobody)) == (0, 0, 0, None)
    some, _ = observe(6, 5, 40, 1)
    assert share_error(count(some, np.ones(len(some), np.bool_))) is None
    assert share_error(count(some, np.zeros(len(some), np.bool_))) is None


def test_counts_are_those_of_the_observations() -> None:
    some, hits = observe(7, 6, 9, 2)
    counts = count(some, hits)
    assert (counts.observed, counts.right) == (9, int(hits.sum()))
    assert (counts.systems, counts.sets) == (len(set(some[:, :2].ravel().tolist())), len(set(some[:, 2].tolist())))
