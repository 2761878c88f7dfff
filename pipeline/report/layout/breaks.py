"""Where lines of a page may break: between the parts of a name, but not inside `α = 0.05` or between a number and its unit.

Negative numbers in sentences get the true minus of pages on the way.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from markupsafe import Markup, escape

from pipeline.interfaces.wording import set_minus

__all__ = ["LineBreaks", "break_between_parts", "keep_together", "room_of"]

_NO_BREAK = "\u00a0"
_LONGEST = 28
"""Letters of a name that a line of a narrow screen has room for; longer ones break like other words."""
_TERMS = ("max-T", "Max-T")
"""Words with a hyphen that a reader would stumble over if a line ended there."""
_COUNTED = "%|pairs?|units?|items?|systems?|segments?|documents?|replicates?|runs?|models?|families|others?|more|points?|GB|MB|s"
_WIDE, _LONG = 16, 28
"""Characters of a cell or head beyond which a phone gives its column a width of its own, and of a sentence a greater one."""
_MOST_NAMED = 3
"""Words of a cell that names one system or two."""
_PARTS = re.compile(r"(?<=[_.|:])(?=[^\W\d])|(?<=[a-z])(?=[A-Z])")
_ENDS = re.compile(r"[\[(]-?[\d.]+, -?[\d.]+[\])]")
_MARKED = re.compile(r"[^\w.]|[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
"""Where a browser breaks a name, and letters of Hebrew, Arabic and their neighbours."""
_POWER = r"(?:(?:p )?\w+ [=<≤≥] )?\d(?:\.\d+)?e-\d+"
"""A small number and what it is of, which a browser would break behind its hyphen."""
_AROUND_SIGN = re.compile(r"(?<=\S) ([=≤≥<>±×]) (?=[\d.\-−])")
_CODE = re.compile(r"([(\[]?)`([^`\n]+)`([)\].,;:]*)")
_BEFORE_UNIT = re.compile(rf"(?<=\d) (?=(?:{_COUNTED})\b|%)")


def keep_together(text: str) -> str:
    """Return text with no-break spaces around signs before numbers, and between numbers and what they count.

    Examples
    --------
    >>> keep_together("66 pairs at α = 0.05").replace("\u00a0", "~")
    '66~pairs at α~=~0.05'
    """
    return set_minus(_BEFORE_UNIT.sub(_NO_BREAK, _AROUND_SIGN.sub(rf"{_NO_BREAK}\1{_NO_BREAK}", text)))


def break_between_parts(text: str) -> Markup:
    """Return a cell whose lines may end between the parts of a long name, of one system or two; a sentence breaks like others.

    Numbers of a sentence, and those in brackets, have a true minus; names stay as they are.

    Examples
    --------
    >>> print(break_between_parts("JDExploreAcademy"), break_between_parts("abs.pointer_gen_cov"), break_between_parts("GPT-4.1"))
    JDExplore<wbr>Academy abs.<wbr>pointer_<wbr>gen_<wbr>cov GPT-4.1
    >>> print(break_between_parts("-5"), break_between_parts("[-0.3, 0.1]"), break_between_parts("no gain is below -0.3"))
    -5 [−0.3, 0.1] no gain is below −0.3
    """
    words = text.split()
    if len(words) > _MOST_NAMED or _ENDS.fullmatch(text):
        return escape(set_minus(text))
    return Markup("<wbr>").join(_PARTS.split(text)) if any(len(word) > 12 for word in words) else escape(text)


def room_of(text: str, is_words: bool) -> Markup:
    """Return the class of a cell or a head: whether it holds words, and whether a phone must make room for it.

    Examples
    --------
    >>> print(room_of("better", True), room_of("smallest gain with one-sided p", False), repr(str(room_of("gain", False))))
     class="t"  class="long" ''
    """
    size = "long" if len(text) > _LONG and len(text.split()) > _MOST_NAMED else "wide"
    names = ["t"] * is_words + [size] * (len(text) > _WIDE)
    return Markup(' class="{}"').format(" ".join(names)) if names else Markup("")


class LineBreaks:
    """Markup of sentences in which names are not broken where the next line has room for them.

    Parameters
    ----------
    names : collection of str
        Of systems and models; those that a browser would not break anyway, or that fill a line, get no markup. Max-T is kept whole
        without being named. Names that are written from right to left get markup too: it keeps them and their neighbours in order.
    """

    def __init__(self, names: Collection[str]) -> None:
        breakable = sorted(
            (name for name in {*names, *_TERMS} if len(name) <= _LONGEST and _MARKED.search(name)),
            key=lambda name: (-len(name), name),
        )
        # Names in which a hyphen stands where a minus might.
        signed = sorted((name for name in {*names} if set_minus(name) != name), key=lambda name: (-len(name), name))
        self._signed = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, signed))})(?![\w-]|\.\d)") if signed else None
        self._kept = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, breakable))})(?![\w-]|\.\d)|{_POWER}")

    def sentence(self, text: str) -> Markup:
        """Return a sentence as markup."""
        parts, end = Markup(), 0
        for found in self._kept.finditer(text):
            parts += escape(keep_together(text[end : found.start()])) + Markup('<span class="name">{}</span>').format(found[0])
            end = found.end()
        return parts + escape(keep_together(text[end:]))

    def plain(self, text: str) -> str:
        """Return a text that is read aloud, without markup: its numbers have a true minus, names stay as they are.

        Examples
        --------
        >>> LineBreaks(["run -1"]).plain("run -1 is -0.5 behind a-1")
        'run -1 is −0.5 behind a-1'
        """
        if self._signed is None:
            return set_minus(text)
        parts, end = "", 0
        for found in self._signed.finditer(text):
            parts, end = parts + set_minus(text[end : found.start()]) + found[0], found.end()
        return parts + set_minus(text[end:])

    def coded(self, text: str) -> Markup:
        """Return a sentence with what stands between backticks as code: names of options and commands.

        Code is a box of its own on the page, beside which a line may end: what encloses it, or follows it closely, is kept with it.
        """
        parts, end = Markup(), 0
        for found in _CODE.finditer(text):
            before, code, after = found.groups()
            whole = Markup("{}<code>{}</code>{}").format(before, code, after)
            kept = (before or after) and len(code) <= _LONGEST
            parts += self.sentence(text[end : found.start()])
            parts += Markup('<span class="name">{}</span>').format(whole) if kept else whole
            end = found.end()
        return parts + self.sentence(text[end:])
