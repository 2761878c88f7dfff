"""Commands held to their limits: each failure told apart, and nothing left running."""

from __future__ import annotations

import os
import pickle
import shlex
import signal
import subprocess
import sys
import textwrap
import threading
import time

import psutil
import pytest

from pipeline.trainers._outcome import CommandFailed, kept_log
from pipeline.trainers.process import Limits, run_command

pytestmark = pytest.mark.alone  # holds what is done to the time it takes

PYTHON = sys.executable
QUICK = Limits(minutes=0.5, grace_seconds=0.3)


@pytest.fixture
def run(tmp_path):
    """Run a command in a folder of its own."""

    def run(command, limits=QUICK, **environment):
        (tmp_path / "work").mkdir(exist_ok=True)
        (tmp_path / "logs").mkdir(exist_ok=True)
        places = {"cwd": tmp_path / "work", "watch": tmp_path, "logs": tmp_path / "logs"}
        return run_command(command, title="fit", environment=environment, limits=limits, **places)

    return run


def failure(run, command, **options):
    with pytest.raises(CommandFailed) as caught:
        run(command, **options)
    return caught.value.problems[0], caught.value


def is_running(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_for(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def pids(path, count):
    """Wait until a file has so many process numbers, and give them."""
    wait_for(lambda: path.exists() and len(path.read_text().split()) == count)
    return [int(pid) for pid in path.read_text().split()]


def test_a_command_that_ends_well_tells_its_time_its_memory_and_what_it_printed(run):
    done = run(f"echo out; echo err >&2; {PYTHON} -S -c 'x = b\"a\" * 50_000_000'")
    assert done.log == "--- fit: standard output ---\nout\n\n--- fit: standard error ---\nerr\n"
    assert 50e6 < done.memory_bytes < 150e6
    assert 0 < done.seconds < 30
    assert done.notes == ()


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        ("exit 3", "P411", "the fit command ended with exit code 3"),
        ("kill -SEGV $$", "P411", "the fit command was ended by SIGSEGV"),
        ("sh -c 'kill -KILL $$'; exit $?", "P411", "ended by SIGKILL"),
        ("no-such-program --train", "P417", "a program in it is not there"),
        ("/etc/passwd", "P417", "a program in it may not be executed"),
        ("echo 'write: No space left on device' >&2; exit 1", "P414", "is full"),
        ("false\necho the first line failed", "P411", "exit code 1"),
    ],
)
def test_each_failure_has_its_code(run, command, code, says):
    problem, _ = failure(run, command)
    assert problem.code == code
    assert says in problem.message


def test_a_command_that_hangs_is_killed_at_its_limit_though_it_will_not_listen(run, tmp_path):
    started = time.monotonic()
    deaf = f"trap '' TERM; echo $$ >> {tmp_path}/pids; sleep 60; sleep 60"
    command = f"sh -c {shlex.quote(deaf)} & {deaf}"
    problem, _ = failure(run, command, limits=Limits(minutes=1 / 60, grace_seconds=0.2))
    assert problem.code == "P416"
    assert "stopped after 0.0166667 minutes" in problem.message
    assert time.monotonic() - started < 45
    assert not any(map(is_running, pids(tmp_path / "pids", 2)))


def test_a_command_that_listens_has_time_to_end_by_itself(run, tmp_path):
    command = f"trap 'echo saved > {tmp_path}/saved; exit 0' TERM; sleep 60 & wait"
    assert failure(run, command, limits=Limits(minutes=1 / 60, grace_seconds=5.0))[0].code == "P416"
    assert (tmp_path / "saved").exists()


def test_memory_is_that_of_all_processes_together(run):
    hold = f"{PYTHON} -S -c 'import time; x = b\"a\" * 50_000_000; time.sleep(30)'"
    problem, _ = failure(run, f"{hold} & {hold} & {hold} & wait", limits=Limits(0.5, memory=110_000_000, grace_seconds=0.2))
    assert problem.code == "P415"
    assert "more than 110.0 MB" in problem.message


def test_memory_that_came_and_went_between_two_looks_is_seen(run):
    peak = f"{PYTHON} -S -c 'x = b\"a\" * 150_000_000; del x'"
    assert failure(run, peak, limits=Limits(0.5, memory=100_000_000))[0].code == "P415"


def test_address_space_that_is_reserved_and_not_used_counts_nothing(run):
    reserve = f"{PYTHON} -S -c 'import mmap, time; x = mmap.mmap(-1, 2_000_000_000); time.sleep(0.3)'"
    run(reserve, limits=Limits(0.5, memory=100_000_000))


def test_files_that_grow_past_the_limit_end_the_command(run):
    many = "i=0; while [ $i -lt 100000 ]; do head -c 1000000 /dev/zero > f$i; i=$((i+1)); done"
    problem, _ = failure(run, many, limits=Limits(0.5, disk=20_000_000, grace_seconds=0.2))
    assert problem.code == "P414"
    assert "may use 20.0 MB" in problem.message


def test_one_file_that_grows_past_the_limit_ends_the_command_at_once(run, tmp_path):
    problem, _ = failure(run, "head -c 100000000 /dev/zero > big", limits=Limits(0.5, disk=5_000_000, grace_seconds=0.2))
    assert problem.code == "P414"
    assert (tmp_path / "work" / "big").stat().st_size <= 5_000_000


def test_what_is_printed_without_end_is_a_file_that_grows(run):
    assert failure(run, "yes", limits=Limits(0.5, disk=5_000_000, grace_seconds=0.2))[0].code == "P414"


def test_a_disk_that_is_full_is_told_from_other_failures(run, small_disk):
    (small_disk / "work").mkdir()
    with pytest.raises(CommandFailed) as caught:
        run_command(
            "head -c 5000000 /dev/zero > model", title="fit", cwd=small_disk / "work", watch=small_disk, logs=small_disk,
            environment={}, limits=QUICK,
        )  # fmt: skip
    assert caught.value.problems[0].code == "P414"


def test_what_is_left_running_is_ended_even_in_a_session_of_its_own(run, tmp_path):
    done = run(f"setsid sh -c 'echo $$ >> {tmp_path}/pids; exec sleep 60' & sleep 60 & echo $! >> {tmp_path}/pids; sleep 0.3")
    assert not any(map(is_running, pids(tmp_path / "pids", 2)))
    assert done.notes == ("fit left 2 processes running, which were ended",)


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_leaves_nothing_behind(run, tmp_path, interrupt):
    def throw(*_):
        raise interrupt

    before = signal.signal(signal.SIGUSR1, throw)
    threading.Thread(target=lambda: (pids(tmp_path / "pids", 1), os.kill(os.getpid(), signal.SIGUSR1))).start()
    try:
        with pytest.raises(interrupt):
            run(f"echo $$ >> {tmp_path}/pids; sleep 60; :")
    finally:
        signal.signal(signal.SIGUSR1, before)
    (pid,) = pids(tmp_path / "pids", 1)
    assert not is_running(pid)


def worker_that_runs(command, tmp_path):
    """Start a process that runs a command in a thread, as a worker of a cluster does."""
    code = f"""
    import threading
    from pathlib import Path
    from pipeline.trainers.process import Limits, run_command
    here = Path({str(tmp_path)!r})
    options = dict(title="fit", cwd=here, watch=here, logs=here, environment={{}}, limits=Limits(grace_seconds=0.3))
    thread = threading.Thread(target=run_command, args=({command!r},), kwargs=options)
    thread.start()
    thread.join()
    """
    return subprocess.Popen([PYTHON, "-c", textwrap.dedent(code)], stderr=subprocess.DEVNULL)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_is_killed_takes_the_command_with_it(tmp_path, number):
    command = f"trap '' TERM; echo $$ >> {tmp_path}/pids; sh -c 'echo $$ >> {tmp_path}/pids; sleep 60; :'; :"
    worker = worker_that_runs(command, tmp_path)
    started = pids(tmp_path / "pids", 2)
    assert all(map(is_running, started))
    worker.send_signal(number)
    worker.wait()
    wait_for(lambda: not any(map(is_running, started)))


def test_a_supervisor_that_is_killed_takes_the_command_with_it_and_the_failure_says_so(run, tmp_path):
    def kill_supervisor():
        (pid,) = pids(tmp_path / "pids", 1)
        psutil.Process(pid).parent().kill()

    threading.Thread(target=kill_supervisor).start()
    problem, _ = failure(run, f"echo $$ >> {tmp_path}/pids; sleep 60; :")
    assert problem.code == "P411"
    assert "what watches over" in problem.message
    wait_for(lambda: not is_running(int((tmp_path / "pids").read_text())))


def test_a_failure_keeps_what_was_printed_and_shows_the_end_of_it(run):
    problem, error = failure(
        run, "echo first; i=0; while [ $i -lt 40 ]; do echo line $i >&2; i=$((i+1)); done; printf '\\033[31mred' >&2; exit 1"
    )
    assert "first" in error.log
    assert "line 0\n" in error.log
    assert "line 39 ⏎  [31mred" in problem.note
    assert "line 20" not in problem.note


def test_a_long_log_is_kept_by_its_beginning_and_its_end(tmp_path):
    (tmp_path / "fit.out").write_bytes(b"begin" + b"x" * 3_000_000 + b"end\xff")
    log = kept_log(tmp_path, "fit")
    assert len(log) < 600_000
    assert "begin" in log
    assert "bytes left out" in log
    assert log.endswith("end\\xff")


def test_a_failure_travels_between_processes_with_its_log(run):
    _, error = failure(run, "echo why; exit 1")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is CommandFailed
    assert again.log == error.log
    assert again.problems == error.problems


def test_the_environment_is_added_and_threads_are_one_unless_asked_for(run, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert run('echo "$OMP_NUM_THREADS $GREETING"', GREETING="it's `date`").log.splitlines()[1] == "1 it's `date`"
    assert run('echo "$OMP_NUM_THREADS"', OMP_NUM_THREADS="3").log.splitlines()[1] == "3"


def test_a_command_reads_nothing_from_the_terminal(run):
    assert "0 bytes" in run("echo $(cat | wc -c) bytes").log


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ([], "is a mapping"),
        ({"hours": 1}, "has no 'hours'"),
        ({"minutes": 0}, "above 0"),
        ({"minutes": True}, "above 0"),
        ({"minutes": float("nan")}, "above 0"),
        ({"memory": "4 gigs"}, "size such as"),
        ({"memory": True}, "size such as"),
        ({"memory": -5}, "size such as"),
        ({"memory": "1 MB"}, "at least 64.0 MB"),
        ({"disk": 0}, "at least"),
    ],
)
def test_limits_of_no_use_are_refused(option, says):
    with pytest.raises(ValueError, match=says):
        Limits.read(option)


def test_sizes_are_read_as_they_are_written():
    assert [Limits.read({"disk": size}).disk for size in ("1.5 GB", "2GiB", 10, "3 kb")] == [1_500_000_000, 2**31, 10, 3000]
