"""`systems.table`: rows that are lost, systems that are forgotten, rows that are cut, are told or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.studies import write_scores, write_study

from pipeline.errors import DataError, Problem
from pipeline.plan.inputs import Inputs
from pipeline.study.load import load_study
from pipeline.survey.survey import survey_study


def inputs_of(folder: Path, table: str, **systems: Any) -> Inputs:
    write_scores(folder / "scores.csv", ["north", "south", "west", "ref"], items=30)
    (folder / "systems.csv").write_text(table)
    study = write_study(
        folder / "study.yaml",
        test_sets={name: {"format": "scores", "outputs": "scores.csv"} for name in ("one", "two")},
        systems={"table": "systems.csv", "exclude": ["ref*"], **systems},
        metrics=["mean"],
    )
    return survey_study(load_study(study).study, folder).inputs


def refused(folder: Path, table: str, **systems: Any) -> tuple[Problem, ...]:
    with pytest.raises(DataError) as caught:
        inputs_of(folder, table, **systems)
    return caught.value.problems


def test_a_row_of_no_system_and_a_system_without_a_row_are_told_once(tmp_path: Path) -> None:
    found = inputs_of(tmp_path, "system,group\nnorht,a\nsouth,a\nwest,b\nref,c\n")
    assert [len(test_set.warnings) for test_set in found.test_sets] == [2, 0]
    row, lacks = found.test_sets[0].warnings
    assert row == "systems.csv, line 2: 'norht' is not a system; did you mean 'north'?"
    assert lacks == "systems.csv has no row for 1 of 3 systems: 'north'"
    assert found.coordinates == {"north": {}, "south": {"group": "a"}, "west": {"group": "b"}}


def test_a_complete_table_is_not_remarked_on(tmp_path: Path) -> None:
    found = inputs_of(tmp_path, 'system,group\n"north",a\nsouth,\n\nwest,b\nref.A,c\n')
    assert [test_set.warnings for test_set in found.test_sets] == [(), ()]
    assert found.coordinates["south"] == {}


def test_many_rows_of_no_system_are_counted(tmp_path: Path) -> None:
    rows = "".join(f"other{k},a\n" for k in range(9))
    found = inputs_of(tmp_path, f"system,group\nnorth,a\nsouth,a\nwest,b\n{rows}")
    told = found.test_sets[0].warnings
    assert len(told) == 6
    assert told[-1] == "systems.csv has 4 more rows of no system"


def test_an_exclusion_that_leaves_out_nothing_is_told_once(tmp_path: Path) -> None:
    table = "system,group\nnorth,a\nsouth,a\nwest,b\nlast-year,c\n"
    found = inputs_of(tmp_path, table, exclude=["ref", "last*", "wset", "human*"])
    assert [len(test_set.warnings) for test_set in found.test_sets] == [2, 0]
    assert found.test_sets[0].warnings == (
        "`systems.exclude`: no system matches 'wset'; did you mean 'west'?",
        "`systems.exclude`: no system matches 'human*'",
    )


@pytest.mark.parametrize(
    ("outputs", "unmatched"),
    [("out/{system}", ["west.tsv"]), ({name: f"out/{name}.csv" for name in ("north", "south", "east")}, ["west.csv", "west.tsv"])],
)
def test_files_are_left_out_by_the_name_of_the_system_or_of_the_file(tmp_path: Path, outputs: Any, unmatched: list[str]) -> None:
    (tmp_path / "out").mkdir()
    for name in ("north", "south", "west", "east"):
        write_scores(tmp_path / "out" / f"{name}.csv", [name], items=30)
    study = write_study(
        tmp_path / "study.yaml",
        test_sets={"one": {"format": "scores", "outputs": outputs}},
        systems={"exclude": ["e?st", "west.csv", "west.tsv"]},
        metrics=["mean"],
    )
    (one,) = survey_study(load_study(study).study, tmp_path).inputs.test_sets
    assert [warning.split("'")[1] for warning in one.warnings if "no system matches" in warning] == unmatched


def test_what_runs_are_is_told_where_nobody_knows_it(tmp_path: Path) -> None:
    found = inputs_of(tmp_path, "system,model,replica,runs_are\nnorth,a,1,epochs\nsouth,a,2,samples\nwest,b,1,\n")
    (told,) = found.test_sets[0].warnings
    assert told == (
        "systems.csv, line 2: runs_are is 'epochs', and counts as 'trainings'; known are 'trainings', 'samples', 'prompts'"
    )


def test_the_typing_error_is_told_where_a_relation_lacks(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, "system,group\nnorht,a\nsouth,a\nwest,b\n", relation="group")
    assert problem.code == "P232"
    assert "did you mean 'north'?" in str(problem.note)


def test_rows_of_another_length_are_refused_all_at_once(tmp_path: Path) -> None:
    found = refused(tmp_path, "system,group\nnorth,a,b\nsouth,a\nwest\n")
    assert [(p.code, str(p.where).rsplit(":", 1)[1]) for p in found] == [("P212", "2"), ("P212", "4")]
    assert "3 fields, its header has 2" in found[0].message


def test_semicolons_are_recognised(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, "system;group\nnorth;a\n")
    assert problem.code == "P235"
    assert "separated by semicolons" in problem.message
    assert "commas or tabs" in str(problem.help)
    (problem,) = refused(tmp_path, "name,group\nnorth,a\n")
    assert "semicolons" not in problem.message


def study_of_groups(folder: Path, unit: str, **test_set: Any) -> Inputs:
    (folder / "one.csv").write_text("item,A,B,C\n" + "".join(f"q{k},{k % 4},{k},{k * k % 9}\n" for k in range(12)))
    (folder / "two.csv").write_text("item,part,B,C,A\n" + "".join(f"q{k},p{k % 4},{k},{k % 5},{k % 2}\n" for k in range(12)))
    sets = {
        "one": {"format": "scores", "outputs": "one.csv", **test_set},
        "two": {"format": "scores", "outputs": "two.csv", "columns": {unit: "part"}},
    }
    study = write_study(folder / "study.yaml", test_sets=sets, metrics=["mean"], resampling={"unit": unit, "replicates": 100})
    return survey_study(load_study(study).study, folder).inputs


def test_a_unit_that_is_a_system_elsewhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        study_of_groups(tmp_path, "A")
    (problem,) = caught.value.problems
    assert problem.code == "P238"
    assert problem.message == "'A' is a system, and in test set 'one' a column that groups the items"


def test_a_unit_that_holds_numbers_is_told_unless_the_study_says_that_it_is_one(tmp_path: Path) -> None:
    said = study_of_groups(tmp_path, "A", columns={"A": "A"})
    assert not any("is not a system" in warning for warning in said.test_sets[0].warnings)
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "t.csv").write_text("item,A,B,C\n" + "".join(f"q{k},{k % 4},{k},{k * k % 9}\n" for k in range(12)))
    sets = {"one": {"format": "scores", "outputs": "t.csv"}}
    study = write_study(tmp_path / "only" / "s.yaml", test_sets=sets, metrics=["mean"], resampling={"unit": "A", "replicates": 9})
    (found,) = survey_study(load_study(study).study, tmp_path / "only").inputs.test_sets
    words = "the column 'A' is not a system, because resampling.unit names it; if that is meant, say so: `columns: {A: A}`"
    assert found.warnings == (words,)


def test_too_few_systems_are_told_with_the_column_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("item,A,B\n" + "".join(f"q{k},{k % 4},{k}\n" for k in range(12)))
    sets = {"one": {"format": "scores", "outputs": "t.csv"}}
    study = write_study(tmp_path / "s.yaml", test_sets=sets, metrics=["mean"], resampling={"unit": "A", "replicates": 9})
    with pytest.raises(DataError) as caught:
        survey_study(load_study(study).study, tmp_path)
    assert caught.value.problems[0].note == "found: B; the column 'A' groups the items"
