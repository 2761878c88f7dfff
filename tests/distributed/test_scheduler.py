"""A study on a scheduler that runs already: joined by its file, used, and left running."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.studies import files_of, run_cli, text_study, times_done

from pipeline.engine import dask as engine
from pipeline.engine.executor import Outcome
from pipeline.errors import ClusterError
from pipeline.plan.task import ReportSpec, Task
from pipeline.study.profile import ClusterProfile

DASK = (sys.executable, "-m", "dask")
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A scheduler and one worker on loopback, announced in ``scheduler.json``."""
    announced = tmp_path / "scheduler.json"
    common = ("--host", "127.0.0.1", "--scheduler-file", str(announced), "--no-dashboard")
    server = subprocess.Popen([*DASK, "scheduler", "--port", "0", *common], **QUIET)
    worker = subprocess.Popen(
        [*DASK, "worker", "--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path), *common], **QUIET
    )
    try:
        deadline = time.monotonic() + 60
        while not announced.exists():
            assert time.monotonic() < deadline
            assert server.poll() is None
            time.sleep(0.1)
        yield server
    finally:
        for process in (worker, server):
            process.terminate()
            process.wait(30)


def test_a_running_scheduler_is_used_and_left_running(scheduler: subprocess.Popen[bytes], tmp_path: Path) -> None:
    profile = tmp_path / "scheduler.yaml"
    profile.write_text("scheduler_file: scheduler.json\nstart_seconds: 60\n")
    study = text_study(tmp_path / "s", ("a", "b", "c"))
    ran = run_cli("submit", study, "--cluster", profile, "--wait", "--runs", tmp_path / "runs", own_process=True)
    assert ran.returncode == 0, ran.stderr
    directory = Path(ran.stdout.strip())
    assert set(times_done(directory).values()) == {1}
    assert scheduler.poll() is None
    serial = run_cli("run", study, "--serial", "--runs", tmp_path / "serial")
    assert files_of(directory / "cubes.zarr") == files_of(Path(serial.stdout.strip()) / "cubes.zarr")


def test_tasks_in_flight_did_not_fail_when_the_scheduler_is_killed(
    scheduler: subprocess.Popen[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is lost is the scheduler: told as failures, each of its tasks would lose an attempt."""

    def sleep(task: Task, runs: str) -> None:
        import time

        time.sleep(4)

    sleep.__module__ = "__main__"  # so it goes to the worker whole, and not by the name of a module that it does not have
    monkeypatch.setattr(engine, "run_task", sleep)
    profile = ClusterProfile(name="killed", scheduler_file=str(tmp_path / "scheduler.json"), start_seconds=60)
    told: list[Outcome] = []

    def lose_it() -> None:
        with engine.open_executor(profile, tmp_path, prefix="t", workers=None, logs=tmp_path / "logs") as executor:
            for key in "0123":
                executor.submit(Task("report", key, "report", ReportSpec("run")), "1.0")
            threading.Timer(0.5, scheduler.kill).start()
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline and not told:
                told.extend(executor.wait(5))

    with pytest.raises(ClusterError, match="P603"):
        lose_it()
    assert told == []


def test_a_scheduler_that_is_not_there_exits_with_69_and_can_be_resumed(tmp_path: Path) -> None:
    profile = tmp_path / "nobody.yaml"
    profile.write_text("address: tcp://127.0.0.1:9\nconfig: {distributed.comm.timeouts.connect: 1s}\n")
    study = text_study(tmp_path / "s", ("a", "b"))
    ran = run_cli("submit", study, "--cluster", profile, "--wait", "--runs", tmp_path / "runs", own_process=True)
    assert ran.returncode == 69, ran.stderr
    assert "tcp://127.0.0.1:9" in ran.stderr
    resumed = run_cli("resume", ran.stdout.strip(), "--serial")
    assert resumed.returncode == 0, resumed.stderr
