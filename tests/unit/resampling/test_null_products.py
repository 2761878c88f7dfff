"""Products of null data sets and resamples: in bytes they are those in floats, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.resampling import null_products
from pipeline.resampling.draws import Draws, draw_weights
from pipeline.resampling.null_laboratory import NullSwaps, TwoOutputs, resample_nulls
from pipeline.resampling.null_products import Product, take_places
from pipeline.resampling.products.byte_product import forms
from pipeline.resampling.products.contract import FORM_VARIABLE
from pipeline.resampling.swaps import draw_swaps

UNITS = 75


def two_outputs(scale: int = 1) -> NDArray[np.int64]:
    """Statistics at the ends of a signed byte, of which the second follows the first but in a few units, and the last is shared."""
    rng = np.random.default_rng(6)
    said = scale * rng.integers(-64, 65, (UNITS, 2))
    said[0], said[1], said[2] = (0, 127 * scale), (0, -128 * scale), (0, 128 * scale)
    followed = said + 1
    followed[:3, 1] += 9 * scale
    shared = rng.integers(3, 30, (UNITS, 1)).repeat(2, axis=1)
    return np.stack([said, followed, rng.integers(0, 2, (UNITS, 2)), shared], axis=2).astype(np.int64)


@pytest.mark.parametrize("form", forms())
@pytest.mark.parametrize("scale", [1, 1000, 10**9])
def test_sums_in_bytes_are_those_in_floats(form: str, scale: int) -> None:
    product = Product.of(two_outputs(scale), UNITS)
    assert {len(column.places) for column in product.columns} == {UNITS, 3, 0}  # somewhere in every unit, in few, in none
    weights = draw_weights(Draws(1, UNITS, UNITS), 0, 45)
    swapped = draw_swaps(Draws(2, UNITS, UNITS), 0, 19)[:, product.units].astype(np.uint8)
    in_bytes = product.weigh_in_bytes(weights, form)
    assert in_bytes is not None
    assert np.array_equal(in_bytes.multiply(swapped), product.weigh(weights).multiply(swapped))


@pytest.mark.parametrize("resamples", [1, 2])
@pytest.mark.parametrize("scale", [1, 10**9])
def test_sums_are_those_of_whole_numbers(scale: int, resamples: int) -> None:
    statistics = two_outputs(scale)
    product = Product.of(statistics, UNITS)
    assert product.kind == (np.float32 if scale == 1 else np.float64)
    weights = draw_weights(Draws(1, UNITS, UNITS), 3, resamples)
    swapped = draw_swaps(Draws(2, UNITS, UNITS), 0, 5).astype(np.uint8)
    difference = statistics[:, 1] - statistics[:, 0]
    expected = np.einsum("ru,nu,uk->knr", weights.astype(np.int64), swapped.astype(np.int64), difference)
    found = product.weigh(weights).multiply(swapped[:, product.units])
    assert np.array_equal(found, expected)
    assert found.any(axis=(1, 2)).tolist() == [True, True, True, False]


@pytest.mark.parametrize(("alike", "summed"), [(0, UNITS), (4, UNITS), (5, UNITS - 5), (UNITS, 0)])
def test_where_nearly_all_units_differ_all_are_summed_over(alike: int, summed: int) -> None:
    statistics = two_outputs()
    statistics[:, 1] = statistics[:, 0] + 1 + np.arange(UNITS)[:, None] % 3
    statistics[UNITS - alike :, 1] = statistics[UNITS - alike :, 0]
    product = Product.of(statistics, UNITS)
    assert len(product.units) == summed
    swapped = draw_swaps(Draws(2, UNITS, UNITS), 0, 5).astype(np.uint8)
    own = take_places(swapped, product.units)
    assert (own is swapped) == (summed == UNITS)
    expected = np.einsum("nu,uk->kn", swapped.astype(np.int64), statistics[:, 1] - statistics[:, 0])
    weights = np.ones((3, UNITS), np.float32)
    ways = [product.weigh(weights), product.weigh(weights[:1]), *(product.weigh_in_bytes(weights, form) for form in forms())]
    for columns in ways:
        assert columns is not None
        assert np.array_equal(columns.multiply(own)[:, :, 0], expected)


@pytest.mark.parametrize("form", forms()[:1])
def test_a_count_that_no_byte_holds_is_left_to_floats(form: str) -> None:
    product = Product.of(two_outputs(), 300)
    weights = np.ones((2, UNITS), np.float32)
    weights[1, 4] = 255
    assert product.weigh_in_bytes(weights, form) is not None
    weights[1, 4] = 256
    assert product.weigh_in_bytes(weights, form) is None


@pytest.mark.parametrize("form", forms())
def test_null_data_sets_are_counted_alike_in_every_form(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = TwoOutputs(two_outputs() + 64, lambda sums: sums[0] / (sums[1] + sums[3]))
    draws, swaps = Draws(8, UNITS, UNITS), NullSwaps(Draws(7, UNITS, UNITS))

    def count(asked: str) -> list[list[int]]:
        monkeypatch.setenv(FORM_VARIABLE, asked)
        return resample_nulls(pair, swaps, draws, nulls=70, replicates=50).counts.tolist()

    made: list[int] = []
    kept = null_products.multiply_bytes
    monkeypatch.setattr(null_products, "multiply_bytes", lambda *given: made.append(1) or kept(*given))
    expected, in_floats = count("float"), len(made)
    assert count(form) == expected
    assert (in_floats, bool(made)) == (0, True)
