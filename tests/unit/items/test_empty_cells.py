"""A field without a number is an item that is missing, where the study says what becomes of such items."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pipeline
from pipeline.errors import DataError, Problem
from pipeline.items.align import survey_test_set
from pipeline.items.frame import Survey
from pipeline.items.outputs import load_output
from pipeline.items.recognise import recognise_file
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet

WIDE = "item,north,south,east\nq1,1,2,3\nq2,{},5,6\nq3,7,8,NaN\nq4,9,10,11\n"
LONG = "item,system,score\n" + "".join(
    f"q{k},{name},{value}\n"
    for name, values in {"north": ("1", "{}", "7", "9"), "south": ["2", "5", "8", "10"], "east": ("3", "6", "NaN", "11")}.items()
    for k, value in enumerate(values, start=1)
)
ROWS = "system,q1,q2,q3,q4\nnorth,1,{},7,9\nsouth,2,5,8,10\neast,3,6,NaN,11\n"
NUMBERED = "north,south,east\n1,2,3\n{},5,6\n7,8,NaN\n9,10,11\n"


def look(folder: Path, text: str, missing: str, **spec: object) -> tuple[Survey, dict[str, tuple[str, ...]]]:
    (folder / "t.csv").write_text(text)
    test_set = TestSet(**{"format": "scores", "outputs": "t.csv", "missing": missing, **spec})
    found = survey_test_set("t", test_set, base=folder, systems=Systems(), unit="item")
    scores = {o.system: tuple(load_output(test_set, o, frame=found.frame).columns["score"]) for o in found.outputs}
    return found, scores


def refusal(folder: Path, text: str, missing: str, **spec: object) -> tuple[Problem, ...]:
    with pytest.raises(DataError) as caught:
        look(folder, text, missing, **spec)
    return caught.value.problems


@pytest.mark.parametrize("table", [WIDE, LONG, ROWS, NUMBERED], ids=["wide", "long", "rows", "numbered"])
@pytest.mark.parametrize("mark", ["", " ", "-", "nan", "N/A", "None", "null", "#N/A"])
def test_they_are_left_out_for_all_or_counted_as_zero(table: str, mark: str, tmp_path: Path) -> None:
    found, scores = look(tmp_path, table.format(mark), "drop")
    assert found.frame.ids == (("1", "4") if table is NUMBERED else ("q1", "q4"))
    assert scores == {"north": ("1", "9"), "south": ("2", "10"), "east": ("3", "11")}
    assert {o.system: o.missing for o in found.outputs} == {"north": 1, "south": 0, "east": 1}
    assert any("'north' lacks 1 item, which is left out for all systems" in told for told in found.warnings)
    found, scores = look(tmp_path, table.format(mark), "zero")
    assert len(found.frame.ids) == 4
    assert scores == {"north": ("1", "0", "7", "9"), "south": ("2", "5", "8", "10"), "east": ("3", "6", "0", "11")}
    assert "system 'north' lacks 1 item, which is counted as 0" in found.warnings


def test_they_are_refused_where_the_study_does_not_say(tmp_path: Path) -> None:
    first, second = refusal(tmp_path, WIDE.format(""), "error")
    assert [(p.code, p.where.rpartition("t.csv:")[2]) for p in (first, second)] == [("P210", "3:north"), ("P210", "4:east")]
    assert "`missing: drop` or `missing: zero`" in str(first.help)


@pytest.mark.parametrize("value", ["inf", "-Infinity", "1e999", "high", "0,5"])
@pytest.mark.parametrize("missing", ["drop", "zero"])
def test_what_is_infinite_or_a_word_is_refused_whatever_the_study_says(value: str, missing: str, tmp_path: Path) -> None:
    (problem,) = refusal(tmp_path, WIDE.replace("NaN", "6").replace("{}", f'"{value}"'), missing)
    assert (problem.code, problem.where) == ("P210", f"{tmp_path / 't.csv'}:3:north")
    assert "missing" not in str(problem.help)


def test_a_system_without_any_number_is_refused_whatever_the_study_says(tmp_path: Path) -> None:
    problems = refusal(tmp_path, "item,north,south\nq1,,1\nq2,-,2\n", "drop")
    assert {p.code for p in problems} == {"P210"}
    assert len(problems) == 2


@pytest.mark.parametrize("missing", ["drop", "zero"])
@pytest.mark.parametrize(
    ("table", "lacking"),
    [
        ("item,system,score\nq1,north,1\nq2,north,2\nq1,south,3\nq2,south,4\nq1,east,\nq2,east,-\n", "east"),
        ("system,q1,q2\nnorth,1,2\nsouth,3,4\neast,,-\n", "east"),
        ("item,seed,north,south\nq1,1,1,3\nq2,1,2,4\nq1,2,5,\nq2,2,6,\n", "south/2"),
    ],
    ids=["long", "rows", "runs"],
)
def test_a_system_or_a_run_that_lacks_every_item_is_refused_or_left_out(
    table: str, lacking: str, missing: str, tmp_path: Path
) -> None:
    (problem,) = refusal(tmp_path, table, missing)
    assert (problem.code, problem.message) == ("P218", f"system '{lacking}' has no items")
    spec = TestSet(format="scores", outputs="t.csv", missing=missing)
    found = survey_test_set("t", spec, base=tmp_path, systems=Systems(exclude=[lacking]), unit="item")
    assert found.frame.ids == ("q1", "q2")
    assert [o.missing for o in found.outputs] == [0] * (3 if "seed" in table else 2)


def test_a_column_without_any_number_is_not_told_to_be_of_missing_items(tmp_path: Path) -> None:
    for missing in ("error", "drop", "zero"):
        problems = refusal(tmp_path, "system,q1,q2,q3\nnorth,1,,2\nsouth,2,NaN,3\n", missing)
        assert {p.help for p in problems} == {"write numbers, or leave the column out: it has none"}


@pytest.mark.parametrize("missing", ["error", "drop"])
def test_a_column_of_notes_may_have_empty_cells_and_is_left_out(missing: str, tmp_path: Path) -> None:
    found, scores = look(tmp_path, "item,north,south,note\nq1,1,2,\nq2,3,4,too short\nq3,5,6,None\n", missing)
    assert scores == {"north": ("1", "3", "5"), "south": ("2", "4", "6")}
    assert any("the column 'note' holds text, and was left out" in told for told in found.warnings)


@pytest.mark.parametrize("value", ["inf", "0,5"])
def test_a_column_of_what_might_be_numbers_is_not_taken_for_notes(value: str, tmp_path: Path) -> None:
    problems = refusal(tmp_path, f'item,north,south,east\nq1,1,2,\nq2,3,4,"{value}"\nq3,5,6,high\n', "drop")
    assert {p.code for p in problems} == {"P210"}


def test_a_row_with_some_of_its_numbers_is_neither_there_nor_missing(tmp_path: Path) -> None:
    table = "item,system,errors,words\nq1,north,1,9\nq2,north,,\nq3,north,2,\nq1,south,1,9\nq2,south,3,7\nq3,south,0,8\n"
    (problem,) = refusal(tmp_path, table, "drop")
    assert (problem.code, problem.where) == ("P210", f"{tmp_path / 't.csv'}:4:words")
    whole = table.replace("q3,north,2,\n", "q3,north,2,6\n")
    (tmp_path / "t.csv").write_text(whole)
    spec = TestSet(format="scores", outputs="t.csv", missing="drop")
    found = survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="item")
    assert found.frame.ids == ("q1", "q3")
    assert load_output(spec, found.outputs[0], frame=found.frame).columns == {"errors": ("1", "2"), "words": ("9", "6")}


def test_files_without_identifiers_lack_an_item_at_its_place(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    for name, values in {"north": ["1", "", "3"], "south": ["4", "5", "6"]}.items():
        (tmp_path / "out" / f"{name}.csv").write_text("score,time\n" + "".join(f"{v},{v}\n" for v in values))
    spec = TestSet(format="scores", outputs="out/{system}.csv", missing="zero")
    found = survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="item")
    assert {o.system: load_output(spec, o, frame=found.frame).columns["score"] for o in found.outputs} == {
        "north": ("1", "0", "3"),
        "south": ("4", "5", "6"),
    }
    with pytest.raises(DataError) as caught:  # which line of the other file is left out, its numbers alone would say
        survey_test_set("t", spec.model_copy(update={"missing": "drop"}), base=tmp_path, systems=Systems(), unit="item")
    assert [p.code for p in caught.value.problems] == ["P214"]


def test_missing_numbers_of_a_data_frame_are_left_out() -> None:
    values = np.random.default_rng(7).normal(size=(40, 2)).round(3)
    frame = pd.DataFrame(values, columns=["north", "south"], index=[f"q{k}" for k in range(40)])
    holes = frame.copy()
    holes.loc["q5", "south"] = np.nan
    holes.loc["q11", "north"] = np.nan
    found = pipeline.compare(holes, missing="drop", replicates=999)
    expected = frame.drop(["q5", "q11"]).mean()
    assert dict(zip(found.systems["name"], found.systems["score"], strict=True)) == pytest.approx(dict(expected), abs=1e-9)
    with pytest.raises(DataError, match="P210"):
        pipeline.compare(holes, replicates=999)


def test_a_score_is_found_by_its_name_where_items_of_it_are_missing(tmp_path: Path) -> None:
    rows = [
        f"q{k},{name},{'' if (k, name) == (3, 'north') else (k + len(name)) % 7}" for k in range(40) for name in ("north", "south")
    ]
    (tmp_path / "t.csv").write_text("item,system,accuracy\n" + "\n".join(rows) + "\n")
    found = pipeline.compare(tmp_path / "t.csv", metrics=["accuracy"], missing="drop", replicates=200)
    assert found["test_sets"][0]["metrics"][0]["title"] == "accuracy"
    assert len(found.systems) == 2


SCORED = "item,system,score,seconds\nq1,north,1,9\nq2,north,,7\nq3,north,2,5\nq1,south,1,9\nq2,south,3,7\nq3,south,0,8\n"


@pytest.mark.parametrize("missing", ["drop", "zero"])
def test_an_item_without_its_score_is_missing_whatever_other_numbers_it_has(missing: str, tmp_path: Path) -> None:
    found, scores = look(tmp_path, SCORED, missing)
    kept = missing == "zero"
    assert found.frame.ids == (("q1", "q2", "q3") if kept else ("q1", "q3"))
    assert scores == {"north": ("1", "0", "2") if kept else ("1", "2"), "south": ("1", "3", "0") if kept else ("1", "0")}
    assert {o.system: o.missing for o in found.outputs} == {"north": 1, "south": 0}
    (problem,) = refusal(tmp_path, SCORED, "error")
    assert (problem.code, problem.where) == ("P210", f"{tmp_path / 't.csv'}:3:score")


def test_an_item_that_has_its_score_has_its_other_numbers_too(tmp_path: Path) -> None:
    (problem,) = refusal(tmp_path, SCORED.replace("q3,north,2,5", "q3,north,2,"), "drop")
    assert (problem.code, problem.where) == ("P210", f"{tmp_path / 't.csv'}:4:seconds")


@pytest.mark.parametrize(
    "table", ["item,system,score\nq1,east,\nq2,east,\nq1,west,1\nq2,west,0\n", "item,north,south\nq1,,NaN\nq2,-,0\nq3,1,0\n"]
)
def test_scores_are_recognised_where_the_first_rows_have_none(table: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(table)
    assert recognise_file(tmp_path / "t.csv")[0].name == "scores"
