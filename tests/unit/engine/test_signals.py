"""A stop that is asked is heard within seconds, whatever this process does, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support.studies import text_study

from pipeline import api
from pipeline.cli.main import main
from pipeline.cli.options import cli
from pipeline.engine import serial, signals
from pipeline.engine.launch import Launch, execute, prepare
from pipeline.engine.signals import StopAsked, StopRequest, listen
from pipeline.errors import ClusterError, Interrupted
from pipeline.store.runs import RunDirectory
from pipeline.study.load import load_study
from pipeline.tasks.run import run_task

SERIAL = Launch("serial")
MUCH_TOO_LONG = 120.0


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "_AGAIN_SECONDS", 0.1)
    monkeypatch.setattr(signals, "GRACE_SECONDS", 0.3)
    monkeypatch.setattr(signals, "_LOOK_SECONDS", 0.1)


@pytest.fixture
def heard() -> Iterator[StopRequest]:
    stop = StopRequest()
    with listen(stop):
        yield stop


def send(*numbers: signal.Signals, after: float = 0.05) -> None:
    for place, number in enumerate(numbers):
        threading.Timer(after * (place + 1), os.kill, (os.getpid(), number)).start()


def last(seconds: float = MUCH_TOO_LONG) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_has_no_grace_ends_at_once(heard: StopRequest, number: signal.Signals) -> None:
    send(number)
    with pytest.raises(StopAsked), heard.interrupting():
        last()


def test_what_has_a_grace_may_end(heard: StopRequest) -> None:
    send(signal.SIGTERM)
    with heard.interrupting(MUCH_TOO_LONG):
        last(0.3)
    assert heard.wanted
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0  # nothing rings later


def test_what_does_not_end_within_its_grace_is_given_up(heard: StopRequest) -> None:
    send(signal.SIGTERM)
    with pytest.raises(StopAsked), heard.interrupting(0.2):
        last()


def test_asked_twice_it_is_given_up_without_grace(heard: StopRequest) -> None:
    send(signal.SIGTERM, signal.SIGTERM)
    with pytest.raises(StopAsked), heard.interrupting(MUCH_TOO_LONG):
        last()


def test_an_exception_that_foreign_code_swallows_comes_again(heard: StopRequest) -> None:
    swallowed = []

    def compile_for_ever() -> None:
        try:
            last()
        except BaseException as error:  # as a callback from C does
            swallowed.append(type(error))

    def work() -> None:
        with heard.interrupting():
            compile_for_ever()
            last()

    send(signal.SIGTERM)
    with pytest.raises(StopAsked):
        work()
    assert swallowed == [StopAsked]


def test_what_reads_others_results_has_no_grace_and_what_makes_them_has() -> None:
    assert signals.grace_of(["collect", "report"]) == signals.grace_of([]) == 0.0
    assert signals.grace_of(["collect", "resample"]) == signals.grace_of(["extract"]) == signals.GRACE_SECONDS > 0


def test_outside_of_a_block_a_signal_interrupts_nothing_and_handlers_are_given_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)]
    stop = StopRequest()
    with listen(stop):
        os.kill(os.getpid(), signal.SIGTERM)
        last(0.2)
    assert stop.wanted
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)] == before


def test_a_terminal_that_closes_is_heard_but_not_under_nohup() -> None:
    for handler, wanted in ((signal.SIG_IGN, False), (signal.SIG_DFL, True)):
        before = signal.signal(signal.SIGHUP, handler)
        try:
            stop = StopRequest()
            with listen(stop):
                os.kill(os.getpid(), signal.SIGHUP)
                last(0.1)
            assert stop.wanted == wanted
            assert signal.getsignal(signal.SIGHUP) == handler
        finally:
            signal.signal(signal.SIGHUP, before)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return prepare(load_study(text_study(tmp_path, ["a", "b"]), []), tmp_path / "runs", SERIAL)


@pytest.mark.parametrize("kind", ["extract", "resample", "collect", "report"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 75), (signal.SIGINT, 130)])
def test_every_stage_of_a_serial_run_hears(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, kind: str, number: signal.Signals, code: int
) -> None:
    """A task that lasts for ever is given up; it was waited for, and SIGTERM came to nothing for minutes."""
    begun = []

    def last_for_ever(task, runs):  # type: ignore[no-untyped-def]
        if task.kind != kind:
            return run_task(task, runs)
        begun.append(task.kind)
        send(number)
        last()
        return None

    monkeypatch.setattr(serial, "run_task", last_for_ever)
    ending = execute(run, SERIAL)
    assert (ending.state, ending.exit_code) == ("INTERRUPTED", code)
    assert begun == [kind]


def test_a_cancel_by_file_alone_is_heard_amid_a_task(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody on another machine, and no other user, can send this process a signal."""
    begun = []

    def last_for_ever(task, runs):  # type: ignore[no-untyped-def]
        begun.append(task.kind)
        threading.Timer(0.05, run.cancel.touch).start()
        last(20)
        return run_task(task, runs)

    monkeypatch.setattr(serial, "run_task", last_for_ever)
    asked = time.monotonic()
    assert execute(run, SERIAL).state == "CANCELLED"
    assert time.monotonic() - asked < 15
    assert len(begun) == 1
    assert not run.cancel.exists()


def test_a_signal_that_comes_with_the_file_is_one_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two would be urgent, and leave no grace."""
    monkeypatch.setattr(signals, "_LOOK_SECONDS", 1.0)
    stop = StopRequest(tmp_path / "cancel")
    threading.Timer(0.5, (tmp_path / "cancel").touch).start()
    send(signal.SIGTERM, after=1.5)  # the file is found meanwhile
    with listen(stop), stop.interrupting(MUCH_TOO_LONG):
        last(2.5)
    assert stop.cancelled
    assert stop.wanted
    assert not stop.urgent


def test_a_run_that_was_given_up_goes_on(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(serial, "run_task", lambda task, runs: (send(signal.SIGTERM), last()))
        assert execute(run, SERIAL).state == "INTERRUPTED"
    assert execute(run, SERIAL).state == "COMPLETED"


def test_planning_hears(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.engine.coordinator.plan_study", lambda *args, **options: (send(signal.SIGTERM), last()))
    assert execute(run, SERIAL).exit_code == 75


def test_a_comparison_that_is_stopped_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(serial, "run_task", lambda task, runs: (send(signal.SIGTERM), last()))
    (tmp_path / "scores.csv").write_text("item,a,b\n1,0,1\n2,1,1\n3,1,0\n")
    with pytest.raises(Interrupted):
        api.compare([str(tmp_path / "scores.csv")], replicates=1000)
    assert [path.name for path in tmp_path.iterdir()] == ["scores.csv"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_still_importing_can_be_asked_to_stop(monkeypatch: pytest.MonkeyPatch, number: signal.Signals) -> None:
    monkeypatch.setattr(cli, "main", lambda **options: (send(number), last()))
    before = signal.signal(number, signal.SIG_DFL)  # who starts the tests by nohup has them ignore SIGHUP
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        signal.signal(number, before)
    assert ended.value.code == 75


@pytest.mark.slow
@pytest.mark.alone
def test_a_comparison_of_a_leaderboard_ends_at_sigterm(tmp_path: Path) -> None:
    """It is asked amid imports, reading, replicates or tails; what is compiled is compiled already."""
    rng = np.random.default_rng(3)
    scores = np.round(rng.random((805, 52)), 4)
    rows = [f"i{i}," + ",".join(map(str, row)) for i, row in enumerate(scores.tolist())]
    (tmp_path / "board.csv").write_text("\n".join(["item," + ",".join(f"s{i}" for i in range(52)), *rows]))
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    for seconds in (2.0, 4.0, 7.0):
        command = [sys.executable, "-m", "pipeline", "compare", str(tmp_path / "board.csv"), "-q"]
        process = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(scratch)}, stdout=subprocess.DEVNULL)
        time.sleep(seconds)
        process.send_signal(signal.SIGTERM)
        assert process.wait(15) == 75  # within 5 s where nobody else takes the processor
        assert list(scratch.iterdir()) == []


def test_an_alarm_of_the_caller_rings_within_the_block_and_after_it() -> None:
    """A limit of time that a test or a user sets holds for what they call, too."""
    rung: list[str] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append("theirs"))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with listen(StopRequest()):
            last(0.4)
        assert rung == ["theirs"]
        signal.setitimer(signal.ITIMER_REAL, 0.6)
        stop = StopRequest()
        send(signal.SIGTERM)
        with listen(stop), pytest.raises(StopAsked), stop.interrupting():
            last()
        assert rung == ["theirs"]  # the exception came again meanwhile, by an alarm of ours
        last(0.8)
        assert rung == ["theirs", "theirs"]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[Path]:
    """A profile of a scheduler that lets anybody in and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        profile = tmp_path / "silent.yaml"
        profile.write_text(f"name: silent\naddress: tcp://127.0.0.1:{listening.getsockname()[1]}\n")
        yield profile


def test_a_stop_is_heard_while_a_scheduler_is_silent(tmp_path: Path, silent: Path) -> None:
    run = prepare(load_study(text_study(tmp_path, ["a", "b"])), tmp_path / "runs", SERIAL)
    send(signal.SIGTERM, after=2.0)
    begun = time.monotonic()
    assert execute(run, Launch(str(silent))).state == "INTERRUPTED"
    assert time.monotonic() - begun < 7
    assert run.read_state()["state"] == "INTERRUPTED"


def test_a_scheduler_that_stays_silent_is_no_scheduler(tmp_path: Path, silent: Path) -> None:
    silent.write_text(f"{silent.read_text()}config: {{distributed.comm.timeouts.connect: 0.5s}}\n")  # in place of our 30 s
    run = prepare(load_study(text_study(tmp_path, ["a", "b"])), tmp_path / "runs", SERIAL)
    begun = time.monotonic()
    with pytest.raises(ClusterError, match="P601"):
        execute(run, Launch(str(silent)))
    assert time.monotonic() - begun < 20
