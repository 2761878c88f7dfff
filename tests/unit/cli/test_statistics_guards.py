"""Choices of a study that would mislead are refused or said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.studies import ODD_NAMES, run_cli, text_study, write_scores, write_study

from pipeline.api import open_run


def scores_study(folder: Path, metric: object, missing: str) -> Path:
    table = write_scores(folder / "scores.csv", ["a", "b", "c"])
    rows = table.read_text().split("\n")
    table.write_text("\n".join(rows))
    test_sets = {"bench": {"format": "scores", "outputs": "scores.csv", "missing": missing}}
    return write_study(folder / "study.yaml", test_sets=test_sets, metrics=[metric])


@pytest.mark.parametrize(
    "metric",
    [{"name": "mean", "higher_is_better": False}, {"name": "ratio", "numerator": "score", "denominator": "score"}],
    ids=str,
)
def test_a_zero_for_a_missing_item_is_refused_where_zero_is_no_bad_score(tmp_path: Path, metric: object) -> None:
    told = run_cli("check", scores_study(tmp_path, metric, "zero"))
    assert told.returncode == 2, told.stderr
    assert "P114" in told.stderr
    assert run_cli("check", scores_study(tmp_path, "mean", "zero")).returncode == 0


def test_test_sizes_that_do_not_fit_are_told(tmp_path: Path) -> None:
    study = text_study(tmp_path, ("a", "b"), resampling={"replicates": 500, "keep_replicates": 0, "test_sizes": [20, 60, 500]})
    ran = run_cli("run", study, "--runs", tmp_path / "runs", "--serial")
    assert ran.returncode == 0, ran.stderr
    report = json.loads((Path(ran.stdout.strip()) / "report" / "report.json").read_text())
    assert any("60, 500 are left out: there are 60 items" in warning for warning in report["warnings"])


def test_documents_are_resampled_whole_and_their_worth_is_told(tmp_path: Path) -> None:
    study = text_study(tmp_path, ODD_NAMES[:3], resampling={"replicates": 500, "keep_replicates": 0, "unit": "document"})
    sizes = [20, 10, 10, 10, 5, 5]
    names = [f"d{i}" for i, size in enumerate(sizes) for _ in range(size)]
    (tmp_path / "documents.txt").write_text("\n".join(names) + "\n")
    study.write_text(study.read_text().replace("    format: text\n", "    format: text\n    documents: documents.txt\n"))
    ran = run_cli("run", study, "--runs", tmp_path / "runs", "--serial")
    assert ran.returncode == 0, ran.stderr
    ((_, cube),) = open_run(Path(ran.stdout.strip())).items()
    assert int(cube["n_units"].sel(test_size="full")) == 6
    assert cube.attrs["effective_units"] == pytest.approx(60**2 / np.square(sizes).sum())
