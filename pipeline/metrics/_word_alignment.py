"""The matches of METEOR between words of an output and of a reference, in as few chunks as possible."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pipeline.dataclass import dataclass

__all__ = ["BEAM", "Aligned", "align_latest", "align_with_fewest_chunks"]

BEAM = 256
"""Partial alignments that are kept side by side; METEOR itself keeps forty."""

_NOWHERE = -2
"""The place of a word that is not matched: no place of the reference comes right after it."""


class Aligned(NamedTuple):
    """How many words are matched, and in how many chunks: runs that are side by side, in the same order, in both texts."""

    matches: int
    chunks: int


_Words = list[tuple[int, str]]


def align_latest(output: Sequence[str], reference: Sequence[str], stem: Callable[[str], str]) -> Aligned:
    """Match each word, from the last to the first, with its latest equal that is free; then what is left by stems, likewise.

    This is how NLTK matches.
    """
    matched, left, free = _match_latest(list(enumerate(output)), list(enumerate(reference)))
    more, _, _ = _match_latest([(k, stem(word)) for k, word in left], [(k, stem(word)) for k, word in free])
    pairs = sorted(matched + more)
    return Aligned(len(pairs), sum(k == 0 or pairs[k - 1] != (i - 1, j - 1) for k, (i, j) in enumerate(pairs)))


def _match_latest(output: _Words, reference: _Words) -> tuple[list[tuple[int, int]], _Words, _Words]:
    """Return the pairs of places, and what of both is left."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, word in reference:
        places[word].append(place)
    pairs = [(k, places[word].pop()) for k, word in reversed(output) if places[word]]
    matched, taken = {k for k, _ in pairs}, {place for _, place in pairs}
    return pairs, [one for one in output if one[0] not in matched], [one for one in reference if one[0] not in taken]


@dataclass(frozen=True)
class _Word:
    """What a word of the output can be matched with.

    Parameters
    ----------
    places : int
        Where the reference has the same word, as bits.
    spare : int
        How often the output has it beyond these: so often it is matched by its stem, or with nothing.
    stem : str or None
        The group it belongs to, where words of the output that are spare and words of the reference that are free share a stem.
    """

    places: int
    spare: int
    stem: str | None


@dataclass(frozen=True)
class _Group:
    """Words of one stem: those the output has too often, and those the reference has too often; no word is both.

    Parameters
    ----------
    spare : tuple of str
        Words of the output beyond their equals.
    free : mapping of str to (int, int)
        Words of the reference beyond their equals: their places as bits, and how many are free.
    unmatched : int
        How many spare words remain when all that are free are taken, or all spare ones are matched.
    """

    spare: tuple[str, ...]
    free: Mapping[str, tuple[int, int]]
    unmatched: int


def align_with_fewest_chunks(output: Sequence[str], reference: Sequence[str], stem: Callable[[str], str]) -> Aligned:
    """Match as many equal words as can be, then as many of the others by stem, and all of them in as few chunks as can be.

    How many words are matched does not depend on which are; the chunks do. They are searched from left to right, with the `BEAM`
    partial alignments of the fewest chunks, of all that differ in what they leave for later words.

    Examples
    --------
    >>> align_with_fewest_chunks("the cat on the mat".split(), "on the mat sat the cats".split(), lambda word: word.rstrip("s"))
    Aligned(matches=5, chunks=2)
    """
    places: defaultdict[str, int] = defaultdict(int)
    for place, word in enumerate(reference):
        places[word] |= 1 << place
    said = Counter(output)
    groups = _find_groups(said, places, stem)
    group_of = {word: name for name, group in groups.items() for word in (*group.spare, *group.free)}
    words = {
        word: _Word(places.get(word, 0), max(times - places.get(word, 0).bit_count(), 0), group_of.get(word))
        for word, times in said.items()
    }
    spare = sum(sum(words[word].spare for word in group.spare) - group.unmatched for group in groups.values())
    matches = sum(min(times, words[word].places.bit_count()) for word, times in said.items()) + spare
    return Aligned(matches, _fewest_chunks(output, words, groups) if matches else 0)


def _find_groups(said: Mapping[str, int], places: Mapping[str, int], stem: Callable[[str], str]) -> dict[str, _Group]:
    more = {word: said.get(word, 0) - places.get(word, 0).bit_count() for word in (*said, *places)}
    spare = {word: times for word, times in more.items() if times > 0}
    free = {word: -times for word, times in more.items() if times < 0}
    by_stem: defaultdict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for side, words in enumerate((spare, free)):
        for word in words:
            by_stem[stem(word)][side].append(word)
    return {
        name: _Group(
            tuple(ours),
            {word: (places[word], free[word]) for word in theirs},
            max(sum(spare[word] for word in ours) - sum(free[word] for word in theirs), 0),
        )
        for name, (ours, theirs) in by_stem.items()
        if ours and theirs
    }


def _fewest_chunks(output: Sequence[str], words: Mapping[str, _Word], groups: Mapping[str, _Group]) -> int:
    """Go through the output; a state is the place that was matched last and the places that are taken, as bits."""
    closing = _closing(output, words, groups)
    states = {(_NOWHERE, 0): 0}
    seen: Counter[str] = Counter()
    for k, word in enumerate(output):
        later: dict[tuple[int, int], int] = {}
        for (last, taken), chunks in states.items():
            for place in _choices(word, taken, seen, words, groups):
                state = (place, (taken | 1 << place) & closing[k]) if place >= 0 else (place, taken & closing[k])
                cost = chunks + (place >= 0 and place != last + 1)
                if cost < later.get(state, cost + 1):
                    later[state] = cost
        seen[word] += 1
        if len(later) > BEAM:
            later = dict(sorted(later.items(), key=lambda item: (item[1], -item[0][0], item[0][1]))[:BEAM])
        states = later
    return min(states.values())


def _closing(output: Sequence[str], words: Mapping[str, _Word], groups: Mapping[str, _Group]) -> list[int]:
    """Give, for each word, the places that later words may be matched with: all else is forgotten, and more states are one."""
    kept = 0
    found = []
    for word in reversed(output):
        found.append(kept)
        kept |= words[word].places
        stem = words[word].stem
        for places, _ in groups[stem].free.values() if stem is not None else ():
            kept |= places
        for other in groups[stem].spare if stem is not None else ():
            kept |= words[other].places
    return found[::-1]


def _choices(
    word: str, taken: int, seen: Mapping[str, int], words: Mapping[str, _Word], groups: Mapping[str, _Group]
) -> Iterator[int]:
    """Yield the places a word may be matched with, and `_NOWHERE` where as many words as can be are matched without it.

    What earlier words of its stem were matched with is known from the places that are taken: a word that is spare is matched by
    its stem or with nothing where its equals are not taken, and one that is free is taken by a stem where it is taken beyond the
    equals that were said.
    """
    own = words[word]
    yield from _bits(own.places & ~taken)
    if not own.spare or seen[word] - (own.places & taken).bit_count() >= own.spare:
        return
    if own.stem is None:
        yield _NOWHERE
        return
    group = groups[own.stem]
    unequal = sum(seen[other] - (words[other].places & taken).bit_count() for other in group.spare)
    for other, (places, free) in group.free.items():
        by_stem = (places & taken).bit_count() - seen[other]
        unequal -= by_stem
        if by_stem < free:
            yield from _bits(places & ~taken)
    if unequal < group.unmatched:
        yield _NOWHERE


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
