"""What `compare` makes of one file that holds several systems, and of a gold that lists the items of scores."""

from __future__ import annotations

from contextlib import suppress

import pytest

from pipeline.errors import UsageError
from pipeline.items.readers.scores import ScoreReader
from pipeline.survey.compare import find_format, usual_metrics


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


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("item,north,south\n1,2,3\n2,1,2\n", False),
        ("item;system;score\n1;loss;3\n2;loss;2\n", False),
        ("item,north,val_loss\n1,2,3\n2,1,2\n", True),
        ('item,system,"error rate"\n1,a,3\n1,b,2\n', True),
        ("score\n3\n2\n", True),
        ('{"id": 1, "north": 1, "south": 2}\n{"id": 2, "north": 1, "south": 2}\n', True),
        (f"item,{','.join(f'system-{k}' for k in range(9000))}\n1{',1' * 9000}\n", True),  # its head is not seen whole
    ],
)
def test_a_table_is_read_for_its_direction_where_its_head_leaves_that_open(text, reads, tmp_path, monkeypatch):
    (tmp_path / "t").write_text(text)
    found = find_format("scores", ["t"], [], base=tmp_path)
    read = []
    whole = ScoreReader.read_outputs
    monkeypatch.setattr(ScoreReader, "read_outputs", lambda *given, **named: read.append(given) or whole(*given, **named))
    with suppress(UsageError):
        usual_metrics(found, {"*": "t"}, base=tmp_path)
    assert bool(read) == reads


def test_what_cannot_be_opened_is_told_where_all_systems_are_read(tmp_path):
    found = find_format("scores", ["none"], [], base=tmp_path)
    assert usual_metrics(found, {"*": "none"}, base=tmp_path).metrics == ["mean"]
