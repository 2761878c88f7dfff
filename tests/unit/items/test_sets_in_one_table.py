"""One table of several test sets: its column of tasks is seen where items repeat, and the rows of one task can be chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from support.studies import run_cli

from pipeline.errors import DataError, StudyError
from pipeline.items.readers import load_reader

TASKS = {"arc": {"north": "011", "south": "010"}, "pi, qa": {"north": "1100", "south": "0001"}}
LONG = "task,item,system,score\n" + "".join(
    f'"{task}",q{k},{system},{digit}\n'
    for task, systems in TASKS.items()
    for system, digits in systems.items()
    for k, digit in enumerate(digits)
)
WIDE = "dataset;id;north;south\n" + "".join(
    f"{task};q{k};{north};{south}\n"
    for task, systems in TASKS.items()
    for k, (north, south) in enumerate(zip(systems["north"], systems["south"], strict=True))
)
TABLES = {"long": (LONG, "task"), "wide": (WIDE, "dataset")}


def read(path: Path, rows: Any = None) -> dict[str, str]:
    found = load_reader({"name": "scores", "rows": rows}).read_outputs(path, system=None, options={})
    return {name: "".join(items.columns["score"]) for name, items in found.items()}


@pytest.fixture(params=sorted(TABLES))
def table(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    text, column = TABLES[request.param]
    (tmp_path / "all.csv").write_text(text)
    return tmp_path / "all.csv", column


def test_the_rows_of_a_test_set_are_those_with_its_name(table: tuple[Path, str]) -> None:
    path, column = table
    for task, systems in TASKS.items():
        assert read(path, {column: task}) == systems
        assert read(path, {column: [task]}) == systems


def test_a_table_of_several_is_refused_once_and_names_them(table: tuple[Path, str]) -> None:
    path, column = table
    with pytest.raises(DataError) as caught:
        read(path)
    (problem,) = caught.value.problems
    assert problem.code == "P209"
    assert f"which the column '{column}' names: 'arc', 'pi, qa'" in problem.message
    assert f"{{name: scores, rows: {{{column}: arc}}}}" in (problem.help or "")


def test_the_item_that_is_named_is_one_that_occurs_twice(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("task,item,a,b\nx,1,0,1\nx,2,0,1\ny,2,1,1\ny,3,1,1\n")
    with pytest.raises(DataError, match="items such as '2', lines 3 and 4,"):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize(
    "text",
    [
        "task,item,a,b\nx,1,0,1\nx,2,0,1\ny,3,1,1\n",  # one test set: its items have names of their own
        "language,item,a,b\n1,1,0,1\n2,2,0,1\n",
    ],
)
def test_a_column_of_such_a_name_says_nothing_where_no_item_repeats(text: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    assert {"a", "b"} <= set(read(tmp_path / "t.csv"))


def test_an_item_twice_in_one_test_set_is_told_as_ever(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("task,item,a,b\nx,1,0,1\nx,1,0,1\ny,1,1,1\n")
    with pytest.raises(DataError, match="the item '1' occurs twice, on lines 2 and 3"):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize("rows", ["arc", ["task"], {"task": None}, {"task": []}, {"task": True}, {"task": False}])
def test_rows_are_a_mapping_of_columns_to_values(rows: Any, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="option 'rows' is the value of a column"):
        read(tmp_path / "t.csv", rows)


def test_init_makes_a_study_of_all_and_each_has_the_numbers_of_its_rows(table: tuple[Path, str], tmp_path: Path) -> None:
    path, column = table
    done = run_cli("init", path.name, "-o", "s.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"the column '{column}' names the test sets" in done.stderr
    assert "size: arc (3 items), pi, qa (4 items)" in done.stderr
    study = yaml.safe_load((tmp_path / "s.yaml").read_text())
    assert {name: one["format"]["rows"] for name, one in study["test_sets"].items()} == {task: {column: task} for task in TASKS}
    assert run_cli("check", "s.yaml", cwd=tmp_path).returncode == 0


def test_compare_takes_one_as_the_error_says(table: tuple[Path, str], tmp_path: Path) -> None:
    path, column = table
    refused = run_cli("compare", path.name, cwd=tmp_path)
    assert refused.returncode == 3
    asked = f"{{name: scores, rows: {{{column}: arc}}}}"
    assert f"`--format '{asked}'`" in refused.stderr
    done = run_cli("compare", path.name, "--format", asked, "-b", "200", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "3 items" in done.stdout
