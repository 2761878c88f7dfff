"""How files that do not align differ: the line at which one gap explains them best, or names that are written in two ways."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from decimal import Decimal
from itertools import accumulate

__all__ = ["locate_missing_line", "written_otherwise"]

_EVIDENCE = 3.0
"""How many standard errors a shift must gain before it is believed; nine lines that all agree better are just enough."""

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,2})?")
_MOST_DIGITS = 28


def locate_missing_line(one: Sequence[str | tuple[str, ...]], other: Sequence[str | tuple[str, ...]]) -> int | None:
    """Return the 1-based line, or sentence, near which the shorter of two parallel files lacks some, or None where nothing says so.

    Up to that line the files are compared line by line, after it with the shift that their lengths differ by; the line is where
    the sum of likenesses (Jaccard's, of words) is largest. A file that merely ends early gives None.

    Examples
    --------
    >>> long = [f"line number {chr(97 + k)} of the text {k}" for k in range(20)]
    >>> locate_missing_line(long[:7] + long[8:], long)
    8
    >>> locate_missing_line(long[:19], long) is None
    True
    """
    shorter, longer = sorted((one, other), key=len)
    shift = len(longer) - len(shorter)
    if shift == 0 or not shorter:
        return None
    words_short = [_words(line) for line in shorter]
    words_long = [_words(line) for line in longer]
    gains = [_likeness(words, words_long[k + shift]) - _likeness(words, words_long[k]) for k, words in enumerate(words_short)]
    after = list(accumulate(reversed(gains)))[::-1]  # what the shift gains from line k to the end
    start = max(range(len(gains)), key=after.__getitem__)
    spread = math.sqrt(sum(gain * gain for gain in gains[start:]))
    return start + 1 if after[start] > _EVIDENCE * spread else None


def _words(line: str | tuple[str, ...]) -> frozenset[str]:
    if not isinstance(line, str):
        return frozenset(line)
    words = line.split()
    # Scripts without spaces are compared by pairs of characters.
    return frozenset(words) if len(words) > 1 or len(line) < 8 else frozenset(line[k : k + 2] for k in range(len(line) - 1))


def _likeness(a: frozenset[str], b: frozenset[str]) -> float:
    both = len(a & b)
    either = len(a) + len(b) - both
    return both / either if either else 1.0


def written_otherwise(lacks: Sequence[str], given: Sequence[str], together: Collection[tuple[str, ...]]) -> list[tuple[str, str]]:
    """Return items that are one but for the spelling of a number, or blanks around a name: as they are here, and as they lack.

    Where somebody has an item under both names they are two: sections 1.1 and 1.10.
    """
    wanted = {_spelling(name): name for name in lacks}
    found = [(name, wanted[spelling]) for name in given if (spelling := _spelling(name)) in wanted]
    holders = [frozenset(ids) for ids in together] if found else []
    return [(here, there) for here, there in found if not any(here in ids and there in ids for ids in holders)]


def _spelling(name: str) -> str:
    text = name.strip()
    if len(text) > _MOST_DIGITS or not _NUMBER.fullmatch(text):
        return text
    return format(Decimal(text).normalize(), "f")
