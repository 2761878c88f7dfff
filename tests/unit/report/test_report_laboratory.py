"""The trust section says what the null laboratory found, and that it was not asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from studies import write_scores, write_study

from pipeline.api import run
from pipeline.report.laboratory import describe_laboratory
from pipeline.study.schema import Study


def row(**changes: Any) -> dict[str, Any]:
    found = {
        "test_set": "news", "metric": "bleu", "pair": "a / b", "procedure": "paired-bootstrap", "decides": True, "nulls": 2000,
        "rejected_05": 104, "rate_05": 0.052, "interval_05": {"lo": 0.0426, "hi": 0.0626}, "reference": None, "reason": None,
    }  # fmt: skip
    return found | changes


def describe(*rows: dict[str, Any]) -> dict[str, str]:
    return describe_laboratory({"findings": [{"analysis": "type-one", "rows": list(rows)}]})


def test_one_rate_is_told_with_its_interval_and_the_number_of_nulls() -> None:
    told = describe(row(), row(decides=False, rate_05=0.2, rejected_05=400))
    assert told["status"] == "fine"
    assert told["detail"] == (
        "2,000 null data sets of a pair, this study's own outputs swapped at random: "
        "at .05 paired-bootstrap rejects 5.2 % [4.3, 6.3]."
    )


def test_the_worst_of_several_is_named() -> None:
    told = describe(row(), row(pair="c / d", rejected_05=90, rate_05=0.045), row(pair="e / f", rate_05=None, reason="budget"))
    assert "paired-bootstrap rejects 4.5 to 5.2 % [4.3, 6.3] (most: news, bleu, a / b)" in told["detail"]
    assert "1 more was not made or tested" in told["detail"]


def test_a_liberal_test_asks_to_look_unless_many_were_made() -> None:
    liberal = row(rejected_05=125, rate_05=0.0625)
    assert describe(liberal)["status"] == "look"
    # One of twenty may well have 125 of 2000 by chance.
    assert describe(liberal, *(row(pair=str(number)) for number in range(19)))["status"] == "fine"


@pytest.mark.parametrize(
    ("findings", "words"),
    [
        ([], "the analysis type-one was not asked for"),
        ([{"analysis": "type-one", "rows": [row(rate_05=None, reason="why")]}], "why"),
    ],
)
def test_without_a_rate_nothing_was_checked(findings: list[dict[str, Any]], words: str) -> None:
    told = describe_laboratory({"findings": findings})
    assert told["status"] == "not checked"
    assert words in told["detail"]


def test_the_laboratory_is_in_the_report_and_among_the_analyses_of_every_study_that_chooses_none(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", ["one", "two", "three"])
    path = write_study(
        tmp_path / "study.yaml",
        test_sets={"few": {"format": "scores", "outputs": "scores.csv"}},
        metrics=["mean"],
        resampling={"replicates": 1000, "keep_replicates": 0},
        analyses=[{"thresholds": {}}, {"type-one": {"nulls": 200}}],
    )
    assert "type-one" in {spec.name for spec in Study.model_fields["analyses"].default}
    root = run(path, runs=tmp_path / "runs", serial=True).root
    document = json.loads((root / "report" / "report.json").read_text("utf-8"))
    (finding,) = [found for found in document["findings"] if found["analysis"] == "type-one"]
    assert {r["nulls"] for r in finding["rows"]} == {200}
    (trust,) = [line for line in document["trust"] if line["check"] == "Calibration of the test"]
    assert trust["status"] in ("fine", "look")
    assert "200 null data sets of each of 2 pairs" in trust["detail"]
    assert "null laboratory" in (root / "report" / "report.md").read_text("utf-8")
