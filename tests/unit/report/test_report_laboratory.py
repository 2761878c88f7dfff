"""The trust section says what the null laboratory found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.studies import PAGES, write_scores, write_study

from pipeline.analyses.type_one.pairs import BY_DOCUMENT, SWAPPED
from pipeline.analyses.type_one.words import check_level
from pipeline.api import run
from pipeline.cubes.reading import open_statistics
from pipeline.interfaces import Check
from pipeline.study.schema import Study


def row(**changes: Any) -> dict[str, Any]:
    found = {
        "test_set": "news", "metric": "bleu", "design": SWAPPED, "pair": "a / b",
        "procedure": "paired-bootstrap", "decides": True, "nulls": 2000,
        "rejected_05": 104, "rate_05": 0.052, "interval_05": {"lo": 0.0426, "hi": 0.0626}, "reference": None, "reason": None,
    }  # fmt: skip
    return found | changes


def describe(*rows: dict[str, Any]) -> Check:
    return check_level(rows)


def test_one_rate_is_told_with_its_interval_and_the_number_of_nulls() -> None:
    told = describe(row(), row(decides=False, rate_05=0.2, rejected_05=400))
    assert told.status == "ok"
    assert told.detail == (
        "2,000 null data sets of a pair, this study's own outputs swapped at random: "
        "at .05 the counted p of paired-bootstrap rejects 5.2 % [4.3, 6.3]. Verdicts of paired-bootstrap use a different p, "
        "studentised or corrected for few units: docs/levels.md has its levels."
    )


def test_a_procedure_whose_own_p_decides_is_named_alone() -> None:
    told = describe(row(procedure="paired-t"), row(procedure="exact-bootstrap"))
    assert "at .05 paired-t rejects 5.2 % [4.3, 6.3]; the uncorrected p of exact-bootstrap rejects 5.2 %" in told.detail
    assert told.detail.endswith(
        "Verdicts of exact-bootstrap use a different p, corrected for few units: docs/levels.md has its levels."
    )
    assert "Verdicts of paired-t" not in told.detail


def test_the_worst_of_several_is_named() -> None:
    told = describe(row(), row(pair="c / d", rejected_05=90, rate_05=0.045), row(pair="e / f", rate_05=None, reason="budget"))
    # The interval is that of the largest rate alone.
    assert "paired-bootstrap rejects 4.5 to 5.2 %, most 5.2 % [4.3, 6.3] of news, BLEU, a / b" in told.detail
    assert "1 more was not made or tested" in told.detail


def test_a_liberal_test_asks_to_look_unless_many_were_made() -> None:
    liberal = row(rejected_05=125, rate_05=0.0625)
    assert describe(liberal).status == "check"
    # One of twenty may well have 125 of 2000 by chance.
    assert describe(liberal, *(row(pair=str(number)) for number in range(19))).status == "ok"


def test_null_data_sets_made_of_runs_are_no_matter_of_the_verdicts() -> None:
    told = describe(row(), row(design="runs of two models mixed", decides=False, rate_05=None, reason="unequal"))
    assert told == describe(row())


def test_items_of_known_documents_are_fine_only_where_swaps_of_documents_say_so() -> None:
    alone = describe(row(), row(design=BY_DOCUMENT, decides=None, rate_05=None, reason="beyond the budget"))
    assert alone.status == "check"
    assert (
        "Items were taken as independent there; see Items in documents. Outputs of whole documents were not swapped."
        in alone.detail
    )
    together = row(design=BY_DOCUMENT, rejected_05=300, rate_05=0.15, interval_05={"lo": 0.13, "hi": 0.17})
    told = describe(row(), together)
    assert told.status == "check"
    assert "With the outputs of whole documents swapped (2,000 null data sets of a pair): " in told.detail
    assert "the counted p of paired-bootstrap rejects 15.0 % [13.0, 17.0]." in told.detail
    assert describe(row(), row(design=BY_DOCUMENT)).status == "ok"
    # Of another test set nobody knows documents: that is no matter of this one.
    assert describe(row(), row(design=BY_DOCUMENT), row(test_set="other")).status == "ok"
    assert describe(row(), row(design=BY_DOCUMENT), row(pair="c / d")).status == "check"


@pytest.mark.parametrize(("rows", "words"), [([], "no pair of systems"), ([row(rate_05=None, reason="why")], "why")])
def test_without_a_rate_nothing_was_checked(rows: list[dict[str, Any]], words: str) -> None:
    told = describe(*rows)
    assert told.status == "not checked"
    assert words in told.detail


def test_rates_that_are_alike_as_printed_are_told_once() -> None:
    told = describe(row(rejected_05=90, rate_05=0.045), row(pair="c / d", rejected_05=91, rate_05=0.0454))
    assert "rejects 4.5 % [4.3, 6.3], alike on all of them." in told.detail
    assert " to " not in told.detail


def test_the_laboratory_is_in_the_report_and_among_the_analyses_of_every_study_that_chooses_none(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", ["one", "two", "three"])
    path = write_study(
        tmp_path / "study.yaml",
        test_sets={"few": {"format": "scores", "outputs": "scores.csv"}},
        metrics=["mean"],
        resampling={"replicates": 1000, "keep_replicates": 0},
        analyses=[{"thresholds": {}}, {"type-one": {"nulls": 200}}],
        report=PAGES,
    )
    assert "type-one" in {spec.name for spec in Study.model_fields["analyses"].get_default(call_default_factory=True)}
    root = run(path, runs=tmp_path / "runs", serial=True).root
    document = json.loads((root / "report" / "report.json").read_text("utf-8"))
    (finding,) = [found for found in document["findings"] if found["analysis"] == "type-one"]
    assert {r["nulls"] for r in finding["rows"]} == {200}
    (trust,) = [line for line in document["trust"] if line["check"] == "Calibration of the test"]
    assert trust["status"] in ("ok", "check")
    assert "200 null data sets of each of 2 pairs" in trust["detail"]
    assert "null laboratory" in (root / "report" / "report.md").read_text("utf-8")


def test_strata_and_documents_of_a_study_reach_the_laboratory(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = ["item,genre,one,two"] + [f"i{i},g{i % 5},{a:.2f},{b:.2f}" for i, (a, b) in enumerate(rng.normal(50, 5, (60, 2)))]
    (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "documents.txt").write_text("".join(f"d{i // 4}\n" for i in range(60)), encoding="utf-8")
    path = write_study(
        tmp_path / "study.yaml",
        test_sets={"few": {"format": "scores", "outputs": "scores.csv", "documents": "documents.txt"}},
        metrics=["mean"],
        resampling={"replicates": 1000, "keep_replicates": 0, "unit": "item", "strata": "genre"},
        analyses=[{"type-one": {"nulls": 200}}],
    )
    root = run(path, runs=tmp_path / "runs", serial=True).root
    data = open_statistics(root / "cubes.zarr", "few")["mean"]
    assert data["stratum"].values.tolist() == [i % 5 for i in range(60)]
    assert data["document"].values.tolist() == [i // 4 for i in range(60)]
    document = json.loads((root / "report" / "report.json").read_text("utf-8"))
    (finding,) = [found for found in document["findings"] if found["analysis"] == "type-one"]
    assert [table["where"]["design"] for table in finding["tables"]] == [SWAPPED, BY_DOCUMENT]
    assert {r["nulls"] for r in finding["rows"]} == {200}
    (trust,) = [line for line in document["trust"] if line["check"] == "Calibration of the test"]
    assert "With the outputs of whole documents swapped (200 null data sets of a pair): the counted p of " in trust["detail"]
