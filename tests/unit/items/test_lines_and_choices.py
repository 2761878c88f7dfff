"""Items that are chosen or missing where outputs have line numbers alone, and columns that choose items."""

from __future__ import annotations

import json

import pytest

from pipeline.errors import DataError, StudyError
from pipeline.items.align import survey_test_set
from pipeline.items.outputs import load_output
from pipeline.study.load import study_from_value
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet
from pipeline.survey.survey import survey_study

LINES = ("one", "two", "three", "four", "five", "six")


@pytest.fixture
def folder(tmp_path):
    for name, count in (("ref", 6), ("north", 6), ("south", 4)):
        (tmp_path / f"{name}.txt").write_text("".join(f"{line} {name}\n" for line in LINES[:count]))
    (tmp_path / "segments.tsv").write_text("document\tdomain\n" + "d1\tcanary\n" * 2 + "d2\tnews\n" * 4)
    (tmp_path / "gold.tsv").write_text("id\tlabel\n" + "".join(f"q{k}\t{k % 2}\n" for k in range(6)))
    for name, count in (("a", 6), ("b", 5)):
        (tmp_path / f"{name}.labels").write_text("".join(f"{k % 2}\n" for k in range(count)))
    (tmp_path / "wide.csv").write_text(
        "item,north,south,year,domain\n" + "".join(f"i{k},0.{k},1,{2018 + k % 2},d{k}\n" for k in range(6))
    )
    return tmp_path


def survey(folder, **given):
    spec = TestSet(**given)
    return spec, survey_test_set("t", spec, base=folder, systems=Systems(), unit="item")


@pytest.mark.parametrize("items", ["3-6", {"exclude": {"domain": "canary"}}])
def test_an_output_that_is_as_long_as_what_is_scored_and_lacks_items_is_not_shifted(folder, items):
    outputs = {"north": "north.txt", "south": "south.txt"}
    spec, found = survey(folder, references=("ref.txt",), outputs=outputs, documents="segments.tsv", items=items, missing="zero")
    assert found.frame.ids == ("3", "4", "5", "6")
    assert [output.missing for output in found.outputs] == [0, 2]
    assert list(load_output(spec, found.outputs[1], frame=found.frame).columns["text"]) == ["three south", "four south", "", ""]


@pytest.mark.parametrize(("missing", "word"), [("zero", "filled by name"), ("drop", "left out by name")])
def test_lines_that_lack_are_not_filled_where_the_gold_has_names(folder, missing, word):
    with pytest.raises(DataError) as caught:
        survey(folder, format="labels", gold="gold.tsv", outputs={"a": "a.labels", "b": "b.labels"}, missing=missing)
    (problem,) = [problem for problem in caught.value.problems if problem.code == "P214"]
    assert word in problem.message
    assert "'b'" in problem.message
    assert problem.where == str(folder / "b.labels")


def test_lines_that_lack_are_told_once_where_nothing_is_to_become_of_them(folder):
    with pytest.raises(DataError) as caught:
        survey(folder, format="labels", gold="gold.tsv", outputs={"a": "a.labels", "b": "b.labels"})
    assert [problem.code for problem in caught.value.problems] == ["P203"]


def value(items):
    test_set = {"format": "scores", "outputs": "wide.csv", "items": items}
    return {"schema": 1, "study": "s", "test_sets": {"t": test_set}, "metrics": ["mean"]}


def test_a_column_that_items_are_chosen_by_is_no_system_and_need_not_be_named_again(folder):
    study = study_from_value(value({"exclude": {"domain": ["d0", "d3"], "year": 2019}}), base=folder).study
    (test_set,) = survey_study(study, folder).inputs.test_sets
    assert [output.system for output in test_set.outputs] == ["north", "south"]
    assert test_set.n_items == 2
    (told,) = [warning for warning in test_set.warnings if "is not a system" in warning]
    assert told.startswith("the column 'year' is not a system, because items names it")


@pytest.mark.parametrize("column", ["item", "system"])
def test_items_are_not_chosen_by_what_groups_none(folder, column):
    with pytest.raises(StudyError) as caught:
        study_from_value(value({"include": {column: "north"}}), base=folder)
    assert f"the column of the {column}s groups no items" in str(caught.value)


def test_what_is_left_out_may_be_another_item_with_another_system(tmp_path):
    for name, first in (("north", "aa"), ("south", "bb")):
        rows = [(first, "canary"), ("cc", "news"), ("dd", "news")]
        (tmp_path / name).write_text(
            "".join(
                json.dumps(
                    {
                        "model_id": name,
                        "evaluation_name": "e",
                        "sample_id": k,
                        "sample_hash": asked,
                        "evaluation": {"score": 0.5},
                        "metadata": {"domain": domain},
                    }
                )
                + "\n"
                for k, (asked, domain) in enumerate(rows)
            )
        )
    given = {"format": "every-eval-ever", "outputs": {"north": "north", "south": "south"}, "columns": {"domain": "domain"}}
    assert survey(tmp_path, **given, items={"exclude": {"domain": "canary"}})[1].frame.ids == ("1", "2")
    with pytest.raises(DataError) as caught:
        survey(tmp_path, **given)
    assert [problem.code for problem in caught.value.problems] == ["P262"]
