"""Outputs of trainings before they are stored: what would be read as something else is refused, with the test set's name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import TaskError
from pipeline.items.readers.registry import load_reader
from pipeline.items.readers.tagged import TaggedReader
from pipeline.study.sets import TestSet
from pipeline.tasks.predicted import Predicted, pack_member, read_member

FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "tagged": ("the/D dog/N\nit/P ran/V\n", {"tag": (("X", "Y"), ("Z", "X"))}),
    "conllu": (
        "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n\n1\tc\t_\t_\t_\t_\t0\troot\t_\t_\n\n",
        {"head": ((2, 0), (0,)), "relation": (("x", "root"), ("root",))},
    ),
    "labels": ("id,label\n1,yes\n2,no\n", {"label": ("no", "maybe")}),
}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "tagged": ({"tag": (("X", "Y/Z"), ("Z", "X"))}, "cannot be written as word/TAG"),
    "conllu": ({"head": ((2, 1), (0,)), "relation": (("x", "root"), ("root",))}, "the words lead in a circle"),
    "labels": ({"label": ("no", "two\nlines")}, "line feed"),
}


def shown(form: str, folder: Path) -> Predicted:
    path = folder / "gold.txt"
    path.write_text(FORMS[form][0], encoding="utf-8")
    gold = load_reader(form).read_gold([path], {})
    assert gold is not None
    return Predicted(TestSet(format=form, gold=str(path)), gold)


@pytest.mark.parametrize("form", FORMS)
def test_what_is_stored_is_read_as_it_was_predicted(form: str, tmp_path: Path) -> None:
    columns = FORMS[form][1]
    read = read_member(form, pack_member(shown(form, tmp_path), columns, name="made", where="train m/seed/0"))
    assert {column: tuple(read.columns[column]) for column in columns} == columns


@pytest.mark.parametrize("form", WRONG)
def test_what_would_be_read_as_something_else_is_refused(form: str, tmp_path: Path) -> None:
    columns, said = WRONG[form]
    with pytest.raises(TaskError, match=re.escape(said)) as caught:
        pack_member(shown(form, tmp_path), columns, name="made", where="train m/seed/0")
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("P423", "train m/seed/0")
    assert "'made'" in problem.message


class OwnWriter(TaggedReader):
    """Writes otherwise than the class it is made from, and inherits what that says of its own writing."""

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        path.write_text("no_T slash_T\n", encoding="utf-8")


def test_a_class_that_writes_in_its_own_way_is_read_back_though_it_inherits_that_it_need_not(tmp_path: Path) -> None:
    predicted = shown("tagged", tmp_path)
    predicted.reader = OwnWriter()
    with pytest.raises(TaskError, match="P423"):
        pack_member(predicted, FORMS["tagged"][1], name="made", where="train m/seed/0")


class Tag(str, Enum):  # noqa: UP042 - a StrEnum is written by its value in any way
    NOUN = "NN"
    VERB = "VB"


def test_a_tag_is_written_by_its_value(tmp_path: Path) -> None:
    columns = {"tag": ((Tag.NOUN, Tag.VERB), (Tag.VERB, Tag.NOUN))}
    read = read_member("tagged", pack_member(shown("tagged", tmp_path), columns, name="made", where="train m/seed/0"))
    assert read.columns["tag"] == (("NN", "VB"), ("VB", "NN"))


def test_outputs_that_begin_as_a_compressed_file_does_are_not_written(tmp_path: Path) -> None:
    (tmp_path / "gold.txt").write_text("# of bytes\nBZh91AY&SY/X b/Y\n", encoding="utf-8")
    gold = TaggedReader().read_gold([tmp_path / "gold.txt"], {})
    assert gold is not None
    predicted = Predicted(TestSet(format="tagged", gold=str(tmp_path / "gold.txt")), gold)
    with pytest.raises(TaskError, match="begins as a compressed file does"):
        pack_member(predicted, {"tag": (("X", "Y"),)}, name="made", where="train m/seed/0")
