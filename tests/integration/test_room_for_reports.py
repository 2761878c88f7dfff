"""A worker that writes the report holds nothing of the blocks that it counted before."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.studies import write_scores, write_study

from pipeline.api import run
from pipeline.plan.task import Task
from pipeline.tasks import report, resample
from pipeline.tasks.run import run_task


def count_held() -> list[int]:
    return [kept.cache_info().currsize for kept in (resample.unit_statistics, resample._observed, resample._metric)]


def test_statistics_of_blocks_are_let_go_before_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before: list[int] = []
    during: list[int] = []
    write_report = report.report

    def run_and_look(task: Task, runs: str):
        if task.kind == "report":
            before.extend(count_held())
        return run_task(task, runs)

    def report_and_look(task: Task, runs: Path):
        during.extend(count_held())
        return write_report(task, runs)

    monkeypatch.setattr("pipeline.engine.serial.run_task", run_and_look)
    monkeypatch.setattr(report, "report", report_and_look)
    write_scores(tmp_path / "scores.csv", ["a", "b", "c"])
    test_sets = {"bench": {"format": "scores", "outputs": "scores.csv"}}
    study = write_study(tmp_path / "study.yaml", test_sets=test_sets, metrics=["mean"], resampling={"replicates": 100})
    run(study, runs=tmp_path / "runs", serial=True)
    assert len(before) == 3
    assert all(before)  # or there is nothing to let go of
    assert during == [0, 0, 0]
