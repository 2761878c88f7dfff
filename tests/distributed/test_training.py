"""Systems made by training: a failed one fails alone, is reported, and is tried again when the run is resumed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.studies import ledger, run_cli, times_done, write_study

TESTS = Path(__file__).resolve().parents[1]

GOLD = {"dataset": "digits", "part": "test"}


def training_study(folder: Path, **models: str) -> Path:
    resamples = [{"method": "bootstrap", "fraction": 0.25, "replicas": 2}]
    return write_study(
        folder / "study.yaml",
        study="training",
        test_sets={"digits": {"format": "labels", "gold": GOLD}, "turned": {"format": "labels", "gold": {**GOLD, "rotate": 10.0}}},
        training={
            "data": {"dataset": "digits", "part": "train"},
            "resamples": resamples,
            "models": {name: {"trainer": "sklearn", "estimator": path} for name, path in models.items()},
        },
        metrics=["accuracy"],
        resampling={"replicates": 3000, "keep_replicates": 0, "test_sizes": [100, "full"]},
        systems={"relation": "model"},
    )


def state_of(directory: Path) -> tuple[set[str], set[str], str]:
    """Return the models that are compared, those that failed, and the state of a run."""
    report = json.loads((directory / "report" / "report.json").read_text())
    failed = {row["model"] for row in report["trainings"] if row["status"] == "failed"}
    assert all("the loss is not a number" in json.dumps(failure) for failure in report["failures"] if "problems" in failure)
    return {s["name"].split("/")[0] for s in report["systems"]}, failed, json.loads((directory / "state.json").read_text())["state"]


def test_a_failed_training_fails_alone_and_is_tried_again_by_workers_that_resume_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = {"sound": "Sound", "weak": "FailsWhenTold", "never": "Fails"}
    study = training_study(
        tmp_path, bayes="sklearn.naive_bayes.GaussianNB", **{name: f"support.estimators.{kind}" for name, kind in models.items()}
    )
    monkeypatch.setenv("FAIL_TRAINING", "1")
    ran = run_cli("run", study, "--runs", tmp_path / "runs", "--serial")
    assert ran.returncode == 4, ran.stderr
    assert "weak" in ran.stderr
    directory = Path(ran.stdout.strip())
    assert state_of(directory) == ({"sound", "bayes"}, {"weak", "never"}, "INCOMPLETE")
    before = times_done(directory)

    monkeypatch.delenv("FAIL_TRAINING")
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    # Without `--cluster` it would be resumed as it was begun.
    resumed = run_cli("resume", directory, "--cluster", "local", "--workers", 1, environment={"PYTHONPATH": path})
    assert resumed.returncode == 4, resumed.stderr
    assert state_of(directory) == ({"sound", "weak", "bayes"}, {"never"}, "INCOMPLETE")
    again = times_done(directory) - before
    kinds = [e["receipt"]["kind"] for e in ledger(directory) if e["event"] == "done" and e["receipt"]["key"] in again]
    assert kinds.count("train") == 2  # the two samples of the model that had failed
    assert set(times_done(directory).values()) == {1}


def test_a_second_study_with_the_same_models_trains_nothing(tmp_path: Path) -> None:
    study = training_study(tmp_path, bayes="sklearn.naive_bayes.GaussianNB", tree="sklearn.tree.DecisionTreeClassifier")
    first = run_cli("run", study, "--runs", tmp_path / "runs", "--serial")
    assert first.returncode == 0, first.stderr
    second = run_cli("run", study, "--runs", tmp_path / "runs", "--serial", "--set", "resampling.alpha=0.2")
    assert second.returncode == 0, second.stderr
    assert first.stdout != second.stdout
    kinds = [e["receipt"]["kind"] for e in ledger(Path(second.stdout.strip())) if e["event"] == "done"]
    assert sorted(set(kinds)) == ["collect", "report"]


def test_the_samples_of_a_training_are_reported(tmp_path: Path) -> None:
    study = training_study(tmp_path, bayes="sklearn.naive_bayes.GaussianNB", tree="sklearn.tree.DecisionTreeClassifier")
    ran = run_cli("run", study, "--runs", tmp_path / "runs", "--serial")
    trained = [
        e["receipt"]["covers"] for e in ledger(Path(ran.stdout.strip())) if e["event"] == "done" and e["receipt"]["kind"] == "train"
    ]
    assert [t["items"] for t in trained] == [226] * 4
    assert all(0.19 < t["distinct"] < 0.25 for t in trained)  # of the original: 1 − e^(−1/4) = .221
    by_replica = {(t["model"], t["distinct"]) for t in trained}
    assert len({distinct for _, distinct in by_replica}) == 2  # the same two samples for both models
