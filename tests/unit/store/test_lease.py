"""A run has one writer at a time, whatever happens to the one before."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.errors import RunLocked
from pipeline.store import lease as leases
from pipeline.store.lease import hold_lease, read_holder
from pipeline.store.ledger import Ledger, last_fence
from pipeline.store.process import Process

HOLD = """
import sys, time
from pipeline.store.lease import hold_lease
with hold_lease(sys.argv[1], heartbeat_seconds=0.1) as lease:
    print(lease.fence, flush=True)
    time.sleep(60)
"""

RACE = """
import sys, time
from pipeline.errors import RunLocked
from pipeline.store.lease import hold_lease
won, end = [], time.time() + 2.5  # from here: a busy machine may need as long to import
while time.time() < end:
    try:
        with hold_lease(sys.argv[1]) as lease:
            lease.check()
            with open(sys.argv[1] + "/inside", "x"): pass
            won.append(lease.fence)
            time.sleep(0.002)
            import os; os.unlink(sys.argv[1] + "/inside")
    except RunLocked:
        time.sleep(0.001)
print(*won)
"""


def start_holder(run: Path) -> tuple[subprocess.Popen[str], int]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(run)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def end(process: subprocess.Popen[str], number: int = signal.SIGKILL) -> None:
    process.send_signal(number)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def test_a_second_writer_is_refused_and_told_who_holds_the_run(tmp_path: Path) -> None:
    process, _ = start_holder(tmp_path)
    try:
        with pytest.raises(RunLocked) as raised, hold_lease(tmp_path):
            pass
    finally:
        end(process)
    problem = raised.value.problems[0]
    assert problem.code == "P801"
    assert raised.value.exit_code == 74
    assert f"process {process.pid} on {os.uname().nodename} since 20" in problem.message


def test_the_lease_of_a_killed_process_is_taken_over_at_once(tmp_path: Path) -> None:
    process, fence = start_holder(tmp_path)
    process.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # dead, not yet collected
    with hold_lease(tmp_path) as lease:
        assert lease.fence == fence + 1
    end(process)


def test_a_suspended_process_keeps_its_lease(tmp_path: Path) -> None:
    process, _ = start_holder(tmp_path)
    process.send_signal(signal.SIGSTOP)
    try:
        os.utime(tmp_path / "lease.1", (1, 1))
        with pytest.raises(RunLocked), hold_lease(tmp_path, stale_seconds=0.01):
            pass
    finally:
        end(process)


def test_fences_rise_and_are_never_given_twice(tmp_path: Path) -> None:
    fences = []
    for _ in range(3):
        with hold_lease(tmp_path) as lease:
            fences.append(lease.fence)
    assert fences == [1, 2, 3]
    assert os.listdir(tmp_path) == ["lease.3"]


def test_a_lease_is_given_back_when_the_block_fails(tmp_path: Path) -> None:
    def fail() -> None:
        with hold_lease(tmp_path):
            inside = read_holder(tmp_path)
            assert inside is not None
            assert inside.in_force
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    holder = read_holder(tmp_path)
    assert holder is not None
    assert holder.released
    assert not holder.in_force


def make_foreign(run: Path, age_seconds: float) -> None:
    holder = leases.Holder(4, Process("far-away", "other-machine", 7, "1"), "2026-01-01T00:00:00+00:00", released=False)
    (run / "lease.4").write_text(json.dumps(leases._content(holder)))
    os.utime(run / "lease.4", (time.time() - age_seconds,) * 2)


def test_on_another_machine_the_heartbeat_decides(tmp_path: Path) -> None:
    make_foreign(tmp_path, 30)
    with pytest.raises(RunLocked, match="process 7 on far-away since 2026-01-01"), hold_lease(tmp_path):
        pass
    make_foreign(tmp_path, 90)
    with hold_lease(tmp_path) as lease:
        assert lease.fence == 5


def test_the_heart_beats(tmp_path: Path) -> None:
    with hold_lease(tmp_path, heartbeat_seconds=0.02):
        os.utime(tmp_path / "lease.1", (1, 1))
        deadline = time.monotonic() + 5
        while os.stat(tmp_path / "lease.1").st_mtime < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert os.stat(tmp_path / "lease.1").st_mtime > 2


def test_a_holder_that_was_outnumbered_learns_it_and_harms_nobody(tmp_path: Path) -> None:
    with hold_lease(tmp_path) as lease:
        lease.check()
        make_foreign(tmp_path, 0)
        with pytest.raises(RunLocked, match=r"P802.*process 7 on far-away"):
            lease.check()
    holder = read_holder(tmp_path)
    assert holder is not None
    assert (holder.fence, holder.in_force) == (4, True)


def test_processes_that_race_are_never_inside_together(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RACE, str(tmp_path)]
    racers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = [racer.communicate(timeout=30)[0] for racer in racers]
    # "inside" is made exclusively: two inside together would fail.
    assert [racer.returncode for racer in racers] == [0, 0, 0]
    fences = [int(fence) for output in outputs for fence in output.split()]
    assert len(fences) == len(set(fences)) > 10


def test_nobody_has_held_a_new_run(tmp_path: Path) -> None:
    assert read_holder(tmp_path) is None
    assert read_holder(tmp_path / "none") is None


DAMAGED = [b"", b"{", b"[]", b"null", b'{"fence": 1}', b"\xff\xfe\x00", b'{"process": 3, "since": "", "released": false}']


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_lease_is_taken_over_once_its_heart_has_not_beaten_for_a_minute(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "lease.7").write_bytes(content)
    with pytest.raises(RunLocked, match=r"P801.*damaged") as raised, hold_lease(tmp_path):
        pass
    assert "remove" not in str(raised.value.problems[0].help)  # a process may live that this would make one of two
    os.utime(tmp_path / "lease.7", (time.time() - 61,) * 2)
    with hold_lease(tmp_path) as lease:
        assert lease.fence == 8


def test_a_process_whose_lease_file_is_damaged_keeps_it_while_its_heart_beats(tmp_path: Path) -> None:
    with hold_lease(tmp_path, heartbeat_seconds=0.02) as lease:
        (tmp_path / "lease.1").write_bytes(b"?")
        os.utime(tmp_path / "lease.1", (1, 1))
        deadline = time.monotonic() + 5
        while os.stat(tmp_path / "lease.1").st_mtime < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        with pytest.raises(RunLocked, match="P801"), hold_lease(tmp_path):
            pass
        lease.check()


@pytest.mark.parametrize("again", [False, True])
def test_a_holder_whose_lease_was_removed_learns_it(tmp_path: Path, again: bool) -> None:
    with hold_lease(tmp_path) as lease:
        content = (tmp_path / "lease.1").read_bytes()
        (tmp_path / "lease.1").unlink()
        if again:
            (tmp_path / "lease.1").write_bytes(content)
        with pytest.raises(RunLocked, match=r"P802.*lease\.1, was removed or replaced"):
            lease.check()
    assert (tmp_path / "lease.1").exists() == again  # and what is another's now is not marked as given back
    assert not again or b"true" not in (tmp_path / "lease.1").read_bytes()


def test_no_number_is_given_twice_although_leases_were_removed(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", fence=41) as ledger:
        ledger.append({"event": "started", "note": '"fence":99}'})
    with hold_lease(tmp_path, above=last_fence(tmp_path / "ledger.jsonl")) as lease:
        assert lease.fence == 42
    (tmp_path / "ledger.jsonl").write_bytes(b"\xff" + (tmp_path / "ledger.jsonl").read_bytes()[:-9])
    assert last_fence(tmp_path / "ledger.jsonl") == 41
    assert last_fence(tmp_path / "none") == 0


def test_files_that_are_called_nearly_like_leases_are_none(tmp_path: Path) -> None:
    for name in ("lease.007", "lease.x", "lease.3.tmp", "lease.٣"):
        (tmp_path / name).touch()
    assert read_holder(tmp_path) is None


@pytest.mark.parametrize("odd", ["link", "pipe", "folder"])
def test_what_is_called_a_lease_and_is_no_file_hinders_nobody_for_long(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "lease.7"
    {"link": lambda: path.symlink_to("nowhere"), "pipe": lambda: os.mkfifo(path), "folder": path.mkdir}[odd]()
    holder = read_holder(tmp_path)
    assert holder is not None
    assert (holder.fence, holder.process, holder.in_force) == (7, None, True)
    os.utime(path, (1, 1), follow_symlinks=False)
    with hold_lease(tmp_path) as lease:
        assert lease.fence == 8


def test_a_number_that_others_have_passed_meanwhile_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look and the link somebody took a later number: the lower one must hold nothing."""
    link = leases._link

    def outrun(folder: Path, holder: leases.Holder) -> int | None:
        if holder.fence == 1:
            handle = link(folder, replace(holder, fence=5))
            assert handle is not None
            os.close(handle)
        return link(folder, holder)

    monkeypatch.setattr(leases, "_link", outrun)
    with pytest.raises(RunLocked, match="P801"), hold_lease(tmp_path):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lease.5"]


def test_a_beat_that_fails_is_not_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beats: list[int] = []

    def utime(handle: int) -> None:
        beats.append(handle)
        if len(beats) == 1:
            raise OSError("the network is away")

    monkeypatch.setattr(leases.os, "utime", utime)
    with hold_lease(tmp_path, heartbeat_seconds=0.01):
        deadline = time.monotonic() + 5
        while len(beats) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
    assert len(beats) >= 3
