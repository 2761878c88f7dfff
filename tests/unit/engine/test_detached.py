"""A coordinator that was started elsewhere has begun, or says why not, wherever the command was given."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.studies import run_cli, write_scores, write_study

from pipeline.engine import launch
from pipeline.engine.launch import Launch, forget_cancel, prepare, start_detached
from pipeline.errors import ClusterError, StoreError
from pipeline.store.runs import RunDirectory, find_run, list_runs
from pipeline.study.load import load_study


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_scores(tmp_path / "scores.csv", ["a", "b"], items=12)
    test_sets = {"set": {"format": "scores", "outputs": "scores.csv"}}
    few = {"replicates": 300, "keep_replicates": 0, "test_sizes": ["full"]}
    write_study(tmp_path / "study.yaml", test_sets=test_sets, metrics=["mean"], resampling=few, analyses=[])
    return tmp_path


@pytest.fixture
def run(folder: Path) -> RunDirectory:
    return prepare(load_study(folder / "study.yaml"), folder / "runs", Launch("serial"))


def test_runs_are_found_by_absolute_paths(folder: Path, run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    relative = Path("../runs")
    assert list_runs(relative) == [run]
    assert [find_run(relative, name) for name in (None, run.id, run.id[:8], f"../runs/{run.id}")] == [run] * 4


def test_a_coordinator_is_not_started_for_a_place_that_it_would_not_find() -> None:
    with pytest.raises(ValueError, match="cannot find"):
        start_detached(RunDirectory(Path("runs/small-1")), Launch("serial"))


def test_resume_detach_works_with_the_default_folder_and_from_another_one(folder: Path, run: RunDirectory) -> None:
    (folder / "elsewhere").mkdir()
    told = run_cli("resume", "--detach", "--serial", "--runs", "../runs", cwd=folder / "elsewhere", own_process=True)
    assert told.returncode == 0, told.stderr
    assert told.stdout.strip() == str(run.root)
    deadline = time.monotonic() + 120
    while run.read_state()["state"] != "COMPLETED":
        assert time.monotonic() < deadline, run.log.read_text()
        time.sleep(0.1)


@pytest.fixture
def act(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Yield what lets a program be started in place of the coordinator."""
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def replace(program: str) -> None:
        def start(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
            started.append(popen([sys.executable, "-c", program, command[-1]], **options))
            return started[-1]

        monkeypatch.setattr(launch.subprocess, "Popen", start)

    yield replace
    for process in started:
        process.kill()
        process.wait()


def test_a_coordinator_that_dies_at_once_is_told_with_its_last_words(run: RunDirectory, act: Callable[[str], None]) -> None:
    run.log.parent.mkdir()
    run.log.write_text("what an earlier one said\n")
    act("import sys; sys.exit('error[P704]: a stored file is not there')")
    with pytest.raises(ClusterError, match="P613: the coordinator ended before it started, with exit code 1") as raised:
        start_detached(run, Launch("serial"))
    assert raised.value.exit_code == 69
    (problem,) = raised.value.problems
    assert problem.note == "error[P704]: a stored file is not there"
    assert f"pipeline resume {run.id}" in str(problem.help)


def test_a_coordinator_that_was_quick_has_begun(run: RunDirectory, act: Callable[[str], None]) -> None:
    quick = "import sys\nfrom pipeline.store.lease import hold_lease\nwith hold_lease(sys.argv[1]): sys.exit(4)"
    act(quick)
    assert start_detached(run, Launch("serial")) > 0


def test_a_coordinator_that_takes_long_is_not_awaited_for_ever(
    run: RunDirectory, act: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "BEGIN_SECONDS", 0.2)
    act("import time; time.sleep(60)")
    assert start_detached(run, Launch("serial")) > 0


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_request_to_stop_that_cannot_be_removed_is_a_store_error(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(path: Path, missing_ok: bool = False) -> None:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(StoreError, match="P702") as raised:
        forget_cancel(run)
    assert raised.value.exit_code == 73


def test_resume_names_another_cluster_where_the_profile_is_gone(folder: Path, run: RunDirectory) -> None:
    run.launch.write_text(json.dumps({"cluster": str(folder / "gone.yaml"), "workers": None, "block_cells": None}))
    told = run_cli("resume", run.root)
    assert told.returncode == 2
    assert f"pipeline resume {run.id} --cluster local" in told.stderr
