"""Looks of a study from the command line: what is written, by document and in an order drawn, and when the report is asked anew."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.studies import PAGES, run_cli, write_study

from pipeline.inference.sequential.betting import BoundedSequences

ITEMS = 240


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sequential")
    rng = np.random.default_rng(1)
    for night in ("monday", "tuesday"):
        scores = (rng.random((ITEMS, 2)) < [0.55, 0.75]).astype(int)
        grades = rng.integers(0, 6, (ITEMS, 2))
        rows = ["item,system,document,score,grade"]
        rows += [
            f"{night}-{k},{name},d{k // 3},{scores[k, place]},{grades[k, place]}"
            for place, name in enumerate(("old", "new"))
            for k in range(ITEMS)
        ]
        (folder / f"{night}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    write_study(
        folder / "study.yaml",
        test_sets={night: {"format": "scores", "outputs": f"{night}.csv"} for night in ("monday", "tuesday")},
        metrics=[{"name": "mean", "column": "score"}],
        resampling={"replicates": 200, "keep_replicates": 0},
        analyses=[{"sequential": {"multiply": ["monday", "tuesday"], "looks": [20, 40]}}],
        report=PAGES,
    )
    done = run_cli("run", "study.yaml", "--serial", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.strip().splitlines()[-1]


def rows_of(report: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    (finding,) = [one for one in report["findings"] if one["analysis"] == "sequential"]
    return [row for row in finding["rows"] if row["kind"] == kind]


def test_documents_are_the_units_and_the_sequence_is_that_of_their_means(run: Path) -> None:
    report = json.loads((run / "report" / "report.json").read_text())
    for row in rows_of(report, "pair"):
        with (run.parents[1] / f"{row['test_set']}.csv").open() as file:
            scores = {(one["system"], one["item"]): int(one["score"]) for one in csv.DictReader(file)}
        gains = [scores["new", f"{row['test_set']}-{k}"] - scores["old", f"{row['test_set']}-{k}"] for k in range(ITEMS)]
        by_document = np.array(gains, float).reshape(-1, 3).mean(axis=1)
        expected = BoundedSequences(by_document[None], -1.0, 1.0).exclude([ITEMS // 3])
        assert row["units"] == ITEMS // 3
        assert (row["interval"]["lo"], row["interval"]["hi"]) == pytest.approx((expected.lo[0, 0], expected.hi[0, 0]))
    assert [row["units"] for row in rows_of(report, "look")] == 2 * [20, 40, 80]
    (product,) = rows_of(report, "product")
    assert product["log10_e"] == pytest.approx(sum(row["log10_e"] for row in rows_of(report, "pair")))


def test_pages_and_files_have_it(run: Path) -> None:
    page = (run / "report" / "report.md").read_text()
    assert "## Looking again and again" in page
    assert "times as wide as those of a single look" in page
    assert "All items of a document are one value" in page
    assert (run / "report" / "figures" / "sequential-02.svg").exists()
    with (run / "report" / "tables" / "sequential_looks.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 6


def test_a_report_may_ask_for_other_looks_and_tells_which_test_set_is_not_there(run: Path) -> None:
    folder = run.parents[1]
    asked = json.dumps([{"sequential": {"order": "permuted", "alpha": 0.1, "looks": [30]}}])
    done = run_cli("report", str(run), "--set", f"analyses={asked}", "--set", "report.formats=[json]", cwd=folder)
    assert done.returncode == 0, done.stderr
    report = json.loads((run / "report" / "report.json").read_text())
    assert [row["units"] for row in rows_of(report, "look")] == 2 * [30, 80]
    assert {row["alpha"] for row in rows_of(report, "pair")} == {0.1}
    asked = json.dumps([{"sequential": {"multiply": ["monday", "tuesdays"]}}])
    done = run_cli("report", str(run), "--set", f"analyses={asked}", "--set", "report.formats=[json]", cwd=folder)
    assert done.returncode == 0, done.stderr
    (row,) = rows_of(json.loads((run / "report" / "report.json").read_text()), "none")
    assert row["reason"] == "there are no results for the test set 'tuesdays'; did you mean 'tuesday'?"
