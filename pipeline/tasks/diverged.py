"""Outputs of a training that came to nothing. This module refuses them: they would be scored like the work of a bad system."""

from __future__ import annotations

from collections.abc import Sequence
from operator import ne
from typing import Any

import numpy as np

from pipeline.errors import TaskError

__all__ = ["refuse_diverged"]

_HELP = "the training diverged, or learnt nothing: look at its log; `retries:` of the model tries again"
_BLANK = ("", "_", None)


def refuse_diverged(column: str, values: Sequence[Any], *, name: str, where: str) -> None:
    """Refuse a column that holds what is not a number, or nothing but blanks.

    Raises
    ------
    TaskError
        P424 an output is not a number; P425 all outputs are blank.

    Examples
    --------
    >>> refuse_diverged("tag", [("N", "V"), ()], name="test", where="train a/seed/0")
    """
    for position, value in enumerate(values):
        parts = value if isinstance(value, (tuple, list)) else (value,) if isinstance(value, (float, np.floating)) else ()
        if any(map(ne, parts, parts)):
            message = f"the trainer predicts what is not a number: {column!r} of item {position + 1} of test set {name!r}"
            raise TaskError.of("P424", message, where=where, help=_HELP)
    if len(values) and all(map(_is_blank, values)):
        message = f"the trainer predicts nothing: {column!r} of all {len(values)} items of test set {name!r} is blank"
        raise TaskError.of("P425", message, where=where, help=_HELP)


def _is_blank(value: Any) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, (tuple, list)) and all(part in _BLANK for part in value))
