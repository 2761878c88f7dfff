"""Whether a process is still there, and is the same one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import psutil
import pytest

from pipeline.errors import RunLocked
from pipeline.store.lease import hold_lease
from pipeline.store.process import name_process, process_is_gone, this_process


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """Another process, which is ended at last."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait()


def field_22(pid: int) -> str:
    """When a process started as the kernel has it, which is what leases have said from the first version on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def test_a_later_process_with_the_same_number_is_not_the_holder() -> None:
    me = this_process()
    assert process_is_gone(me) is False
    assert process_is_gone(replace(me, started="1")) is True
    assert process_is_gone(replace(me, machine="another start of this machine")) is None


def test_a_killed_process_is_gone_before_and_after_it_is_collected(sleeper: subprocess.Popen[bytes]) -> None:
    named = name_process(sleeper.pid)
    assert process_is_gone(named) is False
    sleeper.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert process_is_gone(named) is True
    sleeper.wait()
    assert process_is_gone(named) is True


@pytest.mark.skipif(not psutil.LINUX, reason="earlier versions told the start of a process on Linux only")
def test_a_process_has_the_start_that_earlier_versions_wrote(sleeper: subprocess.Popen[bytes]) -> None:
    assert this_process().started == field_22(os.getpid())
    assert name_process(sleeper.pid).started == field_22(sleeper.pid)


@pytest.mark.skipif(not psutil.LINUX, reason="earlier versions told the start of a process on Linux only")
@pytest.mark.parametrize(("alive", "started"), [(True, field_22), (True, lambda pid: ""), (False, field_22)])
def test_the_lease_of_an_earlier_version_is_its_process_s(tmp_path: Path, sleeper, alive, started) -> None:
    process = replace(name_process(sleeper.pid), started=started(sleeper.pid))
    written = {"fence": 3, "process": asdict(process), "since": "2026-01-01T00:00:00+00:00", "released": False}
    (tmp_path / "lease.3").write_text(json.dumps(written))
    os.utime(tmp_path / "lease.3", (1, 1))
    if alive:
        with pytest.raises(RunLocked, match="P801"), hold_lease(tmp_path):
            pass
    else:
        sleeper.kill()
        sleeper.wait()
        with hold_lease(tmp_path) as lease:
            assert lease.fence == 4


class Clock:
    """The clock of the machine, as /proc tells it: setting it moves the time at which the machine is said to have started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / str(os.getpid())).symlink_to(f"/proc/{os.getpid()}")
        self.set_by(0)

    def set_by(self, seconds: int) -> None:
        lines = [line.split() for line in Path("/proc/stat").read_text().splitlines()]
        moved = [[name, str(int(rest[0]) + seconds)] if name == "btime" else [name, *rest] for name, *rest in lines]
        (self.folder / "stat").write_text("".join(" ".join(line) + "\n" for line in moved))


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that can be set, of a machine that has this process alone."""
    if not psutil.LINUX:
        pytest.skip("elsewhere no start is told")
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(tmp_path))
    return Clock(tmp_path)


def test_a_clock_that_is_set_makes_no_process_another(clock: Clock) -> None:
    me, started = this_process(), psutil.boot_time()
    clock.set_by(7200)
    assert psutil.boot_time() == started + 7200
    assert this_process() == me
    assert process_is_gone(me) is False


def test_a_clock_that_is_set_while_it_is_read_is_read_again(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    me, real, told = this_process(), psutil.boot_time, []

    def boot_time() -> float:
        told.append(real())
        clock.set_by(7200)
        return told[-1]

    monkeypatch.setattr(psutil, "boot_time", boot_time)
    assert this_process() == me
    assert told[1] == told[0] + 7200


@pytest.mark.parametrize(
    ("asked", "error"),
    [("Process", psutil.AccessDenied()), ("boot_time", FileNotFoundError()), ("boot_time", RuntimeError("no btime"))],
)
def test_a_process_that_may_not_be_looked_at_is_not_taken_for_gone(monkeypatch, asked: str, error: Exception) -> None:
    if not psutil.LINUX:
        pytest.skip("elsewhere its number is enough")

    def refuse(*arguments: object) -> None:
        raise error

    me = this_process()
    monkeypatch.setattr(psutil, asked, refuse)
    assert process_is_gone(me) is None
    assert process_is_gone(replace(me, started="")) is None
    assert this_process() == replace(me, started="")


def test_where_no_start_is_told_the_number_decides(monkeypatch: pytest.MonkeyPatch, sleeper: subprocess.Popen[bytes]) -> None:
    monkeypatch.setattr(psutil, "LINUX", False)
    named = name_process(sleeper.pid)
    assert named.started == ""
    assert process_is_gone(named) is False
    sleeper.kill()
    sleeper.wait()
    assert process_is_gone(named) is True


@pytest.mark.parametrize("pid", [-1, 0, 2**40])
def test_a_number_that_no_process_has_is_not_taken_for_an_error(pid: int) -> None:
    """A lease that says so is damaged; `list` ended with a traceback for all runs beside it."""
    here = name_process(os.getpid())
    assert process_is_gone(replace(here, pid=pid)) in (True, None)
