"""Files in JSON: a document, or one a line, read strictly.

`need` asks for a field by what it must be. `follow` goes along the keys of a place such as ``scores.{system}.rouge``, and
`find_systems` says which systems it has.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.errors import DataError, PipelineError, Problem
from pipeline.items.readers._files import read_lines, read_text
from pipeline.items.readers._repeated_keys import STRICT, RepeatedKeyError, find_repeated

__all__ = [
    "LACKS",
    "SYSTEM",
    "JsonLine",
    "Keys",
    "digest_of",
    "find_systems",
    "follow",
    "need",
    "number_text",
    "parse_keys",
    "read_json",
    "read_json_lines",
    "read_json_list",
    "refuse_shape",
    "show",
]

_Shape = type[Any] | tuple[type[Any], ...]
_WORDS: dict[Any, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
    bool: "true or false",
}
_CLIP = 60


class JsonLine(NamedTuple):
    """An object and the 1-based line it stands on."""

    line: int
    value: Mapping[str, Any]


def read_json(path: Path, *, strict: bool = False) -> tuple[Any, list[str]]:
    """Return the value of a file, and what was odd about it; of a key that an object has twice the last value, unless ``strict``.

    Raises
    ------
    DataError
        P257 where it is not JSON, or a key is there twice; and as `read_text`.
    """
    text, warnings = read_text(path)
    return _parse(text, str(path), 1, strict=strict), warnings


def parse_json(data: bytes, source: str) -> Any:
    """Return the value of the JSON in a part of a file.

    Raises
    ------
    DataError
        P204 where it is not UTF-8, P257 where it is not JSON.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        message = f"the JSON is not UTF-8: byte 0x{data[exc.start]:02x} at offset {exc.start}"
        raise DataError.of("P204", message, where=source, help=_AGAIN) from exc
    return _parse(text, source, 1)


def read_json_lines(path: Path, *, strict: bool = False) -> tuple[list[JsonLine], list[str]]:
    """Return the object of each line of a file, and what was odd about it; empty lines at the end are none.

    Raises
    ------
    DataError
        P257 where a line is not JSON, or no object, or, if ``strict``, has a key twice; and as `read_lines`.
    """
    lines = read_lines(path)
    values = list(lines.values)
    while values and not values[-1].strip():
        values.pop()
    found = []
    for number, line in enumerate(values, start=1):
        value = _parse(line, lines.source, number, strict=strict)
        if not isinstance(value, dict):
            raise refuse_shape(lines.source, number, "the line", "an object", value)
        found.append(JsonLine(number, value))
    return found, list(lines.warnings)


def read_json_list(path: Path, *, strict: bool = False) -> tuple[list[JsonLine], list[str]]:
    """Return the objects of a file that is a list of them, each with the line it begins on, and what was odd about the file.

    Raises
    ------
    DataError
        P257 where it is not JSON, no list, something in it is no object, or, if ``strict``, has a key twice; and as `read_text`.
    """
    text, warnings = read_text(path)
    found = _split_list(text, STRICT if strict else _DECODER)
    if found is None:
        value = _parse(text, str(path), 1, strict=strict)  # says what is wrong with it, where it is not JSON
        raise refuse_shape(str(path), 1, "the file", "a list", value)
    for line, value in found:
        if not isinstance(value, dict):
            raise refuse_shape(str(path), line, "an element of the list", "an object", value)
    return found, warnings


def need(value: Any, key: str, shape: _Shape, where: str, line: int = 0) -> Any:
    """Return a field of an object.

    Raises
    ------
    DataError
        P257 if it is not an object, lacks the field, or the field has another type; true is not a number.
    """
    if not isinstance(value, Mapping):
        raise refuse_shape(where, line, "the value", "an object", value)
    if key not in value:
        there = ", ".join(map(repr, list(value)[:8])) or "nothing"
        raise _refuse(where, line, f"there is no field '{key}'; there are {there}")
    found = value[key]
    shapes = shape if isinstance(shape, tuple) else (shape,)
    if not isinstance(found, shapes) or (isinstance(found, bool) and bool not in shapes):
        raise refuse_shape(where, line, f"the field '{key}'", " or ".join(_WORDS.get(one, one.__name__) for one in shapes), found)
    return found


def refuse_shape(where: str, line: int, what: str, wanted: str, found: Any) -> DataError:
    """Return the error that something is of another shape than the format has."""
    try:
        text = json.dumps(found, ensure_ascii=False, default=str)[: _CLIP + 1]
    except RecursionError:
        text = "…"
    text = text.encode("utf-8", "backslashreplace").decode()  # half a character of UTF-16 could not be printed
    return _refuse(where, line, f"{what} is not {wanted}: {text[:_CLIP]}{'…' * (len(text) > _CLIP)}")


def number_text(value: Any) -> str | None:
    """Return a number as a table would have it, true as 1 and false as 0; None for what is not a finite number."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return str(value)
    return repr(value) if isinstance(value, float) and math.isfinite(value) else None


def digest_of(value: Any) -> str:
    """Return a digest of what an item asked, whatever the order of its fields."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode()).hexdigest()


_DECODER = json.JSONDecoder()


def _split_list(text: str, decoder: json.JSONDecoder) -> list[JsonLine] | None:
    """Return the elements of a list and the line each begins on; None where the text is no list, or no JSON."""
    found: list[JsonLine] = []
    counted, line = 0, 1
    at = _next(text, 0)
    if text[at : at + 1] != "[":
        return None
    at = _next(text, at + 1)
    ended = text[at : at + 1] == "]"
    try:
        while not ended:
            line += text.count("\n", counted, at)
            counted = at
            value, at = decoder.raw_decode(text, at)
            found.append(JsonLine(line, value))
            at = _next(text, at)
            if text[at : at + 1] not in {",", "]"}:
                return None
            ended = text[at] == "]"
            at = at if ended else _next(text, at + 1)
    except (ValueError, RecursionError):
        return None
    return found if _next(text, at + 1) == len(text) else None


def _next(text: str, at: int) -> int:
    """Return the place of the next character that is no blank."""
    found = _BLANKS.match(text, at)
    return found.end() if found else at


_BLANKS = re.compile(r"[ \t\n\r]*")


def _parse(text: str, source: str, first_line: int, *, strict: bool = False) -> Any:
    try:
        return STRICT.decode(text) if strict else json.loads(text)
    except RepeatedKeyError as exc:
        key, line, column = find_repeated(text)
        message = f"the key '{key}' is twice in one object, the second time at column {column}"
        raise DataError.of("P257", message, where=f"{source}:{first_line + line - 1}", help="keep one of the two") from exc
    except json.JSONDecodeError as exc:
        line = first_line + exc.lineno - 1
        cut = exc.pos >= len(text.rstrip()) or "Unterminated" in exc.msg
        message = "the JSON ends in the middle" if cut else f"this is not JSON at column {exc.colno}: {exc.msg}"
        raise DataError.of("P257", message, where=f"{source}:{line}", help="copy or make the file again") from exc
    except RecursionError as exc:
        raise DataError.of("P257", "the JSON is nested too deeply", where=f"{source}:{first_line}", help=_AGAIN) from exc
    except ValueError as exc:  # a number of thousands of digits
        raise DataError.of("P257", f"this is not JSON: {exc}", where=f"{source}:{first_line}", help=_AGAIN) from exc


_AGAIN = "copy or make the file again"


def _refuse(where: str, line: int, message: str) -> DataError:
    place = f"{where}:{line}" if line else where
    return DataError(Problem("P257", message, place, "check that the file is what its format says"))


Keys = tuple[str, ...]
"""Keys from the object of a line to a value; one of them may be `SYSTEM`."""

SYSTEM = "{system}"
LACKS = object()
"""What stands for a value whose system the line does not have."""


def parse_keys(option: str, value: Any) -> Keys:
    """Split ``scores.{system}.rouge`` at its dots; a list is taken as it is, for keys that hold dots.

    Examples
    --------
    >>> parse_keys("score", "systems.{system}.f1")
    ('systems', '{system}', 'f1')
    """
    keys: Sequence[Any] = value.split(".") if isinstance(value, str) else value
    if not isinstance(keys, (list, tuple)) or not keys or not all(isinstance(key, str) and key for key in keys):
        raise ValueError(f"option '{option}' is keys with dots between them, or a list of keys, not {value!r}")
    if any("{" in key and key != SYSTEM for key in keys) or keys.count(SYSTEM) > 1:
        raise ValueError(f"option '{option}' has {SYSTEM} as one of its keys, once, or not at all: {value!r}")
    return tuple(keys)


def show(keys: Keys) -> str:
    """Return keys as a study has them."""
    return ".".join(keys)


def follow(line: JsonLine, keys: Keys, source: str, *, system: str = "") -> Any:
    """Return the value at a place; `LACKS` where the line has no such system.

    Raises
    ------
    DataError
        P257 where a key is not there, or what should have keys is something else.
    """
    value: Any = line.value
    for depth, key in enumerate(keys):
        if isinstance(value, list) and key.isascii() and key.isdecimal() and len(key) < 9:
            if int(key) >= len(value):
                raise _lacks(keys[: depth + 1], f"{source}:{line.line}", f"{len(value)} values")
            value = value[int(key)]
            continue
        if not isinstance(value, Mapping):
            raise refuse_shape(source, line.line, f"'{show(keys[:depth])}'", "an object", value)
        if key == SYSTEM:
            if system not in value:
                return LACKS
            value = value[system]
        elif key not in value:
            there = ", ".join(map(repr, list(value)[:8])) or "nothing"
            raise _lacks(keys[: depth + 1], f"{source}:{line.line}", there)
        else:
            value = value[key]
    return value


def find_systems(line: JsonLine, keys: Keys, source: str) -> list[str]:
    """Return the keys that stand where the place has `SYSTEM`."""
    found = follow(line, keys[: keys.index(SYSTEM)], source)
    if not isinstance(found, Mapping):
        raise refuse_shape(source, line.line, f"'{show(keys[: keys.index(SYSTEM)])}'", "an object", found)
    return list(found)


def _lacks(keys: Keys, where: str, there: str) -> PipelineError:
    return DataError.of(
        "P257",
        f"there is no '{show(keys)}'; there are {there}",
        where=where,
        help="correct the keys in `format:` of the test set; write a key with a dot in it as a list of keys",
    )
