"""What is stored of a block's cells is what was counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline.resampling.address import CELL
from pipeline.resampling.measures import BINS, COUNTS, PairCounts
from pipeline.store import container, packing
from pipeline.store.array_files import map_arrays, write_arrays
from pipeline.tasks.cell_files import StoredCounts, pack_counts, stored_scores

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
@pytest.mark.parametrize("part", [range(PAIRS), range(1, 5), range(3, 4)], ids=str)
def test_counts_survive_their_file(tmp_path: Path, bins: range, part: range, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "_SMALL", 0)
    monkeypatch.setattr(packing, "_WORTH", 2.0)
    monkeypatch.setattr(packing, "PIECE_BYTES", 400)  # of counts two pairs, of the histogram one
    made = counted(bins)
    write_arrays(tmp_path / "file", pack_counts(0, counted(range(20, 30))) | pack_counts(1, made))
    arrays = map_arrays(tmp_path / "file")
    stored = StoredCounts(arrays, 1, part)
    assert (stored.counts == made.counts[part.start : part.stop]).all()
    assert (stored.empty == made.empty[part.start : part.stop]).all()
    assert stored.sums.tobytes() == made.sums[part.start : part.stop].tobytes()
    rows, pairs = np.array([3, 0]), np.array([0, len(part) - 1])
    for cell in range(CELLS):
        total = np.full((4, BINS), 10, np.int64)
        for row, pair in zip(rows, pairs, strict=True):
            stored.add_histogram(total, np.array([row]), np.array([pair]), cell)
            assert (total[row] == 10 + made.histogram[part.start + pair, cell].astype(np.int64)).all()
        assert (total[[1, 2]] == 10).all()


def test_kept_scores_are_read_by_cell_and_system(tmp_path: Path) -> None:
    made = replace(counted(range(3)), score=np.random.default_rng(1).normal(size=(3, CELL + 7)))
    write_arrays(tmp_path / "file", pack_counts(0, made))
    arrays = map_arrays(tmp_path / "file")
    assert stored_scores(arrays, 0, 0, np.array([2, 0])).tobytes() == made.score[[2, 0], :CELL].tobytes()
    assert stored_scores(arrays, 0, 1, np.array([1])).tobytes() == made.score[[1], CELL:].tobytes()


def test_neighbours_are_unpacked_once_for_all_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.round(np.random.default_rng(1).normal(size=(6, CELL // 2)), 2)  # two systems a piece
    write_arrays(tmp_path / "file", pack_counts(0, replace(counted(range(3)), score=scores)))
    arrays, unpacked = map_arrays(tmp_path / "file"), []
    unpack = container.unpack_rows
    monkeypatch.setattr(container, "unpack_rows", lambda *given, **named: unpacked.append(1) or unpack(*given, **named))
    for systems, pieces in (([0, 1, 2, 3, 4, 5], 3), ([1, 2, 3, 5], 3), ([5, 0, 1], 2), ([2], 1)):
        unpacked.clear()
        assert stored_scores(arrays, 0, 0, np.array(systems)).tobytes() == scores[systems].tobytes()
        assert len(unpacked) == pieces


def test_bins_that_hold_nothing_are_not_stored(tmp_path: Path) -> None:
    arrays = pack_counts(0, counted(range(40, 61)))
    assert arrays["0/histogram"].shape == (PAIRS, CELLS, 21)
    nothing = counted(range(40, 61))
    nothing.histogram[:] = 0
    write_arrays(tmp_path / "file", pack_counts(0, nothing))
    stored, total = StoredCounts(map_arrays(tmp_path / "file"), 0, range(1)), np.zeros((1, BINS), np.int64)
    stored.add_histogram(total, np.array([0]), np.array([0]), 0)
    assert not total.any()
