"""What single items do for systems: read from a run's statistics, and packed into a page."""

from __future__ import annotations

import json
from base64 import b64decode

import numpy as np
import pytest

from pipeline.inference.unit_diagnostics.driving_items import gain_of, gains_without
from pipeline.inference.unit_diagnostics.item_effects import effects_of_items, scores_of_items
from pipeline.report.item_scores import ItemScores, encode_item_scores


def f_score(sums):
    return 100 * 2 * sums[0] / (sums[1] + sums[2])


def test_effects_of_two_systems_tell_the_gain_without_each_item() -> None:
    rng = np.random.default_rng(4)
    both = rng.integers(0, 9, (30, 2, 3))
    first, second = (effects_of_items(both[:, k], f_score) for k in (0, 1))
    expected = gain_of(both, f_score, 1.0) - gains_without(both, f_score, 1.0)
    np.testing.assert_allclose(first - second, expected, atol=1e-12)


def test_only_a_mean_has_scores_of_items() -> None:
    def ratio(sums):
        return sums[0] / sums[1]

    assert scores_of_items(np.array([[3, 2], [1, 2]]), ratio).tolist() == [1.5, 0.5]
    assert scores_of_items(np.array([[3, 2], [1, 1]]), ratio) is None
    assert scores_of_items(np.array([[3, 2, 2]]), f_score) is None


def encoded(values: np.ndarray) -> dict:
    of = ItemScores("news", "acc", "scores", ["<a>", "b"], 0, None, values, higher_is_better=True)
    text = encode_item_scores([of])
    assert "<" not in text  # it stands in a script element
    return json.loads(text)[0]


def test_few_different_values_take_a_byte_each() -> None:
    found = encoded(np.array([[0.0, 1.0, np.nan], [1.0, 0.5, 0.0]]))
    assert found["levels"] == [0.0, 0.5, 1.0]
    assert list(b64decode(found["values"])) == [0, 2, 255, 2, 1, 0]


def test_many_values_keep_sixteen_bits() -> None:
    values = np.random.default_rng(3).normal(size=(2, 400))
    values[1, 7] = np.nan
    found = encoded(values)
    codes = np.frombuffer(b64decode(found["values"]), "<i2").reshape(2, 400)
    assert codes[1, 7] == -32768
    np.testing.assert_allclose(np.delete(codes[1] * found["step"], 7), np.delete(values[1], 7), atol=0.51 * found["step"])
    assert found["step"] == pytest.approx(np.nanmax(np.abs(values)) / 32767)
