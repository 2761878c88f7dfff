"""Tags as numbers, and numbers for sequences of them: the index of tag sequences of MBSL and SNoW."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Text", "find_sequences", "lay_out", "number_sequences", "number_tags"]

_BOUNDARY = 0  # the symbol on both sides of every sentence; Krymolowski's counts of words have two a sentence
_UNKNOWN = -1  # a tag that the sample has not: no sequence has it


@dataclass(frozen=True)
class Text:
    """Sentences one after another as numbers of tags, each between boundaries.

    Parameters
    ----------
    symbols : (position,) int64
    starts : (sentence,) int64
        Position of each sentence's first boundary.
    ends : (sentence,) int64
        Position after each sentence's last boundary.
    tags : int
        Number of different tags that have a number.
    """

    symbols: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    tags: int

    def keys(self, sequences: NDArray[np.int64], length: int) -> NDArray[np.int64]:
        """Return keys of the sequences of one length that begin at each position: the number of the prefix, then the last symbol.

        −1 where the shorter one has no number, the last tag is unknown, or the sequence would leave its sentence.
        """
        last = np.full(len(self.symbols), _UNKNOWN, dtype=np.int64)
        reach = max(0, len(self.symbols) - length + 1)
        last[:reach] = self.symbols[length - 1 :][:reach]
        rooms = np.repeat(self.ends, self.ends - self.starts) - np.arange(len(self.symbols))
        return np.where((sequences >= 0) & (last >= 0) & (rooms >= length), sequences * (self.tags + 1) + last, -1)


def number_tags(sentences: Iterable[Sequence[str]]) -> dict[str, int]:
    """Return each tag its number, from 1 in the order of the alphabet."""
    return {tag: number for number, tag in enumerate(sorted({tag for tags in sentences for tag in tags}), start=1)}


def lay_out(sentences: Iterable[Sequence[str]], numbers: dict[str, int], *, boundaries: int = 1) -> Text:
    """Put sentences one after another with this many boundary symbols on both sides of each."""
    edge = [_BOUNDARY] * boundaries
    symbols: list[int] = []
    bounds = [0]
    for tags in sentences:
        symbols += edge
        symbols += [numbers.get(tag, _UNKNOWN) for tag in tags]
        symbols += edge
        bounds.append(len(symbols))
    places = np.array(bounds, dtype=np.int64)
    return Text(np.array(symbols, dtype=np.int64), places[:-1], places[1:], len(numbers))


def number_sequences(text: Text, longest: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Give, for each length from 1, the keys of the sequences in a text and the number of the sequence at each position.

    Keys ascend, and a sequence's number is the place of its key among them; −1 where it would leave its sentence. Lengths end early
    where no sentence is so long.
    """
    sequences = np.zeros(len(text.symbols), dtype=np.int64)
    for length in range(1, longest + 1):
        wanted = text.keys(sequences, length)
        known = wanted >= 0
        if not known.any():
            return
        sequences = np.full(len(wanted), -1, dtype=np.int64)
        keys, sequences[known] = np.unique(wanted[known], return_inverse=True)
        yield keys, sequences


def find_sequences(text: Text, all_keys: Iterable[NDArray[np.int64]]) -> Iterator[NDArray[np.int64]]:
    """Give, for each length from 1, the number of the sequence at each position, −1 where the keys have it not."""
    sequences = np.zeros(len(text.symbols), dtype=np.int64)
    for length, keys in enumerate(all_keys, start=1):
        wanted = text.keys(sequences, length)
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        sequences = np.where(keys[places] == wanted, places, -1)
        yield sequences
