"""A finer lattice, which another system may bring, changes no bit of a pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.resampling.address import CELL, draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample


def ratio(decimals: int) -> Callable[[NDArray[Any]], NDArray[np.float64]]:
    def score(sums: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(sums[0] / (sums[1] * 10.0**decimals), np.float64)

    return score


@pytest.mark.parametrize("denominators", ["constant", "varying"])
def test_a_finer_lattice_changes_no_bit(denominators: str) -> None:
    rng = np.random.default_rng(3)
    units = 40
    numerators = rng.integers(0, 1000, (units, 3))  # two decimals
    shared = np.ones(units, np.int64) if denominators == "constant" else rng.integers(1, 30, units)
    pairs = np.array([[0, 1], [2, 0], [1, 2]])
    draws = Draws(draw_key(seed=1, purpose="test", test_set="lattice", size="full", rule="prefix"), units, units)
    found = []
    for finer in (0, 1, 3):
        statistics = np.stack([numerators * 10**finer, np.repeat(shared[:, None], 3, 1)], axis=-1).astype(np.int64)
        measure = Measure(statistics, ratio(2 + finer), "ratio", True, pairs, np.ones(3, np.bool_), 0.25)
        (counts,) = resample(draws, [measure], cells=range(2), replicates=CELL + 500, keep_replicates=1000)
        seen = observe(measure)
        found.append([seen.score, seen.delta, seen.se, counts.counts, counts.sums, counts.histogram, counts.score])
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
