"""`fetch`: the command that brings a study's data is told with every file that is not there, and with no other problem."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import DataError, Problem, StudyError
from pipeline.items.training import expand_files
from pipeline.study.load import load_study, study_from_value
from pipeline.study.schema import Study
from pipeline.study.training_schema import DataFiles
from pipeline.survey.survey import survey_study

TOLD = "bring the data: `./get 'my data'`"


def write(folder: Path, test_set: str, *, fetch: str = "./get 'my data'", more: str = "") -> Path:
    metric = "bleu" if "format: text" in test_set else "mean"
    lines = ("schema: 1", "study: s", f"fetch: {fetch}", f"test_sets: {{t: {{{test_set}}}}}", f"metrics: [{metric}]", more)
    (folder / "study.yaml").write_text("\n".join(lines), encoding="utf-8")
    return folder / "study.yaml"


def problem_of(path: Path) -> Problem:
    loaded = load_study(path)
    with pytest.raises(DataError) as caught:
        survey_study(loaded.study, loaded.base, variables=loaded.variables)
    (problem,) = caught.value.problems
    return problem


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "scores.csv").write_text("item,a,b\n1,1,2\n2,2,2\n3,1,0\n")
    (tmp_path / "a.out.gz").write_bytes(b"one\n")
    (tmp_path / "b.out.gz").write_bytes(b"two\n")
    return tmp_path


THERE = "there are a.out.gz, b.out.gz, scores.csv, study.yaml; paths are relative to the study file"


@pytest.mark.parametrize(
    ("test_set", "code", "own"),
    [
        ("format: scores, outputs: score.csv", "P201", "did you mean scores.csv? paths are relative to the study file"),
        ('format: scores, outputs: "{system}.out"', "P207", "did you mean"),
        (
            'format: text, references: [ref.txt], outputs: "{system}.out.gz"',
            "P201",
            THERE,
        ),
        (
            "format: scores, outputs: scores.csv, documents: documents.csv",
            "P201",
            THERE,
        ),
    ],
)
def test_the_command_stands_behind_what_else_helps(folder: Path, test_set: str, code: str, own: str) -> None:
    problem = problem_of(write(folder, test_set))
    assert problem.code == code
    assert (problem.help or "").startswith(own)
    assert (problem.help or "").endswith(f"; {TOLD}")


def test_a_table_of_systems_that_is_not_there_is_among_the_data(folder: Path) -> None:
    problem = problem_of(write(folder, "format: scores, outputs: scores.csv", more="systems: {table: systems.csv}"))
    assert (problem.code, problem.help) == ("P233", f"correct the path; {TOLD}")


def test_variables_are_told_where_paths_name_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_DATA", raising=False)
    problem = problem_of(write(folder, 'format: scores, outputs: "${MY_DATA:-.}/absent.csv"', fetch="${NOT_OF_A_PATH}"))
    told = "bring the data: `${NOT_OF_A_PATH}`; if you have them elsewhere, set MY_DATA to that folder"
    assert (problem.help or "").endswith(told)


def test_training_data_are_among_the_data(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(study: Study, base: Path) -> None:
        expand_files(DataFiles(path="train/*.conllu", format="conllu"), base)

    monkeypatch.setattr("pipeline.survey.survey._survey_study", refuse)
    problem = problem_of(write(folder, "format: scores, outputs: scores.csv"))
    assert (problem.code, problem.help) == ("P271", f"correct `training.data.path`; {TOLD}")


@pytest.mark.parametrize(
    ("test_set", "code"),
    [
        ("format: scores, outputs: bad.csv", "P210"),
        ('format: {name: json-lines, score: [s, "{system}"]}, outputs: bad.jsonl', "P207"),
    ],
)
def test_a_file_that_is_there_is_not_to_be_brought(folder: Path, test_set: str, code: str) -> None:
    (folder / "bad.csv").write_text("item,a,b\n1,1,2\n2,1,x\n3,1,0\n")
    (folder / "bad.jsonl").write_text('{"s": {}}\n')
    problem = problem_of(write(folder, test_set))
    assert problem.code == code
    assert "bring the data" not in (problem.help or "")


def test_a_command_of_nothing_is_refused(folder: Path) -> None:
    value: dict[str, Any] = {"schema": 1, "study": "s", "metrics": ["mean"]}
    value["test_sets"] = {"t": {"format": "scores", "outputs": "scores.csv"}}
    assert study_from_value({**value, "fetch": "./get"}, base=folder).study.fetch == "./get"
    with pytest.raises(StudyError, match="fetch must not be empty"):
        study_from_value({**value, "fetch": ""}, base=folder)
