"""Words and the characters they are made of: lay words out along their text, and align those of two files.

The text is that of the tokens without spaces (Unicode category Zs). Words that share a token, as the two of French ``du``, have the
place of the token. The alignment is that of the CoNLL 2017 and 2018 shared tasks (Zeman and others 2018, doi:10.18653/v1/K18-2001):
words are aligned where they have the same place, and around shared tokens where they are in the longest common subsequence of forms
in lower case.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple

from pipeline.dataclass import dataclass
from pipeline.items.readers._conllu_rows import Range

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Text", "align_words", "find_difference", "lay_out"]

_SPACES = re.compile("[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")


@dataclass(frozen=True, eq=False)
class Text:
    """The words of a file, one sentence after another, and where each stands in the text.

    Parameters
    ----------
    characters : str
        The text without spaces.
    words : list of str
    starts, ends : list of int
        The place of each word: its first character, and the one behind its last; those of its token where it shares one.
    shares : list of bool
        Whether a word is one of those that a range stands for.
    firsts : list of int
        Words before each sentence, and before the end.
    """

    characters: str
    words: list[str]
    starts: list[int]
    ends: list[int]
    shares: list[bool]
    firsts: list[int]

    def find_word(self, place: int) -> tuple[int, int]:
        """Return the sentence of the word in which a character is, and its position there; of the last word behind the end."""
        word = min(bisect_right(self.ends, place), len(self.words) - 1)
        sentence = bisect_right(self.firsts, word) - 1
        return sentence, word - self.firsts[sentence]


def lay_out(sentences: Sequence[Sequence[str]], ranges: Sequence[Sequence[Range]]) -> Text:
    """Place words along their text; ``ranges`` has those of each sentence, or is empty where there are none."""
    import numpy as np  # recognising a file does not need it

    words = list(chain.from_iterable(sentences))
    firsts = list(accumulate(map(len, sentences), initial=0))
    tokens: list[str] = []
    shared: list[int] = []
    sizes: list[int] = []
    upto = 0
    for sentence, found in enumerate(ranges):
        for first, last, form in found:
            start, end = firsts[sentence] + first - 1, firsts[sentence] + last
            tokens += words[upto:start]
            shared.append(len(tokens))
            sizes.append(end - start)
            tokens.append(form)
            upto = end
    tokens += words[upto:]
    characters = "".join(tokens)
    if _SPACES.search(characters):
        tokens = [_SPACES.sub("", token) for token in tokens]
        characters = "".join(tokens)
    ends = np.fromiter(accumulate(map(len, tokens)), dtype=np.int64, count=len(tokens))
    starts = np.concatenate([[0], ends[:-1]])
    counts = np.ones(len(tokens), dtype=np.int64)
    counts[shared] = sizes
    shares = np.zeros(len(tokens), dtype=np.bool_)
    shares[shared] = True
    starts, ends, shares = (np.repeat(values, counts) for values in (starts, ends, shares))
    return Text(characters, words, starts.tolist(), ends.tolist(), shares.tolist(), firsts)


def find_difference(ours: str, theirs: str) -> int:
    """Return the number of characters with which both texts begin.

    Examples
    --------
    >>> find_difference("Foglifts.", "Foglifst."), find_difference("Fog", "Foglifts")
    (6, 3)
    """
    low, high = 0, min(len(ours), len(theirs))
    while low < high:
        middle = (low + high + 1) // 2
        if ours[low:middle] == theirs[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def align_words(gold: Text, output: Text) -> NDArray[np.int64]:
    """Return the position of the gold word that each word of an output is aligned with, or -1; the texts are the same.

    Parameters
    ----------
    gold, output : Text

    Returns
    -------
    (word,) int64
    """
    import numpy as np

    aligned = np.full(len(output.words), -1, dtype=np.int64)
    starts, ends, shares = gold.starts, gold.ends, gold.shares
    their_starts, their_ends, their_shares = output.starts, output.ends, output.shares
    n_gold, n_output = len(gold.words), len(output.words)
    ours = theirs = 0
    while ours < n_gold and theirs < n_output:
        if shares[ours] or their_shares[theirs]:
            found = _find_stretch(gold, output, ours, theirs)
            for one, other in _pair_forms(_lower(gold, found.gold), _lower(output, found.output)):
                aligned[found.output.start + other] = found.gold.start + one
            ours, theirs = found.gold.stop, found.output.stop
        elif starts[ours] == their_starts[theirs] and ends[ours] == their_ends[theirs]:
            aligned[theirs] = ours
            ours += 1
            theirs += 1
        elif starts[ours] <= their_starts[theirs]:
            ours += 1
        else:
            theirs += 1
    return aligned


class _Stretch(NamedTuple):
    """Words of both sides whose forms are compared."""

    gold: slice
    output: slice


def _find_stretch(gold: Text, output: Text, ours: int, theirs: int) -> _Stretch:
    """Return the words around a shared token.

    A stretch reaches to the end of its tokens; a shared token that begins in it, on either side, makes it longer, and other words
    belong to it if they end in it. Words are taken in the order in which they begin. Before the token one word that begins earlier
    is passed over and no more, so that the stretch may begin with words that stand before it, as with the scorer of the shared
    task.
    """
    if gold.shares[ours]:
        start, end = gold.starts[ours], gold.ends[ours]
        theirs += not output.shares[theirs] and output.starts[theirs] < start
    else:
        start, end = output.starts[theirs], output.ends[theirs]
        ours += gold.starts[ours] < start
    end = max(end, start + 1)  # a token of nothing but spaces has no characters, and must be passed all the same
    first, their_first = ours, theirs
    while True:
        more = ours < len(gold.words) and _is_within(gold, ours, end)
        their_more = theirs < len(output.words) and _is_within(output, theirs, end)
        if not (more or their_more):
            return _Stretch(slice(first, ours), slice(their_first, theirs))
        left = ours < len(gold.words)
        if left and (theirs == len(output.words) or gold.starts[ours] <= output.starts[theirs]):
            end = max(end, gold.ends[ours]) if gold.shares[ours] else end
            ours += 1
        else:
            end = max(end, output.ends[theirs]) if output.shares[theirs] else end
            theirs += 1


def _is_within(text: Text, word: int, end: int) -> bool:
    return text.starts[word] < end if text.shares[word] else text.ends[word] <= end


def _lower(text: Text, words: slice) -> list[str]:
    return [_SPACES.sub("", word).lower() for word in text.words[words]]


def _pair_forms(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the positions of a longest common subsequence; of several the one that passes over words of the gold first.

    Examples
    --------
    >>> list(_pair_forms(["de", "le", "mer"], ["le", "la", "mer"]))
    [(1, 0), (2, 2)]
    """
    if ours == theirs:
        yield from zip(range(len(ours)), range(len(theirs)), strict=True)
        return
    longest = [[0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for one in reversed(range(len(ours))):
        for other in reversed(range(len(theirs))):
            if ours[one] == theirs[other]:
                longest[one][other] = longest[one + 1][other + 1] + 1
            else:
                longest[one][other] = max(longest[one + 1][other], longest[one][other + 1])
    one = other = 0
    while one < len(ours) and other < len(theirs):
        if ours[one] == theirs[other]:
            yield one, other
            one += 1
            other += 1
        elif longest[one][other] == longest[one + 1][other]:
            one += 1
        else:
            other += 1
