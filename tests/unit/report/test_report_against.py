"""A test whose null is not about the gain may reject for the system that is behind: nobody is called better then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.studies import run_cli, write_study

from pipeline.api import compare, run
from pipeline.report.claims import claim_of


@pytest.mark.parametrize("procedure", ["sign", "wilcoxon"])
def test_a_rejection_for_the_other_side_is_no_verdict(tmp_path: Path, procedure: str) -> None:
    # New loses 18 units by a little and wins 3 by much: ahead on average, behind on most.
    gains = [-1] * 18 + [50] * 3 + [0] * 19
    rows = ["item,old,new", *(f"q{i},{100 + i},{100 + i + gain}" for i, gain in enumerate(gains))]
    (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    test_sets = {"made": {"format": "scores", "outputs": "scores.csv"}}
    resampling = {"procedures": [procedure, "paired-bootstrap"], "replicates": 2000}
    study = write_study(tmp_path / "study.yaml", test_sets=test_sets, metrics=["mean"], resampling=resampling, analyses=[])
    directory = run(study, runs=tmp_path / "runs", serial=True).root
    document = json.loads((directory / "report" / "report.json").read_text(encoding="utf-8"))
    row = next(row for row in document["pairs"] if row["procedure"] == procedure)
    assert (row["system_a"], row["delta"] > 0) == ("new", True)
    assert row["p"] < 0.05
    assert row["p_raw"]["one_sided"] > 0.5
    assert row["verdict"] == "not separated"
    assert f"{procedure} rejects in favour of old" in row["note"]
    ranks = {
        board["name"]: (board["rank_low"], board["rank_high"])
        for board in document["leaderboard"]
        if board["procedure"] == procedure
    }
    assert ranks == {"new": (1, 2), "old": (1, 2)}


@pytest.mark.parametrize("procedure", ["sign", "wilcoxon"])
def test_a_rejection_for_the_side_that_is_ahead_is_not_told_as_one_of_the_gain(tmp_path: Path, procedure: str) -> None:
    gains = {"graded": [2] * 15 + [1] * 6 + [-3] * 2, "right or wrong": [1] * 20 + [-1] * 2}
    told = {}
    for name, own in gains.items():
        rows = ["item,old,new", *(f"q{i},{max(-gain, 0)},{max(gain, 0)}" for i, gain in enumerate(own))]
        (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        told[name] = compare(tmp_path / "scores.csv", format="scores", procedures=[procedure]).verdict
    assert "the test, whose null is not about the gain, rejects in favour of new (two-sided p = " in told["graded"]
    assert "separated from zero" not in told["graded"]
    assert "new is better than old" in told["right or wrong"]


@pytest.mark.parametrize("procedure", ["sign", "wilcoxon"])
def test_no_higher_score_is_claimed_of_many_systems_by_signs_or_ranks_of_graded_scores(tmp_path: Path, procedure: str) -> None:
    claimed = {}
    asked = {
        "metrics": ["mean"],
        "resampling": {"procedures": [procedure]},
        "analyses": [],
        "report": {"formats": ["html"], "null_laboratory": False},
    }
    for name, grade in {"graded": 2, "right or wrong": 1}.items():
        own = [grade] * 15 + [1] * 15 + [0] * 10
        rows = ["item,old,older,new", *(f"q{i},0,0,{gain}" for i, gain in enumerate(own))]
        (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        test_sets = {"made": {"format": "scores", "outputs": "scores.csv"}}
        study = write_study(tmp_path / "study.yaml", test_sets=test_sets, **asked)
        report = run(study, runs=tmp_path / name, serial=True).root / "report"
        page = (report / "index.html").read_text(encoding="utf-8")
        assert "new" in page
        claimed[name] = "has a significantly higher mean score than" in page
    assert claimed == {"graded": False, "right or wrong": True}


@pytest.mark.parametrize("procedure", ["sign", "wilcoxon"])
def test_no_higher_score_is_claimed_where_some_pairs_are_of_right_and_wrong_answers_and_others_of_graded_scores(
    tmp_path: Path, procedure: str
) -> None:
    own = [1] * 30 + [0] * 10
    rows = ["item,old,part,new", *(f"q{i},0,{gain * (i % 2) / 4},{gain}" for i, gain in enumerate(own))]
    (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    found = compare(tmp_path / "scores.csv", format="scores", procedures=[procedure])
    law = {row["system_b"]: row["minimum_detectable_effect"] for row in found["pairs"] if row["system_a"] == "new"}
    assert (law["old"]["law"], law["part"]) == ("binomial", None)
    assert claim_of(found.report, found.report.verdict[0]) == ""


@pytest.mark.parametrize("procedure", ["sign", "wilcoxon"])
def test_a_second_opinion_that_is_not_about_the_gain_does_not_part_it_from_zero(tmp_path: Path, procedure: str) -> None:
    gains = [2, 1, 1, 2, -1] * 40
    rows = ["item,old,new", *(f"q{i},{max(-gain, 0)},{max(gain, 0)}" for i, gain in enumerate(gains))]
    (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    told = compare(tmp_path / "scores.csv", format="scores", procedures=["paired-bootstrap", procedure], replicates=2000).verdict
    first, last = told.split(f"By {procedure}")
    assert "separated from zero" in first
    assert last.endswith("the difference is separated, though the null is not about the gain.")


@pytest.mark.parametrize("procedure", ["sign", "wilcoxon", "paired-bootstrap"])
def test_the_page_is_told_of_a_table_whose_test_is_not_about_the_gain(tmp_path: Path, procedure: str) -> None:
    marked = {}
    for name, grade in {"graded": 2, "right or wrong": 1}.items():
        rows = ["item,old,new", *(f"q{i},0,{gain}" for i, gain in enumerate([grade] * 15 + [1] * 15 + [0] * 10))]
        (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        how = ("--format", "scores", "--procedure", procedure, "--html", "p.html", "-q")
        done = run_cli("compare", "scores.csv", *how, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        marked[name] = "data-pairs data-null=elsewhere" in (tmp_path / "p.html").read_text(encoding="utf-8")
    assert marked == {"graded": procedure != "paired-bootstrap", "right or wrong": False}
