"""What blocks of a test size have in common is made once, kept while blocks of the size come, and no longer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.studies import write_scores, write_study

from pipeline.cli import cli
from pipeline.resampling.measures import Measure
from pipeline.tasks import resample, run

SIZES = [10, 20, 30, "full"]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """Every observation of a test size, and how many sizes, statistics and metrics are kept when a task starts."""
    found: list[tuple[str, Any]] = []
    observe, function = resample.observe, run._function

    def spy(measure: Measure) -> Any:
        found.append(("observed", len(measure.statistics)))
        return observe(measure)

    def start(kind: str) -> Any:
        kept = (resample._of_size, resample.unit_statistics, resample._metric)
        found.append((kind, [each.cache_info().currsize for each in kept]))
        return function(kind)

    monkeypatch.setattr(resample, "observe", spy)
    monkeypatch.setattr(run, "_function", start)
    resample.forget(statistics=True)
    return found


def test_sizes_are_observed_once_and_two_of_them_are_kept(tmp_path: Path, told: list[tuple[str, Any]]) -> None:
    write_scores(tmp_path / "scores.csv", ["a", "b"], items=40)
    path = write_study(
        tmp_path / "study.yaml",
        test_sets={"bench": {"format": "scores", "outputs": "scores.csv"}},
        metrics=["mean"],
        resampling={"replicates": 40_000, "test_sizes": SIZES, "method": "monte-carlo"},
        analyses=[],
    )
    asked = ["run", str(path), "--runs", str(tmp_path / "runs"), "--serial", "--block-cells", "1"]
    assert CliRunner().invoke(cli, asked, catch_exceptions=False).exit_code == 0
    assert [kept[0] for kind, kept in told if kind == "resample"] == [0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2]  # three blocks a size
    assert [units for kind, units in told if kind == "observed"] == [10, 20, 30, 40]
    # A cube is made of the statistics that are at hand, and a report of none of this.
    assert [(kind, kept) for kind, kept in told if kind in ("collect", "report")] == [("collect", [0, 1, 1]), ("report", [0, 0, 0])]
