"""`items:` leaves out groups of items, counted; what is left out need not be there."""

from __future__ import annotations

import pytest

from pipeline.errors import DataError, StudyError
from pipeline.items.align import survey_test_set
from pipeline.items.gold import load_gold
from pipeline.items.outputs import load_output
from pipeline.study.grouping import with_asked_columns
from pipeline.study.load import study_from_value
from pipeline.study.resampling import Resampling
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet

SEGMENTS = "item\tdomain\tdocument\n1\tcanary\td0\n2\tnews\td1\n3\tsocial\td2\n4\tnews\td1\n5\tspeech\td3\n"
LINES = ("canary", "two", "three", "four", "five")


@pytest.fixture
def folder(tmp_path):
    for name in ("ref", "north", "south"):
        (tmp_path / f"{name}.txt").write_text("".join(f"{line} {name}\n" for line in LINES))
    (tmp_path / "segments.tsv").write_text(SEGMENTS)
    return tmp_path


def spec(**changes):
    given = {
        "references": ("ref.txt",),
        "outputs": {"north": "north.txt", "south": "south.txt"},
        "documents": "segments.tsv",
        **changes,
    }
    return TestSet(**given)


def survey(folder, unit="item", **changes):
    return survey_test_set("news", spec(**changes), base=folder, systems=Systems(), unit=unit)


def test_an_excluded_group_is_left_out_of_frame_references_and_outputs(folder):
    asked = {"items": {"exclude": {"domain": "canary"}}}
    found = survey(folder, **asked)
    assert found.frame.ids == ("2", "3", "4", "5")
    assert "1 of 5 items are left out by domain: canary" in found.warnings
    gold = load_gold(spec(**asked), base=folder, frame=found.frame)
    assert list(gold.columns["reference.0"]) == ["two ref", "three ref", "four ref", "five ref"]
    output = load_output(spec(**asked), found.outputs[1], frame=found.frame)
    assert list(output.columns["text"]) == ["two south", "three south", "four south", "five south"]
    assert [output.missing for output in found.outputs] == [0, 0]


def test_included_and_excluded_groups_meet_and_units_are_those_of_what_is_left(folder):
    chosen = {"include": {"domain": ["news", "social", "speech"]}, "exclude": {"document": "d2"}}
    found = survey(folder, unit="document", items=chosen)
    assert found.frame.ids == ("2", "4", "5")
    assert found.frame.units == ("d1", "d3")
    assert found.frame.unit_of_item == (0, 0, 1)
    told = [warning for warning in found.warnings if "left out" in warning]
    assert told == ["1 of 5 items are left out by domain: not news, social, speech", "1 of 5 items are left out by document: d2"]


def test_a_study_file_names_one_group_or_several(tmp_path):
    chosen = {"include": {"domain": ["news", "letters"], "year": 2024}, "exclude": {"domain": "canary"}}
    value = {
        "schema": 1,
        "study": "s",
        "test_sets": {"t": {"outputs": "{system}.txt", "references": ["r"], "items": chosen}},
        "metrics": ["bleu"],
    }
    found = study_from_value(value, base=tmp_path).study.test_sets["t"].items
    assert dict(found.include) == {"domain": ("news", "letters"), "year": ("2024",)}
    assert dict(found.exclude) == {"domain": ("canary",)}


def test_a_group_that_is_no_name_is_refused(tmp_path):
    test_set = {"outputs": "{system}.txt", "references": ["r"], "items": {"exclude": {"domain": [["x"]]}}}
    with pytest.raises(StudyError):
        study_from_value({"schema": 1, "study": "s", "test_sets": {"t": test_set}, "metrics": ["bleu"]}, base=tmp_path)


def test_one_unit_that_is_left_is_refused(folder):
    with pytest.raises(DataError) as caught:
        survey(folder, unit="document", items={"include": {"domain": "news"}})
    assert [problem.code for problem in caught.value.problems] == ["P213"]


@pytest.mark.parametrize(
    ("items", "code", "word"),
    [
        ({"exclude": {"domain": "canarry"}}, "P218", "did you mean 'canary'?"),
        ({"include": {"genre": "news"}}, "P223", ""),
        ({"include": {"domain": "news"}, "exclude": {"domain": "news"}}, "P218", ""),
    ],
)
def test_what_would_choose_nothing_or_everything_is_refused(folder, items, code, word):
    with pytest.raises(DataError) as caught:
        survey(folder, items=items)
    assert code in [problem.code for problem in caught.value.problems]
    assert word in str([problem.help for problem in caught.value.problems])


def test_an_item_that_is_left_out_may_lack_by_name_and_another_may_not(tmp_path):
    for name, ids in (("north", "abcd"), ("south", "bcd"), ("west", "abc")):
        (tmp_path / f"{name}.csv").write_text("item,score\n" + "".join(f"{k},1.5\n" for k in ids))
    (tmp_path / "groups.tsv").write_text("item\tkind\na\ttrial\nb\treal\nc\treal\nd\treal\n")
    given = {"format": "scores", "outputs": "{system}.csv", "documents": "groups.tsv", "items": {"exclude": {"kind": "trial"}}}
    (tmp_path / "west.csv").rename(tmp_path / "west")
    found = survey_test_set("t", TestSet(**given), base=tmp_path, systems=Systems(), unit="item")
    assert found.frame.ids == ("b", "c", "d")
    (tmp_path / "west").rename(tmp_path / "west.csv")
    with pytest.raises(DataError) as caught:
        survey_test_set("t", TestSet(**given), base=tmp_path, systems=Systems(), unit="item")
    assert [(problem.code, "'d'" in problem.message) for problem in caught.value.problems] == [("P216", True)]


@pytest.mark.parametrize(
    "table", [SEGMENTS.replace("\td0", "\t"), "domain\tdocument\ncanary\t\nnews\td1\nsocial\td2\nnews\td1\nspeech\td3\n"]
)
def test_an_item_that_is_left_out_needs_no_document(folder, table):
    (folder / "segments.tsv").write_text(table)
    found = survey(folder, unit="document", items={"exclude": {"domain": "canary"}})
    assert (found.frame.ids, found.frame.units, found.frame.unit_of_item) == (
        ("2", "3", "4", "5"),
        ("d1", "d2", "d3"),
        (0, 1, 0, 2),
    )
    for items in ("1-5", {"exclude": {"domain": "social"}}):
        with pytest.raises(DataError) as caught:
            survey(folder, unit="document", items=items)
        assert ("P222", f"{folder / 'segments.tsv'}:2") in [(problem.code, problem.where) for problem in caught.value.problems]
    assert survey(folder, unit="document", items="2-5").frame.units == ("d1", "d2", "d3")


def test_an_item_that_is_left_out_needs_no_row_in_the_documents(tmp_path):
    for name in ("north", "south"):
        (tmp_path / f"{name}.csv").write_text("item,kind,score\na,trial,1\n" + "".join(f"{k},real,2\n" for k in "bcd"))
    (tmp_path / "documents.tsv").write_text("item\tdocument\nb\tx\nc\ty\nd\ty\n")
    given = {"format": "scores", "outputs": "{system}.csv", "documents": "documents.tsv"}

    def frame(**more):
        asked = with_asked_columns(TestSet(**given, **more), Resampling(unit="document"))
        return survey_test_set("t", asked, base=tmp_path, systems=Systems(), unit="document").frame

    assert frame(items={"exclude": {"kind": "trial"}}).unit_of_item == (0, 1, 1)
    with pytest.raises(DataError, match="the item 'a' is not in the table"):
        frame()


def test_what_has_no_document_is_told_in_the_order_of_the_items(tmp_path):
    ids = [f"q{k}" for k in range(10)]
    for name in ("north", "south"):
        (tmp_path / f"{name}.csv").write_text("item,document,score\n" + "".join(f"{k},{'' if k != 'q7' else 'x'},2\n" for k in ids))
    spec = with_asked_columns(TestSet(format="scores", outputs="{system}.csv"), Resampling(unit="document"))
    with pytest.raises(DataError) as caught:
        survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="document")
    lacking = [problem.message for problem in caught.value.problems if problem.code == "P222"]
    assert lacking == [f"item '{k}' has no document" for k in ids if k != "q7"]


def test_a_table_of_the_scored_lines_alone_names_them(folder):
    lines = SEGMENTS.splitlines(keepends=True)
    (folder / "segments.tsv").write_text("".join([lines[0], *lines[2:]]))
    found = survey(folder, unit="document", items="2-5")
    assert (found.frame.ids, found.frame.units) == (("2", "3", "4", "5"), ("d1", "d2", "d3"))
    with pytest.raises(DataError, match="P215"):
        survey(folder, unit="document")


def test_a_table_of_as_many_rows_that_names_other_lines_is_no_table_of_some(folder):
    rows = [("3", "a"), ("1", "b"), ("9", "c"), ("5", "d"), ("7", "e")]
    (folder / "segments.tsv").write_text("item\tdocument\n" + "".join(f"{k}\t{name}\n" for k, name in rows))
    with pytest.raises(DataError) as caught:
        survey(folder, unit="document", items="1, 3, 5")
    assert {problem.code for problem in caught.value.problems} == {"P222"}


@pytest.mark.parametrize("first", ["include", "exclude"])
def test_what_one_column_leaves_out_needs_no_group_in_another(folder, first):
    rows = [("canary", "", ""), ("news", "d1", "24"), ("social", "d2", "24"), ("news", "d1", "23"), ("speech", "d3", "24")]
    (folder / "segments.tsv").write_text(
        "item\tdomain\tdocument\tyear\n" + "".join(f"{k}\t{a}\t{b}\t{c}\n" for k, (a, b, c) in enumerate(rows, 1))
    )
    domain, year = {"exclude": {"domain": "canary"}}, {"include": {"year": "24"}}
    if first == "include":
        domain, year = {"include": {"domain": ["news", "social", "speech"]}}, {"exclude": {"year": "23"}}
    found = survey(folder, items={**domain, **year})
    assert found.frame.ids == ("2", "3", "5")
    assert sorted(told[:4] for told in found.warnings if "left out" in told) == ["1 of", "1 of"]
    with pytest.raises(DataError) as caught:
        survey(folder, items=year)
    assert [(problem.code, problem.where) for problem in caught.value.problems] == [("P222", f"{folder / 'segments.tsv'}:2")]


def test_ranges_choose_from_outputs_of_all_items_and_take_outputs_of_the_chosen_alone(folder):
    found = survey(folder, items="2-3, 5")
    assert found.frame.ids == ("2", "3", "5")
    output = load_output(spec(items="2-3, 5"), found.outputs[0], frame=found.frame)
    assert list(output.columns["text"]) == ["two north", "three north", "five north"]
    for name in ("north", "south"):
        (folder / f"{name}.txt").write_text("".join(f"{LINES[k]} {name}\n" for k in (1, 2, 4)))
    found = survey(folder, items="2-3, 5", documents=None)
    output = load_output(spec(items="2-3, 5", documents=None), found.outputs[0], frame=found.frame)
    assert list(output.columns["text"]) == ["two north", "three north", "five north"]
