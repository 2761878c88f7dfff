"""Timing trainings leaves no process and no folder behind, however it ends."""

from __future__ import annotations

import tempfile
from pathlib import Path

import psutil
import pytest

from pipeline.plan.task import Task, TrainSpec
from pipeline.tasks import time_trainings as module

PLUGIN = """
import subprocess
class Sleepy:
    name = "sleepy"
    signature = "sleepy"
    def __init__(self, **options): ...
    def fit(self, items, sample, *, seed, workdir):
        subprocess.run(["sleep", "98765"])
"""


def test_a_training_that_is_given_up_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rvsleepy.py").write_text(PLUGIN)
    info = tmp_path / "rvsleepy-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rvsleepy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pipeline.trainers]\nsleepy = rvsleepy:Sleepy\n")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    spec = TrainSpec(
        identity="i",
        model="m",
        trainer="sleepy",
        options={},
        data={"dataset": "digits", "part": "train"},
        seed=1,
        method="bootstrap",
        fraction=0.25,
        replica=0,
        test_sets={},
    )
    known, unknown = module.time_trainings([Task("train", "k" * 32, "train m", spec)], seconds=0.5)
    left = [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", "98765"]]
    _, left = psutil.wait_procs(left, timeout=5)  # what was killed may take its time to be gone
    for process in left:
        process.kill()
    assert known == {}
    assert "m" in unknown
    assert not left
    assert not list(scratch.iterdir())
