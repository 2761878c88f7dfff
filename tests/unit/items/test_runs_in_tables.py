"""A column of runs makes each run of a model a system of its own, and the model is what is compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pipeline
from pipeline.errors import DataError, Problem
from pipeline.items.align import survey_test_set
from pipeline.items.readers import load_reader
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet

SCORES = {
    ("north", "0"): ("1", "2"),
    ("north", "1"): ("3", "4"),
    ("south", "0"): ("5", "6"),
    ("south", "1"): ("7", "8"),
}
WANTED = {f"{model}/{run}": (("q1", "q2"), values, {"model": model, "replica": run}) for (model, run), values in SCORES.items()}
LONG = "question,model,{},score\n" + "".join(
    f"q{k},{model},{run},{value}\n" for (model, run), values in SCORES.items() for k, value in enumerate(values, start=1)
)
WIDE = "item,{},north,south\nq1,0,1,5\nq2,0,2,6\nq1,1,3,7\nq2,1,4,8\n"
ROWS = "system,{},q1,q2\n" + "".join(f"{model},{run},{','.join(values)}\n" for (model, run), values in SCORES.items())


def read(folder: Path, text: str, columns: dict[str, str] | None = None, form: object = "scores", system: str | None = None):
    (folder / "t.csv").write_text(text)
    found = load_reader(form).read_outputs(folder / "t.csv", system=system, options={"columns": columns or {}})
    assert len({tuple(items.columns) for items in found.values()}) == 1
    return {name: (items.ids, *items.columns.values(), dict(items.coordinates)) for name, items in found.items()}


def refusal(folder: Path, text: str, columns: dict[str, str] | None = None, **options: object) -> Problem:
    with pytest.raises(DataError) as caught:
        read(folder, text, columns, **options)
    return caught.value.problems[0]


@pytest.mark.parametrize("name", ["replica", "run", "run_id", "seed", "trial", "repeat"])
@pytest.mark.parametrize("table", [LONG, WIDE], ids=["long", "wide"])
def test_a_column_with_a_usual_name_is_one_of_runs_where_items_stand_several_times(table: str, name: str, tmp_path: Path) -> None:
    assert read(tmp_path, table.format(name)) == WANTED


@pytest.mark.parametrize("table", [LONG, WIDE, ROWS], ids=["long", "wide", "rows"])
def test_a_column_that_is_named_is_one_of_runs(table: str, tmp_path: Path) -> None:
    assert read(tmp_path, table.format("checkpoint"), {"replica": "checkpoint"}) == WANTED
    if table is ROWS:
        form = {"name": "scores", "layout": "rows"}
        assert read(tmp_path, table.format("checkpoint"), {"replica": "checkpoint"}, form) == WANTED


def test_labels_have_runs_too(tmp_path: Path) -> None:
    table = "id,system,seed,label\nq1,north,1,a\nq2,north,1,b\nq1,north,2,b\nq2,north,2,b\n"
    assert read(tmp_path, table, form="labels") == {
        "north/1": (("q1", "q2"), ("a", "b"), {"model": "north", "replica": "1"}),
        "north/2": (("q1", "q2"), ("b", "b"), {"model": "north", "replica": "2"}),
    }


def test_a_file_of_one_model_may_hold_its_runs(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    for model in ("north", "south"):
        rows = [f"q{k},{run},{value}" for (of, run), values in SCORES.items() if of == model for k, value in enumerate(values)]
        (tmp_path / "out" / f"{model}.csv").write_text("\n".join(["item,seed,score", *rows]) + "\n")
    spec = TestSet(format="scores", outputs="out/{system}.csv")
    found = survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="item")
    assert [(o.system, o.found, dict(o.coordinates)) for o in found.outputs] == [
        (name, model, {"model": model, "replica": run})
        for name, model, run in (
            ("north/0", "north", "0"),
            ("north/1", "north", "1"),
            ("south/0", "south", "0"),
            ("south/1", "south", "1"),
        )
    ]


def test_a_column_that_is_needed_for_nothing_is_no_column_of_runs(tmp_path: Path) -> None:
    table = "item,system,seed,score\nq1,north,7,1\nq2,north,8,2\nq1,south,7,3\nq2,south,8,4\n"
    (tmp_path / "t.csv").write_text(table)
    found = load_reader("scores").read_outputs(tmp_path / "t.csv", system=None, options={})
    assert {name: dict(items.columns) for name, items in found.items()} == {
        "north": {"seed": ("7", "8"), "score": ("1", "2")},
        "south": {"seed": ("7", "8"), "score": ("3", "4")},
    }
    wide = "item,seed,north\nq1,7,1\nq2,8,2\n"
    (tmp_path / "t.csv").write_text(wide)
    assert list(load_reader("scores").read_outputs(tmp_path / "t.csv", system=None, options={})) == ["seed", "north"]


def test_a_column_that_tells_all_rows_of_a_system_apart_names_the_items_unless_runs_are_named(tmp_path: Path) -> None:
    rows = [
        f"{model},p{prompt},{seed},{2 * seed + prompt},{value}"
        for model, value in (("a", 1), ("b", 2))
        for seed in range(2)
        for prompt in range(2)
    ]
    table = "\n".join(["system,prompt,seed,index,score", *rows]) + "\n"
    (tmp_path / "t.csv").write_text(table)
    found = load_reader("scores").read_outputs(tmp_path / "t.csv", system=None, options={})
    assert {name: items.ids for name, items in found.items()} == dict.fromkeys("ab", ("0", "1", "2", "3"))
    found = load_reader("scores").read_outputs(tmp_path / "t.csv", system=None, options={"columns": {"replica": "seed"}})
    assert {name: items.ids for name, items in found.items()} == dict.fromkeys(("a/0", "a/1", "b/0", "b/1"), ("p0", "p1"))


@pytest.mark.parametrize("names", [("red", "blue", "green"), ("7", "8", "9")], ids=["words", "numbers"])
@pytest.mark.parametrize("columns", [{}, {"replica": "seed"}], ids=["by its name", "named"])
@pytest.mark.parametrize("system", [None, "north"], ids=["wide", "one model"])
def test_items_under_another_name_stand_once_for_each_run(
    names: tuple[str, ...], columns: dict[str, str], system: str | None, tmp_path: Path
) -> None:
    rows = [(name, seed, f"{seed}.{k}") for seed in (1, 2) for k, name in enumerate(names)]
    rows[3:] = rows[:2:-1]  # the second run has its items in another order
    table = "question,seed,north\n" + "".join(f"{name},{seed},{value}\n" for name, seed, value in rows)
    found = read(tmp_path, table, columns, system=system)
    assert found == {
        "north/1": (names, ("1.0", "1.1", "1.2"), {"model": "north", "replica": "1"}),
        "north/2": (names[::-1], ("2.2", "2.1", "2.0"), {"model": "north", "replica": "2"}),
    }


def test_a_run_without_a_name_is_refused_and_no_system(tmp_path: Path) -> None:
    table = "question,seed,north\nred,1,1\nblue,1,2\ngreen,1,1\nred,2,1\nblue,,2\ngreen,2,1\n"
    problem = refusal(tmp_path, table)
    assert (problem.code, problem.where) == ("P212", f"{tmp_path / 't.csv'}:6")


def test_what_tells_rows_apart_because_each_has_another_is_no_run(tmp_path: Path) -> None:
    table = "question,trial,north\nred,0.31,1\nred,0.47,2\nblue,0.52,3\ngreen,0.68,4\n"
    (tmp_path / "t.csv").write_text(table)
    assert list(load_reader("scores").read_outputs(tmp_path / "t.csv", system=None, options={})) == ["trial", "north"]


@pytest.mark.parametrize("layout", ["long", "wide", "rows"])
def test_runs_of_two_models_with_the_same_name_are_refused(layout: str, tmp_path: Path) -> None:
    table = {
        "long": "item,system,run,score\nq1,a,b/1,1\nq2,a,b/1,1\nq1,a/b,1,3\nq2,a/b,1,4\n",
        "wide": "item,run,a,a/b\nq1,b/1,1,2\nq2,b/1,1,2\nq1,1,3,4\nq2,1,3,4\n",
        "rows": "system,run,q1,q2\na,b/1,1,1\na/b,1,3,4\n",
    }[layout]
    problem = refusal(tmp_path, table, {"replica": "run"})
    assert (problem.code, "are called 'a/b/1'" in problem.message) == ("P208", True)


def test_items_that_stand_twice_within_a_run_are_refused(tmp_path: Path) -> None:
    doubled = LONG.format("seed") + "q2,south,1,9\n"
    problem = refusal(tmp_path, doubled.replace("question,", "item,"))
    assert (problem.code, "name the column: `columns: {replica: …}`" in str(problem.help)) == ("P209", True)
    problem = refusal(tmp_path, doubled.replace("question,", "item,"), {"replica": "seed"})
    assert (problem.code, problem.where) == ("P209", f"{tmp_path / 't.csv'}:10")


def test_a_run_without_a_name_and_a_column_that_is_not_there_are_refused(tmp_path: Path) -> None:
    problem = refusal(tmp_path, WIDE.format("seed").replace("q2,1,4", "q2,,4"), {"replica": "seed"})
    assert (problem.code, problem.where) == ("P212", f"{tmp_path / 't.csv'}:5")
    problem = refusal(tmp_path, WIDE.format("seed"), {"replica": "seeds"})
    assert (problem.code, "did you mean 'seed'" in str(problem.help)) == ("P211", True)


def test_formats_without_such_a_column_say_so(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_text('{"id": 1, "seed": 1, "score": 1}\n{"id": 2, "seed": 1, "score": 0}\n')
    spec = TestSet(format={"name": "json-lines", "score": "score"}, outputs="{system}.jsonl", columns={"replica": "seed"})
    with pytest.raises(DataError) as caught:
        survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="item")
    (problem,) = caught.value.problems
    assert problem.code == "P211"
    assert "the format json-lines has no column of runs" in problem.message


def test_models_of_a_long_data_frame_are_compared() -> None:
    draw = np.random.default_rng(3)
    rows = [
        {"item": f"q{k}", "system": model, "seed": seed, "score": round(shift + draw.normal(), 3)}
        for model, shift in {"north": 1.0, "south": 0.0}.items()
        for seed in range(3)
        for k in range(60)
    ]
    frame = pd.DataFrame(rows)
    found = pipeline.compare(frame, replicates=999)
    means = frame.groupby("system")["score"].mean()
    assert dict(zip(found.models["model"], found.models["score"], strict=True)) == pytest.approx(dict(means), abs=1e-9)
    assert set(found.models["runs"]) == {3}
    assert "north is better than south" in str(found.verdict)
