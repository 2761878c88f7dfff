"""BLEU of few sums is scored in NumPy: the bits are those of the kernel, which scores many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pipeline.compiled.small_work import FewSoFar
from pipeline.metrics import bleu
from pipeline.metrics.bleu import Bleu

Smoothing = Any


def draw_sums(rng: np.random.Generator, count: int) -> np.ndarray:
    """Counts of outputs of any length, with few or no matches, and with none at all."""
    length = rng.integers(0, int(rng.choice([3, 8, 50, 30_000])), (1, count))
    totals = np.maximum(length - np.arange(4)[:, None], 0)
    correct = (totals * np.sort(rng.random((4, count)), axis=0)[::-1] * rng.choice([0.2, 0.9])).astype(np.int64)
    correct[:, rng.random(count) < 0.1] = 0
    reference = (length * rng.choice([0.3, 1.0, 1.02, 1.4, 2.5, 40.0, 400.0], (1, count))).astype(np.int64) + rng.integers(0, 3)
    return np.concatenate([length, reference, correct, totals])


def score_both(monkeypatch: pytest.MonkeyPatch, sums: np.ndarray, **options: Any) -> list[np.ndarray]:
    score = Bleu(**options).scorer((0,) * 10)
    found = []
    for is_little in (True, False):
        monkeypatch.setattr(bleu, "_is_little", lambda number, is_little=is_little: is_little)
        found.append(score(sums))
    return found


@pytest.mark.parametrize("smooth", ["none", "exp", "floor", "add-k"])
@pytest.mark.parametrize("kind", [np.int64, np.float32, np.float64])
@pytest.mark.parametrize("effective_order", [False, True])
def test_few_have_the_bits_of_many(monkeypatch: pytest.MonkeyPatch, smooth: str, kind: type, effective_order: bool) -> None:
    rng = np.random.default_rng(len(smooth) + effective_order)
    for count in (1, 3, 511, 1500):
        sums = draw_sums(rng, count).astype(kind)
        few, many = score_both(monkeypatch, sums, smooth=smooth, effective_order=effective_order)
        assert few.tobytes() == many.tobytes()
    rows = draw_sums(rng, 60).astype(kind).reshape(10, 4, 15)
    few, many = score_both(monkeypatch, rows, smooth=smooth, effective_order=effective_order)
    assert few.shape == (4, 15)
    assert few.tobytes() == many.tobytes()


def test_ordinary_outputs_of_every_length_have_the_bits_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    length = rng.integers(10_000, 40_000, 3000)
    totals = length - np.arange(4)[:, None] * 1000
    correct = (totals * np.array([0.6, 0.4, 0.25, 0.15])[:, None] * rng.uniform(0.9, 1.1, 3000)).astype(np.int64)
    reference = (length * np.geomspace(0.5, 300, 3000)).astype(np.int64)
    few, many = score_both(monkeypatch, np.concatenate([[length], [reference], correct, totals]))
    assert few.tobytes() == many.tobytes()
    assert len(np.unique(few)) > 1000


def test_few_sums_again_and_again_are_scored_by_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass scores each system of each batch by itself: a thousand times as many in all as at a time."""
    taken = []
    for name in ("_score_few", "_bleu_kernel"):
        monkeypatch.setattr(bleu, name, lambda sums, out, *more, name=name: taken.append(name))
    monkeypatch.setattr(bleu, "_is_little", FewSoFar(100, 250))
    score = Bleu().scorer((0,) * 10)
    for count in (10, 11, 10, 10, 1):
        score(np.ones((10, count)))
    assert taken == ["_score_few", "_bleu_kernel", "_score_few", "_bleu_kernel", "_bleu_kernel"]
