"""What would never end is refused before anything is planned."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from support.studies import text_study, write_study

from pipeline.api import compare_study
from pipeline.errors import StudyError, UsageError
from pipeline.study.load import load_study
from pipeline.study.resampling import MOST_REPLICATES


@pytest.mark.parametrize(
    ("key", "value"),
    [("replicates", "1e12"), ("keep_replicates", "1e12"), ("test_sizes", "[1e12, full]"), ("replicates", 10**9 + 1)],
)
def test_more_than_can_be_is_refused_with_the_bound_and_the_place(tmp_path: Path, key: str, value: object) -> None:
    """Ten thousand million replicates took gigabytes to plan, and nobody was heard meanwhile."""
    study = text_study(tmp_path, ["a", "b"])
    begun = time.process_time()
    with pytest.raises(StudyError) as raised:
        load_study(study, [f"resampling.{key}={value}"])
    assert time.process_time() - begun < 5
    (problem,) = raised.value.problems
    assert problem.code == "P104"
    assert f"resampling.{key}" in problem.message
    assert str(MOST_REPLICATES) in problem.message
    assert f"--set resampling.{key}" in str(problem.where)
    assert key != "replicates" or "1e-6" in str(problem.help)


def test_compare_names_its_own_option(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("item,a,b\n1,0,1\n2,1,1\n")
    with pytest.raises(UsageError) as raised:
        compare_study({"*": str(tmp_path / "scores.csv")}, (), replicates=10**12)
    (problem,) = raised.value.problems
    assert (problem.code, problem.where) == ("P125", "-b, --replicates")
    assert "1,000,000,000,000" in problem.message
    assert "1,000,000,000 can be" in problem.message
    assert "resampling" not in f"{problem.message} {problem.help}"


def test_the_bound_itself_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("item,a,b\n1,0,1\n2,1,1\n")
    test_sets = {"t": {"format": "scores", "outputs": "scores.csv"}}
    study = write_study(tmp_path / "study.yaml", test_sets=test_sets, metrics=["mean"], resampling={"replicates": MOST_REPLICATES})
    assert load_study(study, []).study.resampling.replicates == MOST_REPLICATES
