"""The cluster: awaited no longer than wanted, and dead workers told apart from those that cannot run a task."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from dask.utils import key_split
from support.studies import ledger, run_cli, text_study, times_done

from pipeline.compiled.notice import hearing_of_compilation
from pipeline.engine import dask as engine
from pipeline.engine.clusters.patience import LOOK_SECONDS
from pipeline.engine.dask import DaskExecutor, open_executor
from pipeline.errors import ClusterError
from pipeline.plan.task import Failure, ReportSpec, Task
from pipeline.study.profile import ClusterProfile

pytestmark = pytest.mark.alone  # holds what is done to the time it takes

NOBODY = ClusterProfile(name="nobody", cluster="distributed.LocalCluster", options={"n_workers": 0}, start_seconds=60)
TASK = Task("report", "0" * 32, "report", ReportSpec("run"))


def opened(profile: ClusterProfile, folder: Path, stop: Callable[[], bool] = lambda: False) -> AbstractContextManager[DaskExecutor]:
    return open_executor(profile, folder, prefix="test", workers=None, logs=folder / "logs", stop=stop)


def after(looks: int) -> Callable[[], bool]:
    """Ask for a stop after so many looks."""
    left = iter(range(looks))
    return lambda: next(left, None) is None


def test_a_stop_is_heard_while_a_first_worker_is_awaited(tmp_path: Path) -> None:
    start = time.monotonic()
    with opened(NOBODY, tmp_path, after(2)) as executor:
        assert executor.describe()["workers"] == 0
        assert list(executor.wait(0.1)) == []
    assert time.monotonic() - start < 20


def test_names_of_tasks_are_not_remembered(tmp_path: Path) -> None:
    with opened(NOBODY, tmp_path) as executor:
        for number in range(1000):
            key_split(f"test-report-{number}")
        time.sleep(LOOK_SECONDS)
        executor.free()
        assert key_split.cache_info().currsize < 1000


def test_a_cluster_without_workers_is_an_error_after_the_time_of_its_profile(tmp_path: Path) -> None:
    def await_one() -> None:
        with opened(NOBODY.model_copy(update={"start_seconds": 0.1}), tmp_path) as executor:
            executor.submit(TASK, "1.0")
            executor.wait(10)

    with pytest.raises(ClusterError, match="P602: no worker came within 0 s"):
        await_one()


def test_a_scheduler_file_that_nobody_writes_is_awaited_no_longer_than_asked(tmp_path: Path) -> None:
    profile = ClusterProfile(name="file", scheduler_file=str(tmp_path / "scheduler.json"), start_seconds=0.2)
    with pytest.raises(ClusterError, match=r"scheduler\.json"), opened(profile, tmp_path):
        pass
    patient = profile.model_copy(update={"start_seconds": 60})
    with pytest.raises(ClusterError), opened(patient, tmp_path, after(1)):
        pass


@pytest.fixture
def run_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Failure]]:
    """Yield what hands a worker process a function with this body in place of the task, and gives back the outcome."""
    monkeypatch.syspath_prepend(tmp_path)

    def run(body: str) -> Failure:
        (tmp_path / "replaced.py").write_text(f"import os, time\ndef run_task(task, runs):\n    {body}\n")
        import replaced

        monkeypatch.setattr(engine, "run_task", replaced.run_task)
        once = {"distributed.scheduler.allowed-failures": 0}
        profile = ClusterProfile(name="one", cluster="distributed.LocalCluster", options={"n_workers": 1}, config=once)
        with opened(profile, tmp_path) as executor:
            assert executor.describe()["workers"] == 1
            executor.submit(TASK, "1.0")
            (outcome,) = executor.wait(60)
        assert outcome.task == TASK
        assert isinstance(outcome.result, Failure)
        return outcome.result

    yield run
    sys.modules.pop("replaced", None)


def test_a_task_whose_worker_dies_is_lost(run_with: Callable[[str], Failure]) -> None:
    failure = run_with("os._exit(3)")
    assert failure.worker_lost
    assert failure.problems[0].code == "P402"


def test_a_receipt_that_its_worker_never_hands_over_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "silent.py").write_text("def run_task(task, runs):\n    return task.key\n")
    import silent

    monkeypatch.setattr(engine, "run_task", silent.run_task)
    monkeypatch.setattr(engine, "HAND_OVER_SECONDS", 0.5)
    with opened(ClusterProfile(name="one", cluster="distributed.LocalCluster", options={"n_workers": 1}), tmp_path) as executor:
        executor.submit(TASK, "1.0")
        assert executor._has_ready(60)
        (worker,) = executor._cluster.workers.values()
        os.kill(worker.pid, signal.SIGSTOP)
        start = time.monotonic()
        (outcome,) = executor.wait(60)
        assert time.monotonic() - start < 10
        os.kill(worker.pid, signal.SIGCONT)
    assert isinstance(outcome.result, Failure)
    assert outcome.result.worker_lost
    sys.modules.pop("silent")


def test_a_task_that_its_worker_cannot_run_is_no_lost_worker_and_leaves_the_terminal_alone(
    run_with: Callable[[str], Failure], capfd: pytest.CaptureFixture[str]
) -> None:
    failure = run_with("import a_package_of_another_version")
    assert not failure.worker_lost
    assert failure.exit_code == 70
    assert "could not run it: ModuleNotFoundError" in failure.reason
    assert "a_package_of_another_version" in failure.traceback
    assert capfd.readouterr().err == ""


def test_of_tasks_that_end_together_each_has_its_own_outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    lines = ["import time", "def run_task(task, runs):", "    time.sleep(0.3 if task.key == '0' else 0)"]
    lines += ["    if task.key == '2': raise OSError('this one alone')", "    return task.key, task.needs"]
    (tmp_path / "together.py").write_text("\n".join(lines) + "\n")
    import together

    monkeypatch.setattr(engine, "run_task", together.run_task)
    profile = ClusterProfile(name="one", cluster="distributed.LocalCluster", options={"n_workers": 1, "threads_per_worker": 1})
    tasks = [Task("report", str(i), "report", ReportSpec("run"), needs=("a", "b")) for i in range(4)]
    with opened(profile, tmp_path) as executor:
        for task in tasks:
            executor.submit(task, "1.0")
        time.sleep(3)  # so that all four are found ended in one look
        results = {outcome.task.key: outcome for outcome in executor.wait(60)}
    assert [results[task.key].task for task in tasks] == tasks  # the coordinator gets back what it gave
    assert isinstance(results["2"].result, Failure)
    assert "this one alone" in results["2"].result.reason
    # A worker is not told what its task needed.
    assert [results[key].result for key in ("0", "1", "3")] == [(key, ()) for key in ("0", "1", "3")]
    sys.modules.pop("together")


def test_ctrl_c_in_a_terminal_reaches_the_coordinator_alone_and_loses_nothing(tmp_path: Path) -> None:
    study, runs = text_study(tmp_path / "s", ("a", "b")), tmp_path / "runs"
    options = ["--workers", "2", "--block-cells", "1", "-b", "1200000"]
    command = [sys.executable, "-m", "pipeline", "run", str(study), "--runs", str(runs), *options]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 90
    while not any(
        e["event"] == "done" and e["receipt"]["kind"] == "resample" for path in runs.glob("small-*") for e in ledger(path)
    ):
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    asked = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to everybody in the foreground
    printed, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert time.monotonic() - asked < 15
    assert "Traceback" not in errors
    assert "KeyboardInterrupt" not in errors
    directory = Path(printed.strip())
    assert json.loads((directory / "state.json").read_text())["state"] == "INTERRUPTED"
    events = [json.loads(line) for line in (directory / "events.jsonl").read_text().splitlines()]
    assert not [event for event in events if event["event"] == "failed"]
    resumed = run_cli("resume", directory, "--serial")
    assert resumed.returncode == 0, resumed.stderr
    assert set(times_done(directory).values()) == {1}


def test_a_task_that_is_given_up_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its worker was asked to end, waited four seconds for the task, and complained of it."""
    monkeypatch.syspath_prepend(tmp_path)
    begun = tmp_path / "begun"
    (tmp_path / "lasting.py").write_text(
        f"import os, pathlib, time\ndef run_task(task, runs):\n"
        f"    pathlib.Path({str(begun)!r}).write_text(str(os.getpid()))\n    time.sleep(600)\n"
    )
    import lasting

    monkeypatch.setattr(engine, "run_task", lasting.run_task)
    profile = ClusterProfile(name="one", cluster="distributed.LocalCluster", options={"n_workers": 1})
    with opened(profile, tmp_path) as executor:
        executor.submit(TASK, "1.0")
        while not begun.exists() or not begun.read_text():
            assert list(executor.wait(0.1)) == []
        left = time.monotonic()
    assert time.monotonic() - left < 3
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text()), 0)
    sys.modules.pop("lasting")


@pytest.mark.parametrize("processes", [True, False])
def test_what_a_worker_compiles_is_heard_by_whoever_listens_in_the_coordinator(
    processes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker in the process of the coordinator took what it had told for news, and told it hundreds of times a second."""
    monkeypatch.syspath_prepend(tmp_path)
    lines = ["import time", "from pipeline.compiled.notice import tell_of_compilation", "def run_task(task, runs):"]
    lines += ["    if task.key != '1': tell_of_compilation()", "    time.sleep(0.2)", "    return task.key"]
    (tmp_path / "compiling.py").write_text("\n".join(lines) + "\n")
    import compiling

    monkeypatch.setattr(engine, "run_task", compiling.run_task)
    heard: list[int] = []
    # A worker that shares the process with who listens is heard twice.
    options, expected = {"n_workers": 1, "processes": processes, "threads_per_worker": 1}, 2 if processes else 4
    profile = ClusterProfile(name="one", cluster="distributed.LocalCluster", options=options)
    with opened(profile, tmp_path) as executor, hearing_of_compilation(lambda: heard.append(1)):
        for number in range(3):
            executor.submit(Task("report", str(number), "report", ReportSpec("run")), "1.0")
        ended = 0
        while ended < 3:
            ended += len(executor.wait(60))
        deadline = time.monotonic() + 10  # an event may come after the result
        while len(heard) < expected and time.monotonic() < deadline:
            time.sleep(0.05)
    assert len(heard) == expected
    sys.modules.pop("compiling")
