"""Sums that are added up as units are drawn are those of the units drawn, and a pass takes them where columns are few."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pipeline.resampling.draws import Draws, draw_units
from pipeline.resampling.measures import Measure
from pipeline.resampling.products import batches
from pipeline.resampling.products.contract import FORM_VARIABLE, Contraction, plan_contraction
from pipeline.resampling.products.packed_sums import PackedBatches
from pipeline.resampling.resample import resample


def contraction_of(columns: list[NDArray[np.int64]], draws: Draws) -> Contraction:
    return plan_contraction(columns, n_units=draws.n_units, n_draws=draws.n_draws)


def obvious(columns: NDArray[Any], draws: Draws, first: int, count: int) -> NDArray[np.int64]:
    """Sums by the readable definition of the draws."""
    drawn = [draw_units(draws, replicate) for replicate in range(first, first + count)]
    return np.array([[int(column[units].sum()) for units in drawn] for column in columns]).reshape(len(columns), count)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**64 - 1),
    st.integers(1, 40),
    st.integers(1, 130),
    st.integers(0, 2**64 - 6),
    st.lists(st.sampled_from([(0, 1), (-1, 1), (-5, -5), (7, 7), (0, 255), (-128, 127), (-3, 0)]), min_size=1, max_size=6),
)
def test_sums_are_those_of_the_units_drawn(key: int, n_units: int, n_draws: int, first: int, ranges: list[tuple[int, int]]) -> None:
    draws = Draws(key, n_units, n_draws)
    rng = np.random.Generator(np.random.Philox(key))
    columns = [rng.integers(low, high + 1, n_units) for low, high in ranges]
    columns.append(np.arange(n_units) == n_units - 1)  # in one unit of many: a sparse one
    contraction = contraction_of([column.astype(np.int64) for column in columns], draws)
    packed = PackedBatches.of(draws, contraction, most_words=2)
    assert packed is not None
    packed.make_room(5)
    product = packed.multiply(first, 5)
    whole = np.zeros((len(contraction.sparse), n_units))
    whole[:, contraction.units] = contraction.sparse
    assert product.narrow.dtype == product.sparse.dtype == np.float32
    assert (product.replicates, product.wide.shape) == (5, (0, 5))
    np.testing.assert_array_equal(product.narrow, obvious(contraction.narrow, draws, first, 5))
    np.testing.assert_array_equal(product.sparse, obvious(whole, draws, first, 5))


def test_columns_fill_a_word_to_its_last_bit() -> None:
    # Each sum takes 16 bits, as 257 draws of 0 or 255 are 65,535 at most: four columns to a word.
    rng = np.random.Generator(np.random.Philox(3))
    draws = Draws(9, 30, 257)
    columns = [255 * rng.integers(0, 2, 30) for _ in range(8)]
    columns[3][:] = columns[7][:] = 255  # and the highest bits of both words are used
    columns[3][0] = columns[7][1] = 0
    for many, words, fits in [(4, 1, True), (5, 1, False), (5, 2, True), (8, 2, True), (9, 2, False)]:
        some = [*columns, 255 * (np.arange(30) % 2)][:many]
        contraction = contraction_of(some, draws)
        packed = PackedBatches.of(draws, contraction, most_words=words)
        assert (packed is not None) is fits, (many, words)
        if packed is not None:
            np.testing.assert_array_equal(packed.multiply(0, 9).narrow, obvious(contraction.narrow, draws, 0, 9))


def test_one_bit_too_many_is_too_many() -> None:
    draws = Draws(9, 30, 32)  # 13 bits a column: 5 of them are 65
    contraction = contraction_of([255 * (np.arange(30) >= k) for k in range(1, 6)], draws)
    assert PackedBatches.of(draws, contraction, most_words=1) is None
    assert PackedBatches.of(draws, contraction, most_words=2) is not None


def test_what_a_word_or_float32_does_not_hold_is_not_packed() -> None:
    for largest, fits in [(2**23, True), (2**24, False)]:  # the second has sums that float32 does not hold
        draws = Draws(1, 2, 1)
        contraction = contraction_of([np.array([0, largest])], draws)
        assert (PackedBatches.of(draws, contraction, most_words=2) is not None) is fits
    assert PackedBatches.of(draws, contraction_of([np.array([0, 1])], draws), most_words=0) is None


def graded(rng: np.random.Generator, units: int, systems: int) -> Measure:
    statistics = np.stack([rng.integers(0, 2, (units, systems)), np.ones((units, systems), np.int64)], axis=2)
    pairs = np.stack(np.triu_indices(systems, 1), axis=1)
    return Measure(statistics, lambda sums: 100.0 * (sums[0] / sums[1]), "ratio", True, pairs, np.ones(systems, bool))


@pytest.mark.parametrize(("systems", "words"), [(3, 1), (9, 2)])
def test_a_pass_over_few_columns_packs_them_and_has_the_same_bits(
    systems: int, words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = graded(np.random.default_rng(systems), 300, systems)
    made: list[Any] = []
    monkeypatch.setattr(batches, "choose_form", lambda work: None)  # what is compiled by now has no part in it

    def noted(*given: Any, **more: Any) -> Any:
        made.append(batches.make_batches(*given, **more))
        return made[-1]

    monkeypatch.setattr("pipeline.resampling.resample.make_batches", noted)
    found = {}
    for asked, memory in (("float", 2**26), ("", 2**26), ("", 2**14)):
        monkeypatch.setenv(FORM_VARIABLE, asked)
        (found[asked, memory],) = resample(
            Draws(5, 300, 300), [measure], cells=range(2), replicates=16384 + 77, keep_replicates=16400, memory_bytes=memory
        )
    assert [type(each) for each in made] == [batches.FloatBatches, PackedBatches, PackedBatches]
    assert {len(each._packed.words) for each in made[1:]} == {words}
    floats, *packed = found.values()
    assert floats.counts.any()
    for each in packed:
        for name in ("counts", "histogram", "empty", "sums", "score"):
            np.testing.assert_array_equal(getattr(floats, name), getattr(each, name))


def test_a_second_word_is_left_to_products_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FORM_VARIABLE, raising=False)
    monkeypatch.setattr(batches, "ByteBatches", lambda *given: "bytes")
    draws = Draws(5, 300, 300)
    for form, expected in [("vnni", ["packed", "bytes"]), (None, ["packed", "packed"])]:
        monkeypatch.setattr(batches, "choose_form", lambda work, form=form: form)
        found = []
        for systems in (3, 9):
            rng = np.random.default_rng(systems)
            columns: Any = type("Columns", (), {"contraction": contraction_of(list(rng.integers(0, 2, (systems, 300))), draws)})
            made = batches.make_batches(draws, columns, work=1)
            found.append("packed" if isinstance(made, PackedBatches) else made)
        assert found == expected
