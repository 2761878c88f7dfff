"""`compare` on the files of a harness: what is compared, what it is called, and what may be asked for instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from studies import run_cli

from pipeline.api import compare, compare_study, name_outputs
from pipeline.errors import StudyError
from pipeline.study.load import parse_flow

HARNESS = Path(__file__).resolve().parents[2] / "fixtures" / "lm_eval"
QUIZ, SUMS = (sorted(map(str, HARNESS.glob(f"*/samples_harbour_{task}_*.jsonl"))) for task in ("quiz", "sums"))


def metrics_of(paths: list[str], **options: Any) -> list[tuple[str, dict[str, Any]]]:
    study = compare_study(name_outputs(paths), [], **options).study
    return [(metric.name, metric.options) for metric in study.metrics]


def test_every_score_of_a_harness_is_compared_and_systems_are_called_by_their_folders() -> None:
    document = compare(QUIZ, replicates=1000)
    scores = {(row["name"], metric): score for row in document["systems"] for metric, score in row["scores"].items()}
    assert scores == {
        ("anchor", "acc"): pytest.approx(6 / 7),
        ("anchor", "acc_norm"): pytest.approx(4 / 7),
        ("buoy", "acc"): pytest.approx(3 / 7),
        ("buoy", "acc_norm"): pytest.approx(3 / 7),
    }


def test_a_score_is_asked_for_by_its_name_and_a_metric_by_its_own() -> None:
    column = {"metric": "mean", "column": "acc_norm"}
    assert metrics_of(QUIZ, metrics=["acc_norm"]) == [("acc_norm", column)]
    assert metrics_of(QUIZ, metrics=[{"name": "mean", "column": "acc"}]) == [("mean", {"column": "acc"})]
    assert metrics_of(QUIZ, metrics=["mean"]) == [("mean", {})]


def test_columns_of_a_table_are_systems_where_it_is_alone_and_scores_where_each_system_has_one(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("item,one,two\n1,0.5,1\n2,0,1\n")
    tables = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    alone = compare_study({"*": tables[0]}, []).study
    assert [metric.name for metric in alone.metrics] == ["mean"]
    assert [name for name, _ in metrics_of(tables)] == ["one", "two"]
    document = compare(tables[:1], replicates=1000)
    assert {(row["name"], row["scores"]["mean"]) for row in document["systems"]} == {("one", 0.25), ("two", 1.0)}


def test_options_of_formats_and_metrics_are_given_in_braces() -> None:
    form = "{name: lm-eval, filter: strict}"
    done = run_cli("compare", *SUMS, "--format", form, "-m", "{name: hits, metric: mean, column: exact_match}", "-b", "1000")
    assert done.returncode == 0, done.stderr
    assert "test set · hits · paired-bootstrap" in done.stdout
    assert "   1  anchor  0.40000" in done.stdout


def test_what_is_asked_for_is_not_there() -> None:
    """The same of two systems is told once, with both files."""
    done = run_cli("compare", *QUIZ, "-m", "blue")
    assert done.returncode == 4
    assert done.stderr.count("error[P226]: mean needs the column 'blue', and the outputs have 'acc', 'acc_norm'") == 1
    assert all(path in done.stderr for path in QUIZ)


@pytest.mark.parametrize("text", ["{name: lm-eval", "{name: a, name: b}", "{[1]: 2}"])
def test_braces_that_are_no_mapping_are_refused_where_they_stand(text: str) -> None:
    with pytest.raises(StudyError) as caught:
        parse_flow(text, "--format")
    assert all(str(problem.where).startswith(f"--format {text}:1:") for problem in caught.value.problems)


def test_the_time_in_the_name_of_a_file_is_no_part_of_a_name() -> None:
    paths = [f"logs/2026-11-22T08-47-{k}+00-00_quiz_{name}.eval" for k, name in ((11, "aa"), (12, "bb"))]
    assert list(name_outputs(paths)) == ["_quiz_aa", "_quiz_bb"]
