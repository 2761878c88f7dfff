"""Paths name systems and their replicas, and replicas are known as such downstream."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.errors import DataError
from pipeline.items.align import survey_test_set
from pipeline.items.discover import find_outputs
from pipeline.items.outputs import load_output
from pipeline.items.readers.helm import HelmReader
from pipeline.study.load import study_from_value
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet
from pipeline.survey.survey import survey_study


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "ref.txt").write_text("a\nb\n")
    for name in ("base.opt0", "base.opt2", "base.opt10", "new.v2.opt0"):
        (tmp_path / f"hyps.{name}").write_text(f"a {name}\nb\n")
    return tmp_path


def test_replicas_are_found_in_the_order_of_their_numbers(folder):
    found, problems = find_outputs("hyps.{system}.opt{replica}", base=folder)
    assert problems == []
    assert [one.system for one in found] == ["base/0", "base/2", "base/10", "new.v2/0"]
    assert found[2].path == folder / "hyps.base.opt10"
    assert found[2].coordinates == {"model": "base", "replica": "10"}


def test_a_path_without_replicas_has_no_coordinates(folder):
    found, _ = find_outputs("hyps.{system}", base=folder)
    assert [one.system for one in found] == ["base.opt0", "base.opt10", "base.opt2", "new.v2.opt0"]
    assert all(one.coordinates == {} for one in found)


@pytest.mark.parametrize(("outputs", "words"), [("x.{replica}", "of which system"), ("{system}.{run}", "{run}")])
def test_placeholders_that_cannot_be_followed_are_refused(folder, outputs, words):
    found, (problem,) = find_outputs(outputs, base=folder)
    assert (found, problem.code) == ([], "P219")
    assert words in problem.message


def test_the_survey_keeps_model_and_replica_of_each_output(folder):
    spec = TestSet(references=("ref.txt",), outputs="hyps.{system}.opt{replica}")
    found = survey_test_set("t", spec, base=folder, systems=Systems(exclude=("new*",)), unit="item")
    assert {output.system: dict(output.coordinates) for output in found.outputs} == {
        f"base/{replica}": {"model": "base", "replica": replica} for replica in ("0", "2", "10")
    }


def outputs_in(folder: Path, *files: str) -> None:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            (folder / name).write_text("a\nb\n")
        else:
            (folder / name).mkdir()


def told_of_folders(folder: Path, pattern: str, *exclude: str) -> list[str]:
    spec = TestSet(references=("ref.txt",), outputs=pattern)
    survey = survey_test_set("t", spec, base=folder, systems=Systems(exclude=exclude), unit="item")
    assert {output.system.partition("/")[0] for output in survey.outputs} == {"north", "south"}
    return [warning for warning in survey.warnings if "folder" in warning]


@pytest.mark.parametrize("pattern", ["runs/{system}/out.txt", "runs/{system}/o*.txt", "r*s/{system}/{replica}.txt"])
def test_a_folder_without_an_output_is_told_and_makes_no_system(folder, pattern):
    outputs_in(folder, "runs/north/out.txt", "runs/south/out.txt", "runs/east/", "runs/west/other.md", "runs/notes.txt")
    outputs_in(folder, "runs/.hidden/", "runs/__pycache__/")
    (told,) = told_of_folders(folder, pattern)
    assert told == "folders without a file that `outputs:` names are not systems: runs/east, runs/west"
    assert not told_of_folders(folder, pattern, "east", "w*")


def test_many_folders_without_an_output_are_counted(folder):
    outputs_in(folder, "runs/north/out.txt", "runs/south/out.txt", *(f"runs/x{k}/" for k in range(8)))
    (told,) = told_of_folders(folder, "runs/{system}/out.txt")
    assert told.endswith(": runs/x0, runs/x1, runs/x2, runs/x3, runs/x4 and 3 more")


@pytest.mark.parametrize(
    ("pattern", "files", "lost"),
    [
        ("runs/{system}.{replica}/out.txt", ["north.0/out.txt", "north.1/", "south.0/out.txt"], "runs/north.1"),
        ("runs/{system}/{replica}/out.txt", ["north/0/out.txt", "north/1/", "south/0/out.txt"], "runs/north/1"),
        ("runs/{replica}/{system}/out.txt", ["0/north/out.txt", "1/north/", "0/south/out.txt"], "runs/1/north"),
    ],
)
def test_a_replica_without_an_output_is_told(folder, pattern, files, lost):
    outputs_in(folder, *(f"runs/{name}" for name in files))
    (told,) = told_of_folders(folder, pattern)
    assert told.endswith(f": {lost}")
    assert not told_of_folders(folder, pattern, "north/1")


def test_what_is_left_out_is_not_told_and_what_lies_beside_the_study_neither(folder):
    outputs_in(folder, "runs/north/0.txt", "runs/south/0.txt", "runs/east/0.txt", "north/out.txt", "south/out.txt", "data/x.txt")
    assert not told_of_folders(folder, "runs/{system}/{replica}.txt", "east/0")
    assert not told_of_folders(folder, "{system}/out.txt")


def test_too_few_systems_are_told_with_the_folders_that_lack_an_output(folder):
    outputs_in(folder, "runs/north/out.txt", "runs/south/uot.txt")
    spec = TestSet(references=("ref.txt",), outputs="runs/{system}/out.txt")
    with pytest.raises(DataError) as caught:
        survey_test_set("t", spec, base=folder, systems=Systems(), unit="item")
    (problem,) = caught.value.problems
    assert problem.code == "P290"
    assert "found: north; folders without a file that `outputs:` names are not systems: runs/south" in str(problem.note)


def test_a_pattern_that_finds_folders_only_is_refused_with_a_hint(folder):
    (folder / "runs" / "north").mkdir(parents=True)
    _, (problem,) = find_outputs("runs/{system}", base=folder)
    assert (problem.code, problem.help) == ("P207", f"1 folder matches: name the file in each, {folder}/runs/{{system}}/…")


def test_a_table_of_systems_overrules_what_the_path_says(folder):
    (folder / "systems.csv").write_text("system,model,group\nbase/0,first,x\n")
    value = {
        "schema": 1,
        "study": "s",
        "test_sets": {"t": {"references": ["ref.txt"], "outputs": "hyps.{system}.opt{replica}"}},
        "systems": {"table": "systems.csv", "exclude": ["new*"]},
        "metrics": ["bleu"],
    }
    inputs = survey_study(study_from_value(value, base=folder).study, folder).inputs
    assert inputs.coordinates["base/0"] == {"model": "first", "replica": "0", "group": "x"}
    assert inputs.coordinates["base/10"] == {"model": "base", "replica": "10"}


def test_the_layout_of_multeval_gives_three_systems_with_three_replicas(data_dir):
    pattern = "multeval/example/hyps.lc.tok.en.{system}.opt{replica}.gz"
    found, _ = find_outputs(pattern, base=data_dir)
    assert [one.system for one in found] == [f"{name}/{k}" for name in ("baseline", "sys1", "sys2") for k in range(3)]


def _helm(path, trials):
    """Write a run whose statistic is the number of the trial."""
    entries = [
        {
            "instance_id": f"id{k}",
            "train_trial_index": trial,
            "stats": [{"name": {"name": "em", "split": "test"}, "count": 1, "mean": float(trial)}],
        }
        for trial in range(trials)
        for k in range(3)
    ]
    path.write_text(json.dumps(entries))


def test_runs_in_the_file_of_a_run_are_replicas_of_its_model(tmp_path):
    for name in ("base.opt0", "base.opt1"):
        _helm(tmp_path / f"{name}.json", 2)
    spec = TestSet(format={"name": "helm"}, outputs="{system}.opt{replica}.json")
    found = survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="item")
    assert {output.system: dict(output.coordinates) for output in found.outputs} == {
        f"base/{replica}": {"model": "base", "replica": replica} for replica in ("0/0", "0/1", "1/0", "1/1")
    }


def test_two_files_that_hold_a_run_of_one_name_are_refused_as_such(tmp_path):
    _helm(tmp_path / "all.json", 2)
    _helm(tmp_path / "one.json", 1)
    test_set = {"format": "helm", "outputs": {"m": "all.json", "m/0": "one.json"}}
    study = study_from_value({"schema": 1, "study": "s", "test_sets": {"t": test_set}, "metrics": ["mean"]}, base=tmp_path).study
    with pytest.raises(DataError) as caught:
        survey_study(study, tmp_path)
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("P208", f"{tmp_path / 'all.json'} and {tmp_path / 'one.json'}")


def test_a_placeholder_in_a_mapping_is_told_unless_a_file_has_that_name(folder):
    outputs = {"base": "hyps.base.opt{replica}", "new": "hyps.new.v2.opt0"}
    _, (problem,) = find_outputs(outputs, base=folder)
    assert problem.code == "P219"
    assert "{replica}" in problem.message
    (folder / "hyps.base.opt{replica}").write_text("a\nb\n")
    assert find_outputs(outputs, base=folder)[1] == []


def test_a_file_of_several_runs_is_parsed_once_for_all_of_them(tmp_path, monkeypatch):
    _helm(tmp_path / "m.json", 3)
    spec = TestSet(format="helm", outputs={"m": "m.json"})
    found = survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="item")
    read: list[Path] = []
    once = HelmReader.read_outputs

    def count(self, path, **given):
        read.append(path)
        return once(self, path, **given)

    monkeypatch.setattr(HelmReader, "read_outputs", count)
    for output in found.outputs:
        assert load_output(spec, output, frame=found.frame).columns == {"em": (f"{output.system[-1]}.0",) * 3}
    assert read == [tmp_path / "m.json"]
