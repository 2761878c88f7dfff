"""What items do stands on a page where the cubes have it whole; where they do not, a report is made without."""

from __future__ import annotations

from pathlib import Path

from support.studies import write_scores, write_study

from pipeline import api
from pipeline.study.load import load_study
from pipeline.tasks.report import gather


def test_a_report_is_made_without_items_where_what_they_do_is_damaged(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", ["a", "b"])
    path = write_study(
        tmp_path / "study.yaml",
        test_sets={"bench": {"format": "scores", "outputs": "scores.csv"}},
        metrics=["mean"],
        resampling={"replicates": 99},
        analyses=[],
    )
    run = api.run(path, runs=tmp_path / "runs", serial=True)
    asked = load_study(path).study
    page = asked.model_copy(update={"report": asked.report.model_copy(update={"formats": ("html",)})})
    assert gather(run, study=asked).items == ()  # no page is asked for
    (items,) = gather(run, study=page).items
    assert sorted(items.systems) == ["a", "b"]
    (statistics,) = run.cubes.glob("*/statistics/*/statistics/c.0.0.0")
    content = statistics.read_bytes()
    statistics.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    found = gather(run, study=page)
    assert found.items == ()
    assert [*found.cubes] == ["bench"]
