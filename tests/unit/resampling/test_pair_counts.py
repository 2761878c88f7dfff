"""Every count, sum and bin against a recomputation by the definitions on the same draws."""

from __future__ import annotations

import numpy as np
import pytest
from support import small_measures as small

from pipeline.resampling.address import CELL
from pipeline.resampling.draws import Draws, draw_units
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample

REPLICATES = 1237


def check(measure, rules, *, n_draws=None, cells=range(1), replicates=REPLICATES):
    draws = Draws(99, len(measure.statistics), n_draws or len(measure.statistics))
    observed = observe(measure)
    (found,) = resample(draws, [measure], cells=cells, replicates=replicates)
    for pair in range(len(measure.pairs)):
        expected = small.recount(draws, measure, observed, pair, cells[0] * CELL, replicates)
        assert found.counts[pair, 0].tolist() == expected["counts"]
        assert found.empty[pair, 0] == expected["empty"]
        assert found.histogram[pair, 0].tolist() == expected["histogram"].tolist()
        scale = np.abs(expected["sums"]) + 1e-9 * replicates
        assert np.all(np.abs(found.sums[pair, 0] - expected["sums"]) <= 1e-11 * scale)
        if observed.delta[pair] != 0:
            assert found.counts[pair, 0, [0, 1, 4, 5]].sum() == expected["two-sided"]
    assert set(found.rule.tolist()) == rules
    return found


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("margin", [None, 0.0, 5.0])
def test_accuracy(higher, margin):
    found = check(small.make_measure(small.accuracy_statistics(40, 4, 1), higher=higher, margin=margin), {1})
    assert found.counts[:, :, [1, 3, 4]].sum(axis=(1, 2)).min() > 0, "a test of ties needs ties"


def test_accuracy_on_samples_of_another_size_than_the_test_set():
    check(small.make_measure(small.accuracy_statistics(40, 4, 1)), {1}, n_draws=17)


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("margin", [None, 2.5])
def test_ratios_with_a_shared_denominator(higher, margin):
    found = check(small.make_measure(small.shared_statistics(12, 4, 3, high=4), higher=higher, margin=margin), {2})
    assert found.counts[:, :, [3, 4]].sum() > 0, "a test of ties needs ties"


def test_ratios_with_a_shared_denominator_on_samples_of_another_size():
    check(small.make_measure(small.shared_statistics(12, 4, 3, high=4)), {2}, n_draws=31)


def test_a_shared_denominator_that_is_often_zero_leaves_empty_replicates():
    statistics = np.zeros((3, 2, 2), np.int64)
    statistics[0] = [[5, 4], [1, 4]]
    statistics[1] = [[3, 0], [0, 0]]  # insertions against an empty reference
    found = check(small.make_measure(statistics), {2})
    assert 200 < found.empty[0, 0] < 500  # (2/3)³ of 1237


@pytest.mark.parametrize("higher", [True, False])
def test_ratios_with_denominators_of_their_own(higher):
    check(small.make_measure(small.own_statistics(25, 4, 3), higher=higher, margin=1.5), {0})


@pytest.mark.parametrize("higher", [True, False])
def test_general_scores(higher):
    statistics = small.own_statistics(25, 4, 3, width=3)
    check(small.make_measure(statistics, score=small.root_of_products, form="general", higher=higher, margin=0.01), {0})


def test_general_scores_on_a_lattice_have_ties():
    statistics = small.own_statistics(15, 4, 3, width=1) // 10
    found = check(small.make_measure(statistics, score=lambda s: s[0] / 3.0, form="general"), {0})
    assert found.counts[:, :, [1, 3, 4]].min() > 0


def test_undefined_scores_are_counted_as_empty_and_nowhere_else():
    statistics = small.own_statistics(4, 3, 6)
    statistics[1:, 1] = 0
    found = check(small.make_measure(statistics), {0})
    assert found.empty[0, 0] > 200
    assert np.all(found.histogram.sum(axis=2) + found.empty == REPLICATES)


def test_a_system_without_an_observed_score_has_only_empty_replicates():
    statistics = small.own_statistics(4, 2, 6)
    statistics[:, 1] = 0
    (found,) = resample(Draws(1, 4, 4), [small.make_measure(statistics, margin=1.0)], cells=range(1), replicates=100)
    assert found.empty.tolist() == [[100]]
    assert not found.counts.any()
    assert not found.histogram.any()


def test_identical_systems_are_equal_to_every_threshold():
    statistics = np.repeat(small.accuracy_statistics(20, 1, 2), 2, axis=1)
    found = check(small.make_measure(statistics), {1})
    assert found.counts[0, 0].tolist() == [0, REPLICATES, 0, REPLICATES, REPLICATES, 0, -1, -1]
    assert found.histogram[0, 0, 48] == REPLICATES


def test_a_wide_lattice_is_crossed_in_int64():
    statistics = small.shared_statistics(12, 3, 3, high=5)
    statistics[:, :, 0] *= 2**40
    statistics[:, :, 0] += np.random.default_rng(0).integers(0, 3, (12, 3)) * (statistics[:, :, 1] > 0)
    statistics[:, :, 1] *= 1000
    check(small.make_measure(statistics), {3})


def test_lattices_too_wide_for_integers_fall_back_to_the_tolerance():
    statistics = small.shared_statistics(12, 3, 3, high=5) * 2**36 + [[[1, 0]]]
    draws = Draws(99, 12, 12)
    measure = small.make_measure(statistics + np.random.default_rng(0).integers(0, 3, (12, 1, 1)))
    (found,) = resample(draws, [measure], cells=range(1), replicates=50)
    assert set(found.rule.tolist()) == {4}
    assert np.all(found.counts[:, :, :2].sum(axis=2) <= 50)


def test_pairs_of_one_measure_take_the_rule_of_their_own_denominators():
    statistics = np.concatenate(
        [small.accuracy_statistics(20, 2, 1), small.shared_statistics(20, 2, 2), small.own_statistics(20, 1, 3)], axis=1
    )
    check(small.make_measure(statistics), {0, 1, 2})


def test_a_later_partial_cell_counts_its_own_replicates(four_measures):
    for measure in four_measures:
        draws = Draws(99, 40, 40)
        (found,) = resample(draws, [measure], cells=range(1, 2), replicates=CELL + 300)
        expected = small.recount(draws, measure, observe(measure), 3, CELL, CELL + 300)
        assert found.counts[3, 0].tolist() == expected["counts"]


def test_kept_scores_are_the_scores_of_the_replicates_of_the_cells_asked_for(four_measures):
    draws = Draws(99, 40, 40)
    found = resample(draws, four_measures, cells=range(1, 2), replicates=2 * CELL, keep_replicates=CELL + 70)
    for measure, result in zip(four_measures, found, strict=True):
        kept = np.flatnonzero(measure.keep)
        assert result.score.shape == (len(kept), 70)
        for replicate in (0, 69):
            units = np.bincount(draw_units(draws, CELL + replicate), minlength=40)
            sums = np.einsum("u,usk->ks", units, measure.statistics)[:, kept].astype(float)
            assert result.score[:, replicate].tolist() == measure.score(sums).tolist()


def test_units_that_do_not_match_the_draws_are_refused_with_both_numbers(four_measures):
    with pytest.raises(ValueError, match=r"40 units, draws of 41"):
        resample(Draws(1, 41, 41), four_measures, cells=range(1), replicates=10)
