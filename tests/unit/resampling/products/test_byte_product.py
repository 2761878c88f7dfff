"""Counts times columns in bytes: every form that this processor has gives the integers that plain NumPy gives."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.llvm_assembly import assemble

from pipeline.compiled.byte_dot import write_dot
from pipeline.compiled.small_work import FewSoFar
from pipeline.resampling.draws import Draws, draw_counts, draw_weights
from pipeline.resampling.measures import Measure
from pipeline.resampling.products import batches, byte_product
from pipeline.resampling.products.byte_columns import ByteContraction
from pipeline.resampling.products.byte_product import (
    choose_form,
    forms,
    lay_out,
    multiply_bytes,
    pack_counts,
    take_units,
    zero_counts,
)
from pipeline.resampling.products.columns import StatisticColumns
from pipeline.resampling.products.contract import FORM_VARIABLE, plan_contraction
from pipeline.resampling.resample import resample

FORMS = forms()
every_form = pytest.mark.parametrize("form", FORMS or [pytest.param("none", marks=pytest.mark.skip(reason="no product in bytes"))])


def unpacked(counts: np.ndarray) -> np.ndarray:
    """(replicate, 4 · quad) counts."""
    blocks, quads, lanes, four = counts.shape
    return counts.transpose(0, 2, 1, 3).reshape(blocks * lanes, quads * four)


def test_every_form_that_this_processor_has_gives_the_right_sums() -> None:
    """One that does not would be left out by `forms`, and not be tested below."""
    assert forms() == tuple(form for form in byte_product.FORMS if byte_product.has_form(form))


@every_form
def test_numbers_of_other_types_are_refused_before_an_address_is_taken(form: str) -> None:
    counts, laid = pack_counts(np.ones((3, 5), np.float32)), lay_out(np.ones((2, 5), np.int64), form)
    with pytest.raises(ValueError, match="counts are uint8, columns int8 and sums int32, not uint8, int64, int32"):
        multiply_bytes(counts, replace(laid, laid=laid.laid.astype(np.int64)))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not uint8, int8, int16"):
        multiply_bytes(counts, laid, out=np.empty((2, 32), np.int16))  # type: ignore[arg-type]


@every_form
@pytest.mark.parametrize(
    ("replicates", "units", "columns"),
    [(1, 1, 1), (32, 4, 12), (33, 5, 13), (70, 203, 31), (5, 1000, 6), (100, 259, 45), (1300, 257, 33)],
)
def test_sums_are_those_of_whole_numbers(form: str, replicates: int, units: int, columns: int) -> None:
    rng = np.random.default_rng(units)
    counts, digits = rng.integers(0, 256, (replicates, units)), rng.integers(-128, 128, (columns, units))
    found = multiply_bytes(pack_counts(counts.astype(np.float32)), lay_out(digits, form))
    np.testing.assert_array_equal(found[:, :replicates], digits @ counts.T)
    assert not found[:, replicates:].any()


@every_form
def test_the_largest_sum_of_the_most_draws_does_not_overflow(form: str) -> None:
    units = 10**5
    counts = np.zeros((1, units), np.float32)
    counts[0, : 2**16] = 255  # 2²⁴ draws
    found = multiply_bytes(pack_counts(counts), lay_out(np.full((1, units), -128), form))
    assert found[0, 0] == -128 * 255 * 2**16


@every_form
@pytest.mark.parametrize(
    ("count", "digit"), [(255, 1), (255, -1), (255, 2), (12, 44), (127, -128), (128, 127), (128, -128), (255, -128), (1, -128)]
)
def test_sums_that_fill_narrow_sums_to_the_last_are_exact(form: str, count: int, digit: int) -> None:
    """Equal counts and digits are the most that sums of 16 bits hold before they are added to those of 32."""
    counts, digits = np.full((3, 4001), count, np.float32), np.full((8, 4001), digit)
    digits[1::2] *= -1 if digit > -128 else 1
    found = multiply_bytes(pack_counts(counts), lay_out(digits, form))
    np.testing.assert_array_equal(found[:, :3], np.repeat(4001 * count * digits[:, :1], 3, axis=1))


@every_form
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_sums_of_any_bytes_are_those_of_whole_numbers(form: str, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    most, least = data.draw(st.sampled_from([1, 2, 12, 127, 128, 255])), data.draw(st.sampled_from([-128, -127, -64, -1, 0]))
    replicates, units, columns = (data.draw(st.integers(1, top)) for top in (70, 300, 36))
    counts, digits = rng.integers(0, most + 1, (replicates, units)), rng.integers(least, -least + (least > -128), (columns, units))
    found = multiply_bytes(pack_counts(counts.astype(np.float32)), lay_out(digits, form))
    np.testing.assert_array_equal(found[:, :replicates], digits @ counts.T)


@pytest.mark.parametrize(("n_units", "n_draws"), [(1, 1), (7, 7), (203, 203), (50, 9), (3, 700), (10**6, 10**6)])
def test_counts_in_bytes_are_those_in_floats_as_far_as_a_byte_holds_them(n_units: int, n_draws: int) -> None:
    count = 2 if n_units == 10**6 else 37
    draws, out = Draws(2**63 + 5, n_units, n_draws), zero_counts(count, n_units)
    out[:] = 77  # what lay there before does not matter
    draw_counts(draws, 2**33, count, out)
    expected = np.zeros((16 * len(out), 4 * out.shape[1]))
    expected[:count, :n_units] = draw_weights(draws, 2**33, count) % 256
    np.testing.assert_array_equal(unpacked(out), expected)


def test_counts_of_some_units_are_taken_in_their_order() -> None:
    counts = np.random.default_rng(1).integers(0, 256, (40, 21)).astype(np.float32)
    units = np.array([0, 3, 4, 20, 7], np.int64)
    some = zero_counts(40, len(units))
    take_units(pack_counts(counts), units, some)
    np.testing.assert_array_equal(unpacked(some)[:40, :5], counts[:, units])
    assert not unpacked(some)[:, 5:].any()


def random_columns(rng: np.random.Generator, units: int) -> list[np.ndarray]:
    """Small ones, those at the border of a byte, of two to six digits, negative, sparse and constant."""
    ends = [127, 128, -128, -129, 255, 2**14, -(2**14) - 1, 2**20, 2**36, -(2**36)]
    columns = [rng.integers(min(end, 0), max(end, 0) + 1, units) for end in ends]
    for column, end in zip(columns, ends, strict=True):
        column[rng.integers(units)] = end
    sparse = np.where(rng.random(units) < 0.02, rng.integers(-300, 300, units), 0)
    return [*columns, sparse, np.ones(units, np.int64), np.zeros(units, np.int64), rng.integers(0, 2, units)]


@every_form
@pytest.mark.parametrize("units", [1, 9, 400])
@pytest.mark.parametrize("seed", range(4))
def test_a_contraction_in_bytes_gives_the_sums_of_one_in_floats(form: str, units: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns, replicates = [np.asarray(column, np.int64) for column in random_columns(rng, units)], 45
    plan = plan_contraction(columns, n_units=units, n_draws=units)
    weights, counts = draw_weights(Draws(seed, units, units), 3, replicates), zero_counts(replicates, units)
    draw_counts(Draws(seed, units, units), 3, replicates, counts)
    exact = np.array([[sum(int(w) * int(v) for w, v in zip(row, column, strict=True)) for row in weights] for column in columns])
    in_bytes = ByteContraction.of(plan, form=form, n_draws=units)
    product = in_bytes.multiply(counts, replicates)
    assert product is not None
    sums = np.concatenate([product.narrow[:, :replicates], product.sparse[:, :replicates], product.wide[:, :replicates]])
    np.testing.assert_array_equal(sums[plan.position], exact)
    again = in_bytes.multiply(counts, replicates, out=in_bytes.empty_sums(replicates))
    assert again is not None
    np.testing.assert_array_equal(again.narrow, product.narrow)


@every_form
def test_a_count_above_255_is_noticed(form: str) -> None:
    draws, counts = Draws(1, 2, 600), zero_counts(3, 2)
    draw_counts(draws, 0, 3, counts)
    plan = plan_contraction([np.array([1, 0])], n_units=2, n_draws=600)
    assert ByteContraction.of(plan, form=form, n_draws=600).multiply(counts, 3) is None


@every_form
def test_counts_that_do_not_lie_where_the_instruction_reads_them_are_refused(form: str) -> None:
    counts, digits = pack_counts(np.ones((32, 8), np.float32)), lay_out(np.ones((2, 8), np.int64), form)
    moved = np.zeros(counts.nbytes + 65, np.uint8)
    moved = moved[-moved.ctypes.data % 64 + 1 :][: counts.size].reshape(counts.shape)
    with pytest.raises(ValueError, match="counts lie at a multiple of 64 bytes"):
        multiply_bytes(moved, digits)
    with pytest.raises(ValueError, match="without gaps"):
        multiply_bytes(counts, replace(digits, laid=np.asfortranarray(digits.laid)))


@every_form
def test_columns_of_other_units_or_another_layout_are_refused(form: str) -> None:
    counts, digits = pack_counts(np.ones((32, 80), np.float32)), lay_out(np.ones((2, 80), np.int64), form)
    with pytest.raises(ValueError, match="and columns of 21 quads are not of the same units"):
        multiply_bytes(counts, lay_out(np.ones((2, 81), np.int64), form))
    with pytest.raises(ValueError, match=f"20 columns of 20 quads do not lie in .* for {form}"):
        multiply_bytes(counts, replace(digits, columns=20))


@every_form
def test_bytes_are_tried_where_a_unit_is_drawn_32_times_at_most(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FORM_VARIABLE, form)
    columns = StatisticColumns.of(
        [(0, graded(np.random.default_rng(1), 10, 2, 1), np.arange(2), range(2))], n_units=10, n_draws=330
    )
    assert isinstance(batches.make_batches(Draws(1, 10, 320), columns, work=1), batches.ByteBatches)
    assert isinstance(batches.make_batches(Draws(1, 10, 321), columns, work=1), batches.FloatBatches)


def graded(rng: np.random.Generator, units: int, systems: int, size: int) -> Measure:
    statistics = np.stack([rng.integers(-size, size + 1, (units, systems)), rng.integers(1, 4, (units, systems))], axis=2)
    pairs = np.stack(np.triu_indices(systems, 1), axis=1)
    keep = np.arange(systems) % 2 == 0
    return Measure(statistics, lambda sums: 100.0 * (sums[0] / sums[1]), "ratio", True, pairs, keep, margin=1.5)


@every_form
@pytest.mark.parametrize(("units", "n_draws", "size"), [(60, 60, 1), (60, 60, 200), (7, 7, 2**30), (3, 700, 5), (1, 1, 1)])
def test_a_pass_has_the_same_bits_in_every_form(
    form: str, units: int, n_draws: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two cells, the second one partial, in batches that are no multiple of a block; 700 draws of 3 units overflow in most."""
    measure = graded(np.random.default_rng(units), units, 4, size)
    monkeypatch.setattr(batches, "_MOST_PER_UNIT", 1000)
    found = {}
    for name in ("float", form):
        monkeypatch.setenv(FORM_VARIABLE, name)
        kinds: list[type] = []

        def noted(*given: Any, kinds: list[type] = kinds, **more: Any) -> Any:
            made = batches.make_batches(*given, **more)
            kinds.append(type(made))
            return made

        monkeypatch.setattr("pipeline.resampling.resample.make_batches", noted)
        draws = Draws(5, units, n_draws)
        asked = {"cells": range(2), "replicates": 16384 + 777, "keep_replicates": 16400, "memory_bytes": 2**16}
        (found[name],) = resample(draws, [measure], **asked)
        assert kinds == [batches.FloatBatches if name == "float" else batches.ByteBatches]
    for name in ("counts", "histogram", "empty", "sums", "score"):
        np.testing.assert_array_equal(getattr(found["float"], name), getattr(found[form], name))
    assert found[form].counts.any()


def test_a_form_that_is_not_here_is_refused_and_small_work_is_done_in_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FORM_VARIABLE, raising=False)
    monkeypatch.setattr(byte_product, "_is_little", FewSoFar(10**9, 10**10))
    assert choose_form(10**6) is None
    assert choose_form(10**12) == (FORMS[0] if FORMS else None)
    monkeypatch.setenv(FORM_VARIABLE, "float")
    assert choose_form(10**12) is None
    monkeypatch.setenv(FORM_VARIABLE, "abacus")
    with pytest.raises(ValueError, match=r"PIPELINE_PRODUCT is 'abacus'; here it may be .*float"):
        choose_form(1)


def test_small_work_that_comes_again_and_again_is_done_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FORM_VARIABLE, raising=False)
    monkeypatch.setattr(byte_product, "_is_little", FewSoFar(10**9, 10**10))
    best = forms()[0] if forms() else None
    assert [choose_form(10**9) for _ in range(12)] == [None] * 10 + [best] * 2


@pytest.mark.skipif(not FORMS, reason="no product in bytes on this processor")
def test_the_kernel_that_was_tried_is_at_hand() -> None:
    """It is asked about by the types that products are called with: `forms` has tried it."""
    assert byte_product._is_at_hand()


PROCESSORS = {
    "vnni-512": ("x86_64-unknown-linux-gnu", "icelake-server", 16, "vpdpbusd", "zmm"),
    "vnni-256": ("x86_64-unknown-linux-gnu", "alderlake", 8, "vpdpbusd", "ymm"),
    "arm-i8mm": ("aarch64-unknown-linux-gnu", "neoverse-v1", 4, "usdot", ".16b"),
    "avx2": ("x86_64-unknown-linux-gnu", "haswell", 8, "vpmaddubsw", "ymm"),
}
"""A processor that has a form: its kind, its name, sums in a vector, the instruction, and what its registers are called."""


@pytest.mark.parametrize("form", PROCESSORS)
@pytest.mark.parametrize("columns", [1, 6, 12])
def test_the_innermost_loop_is_one_instruction_a_product_on_processors_that_have_it(form: str, columns: int) -> None:
    """As many as there are columns and vectors, and sums stay in registers where there are 32 of them."""
    triple, name, lanes, instruction, registers = PROCESSORS[form]
    features = "+i8mm" if form == "arm-i8mm" else ""
    lines = assemble(
        lambda builder, given: write_dot(builder, given, form, lanes, columns), 8, triple=triple, cpu=name, features=features
    )
    made = [line for line in lines if instruction in line.split()]  # "{vex} vpdpbusd" of AVX-VNNI
    assert len(made) == 2 * columns
    assert all(registers in line for line in made)


def test_where_kernels_are_for_another_processor_no_form_is_tried() -> None:
    """LLVM ends the process where it is given an instruction that its target has not: nothing could be caught."""
    code = "from pipeline.resampling.products.byte_product import choose_form, forms; print(forms(), choose_form(2**40))"
    given = os.environ | {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    given.pop(FORM_VARIABLE, None)
    done = subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "() None\n"), done.stderr


def test_a_form_that_gives_wrong_sums_or_fails_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.resampling.products.byte_product.can_compile", lambda *features: True)
    monkeypatch.setattr("pipeline.resampling.products.byte_product.knows_partial_sums", lambda: True)

    def fail(*given: Any) -> None:
        raise RuntimeError("not known here")

    monkeypatch.setitem(byte_product.KERNELS, "vnni-512", fail)
    monkeypatch.setitem(byte_product.KERNELS, "vnni-256", lambda counts, digits, out: out.fill(1))
    byte_product.is_usable.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="products in bytes by vnni-512 are not made here: not known here"):
            assert not byte_product.is_usable("vnni-512")
        assert not byte_product.is_usable("vnni-256")
    finally:
        byte_product.is_usable.cache_clear()


@pytest.mark.parametrize(("replicates", "units"), [(1, 1), (16, 4), (17, 5), (40, 131)])
def test_counts_are_unpacked_as_they_were(replicates: int, units: int) -> None:
    counts = np.random.default_rng(units).integers(0, 256, (replicates, units)).astype(np.uint8)
    found = byte_product.unpack_counts(byte_product.pack_counts(counts), replicates, units)
    assert found.flags.c_contiguous
    assert np.array_equal(found, counts)
    draws, packed = Draws(3, units, units), byte_product.zero_counts(replicates, units)
    draw_counts(draws, 5, replicates, packed)
    assert np.array_equal(byte_product.unpack_counts(packed, replicates, units), draw_weights(draws, 5, replicates))
