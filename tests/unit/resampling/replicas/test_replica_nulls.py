"""Counts of every null of replicas are those of its definition: outcome by outcome, and over all outcomes."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import binom
from support import replica_nulls

from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure
from pipeline.resampling.randomize import randomize
from pipeline.resampling.replicas.count import count_null
from pipeline.resampling.replicas.nulls import NULLS, REASONS
from pipeline.resampling.replicas.outputs import Replicas
from pipeline.resampling.resample import resample

DRAWN = ("per-output", "r-of-2r", "segment-block", "multeval", "crossed")
NAMES = tuple(null.name for null in NULLS if not null.computed)
KINDS = ("linear", "ratio", "general")
REPLICATES = 16_384
FALSE_ALARM = 1e-6


def address(units, key=7):
    return Draws(key, units, units)


def count(null, replicas, *, key=7, replicates=1000, cells=range(1), **options):
    return count_null(null, address(replicas.n_units, key), replicas, cells=cells, replicates=replicates, **options)


def same_counts(one, other, pairs=slice(None), other_pairs=slice(None)):
    for name in ("hits", "compared", "empty", "enumerated", "floor", "reason", "few_runs"):
        np.testing.assert_array_equal(getattr(one, name)[pairs], getattr(other, name)[other_pairs], err_msg=name)


def equal_runs_or_two(null):
    return (3, 3) if null in ("per-output", "multeval") else (3, 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("null", DRAWN)
def test_each_replicate_is_its_definition(null, kind):
    units = 70  # more than one word of a mask
    for runs in {(2, 2), equal_runs_or_two(null)}:
        replicas = replica_nulls.make_replicas(runs, units, kind=kind, seed=28)
        a, b = replica_nulls.oriented_arrays(replicas, 0)
        delta = replica_nulls.observed_gain(null, replicas, a, b)
        if delta < 0:  # pooled runs, or means of units, may have another order than means of scores
            a, b, delta = b, a, -delta
        gains = [
            replica_nulls.permuted_gain(null, replicas, a, b, replica_nulls.draw_outcome(null, 7, r, len(a), len(b), units))
            for r in range(60)
        ]
        hits = sum(replica_nulls.is_hit(null, gain, delta) for gain in gains)
        found = count(null, replicas, replicates=60)
        assert found.hits.tolist() == [[hits]]
        assert found.compared.tolist() == [[60]]
        assert abs(found.delta[0]) == pytest.approx(delta)


def all_outcomes(null, runs_a, runs_b, units):
    coins = [np.array(c) for c in product([False, True], repeat=units)]
    if null == "per-output":
        return [np.array(c).reshape(runs_a, units) for c in product([False, True], repeat=runs_a * units)]
    if null == "r-of-2r":
        return list(product(list(permutations(range(runs_a + runs_b))), repeat=units))
    if null == "segment-block":
        return coins
    if null == "multeval":
        of_a_unit = list(product(product([False, True], repeat=runs_a), permutations(range(runs_a))))
        return [tuple(zip(*chosen, strict=True)) for chosen in product(of_a_unit, repeat=units)]
    drawn = [list(product(range(k), repeat=k)) for k in (runs_a, runs_b, units)]
    return [tuple(np.array(part) for part in chosen) for chosen in product(*drawn)]


@pytest.mark.statistical
@pytest.mark.parametrize("kind", ["linear", "general"])
@pytest.mark.parametrize(
    ("null", "runs", "units"),
    [
        ("per-output", (2, 2), 4),
        ("r-of-2r", (2, 1), 4),
        ("r-of-2r", (2, 2), 2),
        ("segment-block", (2, 2), 6),
        ("segment-block", (3, 2), 6),
        ("multeval", (3, 3), 2),
        ("crossed", (2, 2), 3),
        ("crossed", (1, 2), 3),
    ],
)
def test_the_law_is_that_of_all_outcomes(null, runs, units, kind):
    replicas = replica_nulls.make_replicas(runs, units, kind=kind, seed=28)
    a, b = replica_nulls.oriented_arrays(replicas, 0)
    delta = replica_nulls.observed_gain(null, replicas, a, b)
    if delta < 0:
        a, b, delta = b, a, -delta
    outcomes = all_outcomes(null, len(a), len(b), units)
    share = np.mean([replica_nulls.is_hit(null, replica_nulls.permuted_gain(null, replicas, a, b, o), delta) for o in outcomes])
    assert 0.01 < share < 0.99, "nothing is tested"
    hits = count(null, replicas, replicates=REPLICATES).hits[0, 0]
    assert binom.ppf(FALSE_ALARM / 2, REPLICATES, share) <= hits <= binom.isf(FALSE_ALARM / 2, REPLICATES, share)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("null", ["per-output", "segment-block"])
def test_with_one_run_it_is_approximate_randomization_bit_by_bit(null, kind):
    replicas = replica_nulls.make_replicas((1, 1, 1), 150, kind=kind, seed=2)
    found = count(null, replicas)
    counts = two_sided(randomize, replicas)
    np.testing.assert_array_equal(found.hits, counts)


@pytest.mark.parametrize("kind", KINDS)
def test_with_one_run_the_crossed_bootstrap_is_the_paired_one_bit_by_bit(kind):
    replicas = replica_nulls.make_replicas((1, 1, 1), 150, kind=kind, seed=2)
    np.testing.assert_array_equal(count("crossed", replicas).hits, two_sided(resample, replicas))


def two_sided(procedure, replicas):
    statistics = np.concatenate(replicas.statistics).transpose(1, 0, 2)
    keep = np.zeros(len(replicas.statistics), bool)
    measure = Measure(
        np.ascontiguousarray(statistics), replicas.score, replicas.form, replicas.higher_is_better, replicas.pairs, keep
    )
    counts = procedure(address(replicas.n_units), [measure], cells=range(1), replicates=1000)[0].counts
    return counts[:, :, [0, 1, 4, 5]].sum(axis=2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("null", NAMES)
def test_no_count_depends_on_memory_or_on_how_cells_are_divided(null, kind):
    replicas = replica_nulls.make_replicas((3, 3, 2), 20, kind=kind)
    whole = count(null, replicas, replicates=17_000, cells=range(2))
    same_counts(whole, count(null, replicas, replicates=17_000, cells=range(2), memory_bytes=200_000))
    if not whole.enumerated.any():
        apart = [count(null, replicas, replicates=17_000, cells=range(c, c + 1)) for c in range(2)]
        np.testing.assert_array_equal(whole.hits, np.concatenate([part.hits for part in apart], axis=1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("null", NAMES)
def test_exchanging_the_systems_of_a_pair_changes_the_sign_of_the_gain_and_nothing_else(null, kind):
    pairs = [[0, 1], [1, 2], [0, 2]]
    one = count(null, replica_nulls.make_replicas((3, 3, 4), 25, kind=kind, pairs=pairs))
    other = count(null, replica_nulls.make_replicas((3, 3, 4), 25, kind=kind, pairs=np.array(pairs)[:, ::-1]))
    same_counts(one, other)
    np.testing.assert_array_equal(one.delta, -other.delta)
    renamed = replica_nulls.make_replicas((3, 3, 4), 25, kind=kind)
    mirrored = Replicas(
        renamed.statistics[::-1], renamed.score, renamed.form, True, 2 - np.array(pairs)
    )  # the systems themselves stand in another order
    same_counts(one, count(null, mirrored))


@pytest.mark.parametrize("null", NAMES)
def test_another_system_changes_no_count_of_a_pair_and_a_copy_has_those_of_its_original(null):
    alone = replica_nulls.make_replicas((3, 3), 25, kind="linear", seed=5)
    strange = np.random.default_rng(0).integers(1, 900, (3, 25, 2))  # of its own denominators
    statistics = (strange, *alone.statistics, alone.statistics[1].copy())
    beside = Replicas(statistics, alone.score, "ratio", True, np.array([[1, 2], [1, 3], [2, 3], [0, 1]]))
    one, other = count(null, alone), count(null, beside)
    same_counts(one, other, [0, 0], [0, 1])
    assert other.p[2] == 1.0
    assert REASONS[other.reason[2]] == "identical"
    assert other.delta[2] == 0


def test_identical_systems_have_a_p_of_one_before_anything_is_drawn():
    one = replica_nulls.make_replicas((3, 3), 10, pairs=[[0, 0], [0, 1]])
    found = count("r-of-2r", one, cells=range(0))
    assert found.p[0] == 1.0
    assert np.isnan(found.p[1])


@pytest.mark.parametrize("null", NAMES)
def test_lower_is_better_turns_the_gain_and_no_count(null):
    up, down = (count(null, replica_nulls.make_replicas((3, 3), 25, higher=higher)) for higher in (True, False))
    same_counts(up, down)
    np.testing.assert_array_equal(up.delta, -down.delta)
    assert up.delta[0]


@pytest.mark.parametrize("null", NAMES)
def test_equal_means_without_identity_have_a_p_of_one(null):
    statistics = np.array([[[3, 4], [1, 4]], [[2, 4], [2, 4]]])
    replicas = Replicas((statistics, statistics[::-1].copy()), lambda s: s[0] / s[1], "ratio", True, np.array([[0, 1]]))
    found = count(null, replicas)
    assert REASONS[found.reason[0]] == ""
    assert found.p[0] == 1.0


@pytest.mark.parametrize("null", ["per-output", "paired-runs", "multeval"])
def test_unequal_runs_have_no_p_where_outputs_are_exchanged_run_by_run(null):
    found = count(null, replica_nulls.make_replicas((2, 3, 3), 10))
    assert [REASONS[code] for code in found.reason] == ["unequal runs", "unequal runs", ""]
    np.testing.assert_array_equal(np.isnan(found.p), [True, True, False])
    assert found.compared[:2].sum() == 0


@pytest.mark.parametrize("null", NAMES)
def test_replicates_without_a_score_are_left_out_and_counted(null):
    # Unit 0 alone has a denominator in a run: swapped or not drawn, its score is 0/0.
    one = np.array([[[1, 2], [0, 0]], [[1, 2], [0, 0]]])
    other = np.array([[[0, 0], [1, 3]], [[0, 0], [1, 3]]])
    replicas = Replicas((one, other), lambda s: s[0] / s[1], "ratio", True, np.array([[0, 1]]))
    found = count(null, replicas)
    assert (found.compared + found.empty).sum() == (6 if null == "whole-run" else 4 if null == "paired-runs" else 1000)
    assert (found.empty.sum() > 0) == (null not in ("whole-run", "paired-runs"))
    undefined = Replicas((one * 0, other), replicas.score, "ratio", True, replicas.pairs)
    found = count(null, undefined)
    assert REASONS[found.reason[0]] == "undefined score"
    assert np.isnan(found.p[0])
    assert found.compared.sum() == 0


def test_the_table_says_which_runs_a_null_needs_and_which_statistic_it_has():
    replicas = replica_nulls.make_replicas((2, 3), 12)
    for null in (null for null in NULLS if not null.computed):
        found = count(null.name, replicas)
        assert null.needs_equal_runs == np.isnan(found.p[0])
    with pytest.raises(ValueError, match="there is no null 'block'; there are per-output, "):
        count("block", replicas)


def test_few_runs_are_marked_for_the_crossed_bootstrap_only():
    replicas = replica_nulls.make_replicas((5, 5, 4), 12)
    assert count("crossed", replicas).few_runs.tolist() == [False, True, True]
    assert not any(count(name, replicas).few_runs.any() for name in NAMES if name != "crossed")


@pytest.mark.parametrize(
    ("statistics", "message"),
    [
        ((), "there are 0 systems"),
        ((np.ones((2, 3, 2)),), "int64"),
        ((np.ones((2, 3, 2), np.int64), np.ones((2, 4, 2), np.int64)), "of the same units"),
        ((np.ones((2, 0, 2), np.int64),), "no run, no unit"),
        ((np.full((2, 3, 2), 2**50),), "not exact"),
    ],
)
def test_statistics_that_do_not_fit_are_refused(statistics, message):
    with pytest.raises(ValueError, match=message):
        Replicas(statistics, lambda s: s[0] / s[1], "ratio", True, np.zeros((0, 2), np.int64))


def test_draws_of_other_units_are_refused():
    with pytest.raises(ValueError, match="statistics of 12 units, permutations of 13"):
        count_null("r-of-2r", address(13), replica_nulls.make_replicas((2, 2), 12), cells=range(1), replicates=10)
