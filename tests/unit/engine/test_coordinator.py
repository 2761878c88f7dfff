"""The coordinator on a scripted executor: what is retried, what is given up, what is written, how it ends."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from support.studies import ledger, text_study, times_done

from pipeline.engine.coordinator import coordinate
from pipeline.engine.executor import Outcome
from pipeline.engine.launch import Launch, prepare
from pipeline.engine.watching.ending import Ending
from pipeline.engine.watching.events import EVENTS, events_schema
from pipeline.engine.watching.state import RunState
from pipeline.errors import Problem, RunLocked, StoreError
from pipeline.plan.inventory import BriefInventory
from pipeline.plan.task import Failure, Task
from pipeline.store.files import make_directory, scratch_directory, temporary_name
from pipeline.store.lease import hold_lease
from pipeline.store.runs import RunDirectory
from pipeline.study.load import load_study
from pipeline.tasks.run import run_task

Script = Callable[[Task, int], Failure | None]


class Scripted:
    """Runs tasks really, but where the script has a failure for this try of a task."""

    def __init__(self, runs: Path, script: Script, width: int = 1) -> None:
        self.runs, self.script, self.width = runs, script, width
        self.tries: dict[str, int] = {}
        self.names: list[tuple[str, str]] = []
        self.running: list[Task] = []

    def free(self) -> int:
        return self.width - len(self.running)

    def submit(self, task: Task, attempt: str) -> None:
        self.names.append((task.key, attempt))
        self.running.append(task)

    def wait(self, seconds: float) -> Sequence[Outcome]:
        task = self.running.pop(0)
        self.tries[task.label] = self.tries.get(task.label, 0) + 1
        failure = self.script(task, self.tries[task.label])
        return [Outcome(task, failure or run_task(task, str(self.runs)))]

    def describe(self) -> dict[str, object]:
        return {"engine": "scripted"}

    def close(self) -> None:
        pass


def failure(task: Task, code: int = 4, problem: str = "P410", *, lost: bool = False) -> Failure:
    return Failure(task.key, task.label, code, (Problem(problem, "on purpose", where=task.label),), worker_lost=lost)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    study = text_study(tmp_path / "study", ("a", "b", "c", "d"), resampling={"replicates": 2000, "keep_replicates": 0})
    return prepare(load_study(study), tmp_path / "runs", Launch("serial"))


def drive(run: RunDirectory, script: Script, width: int = 1) -> tuple[Ending, Scripted]:
    executor = Scripted(run.root.parent, script, width)

    @contextmanager
    def opened(stop) -> Iterator[Scripted]:
        yield executor

    return coordinate(run, opened), executor


def test_a_lost_worker_is_tried_again_under_another_name(run: RunDirectory) -> None:
    ending, executor = drive(run, lambda task, n: failure(task, lost=True) if task.kind == "resample" and n <= 3 else None)
    assert ending == Ending("COMPLETED", 0, "")
    assert len(executor.names) == len(set(executor.names))
    assert executor.tries["resample news <2024> & co/文 [full] cells 0-0"] == 4


@pytest.mark.parametrize("code", [0, 3])
def test_what_a_worker_left_that_was_ended_amid_a_task_goes_with_the_run(
    run: RunDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(make_directory(tmp_path / "scratch")))
    with scratch_directory("train") as mine:  # this process has swept: it will not do so again by itself
        gone = subprocess.Popen(["true"])
        gone.wait()
        training = mine.with_name(mine.name.replace(f"-{os.getpid()}-", f"-{gone.pid}-"))
        name = temporary_name()
        cells = make_directory(run.store.root / "cells" / "d5")
        cell, part = (place / name.replace(f"-{os.getpid()}-", f"-{gone.pid}-") for place in (cells, run.root))
        living = cells / name

        def script(task: Task, n: int) -> Failure | None:
            training.mkdir(exist_ok=True)
            for file in (cell, part, living):
                file.write_bytes(b"half a cell")
            return failure(task, code, "P204") if code else None

        drive(run, script)
        assert mine.is_dir()
        assert living.is_file()
        assert [left for left in (training, cell, part) if left.exists()] == []


def test_a_task_that_kills_its_workers_is_quarantined(run: RunDirectory) -> None:
    ending, executor = drive(run, lambda task, n: failure(task, lost=True) if "of b on" in task.label else None)
    assert executor.tries["bleu of b on news <2024> & co/文"] == 6
    assert (ending.state, ending.exit_code) == ("INCOMPLETE", 4)
    assert "b" in ending.message
    assert [e["label"] for e in ledger(run.root) if e["event"] == "failed"] == ["bleu of b on news <2024> & co/文"]


def test_our_own_fault_is_tried_once_more_and_bad_data_is_not(run: RunDirectory) -> None:
    _, executor = drive(run, lambda task, n: failure(task, 70, "P401") if "of b on" in task.label else None)
    assert executor.tries["bleu of b on news <2024> & co/文"] == 2
    _, executor = drive(run, lambda task, n: failure(task, 3, "P204") if "of b on" in task.label else None)
    assert executor.tries["bleu of b on news <2024> & co/文"] == 1


def test_failures_in_flight_together_do_not_disturb_each_other(run: RunDirectory) -> None:
    def script(task: Task, n: int) -> Failure | None:
        if "of a on" in task.label:
            return failure(task, 3, "P204")  # for good: the plan is made anew while b is out
        return failure(task, 70, "P401") if "of b on" in task.label and n == 1 else None

    ending, executor = drive(run, script, width=4)
    assert (ending.state, ending.exit_code) == ("INCOMPLETE", 4)
    assert executor.tries["bleu of b on news <2024> & co/文"] == 2
    assert set(times_done(run.root).values()) == {1}


def test_a_collect_that_fails_ends_the_run_with_its_own_reason(run: RunDirectory) -> None:
    ending, _ = drive(run, lambda task, n: failure(task, 4, "P403") if task.kind == "collect" else None)
    assert (ending.state, ending.exit_code) == ("FAILED", 4)
    assert ending.problems[0].code == "P403"
    again, _ = drive(run, lambda task, n: None)
    assert again.state == "COMPLETED"


def test_a_failed_system_is_tried_again_by_the_next_attempt_only(run: RunDirectory) -> None:
    first, _ = drive(run, lambda task, n: failure(task, 3, "P204") if "of b on" in task.label else None)
    assert first.exit_code == 4
    second, executor = drive(run, lambda task, n: None)
    assert second == Ending("COMPLETED", 0, "")
    assert "bleu of a on news <2024> & co/文" not in executor.tries
    assert executor.tries["bleu of b on news <2024> & co/文"] == 1


def test_a_full_disk_stops_the_run_at_once(run: RunDirectory) -> None:
    with pytest.raises(StoreError):
        drive(run, lambda task, n: failure(task, 73, "P701") if task.kind == "resample" else None)
    assert run.read_state()["exit_code"] == 73


def test_a_damaged_result_that_is_met_is_computed_again(run: RunDirectory) -> None:
    def script(task: Task, n: int) -> Failure | None:
        if task.kind == "resample" and n == 1:
            victim = next(
                e["receipt"]["file"] for e in ledger(run.root) if e["event"] == "done" and e["receipt"]["kind"] == "extract"
            )
            (run.store.root / victim).unlink()
            return failure(task, 73, "P704")
        return None

    ending, _ = drive(run, script)
    assert ending == Ending("COMPLETED", 0, "")
    assert sorted(times_done(run.root).values())[-1] == 2  # the one that was lost
    assert [e["event"] for e in ledger(run.root)].count("dropped") == 1


def test_a_first_signal_drains_and_a_second_abandons(run: RunDirectory) -> None:
    def script(task: Task, n: int) -> Failure | None:
        if task.kind == "extract":
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGTERM)
        return None

    ending, executor = drive(run, script, width=3)
    assert (ending.state, ending.exit_code) == ("INTERRUPTED", 75)
    assert len(executor.tries) == 1  # the others were in flight and were left
    assert sum(times_done(run.root).values()) == 1


def test_all_events_of_a_run_that_met_much_have_the_keys_of_the_schema_and_no_others(run: RunDirectory) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the extra `test`")

    def struck(task: Task, n: int) -> Failure | None:
        if "of b on" in task.label and n == 1:
            return failure(task, lost=True)
        if task.kind == "resample":
            run.cancel.touch()
            return failure(task, 70, "P401")
        return None

    stopped, _ = drive(run, struck)
    assert stopped.state == "CANCELLED"
    lost = next(e["receipt"]["file"] for e in ledger(run.root) if e["event"] == "done")
    (run.store.root / lost).unlink()
    with open(run.ledger, "ab") as file:
        file.write(b'{"event":"done",')
    resumed, _ = drive(run, lambda task, n: None)
    assert resumed.state == "COMPLETED"
    events = [json.loads(line) for line in run.events.read_bytes().splitlines()]
    assert {event["event"] for event in events} == {*EVENTS} - {"handed over"}
    schema = events_schema()
    valid = jsonschema.Draft202012Validator(schema)
    for event in events:
        assert [error.message for error in valid.iter_errors(event)] == []
        assert set(event) == {*schema["required"], *EVENTS[event["event"]].keys}, event


def test_a_task_that_has_ended_is_not_kept_nor_is_the_key_that_a_worker_sends_back(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[weakref.ref[Task]] = []
    kept: list[int] = []
    sent: dict[str, str] = {}
    done: list[str] = []
    add = BriefInventory.add

    class Remote(Scripted):
        def wait(self, seconds: float) -> Sequence[Outcome]:
            kept.append(sum(one() is not None for one in ended))
            (outcome,) = super().wait(seconds)
            ended.append(weakref.ref(outcome.task))
            sent[outcome.task.key] = outcome.task.key
            return [replace(outcome, result=pickle.loads(pickle.dumps(outcome.result)))]

    @contextmanager
    def opened(stop: Callable[[], bool]) -> Iterator[Remote]:
        yield Remote(run.root.parent, lambda task, n: None)

    monkeypatch.setattr(BriefInventory, "add", lambda own, receipt: done.append(receipt.key) or add(own, receipt))
    assert coordinate(run, opened).state == "COMPLETED"
    assert len(kept) >= 7
    assert max(kept) <= 1  # that whose outcome was taken last
    assert len(done) == len(kept)
    assert all(key is sent[key] for key in done)


def test_nothing_is_written_once_another_process_has_taken_over(run: RunDirectory) -> None:
    def script(task: Task, n: int) -> Failure | None:
        if task.kind == "resample":
            (run.root / "lease.999").write_bytes((run.root / "lease.1").read_bytes())
        return None

    with pytest.raises(RunLocked):
        drive(run, script)
    assert not [e for e in ledger(run.root) if e["event"] == "done" and e["receipt"]["kind"] == "resample"]


def test_of_two_coordinators_one_stops_although_the_lease_was_removed_and_nothing_is_done_twice(run: RunDirectory) -> None:
    def script(task: Task, n: int) -> Failure | None:
        if task.kind == "resample" and not removed:
            removed.append((run.root / "lease.1").unlink())
            assert drive(run, lambda task, n: None)[0].state == "COMPLETED"  # a second one, while the first is at work
        return None

    removed: list[None] = []
    with pytest.raises(RunLocked, match="P802"):
        drive(run, script)
    assert set(times_done(run.root).values()) == {1}
    assert {entry["fence"] for entry in ledger(run.root)} == {1, 2}
    assert run.read_state()["state"] == "COMPLETED"  # which the first does not write over


def test_a_run_that_is_held_is_not_driven(run: RunDirectory) -> None:
    with hold_lease(run.root), pytest.raises(RunLocked, match=str(os.getpid())):
        drive(run, lambda task, n: None)


def test_a_run_is_driven_as_soon_as_one_that_has_ended_lets_go(run: RunDirectory) -> None:
    def hold() -> None:
        with hold_lease(run.root) as lease:
            RunState(run, study="small", fence=lease.fence).end("CANCELLED", 75, "cancelled")
            held.set()
            time.sleep(0.3)

    held = threading.Event()
    before = threading.Thread(target=hold)
    before.start()
    assert held.wait(30)
    assert drive(run, lambda task, n: None)[0].state == "COMPLETED"
    before.join()
    assert run.read_state()["attempt"] == 2


def test_a_stop_does_not_wait_for_tasks_that_no_worker_does(run: RunDirectory) -> None:
    class Idle(Scripted):
        def wait(self, seconds: float) -> Sequence[Outcome]:
            assert not run.cancel.exists(), "nothing can end any more"
            run.cancel.touch()
            return []

        def describe(self) -> dict[str, object]:
            return {"engine": "scripted", "workers": 0}

    @contextmanager
    def opened(stop: Callable[[], bool]) -> Iterator[Idle]:
        yield Idle(run.root.parent, lambda task, n: None)

    assert coordinate(run, opened).state == "CANCELLED"


def test_a_coordinator_that_lost_its_lease_neither_ends_the_state_nor_answers_what_others_are_asked(run: RunDirectory) -> None:
    class Robbed(Scripted):
        def wait(self, seconds: float) -> Sequence[Outcome]:
            if not taken:
                (run.root / "lease.1").unlink()
                taken.append(others.enter_context(hold_lease(run.root, above=5)).fence)
                run.state.write_text(json.dumps({"run": run.id, "state": "RUNNING", "by": "the other"}))
                run.cancel.touch()
            return []

    @contextmanager
    def opened(stop: Callable[[], bool]) -> Iterator[Robbed]:
        yield Robbed(run.root.parent, lambda task, n: None)

    taken: list[int] = []
    with ExitStack() as others:
        with pytest.raises(RunLocked, match="P802"):
            coordinate(run, opened)
        assert taken == [6]
        assert json.loads(run.state.read_text())["by"] == "the other"
        assert run.cancel.exists()


def test_the_state_goes_on_while_a_task_runs_in_this_process(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.engine.watching.heartbeat.BEAT_SECONDS", 0.02)
    monkeypatch.setattr("pipeline.engine.watching.state.WRITE_SECONDS", 0.0)
    shown: list[float] = []
    here = threading.get_ident()

    class Busy(Scripted):
        """Is as long at its first task as it takes to be heard of twice."""

        def wait(self, seconds: float) -> Sequence[Outcome]:
            written = set()
            end = time.monotonic() + 20
            # What is written counts tenths of a second: three beats of .02 s can all be written as one.
            while not self.tries and (len(shown) < 3 or len(written) < 2) and time.monotonic() < end:
                time.sleep(0.01)
                written.add(run.read_state()["elapsed_seconds"])
            if not self.tries:
                assert len(written) > 1
            return super().wait(seconds)

    @contextmanager
    def opened(stop) -> Iterator[Scripted]:
        yield Busy(run.root.parent, lambda task, number: None)

    def note(state: RunState) -> None:
        if threading.get_ident() != here and len(shown) < 3:
            shown.append(state.facts["eta_seconds"])

    assert coordinate(run, opened, progress=note).state == "COMPLETED"
    assert len(shown) == 3
    assert shown == sorted(shown, reverse=True)
