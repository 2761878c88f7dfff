"""What readers of scored records share: names, choices, missing values, and files beside."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

from pipeline.errors import DataError, Problem, name_some
from pipeline.interfaces import Items, Reader
from pipeline.items.readers._files import refuse_gold, with_warnings
from pipeline.items.readers._json import need, number_text, refuse_shape
from pipeline.study.grouping import DOCUMENT, ROLES

__all__ = [
    "ScoredFormat",
    "asked_groups",
    "check_name",
    "choose_one",
    "find_beside",
    "name_of",
    "only_system",
    "score_of",
    "text_of",
    "twice",
]

_Value = TypeVar("_Value")


class ScoredFormat(Reader):
    """What readers of files have in common that hold scores already, and are written by a tool of their own."""

    targets: ClassVar[tuple[str, ...]] = ()
    compares_with: Literal["references", "gold", "nothing"] = "nothing"
    usual_metric: str | None = "mean"
    blank: str = "0"

    def __init__(self) -> None:
        self._told: list[str] = []

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return None: scores are already compared with the gold."""
        refuse_gold(paths, "scores need no gold and no references")
        return None

    def tell_missing(self, source: str, names: Sequence[str], count: int, why: str) -> None:
        """Say which items of a file have no score."""
        if names:
            self._told.append(f"{source}: {len(names)} of {count} items are missing, {why}: {name_some(names)}")


def check_name(option: str, value: Any) -> str | None:
    """Return the name that an option of a format has, None where it has none."""
    if value is not None and (not isinstance(value, str) or not value):
        raise ValueError(f"option '{option}' is a name, not {value!r}")
    return value


def name_of(record: Mapping[str, Any], key: str, where: str, line: int) -> str:
    """Return what names an item: a text, or a whole number as one.

    Raises
    ------
    DataError
        P257 where it is something else, or a text that is empty or cannot be written.
    """
    value = need(record, key, (str, int), where, line)
    name = str(value)
    if not name.strip() or not _is_text(name):
        raise refuse_shape(where, line, f"the field '{key}'", "a name", value)
    return name


def text_of(record: Mapping[str, Any], key: str, where: str, line: int, *, default: str = "") -> str:
    """Return a text, or the default where the field is not there or null; numbers, true and false are what JSON writes."""
    value = record.get(key)
    if value is None:
        return default
    text = value if isinstance(value, str) else number_text(value)
    if text is None or not _is_text(text):
        raise refuse_shape(where, line, f"the field '{key}'", "a text", value)
    return text


def score_of(value: Any, what: str, where: str) -> str:
    """Return a score as the file has it.

    Raises
    ------
    DataError
        P210 where it is not a finite number.
    """
    text = None if isinstance(value, str) else number_text(value)
    if text is None:
        shown = repr(value)[:40] if isinstance(value, str | float) else type(value).__name__
        raise DataError.of(
            "P210",
            f"{what} is {shown}, which is not a finite number",
            where=where,
            help="say what a missing score counts as: leave the item out and set `missing:`, or write a number",
        )
    return text


def choose_one(asked: str | None, there: Iterable[str], *, option: str, what: str, source: str) -> str:
    """Return the one of several that is asked for, or the only one.

    Raises
    ------
    DataError
        P261 where it is not there, or several are and none is asked for.
    """
    known = list(dict.fromkeys(there))
    if asked is not None and asked in known:
        return asked
    if asked is None and len(known) == 1:
        return known[0]
    shown = ", ".join(sorted(known)[:_MOST_SHOWN]) + ", …" * (len(known) > _MOST_SHOWN)
    if not known:
        message = f"the file has no {what}"
    elif asked is None:
        message = f"the file has {len(known)} {what}s, and none is named: {shown}"
    else:
        message = f"the file has no {what} '{asked}'; it has {shown}"
    raise DataError.of("P261", message, where=source, help=f"name one: `format: {{name: …, {option}: …}}`")


def twice(name: str, source: str, first: int, second: int, *, help_: str) -> Problem:
    """Say that a file has an item twice, and where."""
    return Problem("P209", f"the item '{name}' occurs twice: on line {first} and on line {second}", f"{source}:{second}", help_)


def asked_groups(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields that group items, by the names the study has for them."""
    columns: Mapping[str, str] = options.get("columns", {})
    return {role: key for role, key in columns.items() if role == DOCUMENT or role not in ROLES}


def find_beside(paths: Collection[Path], read: Callable[[Path], _Value], warnings: list[str]) -> _Value | None:
    """Return what is read of the first of some files that is there; what is wrong with it is a warning, for it is not needed."""
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        return None
    try:
        return read(path)
    except DataError as exc:
        problem = exc.problems[0]
        warnings.append(f"{problem.where or path}: {problem.message}; it is not compared with")
        return None


_MOST_SHOWN = 20


def _is_text(text: str) -> bool:
    """Tell whether a text can be written as UTF-8: JSON may hold half a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def only_system(found: Mapping[str, _Value], system: str | None, source: str) -> dict[str, _Value]:
    """Return the content of a file by system; where it should hold one system, that of its only one, whatever its name.

    Raises
    ------
    DataError
        P208 it holds several, and not this one.
    """
    if system is None:
        return dict(found)
    if system not in found and len(found) > 1:
        message = f"the file of system '{system}' holds other systems: {', '.join(map(repr, list(found)[:5]))}"
        raise DataError.of("P208", message, where=source, help="name the file once, without a placeholder")
    return {system: found[system] if system in found else next(iter(found.values()))}
