"""How the numbers of a column are written: plainly, as true and false, in percent, or with decimal commas; and what is none."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from pipeline.dataclass import dataclass
from pipeline.items.readers._tables import is_number

__all__ = ["EMPTY", "MISSING", "Spelling", "is_numeral", "spell"]

EMPTY = frozenset({"", "-", "nan", "na", "n/a", "none", "null", "#n/a"})
"""How tables write that there is no number."""

MISSING = EMPTY | {"inf", "+inf", "-inf", "infinity", "-infinity"}
"""How tables write a number that is not there, or not finite."""

_TRUTH = {"true": "1", "yes": "1", "false": "0", "no": "0"}
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]{1,4})?")
_WORDS: Mapping[str, str] = {
    "truth": "true and false (or yes and no)",
    "percent": "percent",
    "number": "numbers",
    "comma": "decimal commas",
    "point": "decimal points",
}


@dataclass(frozen=True)
class Spelling:
    """How the values of a column are to be read.

    Parameters
    ----------
    kind : str
        ``number``, ``truth`` or ``percent``; ``other`` where the column holds text.
    numbers : mapping of str to str
        The plain number, as a text, of each value that is not one already.
    wrong : frozenset of str
        Values that are no number of any kind.
    mixed : str
        Where values are of two kinds, which two, in words; else empty.
    rarer : frozenset of str
        Then, the values of the kind that fewer of the different values have.
    mark : str
        ``comma`` or ``point`` where some value has that decimal mark.
    """

    kind: str
    numbers: Mapping[str, str]
    wrong: frozenset[str]
    mixed: str = ""
    rarer: frozenset[str] = frozenset()
    mark: str = ""


def is_numeral(value: str, *, commas: bool = False) -> bool:
    """Tell whether a field is a number in any of the spellings; ``commas`` takes decimal commas too."""
    return _read(value, commas=commas)[0] != "other"


def spell(values: Collection[str], odd: Collection[str], *, commas: bool) -> Spelling:
    """Say how the different values of a column are written.

    ``50%`` is 50: a column stays on the scale of its file. True and yes are 1, false and no are 0.

    Parameters
    ----------
    values : collection of str
        All of them, each once.
    odd : collection of str
        Those that are no plain numbers.
    commas : bool
        Whether a comma may be a decimal mark: where it does not separate fields.
    """
    if not odd:  # nearly always, and of every value of every system
        return Spelling("number", {}, frozenset(), mark="point" if commas and any("." in value for value in values) else "")
    kinds: dict[str, set[str]] = {}
    marks: dict[str, set[str]] = {}
    numbers: dict[str, str] = {}
    for value in values:
        kind, number = _read(value, commas=commas) if value in odd else ("number", value)
        kinds.setdefault(kind, set()).add(value)
        if kind in {"number", "percent"} and (mark := "comma" if "," in value else "point" if "." in value else ""):
            marks.setdefault(mark, set()).add(value)
        if number != value:
            numbers[value] = number
    wrong = frozenset(kinds.pop("other", ()))
    if wrong and set(kinds) <= {"truth"} and not any(value.strip().lower() in MISSING for value in wrong):
        return Spelling("other", {}, wrong)  # yes, no and maybe; or countries, of which NO is one
    words = {value.strip().lower() for value in wrong} - EMPTY
    if words and not kinds and words.isdisjoint(MISSING) and not any(is_numeral(word, commas=True) for word in words):
        return Spelling("other", {}, wrong)  # notes, of which some items have none
    mixed = kinds if len(kinds) > 1 else marks if len(marks) > 1 else {}
    kind = next(iter(kinds), "number")  # nothing but marks of numbers that are missing: a system without a score, and no text
    mark = next(iter(marks), "")
    if not mixed:
        return Spelling(kind, numbers, wrong, mark=mark)
    ways = " and ".join(_WORDS[name] for name in sorted(mixed, key=lambda name: -len(mixed[name])))
    rarer: set[str] = min(mixed.values(), key=len)
    return Spelling(kind, numbers, wrong, ways, frozenset(rarer), mark)


def _read(value: str, *, commas: bool) -> tuple[str, str]:
    """Return the kind of a value, and the plain number that it is."""
    text = value.strip()
    if is_number(text):
        return "number", value
    truth = _TRUTH.get(text.lower())
    if truth is not None:
        return "truth", truth
    percent = text.endswith("%")
    plain = text.removesuffix("%").rstrip()
    if commas and _COMMA.fullmatch(plain):
        plain = plain.replace(",", ".")
    if is_number(plain):
        return ("percent" if percent else "number"), plain
    return "other", value
