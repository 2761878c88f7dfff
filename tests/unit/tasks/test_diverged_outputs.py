"""Outputs of a training that came to nothing are refused, and those of a merely bad system are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pipeline.errors import TaskError
from pipeline.tasks.predicted import refuse_diverged

NAN = float("nan")


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([1.0, NAN], "P424"),
        (np.array([0.5, np.nan], np.float32), "P424"),
        ([(1, 2), (3, NAN)], "P424"),
        (["", " "], "P425"),
        ([("", ""), ("_",)], "P425"),
        ([(), ()], "P425"),
        ([None, ""], "P425"),
    ],
)
def test_what_is_no_number_or_blank_throughout_is_refused(values: Any, code: str) -> None:
    with pytest.raises(TaskError) as refused:
        refuse_diverged("label", values, name="news", where="train a/seed/0")
    (problem,) = refused.value.problems
    assert (problem.code, problem.where) == (code, "train a/seed/0")
    assert "'label'" in problem.message
    assert "'news'" in problem.message


@pytest.mark.parametrize(
    "values", [["", "x"], ["nan", "nan"], [(), ((0, 1),)], [("", "N")], [0.0, 1.0], [0, 0], np.array([3, 4]), []]
)
def test_a_bad_system_is_a_system(values: Any) -> None:
    refuse_diverged("label", values, name="news", where="train a/seed/0")
