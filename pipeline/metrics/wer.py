"""Word and character error rates. This module splits texts and counts their edits, against the nearest of what the gold allows."""

from __future__ import annotations

import unicodedata
from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal

import numpy as np

from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._columns import output_column
from pipeline.metrics._edits import LEVENSHTEIN, SCLITE, Edits, Slot, Sounds, count_edits, walk_slots
from pipeline.metrics._texts import reference_rows
from pipeline.metrics.kernels import score_ratio
from pipeline.options import check_choice, check_flag

__all__ = ["Cer", "Wer"]

_RULES = {"levenshtein": LEVENSHTEIN, "sclite": SCLITE}


@dataclass(frozen=True)
class Gold:
    """What may be said in each item: references, or one reference in slots, where it has alternatives."""

    references: tuple[tuple[Sounds, ...], ...]
    slots: tuple[tuple[Slot, ...] | None, ...]


class _ErrorRate(Metric):
    """What both rates share: they differ in what a text is made of."""

    name: str
    form: Literal["ratio", "general"] = "ratio"
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

    The edits that make the output of the reference, summed over items and divided by the summed words. Words are parted by white
    space. Rates may exceed 100.

    Parameters
    ----------
    lowercase : bool
        Ignore case, as sclite does unless it is told not to.
    punctuation : bool
        With false characters of the Unicode categories P are taken out first, and words of nothing else.
    alignment : str
        ``levenshtein``: the fewest edits. ``sclite``: those of the alignment that sclite finds, where a substitution costs 4 and
        anything else 3; they may be more.
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
        With false spaces are no characters.
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
