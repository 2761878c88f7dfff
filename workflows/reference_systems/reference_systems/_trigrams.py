"""Tags after tags: trigrams, bigrams and unigrams interpolated with weights from deleted interpolation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Transitions", "deleted_interpolation", "transitions"]


@dataclass(frozen=True)
class Transitions:
    """Log-probabilities of a tag after two others; ``n_tags`` is the boundary of a sentence, on the left and on the right.

    Parameters
    ----------
    bigram : (tag + 1, tag + 1) float64
        ``log(λ1 P(c) + λ2 P(c | b))``: what is left of a trigram that was not seen.
    context : (tag + 1, tag + 1) int64
        Row of the trigrams that begin with two tags, −1 where there are none.
    first, last_tag, trigram : 1-d arrays
        The trigrams of each row: where they begin, their third tags, and ``log(λ1 P(c) + λ2 P(c | b) + λ3 P(c | a, b))``.
    weights : tuple of float
        λ1, λ2, λ3.
    """

    bigram: NDArray[np.float64]
    context: NDArray[np.int64]
    first: NDArray[np.int64]
    last_tag: NDArray[np.int64]
    trigram: NDArray[np.float64]
    weights: tuple[float, float, float]


def transitions(sentences: Sequence[Sequence[int]], n_tags: int) -> Transitions:
    """Estimate the transitions between the tags of sentences, the end of a sentence among them."""
    trigrams: Counter[tuple[int, int, int]] = Counter()
    for sentence in sentences:
        padded = [n_tags, n_tags, *sentence, n_tags]
        trigrams.update(zip(padded, padded[1:], padded[2:], strict=False))
    pairs, singles = np.zeros((n_tags + 1, n_tags + 1)), np.zeros(n_tags + 1)
    contexts: Counter[tuple[int, int]] = Counter()
    for (a, b, c), count in trigrams.items():
        contexts[a, b] += count
        pairs[b, c] += count
        singles[c] += count
    one, two, three = deleted_interpolation(trigrams)
    before = pairs.sum(axis=1, keepdims=True)
    smooth = one * singles / singles.sum() + two * np.divide(pairs, before, out=np.zeros_like(pairs), where=before > 0)
    rows = {pair: row for row, pair in enumerate(sorted(contexts))}
    context = np.full((n_tags + 1, n_tags + 1), -1, dtype=np.int64)
    for (a, b), row in rows.items():
        context[a, b] = row
    ordered = sorted(trigrams)
    first = np.searchsorted([rows[a, b] for a, b, _ in ordered], np.arange(len(rows) + 1)).astype(np.int64)
    seen = np.array([smooth[b, c] + three * trigrams[a, b, c] / contexts[a, b] for a, b, c in ordered])
    last_tag = np.array([c for _, _, c in ordered], dtype=np.int64)
    return Transitions(np.log(smooth), context, first, last_tag, np.log(seen), (one, two, three))


def deleted_interpolation(trigrams: Counter[tuple[int, int, int]]) -> tuple[float, float, float]:
    """Return the weights λ1, λ2, λ3 of unigrams, bigrams and trigrams, which sum to 1.

    Each trigram is taken out of the counts once, and its occurrences are given to the longest of the three histories that then
    foretells its last tag best. Equal estimates go to the shorter history, and λ1 gets at least one occurrence: every tag may
    follow any. After figure 1 of T. Brants 2000, TnT, a statistical part-of-speech tagger, doi:10.3115/974147.974178.

    Examples
    --------
    >>> deleted_interpolation(Counter({(0, 0, 1): 3, (0, 1, 0): 1}))
    (0.25, 0.75, 0.0)
    """
    contexts: Counter[tuple[int, int]] = Counter()
    pairs: Counter[tuple[int, int]] = Counter()
    before: Counter[int] = Counter()
    singles: Counter[int] = Counter()
    for (a, b, c), count in trigrams.items():
        contexts[a, b] += count
        pairs[b, c] += count
        before[b] += count
        singles[c] += count
    total = sum(trigrams.values())
    given = [0, 0, 0]
    for (a, b, c), count in trigrams.items():
        left = (
            _share(singles[c] - 1, total - 1),
            _share(pairs[b, c] - 1, before[b] - 1),
            _share(count - 1, contexts[a, b] - 1),
        )
        given[left.index(max(left))] += count
    given[0] = max(given[0], 1)
    one, two, three = (count / sum(given) for count in given)
    return one, two, three


def _share(count: int, of: int) -> float:
    return count / of if of > 0 else 0.0
