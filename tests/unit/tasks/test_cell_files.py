"""What is stored of a block's cells is what was counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.resampling.address import CELL
from pipeline.resampling.measures import BINS, COUNTS, PairCounts
from pipeline.store.files import read_arrays, write_arrays
from pipeline.tasks.resample import StoredCounts, pack_counts

PAIRS, CELLS = 5, 3


def counted(bins: range) -> PairCounts:
    rng = np.random.default_rng(7)
    counts = rng.integers(0, CELL, (PAIRS, CELLS, len(COUNTS)), endpoint=True).astype(np.int32)
    counts[..., 6:] = -1
    counts[0, 0, :2] = 0, CELL
    histogram = np.zeros((PAIRS, CELLS, BINS), np.uint16)
    # The first and the last bin are each filled by one pair in one cell.
    histogram[:, :, bins.start + 1 : bins.stop - 1] = rng.integers(0, CELL, (PAIRS, CELLS, len(bins) - 2), endpoint=True)
    histogram[1, 2, bins.start], histogram[4, 0, bins.stop - 1] = CELL, 1
    empty = rng.integers(0, CELL, (PAIRS, CELLS), endpoint=True).astype(np.int32)
    return PairCounts(
        counts, rng.normal(size=(PAIRS, CELLS, 3)), histogram, empty, rng.normal(size=(2, 9)), np.zeros(PAIRS, np.int8)
    )


@pytest.mark.parametrize("bins", [range(BINS), range(3), range(40, 61), range(BINS - 3, BINS)], ids=str)
def test_counts_survive_their_file(tmp_path: Path, bins: range) -> None:
    made = counted(bins)
    checksum = write_arrays(tmp_path / "file", pack_counts(0, counted(range(20, 30))) | pack_counts(1, made))
    stored = StoredCounts(read_arrays(tmp_path / "file", checksum), 1)
    assert (stored.counts == made.counts).all()
    assert (stored.empty == made.empty).all()
    assert stored.sums.tobytes() == made.sums.tobytes()
    assert stored.score.tobytes() == made.score.tobytes()
    rows, pairs = np.array([3, 0]), np.array([1, 4])
    for cell in range(CELLS):
        total = np.full((4, BINS), 10, np.int64)
        stored.add_histogram(total, rows, pairs, cell)
        assert (total[rows] == 10 + made.histogram[pairs, cell].astype(np.int64)).all()
        assert (total[[1, 2]] == 10).all()


def test_bins_that_hold_nothing_are_not_stored(tmp_path: Path) -> None:
    arrays = pack_counts(0, counted(range(40, 61)))
    assert arrays["0/histogram"].shape == (PAIRS, CELLS, 21)
    nothing = counted(range(40, 61))
    nothing.histogram[:] = 0
    write_arrays(tmp_path / "file", pack_counts(0, nothing))
    stored, total = StoredCounts(read_arrays(tmp_path / "file"), 0), np.zeros((1, BINS), np.int64)
    stored.add_histogram(total, np.array([0]), np.array([0]), 0)
    assert not total.any()
