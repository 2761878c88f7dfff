"""What a graph-based parser sees of an arc: a head and a dependent become rows of hashed features.

The features are those of McDonald, Crammer and Pereira (2005, doi:10.3115/1219840.1219852): words and tags of both ends,
tags between and around them, each also joined with direction and distance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from reference_systems._hashed_weights import bucket, find_row, join

__all__ = ["MOST_FEATURES", "arc_features", "score_arcs"]

MOST_FEATURES = 600
"""More than an arc can have: two for each of up to 250 different tags between its ends, and those of its ends."""
_N_ENDS = 31
"""Features of the ends; each is also joined with direction and distance."""


@kernel
def arc_features(
    words: NDArray[np.int32],
    tags: NDArray[np.int32],
    head: int,
    dependent: int,
    between: NDArray[np.int32],
    n_between: int,
    shift: int,
    rows: NDArray[np.int64],
) -> int:
    """Write the rows of an arc and return how many.

    Parameters
    ----------
    words, tags : (n + 3,) int32
        The sentence: nothing, the root, its words, nothing.
    head, dependent : int
        Tokens, 0 the root.
    between : int32
        The different tags between them; ``n_between`` of them count.
    shift : int
        64 less the bits of a row.
    rows : int64
        Where to write.
    """
    h, d = head + 1, dependent + 1
    way = 1 + 2 * bucket(abs(head - dependent)) + (1 if head < dependent else 0)
    hw, ht, dw, dt = words[h], tags[h], words[d], tags[d]
    h_before, h_after, d_before, d_after = tags[h - 1], tags[h + 1], tags[d - 1], tags[d + 1]
    rows[0] = join(1, hw, ht, 0, 0, 0)
    rows[2] = join(2, hw, 0, 0, 0, 0)
    rows[4] = join(3, ht, 0, 0, 0, 0)
    rows[6] = join(4, dw, dt, 0, 0, 0)
    rows[8] = join(5, dw, 0, 0, 0, 0)
    rows[10] = join(6, dt, 0, 0, 0, 0)
    rows[12] = join(7, hw, ht, dw, dt, 0)
    rows[14] = join(8, ht, dw, dt, 0, 0)
    rows[16] = join(9, hw, dw, dt, 0, 0)
    rows[18] = join(10, hw, ht, dt, 0, 0)
    rows[20] = join(11, hw, ht, dw, 0, 0)
    rows[22] = join(12, hw, dw, 0, 0, 0)
    rows[24] = join(13, ht, dt, 0, 0, 0)
    rows[26] = join(14, ht, h_after, d_before, dt, 0)
    rows[28] = join(15, h_before, ht, d_before, dt, 0)
    rows[30] = join(16, ht, h_after, dt, d_after, 0)
    rows[32] = join(17, h_before, ht, dt, d_after, 0)
    rows[34] = join(18, ht, h_after, dt, 0, 0)
    rows[36] = join(19, h_before, ht, dt, 0, 0)
    rows[38] = join(20, ht, d_before, dt, 0, 0)
    rows[40] = join(21, ht, dt, d_after, 0, 0)
    rows[42] = join(22, hw, d_before, dt, 0, 0)
    rows[44] = join(23, hw, dt, d_after, 0, 0)
    rows[46] = join(24, h_before, h_after, ht, dt, 0)
    rows[48] = join(25, ht, d_before, d_after, dt, 0)
    rows[50] = join(28, ht, dt, words[d - 1], 0, 0)
    rows[52] = join(29, ht, dt, words[d + 1], 0, 0)
    rows[54] = join(30, ht, dt, words[h - 1], 0, 0)
    rows[56] = join(31, ht, dt, words[h + 1], 0, 0)
    rows[58] = join(32, dw, d_before, d_after, ht, 0)
    rows[60] = join(33, hw, h_before, h_after, dt, 0)
    for index in range(n_between):
        rows[2 * (_N_ENDS + index)] = join(26, ht, between[index], dt, way & 1, 0)
    size = 2 * (_N_ENDS + n_between)
    for index in range(0, size, 2):
        joined = rows[index]
        rows[index] = find_row(joined, 0, shift)
        rows[index + 1] = find_row(joined, way, shift)
    return size


@kernel
def score_arcs(
    words: NDArray[np.int32],
    tags: NDArray[np.int32],
    weights: NDArray[np.int64] | NDArray[np.int32],
    shift: int,
    scores: NDArray[np.int64],
) -> None:
    """Fill ``scores[head, dependent]`` with the summed weights of each arc."""
    n = len(words) - 3
    rows = np.empty(MOST_FEATURES, np.int64)
    between = np.empty(n + 1, np.int32)
    for left in range(n + 1):
        n_between = 0
        for right in range(left + 1, n + 1):
            n_between = extend_between(tags, left, right, between, n_between)
            size = arc_features(words, tags, left, right, between, n_between, shift, rows)
            scores[left, right] = _sum(weights, rows, size)
            if left:
                size = arc_features(words, tags, right, left, between, n_between, shift, rows)
                scores[right, left] = _sum(weights, rows, size)


@kernel
def extend_between(tags: NDArray[np.int32], left: int, right: int, between: NDArray[np.int32], n_between: int) -> int:
    """Add the tag just left of ``right`` to the different tags between, which go in order of place; at most 250."""
    if right - 1 == left or n_between >= 250:
        return n_between
    tag = tags[right]
    for index in range(n_between):
        if between[index] == tag:
            return n_between
    between[n_between] = tag
    return n_between + 1


@kernel
def _sum(weights: NDArray[np.int64] | NDArray[np.int32], rows: NDArray[np.int64], size: int) -> int:
    total = np.int64(0)
    for index in range(size):
        total += weights[rows[index]]
    return int(total)
