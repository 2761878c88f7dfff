"""The memory of MBSL: which tag sequences with brackets in them a training set supports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reference_systems._chunks import Sentence
from reference_systems._sequences import Text, find_sequences, lay_out, number_sequences, number_tags

__all__ = ["LEFT", "RIGHT", "WHOLE", "TileMemory", "learn_tiles"]

LEFT, WHOLE, RIGHT = 0, 1, 2
"""Tiles with the opening bracket only, with both, with the closing one only."""


@dataclass(frozen=True)
class TileMemory:
    """The tiles that match: those borne out by more than a share of the places where their tags stand.

    Parameters
    ----------
    numbers : mapping of str to int
        Number of each tag.
    context : int
        Tags on either side of a chunk that tiles may hold.
    longest : int
        Length of the longest chunk.
    keys : tuple of (sequence,) int64
        For each length from 1, the keys of the tag sequences of the sample.
    matches : tuple of (3, sequence) int64
        For each length, by ``LEFT``, ``WHOLE``, ``RIGHT``: the bits of the brackets that match in the sequence. Bit *a* of a left
        tile: the bracket after *a* tags; bit *b* of a right one: *b* tags after it; bit *a*·(context + 1) + *b* of a whole one.
    """

    numbers: dict[str, int]
    context: int
    longest: int
    keys: tuple[NDArray[np.int64], ...]
    matches: tuple[NDArray[np.int64], ...]

    def look_up(self, text: Text) -> NDArray[np.int64]:
        """Return the bits of matching tiles as (3, length − 1, position): those of the sequence that begins there."""
        found = np.zeros((3, len(self.keys), len(text.symbols)), dtype=np.int64)
        for index, sequences in enumerate(find_sequences(text, self.keys)):
            known = sequences >= 0
            found[:, index, known] = self.matches[index][:, sequences[known]]
        return found


def learn_tiles(sentences: Sequence[Sentence], *, context: int, threshold: float) -> TileMemory:
    """Count for every tile where its tags stand with its brackets and where they stand at all; keep those above the threshold.

    A tile is a part of a chunk with up to ``context`` tags on either side that holds a bracket and a tag of the chunk. It matches
    where (times with the brackets) / (times in all) > ``threshold``. Sentences count as often as they were drawn.
    """
    numbers = number_tags(sentence.tags for sentence in sentences)
    text = lay_out((sentence.tags for sentence in sentences), numbers)
    times = np.array([sentence.times for sentence in sentences], dtype=np.int64)
    weights = np.repeat(times, text.ends - text.starts)
    chunks = _place_chunks(sentences, text, times)
    longest = int((chunks.closes - chunks.opens).max(initial=0))
    all_keys, matches = [], []
    for keys, sequences in number_sequences(text, longest + 2 * context if longest else 0):
        known = sequences >= 0
        totals = _tally(sequences[known], weights[known], len(keys))
        all_keys.append(keys)
        matches.append(_find_matches(chunks, sequences, totals, _Rule(len(all_keys), context, threshold)))
    return TileMemory(numbers, context, longest, tuple(all_keys), tuple(matches))


@dataclass(frozen=True)
class _Chunks:
    """Chunks of a text: positions of the first token and after the last, symbols before and after in the sentence, times drawn."""

    opens: NDArray[np.int64]
    closes: NDArray[np.int64]
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    times: NDArray[np.int64]


@dataclass(frozen=True)
class _Rule:
    length: int
    context: int
    threshold: float


def _place_chunks(sentences: Sequence[Sentence], text: Text, times: NDArray[np.int64]) -> _Chunks:
    sizes = np.array([len(sentence.spans) for sentence in sentences], dtype=np.int64)
    spans = np.array([span for sentence in sentences for span in sentence.spans], dtype=np.int64).reshape(-1, 2)
    starts, ends = np.repeat(text.starts, sizes), np.repeat(text.ends, sizes)
    opens, closes = starts + 1 + spans[:, 0], starts + 1 + spans[:, 1]
    return _Chunks(opens, closes, opens - starts, ends - closes, np.repeat(times, sizes))


def _find_matches(chunks: _Chunks, sequences: NDArray[np.int64], totals: NDArray[np.int64], rule: _Rule) -> NDArray[np.int64]:
    """Return the bits of `TileMemory.matches` for the sequences of one length."""
    bits = np.zeros((3, len(totals)), dtype=np.int64)
    sizes = chunks.closes - chunks.opens

    def mark(kind: int, bit: int, places: NDArray[np.int64], chosen: NDArray[np.bool_]) -> None:
        positives = _tally(sequences[places[chosen]], chunks.times[chosen], len(totals))
        bits[kind] |= (positives > rule.threshold * totals).astype(np.int64) << bit

    for outside in range(min(rule.context, rule.length - 1) + 1):
        part = rule.length - outside  # tags that are not context on this side
        mark(LEFT, outside, chunks.opens - outside, (chunks.before >= outside) & (sizes >= part))
        mark(RIGHT, outside, chunks.closes - part, (chunks.after >= outside) & (sizes >= part))
        for after in range(rule.context + 1):
            chosen = (sizes == part - after) & (chunks.before >= outside) & (chunks.after >= after)
            mark(WHOLE, outside * (rule.context + 1) + after, chunks.opens - outside, chosen)
    return bits


def _tally(numbers: NDArray[np.int64], times: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    # Sums of whole numbers far below 2**53: exact in the floats of bincount.
    return np.bincount(numbers, weights=times, minlength=size).astype(np.int64)
