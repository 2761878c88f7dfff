"""Samples of the lm-evaluation-harness: items by content, filters, metrics that are no numbers, results beside them."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.listening import listen
from support.mutated import dumped, mutated_bytes, mutated_json, trouble

from pipeline.errors import DataError, StudyError
from pipeline.interfaces import Items
from pipeline.items.align import alignment_table, survey_test_set
from pipeline.items.outputs import load_output
from pipeline.items.readers import load_reader
from pipeline.items.recognise import recognise_file
from pipeline.metrics.registry import load_metric
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet

MADE = Path(__file__).parents[2] / "fixtures" / "lm_eval"
(QUIZ,) = (MADE / "anchor").glob("samples_harbour_quiz_*")
(SUMS,) = (MADE / "anchor").glob("samples_harbour_sums_*")
(TEXTS,) = (MADE / "anchor").glob("samples_harbour_texts_*")
(THRICE,) = (MADE.parent / "lm_eval_repeats" / "anchor").glob("samples_*")
PORT = "8f80fc517d11c4c4a5e00695fdb83ce9b766b5e460d43f1ccec08e2e54144be4"


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path, columns: dict[str, str] | None = None, **options: Any) -> tuple[Items, list[str]]:
    reader = listen(load_reader({"name": "lm-eval", **options}))
    outputs = reader.read_outputs(path, system="anchor", options={"columns": columns or {}})
    assert list(outputs) == ["anchor"]
    return outputs["anchor"], reader.warnings


def refused(path: Path, code: str, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read(path, **options)
    problem = caught.value.problems[0]
    assert problem.code == code
    return f"{problem.message} @ {problem.where}"


def row(number: int, **scores: Any) -> dict[str, Any]:
    return {"doc_id": number, "doc": {"q": f"question {number}"}, "target": "x", "arguments": [[f"ask {number}"]], **scores}


# What the harness wrote


def test_every_metric_that_is_a_number_is_a_column_with_its_published_mean() -> None:
    items, warnings = read(QUIZ)
    assert list(items.columns) == ["acc", "acc_norm", "content"]
    assert items.columns["acc"] == ("1.0", "1.0", "1.0", "1.0", "1.0", "1.0", "0.0")
    assert items.columns["acc_norm"] == ("0.0", "1.0", "1.0", "1.0", "1.0", "0.0", "0.0")
    assert items.published == {"acc": 6 / 7, "acc_norm": 4 / 7}
    assert (items.lines, items.numbered) == ((1, 2, 3, 4, 5, 6, 7), False)
    (warning,) = warnings
    assert "'mcc' is not a number ([0, 0]), and was left out" in warning


def test_documents_are_named_by_content_and_true_duplicates_are_counted() -> None:
    items, _ = read(QUIZ)
    assert items.ids[0] == PORT
    assert items.ids[5] == f"{PORT}#2"
    assert len(set(items.ids)) == 7
    assert items.columns["content"][0] == items.columns["content"][5]
    assert len(set(items.columns["content"])) == 6


def test_one_filter_of_several_must_be_named() -> None:
    assert "several filters of the answers: 'strict', 'loose'" in refused(SUMS, "P261")
    assert "no row has the filter 'lose'; there are 'strict', 'loose'" in refused(SUMS, "P261", filter="lose")
    with pytest.raises(DataError) as caught:
        read(SUMS)
    assert caught.value.problems[0].help == "name one in the study: `format: {name: lm-eval, filter: strict}`"
    strict, loose = (read(SUMS, filter=name)[0] for name in ("strict", "loose"))
    assert strict.columns["exact_match"] == ("1.0", "0.0", "0.0", "1.0", "0.0")
    assert loose.columns["exact_match"] == ("1.0", "1.0", "0.0", "1.0", "1.0")
    assert (strict.published, loose.published) == ({"exact_match": 0.4}, {"exact_match": 0.8})
    assert loose.ids == strict.ids
    assert loose.lines == (6, 7, 8, 9, 10)


def test_parts_of_a_metric_that_is_asked_for_are_columns_that_give_its_published_value() -> None:
    assert "'word_perplexity'): an item has [-9.666666666666666, 6]" in refused(TEXTS, "P261")
    items, warnings = read(TEXTS, metric="word_perplexity")
    assert items.columns["word_perplexity.0"] == ("-9.666666666666666", "-3.3333333333333335", "-12.0")
    assert items.columns["word_perplexity.1"] == ("6", "2", "8")
    assert (items.published, warnings) == ({}, [])
    metric = load_metric("ratio", {"numerator": "word_perplexity.0", "denominator": "word_perplexity.1"})
    found = metric.extract(metric.prepare(None), items)
    score = metric.scorer(found.decimals)(found.values.sum(axis=0)[:, np.newaxis])
    (results,) = TEXTS.parent.glob("results_*.json")
    published = json.loads(results.read_text())["results"]["harbour_texts"]["word_perplexity,none"]
    assert math.exp(-score[0]) == pytest.approx(published, rel=1e-12)


def test_the_metric_that_is_asked_for_is_given_alone() -> None:
    items, warnings = read(QUIZ, metric="acc_norm")
    assert list(items.columns) == ["acc_norm", "content"]
    assert (items.published, warnings) == ({"acc_norm": 4 / 7}, [])
    assert "no item has the metric 'bleu'; there are 'acc', 'mcc', 'acc_norm'" in refused(QUIZ, "P261", metric="bleu")


# Other versions


def test_rows_of_an_older_harness_give_the_same_items(tmp_path: Path) -> None:
    old = []
    for made in rows_of(QUIZ):
        kept = {key: value for key, value in made.items() if not key.endswith("_hash") and key not in {"metrics", "filter"}}
        kept["arguments"] = [list(argument.values()) for argument in made["arguments"].values()]
        kept["target"] = int(made["target"])
        old.append(kept)
    items, warnings = read(write(tmp_path / "old.jsonl", old))
    new, _ = read(QUIZ)
    assert items.ids == new.ids
    assert items.columns == new.columns
    assert items.published == {}
    assert len(warnings) == 1


def test_the_order_of_rows_changes_no_name_and_no_score(tmp_path: Path) -> None:
    rows = rows_of(QUIZ)
    rows[5]["acc"] = 0.25  # the twin: its score shows whether it keeps its name
    straight, _ = read(write(tmp_path / "straight.jsonl", rows))
    crooked, _ = read(write(tmp_path / "crooked.jsonl", rows[::-1]))
    assert crooked.ids == straight.ids[::-1]
    assert crooked.columns["acc"] == straight.columns["acc"][::-1]
    assert dict(zip(crooked.ids, crooked.columns["acc"], strict=True))[f"{PORT}#2"] == "0.25"


# Repeats


def read_repeats(path: Path, columns: dict[str, str] | None = None, **options: Any) -> tuple[dict[str, Items], list[str]]:
    reader = listen(load_reader({"name": "lm-eval", **options}))
    return reader.read_outputs(path, system="anchor", options={"columns": columns or {}}), reader.warnings


def test_each_repeat_is_a_sample_of_the_model() -> None:
    """In place of what the harness makes of them: the first answer, the mean, pass@k."""
    found, warnings = read_repeats(THRICE)
    logged = [made["scores_per_repeat"] for made in rows_of(THRICE)]
    assert list(found) == ["anchor/1", "anchor/2", "anchor/3"]
    for k, items in enumerate(found.values()):
        assert items.coordinates == {"model": "anchor", "replica": str(k + 1), "runs_are": "samples"}
        assert list(items.columns) == ["exact_match", "letters", "first_letter", "content"]
        for metric in ("exact_match", "letters", "first_letter"):
            assert [float(value) for value in items.columns[metric]] == [scores[metric][k] for scores in logged]
        assert (items.ids, items.lines) == (found["anchor/1"].ids, (1, 2, 3, 4, 5))
        assert items.columns["content"] == found["anchor/1"].columns["content"]
        assert items.published == {}
        # Published as pass@1, as the mean of all answers and as that of the first ones.
        assert items.directions == {"exact_match": True, "letters": True, "first_letter": True}
    assert found["anchor/1"].ids[4] == f"{found['anchor/1'].ids[0]}#2"
    assert warnings == []


def test_a_direction_of_repeats_is_not_taken_where_something_else_is_published(tmp_path: Path) -> None:
    (results,) = THRICE.parent.glob("results_*.json")
    said = json.loads(results.read_text())
    said["results"]["harbour_thrice"]["letters,none"] = 0.75  # a median
    (tmp_path / results.name).write_text(json.dumps(said))
    shutil.copy(THRICE, tmp_path)
    found, _ = read_repeats(tmp_path / THRICE.name)
    assert found["anchor/2"].directions == {"exact_match": True, "first_letter": True}


def test_a_summary_of_repeats_is_read_where_it_is_asked_for() -> None:
    items, warnings = read(THRICE, metric="pass@3(exact_match)")
    assert items.columns["pass@3(exact_match)"] == ("1.0", "1.0", "1.0", "1.0", "1.0")
    assert (items.coordinates, items.published, warnings) == ({}, {"pass@3(exact_match)": 1.0}, [])
    assert list(read_repeats(THRICE, metric="letters")[0]["anchor/2"].columns) == ["letters", "content"]


def test_answers_that_are_not_there_are_missing_items_of_their_repeat(tmp_path: Path) -> None:
    scores = [{"acc": [1, 0, 1]}, {"acc": [0, 1]}, {"acc": [1, None, float("nan")]}]
    path = write(tmp_path / "x.jsonl", [row(k, acc=0.5, scores_per_repeat=one) for k, one in enumerate(scores)])
    found, warnings = read_repeats(path)
    assert [items.columns["acc"] for items in found.values()] == [("1", "0", "1"), ("0", "1"), ("1",)]
    assert [items.lines for items in found.values()] == [(1, 2, 3), (1, 2), (1,)]
    assert warnings == [
        f"{path}: 1 of 3 documents have no number in repeat 2, and are missing items",
        f"{path}: 2 of 3 documents have no number in repeat 3, and are missing items",
    ]


def test_a_metric_of_documents_beside_repeats_is_left_out_unless_it_is_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [row(k, acc=1, words=k, scores_per_repeat={"acc": [1, k]}) for k in range(2)])
    found, warnings = read_repeats(path)
    assert found["anchor/2"].columns["acc"] == ("0", "1")
    assert [warning.removeprefix(f"{path}: ") for warning in warnings] == [
        "the metric 'words' has one value a document, where others have one an answer, and was left out; "
        "`metric: words` takes it alone"
    ]
    assert read(path, metric="words")[0].columns["words"] == ("0", "1")


@pytest.mark.parametrize(("value", "told"), [([1, 0], "scores_per_repeat"), ({"acc": 1}, "'acc' in the field")])
def test_repeats_of_another_shape_are_refused(tmp_path: Path, value: Any, told: str) -> None:
    assert told in refused(write(tmp_path / "x.jsonl", [row(0, acc=1, scores_per_repeat=value)]), "P257")


def test_a_field_of_repeats_that_is_empty_says_nothing(tmp_path: Path) -> None:
    rows = [{**made, "scores_per_repeat": {}, "later": 3} for made in rows_of(QUIZ)]
    assert read(write(tmp_path / "new.jsonl", rows))[0].columns == read(QUIZ)[0].columns


# Values


def test_booleans_and_whole_numbers_are_numbers(tmp_path: Path) -> None:
    items, _ = read(write(tmp_path / "x.jsonl", [row(0, acc=True, n=3), row(1, acc=False, n=-2)]))
    assert (items.columns["acc"], items.columns["n"]) == (("1", "0"), ("3", "-2"))


def test_objects_have_parts_and_text_is_no_number(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [row(k, said="x", parts={"p": k, "r": 0.5}) for k in range(2)])
    assert refused(path, "P261").startswith("no number is in any metric of the items ('said', 'parts')")
    assert read(path, metric="parts")[0].columns["parts.p"] == ("0", "1")
    assert "the metric 'said': an item has \"x\"" in refused(path, "P261", metric="said")


def test_a_document_without_a_number_is_a_missing_item_and_told(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [row(0, acc=1), row(1, acc=None), row(2, acc=float("nan")), row(3, acc=0), row(4)])
    items, warnings = read(path)
    assert items.columns["acc"] == ("1", "0")
    assert items.lines == (1, 4)
    assert warnings == [f"{path}: 3 of 5 documents have no number there, and are missing items"]


def test_a_metric_that_only_some_documents_have_is_left_out_unless_it_is_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [row(0, acc=1, long=0.5), row(1, acc=0), row(2, acc=1, long=0.25)])
    items, warnings = read(path)
    assert list(items.columns) == ["acc", "content"]
    assert [warning.removeprefix(f"{path}: ") for warning in warnings] == [
        "1 of 3 items have no number for the metric 'long', which was left out; `metric: long` takes the items that have one"
    ]
    assert read(path, metric="long")[0].columns["long"] == ("0.5", "0.25")
    other = write(tmp_path / "y.jsonl", [row(0, acc=1), row(1, long=1)])
    assert "no metric has a number in all items; there are 'acc', 'long'" in refused(other, "P261")


def test_a_score_that_is_no_finite_number_is_refused_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [row(0, acc=1), row(1, acc="n/a"), row(2, acc=float("inf"))])
    with pytest.raises(DataError) as caught:
        read(path)
    assert [problem.where for problem in caught.value.problems] == [f"{path}:2", f"{path}:3"]
    assert {problem.code for problem in caught.value.problems} == {"P210"}


# Results beside the samples


@pytest.mark.parametrize(
    ("metric", "listed", "published"),
    [
        ("acc", None, {"acc": 0.5}),
        ("acc", {"metric": "acc", "aggregation": "mean"}, {"acc": 0.5}),
        ("acc", {"metric": "acc", "aggregation": "median"}, {}),
        ("acc", {"metric": "acc", "aggregation": ["mean"]}, {}),
        ("acc", {"metric": ["acc"]}, {"acc": 0.5}),
        ("perplexity", None, {}),
        ("perplexity", {"metric": "perplexity"}, {}),
    ],
)
def test_what_is_published_is_taken_where_it_is_a_mean(
    tmp_path: Path, metric: str, listed: dict[str, Any] | None, published: dict[str, float]
) -> None:
    path = write(tmp_path / "samples_a_b_2026-01-02T03-04-05.678.jsonl", [row(0, filter="none", **{metric: 0.25})])
    found = {"results": {"a_b": {f"{metric},none": 0.5}}, "configs": {"a_b": {"metric_list": listed and [listed]}}}
    (tmp_path / "results_2026-01-02T03-04-05.678.json").write_text(json.dumps(found))
    assert read(path)[0].published == published


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("results_2026-01-02T03-04-06.json", {"results": {"t": {"acc,none": 0.5}}}),
        ("results_2026-01-02T03-04-05.json", {"results": {"other": {"acc,none": 0.5}}}),
        ("results_2026-01-02T03-04-05.json", {"results": {"t": {"acc,none": "N/A", "acc_stderr,none": 0.1}}}),
        ("results_2026-01-02T03-04-05.json", {"results": {"t": {"acc,none": 10**400}}}),
        ("results_2026-01-02T03-04-05.json", {"results": 3}),
        ("results_2026-01-02T03-04-05.json", [3]),
    ],
)
def test_results_of_another_run_or_task_publish_nothing(tmp_path: Path, name: str, found: Any) -> None:
    path = write(tmp_path / "samples_t_2026-01-02T03-04-05.jsonl", [row(0, acc=1, filter="none")])
    (tmp_path / name).write_text(json.dumps(found))
    items, warnings = read(path)
    assert (items.published, warnings) == ({}, [])


def test_results_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    path = write(tmp_path / "samples_t_2026-01-02T03-04-05.jsonl", [row(0, acc=1, filter="none")])
    results = tmp_path / "results_2026-01-02T03-04-05.json"
    results.write_text('{"results": {')
    items, warnings = read(path)
    assert items.published == {}
    assert warnings == [f"{results}:1: the JSON ends in the middle; what it says of 't' is not shown"]


# Groups


def test_columns_group_by_paths_from_the_row_or_within_the_document() -> None:
    items, warnings = read(QUIZ, {"subject": "doc.subject", "topic": "subject", "first": "doc.choices.0", "lost": "doc.lost"})
    assert items.columns["subject"] == ("lights", "lights", "gear", "gear", "water", "lights", "gear")
    assert items.columns["topic"] == items.columns["subject"]
    assert items.columns["first"] == ("red", "red", "a sail", "a mile an hour", "neap", "red", "boats")
    assert "lost" not in items.columns
    assert any(warning.endswith("no item has 'doc.lost', by which `columns:` names the lost of items") for warning in warnings)


def test_a_column_that_is_only_asked_for_by_the_unit_may_come_from_elsewhere() -> None:
    assert len(read(QUIZ, {"page": "page"})[1]) == 1


def test_a_group_may_not_have_the_name_of_a_score() -> None:
    with pytest.raises(DataError, match="P211: 'acc' is the name of a score"):
        read(QUIZ, {"acc": "doc.subject"})


# What is refused


def test_a_line_cut_in_half_is_refused_with_its_line(tmp_path: Path) -> None:
    text = QUIZ.read_text().splitlines()
    path = tmp_path / "cut.jsonl"
    path.write_text("\n".join([*text[:3], text[3][: len(text[3]) // 2]]))
    assert refused(path, "P257") == f"the JSON ends in the middle @ {path}:4"


@pytest.mark.parametrize(
    ("text", "code", "says", "line"),
    [
        ('{"doc_id": 0, "doc": {}, "acc": 1}\n[1]\n', "P257", "not an object", ":2"),
        ('{"doc_id": "0", "doc": {}, "acc": 1}\n', "P257", "'doc_id' is not a whole number", ":1"),
        ('{"doc_id": 0, "acc": 1}\n', "P257", "no field 'doc'", ":1"),
        ('{"doc_id": 0, "doc": {}, "acc": 1, "filter": 3}\n', "P257", "'filter' is not a text", ":1"),
        ('{"doc_id": 0, "doc": {}, "metrics": [[1]]}\n', "P257", "not a list of names", ":1"),
        ('{"doc_id": 0, "doc_hash": 7, "acc": 1}\n', "P257", "'doc_hash' is not a text", ":1"),
        ('{"doc_id": 0, "doc": {}, "acc": 1}\n{"doc_id": 0, "doc": {}, "acc": 0}\n', "P209", "on lines 1 and 2", ":2"),
        ('{"doc_id": 0, "doc": {}, "\\ud800": 1}\n', "P257", "half a character", ""),
        ('{"doc_id": 0, "doc_hash": "\\ud800", "acc": 1}\n', "P257", "half a character", ""),
        ("\n\n", "P205", "no rows", ""),
        ("", "P205", "empty", ""),
    ],
)
def test_what_is_no_row_is_refused(tmp_path: Path, text: str, code: str, says: str, line: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    message = refused(path, code)
    assert says in message
    assert message.endswith(f"{path}{line}")


@pytest.mark.parametrize("depth", [400, 5000])
def test_values_within_values_without_end_are_refused_or_read(tmp_path: Path, depth: int) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f'{{"doc_id": 0, "doc": {"[" * depth}{"]" * depth}, "acc": 1}}\n')
    error = trouble(lambda: read(path))
    assert error is None or "nested too deeply" in str(error)
    assert (error is None) == (depth < 1000)


@pytest.mark.parametrize("options", [{"metric": 1}, {"filter": ["none"]}, {"agree": "doc"}, {"agree": ["resps"]}])
def test_options_that_are_none_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(StudyError, match="P151"):
        load_reader({"name": "lm-eval", **options})


def test_a_gold_and_a_file_of_no_system_are_refused() -> None:
    reader = load_reader("lm-eval")
    assert reader.read_gold([], {}) is None
    with pytest.raises(DataError, match="P219"):
        reader.read_gold([QUIZ], {})
    with pytest.raises(DataError, match="P219"):
        reader.read_outputs(QUIZ, system=None, options={})
    with pytest.raises(ValueError, match="not written"):
        reader.write(QUIZ, {}, ())


# Studies


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for system in ("anchor", "buoy"):
        shutil.copytree(MADE / system, tmp_path / system)
    return tmp_path


def survey(folder: Path, task: str = "harbour_quiz", unit: str = "item", columns: dict[str, str] | None = None, **options: Any):
    spec = TestSet(format={"name": "lm-eval", **options}, outputs=f"{{system}}/samples_{task}_*.jsonl", columns=columns or {})
    return spec, survey_test_set("t", spec, base=folder, systems=Systems(), unit=unit)


def turn(folder: Path, change: Any) -> None:
    (path,) = (folder / "buoy").glob("samples_harbour_quiz_*")
    write(path, change(rows_of(path)))


def test_systems_in_another_order_are_joined_by_content(folder: Path) -> None:
    turn(folder, lambda rows: rows[3:] + rows[:3])
    spec, found = survey(folder, metric="acc")
    assert found.frame.ids[5] == f"{PORT}#2"
    anchor, buoy = (load_output(spec, output, frame=found.frame) for output in found.outputs)
    assert anchor.columns == {"acc": ("1.0", "1.0", "1.0", "1.0", "1.0", "1.0", "0.0")}
    assert buoy.columns == {"acc": ("1.0", "0.0", "0.0", "1.0", "0.0", "1.0", "0.0")}
    assert [dict(line.published) for line in alignment_table(found)] == [
        {"acc": (6 / 7, 6 / 7)},
        {"acc": (3 / 7, 3 / 7)},
    ]


def test_units_are_groups_of_the_document(folder: Path) -> None:
    _, found = survey(folder, unit="subject", metric="acc", columns={"subject": "doc.subject"})
    assert found.frame.units == ("lights", "gear", "water")
    assert found.frame.unit_of_item == (0, 0, 1, 1, 2, 0, 1)


def test_systems_that_were_asked_otherwise_are_refused_unless_the_study_says_in_what_they_agree(folder: Path) -> None:
    turn(folder, lambda rows: [{**made, "prompt_hash": made["prompt_hash"][::-1]} for made in rows])
    with pytest.raises(DataError) as caught:
        survey(folder, metric="acc")
    (problem,) = caught.value.problems
    assert problem.code == "P262"
    assert "asked something else in 7 of 7 items" in problem.message
    assert len(survey(folder, metric="acc", agree=["doc", "target"])[1].outputs) == 2
    turn(folder, lambda rows: [{**rows[0], "target_hash": "0"}, *rows[1:]])
    with pytest.raises(DataError, match="P262"):
        survey(folder, metric="acc", agree=["doc", "target"])
    assert "content" not in read(QUIZ, agree=[])[0].columns


def test_a_document_that_one_system_lacks_is_refused(folder: Path) -> None:
    turn(folder, lambda rows: rows[:-1])
    with pytest.raises(DataError, match="P216"):
        survey(folder, metric="acc")


def test_the_format_is_recognised() -> None:
    for path in (QUIZ, SUMS, TEXTS, THRICE):
        found, why = recognise_file(path)
        assert found.name == "lm-eval"
        assert "doc_id" in why


# Nothing else is raised

quiet = settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=40)
OPTIONS = st.sampled_from([{}, {"metric": "acc"}, {"metric": "mcc"}, {"metric": "letters"}, {"filter": "none"}, {"agree": []}])
GROUPS = {"subject": "doc.subject", "first": "doc.choices.0", "document": "target"}


def try_to_read(path: Path, options: dict[str, Any]) -> None:
    found: list[Items] = []
    error = trouble(lambda: found.extend(read_repeats(path, GROUPS, **options)[0].values()))
    assert error is None or all(problem.where for problem in error.problems)
    for items in found:
        assert all(len(column) == len(items.ids) == len(items.lines) for column in items.columns.values())
        assert len(set(items.ids)) == len(items.ids) > 0


@quiet
@given(data=st.one_of(st.binary(max_size=200), mutated_bytes(QUIZ.read_bytes())), options=OPTIONS)
def test_no_bytes_raise_anything_but_data_errors(tmp_path: Path, data: bytes, options: dict[str, Any]) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    try_to_read(path, options)


@quiet
@given(rows=st.one_of(mutated_json(rows_of(QUIZ)), mutated_json(rows_of(THRICE))), options=OPTIONS)
def test_no_json_raises_anything_but_data_errors(tmp_path: Path, rows: list[Any], options: dict[str, Any]) -> None:
    path = tmp_path / "samples_harbour_quiz_2026-01-01T00-00-00.jsonl"
    path.write_text("".join(dumped(made) + "\n" for made in rows))
    try_to_read(path, options)


@quiet
@given(found=mutated_json(json.loads(next(QUIZ.parent.glob("results_*")).read_text())))
def test_no_results_raise_anything(tmp_path: Path, found: Any) -> None:
    (tmp_path / f"results_{QUIZ.stem.rpartition('_')[2]}.json").write_text(dumped(found))
    shutil.copy(QUIZ, tmp_path)
    read(tmp_path / QUIZ.name)
