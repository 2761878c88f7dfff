"""A stop that is asked during a calibration is heard at once, and neither it nor a kill leaves a temporary folder for good."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.studies import text_study

from pipeline.engine import calibration
from pipeline.engine.coordinator import Ending
from pipeline.engine.launch import Launch, execute, prepare
from pipeline.engine.signals import StopAsked, StopRequest
from pipeline.plan.rates import Rates
from pipeline.record.manifest import Manifest, read_manifest
from pipeline.store.runs import RunDirectory
from pipeline.study.load import load_study
from pipeline.tasks import calibrate as module

pytestmark = pytest.mark.alone  # holds what is done to the time it takes

SERIAL = Launch("serial")

MUCH_TOO_LONG = 600.0


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDirectory:
    monkeypatch.setattr(calibration, "SHORT_SECONDS", 0.0)
    return prepare(load_study(text_study(tmp_path, ["a", "b", "c"]), []), tmp_path / "runs", SERIAL)


def leftovers(run: RunDirectory) -> list[Path]:
    return [path for path in run.root.parent.rglob("*") if ".tmp-" in path.name]


def asked_meanwhile(run: RunDirectory, monkeypatch: pytest.MonkeyPatch, ask: Callable[[], object]) -> tuple[Ending, list[str]]:
    """Drive a run whose calibration would last for ever, and ask it to stop once that has begun."""
    heard = []

    def last(manifest: Manifest, store: object, scratch: Path, *, check: Callable[[], None], **_: object) -> Rates:
        (scratch / "statistics").write_text("half of them")
        timer = threading.Timer(0.2, ask)
        timer.start()
        end = time.monotonic() + MUCH_TOO_LONG
        try:
            while time.monotonic() < end:
                check()
                time.sleep(0.01)
        except StopAsked:
            heard.append("stop")
            raise
        finally:
            timer.join()
        raise AssertionError("nobody was heard")

    monkeypatch.setattr(calibration, "measure_rates", last)
    return execute(run, SERIAL), heard


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 75)])
def test_a_signal_ends_a_calibration_and_leaves_nothing(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    ending, heard = asked_meanwhile(run, monkeypatch, lambda: os.kill(os.getpid(), number))
    assert (ending.state, ending.exit_code) == ("INTERRUPTED", code)
    assert heard == ["stop"]
    assert leftovers(run) == []
    assert not (run.root / "rates.json").exists()
    monkeypatch.undo()
    assert execute(run, SERIAL).state == "COMPLETED"


def test_a_cancel_ends_a_calibration_too(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    ending, heard = asked_meanwhile(run, monkeypatch, run.cancel.touch)
    assert (ending.state, heard) == ("CANCELLED", ["stop"])
    assert leftovers(run) == []


def test_a_signal_is_heard_where_nobody_asks(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    # Amid an import or a compiler: there is no check, and foreign code that catches every Exception is on the way.
    reached = []

    def compile_for_ever(*_: object, **__: object) -> Rates:
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            time.sleep(MUCH_TOO_LONG)
        except Exception:  # as foreign code does
            reached.append("caught")
        reached.append("went on")
        return Rates()

    monkeypatch.setattr(calibration, "measure_rates", compile_for_ever)
    assert execute(run, SERIAL).exit_code == 130
    assert reached == []
    assert leftovers(run) == []


def test_the_real_calibration_asks_before_every_block(run: RunDirectory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done, asked = [], []
    block = module.resample_block
    monkeypatch.setattr(module, "resample_block", lambda task, runs: done.append(block(task, runs)))

    def check() -> None:
        asked.append(len(done))
        if len(done) == 3:
            raise StopAsked

    manifest = read_manifest(run)
    with pytest.raises(StopAsked):
        calibration.measure_rates(manifest, run.store, tmp_path / "scratch", for_blocks=True, check=check)
    assert sorted(set(asked)) == [0, 1, 2, 3]
    assert len(done) == 3


def test_a_second_signal_does_not_disturb_the_clearing_up(run: RunDirectory) -> None:
    stop, raised = StopRequest(run.cancel), []
    for _ in range(2):
        try:
            with stop.interrupting():
                stop.note(signal.SIGINT)
        except StopAsked:
            raised.append("first")
            stop.note(signal.SIGINT)  # while what was begun is taken away
    assert raised == ["first", "first"]  # the second time it does not even begin
    assert stop.urgent


KILLED = """
import sys, time
from pathlib import Path
from pipeline.engine import calibration
from pipeline.store.runs import RunDirectory
from pipeline.record.manifest import read_manifest

def last(manifest, store, scratch, **_):
    (scratch / "statistics").write_text("half of them")
    print("measuring", flush=True)
    time.sleep(600)

calibration.SHORT_SECONDS, calibration.measure_rates = 0.0, last
run = RunDirectory(Path(sys.argv[1]))
calibration.settle_rates(run, read_manifest(run))
"""


def test_what_a_killed_calibration_leaves_goes_with_the_next_start(run: RunDirectory, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-c", KILLED, str(run.root)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(temporary)})
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "measuring\n"
        process.kill()
        process.wait()
    (left,) = leftovers(run)
    assert (left / "statistics").is_file()
    assert list(temporary.iterdir()) == []
    assert execute(run, SERIAL).state == "COMPLETED"
    assert leftovers(run) == []
