"""What `pipeline.compare` is given in Python: a DataFrame, arrays, a folder; its answer is that of the same numbers in a file."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.studies import write_scores

import pipeline
from pipeline.errors import DataError, Problem, StudyError, UsageError
from pipeline.survey.in_memory import settle_outputs

NAMES = ["one", "two, the second"]
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = write_scores(tmp_path_factory.mktemp("table") / "scores.csv", ["one", "two"], items=40)
    path.write_text(path.read_text(encoding="utf-8").replace("item,one,two", 'item,one,"two, the second"'), encoding="utf-8")
    return path


def test_a_frame_and_arrays_are_compared_as_the_same_table_in_a_file(table: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(table)
    (tmp_path / "one").mkdir()
    expected = pipeline.compare(table, format="scores", replicates=200)["pairs"]
    assert pipeline.compare(frame, replicates=200)["pairs"] == expected
    for given in (frame.set_index("item"), frame[NAMES], {name: frame[name].to_numpy() for name in NAMES}):
        settled = settle_outputs(given, (), folder=tmp_path)
        written = pd.read_csv(settled.outputs["*"])
        assert settled.in_memory
        assert written[NAMES].equals(frame[NAMES])


@pytest.mark.parametrize(
    ("index", "asked", "header", "first"),
    [
        (pd.Index(["q7", "q9"]), (), "item,a", "q7,1"),
        (pd.Index([7, 9], name="question"), (), "item,a", "7,1"),  # an index is not a system
        (pd.Index([7, 9], name="question"), ("question",), "question,a", "7,1"),
        (pd.Index([7, 9], name="id"), (), "id,a", "7,1"),
        (pd.MultiIndex.from_tuples([(7, 0), (7, 1)]), (), "item,a", "7/0,1"),
        (pd.MultiIndex.from_tuples([(7, 0), (7, 1)], names=["doc", "sentence"]), ("doc",), "doc,item,a", "7,7/0,1"),
        (pd.RangeIndex(2), (), "a", "1"),
    ],
)
def test_an_index_that_says_something_names_the_items(
    index: pd.Index, asked: tuple[str, ...], header: str, first: str, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"a": [1, 0]}, index=index)
    written = Path(settle_outputs(frame, (), folder=tmp_path, groups=asked).outputs["*"]).read_text(encoding="utf-8")
    assert written.splitlines()[:2] == [header, first]
    assert list(frame.columns) == ["a"]


def test_every_array_is_a_system_whatever_its_name(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    scores = {"system": rng.random(30), "baseline": rng.random(30), "doc": [f"d{k % 6}" for k in range(30)]}
    found = pipeline.compare(scores, replicates=100, unit="doc")
    assert sorted(row["name"] for row in found["systems"]) == ["baseline", "system"]


def test_no_message_names_the_file_that_a_table_in_memory_was_written_into() -> None:
    frame = pd.DataFrame({"a": [1, 0, 1, 1], "b": [0, 1, 1, 0], "topic": ["x", "y", "x", "y"]})
    assert pipeline.compare(frame, replicates=50)["warnings"] == ["DataFrame.csv: the column 'topic' holds text, and was left out"]
    with pytest.raises(DataError) as caught:
        pipeline.compare(frame.assign(a=[1, np.nan, 0, 1]), replicates=50)
    assert caught.value.problems[0].where == "DataFrame.csv:3:a"


def test_no_digit_is_lost_and_truth_stays_truth(tmp_path: Path) -> None:
    values = np.random.default_rng(5).random(20)
    path = settle_outputs({"a": values, "b": values > 0.5, "c": list(range(20))}, (), folder=tmp_path).outputs["*"]
    rows = [line.split(",") for line in Path(path).read_text(encoding="utf-8").splitlines()[1:]]
    assert [float(row[1]) for row in rows] == values.tolist()
    assert [row[2] for row in rows] == [str(value) for value in (values > 0.5).tolist()]


def test_missing_values_stay_missing_and_series_of_other_items_are_paired_by_place(tmp_path: Path) -> None:
    given = {"a": np.ma.masked_array([1, 5], mask=[0, 1]), "b": [None, 2], "c": pd.Series([3, 4], [5, 6]), "d": pd.Series([5, 6])}
    written = Path(settle_outputs(given, (), folder=tmp_path).outputs["*"]).read_text(encoding="utf-8")
    assert written.splitlines() == ["item,a,b,c,d", "0,1,,3,5", "1,,2,4,6"]


def test_a_folder_stands_for_its_outputs_and_its_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    for name in ("new.txt", "old.txt", "ref.txt"):
        (Path("runs") / name).write_text("a cat\n", encoding="utf-8")
    assert settle_outputs("runs", (), folder=tmp_path) == ({"new": "runs/new.txt", "old": "runs/old.txt"}, ["runs/ref.txt"], "")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"a": [1, 2], "b": [1]}, "P004: systems have different numbers of items"),
        ({"a": [[1]], "b": [[2]]}, "P004: 'a' has more than one dimension"),
        ({"a": [1], "b": "b.csv"}, "P005"),
        ({"a": np.array(1.0), "b": [2]}, "P004: 'a' is a single value"),
        ({"a": {0: 1.0, 1: 0.5}, "b": [1, 2]}, "P004: 'a' is a dict"),  # not 0 and 1
        ({"a": [1, 2], "b": ["1,5", "2,5"], "c": [1, 2]}, "P004: 'b' holds no numbers: '1,5'"),
        ({1: [1, 2], "1": [1, 2]}, "P004: two systems are called '1'"),
        ({"a": pd.Series([1, 2], index=[7, 9]), "b": pd.Series([1, 2], index=[9, 7])}, "P004: the indexes of 'a' and 'b'"),
        (pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("b", "x")])), "P004: the columns of the DataFrame"),
        (np.eye(2), "P004: ndarray is not a path"),
        ({}, "P004: there are no outputs"),
        (None, "P004: NoneType is not a path"),
    ],
)
def test_what_cannot_be_a_table_is_refused(given: Any, code: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=code):
        settle_outputs(given, (), folder=tmp_path)


@pytest.mark.parametrize("kept", ["runs", "save_study"])
def test_a_table_in_memory_is_not_kept(kept: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="P005: a table in memory"):
        pipeline.compare({"a": [1, 0], "b": [0, 1]}, **{kept: tmp_path / "kept"})


def test_the_functions_of_the_package_can_be_completed() -> None:
    assert {"compare", "open_history", "open_run", "run", "submit"} <= set(dir(pipeline))
    for name in ("compare", "open_history", "open_run", "run", "submit"):
        assert callable(getattr(pipeline, name))


def test_the_cells_of_the_notebook_run_one_after_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        assert cell["outputs"] == []  # what it prints is for the reader to see
        exec(compile("".join(cell["source"]), "notebook", "exec"), names)
    found = names["found"]
    assert len(cells) > 4
    assert found.verdict.startswith("large has the best score")
    assert "<table>" in found._repr_html_()
    assert (tmp_path / "table.tex").read_text(encoding="utf-8").startswith("%")


def test_a_notebook_shows_where_an_error_is_and_what_to_do() -> None:
    with pytest.raises(StudyError) as caught:
        pipeline.compare({"base": [0, 1, 1], "new": [1, 1, 0]}, baseline="bass")
    told = ["  --> --baseline\n   = help: did you mean 'base'?"]
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert error.__notes__ == told
    several = StudyError(*(Problem(code, "wrong", "here") for code in ("P101", "P103")))
    assert several.__notes__ == ["P101:\n  --> here", "P103:\n  --> here"]
