"""A column that numbers the items of a wide table is not a system."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.items.readers import load_reader


def read(path: Path, header: str, rows: list[str], system: str | None = None) -> dict[str, tuple[str, ...]]:
    path.write_text("\n".join([header, *rows]) + "\n")
    found = load_reader("scores").read_outputs(path, system=system, options={})
    return {name: tuple(items.ids) for name, items in found.items()}


@pytest.mark.parametrize("name", ["question", "Question_ID", "question id", "Item-ID", "idx", "index", "", "Unnamed: 0"])
def test_whole_numbers_under_a_name_of_items_are_their_names(tmp_path: Path, name: str) -> None:
    found = read(tmp_path / "t.csv", f"{name},a,b", ["7,1,0", "3,0,0", "12,1,1"])
    assert found == {"a": ("7", "3", "12"), "b": ("7", "3", "12")}
    assert read(tmp_path / "one.csv", f"{name},score", ["7,1", "3,0"], system="x") == {"x": ("7", "3")}


@pytest.mark.parametrize("name", ["Segment", "ID", "Item"])
def test_a_name_that_is_written_otherwise_is_one_of_items_only_where_it_tells_rows_apart(tmp_path: Path, name: str) -> None:
    found = read(tmp_path / "t.csv", f"{name},a,b", ["s0,1,0", "s1,0,0", "s0,1,1", "s1,1,1"])
    assert found == {"a": ("1", "2", "3", "4"), "b": ("1", "2", "3", "4")}


def test_a_system_may_be_called_system_with_a_capital(tmp_path: Path) -> None:
    found = read(tmp_path / "t.csv", "item,Baseline,System", ["q1,1,0", "q2,0,0", "q3,1,1"])
    assert found == {"Baseline": ("q1", "q2", "q3"), "System": ("q1", "q2", "q3")}


def test_words_under_a_name_of_items_are_their_names(tmp_path: Path) -> None:
    found = read(tmp_path / "t.csv", "question,a,b", ["q7,1,0", "q3,0,0", "law/12,1,1"])
    assert found == {"a": ("q7", "q3", "law/12"), "b": ("q7", "q3", "law/12")}


@pytest.mark.parametrize("rows", [["q7,1,0", "q7,0,0", "q3,1,1"], ["yes,yes,no", "no,yes,yes"]])
def test_other_words_under_such_a_name_are_no_names_of_items(tmp_path: Path, rows: list[str]) -> None:
    found = read(tmp_path / "t.csv", "question,a,b", rows)
    assert found["a"] == tuple(str(k) for k in range(1, len(rows) + 1))
    percent = read(tmp_path / "p.csv", "question,a,b", ["7%,1%,0%", "3%,0%,0%", "12%,1%,1%"])
    assert list(percent) == ["question", "a", "b"]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("question", ["7,1,0", "7,0,0", "12,1,1"]),  # a score that occurs twice
        ("question", ["7.5,1,0", "3,0,0", "12,1,1"]),
        ("latency", ["7,1,0", "3,0,0", "12,1,1"]),
    ],
)
def test_any_other_column_of_numbers_is_a_system(tmp_path: Path, name: str, rows: list[str]) -> None:
    assert list(read(tmp_path / "t.csv", f"{name},a,b", rows)) == [name, "a", "b"]


def test_the_item_column_comes_first(tmp_path: Path) -> None:
    found = read(tmp_path / "t.csv", "index,item,a,b", ["0,x,1,0", "1,y,0,0"])
    assert found["a"] == ("x", "y")
