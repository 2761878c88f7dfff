"""Pairs over one denominator are counted by their differences as they are by the sums of their systems."""

from __future__ import annotations

import numpy as np
import pytest
from support.replica_nulls import make_replicas

from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas import randomized
from pipeline.resampling.replicas.differences import Differences
from pipeline.resampling.replicas.randomized import count_shuffled


class _None:
    """In place of `Differences`: what has none."""

    @staticmethod
    def of(*given):
        return None


@pytest.mark.parametrize("null", ["per-output", "segment-block"])
@pytest.mark.parametrize(("units", "runs"), [(1, 1), (64, 2), (65, 3), (600, 2)])
def test_differences_count_as_sums_of_systems(null, units, runs, monkeypatch):
    pairs = np.array([[1, 0], [2, 3]])  # two pairs of four systems, one of which stands the other way round
    replicas = make_replicas([runs] * 4, units, kind="linear", pairs=pairs)
    draws, asked = Draws(7, units, units), {"cells": range(1), "replicates": 130}
    used = []
    own = Differences.count
    monkeypatch.setattr(Differences, "count", lambda *given: used.append(given[2:]) or own(*given))
    found, above = count_shuffled(null, draws, replicas, memory_bytes=2**16, **asked)
    assert used
    monkeypatch.setattr(randomized, "Differences", _None)
    expected, expected_above = count_shuffled(null, draws, replicas, **asked)
    for name in ("delta", "hits", "compared", "empty", "reason"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    np.testing.assert_array_equal(above, expected_above)
    if units > 1:
        assert (found.hits > 0).all()
        assert (found.hits < 130).any()


@pytest.mark.parametrize(
    ("null", "runs", "kind", "pairs"),
    [
        ("multeval", [2, 2], "linear", [[0, 1]]),  # not swapped
        ("r-of-2r", [2, 2], "linear", [[0, 1]]),
        ("segment-block", [2, 3], "linear", [[0, 1]]),  # means of runs meet
        ("per-output", [2, 2], "general", [[0, 1]]),  # no common denominator
        ("per-output", [2, 2, 2], "linear", [[0, 1], [0, 2], [1, 2]]),  # as many pairs as systems
    ],
)
def test_others_are_summed_by_systems(null, runs, kind, pairs, monkeypatch):
    replicas = make_replicas(runs, 40, kind=kind, pairs=np.array(pairs))
    monkeypatch.setattr(Differences, "count", None)
    found, _ = count_shuffled(null, Draws(7, 40, 40), replicas, cells=range(1), replicates=20)
    assert found.compared.sum() == 20 * len(pairs)
