"""Scratch folders go, those of killed processes too, and nothing else does."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pipeline.record.history import History
from pipeline.store import files as scratch
from pipeline.store.archive import pack_run, unpack_run
from pipeline.store.files import make_directory, scratch_directory, temporary_name
from pipeline.store.runs import RunDirectory

KILLED = """
import os, tempfile
from pipeline.store.files import scratch_directory
with scratch_directory("train") as folder:
    (folder / "model").mkdir()
    (folder / "model" / "weights").touch()
    print(folder, flush=True)
    os.kill(os.getpid(), 9)
"""


def test_what_a_killed_process_left_is_removed_by_the_next_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", KILLED], env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    left = Path(killed.stdout.strip())
    assert (left / "model" / "weights").exists()
    gone = left.name.rpartition("pipeline-train-")[2]
    others = [tmp_path / "pipeline-train-old", tmp_path / f"other-{gone}", tmp_path / "mine" / left.name]
    for other in others:
        other.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    scratch._sweep.cache_clear()
    with scratch_directory("train") as folder, scratch_directory("train") as second:
        assert not left.exists()
        assert folder.is_dir()
        assert second.is_dir()
        assert folder.stat().st_mode & 0o077 == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted({"mine", others[0].name, others[1].name})
    assert others[2].is_dir()


def test_a_process_that_is_forked_meanwhile_leaves_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = scratch_directory("test", tmp_path)
    folder = scratch.__enter__()
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: 2**22 + 1)
        scratch.__exit__(None, None, None)
    assert folder.is_dir()


def killed_name() -> str:
    """Return a temporary name of a process that is gone."""
    return temporary_name().replace(f"-{os.getpid()}-", f"-{2**22 + 1}-")


@pytest.mark.parametrize("folder", ["", "slots", "missed", "gate"])
def test_what_was_killed_while_it_wrote_a_history_leaves_nothing_for_a_year(tmp_path: Path, folder: str) -> None:
    left, being = (make_directory(tmp_path / folder) / name for name in (killed_name(), temporary_name()))
    for path in (left, being):
        path.write_bytes(b"half")
    with History(tmp_path).writing():
        assert [left.exists(), being.exists()] == [False, True]


def test_an_export_and_an_import_that_were_killed_leave_nothing_beside_the_next(tmp_path: Path) -> None:
    (tmp_path / "run" / "report").mkdir(parents=True)
    (tmp_path / "run" / "plan.json").write_text("{}")
    exported, unpacked = tmp_path / killed_name(), tmp_path / "imported" / killed_name()
    unpacked.mkdir(parents=True)
    exported.write_bytes(b"gigabytes")
    pack_run(RunDirectory(tmp_path / "run"), tmp_path / "run.zip")
    assert not exported.exists()
    unpack_run(tmp_path / "run.zip", tmp_path / "imported")
    assert [path.name for path in (tmp_path / "imported").iterdir()] == ["run"]
