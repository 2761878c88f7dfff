"""Stored cells become the same numbers whatever the budget, and memory does not know how many cells there are."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.cubes.variables import CHUNKS
from pipeline.errors import StoreError
from pipeline.plan.comparisons import Comparison
from pipeline.plan.inputs import MetricInputs
from pipeline.plan.inventory import Inventory
from pipeline.plan.task import Receipt, pack_mask
from pipeline.resampling.address import CELL, count_cells
from pipeline.resampling.measures import BINS, PairCounts
from pipeline.store.array_files import map_arrays, write_arrays
from pipeline.store.runs import Store
from pipeline.store.zstandard import zstd
from pipeline.tasks.cell_files import pack_counts, stored_scores
from pipeline.tasks.collect import fold as module
from pipeline.tasks.collect.fold import Cells, find_packed_scores, fold, kept_scores, read_scores

SYSTEMS = ("k1", "k2", "k3", "k4")
METRIC = MetricInputs("bleu", {}, "BLEU", True)
COLUMN = Comparison("address", "paired-bootstrap", METRIC, None, SYSTEMS, {})
REPLICATES = 200 * CELL - 9


def store_cells(store: Store, systems: tuple[str, ...], first: int, stop: int, seed: int, *, right: bool = False) -> Receipt:
    """Write random cells of all pairs of some systems; what a pair and cell hold depends on nothing else.

    Scores are those of items that are ``right`` or wrong, or nearly all different.
    """
    pairs = [(a, b) for i, a in enumerate(systems) for b in systems[i + 1 :]]
    cells = range(first, stop)

    def rng(*address: Any) -> np.random.Generator:
        return np.random.default_rng([*"|".join(map(str, address)).encode()])

    counted = PairCounts(
        counts=np.stack([[rng(*p, c, "n").integers(0, 900, 8) for c in cells] for p in pairs]).astype(np.int32),
        sums=np.stack([[rng(*p, c, "s").normal(0, 1e6, 3) for c in cells] for p in pairs]),
        histogram=np.stack([[rng(*p, c, "h").integers(0, 99, BINS) for c in cells] for p in pairs]).astype(np.uint16),
        empty=np.stack([[int(rng(*p, c, "e").integers(0, 5)) for c in cells] for p in pairs]).astype(np.int32),
        score=np.stack([np.concatenate([scores_of(rng(s, c), right) for c in cells if c < 2] or [[]]) for s in systems]),
        rule=np.zeros(len(pairs), np.int8),
    )
    path = store.path("cells", f"{seed:032d}", ".arrays")
    checksum = write_arrays(path, pack_counts(0, counted))
    kept = pack_mask(np.full(len(systems), first < 2))
    entry = {"column": "address", "systems": list(systems), "pairs": pack_mask(np.ones(len(pairs), np.bool_)), "kept": kept}
    covers = {"replicates": REPLICATES, "first_cell": first, "stop_cell": stop, "columns": [entry]}
    return Receipt("resample", f"{seed:032d}", "label", store.relative(path), checksum, 0.0, "", covers)


def scores_of(rng: np.random.Generator, right: bool) -> np.ndarray:
    return rng.binomial(380, 0.7, CELL) / 380 if right else rng.normal(size=CELL)


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> tuple[Cells, Store]:
    store = Store(tmp_path_factory.mktemp("runs") / ".store")
    # Three systems came first, in two blocks; the fourth later, in one, that holds the older pairs too.
    receipts = [
        store_cells(store, SYSTEMS[:3], 0, 70, 1),
        store_cells(store, SYSTEMS[:3], 70, 200, 2),
        store_cells(store, SYSTEMS, 0, 2, 3),
        store_cells(store, SYSTEMS, 2, 200, 4),
    ]
    coverage = Inventory.of(receipts).coverage("address", SYSTEMS, REPLICATES)
    # The pairs of a cube stand in the study's order; two of its systems share statistics.
    flat = np.array([5, 0, 3, -1, 1, 0, 2, 4], np.int64)
    return Cells(COLUMN, "full", flat, coverage, REPLICATES), store


def total(cells: Cells, store: Store, rows: slice) -> list[np.ndarray]:
    blocks = list(fold(cells, rows, store))
    sums = np.zeros((blocks[0].sums.shape[0], 3))
    for block in blocks:
        for cell in range(block.sums.shape[1]):
            sums += block.sums[:, cell]
    return [
        np.concatenate([block.counts for block in blocks], axis=1),
        np.concatenate([block.sums for block in blocks], axis=1),
        np.concatenate([block.empty for block in blocks], axis=1),
        sum((block.histogram for block in blocks), np.zeros((sums.shape[0], BINS), np.int64)),
        sums,
    ]


def test_the_budget_changes_no_number(cells: tuple[Cells, Store], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = slice(0, 8)
    whole = total(*cells, rows)
    monkeypatch.setattr(module, "FOLD_BYTES", 1)
    pieces = total(*cells, rows)
    assert len(list(fold(*cells[:1], rows, cells[1]))) == 4  # 200 cells in chunks of 64
    assert [a.tobytes() for a in whole] == [b.tobytes() for b in pieces]
    one_by_one = [total(*cells, slice(k, k + 1)) for k in range(8)]
    assert [np.concatenate(parts).tobytes() for parts in zip(*one_by_one, strict=True)] == [a.tobytes() for a in whole]


def test_every_pair_finds_its_own_cells(cells: tuple[Cells, Store]) -> None:
    counts, _, empty, histogram, _ = total(*cells, slice(0, 8))
    pairs = [(a, b) for i, a in enumerate(SYSTEMS) for b in SYSTEMS[i + 1 :]]
    for row, flat in enumerate(cells[0].flat.tolist()):
        for cell in (0, 1, 69, 70, 199):
            if flat >= 0:
                address = "|".join(map(str, (*pairs[flat], cell, "n"))).encode()
                assert counts[row, cell].tolist() == np.random.default_rng([*address]).integers(0, 900, 8).tolist()
            else:
                n = CELL - 9 if cell == 199 else CELL
                assert counts[row, cell].tolist() == [0, n, 0, n, n, 0, -1, -1]
    assert (counts[1] == counts[5]).all()
    assert histogram[3].sum() == REPLICATES
    assert empty[3].sum() == 0


def test_kept_scores_come_in_the_order_asked(cells: tuple[Cells, Store], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SYSTEMS_AT_ONCE", 3)
    asked, kept = np.array([2, 0, 3, 3, 1]), CELL + 100
    found = np.full((5, kept), np.nan)
    for system, first, scores in kept_scores(cells[0], kept, asked, cells[1]):
        found[system : system + scores.shape[0], first : first + scores.shape[1]] = scores
    for row, position in enumerate(asked.tolist()):
        expected = [np.random.default_rng([*f"{SYSTEMS[position]}|{cell}".encode()]).normal(size=CELL) for cell in (0, 1)]
        assert found[row].tobytes() == np.concatenate(expected)[:kept].tobytes()


def test_kept_scores_that_one_file_has_are_its_rows_and_no_copy(
    cells: tuple[Cells, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[np.ndarray] = []
    monkeypatch.setattr(module, "stored_scores", lambda *given: read.append(stored_scores(*given)) or read[-1])
    for systems, files in ((3, 1), (4, 2)):  # the fourth came later, in a file of its own
        read.clear()
        for _, _, scores in kept_scores(cells[0], 2 * CELL, np.arange(systems), cells[1]):
            assert [np.shares_memory(scores, rows) for rows in read] == [files == 1] * files
            read.clear()


def test_scores_are_given_as_they_are_packed_where_one_file_has_all_of_them_so(tmp_path: Path, cells: tuple[Cells, Store]) -> None:
    store = Store(tmp_path / ".store")
    receipts = [store_cells(store, SYSTEMS[:3], 0, 2, 1, right=True), store_cells(store, SYSTEMS[2:], 0, 2, 2, right=True)]
    coverage = Inventory.of(receipts).coverage("address", SYSTEMS, REPLICATES)
    own = Cells(COLUMN, "full", np.arange(6), coverage, REPLICATES)
    asked = np.array([2, 0])
    found = find_packed_scores(own, 1, asked, CELL, store)
    assert found is not None
    unpacked = [zstd.decompress(content) for content in found]
    assert unpacked == [row.tobytes() for row in read_scores(own, 1, asked, CELL, store)]
    assert find_packed_scores(own, 1, np.array([0, 3]), CELL, store) is None  # of two files
    assert find_packed_scores(own, 1, asked, 100, store) is None  # of fewer replicates
    assert find_packed_scores(cells[0], 1, asked, CELL, cells[1]) is None  # bytes in another order


def test_cells_that_no_receipt_covers_are_missed(cells: tuple[Cells, Store]) -> None:
    fewer = Cells(COLUMN, "full", cells[0].flat, cells[0].coverage[:2], REPLICATES)
    with pytest.raises(RuntimeError, match=r"cells of bleu by paired-bootstrap \[full\] are not there"):
        list(fold(fewer, slice(0, 8), cells[1]))


def test_damaged_bytes_are_never_folded(tmp_path: Path) -> None:
    store = Store(tmp_path / ".store")
    receipt = store_cells(store, SYSTEMS, 0, 2, 1)
    path = store.root / receipt.file
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    coverage = Inventory.of([receipt]).coverage("address", SYSTEMS, REPLICATES)
    with pytest.raises(StoreError, match="P705"):
        list(fold(Cells(COLUMN, "full", np.arange(6), coverage, REPLICATES), slice(0, 6), store))


def test_a_file_that_is_read_again_is_described_once_and_checked_again_if_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, opened = Store(tmp_path / ".store"), []
    receipt = store_cells(store, SYSTEMS, 0, 2, 1)
    coverage = Inventory.of([receipt]).coverage("address", SYSTEMS, REPLICATES)
    own = Cells(COLUMN, "full", np.arange(6), coverage, REPLICATES)
    monkeypatch.setattr(module, "map_arrays", lambda path: opened.append(path) or map_arrays(path))
    first, again = (read_scores(own, 1, np.arange(3), CELL, store) for _ in range(2))
    assert first.tobytes() == again.tobytes()
    assert len(opened) == 1
    path = store.root / receipt.file
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(StoreError, match="P705"):
        read_scores(own, 1, np.arange(3), CELL, store)


def test_memory_does_not_grow_with_the_number_of_cells(tmp_path: Path) -> None:
    """Pairs of the same statistics need no file: 4096 of them at 3 · 10^7 would be 460 MB if all cells were held at once."""
    pairs = 4096
    peaks = []
    for replicates in (10**7, 3 * 10**7):
        same = Cells(COLUMN, "full", np.full(pairs, -1), [], replicates)
        tracemalloc.start()
        counted = 0
        for block in fold(same, slice(0, pairs), Store(tmp_path)):
            counted += int(block.histogram[0].sum())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert counted == replicates
    assert max(peaks) < 100e6
    assert count_cells(10**7) > CHUNKS["cell"]


def test_no_file_of_cells_is_held_after_what_it_was_opened_for(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    receipt = store_cells(store, SYSTEMS, 0, 4, 1)

    def maps() -> int:
        return Path("/proc/self/maps").read_text().count(str(tmp_path))

    with module.opening_once():
        first = module._open(store, receipt)
        assert module._open(store, receipt) is first
        assert maps() > 0
    del first
    assert maps() == 0
