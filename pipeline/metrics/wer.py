"""Word and character error rates: edits against the nearest text that the gold allows.

A gold may have several references, or one with alternatives in slots. Edits are counted by Levenshtein's distance, or by sclite's
alignment.
"""

from __future__ import annotations

import unicodedata
from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache, partial
from operator import itemgetter
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from pipeline.compiled import kernel
from pipeline.dataclass import dataclass
from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._columns import output_column, reference_rows
from pipeline.metrics.kernels import score_ratio
from pipeline.options import check_choice, check_flag

__all__ = ["LEVENSHTEIN", "SCLITE", "Cer", "Edits", "Rule", "Slot", "Sounds", "Wer", "count_edits", "walk_slots"]

Sounds = tuple[str, ...]
"""Words, or characters. In what may be said, the empty string is a word that is left out, and counts as said."""
Slot = tuple[Sounds, ...]
"""What may be said at one place."""


class Edits(NamedTuple):
    """The number of substitutions, insertions and deletions, and the number of words in the reference."""

    edits: int
    length: int


class Rule(NamedTuple):
    """What an alignment costs.

    Parameters
    ----------
    substitution, gap, left_out : int
        Costs of a wrong word, of a word too many or too few, and of an optional word that is left out.
    longest : bool
        Among alignments of equal cost, take the one with the longest reference. Otherwise take the one that at each pair of words
        prefers to align them, then a word too many, then one too few; and the first of several alternatives.
    """

    substitution: int
    gap: int
    left_out: int
    longest: bool


LEVENSHTEIN = Rule(1, 1, 0, longest=True)
SCLITE = Rule(4, 3, 2, longest=False)

_Cost = tuple[int, int, int]
"""The cost, the length of the reference, negative, and the edits."""


def count_edits(reference: Sounds, said: Sounds, rule: Rule) -> Edits:
    """Count the edits of one reference.

    Examples
    --------
    >>> count_edits(("a", "b", "c"), ("b", "c", "d"), LEVENSHTEIN)
    Edits(edits=2, length=3)
    """
    if rule is LEVENSHTEIN:
        return Edits(Levenshtein.distance(reference, said), len(reference))
    numbers = {word: number for number, word in enumerate(dict.fromkeys((*reference, *said)))}
    first, second = (np.array([numbers[word] for word in words], dtype=np.int64) for words in (reference, said))
    return Edits(int(_align(first, second, rule.substitution, rule.gap)), len(reference))


def walk_slots(slots: Sequence[Slot], said: Sounds, rule: Rule) -> Edits:
    """Count the edits of the cheapest way through the slots.

    Examples
    --------
    >>> walk_slots(((("a",),), (("b",), ("c", "d"), ())), ("a", "c"), LEVENSHTEIN)
    Edits(edits=1, length=3)
    """
    row: list[_Cost] = [(rule.gap * k, 0, k) for k in range(len(said) + 1)]
    for slot in slots:
        ends = [_follow(row, sounds, said, rule) for sounds in slot]
        row = [min(costs) if rule.longest else min(costs, key=itemgetter(0)) for costs in zip(*ends, strict=True)]
    _, length, edits = row[-1]
    return Edits(edits, -length)


def _follow(row: list[_Cost], sounds: Sounds, said: Sounds, rule: Rule) -> list[_Cost]:
    """Go on by some words, from any place in what was said to any."""
    for sound in sounds:
        counts = int(sound != "")
        gap = rule.gap if counts else rule.left_out
        before, row = row, [(row[0][0] + gap, row[0][1] - 1, row[0][2] + counts)]
        for k, other in enumerate(said):
            few, many = before[k + 1], row[k]
            found = [(many[0] + rule.gap, many[1], many[2] + 1), (few[0] + gap, few[1] - 1, few[2] + counts)]
            if counts:
                both, wrong = before[k], int(sound != other)
                found.insert(0, (both[0] + wrong * rule.substitution, both[1] - 1, both[2] + wrong))
            row.append(min(found) if rule.longest else min(found, key=itemgetter(0)))
    return row


@kernel
def _align(reference: NDArray[np.int64], said: NDArray[np.int64], substitution: int, gap: int) -> int:
    """Count the edits of the least cost, aligning a pair of words before a word too many, and that before one too few."""
    costs = np.arange(said.size + 1, dtype=np.int64) * gap
    edits = np.arange(said.size + 1, dtype=np.int64)
    for i in range(reference.size):
        cost_before, edits_before = costs[0], edits[0]
        costs[0] += gap
        edits[0] += 1
        for k in range(said.size):
            wrong = np.int64(reference[i] != said[k])
            cost, count = cost_before + wrong * substitution, edits_before + wrong
            if costs[k] + gap < cost:
                cost, count = costs[k] + gap, edits[k] + 1
            if costs[k + 1] + gap < cost:
                cost, count = costs[k + 1] + gap, edits[k + 1] + 1
            cost_before, edits_before = costs[k + 1], edits[k + 1]
            costs[k + 1], edits[k + 1] = cost, count
    return int(edits[-1])


_RULES = {"levenshtein": LEVENSHTEIN, "sclite": SCLITE}


@dataclass(frozen=True)
class Gold:
    """What may be said in each item: references, or one reference in slots if it has alternatives."""

    references: tuple[tuple[Sounds, ...], ...]
    slots: tuple[tuple[Slot, ...] | None, ...]


class _ErrorRate(Metric):
    """What both rates share: they differ in what a text is made of."""

    name: str
    form: Literal["ratio", "general"] = "ratio"
    needs_of_outputs: tuple[str, ...] = ("text",)
    needs_of_gold: tuple[str, ...] = ("reference",)
    higher_is_better = False
    factor = 100.0
    statistics: tuple[str, ...] = ("edits", "reference_length")
    rule = LEVENSHTEIN

    def __init__(self, *, lowercase: bool = False, punctuation: bool = True) -> None:
        self.lowercase = check_flag("lowercase", lowercase)
        self.punctuation = check_flag("punctuation", punctuation)

    @property
    def signature(self) -> str:
        """Name, case, punctuation, and what is counted."""
        case, punctuation = "lc" if self.lowercase else "mixed", "yes" if self.punctuation else "no"
        return f"{self.name}|case:{case}|punct:{punctuation}{self._told()}|unit:percent"

    def prepare(self, gold: Items | None) -> Gold:
        """Split the references; a gold with the column ``reference.alternatives`` has slots where an item allows several words."""
        rows = reference_rows(self.name, gold)
        allowed = gold.columns.get("reference.alternatives") if gold is not None else None
        references = tuple(tuple(self._split(text) for text in row) for row in rows)
        slots = [tuple(self._split_slot(slot) for slot in item) or None for item in allowed] if allowed else [None] * len(rows)
        return Gold(references, tuple(slots))

    def extract(self, prepared: Gold, output: Items) -> Statistics:
        """Count the edits of each item to its nearest reference, and the words of that one; the longest of equally near ones."""
        values = np.zeros((len(output), 2), dtype=np.int64)
        texts = output_column(self.name, output, "text")
        for k, (text, references, slots) in enumerate(zip(texts, prepared.references, prepared.slots, strict=True)):
            said = self._split(text)
            if slots is not None:
                values[k] = self._nearest(slots, said)
            else:
                found = (count_edits(reference, said, self.rule) for reference in references)
                values[k] = min(found, key=lambda one: (one.edits, -one.length))
        return Statistics(values, (0, 0))

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return the rate in percent of summed counts; nan where the references have no word."""
        return partial(score_ratio, decimals=decimals, factor=self.factor)

    @abstractmethod
    def _split(self, text: str) -> Sounds:
        """Return the words or the characters of a text."""

    def _split_slot(self, slot: Slot) -> Slot:
        """Split the words of alternatives; what may be left out is as long as what it is left out for, the first alternative."""
        split = [self._split_words(words) for words in slot]
        return tuple(("",) * len(split[0]) if words == ("",) else found for words, found in zip(slot, split, strict=True))

    def _split_words(self, words: Sounds) -> Sounds:
        return tuple(part for word in words for part in self._split(word))

    def _nearest(self, slots: tuple[Slot, ...], said: Sounds) -> Edits:
        return walk_slots(slots, said, self.rule)

    def _told(self) -> str:
        return ""

    def _clean(self, text: str) -> str:
        plain = text.lower() if self.lowercase else text
        return plain if self.punctuation else "".join(sign for sign in plain if not _is_punctuation(sign))


class Wer(_ErrorRate):
    """Word error rate: 100 · (substitutions + deletions + insertions) / words of the reference; lower is better.

    The edits that turn the reference into the output, summed over items and divided by the summed words. Words are separated by
    white space. Rates may exceed 100.

    Parameters
    ----------
    lowercase : bool
        Ignore case, as sclite does unless it is run with ``-s``.
    punctuation : bool
        With false, characters of the Unicode categories P are removed first, and with them words that have no others.
    alignment : str
        ``levenshtein``: the fewest edits. ``sclite``: the edits of sclite's alignment, in which a substitution costs 4 and any
        other edit 3; they may be more.
    """

    name = "wer"

    def __init__(self, *, lowercase: bool = False, punctuation: bool = True, alignment: str = "levenshtein") -> None:
        super().__init__(lowercase=lowercase, punctuation=punctuation)
        self.alignment = check_choice("alignment", alignment, tuple(_RULES))
        self.rule = _RULES[self.alignment]

    def _told(self) -> str:
        return f"|alignment:{self.alignment}"

    def _split(self, text: str) -> Sounds:
        return tuple(self._clean(text).split())


class Cer(_ErrorRate):
    """Character error rate: 100 · edits / characters of the reference, in Unicode code points; lower is better.

    White space at the ends is left out, and any white space between words is one space.

    Parameters
    ----------
    lowercase : bool
        Ignore case.
    punctuation : bool
        With false characters of the Unicode categories P are taken out first.
    spaces : bool
        With false, spaces do not count as characters.
    """

    name = "cer"

    def __init__(self, *, lowercase: bool = False, punctuation: bool = True, spaces: bool = True) -> None:
        super().__init__(lowercase=lowercase, punctuation=punctuation)
        self.spaces = check_flag("spaces", spaces)

    def _told(self) -> str:
        return f"|spaces:{'yes' if self.spaces else 'no'}"

    def _split(self, text: str) -> Sounds:
        return tuple((" " if self.spaces else "").join(self._clean(text).split()))

    def _split_words(self, words: Sounds) -> Sounds:
        lead = (" ",) if self.spaces else ()
        return tuple(sign for word in words for part in self._clean(word).split() for sign in (*lead, *part))

    def _nearest(self, slots: tuple[Slot, ...], said: Sounds) -> Edits:
        """Walk with a space before every word on both sides, and take back what it counts where one side has no word."""
        if not self.spaces:
            return super()._nearest(slots, said)
        edits, length = super()._nearest(slots, (" ", *said) if said else ())
        silent = tuple(tuple(sounds for sounds in slot if not any(sounds)) for slot in slots)
        if not said:
            edits = max(edits - 1, 0)
        elif all(silent):
            without = Edits(len(said), super()._nearest(silent, ()).length)
            edits, length = min(Edits(edits, length), without, key=lambda one: (one.edits, -one.length))
        return Edits(edits, max(length - 1, 0))


@lru_cache(maxsize=1 << 12)
def _is_punctuation(sign: str) -> bool:
    return unicodedata.category(sign).startswith("P")
