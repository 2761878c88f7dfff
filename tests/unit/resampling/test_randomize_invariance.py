"""What must not matter to a randomization: memory, cells, company, order, copies, sides, the complement, and a finer lattice."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from support import small_measures as small

from pipeline.metrics.kernels import score_ratio
from pipeline.resampling import randomize as module
from pipeline.resampling.address import CELL, draw_key
from pipeline.resampling.comparison import swapped_pairs
from pipeline.resampling.comparison.compare_integers import GainTables
from pipeline.resampling.draws import Draws
from pipeline.resampling.observe import observe
from pipeline.resampling.products import swap_batches
from pipeline.resampling.products.byte_product import forms
from pipeline.resampling.products.contract import FORM_VARIABLE
from pipeline.resampling.products.swap_batches import SwapBatches
from pipeline.resampling.randomize import randomize
from pipeline.resampling.swaps import draw_swap_words

DRAWS = Draws(4242, 40, 40)
FORMS = forms() or [pytest.param("none", marks=pytest.mark.skip(reason="no product in bytes"))]
REPLICATES = CELL + 777
RESULTS = ("counts", "sums", "histogram", "empty")


@pytest.fixture(scope="module")
def measures(four_measures):
    """Four kinds of comparison, a fifth that is scored in float32, and a sixth that is estimated."""
    percent = partial(score_ratio, decimals=(0, 0), factor=100.0)
    return [
        *four_measures,
        small.make_measure(small.own_statistics(40, 5, 6), score=percent, form="general"),
        small.bleu_measure(),
    ]


@pytest.fixture(scope="module")
def reference(measures):
    return randomize(DRAWS, measures, cells=range(2), replicates=REPLICATES)


@pytest.mark.parametrize("memory_bytes", [1, 64 * 100, 2**20, 2**40])
def test_memory_changes_no_bit(measures, reference, memory_bytes):
    found = randomize(DRAWS, measures, cells=range(2), replicates=REPLICATES, memory_bytes=memory_bytes)
    for one, other in zip(reference, found, strict=True):
        small.assert_same_bits(one, other)


@pytest.mark.parametrize("pairs_at_once", [1, 9, 59])
def test_pairs_counted_some_at_a_time_are_the_pairs_counted_together(measures, reference, pairs_at_once):
    found = randomize(DRAWS, measures, cells=range(2), replicates=REPLICATES, pairs_at_once=pairs_at_once)
    for one, other in zip(reference, found, strict=True):
        small.assert_same_bits(one, other)
        assert one.rule.tolist() == other.rule.tolist()


@pytest.mark.parametrize(("cache_bytes", "tile"), [(1, 32), (10_000, 64), (2**18, 2048), (2**24, 512)])
def test_how_pairs_and_replicates_are_put_together_changes_no_bit(measures, reference, monkeypatch, cache_bytes, tile):
    monkeypatch.setattr(swapped_pairs, "_CACHE_BYTES", cache_bytes)
    monkeypatch.setattr(swapped_pairs, "_EVALUATIONS", cache_bytes // 64)
    monkeypatch.setattr(swapped_pairs, "_TILE", tile)
    for one, other in zip(reference, randomize(DRAWS, measures, cells=range(2), replicates=REPLICATES), strict=True):
        small.assert_same_bits(one, other)


def test_cells_counted_apart_are_the_cells_counted_together(measures, reference):
    parts = [randomize(DRAWS, measures, cells=range(c, c + 1), replicates=REPLICATES) for c in range(2)]
    for measure, whole in enumerate(reference):
        for name in RESULTS:
            joined = np.concatenate([getattr(part[measure], name) for part in parts], axis=1)
            assert joined.tobytes() == getattr(whole, name).tobytes(), name


def test_a_measure_alone_has_the_bits_it_has_in_company(measures, reference):
    for measure, whole in zip(measures, reference, strict=True):
        (alone,) = randomize(DRAWS, [measure], cells=range(2), replicates=REPLICATES, observed=[observe(measure)])
        small.assert_same_bits(whole, alone)


@pytest.mark.parametrize("added", ["wide", "own denominators", "copy"])
def test_adding_a_system_changes_no_bit_of_an_existing_pair(measures, reference, added):
    for measure, whole in zip(measures, reference, strict=True):
        extra = measure.statistics[:, :1].copy()
        if added == "wide":
            extra[:, :, 0] *= 2**30  # beyond float32: all sums of the measure are put together in float64
        elif added == "own denominators":
            extra += 1
        statistics = np.concatenate([extra, measure.statistics], axis=1)  # in front: every position moves
        pairs = small.all_pairs(6)
        bigger = replace(measure, statistics=statistics, pairs=pairs, keep=np.ones(6, bool))
        (found,) = randomize(DRAWS, [bigger], cells=range(2), replicates=REPLICATES)
        small.assert_same_bits(whole, found, other_pairs=np.flatnonzero(pairs[:, 0] > 0))


def test_the_order_of_systems_and_pairs_changes_no_bit(measures, reference):
    order, shuffled = np.array([3, 0, 4, 2, 1]), np.random.default_rng(0).permutation(10)
    for measure, whole in zip(measures, reference, strict=True):
        pairs = np.argsort(order)[measure.pairs[shuffled]]
        moved = replace(measure, statistics=measure.statistics[:, order], pairs=pairs, keep=measure.keep[order])
        small.assert_same_bits(whole, randomize(DRAWS, [moved], cells=range(2), replicates=REPLICATES)[0], pairs=shuffled)


def test_a_copy_of_a_system_has_the_results_of_the_system(measures):
    for measure in measures:
        statistics = np.concatenate([measure.statistics, measure.statistics[:, :1]], axis=1)
        twins = replace(measure, statistics=statistics, pairs=np.array([[0, 2], [5, 2], [0, 5]]), keep=np.zeros(6, bool))
        (found,) = randomize(DRAWS, [twins], cells=range(1), replicates=2000)
        small.assert_same_bits(found, found, pairs=[0], other_pairs=[1])
        assert found.counts[2, 0, :6].tolist() == [0, 2000, 0, 2000, 2000, 0]


def test_swapping_a_pair_changes_no_bit(measures, reference):
    for measure, whole in zip(measures, reference, strict=True):
        swapped = replace(measure, pairs=measure.pairs[:, ::-1].copy())
        ordered = np.flatnonzero(observe(measure).delta)  # tied pairs have the order given: the next test
        assert len(ordered) >= 9
        (found,) = randomize(DRAWS, [swapped], cells=range(2), replicates=REPLICATES)
        small.assert_same_bits(whole, found, pairs=ordered, other_pairs=ordered)


def test_swapping_a_tied_pair_mirrors_its_counts():
    statistics = np.array([[[1, 1], [0, 1]], [[0, 1], [1, 1]], [[1, 1], [1, 1]]])
    one, other = (
        randomize(Draws(1, 3, 3), [small.make_measure(statistics, pairs=[pair])], cells=range(1), replicates=500)[0]
        for pair in ([0, 1], [1, 0])
    )
    assert one.counts[0, 0, :6].tolist() == other.counts[0, 0, [5, 4, 5, 4, 1, 0]].tolist()
    assert one.sums[0, 0, 0] == -other.sums[0, 0, 0]


def test_complementary_masks_give_the_opposite_gains(measures, reference, monkeypatch):
    def complement(draws, first, count, *, n_words):
        return ~draw_swap_words(draws, first, count, n_words=n_words)

    monkeypatch.setattr(swap_batches, "draw_swap_words", complement)
    for measure, whole in zip(randomize(DRAWS, measures, cells=range(2), replicates=REPLICATES), reference, strict=True):
        below, at_minus, negative, at_zero, at_plus, above = np.moveaxis(whole.counts[:, :, :6], 2, 0)
        positive = np.array([CELL, REPLICATES - CELL]) - whole.empty - negative - at_zero
        mirrored = np.stack([above, at_plus, positive, at_zero, at_minus, below], axis=2)
        assert np.array_equal(measure.counts[:, :, :6], mirrored)
        assert np.array_equal(measure.sums, whole.sums * [-1, 1, 1])


def test_a_margin_is_not_tested_and_no_score_is_kept(measures, reference):
    assert measures[1].margin is not None
    for found in reference:
        assert np.all(found.counts[:, :, 6:] == -1)
        assert found.score.shape == (0, 0)


@pytest.mark.parametrize("denominators", ["constant", "varying", "own"])
def test_a_finer_lattice_changes_no_bit(denominators):
    rng = np.random.default_rng(3)
    numerators = rng.integers(0, 1000, (40, 3))
    units = {"constant": np.ones((40, 3)), "varying": rng.integers(1, 30, (40, 1)) + np.zeros((40, 3))}
    bottoms = units.get(denominators, rng.integers(1, 30, (40, 3))).astype(np.int64)
    found = []
    for finer in (0, 1, 3):
        score = partial(score_ratio, decimals=(2 + finer, 0), factor=1.0)
        measure = small.make_measure(np.stack([numerators * 10**finer, bottoms], axis=2), score=score)
        found.append(randomize(DRAWS, [measure], cells=range(2), replicates=CELL + 500)[0])
    small.assert_same_bits(found[0], found[1])
    small.assert_same_bits(found[0], found[2])


@pytest.mark.golden
def test_counts_have_the_bits_they_always_had():
    unit, system = np.arange(50)[:, None], np.arange(4)[None, :]
    right = ((unit * 7919 + system * 104729 + unit * system * 13) % 10 < 6).astype(np.int64)
    own = (unit * 37 + system * system * 11 + unit * system * 3) % 23 + 1
    draws = Draws(draw_key(seed=1, purpose="golden", test_set="fifty units", size="full", rule="prefix"), 50, 50)
    digests = []
    for statistics in (np.stack([right, np.ones_like(right)], axis=2), np.stack([right + 1, own], axis=2)):
        (found,) = randomize(draws, [small.make_measure(statistics)], cells=range(2), replicates=CELL + 1000)
        parts = [getattr(found, name) for name in RESULTS]
        content = b"".join(part.astype(part.dtype.newbyteorder("<")).tobytes() for part in parts)
        digests.append(hashlib.sha256(content).hexdigest()[:32])
    assert digests == ["ebfcd20eff7e9e3727fc1cba69324de5", "370641ac2e6ed13f7e49b2a30620b9a3"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_units", [1, 3, 40, 203])
def test_sums_in_bytes_have_the_bits_of_counted_ones(form, n_units, monkeypatch):
    """Columns of many bits, of negative numbers too, and others that are nearly always 0."""
    rng = np.random.default_rng(n_units)
    statistics = small.own_statistics(n_units, 4, 6, width=3)
    statistics[:, :, 0] = rng.integers(-700, 700, (n_units, 4))
    statistics[:, 1, 2] = np.where(np.arange(n_units) % 40 == 2, 2**20, 0)
    measure = small.make_measure(statistics, score=lambda sums: sums[0] / (1.0 + sums[1] + sums[2]), form="general")
    draws, found = Draws(77, n_units, n_units), {}
    for name in ("float", form):
        monkeypatch.setenv(FORM_VARIABLE, name)
        batches = []

        def noted(*given, kept=batches, **more):
            kept.append(SwapBatches(*given, **more))
            return kept[-1]

        monkeypatch.setattr(module, "SwapBatches", noted)
        (found[name],) = randomize(draws, [measure], cells=range(2), replicates=REPLICATES, memory_bytes=2**18)
        assert [batch.is_in_bytes for batch in batches] == [name != "float"]
    for name in RESULTS:
        assert np.array_equal(getattr(found["float"], name), getattr(found[form], name)), name
    assert found[form].counts.any()


def test_tables_of_gains_change_no_bit(measures, reference, monkeypatch):
    made = []
    table_of = GainTables.of
    monkeypatch.setattr(GainTables, "of", lambda *given, **named: made.append(table_of(*given, **named)))
    for one, other in zip(reference, randomize(DRAWS, measures, cells=range(2), replicates=REPLICATES), strict=True):
        small.assert_same_bits(one, other)
    assert any(table is not None for table in made)


def test_what_all_systems_have_more_of_changes_no_bit():
    """Swaps know differences alone; totals beyond 32 bits must not be put into a table of such numbers."""
    right = small.accuracy_statistics(40, 4, 9)
    more = right.copy()
    more[:, :, 0] += 2**30
    one, other = (
        randomize(DRAWS, [small.make_measure(statistics)], cells=range(2), replicates=REPLICATES)[0] for statistics in (right, more)
    )
    for name in ("counts", "sums", "empty"):  # bins are of a standard error that loses digits of large scores
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
