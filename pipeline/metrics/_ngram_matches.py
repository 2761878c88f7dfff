"""How many n-grams of an output are in its references, counted for all items at once in arrays of integers.

An n-gram of an item is known by a number, which is found by that of the n-gram without its last word (before a single word it is
the item) and the number of the last word. Equal n-grams of two items are so two n-grams. What is in no reference of the item has
no number, and nothing longer that begins with it is looked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass

__all__ = ["Matches", "References"]

_Ints = NDArray[np.int64]
_FAR = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Matches:
    """What is counted of an output.

    Parameters
    ----------
    lengths, nearest : (item,) int64
        Words of the output, and of the reference that is nearest in length; of two as near, of the shorter.
    matched : (item, order) int64
        N-grams that are in a reference too, each at most as often as in the reference that has it most often.
    """

    lengths: _Ints
    nearest: _Ints
    matched: _Ints


@dataclass(frozen=True)
class _Grams:
    """The places where n-grams begin, in texts one after another, and the number of each n-gram.

    Parameters
    ----------
    words, items, left : (word,) int64
        The number of each word, its item, and how many words its text has from there on.
    order : int
        Words of an n-gram.
    places, numbers : (place,) int64
        Where they begin, ascending; their numbers.
    """

    words: _Ints
    items: _Ints
    left: _Ints
    order: int
    places: _Ints
    numbers: _Ints

    @classmethod
    def of_no_words(cls, words: _Ints, lengths: _Ints, items: _Ints) -> _Grams:
        """Return what single words extend, of texts one after another with their lengths and items: nothing but the item."""
        item_of = np.repeat(items, lengths)
        places = np.arange(len(words))
        return cls(words, item_of, np.repeat(np.cumsum(lengths), lengths) - places, 0, places, item_of)

    def keys(self, radix: int) -> tuple[_Ints, _Ints]:
        """Return the places where n-grams of one more word begin, and what each of these is known by."""
        longer = self.left[self.places] > self.order
        places = self.places[longer]
        return places, self.numbers[longer] * radix + self.words[places + self.order]

    def longer(self, places: _Ints, numbers: _Ints) -> _Grams:
        """Return these n-grams of one more word."""
        return _Grams(self.words, self.items, self.left, self.order + 1, places, numbers)


@dataclass(frozen=True)
class _Order:
    """The n-grams of one length in all references.

    Parameters
    ----------
    keys : (ngram,) int64
        What they are known by, ascending: the place of a key is the number of the n-gram.
    largest : (ngram,) int64
        How often it is in that reference of the item which has it most often.
    ends : (item + 1,) int64
        Where the n-grams of each item begin, and where all end.
    """

    keys: _Ints
    largest: _Ints
    ends: _Ints


@dataclass(frozen=True)
class References:
    """What is counted of the references once.

    Parameters
    ----------
    known : mapping of str to int
        The number of each word.
    lengths : (reference, item) int64
        Words of each reference, -1 where an item does not have it.
    orders : tuple of _Order
        From single words on.
    """

    known: Mapping[str, int]
    lengths: _Ints
    orders: tuple[_Order, ...]

    @classmethod
    def count(cls, rows: Sequence[Sequence[Sequence[str]]], order: int) -> References:
        """Count the n-grams up to a length in the references of each item, which are given as words."""
        texts = [words for row in rows for words in row]
        item_of_text = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        place_of_text = np.array([place for row in rows for place in range(len(row))], np.int64)
        text_lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        lengths = np.full((max(map(len, rows), default=1), len(rows)), -1, np.int64)
        lengths[place_of_text, item_of_text] = text_lengths
        known: dict[str, int] = {}
        words = np.array([known.setdefault(word, len(known)) for word in chain.from_iterable(texts)], np.int64)
        grams = _Grams.of_no_words(words, text_lengths, item_of_text)
        reference = np.repeat(place_of_text, text_lengths)
        orders = []
        for _ in range(order):
            places, keys = grams.keys(len(known) + 1)
            found, numbers = np.unique(keys, return_inverse=True)
            grams = grams.longer(places, numbers)
            largest = np.zeros(len(found), np.int64)
            for k in range(len(lengths)):
                np.maximum(largest, np.bincount(numbers[reference[places] == k], minlength=len(found)), out=largest)
            item_of = np.empty(len(found), np.int64)
            item_of[numbers] = grams.items[places]
            orders.append(_Order(found, largest, np.searchsorted(item_of, np.arange(len(rows) + 1))))
        return cls(known, lengths, tuple(orders))

    def match(self, output: Sequence[Sequence[str]]) -> Matches:
        """Count the words of each item of an output, and its n-grams that are in a reference."""
        new = len(self.known)  # the number of every word that is in no reference
        lengths = np.fromiter(map(len, output), np.int64, len(output))
        words = np.fromiter((self.known.get(word, new) for word in chain.from_iterable(output)), np.int64, int(lengths.sum()))
        grams = _Grams.of_no_words(words, lengths, np.arange(len(output)))
        matched = np.zeros((len(output), len(self.orders)), np.int64)
        for n, order in enumerate(self.orders):
            if len(order.keys) == 0:
                break
            places, keys = grams.keys(new + 1)
            numbers = np.searchsorted(order.keys, keys)
            there = order.keys.take(numbers, mode="clip") == keys
            grams = grams.longer(places[there], numbers[there])
            times = np.minimum(np.bincount(grams.numbers, minlength=len(order.keys)), order.largest)
            matched[:, n] = np.diff(np.concatenate(([0], np.cumsum(times)))[order.ends])
        return Matches(lengths, self._nearest(lengths), matched)

    def _nearest(self, lengths: _Ints) -> _Ints:
        # Twice the distance, and of two that are as near the longer is one farther.
        distances = 2 * np.abs(self.lengths - lengths) + (self.lengths > lengths)
        first = np.where(self.lengths < 0, _FAR, distances).argmin(axis=0)
        nearest: _Ints = np.take_along_axis(self.lengths, first[None], axis=0)[0]
        return nearest
