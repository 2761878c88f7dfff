"""What is seen of a run from outside, whatever its files and its coordinator went through."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.engine.signals import StopRequest
from pipeline.engine.watching.ending import stopped
from pipeline.engine.watching.progress import format_line
from pipeline.engine.watching.state import RunState, write_pending
from pipeline.engine.watching.watch import await_end, cancel_run, follow_events, follow_run, read_status
from pipeline.errors import RunNotFound
from pipeline.store.lease import hold_lease, read_holder, refuse_if_held
from pipeline.store.process import Process, name_process, this_process
from pipeline.store.runs import RunDirectory, find_run, list_runs


def make_run(runs: Path, name: str, **facts: Any) -> RunDirectory:
    run = RunDirectory(runs / name)
    run.root.mkdir(parents=True)
    run.plan.write_text("{}")
    run.state.write_text(json.dumps({"schema_version": 1, "run": name, "study": "small", "state": "COMPLETED", **facts}))
    return run


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return make_run(tmp_path, "small-1")


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives until the test ends."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


@pytest.fixture
def ended() -> Process:
    """A process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    named = name_process(process.pid)
    process.communicate(b"\n")
    return named


# events


def test_bad_lines_among_the_events_are_left_out_and_the_others_told(run: RunDirectory) -> None:
    RunState(run, study="small", fence=1).event("started", "attempt 1")
    with open(run.events, "ab") as file:
        file.write(b'{"time": "2026\n' + bytes(40) + b"\n" + b'[1]\n{"time": 1}\n{"event": 3, "time": null, "text": []}\n\xff\n')
    RunState(run, study="small", fence=2).event("ended", "COMPLETED", traceback="Traceback: …\n")
    told = list(follow_events(run, follow=False))
    assert told[0].endswith("started   attempt 1")
    assert told[-2].endswith("ended     COMPLETED")
    assert told[-1] == "Traceback: …"


def test_following_ends_with_a_run_that_is_over(run: RunDirectory) -> None:
    RunState(run, study="small", fence=1).event("ended", "COMPLETED")
    assert len(list(follow_events(run, follow=True))) == 1


# unreadable state


@pytest.mark.parametrize(
    "content", [None, b"", b'{"run": "small-2", "sta', b"[]", b"{}", b'{"run": 3, "state": null}', b"\xff\xfe"]
)
def test_a_run_whose_state_cannot_be_read_is_unknown_and_hides_no_other(tmp_path: Path, content: bytes | None) -> None:
    make_run(tmp_path, "small-1")
    bad = make_run(tmp_path, "small-2")
    bad.state.unlink()
    if content is not None:
        bad.state.write_bytes(content)
    told = {facts["run"]: facts for facts in map(read_status, list_runs(tmp_path))}
    assert told["small-1"]["state"] == "COMPLETED"
    assert told["small-2"]["state"] == "UNKNOWN"
    assert "pipeline resume small-2" in told["small-2"]["advice"]
    assert format_line(told["small-2"]) == "small-2  unknown"


def test_an_unreadable_state_that_somebody_will_write_again_is_running(run: RunDirectory) -> None:
    run.state.write_bytes(b"")
    with hold_lease(run.root):
        assert read_status(run)["state"] == "RUNNING"
    assert read_status(run)["state"] == "UNKNOWN"


def test_a_run_with_a_damaged_lease_is_told_and_hides_no_other(run: RunDirectory) -> None:
    run.state.write_text(json.dumps({"run": "small-1", "state": "RUNNING"}))
    (run.root / "lease.1").write_bytes(b"{")
    told = read_status(run)
    assert told["state"] == "RUNNING"  # for all that can be known
    assert "lease is damaged" in told["advice"]
    os.utime(run.root / "lease.1", (1, 1))
    told = read_status(run)
    assert told["state"] == "LOST"
    assert "pipeline resume small-1" in told["advice"]


# ended


TRY_AGAIN = (
    "`pipeline logs small-1` shows what failed; once that is fixed, `pipeline resume small-1` tries it again; "
    "a study that had to change is run instead"
)


@pytest.mark.parametrize(
    ("state", "advice"),
    [
        ("COMPLETED", ""),
        ("CANCELLED", "`pipeline resume small-1` continues it"),
        ("FAILED", TRY_AGAIN),
        ("INCOMPLETE", TRY_AGAIN),
    ],
)
def test_a_run_that_has_ended_is_advised_what_helps(run: RunDirectory, state: str, advice: str) -> None:
    RunState(run, study="small", fence=1).end(state, 0, "")
    assert read_status(run).get("advice", "") == advice


def test_a_run_that_was_stopped_says_once_how_to_go_on(run: RunDirectory) -> None:
    for cancelled in (False, True):
        stop = StopRequest(run.root / "cancel")
        if cancelled:
            (run.root / "cancel").touch()
        ending = stopped(stop)
        assert ending.state == ("CANCELLED" if cancelled else "INTERRUPTED")
        RunState(run, study="small", fence=1).end(ending.state, ending.exit_code, ending.message)
        told = read_status(run)
        assert f"{told['message']}; {told['advice']}".count("continues it") == 1
        assert ending.told.endswith("; `pipeline resume` continues it")  # where no status follows


# pending, lost


def test_a_run_that_nobody_ever_started_says_how_to_start_it(run: RunDirectory) -> None:
    write_pending(run, study="small")
    told = read_status(run)
    assert told["state"] == "PENDING"
    assert "`pipeline resume small-1` starts it" in told["advice"]
    assert list(follow_events(run, follow=True)) == []


def test_a_run_is_pending_while_its_coordinator_starts(run: RunDirectory, sleeper: subprocess.Popen[bytes]) -> None:
    write_pending(run, study="small", coordinator=name_process(sleeper.pid))
    told = read_status(run)
    assert told["state"] == "PENDING"
    assert "advice" not in told


def test_a_run_whose_coordinator_died_before_it_began_is_lost(run: RunDirectory, ended: Process) -> None:
    write_pending(run, study="small", coordinator=ended)
    told = read_status(run)
    assert told["state"] == "LOST"
    assert "pipeline resume small-1" in told["advice"]
    assert str(run.log) in told["advice"]
    assert list(follow_events(run, follow=True)) == []  # and following it ends


def test_a_coordinator_on_another_machine_has_some_minutes_to_begin(run: RunDirectory) -> None:
    write_pending(run, study="small", coordinator=replace(this_process(), host="far-away"))
    assert read_status(run)["state"] == "PENDING"
    os.utime(run.state, (1, 1))
    assert read_status(run)["state"] == "LOST"


def test_a_coordinator_that_has_the_lease_and_wrote_no_state_yet_is_pending(run: RunDirectory, ended: Process) -> None:
    write_pending(run, study="small", coordinator=ended)
    with hold_lease(run.root):
        assert read_status(run)["state"] == "PENDING"


def test_a_run_that_says_it_runs_and_that_nobody_runs_is_lost(tmp_path: Path) -> None:
    run = make_run(tmp_path, "small-1", state="RUNNING")
    assert read_status(run)["state"] == "LOST"
    with hold_lease(run.root):
        assert read_status(run)["state"] == "RUNNING"


# cancel


def test_a_run_that_is_not_running_has_nothing_to_cancel(run: RunDirectory, ended: Process) -> None:
    assert "is not running" in cancel_run(run)
    write_pending(run, study="small")
    assert "is not running" in cancel_run(run)
    write_pending(run, study="small", coordinator=ended)
    assert "is not running" in cancel_run(run)
    assert not run.cancel.exists()


def test_a_run_that_has_not_begun_finds_the_request_when_it_does(run: RunDirectory, sleeper: subprocess.Popen[bytes]) -> None:
    write_pending(run, study="small", coordinator=name_process(sleeper.pid))
    assert "has not started" in cancel_run(run)
    assert run.cancel.exists()
    assert sleeper.poll() is None  # it has not learnt yet to end well on a signal


def test_a_coordinator_is_hurried_by_a_signal_only_once_it_runs(run: RunDirectory) -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        with hold_lease(run.root) as lease:
            write_pending(run, study="small")
            assert "was asked to stop" in cancel_run(run)
            assert run.cancel.exists()
            assert heard == []
            RunState(run, study="small", fence=lease.fence).write(at_once=True)
            cancel_run(run)
            assert heard == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


# resumed at once


@pytest.mark.parametrize("stopping", ["ended", "draining", "asked"])
def test_a_coordinator_that_is_about_to_end_is_waited_for(run: RunDirectory, stopping: str) -> None:
    def hold() -> None:
        with hold_lease(run.root) as lease:
            state = RunState(run, study="small", fence=lease.fence)
            if stopping == "ended":
                state.end("CANCELLED", 75, "cancelled")
            else:
                state.facts["state"] = "DRAINING" if stopping == "draining" else "RUNNING"
                state.write(at_once=True)
            if stopping == "asked":
                run.cancel.touch()
            held.set()
            let_go.wait(30)

    held, let_go = threading.Event(), threading.Event()
    coordinator = threading.Thread(target=hold)
    coordinator.start()
    try:
        assert held.wait(30)
        threading.Timer(0.3, let_go.set).start()
        await_end(run, seconds=30)
        refuse_if_held(run.root)
    finally:
        let_go.set()
        coordinator.join()


def test_nobody_waits_for_a_run_that_goes_on_nor_for_one_that_does_not_end(run: RunDirectory) -> None:
    RunState(run, study="small", fence=1).end("CANCELLED", 75, "cancelled")
    with hold_lease(run.root, above=1) as lease:
        assert lease.fence == 2
        for state in ("CANCELLED", "RUNNING"):  # of the attempt before; of this one
            if state == "RUNNING":
                RunState(run, study="small", fence=2).write(at_once=True)
            start = time.monotonic()
            await_end(run, seconds=30)
            assert time.monotonic() - start < 15
        RunState(run, study="small", fence=2).end("CANCELLED", 75, "cancelled")
        start = time.monotonic()
        await_end(run, seconds=0.2)
        assert time.monotonic() - start >= 0.2
        holder = read_holder(run.root)
        assert holder is not None
        assert holder.in_force


# follow, find


@pytest.mark.parametrize(
    ("program", "exit_code"), [("import os; os.kill(os.getpid(), 9)", 75), ("", 70), ("raise SystemExit(74)", 74)]
)
def test_waiting_for_a_coordinator_that_dies_has_an_exit_code_of_the_table(run: RunDirectory, program: str, exit_code: int) -> None:
    process = subprocess.Popen([sys.executable, "-c", program])
    told = follow_run(run, process.pid, lambda state: None)
    process.returncode = 0  # collected by the call above
    assert (told["state"], told["exit_code"]) == ("LOST", exit_code)


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "no/such/run"])
def test_a_name_that_can_be_no_run_is_not_found(tmp_path: Path, run: RunDirectory, name: str) -> None:
    with pytest.raises(RunNotFound, match="P501"):
        find_run(tmp_path, name)


# without workers


def test_a_run_without_workers_says_since_when(run: RunDirectory) -> None:
    state = RunState(run, study="small", fence=1)
    state.facts["engine"] = {"engine": "dask", "workers": 0, "no_workers_since": "2026-11-22T23:41:05Z"}
    state.write(at_once=True)
    with hold_lease(run.root):
        told = read_status(run)
    assert format_line(told) == "small-1  running  no workers since 2026-11-22T23:41:05Z"
    assert "wait in the queue, or were cancelled" in told["advice"]


def test_a_run_of_whose_jobs_some_are_refused_says_in_which_words(run: RunDirectory) -> None:
    state = RunState(run, study="small", fence=1)
    state.facts["engine"] = {"engine": "dask", "workers": 3, "refused": "sbatch: error: QOSMaxSubmitJobPerUserLimit"}
    state.write(at_once=True)
    with hold_lease(run.root):
        assert "QOSMaxSubmitJobPerUserLimit" in read_status(run)["advice"]
