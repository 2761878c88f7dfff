"""Scratch folders go, those of killed processes too, and nothing else does."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pipeline.store import files as scratch
from pipeline.store.files import scratch_directory

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
