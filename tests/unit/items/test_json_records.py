"""JSON with an object for each row, one per line or in a list, is a table like any other."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.listening import listen

from pipeline.errors import DataError
from pipeline.interfaces import Items
from pipeline.items.names import name_outputs
from pipeline.items.readers import load_reader
from pipeline.items.recognise import recognise_file

FRAME = pd.DataFrame({"id": ["q2", "q1", "q3"], "north": [0.1, 1 / 3, 2.0], "south": [True, False, True]})
WIDE = {"north": (("q2", "q1", "q3"), ("0.1", "0.333333333333333", "2.0")), "south": (("q2", "q1", "q3"), ("1", "0", "1"))}


def read(path: Path, form: str = "scores", system: str | None = None, missing: str = "error") -> dict[str, Items]:
    return load_reader(form).read_outputs(path, system=system, options={"missing": missing})


def write(path: Path, rows: list[dict[str, Any]], *, lines: bool = True) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) if lines else json.dumps(rows, indent=2))
    return path


@pytest.mark.parametrize("lines", [True, False], ids=["lines", "list"])
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".ndjson", ".txt", ""])
def test_records_of_pandas_are_recognised_and_read(lines: bool, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"all{suffix}"
    FRAME.to_json(path, orient="records", lines=lines, double_precision=15)
    found, told = recognise_file(path)
    assert (found.name, "'id', 'north', 'south'" in told) == ("scores", True)
    assert {name: (items.ids, items.columns["score"]) for name, items in read(path).items()} == WIDE


def test_runs_of_models_and_names_of_files_are_as_in_other_tables(tmp_path: Path) -> None:
    rows = [
        {"question": f"q{k}", "model": model, "seed": seed, "right": 10 * seed + k}
        for model in ("north", "south")
        for seed in (1, 2)
        for k in range(2)
    ]
    path = write(tmp_path / "long.jsonl", rows)
    assert recognise_file(path)[0].name == "scores"
    found = read(path)
    assert {name: (items.columns["right"], dict(items.coordinates)) for name, items in found.items()} == {
        f"{model}/{seed}": ((str(10 * seed), str(10 * seed + 1)), {"model": model, "replica": str(seed)})
        for model in ("north", "south")
        for seed in (1, 2)
    }
    files = [write(tmp_path / f"{name}.jsonl", [{"id": 1, "bleu": 2.5, "chrf": 3}]) for name in ("north", "south")]
    assert [*name_outputs(files)] == ["north", "south"]
    assert recognise_file(files[0])[0].name == "scores"
    assert read(files[0], system="north")["north"].columns == {"bleu": ("2.5",), "chrf": ("3",)}


def test_compressed_ones_are_read(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl.gz"
    path.write_bytes(gzip.compress(FRAME.to_json(orient="records", lines=True, double_precision=15).encode()))
    assert recognise_file(path)[0].name == "scores"
    assert read(path)["north"].columns["score"] == WIDE["north"][1]


def test_a_field_that_is_not_there_is_empty_and_lists_are_left_out(tmp_path: Path) -> None:
    rows = [{"id": "a", "north": 1, "south": 2}, {"id": "b", "south": 3}, {"id": "c", "north": None, "south": 4, "tokens": [1]}]
    path = write(tmp_path / "x.jsonl", rows)
    with pytest.raises(DataError) as caught:
        read(path)
    assert [(p.code, p.where) for p in caught.value.problems] == [("P210", f"{path}:2:north"), ("P210", f"{path}:3:north")]
    reader = listen(load_reader("scores"))
    found = reader.read_outputs(path, system=None, options={"missing": "drop"})
    assert {name: (items.ids, items.columns["score"], items.lines) for name, items in found.items()} == {
        "north": (("a",), ("1",), (1,)),
        "south": (("a", "b", "c"), ("2", "3", "4"), (1, 2, 3)),
    }
    assert reader.warnings == [f"{path}: columns of lists or objects were left out: 'tokens'"]


@pytest.mark.parametrize("lines", [True, False], ids=["lines", "list"])
@pytest.mark.parametrize("more", [{"tokens": [1]}, {"usage": {"in": 3}}, {"text": "x" * 100_000}], ids=["list", "object", "long"])
def test_what_the_first_row_has_beside_its_numbers_does_not_matter(more: dict[str, Any], lines: bool, tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [{"id": k, "north": k, "south": 2, **more} for k in (1, 2)], lines=lines)
    found = read(path)
    assert {name: (items.ids, items.columns["score"]) for name, items in found.items()} == {
        "north": (("1", "2"), ("1", "2")),
        "south": (("1", "2"), ("2", "2")),
    }


def test_rows_of_a_list_are_told_by_the_lines_they_begin_on(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", [{"id": "a", "north": 1, "south": 2}, {"id": "a", "north": 1, "south": 2}], lines=False)
    with pytest.raises(DataError, match="the item 'a' occurs twice, on lines 2 and 7"):
        read(path)


@pytest.mark.parametrize(
    "row",
    [
        {"id": 1, "score": 0.5},
        {"id": 1, "label": 1, "prediction": 0},
        {"id": 1, "north": 0.5, "south": 1, "Answer": 2},
        {"id": 1, "north": 0.5, "south": 1, "note": "x"},
        {"id": 1, "north": 0.5, "south": {"f": 1}},
        {"id": 1, "north": 0.5, "south": 1, "gold": [2]},
        {"id": 1, "north": 0.5, "south": None},
        {"id": 1, "north": 0.5, "south": 1, "east": None},
        {"name": "x", "north": 0.5, "south": 1},
        {"id": 1, "model": "north", "said": "yes"},
    ],
)
def test_objects_that_may_be_something_else_are_not_guessed(row: dict[str, Any], tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [row, {**row, "id": 2}])
    with pytest.raises(DataError) as caught:
        recognise_file(path)
    (problem,) = caught.value.problems
    assert (problem.code, "`format: scores`" in str(problem.help)) == ("P275", True)


def test_beside_a_gold_they_are_not_guessed_and_labels_where_that_is_said(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [{"id": 1, "north": 3, "south": 2}, {"id": 2, "north": 1, "south": 2}])
    for beside in ({"gold": True}, {"references": True}):
        with pytest.raises(DataError, match="P275"):
            recognise_file(path, **beside)
    labels = write(tmp_path / "y.jsonl", [{"id": "q1", "label": "b"}, {"id": "q2", "label": None}])
    assert read(labels, "labels", "y")["y"].columns["label"] == ("b", "")


def test_what_is_cut_off_or_no_object_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    for text, words in {
        '{"id": 1, "a": 2, "b": 3}\n{"id": 2,': "ends in the middle",
        '{"id": 1, "a": 2, "b": 3}\n7\n': "an object",
    }.items():
        path.write_text(text)
        with pytest.raises(DataError, match=words) as caught:
            read(path)
        (problem,) = caught.value.problems
        assert (problem.code, problem.where) == ("P257", f"{path}:2")


@pytest.mark.parametrize("lines", [True, False], ids=["lines", "list"])
@pytest.mark.parametrize(
    "first",
    [
        {"id": "q1", "north": None, "south": 1, "east": 2},
        {"id": "q1", "north": None, "south": None, "east": None},
        {"id": "q1", "north": 1, "south": 1, "east": 2, "tokens": [1, 2]},
        {"id": "q1", "north": 1, "south": None, "east": 2, "usage": {"in": 3}},
        {"id": "q1", "model": "north", "score": None},
        {"id": "q1", "model": "north", "score": 2, "steps": []},
    ],
)
def test_a_null_or_a_list_in_the_first_row_hides_no_scores(first: dict[str, Any], lines: bool, tmp_path: Path) -> None:
    full = {name: 1 if value is None else value for name, value in first.items()}
    path = write(tmp_path / "x.jsonl", [first, first, *({**full, "id": f"q{k}"} for k in (3, 4))], lines=lines)
    found, told = recognise_file(path)
    assert (found.name, "'id'" in told) == ("scores", True)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"id": 1, "north": 1, "south": 2}\n{"id": 2, "north": 3, "south": 4, "north": 5}\n', ":2"),
        ('[{"id": 1, "north": 1, "south": 2},\n {"id": 2, "south": 4,\n  "nor\\u0074h": 3, "north": 5}\n]\n', ":3"),
        ('{"columns": ["id", "north"],\n "data": [["a", 1]],\n "columns": ["id", "south"]}', ":3"),
        ('{"id": 1, "north": 1, "south": 2, "x": [{"k": "}", "k": 2}]}\n', ":1"),
    ],
    ids=["lines", "list", "split", "nested"],
)
@pytest.mark.parametrize("form", ["scores", "labels"])
def test_a_key_that_an_object_has_twice_is_refused_where_it_stands(text: str, place: str, form: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match="is twice in one object") as caught:
        load_reader(form).read_outputs(path, system=None, options={})
    (problem,) = caught.value.problems
    line = text.splitlines()[int(place[1:]) - 1]
    key = problem.message.split("'")[1]
    column = int(problem.message.rpartition(" ")[2])
    assert (problem.code, problem.where) == ("P257", f"{path}{place}")
    assert line[column - 1 :].startswith(f'"{key}":')
    assert line[: column - 1].count(f'"{key}":') == (0 if place == ":3" else 1)
