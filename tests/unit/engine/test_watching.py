"""Programs that watch a run: the schema of events, a watched status, time and memory of tasks, and a file for Prometheus."""

from __future__ import annotations

import ast
import json
import re
import stat
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from support.studies import run_cli, write_scores, write_study

import pipeline.engine
from pipeline.engine.watching import watch
from pipeline.engine.watching.events import EVENTS, SCHEMA_FILE, events_schema, schema_text
from pipeline.engine.watching.state import RunState
from pipeline.engine.watching.watch import watch_status
from pipeline.engine.watching.work import STATES, format_metrics
from pipeline.plan.task import Failure
from pipeline.record.manifest import failure_entry
from pipeline.store.lease import hold_lease
from pipeline.store.ledger import Ledger
from pipeline.store.runs import RunDirectory

ENGINE = Path(pipeline.engine.__file__).parent


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("watched")
    write_scores(folder / "scores.csv", ["a", "b"])
    study = write_study(
        folder / "study.yaml",
        metrics=["mean"],
        analyses=["thresholds"],
        resampling={"replicates": 2000, "keep_replicates": 1000, "test_sizes": ["full"]},
        test_sets={"news": {"format": "scores", "outputs": "scores.csv"}},
    )
    done = run_cli("run", study, "--serial", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def test_the_published_schema_is_that_of_the_code() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), "regenerate it: python -m pipeline.engine.watching.events"


def test_every_event_that_is_written_is_in_the_schema_and_none_is_left_over() -> None:
    calls = [
        node
        for path in ENGINE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "event"
    ]
    written = {ast.literal_eval(call.args[0]): {str(key.arg) for key in call.keywords} for call in calls}
    assert {kind: set(event.keys) for kind, event in EVENTS.items()} == written


def test_what_a_run_writes_is_valid_and_what_lacks_a_key_is_not(finished: Path, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the extra `test`")
    validator = jsonschema.Draft202012Validator(events_schema())
    validator.check_schema(validator.schema)
    state = RunState(RunDirectory(tmp_path), study="s", fence=1)
    state.event("failed", "why", label="a task", attempt=1, traceback="")
    state.event("something of a later version", "text", more=1)
    lines = (finished / "events.jsonl").read_text().splitlines() + (tmp_path / "events.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    assert {event["event"] for event in events} >= {"started", "ended", "failed"}
    assert [error.message for event in events for error in validator.iter_errors(event)] == []
    for event in events[:-1]:
        for key in set(event) - {"label"}:
            assert list(validator.iter_errors({k: v for k, v in event.items() if k != key})), (event["event"], key)


def test_status_tells_what_tasks_took(finished: Path) -> None:
    alone = run_cli("status", finished, "--tasks")
    assert (alone.returncode, "--tasks goes with --json" in alone.stderr) == (2, True)
    facts = json.loads(run_cli("status", finished, "--json", "--tasks").stdout)
    assert [(task["stage"], task["state"], task["attempts"]) for task in facts["tasks"]] == [
        ("extract", "done", 1),
        ("extract", "done", 1),
        ("resample", "done", 1),
        ("collect", "done", 1),
        ("report", "done", 1),
    ]
    assert all(task["seconds"] > 0 and task["peak_memory_bytes"] > 10**7 for task in facts["tasks"])
    extract = facts["work"]["extract"]
    assert (extract["done"], extract["retries"]) == (2, 0)
    assert extract["seconds"] == pytest.approx(sum(t["seconds"] for t in facts["tasks"] if t["stage"] == "extract"), abs=1e-4)
    assert "tasks" not in json.loads(run_cli("status", finished, "--json").stdout)


def test_retries_failures_and_what_others_did_are_told_apart(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "r")
    run.root.mkdir()
    run.plan.write_text("{}")
    receipt = {"kind": "train", "label": "l", "file": "a", "checksum": "c", "seconds": 2.0, "worker": "w", "covers": {}}
    with Ledger(run.ledger) as ledger:
        ledger.append({"event": "started"})
        ledger.append(
            {"event": "done", "receipt": {**receipt, "key": "1", "attempts": 3, "peak_memory_bytes": 7, "cpu_seconds": 1.5}}
        )
        ledger.append({"event": "done", "receipt": {**receipt, "key": "2", "seconds": 4.0}})
        ledger.append({"event": "reused", "receipt": {**receipt, "key": "3", "seconds": 1000.0}})
        ledger.append(failure_entry(Failure("4", "other", 4, (), "", attempts=2, seconds=1.0)))
    facts = json.loads(run_cli("status", run.root, "--json", "--tasks").stdout)
    assert facts["work"] == {
        "train": {
            "done": 2,
            "reused": 1,
            "retried": 1,
            "retries": 2,
            "seconds": 6.0,
            "cpu_seconds": 1.5,
            "median_seconds": 3.0,
            "longest_seconds": 4.0,
            "peak_memory_bytes": 7,
        }
    }
    assert [(task["label"], task["attempts"]) for task in facts["tasks"] if task["state"] == "failed"] == [("other", 2)]
    run.ledger.write_bytes(b"damaged\n" * 3)
    assert json.loads(run_cli("status", run.root, "--json").stdout)["work"] == {}


def test_a_watch_ends_with_the_run_and_shows_each_state_once(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "r")
    run.root.mkdir()
    run.plan.write_text("{}")
    seen: list[dict[str, Any]] = []
    with hold_lease(run.root) as lease:
        state = RunState(run, study="s", fence=lease.fence)
        state.write(at_once=True)
        watcher = threading.Thread(target=lambda: seen.extend(watch_status(run, 0.05)))
        watcher.start()
        time.sleep(0.3)
        assert watcher.is_alive()
        state.end("COMPLETED", 0, "")
    watcher.join(20)
    assert not watcher.is_alive()
    states = [facts["state"] for facts in seen]
    assert (states[0], states[-1]) == ("RUNNING", "COMPLETED")


def test_a_run_that_ends_between_two_looks_is_shown_as_it_ended(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, real = RunDirectory(finished), watch.read_status
    looks = iter(["RUNNING"])
    monkeypatch.setattr(watch, "read_status", lambda run: {**real(run), "state": next(looks, "COMPLETED")})
    assert [facts["state"] for facts in watch_status(run, 0.1)] == ["RUNNING", "COMPLETED"]


def test_a_finished_run_is_watched_for_one_look_a_line_each_with_json(finished: Path) -> None:
    told = run_cli("status", finished, "--watch", "--json")
    assert (told.returncode, len(told.stdout.splitlines())) == (0, 1)
    assert json.loads(told.stdout)["state"] == "COMPLETED"
    assert run_cli("status", finished, "--watch").stdout == run_cli("status", finished).stdout


SAMPLE = re.compile(r'^(pipeline_[a-z_]+)\{([a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,|(?=\})))*\} -?[0-9.e+-]+$')


def test_the_file_for_prometheus_has_the_state_and_can_be_read_by_its_exporter(finished: Path, tmp_path: Path) -> None:
    told = run_cli("status", finished, "--prometheus", tmp_path / "run.prom")
    assert told.returncode == 0, told.stderr
    text = (tmp_path / "run.prom").read_text()
    assert stat.S_IMODE((tmp_path / "run.prom").stat().st_mode) == 0o644
    lines = text.splitlines()
    assert [line for line in lines if not line.startswith("#") and not SAMPLE.match(line)] == []
    run = f'run="{finished.name}",study="small"'
    assert f'pipeline_run_state{{{run},state="COMPLETED"}} 1' in lines
    assert f'pipeline_run_state{{{run},state="FAILED"}} 0' in lines
    assert f'pipeline_tasks_done{{{run},stage="extract"}} 2' in lines
    named = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    assert {line.partition("{")[0] for line in lines if not line.startswith("#")} <= named


def test_names_that_mean_something_to_prometheus_are_escaped() -> None:
    text = format_metrics({"run": 'a"b\\c\nd', "state": "RUNNING"})
    assert 'run="a\\"b\\\\c\\nd"' in text
    assert all(line.startswith("#") or SAMPLE.match(line) for line in text.splitlines())


def test_every_state_has_a_series() -> None:
    sources = "".join(
        (ENGINE / name).read_text() for name in ("watching/ending.py", "watching/watch.py", "watching/state.py", "coordinator.py")
    )
    words = set(re.findall(r'"([A-Z]{4,})"', sources)) - {"STAGES"}
    assert {"RUNNING", "INTERRUPTED", "LOST"} <= words, "nothing is tested"
    assert words - set(STATES) == set()
