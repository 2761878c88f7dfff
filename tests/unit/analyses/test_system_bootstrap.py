"""Systems drawn again: replicas within their base model or with it, copies that are no pair, and intervals that there are not."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.analyses.system_bootstrap import SystemBootstrap, system_interval


def test_replicas_are_drawn_within_their_base_model():
    systems = tuple(f"{m}{i}" for m in "xyz" for i in range(5))
    drawn = SystemBootstrap(systems, {s: s[0] for s in systems}, 1, "news", "full")
    weights = drawn.draw(500)
    assert weights.reshape(500, 3, 5).sum(axis=2) == pytest.approx(5.0)
    assert np.ptp(weights, axis=0).min() > 0
    assert "3" in drawn.note


def test_more_than_three_base_models_are_drawn_themselves():
    systems = tuple(f"{m}{i}" for m in "wxyz" for i in range(5))
    drawn = SystemBootstrap(systems, {s: s[0] for s in systems}, 1, "news", "full")
    sums = drawn.draw(500).reshape(500, 4, 5).sum(axis=2)
    assert drawn.note is None
    assert set(np.unique(sums)) <= {0.0, 5.0, 10.0, 15.0, 20.0}
    assert sums.min() == 0


def test_a_system_is_never_paired_with_its_copy():
    drawn = SystemBootstrap(("a", "b", "c"), {}, 1, "news", "full")
    seen = []

    def keep(weights):
        seen.append(weights)
        return np.where(weights.sum(axis=1) > 0, weights[:, 0], np.nan)

    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    interval, reason = system_interval(drawn, first, second, keep, replicates=900)
    # All three draws are the same system in 3 of 27 cases: then no pair has weight.
    empty = float((np.concatenate(seen).sum(axis=1) == 0).mean())
    assert 0.05 < empty < 0.18  # 1/9 ± 6 standard errors: false alarm 1e-9
    assert interval is None
    assert "leave no pair" in reason
