"""The best sequence of tags under trigrams, by dynamic programming over pairs of tags."""

from __future__ import annotations

from typing import Any

import numpy as np

from pipeline.compiled import kernel

__all__ = ["best_tags"]


@kernel
def best_tags(
    words: Any,
    starts: Any,
    first: Any,
    candidates: Any,
    emission: Any,
    bigram: Any,
    context: Any,
    row_first: Any,
    row_tag: Any,
    row_value: Any,
    beam: float,
) -> Any:
    """Return the tag of each token on the most probable path of its sentence; the path that sorts first of equal ones.

    Parameters
    ----------
    words, starts
        Tokens as words, and where each sentence begins.
    first, candidates, emission
        The tags each word may have, from ``first[word]`` on, ascending, and log P(word | tag).
    bigram, context, row_first, row_tag, row_value
        As of `Transitions`.
    beam : float
        A pair of tags whose log-probability is more than this below the best at a token is dropped.
    """
    tags = np.empty(len(words), dtype=np.int32)
    boundary = bigram.shape[0] - 1
    after = np.empty(boundary + 1, dtype=np.float64)
    edge = np.array([boundary], dtype=candidates.dtype)
    for sentence in range(len(starts) - 1):
        begin, n_tokens = starts[sentence], starts[sentence + 1] - starts[sentence]
        # State (i, j) at a token: the i-th candidate of the token before, the j-th of the token itself.
        offset = np.zeros(n_tokens + 1, dtype=np.int64)
        width = 1
        for token in range(n_tokens):
            own = first[words[begin + token] + 1] - first[words[begin + token]]
            offset[token + 1] = offset[token] + width * own
            width = own
        back = np.zeros(offset[n_tokens], dtype=np.int32)
        value = np.zeros((1, 1))
        earlier, middle = edge, edge
        for token in range(n_tokens):
            word = words[begin + token]
            here = candidates[first[word] : first[word + 1]]
            emitted = emission[first[word] : first[word + 1]]
            new = np.full((len(middle), len(here)), -np.inf)
            least = value.max() - beam
            for j in range(len(middle)):
                for i in range(len(earlier)):
                    if value[i, j] < least:
                        continue
                    _follow(after, earlier[i], middle[j], bigram, context, row_first, row_tag, row_value)
                    for k in range(len(here)):
                        reached = value[i, j] + after[here[k]]
                        if reached > new[j, k]:
                            new[j, k] = reached
                            back[offset[token] + j * len(here) + k] = i
                for k in range(len(here)):
                    new[j, k] += emitted[k]
            value, earlier, middle = new, middle, here
        if n_tokens == 0:
            continue
        best, best_i, best_j = -np.inf, 0, 0
        for i in range(len(earlier)):
            for j in range(len(middle)):
                if value[i, j] == -np.inf:
                    continue
                _follow(after, earlier[i], middle[j], bigram, context, row_first, row_tag, row_value)
                if value[i, j] + after[boundary] > best:
                    best, best_i, best_j = value[i, j] + after[boundary], i, j
        for token in range(n_tokens - 1, -1, -1):
            word = words[begin + token]
            tags[begin + token] = candidates[first[word] + best_j]
            width = first[word + 1] - first[word]
            best_i, best_j = back[offset[token] + best_i * width + best_j], best_i
    return tags


@kernel
def _follow(after: Any, a: int, b: int, bigram: Any, context: Any, row_first: Any, row_tag: Any, row_value: Any) -> None:
    """Fill in the log-probability of every tag after ``a, b``."""
    after[:] = bigram[b]
    row = context[a, b]
    if row >= 0:
        for entry in range(row_first[row], row_first[row + 1]):
            after[row_tag[entry]] = row_value[entry]
