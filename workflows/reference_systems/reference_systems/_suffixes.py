"""Tags of words never seen, read off the ends of the rare words of a training set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["SuffixModel", "count_suffixes"]

LONGEST = 10
"""Characters at the end of a word that are looked at."""


@dataclass(frozen=True)
class SuffixModel:
    """Tag counts by suffix, of capitalised words and of others.

    Parameters
    ----------
    prior : (tag,) float64
        Share of each tag in the training set.
    theta : float
        Weight of the shorter suffix against the longer.
    counts : mapping
        ``(capitalised, suffix)`` to (tag,) int64.
    """

    prior: NDArray[np.float64]
    theta: float
    counts: Mapping[tuple[bool, str], NDArray[np.int64]]

    def tag_probabilities(self, word: str) -> NDArray[np.float64]:
        """Return P(tag | end of the word), smoothed from the shortest suffix to the longest that was seen.

        ``P(t | s_i) = (count(t, s_i) / count(s_i) + theta · P(t | s_(i−1))) / (1 + theta)``, beginning with the share of the tag.
        """
        smoothed = self.prior
        capitalised = word[:1].isupper()
        for length in range(min(LONGEST, len(word)) + 1):
            found = self.counts.get((capitalised, word[len(word) - length :]))
            if found is None:
                break
            smoothed = (found / found.sum() + self.theta * smoothed) / (1.0 + self.theta)
        return smoothed


def count_suffixes(tags_of_word: Mapping[str, Mapping[int, int]], n_tags: int, *, rare: int) -> SuffixModel:
    """Count the tags of words that occur at most ``rare`` times by every suffix up to ten characters, the empty one too."""
    shares = np.zeros(n_tags, dtype=np.int64)
    counts: dict[tuple[bool, str], NDArray[np.int64]] = {}
    for word, tags in tags_of_word.items():
        for tag, count in tags.items():
            shares[tag] += count
        if sum(tags.values()) > rare:
            continue
        for length in range(min(LONGEST, len(word)) + 1):
            found = counts.setdefault((word[:1].isupper(), word[len(word) - length :]), np.zeros(n_tags, dtype=np.int64))
            for tag, count in tags.items():
                found[tag] += count
    prior = shares / shares.sum()
    theta = float(np.std(prior, ddof=1)) if n_tags > 1 else 0.0
    return SuffixModel(prior, theta, counts)
