"""Options of analyses are held to their types where they are read, with the place and in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.studies import run_cli, write_scores, write_study

from pipeline.analyses import load_analysis
from pipeline.errors import StudyError

WRONG: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("type-one", {"nulls": 100.5}, "P103", "analyses.type-one.nulls", "expected a whole number, found 100.5"),
    ("type-one", {"nulls": "abc"}, "P103", "analyses.type-one.nulls", "expected a whole number, found the text 'abc'"),
    ("type-one", {"pairs": True}, "P103", "analyses.type-one.pairs", "expected a whole number, found true"),
    ("type-one", {"budget": None}, "P103", "analyses.type-one.budget", "expected a number, found nothing"),
    ("type-one", {"nulls": 50}, "P104", "analyses.type-one.nulls", "nulls 50 must be between 100 and 100000"),
    ("type-one", {"model": ""}, "P104", "analyses.type-one.model", "model '' must be the name of a column"),
    ("type-one", {"null": 200}, "P101", "analyses.type-one.null", "has no option 'null'"),
    ("replicas", {"nulls": 3}, "P103", "analyses.replicas.nulls", "expected a list or text, found 3"),
    ("replicas", {"nulls": ["crossed", 3]}, "P103", "analyses.replicas.nulls[1]", "expected text, found 3"),
    ("replicas", {"runs_each": [1, 2.5]}, "P103", "analyses.replicas.runs_each[1]", "expected a whole number, found 2.5"),
    ("replicas", {"development": 4}, "P103", "analyses.replicas.development", "expected text, found 4"),
    (
        "thresholds",
        {"combinations": "yes"},
        "P103",
        "analyses.thresholds.combinations",
        "expected true or false, found the text 'yes'",
    ),
    ("thresholds", {"window": [0.04, "x"]}, "P103", "analyses.thresholds.window[1]", "expected a number, found the text 'x'"),
    ("size-curve", {"gains": 0.5}, "P103", "analyses.size-curve.gains", "expected a list, found 0.5"),
    (
        "calibration-transfer",
        {"bins": ["a"]},
        "P103",
        "analyses.calibration-transfer.bins[0]",
        "expected a number, found the text 'a'",
    ),
    ("suite", {"test_sets": []}, "P104", "analyses.suite.test_sets", "test_sets is an empty list: leave it out for all"),
    ("suite", {"metric": []}, "P104", "analyses.suite.metric", "metric is an empty list"),
    ("domain-curve", {"test_sets": []}, "P104", "analyses.domain-curve.test_sets", "test_sets is an empty list"),
    ("calibration-transfer", {"against": []}, "P104", "analyses.calibration-transfer.against", "against is an empty list"),
    ("calibration-iid", {"populations": []}, "P104", "analyses.calibration-iid.populations", "populations is an empty list"),
    ("suite", {"direction": "up"}, "P103", "analyses.suite.direction", "expected 'both', 'better' or 'worse', found the text 'up'"),
]


@pytest.mark.parametrize(("name", "options", "code", "where", "words"), WRONG)
def test_a_value_of_another_type_is_refused_at_its_place(
    name: str, options: dict[str, Any], code: str, where: str, words: str
) -> None:
    with pytest.raises(StudyError) as refused:
        load_analysis(name, options)
    (problem,) = refused.value.problems
    assert (problem.code, problem.where) == (code, where)
    assert words in problem.message


def test_whole_numbers_are_numbers_and_one_word_may_stand_for_a_list() -> None:
    for name, options in (
        ("type-one", {"budget": 10**9, "nulls": 1e3}),
        ("replicas", {"nulls": "crossed", "runs_each": 2}),
        ("thresholds", {"percentile": 90, "alpha": None}),
        ("size-curve", {"gains": [1, 2.5]}),
    ):
        load_analysis(name, options)


def test_all_that_is_wrong_is_told_before_anything_is_computed(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", ["one", "two"])
    write_study(
        tmp_path / "study.yaml",
        test_sets={"few": {"format": "scores", "outputs": "scores.csv"}},
        metrics=["mean"],
        analyses=[{"type-one": {"nulls": 100.5, "pairs": "two"}}],
    )
    done = run_cli("run", "study.yaml", "--serial", "-q", cwd=tmp_path)
    assert done.returncode == 2
    assert "expected a whole number, found 100.5" in done.stderr
    assert "expected a whole number, found the text 'two'" in done.stderr
    assert not (tmp_path / "runs").exists()
