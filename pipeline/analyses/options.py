"""Turn the options of a study file into the frozen options of an analysis. This module says what is wrong with them."""

from __future__ import annotations

import dataclasses
import difflib
import typing
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from pipeline.errors import Problem, StudyError

__all__ = ["read_options"]

T = TypeVar("T")

_KINDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
}
"""What a type asks for, in the words that are used of the rest of a study."""


def read_options(kind: type[T], options: Mapping[str, Any], *, analysis: str) -> T:
    """Build ``kind``, a frozen dataclass that validates itself, from the keys of a study file.

    The annotations of its fields say what types values have: a number in quotes is none, and 100.5 no whole number.

    Raises
    ------
    StudyError
        P101 for each key that ``kind`` does not have, P103 for each value of another type, P104 for a value it refuses.
    """
    known = [f.name for f in dataclasses.fields(kind)]  # type: ignore[arg-type]  # T is a dataclass by contract
    problems = [_unknown(str(key), known, analysis) for key in options if key not in known]
    if problems:
        raise StudyError(*problems)
    types = typing.get_type_hints(kind)
    values = {key: _as_written(value, types[key]) for key, value in options.items()}
    problems = [problem for key, value in values.items() for problem in _wrong_type(key, value, types[key], analysis)]
    if problems:
        raise StudyError(*problems)
    try:
        return kind(**values)
    except ValueError as error:
        # Most refusals begin with the name of the option.
        named = str(error).split(" ", 1)[0].rstrip(":,")
        where = f"analyses.{analysis}" + (f".{named}" if named in known else "")
        raise StudyError.of("P104", f"an option of the analysis {analysis!r}: {error}", where=where) from error


def _as_written(value: Any, kind: Any) -> Any:
    """Return a list as a tuple, and 1e3 as a whole number where one is asked for, as elsewhere in a study."""
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    return tuple(value) if isinstance(value, list) else value


def _unknown(key: str, known: Sequence[str], analysis: str) -> Problem:
    near = difflib.get_close_matches(key, known, n=1)
    return Problem(
        "P101",
        f"the analysis {analysis!r} has no option {key!r}",
        where=f"analyses.{analysis}.{key}",
        help=f"did you mean {near[0]!r}?" if near else f"it has: {', '.join(known)}",
    )


def _wrong_type(key: str, value: Any, kind: Any, analysis: str) -> list[Problem]:
    try:
        TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        # How many members there are is for the options themselves to say.
        details = [detail for detail in error.errors(include_url=False) if detail["type"] not in ("missing", "too_long")]
    else:
        details = []
    if not details:
        return []
    # A tuple's members complain at their own places: where any does, the list itself is as it should be.
    inside = [detail for detail in details if isinstance(value, tuple) and any(isinstance(part, int) for part in detail["loc"])]
    wanted = dict.fromkeys(_wanted(detail) for detail in inside or details)
    place = next(int(part) for part in inside[0]["loc"] if isinstance(part, int)) if inside else None
    path = f"analyses.{analysis}.{key}" + (f"[{place}]" if place is not None else "")
    found = value[place] if place is not None else value
    told = " or ".join(word for word in wanted if word)
    return [Problem("P103", f"{path}: expected {told}, found {_shown(found)}", path)]


def _wanted(detail: Any) -> str:
    if detail["type"] == "literal_error":
        return str(detail["ctx"]["expected"])
    return _KINDS.get(detail["type"], "" if detail["type"] == "none_required" else str(detail["msg"]))


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text {value!r}"
    if isinstance(value, Mapping):
        return "a mapping"
    return f"a list of {len(value)}" if isinstance(value, tuple) else str(value)
