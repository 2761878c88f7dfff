"""What a training takes is told before a run, for each base model that ends in time, and whatever the others do."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import psutil
import pytest
from support.hundreds import counted, hundreds
from support.studies import run_cli

from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import plan_study
from pipeline.plan.task import Task
from pipeline.study.load import load_study
from pipeline.survey.survey import survey_study
from pipeline.tasks.time_trainings import time_trainings

TESTS = Path(__file__).resolve().parents[2]
MODELS = {
    "a-slow": {"trainer": "command", "fit": ": {train}; sleep 98761", "predict": "cp {input} {output}"},
    "b-quick": counted(seconds=0.1),
    "c-broken": {"trainer": "command", "predict": ": {input} {output}; exit 5"},
    "d-command": {"trainer": "command", "predict": "sed 's#/_#/NOUN#g' {input} > {output}"},
}


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]))


def trainings(study: Path) -> list[Task]:
    loaded = load_study(study, [])
    inputs = survey_study(loaded.study, loaded.base).inputs
    return [task for task in plan_study(loaded.study, inputs, Inventory(), run="r").tasks if task.kind == "train"]


def test_a_slow_model_leaves_the_others_their_time_and_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    tasks = trainings(hundreds(tmp_path, MODELS))
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    known, unknown = time_trainings(tasks, seconds=4.0)
    left = [process for process in psutil.process_iter(["cmdline"]) if process.info["cmdline"] == ["sleep", "98761"]]
    _, left = psutil.wait_procs(left, timeout=10)
    assert not left
    assert not list(scratch.iterdir())
    assert set(known) == {"b-quick", "d-command"}
    assert all(set(by_fraction) == {"0.5"} for by_fraction in known.values())
    assert known["b-quick"]["0.5"] >= 0.1
    assert set(unknown) == {"a-slow", "c-broken"}
    assert "within 4 s" in unknown["a-slow"]
    assert "exit code 5" in unknown["c-broken"]


@pytest.mark.slow
def test_a_plan_tells_the_trainings_of_each_model(tmp_path: Path) -> None:
    study = hundreds(tmp_path, {name: MODELS[name] for name in ("b-quick", "c-broken")})
    told = run_cli("plan", study, "--runs", tmp_path / "runs")
    assert told.returncode == 0, told.stderr
    lines = {line.split(":")[0].strip(): line for line in told.stdout.splitlines()}
    assert "2 trainings, 2 open; 0." in lines["b-quick"]
    assert " s each, " in lines["b-quick"]
    assert "2 trainings, 2 open; time unknown: the predict command ended with exit code 5" in lines["c-broken"]
    assert not (tmp_path / "runs").exists()
