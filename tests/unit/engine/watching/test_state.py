"""What a run tells of itself while it lives, whatever happened to the disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.engine.watching.state import RunState, write_pending
from pipeline.errors import StoreError
from pipeline.store.process import name_process, this_process
from pipeline.store.runs import RunDirectory


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    (tmp_path / "small-1").mkdir()
    return RunDirectory(tmp_path / "small-1")


def state_of(run: RunDirectory) -> RunState:
    return RunState(run, study="small", fence=1)


def test_an_event_after_a_torn_one_stands_on_a_line_of_its_own(run: RunDirectory) -> None:
    state_of(run).event("started", "attempt 1")
    whole = run.events.read_bytes()
    run.events.write_bytes(whole + whole[:20])
    state_of(run).event("started", "attempt 2", label="日\udc80")
    lines = run.events.read_bytes().splitlines()
    assert len(lines) == 3
    assert [json.loads(line)["text"] for line in (lines[0], lines[2])] == ["attempt 1", "attempt 2"]


def test_events_leave_no_empty_lines(run: RunDirectory) -> None:
    for number in range(3):
        state_of(run).event("started", str(number))
    assert run.events.read_bytes().count(b"\n") == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full: a full disk cannot be tried")
def test_a_full_disk_under_the_events_is_a_store_error(run: RunDirectory) -> None:
    os.symlink("/dev/full", run.events)
    with pytest.raises(StoreError, match="the disk is full") as raised:
        state_of(run).event("started", "attempt 1")
    assert raised.value.exit_code == 73


def test_events_that_cannot_be_opened_are_a_store_error(run: RunDirectory) -> None:
    run.events.mkdir()
    with pytest.raises(StoreError):
        state_of(run).event("started", "attempt 1")


def test_a_new_phase_is_written_at_once_and_progress_within_it_is_not(run: RunDirectory) -> None:
    state, told = state_of(run), []
    for phase, done in (("extract", 1), ("extract", 2), ("resample", 3), ("resample", 4)):
        state.facts.update(phase=phase, done=done)
        state.write()
        told.append(json.loads(run.state.read_text())["done"])
    assert told == [1, 1, 3, 3]


def test_a_pending_run_names_the_process_that_is_to_run_it(run: RunDirectory) -> None:
    write_pending(run, study="small")
    assert "coordinator" not in run.read_state()
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        write_pending(run, study="small", coordinator=name_process(process.pid))
        coordinator = run.read_state()["coordinator"]
        assert coordinator["pid"] == process.pid
        assert coordinator["host"] == this_process().host
        assert coordinator["started"] not in {"", this_process().started}
    finally:
        process.communicate(b"\n")


def test_what_a_quicker_coordinator_wrote_is_not_written_over(run: RunDirectory) -> None:
    state_of(run).end("FAILED", 73, "the disk is full")
    write_pending(run, study="small", coordinator=this_process())
    assert run.read_state()["state"] == "FAILED"
