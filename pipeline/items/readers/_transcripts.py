"""The marks of sclite in what was said: alternatives in braces, and words that may be left out."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

__all__ = ["LEFT_OUT", "NOTHING", "Transcript", "read_marks", "without_nothing"]

NOTHING = "@"
"""What stands for no word."""
LEFT_OUT = ("",)
"""An alternative to a word that need not be said, and counts as said: a word that is empty."""

Slot = tuple[tuple[str, ...], ...]

_TOKEN = re.compile(r"[{}]|[^\s{}]+")
_PART = re.compile(r"[{}/]|[^\s{}/]+")
_OPTIONAL = re.compile(r"\(([^()]+)\)")
_MOST = 1000
_DEEPEST = 50


class Transcript(NamedTuple):
    """What was said: the first of all alternatives as text, and all of them place by place; none where there is one way only."""

    text: str
    slots: tuple[Slot, ...]


def read_marks(text: str, *, optional: bool) -> Transcript:
    """Return what a line says may be said.

    Raises
    ------
    ValueError
        Where braces are not in pairs, an alternative is empty, or an alternation has a thousand ways or a word in parentheses.

    Examples
    --------
    >>> read_marks("i { um / uh / @ } saw (the) it", optional=True).slots
    ((('i',),), (('um',), ('uh',), ()), (('saw',),), (('the',), ('',)), (('it',),))
    """
    if not any(mark in text for mark in "{}(@"):
        return Transcript(text, ())
    slots: list[Slot] = []
    place, marked = 0, False
    while found := _TOKEN.search(text, place):
        token, place = found[0], found.end()
        inner = _OPTIONAL.fullmatch(token) if optional else None
        marked = marked or token in {"{", NOTHING} or inner is not None
        if token == "{":
            ways, place = _read_alternation(text, place, _DEEPEST)
            slots.append(ways)
        elif token == "}":
            raise ValueError("a brace is closed that none opens")
        elif inner is not None:
            slots.append(((inner[1],), LEFT_OUT))
        elif token != NOTHING:
            slots.append(((token,),))
    if not marked:
        return Transcript(text, ())
    first = " ".join(word for slot in slots for word in slot[0])
    return Transcript(first, tuple(slots) if any(len(slot) > 1 for slot in slots) else ())


def _read_alternation(text: str, place: int, deepest: int) -> tuple[Slot, int]:
    """Return the ways of an alternation whose brace was just opened, each once, and the place behind it."""
    ways: list[tuple[str, ...]] = []
    parts: list[Sequence[tuple[str, ...]]] = []
    while found := _PART.search(text, place):
        token, place = found[0], found.end()
        if token == "{":
            if not deepest:
                raise ValueError(f"alternations are nested more than {_DEEPEST} deep")
            inner, place = _read_alternation(text, place, deepest - 1)
            parts.append(inner)
        elif token in "/}":
            if not parts:
                raise ValueError("an alternative is empty")
            if len(ways) + math.prod(map(len, parts)) > _MOST:
                raise ValueError(f"an alternation has more than {_MOST} ways")
            ways.extend(tuple(word for part in chosen for word in part) for chosen in product(*parts))
            if token == "}":
                return tuple(dict.fromkeys(ways)), place
            parts = []
        elif _OPTIONAL.fullmatch(token):
            raise ValueError(f"{token} may be left out of an alternative: write the alternative with it, and the one without")
        else:
            parts.append([() if token == NOTHING else (token,)])
    raise ValueError("a brace is opened and not closed")


def without_nothing(text: str) -> str:
    """Return what was said without the signs of no word."""
    if NOTHING not in text:
        return text
    words = re.split(r"([ \t]+)", text)
    return text if NOTHING not in words else " ".join(word for word in words[::2] if word and word != NOTHING)
