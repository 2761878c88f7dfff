"""Outputs of trainings before they are stored: what would be read as something else is refused, with the test set's name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import TaskError
from pipeline.items.readers.registry import load_reader
from pipeline.study.schema import TestSet
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
