"""Score words under parts of speech: by their counts, and where these are few by the ends of the words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reference_systems._suffixes import SuffixModel, count_suffixes

__all__ = ["Lexicon", "count_words"]

_RARE = 10  # words with more occurrences have only the tags they were seen with
_LEAST = 1e-4  # tags that an unseen word has with less probability are not tried


@dataclass(frozen=True)
class Lexicon:
    """What a treebank says of words and tags.

    Parameters
    ----------
    tags : tuple of str
        Sorted.
    counts : mapping of str to mapping of int to int
        How often each word had each tag.
    tag_counts : (tag,) int64
        How often each tag occurred.
    suffixes : SuffixModel
        For words that are rare or new.
    """

    tags: tuple[str, ...]
    counts: Mapping[str, Mapping[int, int]]
    tag_counts: NDArray[np.int64]
    suffixes: SuffixModel

    def scores(self, word: str) -> NDArray[np.float64]:
        """Return log P(word | tag) of every tag, up to a constant of the word; −∞ for tags it cannot have.

        P(word | tag) is proportional to P(tag | word) / P(tag). P(tag | word) is the share of the tag among the occurrences of a
        frequent word; a rarer word, or a new one, gets one occurrence more, divided as the endings of rare words say, but for tags
        with less than a ten-thousandth of it.
        """
        seen = self.counts.get(word, {})
        occurrences = sum(seen.values())
        shares = np.zeros(len(self.tags))
        for tag, count in seen.items():
            shares[tag] = count
        if occurrences <= _RARE:
            ending = self.suffixes.tag_probabilities(word)
            shares += np.where(ending < _LEAST, 0.0, ending)
            occurrences += 1
        with np.errstate(divide="ignore"):  # a tag that the word cannot have is −∞
            return np.asarray(np.log(shares / occurrences) - np.log(self.tag_counts / self.tag_counts.sum()))


def count_words(tagged: Iterable[tuple[str, str]]) -> Lexicon:
    """Count pairs of a word and its tag."""
    pairs = Counter(tagged)
    tags = tuple(sorted({tag for _, tag in pairs}))
    number = {tag: k for k, tag in enumerate(tags)}
    counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
    tag_counts = np.zeros(len(tags), dtype=np.int64)
    for (word, tag), count in sorted(pairs.items()):
        counts[word][number[tag]] = count
        tag_counts[number[tag]] += count
    return Lexicon(tags, dict(counts), tag_counts, count_suffixes(counts, len(tags), rare=_RARE))
