"""A worker that writes the report holds nothing of the blocks that it counted before."""

from __future__ import annotations

from pathlib import Path

from support.studies import write_scores, write_study

from pipeline.api import run
from pipeline.tasks import report, resample


def test_statistics_of_blocks_are_let_go_before_the_report(tmp_path: Path, monkeypatch) -> None:
    held: list[int] = []
    whole = report.report

    def count_held(task, runs):
        held.append(resample.unit_statistics.cache_info().currsize + resample._observed.cache_info().currsize)
        return whole(task, runs)

    monkeypatch.setattr(report, "report", count_held)
    write_scores(tmp_path / "scores.csv", ["a", "b", "c"])
    test_sets = {"bench": {"format": "scores", "outputs": "scores.csv"}}
    study = write_study(tmp_path / "study.yaml", test_sets=test_sets, metrics=["mean"], resampling={"replicates": 100})
    run(study, runs=tmp_path / "runs", serial=True)
    assert held == [0]
