"""What must not matter: memory, cells, other systems and measures, their order, copies, and which of a pair comes first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import small_measures as small

from pipeline.resampling import resample as module
from pipeline.resampling.address import CELL
from pipeline.resampling.draws import Draws
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample

DRAWS = Draws(4242, 40, 40)
REPLICATES = CELL + 777


@pytest.fixture(scope="module")
def reference(four_measures):
    return resample(DRAWS, four_measures, cells=range(2), replicates=REPLICATES, keep_replicates=CELL + 50)


@pytest.mark.parametrize("memory_bytes", [1, 40 * 4 * 100, 2**20, 2**40])
def test_memory_changes_no_bit(four_measures, reference, memory_bytes):
    found = resample(
        DRAWS, four_measures, cells=range(2), replicates=REPLICATES, keep_replicates=CELL + 50, memory_bytes=memory_bytes
    )
    for one, other in zip(reference, found, strict=True):
        small.assert_same_bits(one, other)
        assert one.score.tobytes() == other.score.tobytes()


@pytest.mark.parametrize("pairs_at_once", [1, 3, 7, 25, 39])
def test_pairs_counted_some_at_a_time_are_the_pairs_counted_together(four_measures, reference, monkeypatch, pairs_at_once):
    seen = []
    whole = module.plan_measure
    monkeypatch.setattr(module, "plan_measure", lambda m, o, **how: seen.append(len(m.pairs)) or whole(m, o, **how))
    found = resample(
        DRAWS, four_measures, cells=range(2), replicates=REPLICATES, keep_replicates=CELL + 50, pairs_at_once=pairs_at_once
    )
    for one, other in zip(reference, found, strict=True):
        small.assert_same_bits(one, other)
        assert one.score.tobytes() == other.score.tobytes()
        assert one.rule.tolist() == other.rule.tolist()
    assert sum(seen) == 4 * 10  # no pair twice
    together = [sum(seen[at : at + 4]) for at in range(0, len(seen), 4)]
    assert max(together) <= pairs_at_once + 4
    assert len(together) == -(-40 // pairs_at_once)


def test_cells_counted_apart_are_the_cells_counted_together(four_measures, reference):
    parts = [
        resample(DRAWS, four_measures, cells=range(c, c + 1), replicates=REPLICATES, keep_replicates=CELL + 50) for c in range(2)
    ]
    for measure, whole in enumerate(reference):
        for name in ("counts", "sums", "histogram", "empty", "score"):
            joined = np.concatenate([getattr(part[measure], name) for part in parts], axis=1)
            assert joined.tobytes() == getattr(whole, name).tobytes(), name


def test_a_measure_alone_has_the_bits_it_has_in_company(four_measures, reference):
    for measure, whole in zip(four_measures, reference, strict=True):
        small.assert_same_bits(whole, resample(DRAWS, [measure], cells=range(2), replicates=REPLICATES)[0])


def test_observed_values_handed_in_change_no_bit(four_measures, reference):
    observed = [observe(measure) for measure in four_measures]
    found = resample(DRAWS, four_measures, cells=range(2), replicates=REPLICATES, observed=observed)
    for one, other in zip(reference, found, strict=True):
        small.assert_same_bits(one, other)


@pytest.mark.parametrize("added", ["wide", "own denominators", "copy"])
def test_adding_a_system_changes_no_bit_of_an_existing_pair(four_measures, reference, added):
    for measure, whole in zip(four_measures, reference, strict=True):
        extra = measure.statistics[:, :1].copy()
        if added == "wide":
            extra[:, :, 0] *= 2**30  # beyond float32: its column is summed apart
        elif added == "own denominators":
            extra += 1
        statistics = np.concatenate([extra, measure.statistics], axis=1)  # in front: every position moves
        pairs = small.all_pairs(6)
        bigger = replace(measure, statistics=statistics, pairs=pairs, keep=np.ones(6, bool))
        old = np.flatnonzero(pairs[:, 0] > 0)
        small.assert_same_bits(whole, resample(DRAWS, [bigger], cells=range(2), replicates=REPLICATES)[0], other_pairs=old)
        for name in ("delta", "se", "discordant", "identical"):
            assert getattr(observe(bigger), name)[old].tobytes() == getattr(observe(measure), name).tobytes(), name


def test_the_order_of_systems_and_pairs_changes_no_bit(four_measures, reference):
    order = np.array([3, 0, 4, 2, 1])
    shuffled = np.random.default_rng(0).permutation(10)
    for measure, whole in zip(four_measures, reference, strict=True):
        pairs = np.argsort(order)[measure.pairs[shuffled]]
        moved = replace(measure, statistics=measure.statistics[:, order], pairs=pairs, keep=measure.keep[order])
        small.assert_same_bits(whole, resample(DRAWS, [moved], cells=range(2), replicates=REPLICATES)[0], pairs=shuffled)


def test_a_copy_of_a_system_has_the_results_of_the_system(four_measures):
    for measure in four_measures:
        statistics = np.concatenate([measure.statistics, measure.statistics[:, :1]], axis=1)
        twins = replace(measure, statistics=statistics, pairs=np.array([[0, 2], [5, 2], [0, 5]]), keep=np.zeros(6, bool))
        (found,) = resample(DRAWS, [twins], cells=range(1), replicates=2000)
        small.assert_same_bits(found, found, pairs=[0], other_pairs=[1])
        assert found.counts[2, 0, 1] == 2000


def test_swapping_a_pair_changes_no_bit_and_the_sign_of_the_gain(four_measures, reference):
    for measure, whole in zip(four_measures, reference, strict=True):
        swapped = replace(measure, pairs=measure.pairs[:, ::-1].copy())
        assert np.array_equal(observe(swapped).delta, -observe(measure).delta)
        ordered = np.flatnonzero(observe(measure).delta)  # tied pairs have the order given: the next test
        assert len(ordered) >= 9
        (found,) = resample(DRAWS, [swapped], cells=range(2), replicates=REPLICATES)
        small.assert_same_bits(whole, found, pairs=ordered, other_pairs=ordered)


def test_swapping_a_tied_pair_mirrors_its_counts():
    statistics = np.array([[[1, 1], [0, 1]], [[0, 1], [1, 1]], [[1, 1], [1, 1]]])
    tied = small.make_measure(statistics, pairs=[(0, 1), (1, 0)])
    (found,) = resample(Draws(1, 3, 3), [tied], cells=range(1), replicates=1000)
    one, other = found.counts[:, 0]
    assert (one[0], one[5]) == (other[5], other[0])
    assert one[0] != one[5]
    assert one[1] == other[1]


def test_lower_is_better_is_higher_is_better_of_the_negative_score():
    statistics = small.own_statistics(40, 4, 9, width=3)
    lower = small.make_measure(statistics, score=small.root_of_products, form="general", higher=False)
    negative = small.make_measure(statistics, score=lambda s: -small.root_of_products(s), form="general")
    assert observe(lower).delta.tobytes() == observe(negative).delta.tobytes()
    one, other = resample(DRAWS, [lower, negative], cells=range(1), replicates=3000)
    small.assert_same_bits(one, other)


def test_replicates_differ_with_the_key(four_measures, reference):
    other = resample(replace(DRAWS, key=4243), four_measures, cells=range(2), replicates=REPLICATES)
    assert all(not np.array_equal(one.counts, two.counts) for one, two in zip(reference, other, strict=True))


def test_a_score_that_is_a_view_of_the_sums_is_that_of_a_copy(four_measures):
    """The sums of the next system are written where those of this one were."""
    general = [
        replace(four_measures[0], form="general", score=score) for score in (lambda sums: sums[0], lambda sums: 1.0 * sums[0])
    ]
    view, copy = (resample(DRAWS, [one], cells=range(1), replicates=CELL, keep_replicates=50)[0] for one in general)
    small.assert_same_bits(view, copy)
    assert view.score.tobytes() == copy.score.tobytes()
