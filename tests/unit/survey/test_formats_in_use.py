"""What `compare` makes of one file that holds several systems, and of a gold that lists the items of scores."""

from __future__ import annotations

import pytest

from pipeline.errors import UsageError
from pipeline.survey.compare import find_format


@pytest.mark.parametrize("name", ["alpaca-eval", "every-eval-ever", "labels", "scores", "trec"])
def test_a_format_whose_reader_finds_the_systems_in_a_file_may_hold_them(name, tmp_path):
    gold = ["gold"] if name in {"labels", "trec"} else []
    assert find_format(name, ["all"], gold, base=tmp_path).holds_systems


def test_a_file_of_one_system_holds_no_others(tmp_path):
    assert not find_format("conllu", ["north"], ["gold"], base=tmp_path).holds_systems


def test_a_list_of_instances_is_the_gold_of_results_that_name_some(tmp_path):
    assert find_format("swe-bench", ["north"], ["instances.txt"], base=tmp_path).gold == {"gold": "instances.txt"}
    assert find_format("swe-bench", ["north"], [], base=tmp_path).gold == {}
    for name, references in (("swe-bench", ["one", "two"]), ("helm", ["one"])):
        with pytest.raises(UsageError) as caught:
            find_format(name, ["north"], references, base=tmp_path)
        assert [problem.code for problem in caught.value.problems] == ["P014"]


def test_what_a_format_was_recognised_by_is_told_and_nothing_where_it_was_named(tmp_path):
    (tmp_path / "north").write_text("the fog\nthe sea\n")
    assert find_format("auto", ["north"], ["ref"], base=tmp_path).told.startswith("north is read as text: ")
    assert find_format("text", ["north"], ["ref"], base=tmp_path).told == ""
