"""Samples of Every Eval Ever: which evaluation is taken, what an error and an epoch are, and that samples are the same."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.listening import listen
from support.tool_files import damage, edits, problems_of, put, read_or_refuse, survey, swap, swaps

from pipeline.errors import DataError
from pipeline.items.align import alignment_table
from pipeline.items.readers import load_reader
from pipeline.items.recognise import recognise_file

FIXTURES = Path(__file__).parents[2] / "fixtures" / "every_eval_ever"
EEE = "every-eval-ever"


def row(sample: Any, score: Any, *, result: str | None = None, name: str = "quiz", **more: Any) -> dict[str, Any]:
    value = {
        "schema_version": "0.3.0",
        "evaluation_id": "quiz/made/north/1",
        "model_id": "made/north",
        "evaluation_name": name,
        "evaluation_result_id": result,
        "sample_id": sample,
        "sample_hash": f"hash of {sample}",
        "interaction_type": "single_turn",
        "evaluation": {"score": score, "is_correct": score == 1},
        "error": None,
        "metadata": None,
    }
    return {**value, **more}


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in rows)


def read(path: Path, form: Any = EEE, system: str | None = "north", **columns: str) -> Any:
    reader = listen(load_reader(form))
    return reader.read_outputs(path, system=system, options={"columns": columns}), reader.warnings


def test_scores_and_correctness_are_columns_and_the_hash_is_what_was_asked(tmp_path: Path) -> None:
    path = put(tmp_path / "x_samples.jsonl", lines(row("a", 0.25), row(7, 1), row("b", 1.0)))
    found, warnings = read(path)
    items = found["north"]
    assert (items.ids, items.lines, items.numbered) == (("a", "7", "b"), (1, 2, 3), False)
    assert items.columns == {
        "score": ("0.25", "1", "1.0"),
        "is_correct": ("0", "1", "1"),
        "content": ("hash of a", "hash of 7", "hash of b"),
    }
    assert (warnings, dict(items.published)) == ([], {})


def test_a_sample_with_an_error_is_missing_and_told(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(row("a", 1), row("b", 0, error="timeout"), row("c", 0, error="")))
    found, warnings = read(path)
    assert (found["north"].ids, found["north"].columns["score"]) == (("a", "c"), ("1", "0"))
    assert warnings == [f"{path}: 1 of 3 items are missing, for they have an error: b"]


def test_files_that_the_converter_of_the_project_wrote_are_read_with_their_published_score() -> None:
    found, outputs = survey(FIXTURES, {"name": EEE, "evaluation": "exact_match"}, "{system}/*_samples.jsonl")
    assert found.frame.ids == ("0", "1", "2")
    assert outputs["anchor"].columns == {"score": ("1.0", "0.0", "1.0"), "is_correct": ("1", "0", "1")}
    assert outputs["buoy"].columns["score"] == ("1.0", "1.0", "0.0")  # the file has them as 2, 0, 1
    assert [row.published["score"] for row in alignment_table(found)] == [(2 / 3, 2 / 3), (2 / 3, 2 / 3)]
    found, outputs = survey(FIXTURES, {"name": EEE, "evaluation": "share"}, "{system}/*_samples.jsonl")
    assert [row.published["score"] for row in alignment_table(found)] == [
        (0.5, 0.5),
        (1.25 / 3, pytest.approx(1.25 / 3, abs=1e-15)),
    ]
    assert [output.directions for output in found.outputs] == [{"score": False}] * 2
    found, _ = survey(FIXTURES, {"name": EEE, "evaluation": "exact_match"}, "{system}/*_samples.jsonl")
    assert [output.directions for output in found.outputs] == [{}] * 2  # converters write "more" of what they know nothing of


@pytest.mark.parametrize(
    ("published", "lower", "directions"), [(0.5, True, {"score": False}), (0.5, False, {}), (0.6, True, {}), (0.5, 1, {})]
)
def test_less_is_better_where_the_file_says_so_of_the_mean_of_its_items(
    tmp_path: Path, published: float, lower: Any, directions: dict[str, bool]
) -> None:
    path = put(tmp_path / "x_samples.jsonl", lines(row("a", 0.25, result="r"), row("b", 0.75, result="r")))
    result = {"evaluation_result_id": "r", "metric_config": {"lower_is_better": lower}, "score_details": {"score": published}}
    put(tmp_path / "x.json", json.dumps({"evaluation_results": [result]}))
    assert read(path)[0]["north"].directions == directions


def test_an_evaluation_is_named_by_its_result_or_by_its_name(tmp_path: Path) -> None:
    several = [row("a", 1, result="acc"), row("a", 0.5, result="f1"), row("a", 0, name="poem"), row("b", 0, result="acc")]
    path = put(tmp_path / "x.jsonl", lines(*several))
    assert read(path, {"name": EEE, "evaluation": "acc"})[0]["north"].columns["score"] == ("1", "0")
    assert read(path, {"name": EEE, "evaluation": "poem"})[0]["north"].columns["score"] == ("0",)
    for form, says in (
        (EEE, "the file has 3 evaluations, and none is named: acc, f1, poem"),
        ({"name": EEE, "evaluation": "quiz"}, "the file has 2 evaluations, and none is named: acc, f1"),
        ({"name": EEE, "evaluation": "bleu"}, "the file has no evaluation 'bleu'; it has acc, f1, poem"),
    ):
        (problem,) = problems_of(form, path)
        assert (problem.code, problem.where, says in problem.message) == ("P261", str(path), True)


def test_results_of_one_name_in_two_evaluations_are_told_apart(tmp_path: Path) -> None:
    path = put(
        tmp_path / "x.jsonl", lines(row("a", 1, result="acc"), row("a", 0, result="acc", name="poem"), row("b", 1, name="acc"))
    )
    (problem,) = problems_of(EEE, path)
    assert problem.message == "the file has 3 evaluations, and none is named: acc, poem/acc, quiz/acc"
    assert read(path, {"name": EEE, "evaluation": "acc"})[0]["north"].ids == ("b",)
    assert read(path, {"name": EEE, "evaluation": "poem/acc"})[0]["north"].columns["score"] == ("0",)
    assert read(path, {"name": EEE, "evaluation": "quiz"})[0]["north"].columns["score"] == ("1",)


def test_epochs_are_replicas_and_no_items(tmp_path: Path) -> None:
    epochs = [row(name, score, metadata={"epoch": epoch}) for name, score, epoch in [("a", 1, "1"), ("a", 0, "2"), ("b", 0, "1")]]
    put(tmp_path / "x.json", {"evaluation_results": [{"evaluation_name": "quiz", "score_details": {"score": 0.5}}]})
    found, _ = read(put(tmp_path / "x.jsonl", lines(*epochs)))
    assert {name: (items.ids, items.columns["score"]) for name, items in found.items()} == {
        "north/1": (("a", "b"), ("1", "0")),
        "north/2": (("a",), ("0",)),
    }
    assert found["north/2"].coordinates == {"model": "north", "replica": "2", "runs_are": "samples"}
    assert not found["north/1"].published
    mixed = put(tmp_path / "y.jsonl", lines(*epochs, row("c", 1)))
    (problem,) = problems_of(EEE, mixed)
    assert (problem.code, problem.where) == ("P257", f"{mixed}:4")


def test_models_of_one_file_are_systems_where_the_study_names_none(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(row("a", 1), row("a", 0, model_id="made/south")))
    found, _ = read(path, system=None)
    assert {name: items.columns["score"] for name, items in found.items()} == {"made/north": ("1",), "made/south": ("0",)}
    (problem,) = problems_of(EEE, path)
    assert (problem.code, "2 models, made/north, made/south" in problem.message) == ("P219", True)


def test_metadata_group_samples_where_the_study_names_them(tmp_path: Path) -> None:
    rows = [row("a", 1, metadata={"subject": "law", "book": "1"}), row("b", 1, metadata={"subject": "sea"}), row("c", 0)]
    found, _ = read(put(tmp_path / "x.jsonl", lines(*rows)), topic="subject", document="book", other="nothing", item="sample_id")
    assert found["north"].columns["topic"] == ("law", "sea", "")
    assert found["north"].columns["document"] == ("1", "", "")
    assert set(found["north"].columns) == {"score", "is_correct", "content", "topic", "document"}


def test_a_level_that_is_not_known_is_missing(tmp_path: Path) -> None:
    config = {"has_unknown_level": True, "lower_is_better": False}
    whole = {"evaluation_name": "quiz", "metric_config": config, "score_details": {"score": 1.5}}
    put(tmp_path / "x.json", {"evaluation_results": [whole]})
    found, warnings = read(put(tmp_path / "x_samples.jsonl", lines(row("a", 2), row("b", -1.0), row("c", 1))))
    assert (found["north"].ids, dict(found["north"].published)) == (("a", "c"), {"score": 1.5})
    assert ["1 of 3 items are missing" in warning for warning in warnings] == [True]
    put(tmp_path / "x.json", {"evaluation_results": [{**whole, "metric_config": {}}]})
    assert read(tmp_path / "x_samples.jsonl")[0]["north"].columns["score"] == ("2", "-1.0", "1")


@pytest.mark.parametrize("beside", ["[", "[]", '{"evaluation_results": [{"evaluation_name": "quiz", "score_details": 3}]}'])
def test_what_is_wrong_beside_is_told_and_hinders_nothing(tmp_path: Path, beside: str) -> None:
    put(tmp_path / "x.json", beside)
    found, warnings = read(put(tmp_path / "x_samples.jsonl", lines(row("a", 1))))
    assert (found["north"].ids, dict(found["north"].published)) == (("a",), {})
    assert [warning.split(":")[0] for warning in warnings] == [str(tmp_path / "x.json")]


def test_samples_align_in_any_order_and_others_of_their_name_are_refused(tmp_path: Path) -> None:
    put(tmp_path / "north.jsonl", lines(row("a", 1), row("b", 0), row("c", 0.5)))
    put(tmp_path / "south.jsonl", lines(row("c", 0.25), row("a", 0), row("b", 1)))
    found, outputs = survey(tmp_path, EEE, "{system}.jsonl")
    assert found.frame.ids == ("a", "b", "c")
    assert outputs["south"].columns == {"score": ("0", "1", "0.25"), "is_correct": ("0", "1", "0")}
    put(tmp_path / "south.jsonl", lines(row("c", 0.25), row("a", 0, sample_hash="of another"), row("b", 1)))
    with pytest.raises(DataError) as caught:
        survey(tmp_path, EEE, "{system}.jsonl")
    (problem,) = caught.value.problems
    assert (problem.code, "in 1 of 3 items: 'a' is another item" in problem.message) == ("P262", True)


def test_samples_without_a_hash_are_read_and_told(tmp_path: Path) -> None:
    found, warnings = read(put(tmp_path / "x.jsonl", lines(row("a", 1), row("b", 0, sample_hash=None))))
    assert set(found["north"].columns) == {"score", "is_correct"}
    assert ["not every sample has a hash" in warning for warning in warnings] == [True]


def test_a_sample_twice_in_an_evaluation_is_refused_with_both_lines(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(row("a", 1), row("b", 1), row("a", 1), row("b", 0, error="late")))
    problems = problems_of(EEE, path)
    assert [(problem.code, problem.where) for problem in problems] == [("P209", f"{path}:3"), ("P209", f"{path}:4")]
    assert "'a' occurs twice: on line 1 and on line 3" in problems[0].message


@pytest.mark.parametrize(
    ("bad", "code", "says"),
    [
        (json.dumps(row("b", 1))[:-30], "P257", "ends in the middle"),
        ("[]", "P257", "the line is not an object"),
        (json.dumps(row(4.0, 1)), "P257", "'sample_id' is not a text or a whole number: 4.0"),
        (json.dumps(row("", 1)), "P257", "'sample_id' is not a name"),
        (json.dumps({"sample_id": "b"}), "P257", "no field 'model_id'"),
        (json.dumps(row("b", 1, evaluation=None)), "P257", "'evaluation' is not an object"),
        (json.dumps(row("b", None)), "P257", "'score' is not a whole number or a number"),
        (json.dumps(row("b", "1")), "P257", "'score' is not"),
        (json.dumps(row("b", float("inf"))), "P210", "the score of 'b' is inf"),
        (json.dumps(row("b", 1, metadata=[])), "P257", "'metadata' is not an object"),
        (json.dumps(row("b", 1, metadata={"epoch": {}})), "P257", "'epoch' is not a text"),
    ],
)
def test_what_is_no_sample_is_refused_with_file_and_line(tmp_path: Path, bad: str, code: str, says: str) -> None:
    path = put(tmp_path / "x.jsonl", lines(row("a", 1)) + bad + "\n" + lines(row("c", 1)))
    (problem,) = problems_of(EEE, path)
    assert (problem.code, problem.where) == (code, f"{path}:2")
    assert says in problem.message


def test_the_format_is_recognised_by_its_fields() -> None:
    form, why = recognise_file(next(FIXTURES.glob("anchor/*.jsonl")))
    assert form.name == EEE
    assert why.endswith("line 1 is an object with evaluation_id, evaluation_name, sample_id and interaction_type")


def test_a_byte_order_mark_carriage_returns_and_gzip_change_nothing(tmp_path: Path) -> None:
    text = lines(row("a", 1), row("b", 0.5))
    path = tmp_path / "x_samples.jsonl.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()))
    put(tmp_path / "x.json", {"evaluation_results": [{"evaluation_name": "quiz", "score_details": {"score": 0.75}}]})
    found, warnings = read(path)
    assert found["north"].columns == read(put(tmp_path / "y.jsonl", text))[0]["north"].columns
    assert (found["north"].published, len(warnings)) == ({"score": 0.75}, 1)


def test_options_that_make_no_sense_are_refused() -> None:
    with pytest.raises(Exception, match="P151"):
        load_reader({"name": EEE, "evaluation": 3})


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(changes=st.just([]) | edits, others=swaps)
def test_damaged_bytes_are_refused_or_read_and_never_anything_else(
    tmp_path: Path, changes: list[tuple[float, str, bytes]], others: list[tuple[float, Any]]
) -> None:
    rows = [row("a", 1, metadata={"subject": "law"}), row("b", 0.5), row("c", 0, error="late")]
    data = damage(lines(*swap(rows, others)).encode(), changes)
    read_or_refuse(EEE, tmp_path / "x.jsonl", data, options={"columns": {"topic": "subject"}})
