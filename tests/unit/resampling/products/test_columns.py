"""Statistics that follow others: the same sums from fewer products."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.resampling.draws import Draws, draw_weights
from pipeline.resampling.measures import Measure
from pipeline.resampling.products.columns import StatisticColumns
from pipeline.resampling.resample import resample

FOLLOWS = (-1, -1, 0, 0, 0)
"""Length, matches, and n-grams of order 2, 3 and 4, which follow the length."""


def count_ngrams(lengths, matches):
    """Return (unit, system, 5): length, matches, n-grams of order 2, 3, 4."""
    orders = [np.maximum(lengths - k, 0) for k in (1, 2, 3)]
    return np.stack([lengths, matches, *orders], axis=2).astype(np.int64)


def score_all(sums):
    return (sums[1] / sums[0]) * np.sqrt(sums[4] / sums[2]) + sums[3] / sums[0]


def load_measure(statistics, follows):
    systems = statistics.shape[1]
    pairs = np.stack(np.triu_indices(systems, 1), axis=1).astype(np.int64)
    return Measure(statistics, score_all, "general", True, pairs, np.ones(systems, bool), None, follows)


def columns_of(measure, n_draws):
    systems, statistics = np.arange(measure.statistics.shape[1]), range(measure.statistics.shape[2])
    return StatisticColumns.of([(0, measure, systems, statistics)], n_units=len(measure.statistics), n_draws=n_draws)


def sums_of(measure, weights):
    """Return (system, statistic, replicate) sums as a pass puts them together."""
    sums = columns_of(measure, int(weights.sum(axis=1).max())).multiply(weights)
    return np.stack([sums.statistics(0, system) for system in range(measure.statistics.shape[1])])


def test_sums_of_several_systems_are_those_of_each():
    measure = load_measure(sentences(40, 5, 3, shortest=1), FOLLOWS)
    weights = np.random.default_rng(1).integers(0, 3, (7, 40)).astype(np.float32)
    sums = columns_of(measure, int(weights.sum(axis=1).max())).multiply(weights)
    together = sums.statistics_of(0, [3, 0, 4])
    assert together.shape == (5, 3, 7)
    for place, system in enumerate([3, 0, 4]):
        assert together[:, place].tolist() == sums.statistics(0, system).tolist()


def integer_sums(statistics, weights):
    return np.einsum("usk,ru->skr", statistics, weights.astype(np.int64))


def sentences(units, systems, seed, *, shortest):
    rng = np.random.default_rng(seed)
    lengths = np.maximum(rng.integers(shortest, 30, (units, 1)) + rng.integers(-2, 3, (units, systems)), 0)
    return count_ngrams(lengths, rng.binomial(lengths, 0.6))


def test_ngram_totals_cost_one_column_for_all_systems():
    measure = load_measure(sentences(200, 7, 0, shortest=9), FOLLOWS)
    columns = columns_of(measure, 200)
    # Seven lengths, seven matches, and the column of ones that stands for −1, −2 and −3.
    assert len(columns.contraction.narrow) == 15
    assert len(columns.contraction.sparse) == 0
    assert len(columns_of(load_measure(measure.statistics, ()), 200).contraction.narrow) == 35


def test_short_sentences_cost_a_few_units():
    statistics = sentences(200, 7, 0, shortest=9)
    lengths = statistics[:, :, 0].copy()
    lengths[[4, 90], :] = [[1], [2]]
    lengths[150, 3] = 0
    statistics = count_ngrams(lengths, np.minimum(statistics[:, :, 1], lengths))
    columns = columns_of(load_measure(statistics, FOLLOWS), 200)
    assert len(columns.contraction.narrow) == 15
    assert columns.contraction.units.tolist() == [4, 90, 150]
    weights = draw_weights(Draws(5, 200, 200), 0, 300)
    assert np.array_equal(sums_of(load_measure(statistics, FOLLOWS), weights), integer_sums(statistics, weights))


def test_documents_share_their_number_of_sentences():
    """A document of k sentences has k words more than pairs of words: no constant, but the same for all systems."""
    rng = np.random.default_rng(1)
    documents = np.repeat(np.arange(40), rng.integers(3, 9, 40))
    items = sentences(len(documents), 6, 2, shortest=9)
    statistics = np.zeros((40, 6, 5), np.int64)
    np.add.at(statistics, documents, items)
    measure = load_measure(statistics, FOLLOWS)
    # The first system's three orders have columns of their own; its differences, one column, serve all others.
    assert len(columns_of(measure, 40).contraction.narrow) == 6 + 6 + 3 + 1
    weights = draw_weights(Draws(5, 40, 40), 0, 300)
    assert np.array_equal(sums_of(measure, weights), integer_sums(statistics, weights))


@given(
    seed=st.integers(0, 2**31),
    units=st.integers(1, 70),
    systems=st.integers(1, 5),
    shortest=st.integers(0, 8),
    scale=st.sampled_from([1, 3, 2**18, 2**39]),
    noise=st.sampled_from([0.0, 0.02, 0.5]),
    draws_per_unit=st.sampled_from([0.5, 1, 3]),
)
@settings(max_examples=150, deadline=None)
def test_sums_are_those_of_integer_arithmetic_whatever_follows_whatever(
    seed, units, systems, shortest, scale, noise, draws_per_unit
):
    rng = np.random.default_rng(seed)
    statistics = sentences(units, systems, seed, shortest=shortest)
    statistics += (rng.random(statistics.shape) < noise) * rng.integers(-9, 10, statistics.shape)
    statistics *= scale
    leaders = rng.random(5) < 0.4
    leaders[rng.integers(5)] = True
    follows = tuple(-1 if leads else int(rng.choice(np.flatnonzero(leaders))) for leads in leaders)
    weights = draw_weights(Draws(seed, units, max(1, int(units * draws_per_unit))), 0, 17)
    assert np.array_equal(sums_of(load_measure(statistics, follows), weights), integer_sums(statistics, weights))


def test_what_follows_what_changes_no_bit_of_a_pass():
    statistics = sentences(90, 5, 3, shortest=1)
    draws = Draws(11, 90, 90)
    plain, saved = (
        resample(draws, [load_measure(statistics, follows)], cells=range(1), replicates=3000, keep_replicates=3000)[0]
        for follows in ((), FOLLOWS)
    )
    for part in ("counts", "sums", "histogram", "empty", "score"):
        assert np.array_equal(getattr(plain, part), getattr(saved, part), equal_nan=part == "score"), part


def test_a_statistic_may_only_follow_one_that_leads():
    statistics = sentences(9, 2, 0, shortest=9)
    with pytest.raises(ValueError, match="follows one that follows none"):
        load_measure(statistics, (-1, 0, 1, -1, -1))
    with pytest.raises(ValueError, match="follows one that follows none"):
        load_measure(statistics, (-1, 7, -1, -1, -1))
    with pytest.raises(ValueError, match="4 entries, there are 5"):
        load_measure(statistics, (-1, 0, 0, 0))


def test_sums_past_the_exact_range_are_refused_though_a_difference_is_small():
    """y follows x closely, but neither can be summed: nothing may hide that."""
    base = np.full((4, 2, 1), 2**51, np.int64)
    statistics = np.concatenate([base, base, base - 1, base - 2, base - 3], axis=2)
    with pytest.raises(ValueError, match=f"below {2**53}"):
        columns_of(load_measure(statistics, FOLLOWS), 4)
