"""Keys that an object in JSON has twice, of which reading it keeps the last alone: noticed, and found in the text."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, NamedTuple

__all__ = ["STRICT", "Place", "RepeatedKeyError", "find_repeated", "repeated_in_outermost"]


class RepeatedKeyError(ValueError):
    """An object has a key twice; what decodes it does not know where it is in the text."""


class Place(NamedTuple):
    """A key and where it stands for the second time, counted from 1."""

    key: str
    line: int
    column: int


def _keep_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise RepeatedKeyError
    return found


STRICT = json.JSONDecoder(object_pairs_hook=_keep_once)
"""Decodes what has no key twice in one object, and raises `RepeatedKeyError` elsewhere."""

_TOKEN = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}]', re.DOTALL)
"""A string, which is a key where a colon follows it, or one end of an object."""


def find_repeated(text: str) -> Place:
    r"""Return the first key of a text that its object has already; the text has one, and is JSON up to there.

    Examples
    --------
    >>> find_repeated('[{"b": {"a": "}"}, "a": 1},\n {"a": 1, "b": 2, "a": 3}]')
    Place(key='a', line=2, column=19)
    """
    open_: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        if token[0] == "{":
            open_.append(set())
        elif token[0] == "}":
            open_.pop()
        elif token[2] is not None:
            key = json.loads(token[1])
            if key in open_[-1]:
                before = text[: token.start()]
                return Place(key, before.count("\n") + 1, token.start() - before.rfind("\n"))
            open_[-1].add(key)
    raise ValueError("no key of the text is repeated")


def repeated_in_outermost(text: str) -> list[str]:
    """Return the keys that the object of a whole text has several times."""
    last: list[str] = []

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        last[:] = [key for key, times in Counter(key for key, _ in pairs).items() if times > 1]
        return dict(pairs)

    json.loads(text, object_pairs_hook=keep)  # the object around all others is the last that ends
    return last
