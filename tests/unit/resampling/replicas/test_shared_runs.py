"""Runs that several systems share are scored and summed once, and every pair counts as it does alone."""

from __future__ import annotations

import tracemalloc
from itertools import permutations

import numpy as np
import pytest
from support.replica_nulls import make_replicas, ratio

from pipeline.resampling.draws import Draws
from pipeline.resampling.products.bitplanes import BitPlanes
from pipeline.resampling.replicas import shuffles
from pipeline.resampling.replicas.components import unit_values
from pipeline.resampling.replicas.count import count_null
from pipeline.resampling.replicas.outputs import Replicas, observe_replicas
from pipeline.resampling.replicas.p_values import find_p
from pipeline.resampling.replicas.score_deviation import spread_scores

UNITS = 70  # more than one word of a mask
ADDRESS = Draws(7, UNITS, UNITS)


def make_groups(kind):
    """All ordered groups of three of four runs, as systems; some pairs of them, each system on either side."""
    pool = make_replicas([4], UNITS, kind=kind, pairs=np.zeros((0, 2)))
    groups = list(permutations(range(4), 3))
    pairs = np.array([(place, (place + step) % len(groups)) for step in (5, 7) for place in range(len(groups))])
    statistics = tuple(np.ascontiguousarray(pool.statistics[0][list(group)]) for group in groups)
    return Replicas(statistics, pool.score, pool.form, True, pairs)


def alone(replicas, pair):
    systems = tuple(replicas.statistics[system].copy() for system in replicas.pairs[pair])
    return Replicas(systems, replicas.score, replicas.form, True, np.array([[0, 1]]))


@pytest.mark.parametrize("kind", ["linear", "general"])
@pytest.mark.parametrize("null", ["per-output", "r-of-2r", "segment-block", "multeval", "crossed"])
def test_pairs_of_groups_of_the_same_runs_count_as_each_alone(null, kind, monkeypatch):
    replicas, used = make_groups(kind), []
    sum_shared = shuffles.sum_shared
    monkeypatch.setattr(shuffles, "sum_shared", lambda *given: used.append(True) or sum_shared(*given))
    found = count_null(null, ADDRESS, replicas, cells=range(1), replicates=60)
    assert bool(used) == (null == "r-of-2r")
    for pair in range(0, len(replicas.pairs), 9):
        own = count_null(null, ADDRESS, alone(replicas, pair), cells=range(1), replicates=60)
        for name in ("delta", "hits", "compared", "empty", "reason"):
            np.testing.assert_array_equal(getattr(found, name)[pair], getattr(own, name)[0], err_msg=name)
    assert len(used) == (null == "r-of-2r")  # of two systems nothing is shared


def test_values_and_spreads_of_groups_are_those_of_each_alone():
    replicas = make_groups("general")
    values = unit_values(replicas, observe_replicas(replicas))
    spread = spread_scores(ADDRESS, replicas, replicates=60)
    for system in range(0, len(replicas.statistics), 7):
        own = alone(replicas, system)
        np.testing.assert_array_equal(values[system], unit_values(own, observe_replicas(own))[0])
        alike = spread_scores(ADDRESS, own, replicates=60)
        np.testing.assert_array_equal(spread.by_run[system], alike.by_run[0])
        assert (spread.s_test[system], spread.s_sel[system], spread.empty[system]) == (alike.s_test[0], alike.s_sel[0], 0)


def test_the_values_of_a_run_are_those_of_its_own_units():
    replicas = make_groups("ratio")
    for array, values in zip(replicas.statistics, unit_values(replicas, observe_replicas(replicas)), strict=True):
        for run, own in zip(array, values, strict=True):
            without = np.array([ratio(np.delete(run, unit, axis=0).sum(axis=0)) for unit in range(UNITS)])
            score = ratio(run.sum(axis=0))
            np.testing.assert_allclose(own, score + (UNITS - 1) * (without.mean() - without), rtol=1e-9)


def test_runs_are_held_once_more_and_not_twice():
    runs = np.arange(4 * 20_000 * 2).reshape(4, 20_000, 2)
    replicas = Replicas((runs[:2], runs[2:]), ratio, "ratio", True, np.array([[0, 1]]))
    tracemalloc.start()
    try:
        assert len(replicas.distinct.runs) == 4
        assert tracemalloc.get_traced_memory()[1] < 1.2 * runs.nbytes
    finally:
        tracemalloc.stop()


def test_each_run_is_scored_once():
    scored = []

    def score(sums):
        scored.append(sums[0].size)
        return ratio(sums)

    made = make_groups("ratio")
    replicas = Replicas(made.statistics, score, "ratio", True, made.pairs)
    observed = observe_replicas(replicas)
    assert sum(scored) == 4
    unit_values(replicas, observed)
    assert sum(scored) == 4 + 4 * UNITS


@pytest.mark.parametrize("kind", ["linear", "general"])
@pytest.mark.parametrize("null", ["per-output", "r-of-2r", "segment-block", "multeval", "crossed", "quasi-f"])
def test_runs_that_are_chosen_from_a_pool_count_as_they_do_alone(null, kind):
    pool = make_replicas([5, 4, 6], UNITS, kind=kind)
    pool.statistics[2][5] = pool.statistics[0][1]  # a run that two systems have
    asked = [np.array([3, 1]), np.array([5, 0])]
    chosen = pool.choose([0, 2], asked, np.array([[0, 1]]))
    fresh = Replicas(tuple(pool.statistics[s][own] for s, own in zip([0, 2], asked, strict=True)), pool.score, pool.form, True,
                     np.array([[0, 1]]))  # fmt: skip
    np.testing.assert_array_equal(chosen.distinct.runs, fresh.distinct.runs)
    np.testing.assert_array_equal(chosen.distinct.of, fresh.distinct.of)
    np.testing.assert_array_equal(chosen.distinct.sums, fresh.distinct.sums)
    one, other = (find_p(null, ADDRESS, some, replicates=60) for some in (chosen, fresh))
    np.testing.assert_array_equal(one.p, other.p)
    assert 0 < one.p[0] < 1


def test_bits_of_a_pool_are_made_once_however_much_is_chosen_from_it(monkeypatch):
    made, of = [], BitPlanes.of
    monkeypatch.setattr(BitPlanes, "of", lambda columns: made.append(len(columns)) or of(columns))
    pool = make_replicas([5, 4], UNITS, kind="general")  # of one denominator, differences of what is chosen would be summed
    for number in range(3):
        some = pool.choose([0, 1], [np.array([number, 4]), np.array([3, number])], pool.pairs)
        find_p("per-output", ADDRESS, some, replicates=60)
    assert made == [9 * pool.statistics[0].shape[2]]
