"""Nulls that permute whole runs are enumerated, and agree with SciPy."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from scipy.stats import binom, permutation_test

from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas import count as permuted
from pipeline.resampling.replicas.count import count_null
from pipeline.resampling.replicas.outputs import Replicas


def with_scores(*scores):
    """Return systems of which the runs have these scores, over one unit."""
    statistics = tuple(np.array([[[value, 100]] for value in own], np.int64) for own in scores)
    return Replicas(statistics, lambda s: s[0] / s[1], "ratio", True, np.array([[0, 1]]))


def count(null, replicas, *, replicates=1000, key=3):
    return count_null(null, Draws(key, 1, 1), replicas, cells=range(1), replicates=replicates)


def difference(x, y, axis):
    return np.abs(np.mean(x, axis=axis) - np.mean(y, axis=axis))


@pytest.mark.parametrize("runs", [(2, 2), (3, 3), (5, 5), (4, 2), (2, 5)])
def test_whole_runs_are_enumerated(runs):
    rng = np.random.default_rng(sum(runs))
    a, b = (rng.integers(0, 12, many) for many in runs)  # ties among them
    both = np.concatenate([a, b])
    hits = total = 0
    for chosen in combinations(range(len(both)), len(a)):
        rest = np.delete(both, chosen)
        # Times R_A · R_B in integers.
        gain = both[list(chosen)].sum() * len(b) - rest.sum() * len(a)
        hits += abs(gain) >= abs(a.sum() * len(b) - b.sum() * len(a))
        total += 1
    found = count("whole-run", with_scores(a, b))
    assert (found.hits[0, 0], found.compared[0, 0]) == (hits, total)
    assert found.enumerated[0]
    scipy = permutation_test((a, b), difference, alternative="greater", n_resamples=np.inf, vectorized=True)
    assert found.p[0] == pytest.approx(scipy.pvalue, abs=1e-12)


@pytest.mark.parametrize("runs", [2, 4, 7])
def test_run_numbers_are_flipped_in_all_ways(runs):
    rng = np.random.default_rng(runs)
    a, b = rng.integers(0, 12, (2, runs))
    gains = [abs(np.dot(signs, a - b)) for signs in product((1, -1), repeat=runs)]
    found = count("paired-runs", with_scores(a, b))
    assert found.hits[0, 0] == sum(gain >= abs((a - b).sum()) for gain in gains)
    assert found.compared[0, 0] == 2**runs
    scipy = permutation_test((a, b), difference, permutation_type="samples", alternative="greater", n_resamples=np.inf)
    assert found.p[0] == pytest.approx(scipy.pvalue, abs=1e-12)


@pytest.mark.parametrize(
    ("null", "runs", "floor"),
    [
        ("whole-run", 3, 0.1),
        ("whole-run", 4, 2 / 70),
        ("whole-run", 5, 2 / 252),
        ("paired-runs", 3, 0.25),
        ("paired-runs", 5, 1 / 16),
    ],
)
def test_complete_separation_gives_the_floor(null, runs, floor):
    found = count(null, with_scores(range(50, 50 + runs), range(10, 10 + runs)))
    assert found.p[0] == found.floor[0] == pytest.approx(floor)


@pytest.mark.parametrize("null", ["whole-run", "paired-runs"])
def test_one_run_each_can_never_be_told_apart(null):
    found = count(null, with_scores([90], [10]))
    assert found.p[0] == found.floor[0] == 1.0


def test_the_floor_of_unequal_runs_is_one_arrangement():
    found = count("whole-run", with_scores([90, 91, 92, 93], [10, 11]))
    assert found.p[0] == found.floor[0] == pytest.approx(1 / comb(6, 2))


@pytest.mark.statistical
@pytest.mark.parametrize("null", ["whole-run", "paired-runs"])
def test_too_many_arrangements_are_drawn(null, monkeypatch):
    # False alarm 1e-6.
    rng = np.random.default_rng(6)
    replicas = with_scores(rng.integers(20, 60, 6), rng.integers(10, 50, 6))
    exact = count(null, replicas)
    monkeypatch.setattr(permuted, "MOST_ARRANGEMENTS", 10)
    drawn = count(null, replicas, replicates=16_384)
    assert exact.enumerated[0]
    assert not drawn.enumerated[0]
    assert drawn.floor[0] == 1 / 16_385
    assert 0.01 < exact.p[0] < 0.9
    assert binom.ppf(5e-7, 16_384, exact.p[0]) <= drawn.hits[0, 0] <= binom.isf(5e-7, 16_384, exact.p[0])
    assert drawn.p[0] == (drawn.hits[0, 0] + 1) / 16_385
