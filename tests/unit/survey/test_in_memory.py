"""What `pipeline.compare` is given in Python: a DataFrame, arrays, a folder; its answer is that of the same numbers in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.studies import write_scores

import pipeline
from pipeline.errors import UsageError
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


@pytest.mark.parametrize("name", [None, "question"])
def test_an_index_that_says_something_names_the_items(name: str | None, tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 0]}, index=pd.Index(["q7", "q9"], name=name))
    written = Path(settle_outputs(frame, (), folder=tmp_path).outputs["*"]).read_text(encoding="utf-8")
    assert written.splitlines() == [f"{name or 'item'},a", "q7,1", "q9,0"]


def test_no_digit_is_lost_and_truth_stays_truth(tmp_path: Path) -> None:
    values = np.random.default_rng(5).random(20)
    path = settle_outputs({"a": values, "b": values > 0.5, "c": list(range(20))}, (), folder=tmp_path).outputs["*"]
    rows = [line.split(",") for line in Path(path).read_text(encoding="utf-8").splitlines()[1:]]
    assert [float(row[1]) for row in rows] == values.tolist()
    assert [row[2] for row in rows] == [str(value) for value in (values > 0.5).tolist()]


def test_a_folder_stands_for_its_outputs_and_its_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    for name in ("new.txt", "old.txt", "ref.txt"):
        (Path("runs") / name).write_text("a cat\n", encoding="utf-8")
    assert settle_outputs("runs", (), folder=tmp_path) == ({"new": "runs/new.txt", "old": "runs/old.txt"}, ["runs/ref.txt"], False)


@pytest.mark.parametrize(
    ("given", "code"),
    [({"a": [1, 2], "b": [1]}, "P004"), ({"a": [[1]], "b": [[2]]}, "P004"), ({"a": [1], "b": "b.csv"}, "P005")],
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
