"""Tables of scores may write numbers as true and false, yes and no, in percent and with decimal commas."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.api import compare_study
from pipeline.errors import DataError, Problem
from pipeline.items.readers import load_reader
from pipeline.items.readers.scores import ScoreReader
from pipeline.items.recognise import recognise_file


def read(folder: Path, text: str, *, system: str | None = None, layout: str = "auto") -> dict[str, dict[str, tuple[str, ...]]]:
    (folder / "t.csv").write_text(text)
    found = ScoreReader(layout=layout).read_outputs(folder / "t.csv", system=system, options={})
    return {name: {column: tuple(values) for column, values in items.columns.items()} for name, items in found.items()}


def refusal(folder: Path, text: str, **options: str) -> tuple[Problem, ...]:
    with pytest.raises(DataError) as caught:
        read(folder, text, **options)
    return caught.value.problems


@pytest.mark.parametrize(
    ("text", "north", "south"),
    [
        ("item,north,south\n1,True,False\n2,TRUE,true\n3,false,False\n", "1 1 0", "0 1 0"),
        ("item,north,south\n1,yes,0.5\n2,No,.25\n3, YES ,1\n", "1 0 1", "0.5 .25 1"),
        ("item,north,south\n1,50%,12.5 %\n2,7 %,100%\n3,0%,0%\n", "50 7 0", "12.5 100 0"),
        ("item;north;south\n1;0,173;1\n2;-1,5;2\n3;1e3;,5\n", "0.173 -1.5 1e3", "1 2 .5"),
        ("item;north;south\n1;12,5%;1%\n2;7%;2%\n3;8%;3,25 %\n", "12.5 7 8", "1 2 3.25"),
    ],
)
def test_each_is_read_as_the_number_it_is(text: str, north: str, south: str, tmp_path: Path) -> None:
    wanted = {"north": {"score": tuple(north.split())}, "south": {"score": tuple(south.split())}}
    assert read(tmp_path, text) == wanted
    assert recognise_file(tmp_path / "t.csv")[0].name == "scores"


def test_a_table_of_true_and_false_is_compared_without_a_word_more(tmp_path: Path) -> None:
    (tmp_path / "truth.csv").write_text("item,north,south\n1,True,False\n2,True,True\n")
    (test_set,) = compare_study([tmp_path / "truth.csv"], []).study.test_sets.values()
    assert test_set.format.name == "scores"


def test_labels_stay_labels_with_a_gold_and_ask_for_one_without(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,label\n1,yes\n2,no\n")
    assert recognise_file(tmp_path / "a.csv", gold=True)[0].name == "labels"
    with pytest.raises(DataError, match="P259"):
        recognise_file(tmp_path / "a.csv")
    items = load_reader("labels").read_outputs(tmp_path / "a.csv", system="a", options={})["a"]
    assert items.columns["label"] == ("yes", "no")


@pytest.mark.parametrize(
    ("text", "places", "words"),
    [
        ("item,north\n1,True\n2,0.5\n3,1\n4,2\n", ["2:north"], "mixes numbers and true and false (or yes and no): 'True'"),
        ("item,north\n1,True\n2,no\n3,0\n4,yes\n", ["4:north"], "mixes true and false (or yes and no) and numbers: '0'"),
        ("item,north\n1,50%\n2,0.5\n3,5%\n4,0.5\n", ["3:north", "5:north"], "mixes percent and numbers: '0.5'"),
        ("item;north\n1;0,5\n2;0.5\n3;1,5\n", ["3:north"], "mixes decimal commas and decimal points: '0.5'"),
    ],
)
def test_a_column_of_two_kinds_is_refused_with_its_places(text: str, places: list[str], words: str, tmp_path: Path) -> None:
    problems = refusal(tmp_path, text)
    assert [problem.where for problem in problems] == [f"{tmp_path / 't.csv'}:{place}" for place in places]
    assert {(problem.code, problem.message) for problem in problems} == {("P276", f"column 'north' {words}")}


def test_what_is_missing_among_them_is_refused_as_among_numbers(tmp_path: Path) -> None:
    for value in ("", "NaN"):
        (problem,) = refusal(tmp_path, f"item,north,south\n1,True,True\n2,{value},False\n")
        assert (problem.code, problem.where) == ("P210", f"{tmp_path / 't.csv'}:3:north")


def test_a_decimal_comma_between_tabs_is_refused_with_its_cure(tmp_path: Path) -> None:
    problem, *_ = refusal(tmp_path, "item\tnorth\tsouth\n1\t0,5\t1\n2\t1\t0\n")  # 1,500 may be a thousand and a half
    assert problem.code == "P210"
    assert "decimal point" in str(problem.help)


def test_columns_of_words_are_left_out_though_some_say_no(tmp_path: Path) -> None:
    table = "item,country,sure,north\n1,DE,yes,0.5\n2,NO,maybe,1\n"
    assert read(tmp_path, table) == {"north": {"score": ("0.5", "1")}}


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("item,north,south\n1,50%,0.5\n2,20%,0.25\n", "auto"),
        ("system,q1,q2\nnorth,50%,0.5\nsouth,20%,1\n", "rows"),
        ("system,q1,q2\nnorth,50%,0.5\nsouth,20%,1\n", "auto"),
        ("item;north;south\n1;0,5;0.5\n2;1;1\n", "auto"),
    ],
)
def test_two_scales_side_by_side_are_refused(text: str, layout: str, tmp_path: Path) -> None:
    (problem,) = refusal(tmp_path, text, layout=layout)
    assert problem.code == "P277"


def test_two_scales_are_refused_across_files_and_not_across_quantities(tmp_path: Path) -> None:
    reader = ScoreReader()
    for name, table in {"a": "id,acc,share\n1,1,5%\n2,0,6%\n", "b": "id,acc,share\n1,1,5%\n2,1,7%\n"}.items():
        (tmp_path / f"{name}.csv").write_text(table)
        assert set(reader.read_outputs(tmp_path / f"{name}.csv", system=name, options={})[name].columns) == {"acc", "share"}
    (tmp_path / "c.csv").write_text("id,acc,share\n1,1,0.05\n2,1,0.07\n")
    with pytest.raises(DataError, match="P277") as caught:
        reader.read_outputs(tmp_path / "c.csv", system="c", options={})
    (problem,) = caught.value.problems
    assert "a.csv is in percent" in problem.message
    assert "c.csv is not" in problem.message


LONG = "model,question,score,note\nnorth,7,0.5,x\nnorth,3,1,y\nsouth,3,0,z\nsouth,7,0.25,w\n"


def test_a_long_table_of_models_and_questions_is_read_by_its_columns(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(LONG)
    found = ScoreReader().read_outputs(tmp_path / "t.csv", system=None, options={})
    assert {name: dict(zip(items.ids, items.columns["score"], strict=True)) for name, items in found.items()} == {
        "north": {"7": "0.5", "3": "1"},
        "south": {"3": "0", "7": "0.25"},
    }
    assert all(list(items.columns) == ["score"] for items in found.values())


@pytest.mark.parametrize(
    ("text", "systems"),
    [
        ("item,model,baseline\n1,0.5,1\n2,1,1\n", {"model", "baseline"}),  # a system of this name
        ("item,model,north,south\n1,x,0.5,1\n2,y,1,1\n", {"north", "south"}),  # which model made the question
        ("item,question,north\n1,4,1\n2,5,1\n", {"question", "north"}),  # wide: each may be a system
    ],
)
def test_wide_tables_with_columns_of_these_names_are_wide(text: str, systems: set[str], tmp_path: Path) -> None:
    assert set(read(tmp_path, text)) == systems
