"""The best tree over the arcs of a sentence, by Eisner's or by Chu and Liu's and Edmonds' algorithm.

Scores are integers, ``scores[head, dependent]`` over tokens 0 … n with 0 the root of the sentence; exactly one token has
it as head, as Universal Dependencies wants.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel

__all__ = ["best_projective_tree", "best_tree", "is_projective"]

_NEVER = np.int64(-(2**62))


@kernel
def best_projective_tree(scores: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the head of each token in the best tree without crossing arcs; entry 0 is −1.

    Eisner's dynamic programme over complete and incomplete spans of words 1 … n, O(n³) (Eisner 1996,
    doi:10.3115/992628.992688). The root is joined to one word at the end, so that it has one dependent.
    """
    n = scores.shape[0] - 1
    heads = np.full(n + 1, -1, np.int64)
    if n == 0:
        return heads
    # [left, right]: *_right has its head at the left end, *_left at the right end.
    open_right = np.zeros((n + 1, n + 1), np.int64)
    open_left = np.zeros((n + 1, n + 1), np.int64)
    full_right = np.zeros((n + 1, n + 1), np.int64)
    full_left = np.zeros((n + 1, n + 1), np.int64)
    split_open = np.zeros((n + 1, n + 1), np.int64)
    split_right = np.zeros((n + 1, n + 1), np.int64)
    split_left = np.zeros((n + 1, n + 1), np.int64)
    for width in range(1, n):
        for left in range(1, n - width + 1):
            right = left + width
            best = _NEVER
            for split in range(left, right):
                value = full_right[left, split] + full_left[split + 1, right]
                if value > best:
                    best = value
                    split_open[left, right] = split
            open_right[left, right] = best + scores[left, right]
            open_left[left, right] = best + scores[right, left]
            best = _NEVER
            for split in range(left, right):
                value = full_left[left, split] + open_left[split, right]
                if value > best:
                    best = value
                    split_left[left, right] = split
            full_left[left, right] = best
            best = _NEVER
            for split in range(left + 1, right + 1):
                value = open_right[left, split] + full_right[split, right]
                if value > best:
                    best = value
                    split_right[left, right] = split
            full_right[left, right] = best
    root, best = 1, _NEVER
    for word in range(1, n + 1):
        value = full_left[1, word] + full_right[word, n] + scores[0, word]
        if value > best:
            root, best = word, value
    heads[root] = 0
    # Spans still to be opened: left, right, kind (0 full_left, 1 full_right).
    waiting = np.empty((2 * n + 4, 3), np.int64)
    waiting[0] = (1, root, 0)
    waiting[1] = (root, n, 1)
    size = 2
    while size:
        size -= 1
        left, right, kind = waiting[size, 0], waiting[size, 1], waiting[size, 2]
        if left == right:
            continue
        if kind == 0:
            inner = split_left[left, right]
            heads[inner] = right
            middle = split_open[inner, right]
            waiting[size] = (left, inner, 0)
            waiting[size + 1] = (inner, middle, 1)
            waiting[size + 2] = (middle + 1, right, 0)
        else:
            inner = split_right[left, right]
            heads[inner] = left
            middle = split_open[left, inner]
            waiting[size] = (inner, right, 1)
            waiting[size + 1] = (left, middle, 1)
            waiting[size + 2] = (middle + 1, inner, 0)
        size += 3
    return heads


@kernel
def best_tree(scores: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the head of each token in the best tree, crossing arcs or not; entry 0 is −1.

    Chu and Liu's and Edmonds' algorithm (Edmonds 1967, doi:10.6028/jres.071b.032; McDonald et al. 2005,
    doi:10.3115/1220575.1220641). Arcs of the root cost more than all else together, so that the best tree has one of them.
    """
    n = scores.shape[0] - 1
    size = 2 * n + 2
    value = np.full((size, size), _NEVER, np.int64)
    value[: n + 1, : n + 1] = scores
    dearest = np.int64(1)
    for head in range(n + 1):
        for dependent in range(1, n + 1):
            dearest = max(dearest, abs(scores[head, dependent]))
    value[0, : n + 1] -= 2 * dearest * (n + 1) + 1
    # The arc between words that an arc between (contracted) nodes stands for.
    real_head = np.empty((size, size), np.int64)
    real_dependent = np.empty((size, size), np.int64)
    for head in range(n + 1):
        for dependent in range(n + 1):
            real_head[head, dependent], real_dependent[head, dependent] = head, dependent
    holder = np.full(size, -1, np.int64)  # the node that a node was contracted into
    chosen = np.full(size, -1, np.int64)  # its best head
    seen = np.empty(size, np.int64)
    count = n + 1
    while True:
        for node in range(1, count):
            if holder[node] >= 0:
                continue
            best = -1
            for head in range(count):
                if head != node and holder[head] < 0 and (best < 0 or value[head, node] > value[best, node]):
                    best = head
            chosen[node] = best
        seen[:] = 0
        start = -1
        for node in range(1, count):
            if holder[node] >= 0 or seen[node]:
                continue
            walker = node
            while walker != 0 and seen[walker] == 0:
                seen[walker] = node
                walker = chosen[walker]
            if walker != 0 and seen[walker] == node:
                start = walker
                break
        if start < 0:
            break
        cycle, count = count, count + 1
        walker = start
        while holder[walker] < 0:
            holder[walker] = cycle
            walker = chosen[walker]
        for other in range(cycle):
            if holder[other] >= 0:
                continue
            walker = start
            while True:
                entering = value[other, walker] - value[chosen[walker], walker]
                if entering > value[other, cycle] or walker == start:
                    value[other, cycle] = entering
                    real_head[other, cycle] = real_head[other, walker]
                    real_dependent[other, cycle] = real_dependent[other, walker]
                if value[walker, other] > value[cycle, other] or walker == start:
                    value[cycle, other] = value[walker, other]
                    real_head[cycle, other] = real_head[walker, other]
                    real_dependent[cycle, other] = real_dependent[walker, other]
                walker = chosen[walker]
                if walker == start:
                    break
    return _expand(n, count, holder, chosen, real_head, real_dependent)


@kernel
def _expand(
    n: int,
    count: int,
    holder: NDArray[np.int64],
    chosen: NDArray[np.int64],
    real_head: NDArray[np.int64],
    real_dependent: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return each node's arc, the outermost first: an arc into a cycle replaces the one inside it that it makes needless."""
    heads = np.full(n + 1, -1, np.int64)
    settled = np.zeros(count, np.bool_)
    for node in range(count - 1, 0, -1):
        if settled[node]:
            continue
        head, dependent = real_head[chosen[node], node], real_dependent[chosen[node], node]
        heads[dependent] = head
        inner = np.int64(dependent)
        while inner != node:
            settled[inner] = True
            inner = holder[inner]
    return heads


@kernel
def is_projective(heads: NDArray[np.int64]) -> bool:
    """Say whether no two arcs cross; ``heads`` has an entry for the root, which is not read."""
    n = len(heads) - 1
    for a in range(1, n + 1):
        low, high = min(a, heads[a]), max(a, heads[a])
        for b in range(low + 1, high):
            if heads[b] < low or heads[b] > high:
                return False
    return True
