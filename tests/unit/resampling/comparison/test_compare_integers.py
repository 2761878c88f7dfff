"""Whole gains counted in a table of differences: what `compare_values` counts replicate by replicate, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from support.whole_gains import empty_tally, thresholds

from pipeline.resampling.comparison.compare import compare_values, fold_lanes
from pipeline.resampling.comparison.compare_integers import GainTables

ROWS, REPLICATES = 6, 5000


@pytest.mark.parametrize("step", [1, 7])
@pytest.mark.parametrize("spread", [0.6, 20.0])
@pytest.mark.parametrize("margin", [False, True])
def test_a_table_of_gains_says_what_every_replicate_says(step: int, spread: float, margin: bool) -> None:
    rng = np.random.default_rng(int(10 * spread) + step)
    limits = thresholds(rng, rows=ROWS, step=step, spread=spread, gains=int(3 * spread), margin=margin)
    values = step * np.rint(1000 + spread * rng.normal(size=(ROWS, REPLICATES)))
    values[rng.integers(ROWS, size=40), rng.integers(REPLICATES, size=40)] += step * 10**6  # far beyond any table
    values[0, :9] -= step * 10**6
    plain, read = empty_tally(len(limits.pair)), empty_tally(len(limits.pair))
    tables = GainTables.of(limits, largest_sum=10**8)
    assert tables is not None
    for cell in range(2):
        for start, stop in ((0, 2048), (2048, 4096), (4096, REPLICATES)):
            compare_values(np.ascontiguousarray(values[:, start:stop]), limits, plain, cell)
            tables.add(np.ascontiguousarray(values[:, start:stop]), read, cell)
        tables.close(read, cell)
        values = values[::-1].copy()
    np.testing.assert_array_equal(plain.counts, read.counts)
    np.testing.assert_array_equal(plain.histogram, read.histogram)
    np.testing.assert_array_equal(fold_lanes(plain.lanes), fold_lanes(read.lanes))
    assert (plain.counts[:, 0] != plain.counts[:, 1]).any()
    assert plain.counts[..., 6:].any() == margin


def test_gains_that_are_no_whole_steps_or_too_large_have_no_table() -> None:
    limits = thresholds(np.random.default_rng(1), rows=ROWS, step=2, spread=5.0, gains=15, margin=False)
    assert GainTables.of(limits, largest_sum=2**31 - 1) is not None
    assert GainTables.of(limits, largest_sum=2**31) is None
    assert GainTables.of(limits._replace(center=limits.center + 0.5), largest_sum=9) is None
    assert GainTables.of(limits._replace(step=np.arange(1.0, len(limits.step) + 1)), largest_sum=9) is None
    assert GainTables.of(limits._replace(bin_scale=limits.bin_scale / 1000), largest_sum=9) is None
    assert GainTables.of(limits._replace(center=limits.center + 2.0**40), largest_sum=9) is None
