"""What is kept is on disk before anything relies on it; what is removed anyhow is not waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import pipeline
from pipeline.store.files import scratch_directory, write_bytes
from pipeline.store.lease import hold_lease
from pipeline.store.ledger import Ledger
from pipeline.store.syncing import sync_directory, sync_file, without_sync


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths that were synced, in order, as they were called then."""
    found: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda handle: found.append(os.readlink(f"/proc/self/fd/{handle}")))
    return found


def write_all(folder: Path) -> None:
    write_bytes(folder / "cell" / "a.npz", b"numbers")
    with Ledger(folder / "ledger.jsonl") as ledger:
        ledger.append({"key": "task"})
    with hold_lease(folder / "leases"):
        pass


def test_a_file_is_on_disk_before_it_has_its_name_and_its_folder_after(tmp_path: Path, synced: list[str]) -> None:
    write_bytes(tmp_path / "a.npz", b"numbers")
    before, after = synced
    assert Path(before).parent == tmp_path
    assert ".tmp-" in Path(before).name
    assert after == str(tmp_path)


def test_a_receipt_is_on_disk_when_it_is_written(tmp_path: Path, synced: list[str]) -> None:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        synced.clear()
        ledger.append({"key": "task"})
    assert synced == [str(tmp_path / "ledger.jsonl")]


def test_nothing_is_waited_for_in_a_folder_that_need_not_be_synced(tmp_path: Path, synced: list[str]) -> None:
    with scratch_directory("compare") as folder, without_sync(folder):
        write_all(folder)
        sync_directory(folder)
        assert synced == []
        write_all(tmp_path / "kept")
        assert {Path(path).name for path in synced} >= {"cell", "ledger.jsonl", "kept"}
        assert not any(path.startswith(str(folder)) for path in synced)
        synced.clear()
        sync_directory(folder / "..")
        assert len(synced) == 1
    synced.clear()
    sync_directory(tmp_path)
    assert synced == [str(tmp_path)]


def test_another_scratch_folder_is_synced(synced: list[str]) -> None:
    with scratch_directory("doctor") as folder:
        write_bytes(folder / "written", b"x")
    assert len(synced) == 2


def test_a_folder_whose_name_only_begins_like_a_scratch_folder_is_kept(tmp_path: Path, synced: list[str]) -> None:
    (tmp_path / "runs-2").mkdir()
    with without_sync(tmp_path / "runs"):
        sync_directory(tmp_path / "runs-2")
        with open(tmp_path / "runs-2" / "x", "wb") as file:
            sync_file(file.fileno(), tmp_path / "runs-2" / "x")
    assert [Path(path).name for path in synced] == ["runs-2", "x"]


def test_a_comparison_that_is_not_kept_waits_for_no_disk_and_one_that_is_does(tmp_path: Path, synced: list[str]) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("item,one,two\n" + "".join(f"q{k},{k % 2},{k % 3 == 0:d}\n" for k in range(40)))
    pipeline.compare(table, replicates=1000)
    assert synced == []
    pipeline.compare(table, replicates=1000, runs=tmp_path / "runs")
    assert any(path.endswith("ledger.jsonl") for path in synced)
