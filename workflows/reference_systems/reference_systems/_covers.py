"""How well tiles cover a candidate chunk: MBSL's hot loops score candidates and choose among overlapping ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel

__all__ = ["choose_candidates", "score_candidates"]


@kernel
def score_candidates(
    found: NDArray[np.int64], start: int, end: int, context: int, longest: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the sub-sequences of a sentence that tiles cover, and four numbers of each.

    On a line where the opening bracket of a candidate of *m* tags is at 0, its tags at 1 … m and the closing bracket at m + 1, a
    tile is an interval. A cover is a row of tiles in which each begins after and ends after the one before, with no gap, the first
    holds the opening bracket and the last the closing one. Covers are the paths of an acyclic graph, so sums and extremes
    over all of them come from one pass over the tiles in the order of their beginnings.

    Parameters
    ----------
    found : (3, length, position) int64
        Bits of matching tiles, of `TileMemory.look_up`.
    start, end : int
        Positions of the sentence's boundaries: first one, after the last one.
    context, longest : int

    Returns
    -------
    spans : (candidate, 2) int64
        Positions of the first tag and after the last.
    numbers : (candidate, 4) float64
        Size of the smallest cover, most tags of context in a cover, largest overlap of two tiles in a cover, number of covers.
    """
    spans = []
    numbers = []
    n_lengths = found.shape[1]
    most = 2 * (context + 1) * longest + (context + 1) * (context + 1)
    low = np.empty(most, np.int64)
    high = np.empty(most, np.int64)
    size = np.empty(most, np.int64)
    left = np.empty(most, np.int64)
    overlap = np.empty(most, np.int64)
    paths = np.empty(most, np.float64)
    for first in range(start + 1, end - 1):
        for m in range(1, min(longest, end - 1 - first) + 1):
            last = first + m
            n_tiles = 0
            # In the order of their beginnings: left and whole tiles, the most context first; then right tiles, the longest first.
            for before in range(context, -1, -1):
                place = first - before
                if place < start:
                    continue
                for part in range(1, m + 1):
                    if before + part <= n_lengths and found[0, before + part - 1, place] >> before & 1:
                        low[n_tiles] = -before
                        high[n_tiles] = part
                        n_tiles += 1
                for after in range(context + 1):
                    length = before + m + after
                    bit = before * (context + 1) + after
                    if last + after <= end and length <= n_lengths and found[1, length - 1, place] >> bit & 1:
                        low[n_tiles] = -before
                        high[n_tiles] = m + 1 + after
                        n_tiles += 1
            if n_tiles == 0:
                continue
            for part in range(m, 0, -1):
                for after in range(context + 1):
                    if last + after <= end and part + after <= n_lengths and found[2, part + after - 1, last - part] >> after & 1:
                        low[n_tiles] = m + 1 - part
                        high[n_tiles] = m + 1 + after
                        n_tiles += 1
            best_size, best_context, best_overlap, covers = 0, 0, 0, 0.0
            for t in range(n_tiles):
                size[t] = 0
                left[t] = 0
                overlap[t] = 0
                paths[t] = 0.0
                if low[t] <= 0:
                    size[t] = 1
                    left[t] = -low[t]
                    paths[t] = 1.0
                for s in range(t):
                    if size[s] > 0 and low[s] < low[t] and high[s] < high[t] and low[t] <= high[s] + 1:
                        size[t] = size[s] + 1 if size[t] == 0 else min(size[t], size[s] + 1)
                        left[t] = max(left[t], left[s])
                        overlap[t] = max(overlap[t], overlap[s], high[s] - low[t] + 1)
                        paths[t] += paths[s]
                if size[t] > 0 and high[t] > m:
                    best_size = size[t] if best_size == 0 else min(best_size, size[t])
                    best_context = max(best_context, left[t] + high[t] - m - 1)
                    best_overlap = max(best_overlap, overlap[t])
                    covers += paths[t]
            if best_size > 0:
                spans.append((first, last))
                numbers.append((float(best_size), float(best_context), float(best_overlap), covers))
    span_array = np.empty((len(spans), 2), np.int64)
    number_array = np.empty((len(spans), 4), np.float64)
    for c in range(len(spans)):
        span_array[c, 0] = spans[c][0]
        span_array[c, 1] = spans[c][1]
        for j in range(4):
            number_array[c, j] = numbers[c][j]
    return span_array, number_array


@kernel
def choose_candidates(spans: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Take candidates in this order, each unless it overlaps one that was taken."""
    taken = np.zeros(len(spans), np.bool_)
    for c in order:
        free = True
        for d in range(len(spans)):
            if taken[d] and spans[c, 0] < spans[d, 1] and spans[d, 0] < spans[c, 1]:
                free = False
                break
        taken[c] = free
    return taken
