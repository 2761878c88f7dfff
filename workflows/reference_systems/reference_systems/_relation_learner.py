"""Choose a relation for each arc of a tree by an averaged perceptron that sees the tree.

The relation is chosen after the tree, as by the second stage of McDonald, Lerman and Pereira (2006,
https://aclanthology.org/W06-2932), among those that the training sample shows on tokens with this tag.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from reference_systems._dependencies import Treebank
from reference_systems._hashed_weights import average, bucket, change, find_row, join, shuffle, start_learning

__all__ = ["label_trees", "learn_relations"]

_N_FEATURES = 36
_MARGIN = 5
_STRIDE = np.int64(0x9E3779B1)  # odd: the relations of a feature fall on different rows


def learn_relations(
    treebank: Treebank, allowed: NDArray[np.bool_], sample: NDArray[np.int64], *, epochs: int, bits: int, seed: int
) -> NDArray[np.int64]:
    """Return the averaged weights of features joined with relations, ``2 ** bits`` rows."""
    weights, totals, order, random = start_learning(2**bits, sample, seed=seed, purpose=4)
    steps = _learn(
        treebank.starts, treebank.words, treebank.tags, treebank.heads, treebank.relations,
        allowed, order, random, epochs, weights, totals, 64 - bits,
    )  # fmt: skip
    return average(weights, totals, max(1, steps))


def label_trees(
    treebank: Treebank, allowed: NDArray[np.bool_], heads: NDArray[np.int32], weights: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return the numbers of the relations of all words in trees laid out like ``treebank.heads``."""
    relations = np.full(len(heads), -1, np.int32)
    shift = 64 - (len(weights).bit_length() - 1)
    _label(treebank.starts, treebank.words, treebank.tags, heads, allowed, weights, shift, relations)
    return relations


@kernel
def _kin(heads: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return each token's outermost dependents and how many it has on each side: left, right, count left, count right."""
    n = len(heads) - 3
    kin = np.zeros((n + 1, 4), np.int32)
    for word in range(1, n + 1):
        of = kin[heads[word + 1]]
        if word < heads[word + 1]:
            if of[2] == 0:
                of[0] = word
            of[2] = min(of[2] + 1, 3)
        else:
            of[1] = word
            of[3] = min(of[3] + 1, 3)
    return kin


@kernel
def _relation_features(
    words: NDArray[np.int32],
    tags: NDArray[np.int32],
    heads: NDArray[np.int32],
    kin: NDArray[np.int32],
    word: int,
    shift: int,
    rows: NDArray[np.int64],
) -> None:
    head = heads[word + 1]
    h, d = head + 1, word + 1
    hw, ht, dw, dt = words[h], tags[h], words[d], tags[d]
    side = 1 if head < word else 2
    way = 2 * bucket(abs(head - word)) + side
    left, right, n_left, n_right = kin[word]
    lw = words[left + 1] if left else 0
    lt = tags[left + 1] if left else 0
    rw = words[right + 1] if right else 0
    rt = tags[right + 1] if right else 0
    first, last, before, after = kin[head]
    place = (1 if word == first else 0) + (2 if word == last else 0)
    over = tags[heads[h] + 1] if head else 0
    rows[0] = join(101, hw, dw, side, 0, 0)
    rows[1] = join(102, ht, dt, side, 0, 0)
    rows[2] = join(103, ht, dt, way, 0, 0)
    rows[3] = join(104, hw, dt, side, 0, 0)
    rows[4] = join(105, ht, dw, side, 0, 0)
    rows[5] = join(106, dw, dt, 0, 0, 0)
    rows[6] = join(107, dw, side, 0, 0, 0)
    rows[7] = join(108, dt, side, 0, 0, 0)
    rows[8] = join(109, hw, side, 0, 0, 0)
    rows[9] = join(110, ht, way, 0, 0, 0)
    rows[10] = join(111, dt, tags[d - 1], ht, side, 0)
    rows[11] = join(112, dt, tags[d + 1], ht, side, 0)
    rows[12] = join(113, dt, words[d - 1], side, 0, 0)
    rows[13] = join(114, dt, words[d + 1], side, 0, 0)
    rows[14] = join(115, dt, tags[d - 1], tags[d + 1], 0, 0)
    rows[15] = join(116, dt, lt, ht, side, 0)
    rows[16] = join(117, dt, lw, ht, side, 0)
    rows[17] = join(118, dt, rt, ht, side, 0)
    rows[18] = join(119, dt, rw, ht, side, 0)
    rows[19] = join(120, dt, lw, hw, side, 0)
    rows[20] = join(121, dt, lt, rt, side, 0)
    rows[21] = join(122, dt, n_left, n_right, ht, side)
    rows[22] = join(123, dt, ht, place, side, 0)
    rows[23] = join(124, dt, hw, place, side, 0)
    rows[24] = join(125, dt, ht, before, after, side)
    rows[25] = join(126, dt, ht, over, side, 0)
    rows[26] = join(127, dw, ht, over, side, 0)
    rows[27] = join(128, dt, tags[first + 1], tags[last + 1], ht, side)
    rows[28] = join(129, dt, words[first + 1], ht, place, side)
    rows[29] = join(130, dt, words[last + 1], ht, place, side)
    rows[30] = join(131, dw, lw, side, 0, 0)
    rows[31] = join(132, dw, lt, rt, side, 0)
    rows[32] = join(133, dt, tags[h - 1], ht, tags[h + 1] if head + 1 < len(words) - 1 else 0, side)
    rows[33] = join(134, dt, lt, hw, place, side)
    rows[34] = join(135, dt, tags[d + 1], tags[d + 2] if d + 2 < len(tags) else 0, side, 0)
    rows[35] = join(136, 0, 0, 0, 0, 0)
    for index in range(_N_FEATURES):
        rows[index] = find_row(rows[index], 0, shift)


@kernel
def _choose(
    rows: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    weights: NDArray[np.int32] | NDArray[np.int64],
    mask: int,
    barred: int,
) -> tuple[int, int]:
    """Return the best relation but for the ``barred`` one, −1 if there is none, and its score; where none is allowed, all are."""
    anything = not allowed.any()
    best, best_score = -1, 0
    for relation in range(len(allowed)):
        if relation == barred or not (allowed[relation] or anything):
            continue
        score = _score(rows, relation, weights, mask)
        if best < 0 or score > best_score:
            best, best_score = relation, score
    return best, best_score


@kernel
def _score(rows: NDArray[np.int64], relation: int, weights: NDArray[np.int32] | NDArray[np.int64], mask: int) -> int:
    total = np.int64(0)
    for index in range(_N_FEATURES):
        total += weights[(rows[index] + relation * _STRIDE) & mask]
    return int(total)


@kernel
def _learn(
    starts: NDArray[np.int64],
    all_words: NDArray[np.int32],
    all_tags: NDArray[np.int32],
    all_heads: NDArray[np.int32],
    all_relations: NDArray[np.int32],
    allowed: NDArray[np.bool_],
    order: NDArray[np.int64],
    random: NDArray[np.uint64],
    epochs: int,
    weights: NDArray[np.int32],
    totals: NDArray[np.int64],
    shift: int,
) -> int:
    rows = np.empty(_N_FEATURES, np.int64)
    mask = len(weights) - 1
    step = 0
    for _ in range(epochs):
        shuffle(order, random)
        for index in order:
            start, end = starts[index], starts[index + 1]
            words, tags, heads = all_words[start:end], all_tags[start:end], all_heads[start:end]
            kin = _kin(heads)
            for word in range(1, end - start - 2):
                step += 1
                _relation_features(words, tags, heads, kin, word, shift, rows)
                right = int(all_relations[start + 1 + word])
                wrong, score = _choose(rows, allowed[tags[word + 1], 1 if heads[word + 1] == 0 else 0], weights, mask, right)
                if wrong < 0 or score + _MARGIN < _score(rows, right, weights, mask):
                    continue
                for place in range(_N_FEATURES):
                    change(weights, totals, (rows[place] + right * _STRIDE) & mask, 1, step)
                    change(weights, totals, (rows[place] + wrong * _STRIDE) & mask, -1, step)
    return step


@kernel
def _label(
    starts: NDArray[np.int64],
    all_words: NDArray[np.int32],
    all_tags: NDArray[np.int32],
    all_heads: NDArray[np.int32],
    allowed: NDArray[np.bool_],
    weights: NDArray[np.int64],
    shift: int,
    relations: NDArray[np.int32],
) -> None:
    rows = np.empty(_N_FEATURES, np.int64)
    for index in range(len(starts) - 1):
        start, end = starts[index], starts[index + 1]
        words, tags, heads = all_words[start:end], all_tags[start:end], all_heads[start:end]
        kin = _kin(heads)
        for word in range(1, end - start - 2):
            _relation_features(words, tags, heads, kin, word, shift, rows)
            among = allowed[tags[word + 1], 1 if heads[word + 1] == 0 else 0]
            relations[start + 1 + word], _ = _choose(rows, among, weights, len(weights) - 1, -1)
