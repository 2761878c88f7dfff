"""Runs and qrels of TREC: the order of trec_eval, what is refused and where, and topics that one of the two lacks."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from support.listening import listen

from pipeline.api import compare
from pipeline.errors import DataError
from pipeline.interfaces import Items
from pipeline.items.align import survey_test_set
from pipeline.items.frame import align_items
from pipeline.items.outputs import load_output
from pipeline.items.readers import load_reader
from pipeline.items.recognise import recognise_file
from pipeline.metrics import load_metric
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 2\nq2 0 d1 1\nq2 0 d4 -1\nq3 0 d5 1\n"
NORTH = "q2 Q0 d4 1 3 n\nq2 Q0 d1 2 2 n\nq1 Q0 d3 1 9.5 n\nq1 Q0 d9 2 9 n\nq1 Q0 d1 3 8 n\nq3 Q0 d5 1 1 n\n"
SOUTH = "q1 Q0 d1 1 9 s\nq2 Q0 d1 1 3 s\nq3 Q0 d5 1 1 s\n"


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def ranking(folder: Path, text: str) -> dict[str, tuple[str, ...]]:
    write(folder, run=text)
    items = load_reader("trec").read_outputs(folder / "run", system="north", options={})["north"]
    return dict(zip(items.ids, items.columns["ranking"], strict=True))


def gold(folder: Path, *texts: str) -> Items:
    paths = []
    for k, text in enumerate(texts):
        paths.append(folder / f"qrels.{k}")
        paths[-1].write_text(text, encoding="utf-8")
    items = load_reader("trec").read_gold(paths, {})
    assert items is not None
    return items


def problems(folder: Path, text: str) -> list[tuple[str, str, str]]:
    with pytest.raises(DataError) as caught:
        ranking(folder, text)
    return [(p.code, str(p.where).removeprefix(str(folder / "run")), p.message) for p in caught.value.problems]


def test_documents_go_by_score_then_by_name_backwards_and_ranks_are_not_looked_at(tmp_path):
    lines = ["q1 Q0 d2 1 5.0 n", "q1 Q0 d10 2 5 n", "q1 Q0 d1 3 7e0 n", "q1 Q0 dé 9 5.00 n", "q1 Q0 d3 0 -1 n"]
    assert ranking(tmp_path, "\n".join(lines)) == {"q1": ("d1", "dé", "d2", "d10", "d3")}
    # Equal in single precision, as in trec_eval: the name decides, although the first score is larger.
    assert ranking(tmp_path, "q1 Q0 a 1 1.000000001 n\nq1 Q0 b 2 1 n\n") == {"q1": ("b", "a")}
    assert ranking(tmp_path, "q1 Q0 a 1 1.000001 n\nq1 Q0 b 2 1 n\n") == {"q1": ("a", "b")}
    assert ranking(tmp_path, "q1 Q0 a 1 1e300 n\nq1 Q0 b 2 -1e300 n\nq1 Q0 c 1 3e38 n\n") == {"q1": ("a", "c", "b")}


def test_blanks_of_any_number_part_fields_and_those_that_do_not_break_do_not(tmp_path):
    assert ranking(tmp_path, "  q1\tQ0   d\u00a01 1\t2 n \n\nq1 Q0 e 1 3 n\n") == {"q1": ("e", "d\u00a01")}


def test_topics_stand_in_the_order_of_the_file_with_the_lines_of_their_first_documents(tmp_path):
    write(tmp_path, run=NORTH)
    items = load_reader("trec").read_outputs(tmp_path / "run", system="north", options={})["north"]
    assert (items.ids, items.lines, items.numbered) == (("q2", "q1", "q3"), (1, 3, 6), False)
    assert items.columns["ranking"] == (("d4", "d1"), ("d3", "d9", "d1"), ("d5",))


def test_judgements_are_pairs_of_a_document_and_its_relevance(tmp_path):
    items = gold(tmp_path, QRELS)
    assert items.ids == ("q1", "q2", "q3")
    assert items.columns == {"relevance": ((("d1", 1), ("d2", 0), ("d3", 2)), (("d1", 1), ("d4", -1)), (("d5", 1),))}
    assert items.lines == (1, 4, 6)


def test_judgements_of_several_files_are_one_and_no_topic_is_in_two(tmp_path):
    assert gold(tmp_path, "q1 0 d1 1\n", "q2 0 d1 2\n").ids == ("q1", "q2")
    with pytest.raises(DataError, match="topic 'q1' is judged here and in") as caught:
        gold(tmp_path, "q1 0 d1 1\n", "q2 0 d1 2\nq1 0 d2 2\n")
    assert caught.value.problems[0].code == "P209"
    assert str(caught.value.problems[0].where).endswith("qrels.1:2")


def test_a_document_twice_in_a_topic_is_refused_with_both_lines(tmp_path):
    ((code, where, message),) = problems(tmp_path, "q1 Q0 d1 1 5 n\nq2 Q0 d1 1 5 n\nq1 Q0 d1 2 4 n\n")
    assert (code, where) == ("P209", ":3")
    assert message == "the document 'd1' of topic 'q1' is there twice, on lines 1 and 3"
    with pytest.raises(DataError, match="twice, on lines 1 and 2") as caught:
        gold(tmp_path, "q1 0 d1 1\nq1 1 d1 1\n")
    assert caught.value.problems[0].code == "P209"


@pytest.mark.parametrize(
    ("score", "code", "says"),
    [
        ("nan", "P210", "score 'nan', which is not a finite number"),
        ("-Infinity", "P210", "not a finite number"),
        ("1e999", "P210", "score 1e999, which is not a finite number"),
        ("high", "P264", "score 'high', which is not a number"),
        ("1,5", "P264", "not a number"),
        ("1_0", "P264", "not a number"),
    ],
)
def test_a_score_that_is_no_number_is_refused_with_its_line(tmp_path, score, code, says):
    ((found, where, message),) = problems(tmp_path, f"q1 Q0 d1 1 5 n\nq1 Q0 d2 2 {score} n\n")
    assert (found, where) == (code, ":2")
    assert message.startswith("document 'd2' of topic 'q1' has the score")
    assert says in message


def test_lines_that_are_none_are_refused_all_at_once_and_judgements_are_known(tmp_path):
    found = problems(tmp_path, "q1 Q0 d1 1 5 n\nq1 0 d2 1\nq1 Q0 d2 2 4\n")
    assert [(code, where) for code, where, _ in found] == [("P264", ":2"), ("P264", ":3")]
    assert found[1][2] == "the line has 5 fields in place of 6"
    with pytest.raises(DataError) as caught:
        ranking(tmp_path, QRELS)
    assert "this looks like judgements" in caught.value.problems[0].help
    with pytest.raises(DataError) as caught:
        gold(tmp_path, NORTH)
    assert "this looks like a run" in caught.value.problems[0].help
    assert len(problems(tmp_path, "x\n" * 30)) == 10
    assert problems(tmp_path, "\n \n")[0][0] == "P264"


@pytest.mark.parametrize("level", ["1.0", "yes", "0x1", "1" * 10])
def test_a_relevance_that_is_no_whole_number_is_refused(tmp_path, level):
    with pytest.raises(DataError, match="which is not a whole number") as caught:
        gold(tmp_path, f"q1 0 d1 1\nq1 0 d2 {level}\n")
    assert caught.value.problems[0].code == "P264"
    assert str(caught.value.problems[0].where).endswith("qrels.0:2")


def test_a_file_without_a_named_system_holds_the_runs_of_its_tags(tmp_path):
    write(tmp_path, run=NORTH + SOUTH)
    runs = load_reader("trec").read_outputs(tmp_path / "run", system=None, options={})
    assert {name: items.ids for name, items in runs.items()} == {"n": ("q2", "q1", "q3"), "s": ("q1", "q2", "q3")}
    assert runs["s"].columns["ranking"] == (("d1",), ("d1",), ("d5",))


def test_several_tags_in_the_file_of_one_system_are_told(tmp_path):
    write(tmp_path, run="q1 Q0 d1 1 5 a\nq1 Q0 d2 2 4 b\n")
    reader = listen(load_reader("trec"))
    assert reader.read_outputs(tmp_path / "run", system="north", options={})["north"].columns["ranking"] == (("d1", "d2"),)
    assert "lines of 2 tags (a, b): they are read as one run, 'north'" in reader.warnings[0]


def survey(folder: Path, **more: str):
    spec = TestSet(format="trec", gold="qrels", outputs={"north": "north", "south": "south"}, **more)
    return spec, survey_test_set("web", spec, base=folder, systems=Systems(), unit="item")


def test_topics_that_nobody_judged_are_left_out_and_counted(tmp_path):
    extra = NORTH + "q7 Q0 d1 1 5 n\nq8 Q0 d1 1 5 n\n"
    spec, found = survey(write(tmp_path, qrels=QRELS, north=extra, south=SOUTH))
    assert found.frame.ids == ("q1", "q2", "q3")
    assert f"{tmp_path / 'north'} has 2 of 5 topics without judgements, which are left out: q7, q8" in found.warnings
    assert [(row.system, row.n_items, row.missing, row.extra) for row in found.outputs] == [("north", 3, 0, 0), ("south", 3, 0, 0)]
    items = load_output(spec, found.outputs[0], frame=found.frame, base=tmp_path)
    assert items.columns["ranking"] == (("d3", "d9", "d1"), ("d4", "d1"), ("d5",))


def test_topics_that_a_run_lacks_are_missing_items_and_0_where_the_study_says_so(tmp_path):
    write(tmp_path, qrels=QRELS, north=NORTH, south=SOUTH.replace("q2 Q0 d1 1 3 s\n", ""))
    with pytest.raises(DataError, match="system 'south' lacks 1 of 3 items: 'q2'") as caught:
        survey(tmp_path)
    assert caught.value.problems[0].code == "P216"
    _, dropped = survey(tmp_path, missing="drop")
    assert dropped.frame.ids == ("q1", "q3")
    spec, zero = survey(tmp_path, missing="zero")
    assert zero.frame.ids == ("q1", "q2", "q3")
    south = load_output(spec, zero.outputs[1], frame=zero.frame, base=tmp_path)
    metric = load_metric("average-precision")
    judged = align_items(gold(tmp_path, QRELS), zero.frame)
    assert metric.extract(metric.prepare(judged), south).values.tolist() == [[500000000, 1], [0, 1], [1000000000, 1]]


def test_a_run_of_other_topics_is_refused_and_not_emptied(tmp_path):
    with pytest.raises(DataError, match="system 'south' lacks 3 of 3 items"):
        survey(write(tmp_path, qrels=QRELS, north=NORTH, south=SOUTH.replace("q", "x")))


def test_runs_are_recognised_and_compared_with_the_usual_metric(tmp_path):
    write(tmp_path, qrels=QRELS, north=NORTH)
    (tmp_path / "south.gz").write_bytes(gzip.compress(SOUTH.encode()))
    found, why = recognise_file(tmp_path / "south.gz", gold=True)
    assert found.name == "trec"
    assert why == "south.gz is read as trec: six fields a line, the second Q0, the fifth a score: 9"
    outputs = {name: str(tmp_path / path) for name, path in (("north", "north"), ("south", "south.gz"))}
    document = compare(outputs, [str(tmp_path / "qrels")], replicates=200)
    scores = {row["name"]: row["scores"]["average-precision"] for row in document["systems"]}
    # q1: d3 and d1 at 1 and 3 of two; q2: d1 second; q3: d5 first. South: d1 first of two, all others found first.
    assert scores == {
        "north": pytest.approx((5 / 6 + 1 / 2 + 1) / 3, abs=1e-9),
        "south": pytest.approx((1 / 2 + 1 + 1) / 3, abs=1e-9),
    }
    assert json.dumps(document)


def test_nothing_is_written_in_this_format(tmp_path):
    with pytest.raises(ValueError, match="not written in this format"):
        load_reader("trec").write(tmp_path / "x", {"ranking": ()}, ())
