"""Runs of a model that stand side by side are told, and one pattern compares the models in their place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.studies import run_cli, write_scores, write_study

from pipeline.api import compare
from pipeline.errors import StudyError
from pipeline.study.load import load_study
from pipeline.survey.survey import survey_loaded

SYSTEMS = [f"{model}.opt{run}" for model in ("base", "ours") for run in range(3)]


def write_runs(folder: Path, systems: list[str]) -> None:
    rng = np.random.default_rng(3)
    question = rng.normal(0, 1, 60)
    for system in systems:
        gain = 0.2 * system.startswith("ours") + 0.3 * rng.normal()
        values = question + gain + rng.normal(0, 1, 60)
        (folder / f"out.{system}.csv").write_text("item,score\n" + "".join(f"q{k},{v:.3f}\n" for k, v in enumerate(values)))


def told_of_runs(folder: Path, outputs: object) -> list[str]:
    study = write_study(folder / "study.yaml", test_sets={"t": {"format": "scores", "outputs": outputs}}, metrics=["mean"])
    (found,) = survey_loaded(load_study(study)).inputs.test_sets
    return [text for text in found.warnings if "named like runs" in text]


def test_runs_that_are_compared_one_by_one_are_told_with_the_pattern_that_compares_models(tmp_path: Path) -> None:
    write_runs(tmp_path, SYSTEMS)
    (told,) = told_of_runs(tmp_path, "out.{system}.csv")
    assert told.startswith("6 systems are named like runs of 2 models (base, ours), and are compared one by one")
    pattern = "out.{system}.opt{replica}.csv"
    assert told.endswith(f'to compare the models, `outputs: "{pattern}"`')
    assert told_of_runs(tmp_path, pattern) == []


def test_compare_takes_the_pattern_that_it_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_runs(tmp_path, SYSTEMS)
    monkeypatch.chdir(tmp_path)
    one_by_one = compare(sorted(Path().glob("out.*.csv")), replicates=200)
    (told,) = [text for text in one_by_one["warnings"] if "named like runs" in text]
    pattern = told.rpartition('name them by `"')[2].removesuffix('"`')
    found = compare(pattern, replicates=200)
    assert sorted(found.models["model"]) == ["base", "ours"]
    assert "means over 3 runs" in str(found.verdict)
    assert len(found["systems"]) == len(one_by_one["systems"]) == 6
    assert not any("named like runs" in text for text in found["warnings"])
    done = run_cli("compare", pattern, "-q", "-b", "200", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("test set · mean · models · 60 items")


def test_a_pattern_that_no_file_matches_is_refused_as_in_a_study(tmp_path: Path) -> None:
    write_runs(tmp_path, SYSTEMS)
    done = run_cli("compare", "oot.{system}.opt{replica}.csv", "-q", cwd=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[0]) == (3, "error[P207]: no file matches the pattern of the outputs")


def test_columns_of_a_table_are_sent_to_a_table_of_systems(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", ["base-seed1", "base-seed2", "ours-seed1", "ours-seed2"], items=30)
    (told,) = told_of_runs(tmp_path, "scores.csv")
    assert told.endswith("give `systems.table` the columns system, model and replica")


@pytest.mark.parametrize(
    "systems",
    [
        ["gpt-4", "gpt-5", "llama-2", "llama-3"],  # versions of models
        ["base.opt0", "base.opt1", "ours.opt0"],  # a model with one run
        ["base.opt0", "base.opt1"],  # one model
        ["base.opt0", "base.opt1", "ours.opt0", "ours.opt1", "human"],
    ],
)
def test_names_that_need_not_be_those_of_runs_are_left_alone(tmp_path: Path, systems: list[str]) -> None:
    write_scores(tmp_path / "scores.csv", systems, items=30)
    assert told_of_runs(tmp_path, "scores.csv") == []


def test_a_model_with_several_runs_is_told_to_be_no_baseline_and_what_compares_all_others_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_runs(tmp_path, SYSTEMS)
    monkeypatch.chdir(tmp_path)
    pattern = "out.{system}.opt{replica}.csv"
    with pytest.raises(StudyError) as caught:
        compare(pattern, baseline="base", replicates=200)
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("P115", "--baseline")
    assert problem.message == "the baseline 'base' is a model with 3 runs, and only a single output can be a baseline"
    assert str(problem.help).startswith("leave out `--baseline`: every model is then compared with every other, 'base' among them")
    pairs = compare(pattern, replicates=200)["model_pairs"]
    assert [{row["model_a"], row["model_b"]} for row in pairs] == [{"base", "ours"}]
    with pytest.raises(StudyError) as caught:
        compare(pattern, baseline="bases", replicates=200)
    assert "is not a system of the test set" in caught.value.problems[0].message


def test_a_report_is_not_asked_for_a_model_as_the_baseline_either(tmp_path: Path) -> None:
    write_runs(tmp_path, SYSTEMS)
    outputs = "out.{system}.opt{replica}.csv"
    write_study(tmp_path / "study.yaml", test_sets={"t": {"format": "scores", "outputs": outputs}}, metrics=["mean"])
    done = run_cli("run", "study.yaml", "--serial", "-q", "-b", "200", "--set", "report.formats=[json]", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    asked = ("--set", "resampling.family=against-baseline", "--set", "resampling.baseline=ours")
    refused = run_cli("report", *asked, cwd=tmp_path)
    assert refused.returncode == 2
    assert "error[P115]: the baseline 'ours' is a model with 3 runs" in refused.stderr
