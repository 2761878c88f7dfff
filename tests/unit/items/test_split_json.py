"""JSON of column names and rows, as pandas and Weights & Biases write it, is a table like any other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.listening import listen

from pipeline.errors import DataError
from pipeline.items.names import name_outputs
from pipeline.items.readers import load_reader
from pipeline.items.recognise import recognise_file, refuse_json


def write(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def scores(path: Path, system: str | None = None, **columns: str) -> dict[str, Any]:
    return load_reader("scores").read_outputs(path, system=system, options={"columns": columns})


def test_a_table_of_a_tracker_is_read_as_scores(tmp_path: Path) -> None:
    table = {
        "columns": ["id", "question", "right", "seconds", "tokens"],
        "data": [["q1", "What?", True, 0.1, [1, 2]], ["q2", "Why?", False, 2, None]],
        "ncols": 5,
        "nrows": 2,
    }
    path = write(tmp_path / "north.table.json", table)
    found = recognise_file(path)
    assert (found[0].name, found[1]) == (
        "scores",
        "north.table.json is read as scores: it begins as JSON of column names and rows does, with nothing to compare it with",
    )
    assert [*name_outputs([path, write(tmp_path / "south.table.json", table)])] == ["north", "south"]
    refuse_json([path], "scores")
    reader = listen(load_reader("scores"))
    read = reader.read_outputs(path, system="north", options={})["north"]
    assert read.ids == ("q1", "q2")
    assert read.columns == {"right": ("1", "0"), "seconds": ("0.1", "2")}
    assert f"{path}: columns of lists or objects were left out: 'tokens'" in reader.warnings


def test_what_pandas_writes_is_read_as_it_was_with_its_index(tmp_path: Path) -> None:
    frame = pd.DataFrame({"north": [0.1, 1 / 3], "south": [7.0, 1e-9]}, index=["q2", "q1"])
    path = tmp_path / "all.json"
    frame.to_json(path, orient="split", double_precision=15)
    found = scores(path)
    assert {name: (items.ids, items.columns["score"]) for name, items in found.items()} == {
        "north": (("q2", "q1"), ("0.1", "0.333333333333333")),
        "south": (("q2", "q1"), ("7.0", "1e-09")),
    }
    frame.reset_index(drop=True).to_json(path, orient="split")
    assert [*scores(path)] == ["north", "south"]
    assert scores(path)["north"].ids == ("1", "2")
    # A column of names wins over the index.
    frame.assign(item=["a", "b"]).to_json(path, orient="split")
    assert scores(path)["south"].ids == ("a", "b")


def test_labels_are_read_too(tmp_path: Path) -> None:
    path = write(tmp_path / "a.table.json", {"columns": ["item", "label"], "data": [["q1", "yes"], ["q2", None], ["q3", 3]]})
    assert recognise_file(path, gold=True)[0].name == "labels"
    found = load_reader("labels").read_outputs(path, system="a", options={})["a"]
    assert found.columns["label"] == ("yes", "", "3")


@pytest.mark.parametrize(
    ("value", "code", "message"),
    [
        ({"columns": ["a", "a"], "data": [[1, 2]]}, "P211", "the table names a column twice: 'a'"),
        ({"columns": ["a", 3], "data": [[1, 2]]}, "P257", "a name of a column is not a text"),
        ({"columns": ["a"], "data": []}, "P212", "the table has no rows"),
        ({"columns": ["a"], "data": [[1], [1, 2]]}, "P212", "the row has 2 fields, there are 1 columns"),
        ({"columns": ["a"], "data": [[1], {"a": 1}]}, "P257", "row 2 of `data` is not a list"),
        ({"columns": ["a"], "data": {"a": 1}}, "P257", "the field 'data' is not a list"),
        ({"columns": ["a"], "rows": [[1]]}, "P257", "there is no field 'data'"),
        ({"columns": ["a", "b"], "data": [[[1], {"x": 1}]]}, "P211", "every column of the table holds lists or objects: 'a', 'b'"),
        ('{"columns": ["a"], "data": [[1]', "P257", ""),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, value: Any, code: str, message: str) -> None:
    with pytest.raises(DataError) as told:
        scores(write(tmp_path / "x.table.json", value), "x")
    problem = told.value.problems[0]
    assert problem.code == code
    assert problem.message.startswith(message)
