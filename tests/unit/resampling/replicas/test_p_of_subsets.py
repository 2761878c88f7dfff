"""p of many subsets of runs is that of each subset by itself, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from support.replica_nulls import make_replicas, ratio

from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas import p_values
from pipeline.resampling.replicas.differences import Differences
from pipeline.resampling.replicas.outputs import Replicas
from pipeline.resampling.replicas.p_values import find_p, find_p_of_subsets

POOL = 6
SUBSETS = 12
REPLICATES = 130


def check(null, replicas, *, size, systems=None, pairs=None, sizes=None, **asked):
    """Return p and gain of random subsets, which are those of `find_p` subset by subset."""
    systems = np.arange(len(replicas.statistics)) if systems is None else np.array(systems)
    pairs = replicas.pairs if pairs is None else np.array(pairs)
    rng = np.random.default_rng(5)
    many = replicas.runs[systems].tolist()
    runs = [
        np.array([rng.permutation(pool)[:number] for _ in range(SUBSETS)])
        for pool, number in zip(many, sizes or [size] * len(many), strict=True)
    ]
    units = replicas.n_units
    draws = [Draws(100 + subset, units, units) for subset in range(SUBSETS)]
    p, delta = find_p_of_subsets(null, draws, replicas, systems, runs, pairs, replicates=REPLICATES, **asked)
    for subset, own in enumerate(draws):
        some = replicas.choose(systems.tolist(), [chosen[subset] for chosen in runs], pairs)
        alone = find_p(null, own, some, replicates=REPLICATES)
        np.testing.assert_array_equal(p[subset], alone.p)
        np.testing.assert_array_equal(delta[subset], alone.delta)
        np.testing.assert_array_equal(np.signbit(delta[subset]), np.signbit(alone.delta))
    return p, delta


@pytest.fixture
def together(monkeypatch):
    """Whether subsets were counted from what is known of the pool."""
    used = []
    own = p_values._swap_subsets
    monkeypatch.setattr(p_values, "_swap_subsets", lambda *given, **named: used.append(True) or own(*given, **named))
    return used


@pytest.mark.parametrize("null", ["per-output", "segment-block"])
@pytest.mark.parametrize(("units", "size"), [(1, 1), (64, 3), (65, 1), (130, 2), (40, 6)])
@pytest.mark.parametrize("higher", [True, False])
def test_subsets_of_runs_with_one_denominator_count_as_each_alone(null, units, size, higher, together):
    replicas = make_replicas([POOL] * 4, units, kind="linear", pairs=[[1, 0], [2, 3]], higher=higher)
    p, delta = check(null, replicas, size=size)
    assert together
    assert units == 1 or len(np.unique(p)) > 1
    if size == 1 and units > 1:  # either system is ahead
        assert (delta > 0).any()
        assert (delta < 0).any()


def test_memory_changes_nothing(together, monkeypatch):
    replicas, batches = make_replicas([POOL] * 2, 70, kind="linear"), []
    count = Differences.count
    monkeypatch.setattr(Differences, "count", lambda *given: batches.append(given[2:]) or count(*given))
    expected = check("per-output", replicas, size=2)
    batches.clear()
    np.testing.assert_array_equal(check("per-output", replicas, size=2, memory_bytes=2**13), expected)
    assert (0, REPLICATES) not in batches[: -2 * SUBSETS]
    assert together


@pytest.mark.parametrize("null", ["per-output", "segment-block"])
def test_some_systems_of_a_pool(null, together):
    replicas = make_replicas([POOL, 4, 5, POOL], 50, kind="linear")
    check(null, replicas, size=3, systems=[1, 3], pairs=[[1, 0]])
    assert together


@pytest.mark.parametrize("null", ["per-output", "segment-block"])
def test_ties_and_copies(null, together):
    """Few scores: some subsets score the same, some have the same runs, and one column is a constant."""
    rng = np.random.default_rng(2)
    kinds = rng.integers(0, 2, (2, 8))
    kinds[1] = 1  # on every unit
    statistics = tuple(np.stack([kinds[rng.integers(0, 2, 4)], np.ones((4, 8), np.int64)], axis=2) for _ in range(2))
    p, delta = check(null, Replicas(statistics, ratio, "ratio", True, np.array([[0, 1]])), size=2)
    assert together
    assert (p[delta == 0] == 1).all()
    assert (delta == 0).any()
    assert (delta != 0).any()


@pytest.mark.parametrize("null", ["per-output", "segment-block"])
def test_numerators_that_are_large_or_negative(null, together):
    rng, ones = np.random.default_rng(4), np.ones((POOL, 20), np.int64)
    for scale in (1, 100, 20_000, 2**30):  # differences of −100 and 100 need one bit more than either
        statistics = tuple(np.stack([scale * rng.choice([-1, 1], ones.shape), ones], axis=2) for _ in range(2))
        check(null, Replicas(statistics, ratio, "ratio", True, np.array([[0, 1]])), size=2)
    assert len(together) == 4


@pytest.mark.parametrize(
    ("null", "kind", "systems"),
    [
        ("per-output", "ratio", 2),  # no common denominator
        ("per-output", "general", 2),
        ("per-output", "linear", 3),  # as many pairs as systems
        ("r-of-2r", "linear", 2),  # not swapped
        ("whole-run", "linear", 2),
        ("quasi-f", "linear", 2),
    ],
)
def test_others_are_tested_one_by_one(null, kind, systems, together):
    check(null, make_replicas([POOL] * systems, 20, kind=kind), size=2)
    assert not together


def test_unequal_numbers_of_runs_are_tested_one_by_one(together):
    check("segment-block", make_replicas([POOL] * 2, 20, kind="linear"), size=2, sizes=[2, 3])
    assert not together


def test_runs_without_a_score_have_no_p(together):
    replicas = make_replicas([POOL] * 2, 20, kind="linear")
    replicas.statistics[0][2] = 0  # 0/0
    p, delta = check("per-output", replicas, size=2)
    assert not together
    assert np.isnan(p).any()
    assert np.isnan(delta).any()
    assert np.isfinite(p).any()
