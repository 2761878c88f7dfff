"""What a reader writes it reads back: labels, text and scores, whatever they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import StudyError
from pipeline.interfaces import Items, TrainingItems
from pipeline.items.readers.registry import load_reader
from pipeline.items.training import count_instances, items_to_predict, number_units, read_columns
from pipeline.study.sets import TestSet

ODD = ("plain", "", "a,b", 'quo"ted', "tab\tbed", "日本 ", "x" * 300, "id", "#", "\r")


@pytest.mark.parametrize(
    "ids", [tuple(map(str, range(1, 11))), tuple(f"{k:04d}" for k in range(10)), ODD], ids=["numbers", "names", "odd"]
)
def test_labels_come_back_with_the_items_they_are_of(tmp_path: Path, ids: tuple[str, ...]) -> None:
    load_reader("labels").write(tmp_path / "x", {"label": ODD, "text": ODD[::-1]}, ids)
    read = load_reader("labels").read_outputs(tmp_path / "x", system="s", options={})["s"]
    assert (read.ids, tuple(read.columns["label"]), set(read.columns)) == (ids, ODD, {"label"})
    gold = load_reader("labels").read_gold([tmp_path / "x"], {"columns": {"text": "text"}})
    assert gold is not None
    assert tuple(gold.columns["text"]) == ODD[::-1]


@pytest.mark.parametrize(("form", "column"), [("labels", "label"), ("text", "text")])
def test_what_would_be_read_as_two_items_is_not_written(tmp_path: Path, form: str, column: str) -> None:
    with pytest.raises(ValueError, match="line feed"):
        load_reader(form).write(tmp_path / "x", {column: ["one", "two\nthree"]}, ["1", "2"])


def test_segments_and_scores_come_back_as_they_were(tmp_path: Path) -> None:
    segments = ("", "a  b", "\u2028", "#")
    load_reader("text").write(tmp_path / "t", {"text": segments}, ["1", "2", "3", "4"])
    assert read_columns("text", tmp_path / "t") == {"text": segments}
    load_reader("scores").write(tmp_path / "s", {"score": ("1.50", "-2")}, ("i1", "i2"))
    read = load_reader("scores").read_outputs(tmp_path / "s", system="s", options={})["s"]
    assert (read.ids, read.columns) == (("i1", "i2"), {"score": ("1.50", "-2")})


def test_a_trainer_is_not_shown_what_it_is_to_predict() -> None:
    columns: dict[str, Any] = {"word": (("a", "b"),), "tag": (("X", "Y"),), "document": ("d",), "reference.0": ("r",)}
    shown = items_to_predict(TestSet(format="tagged", gold="x"), Items(("1",), columns, "x", (1,)))
    assert set(shown.columns) == {"word", "document"}
    assert shown.writer is not None
    assert shown.reads is not None


def test_instances_are_counted_item_by_item() -> None:
    chunks = (("B-NP", "I-NP", "O"), ("B-NP", "B-NP"), ("O",))
    items = TrainingItems(("1", "2", "3"), {"chunk": chunks, "size": ("4", "0", "7"), "document": ("b", "a", "b")})
    counted = {
        what: count_instances(items, what).tolist() for what in ("items", "tokens", "chunks:NP", "chunks:VP", "chunks", "size")
    }
    assert counted == {
        "items": [1, 1, 1],
        "tokens": [3, 2, 1],
        "chunks:NP": [1, 2, 0],
        "chunks:VP": [0, 0, 0],
        "chunks": [1, 2, 0],
        "size": [4, 0, 7],
    }
    assert number_units(items, "document").tolist() == [0, 1, 0]
    assert number_units(items, "sentence").tolist() == [0, 1, 2]


def test_numbers_too_large_for_a_sum_are_no_instances() -> None:
    items = TrainingItems(("1", "2"), {"size": ("9" * 30, "1")})
    with pytest.raises(StudyError) as caught:
        count_instances(items, "size")
    assert caught.value.problems[0].code == "P122"
