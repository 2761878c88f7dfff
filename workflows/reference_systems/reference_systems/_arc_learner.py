"""Learning and using the weights of arcs: the kernels of the graph-based parser.

A structured averaged perceptron (Collins 2002, doi:10.3115/1118693.1118694) over whole trees, with a margin: while it
learns, every wrong arc has an advantage, so that the right tree must win clearly, as in MIRA (McDonald et al. 2005).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from reference_systems._arc_features import MOST_FEATURES, arc_features, extend_between, score_arcs
from reference_systems._dependencies import Treebank
from reference_systems._hashed_weights import average, change, shuffle, start_learning
from reference_systems._spanning_trees import best_projective_tree, best_tree

__all__ = ["learn_arcs", "parse_by_arcs"]


def learn_arcs(
    treebank: Treebank, sample: NDArray[np.int64], *, epochs: int, bits: int, margin: int, projective: bool, seed: int
) -> NDArray[np.int64]:
    """Return the averaged weights of arcs, ``2 ** bits`` rows, after some passes over the sample in random orders."""
    weights, totals, order, random = start_learning(2**bits, sample, seed=seed, purpose=1)
    _learn(
        treebank.starts, treebank.words, treebank.tags, treebank.heads,
        order, random, epochs, weights, totals, 64 - bits, margin, projective,
    )  # fmt: skip
    return average(weights, totals, max(1, epochs * len(order)))


@kernel
def _learn(
    starts: NDArray[np.int64],
    all_words: NDArray[np.int32],
    all_tags: NDArray[np.int32],
    all_heads: NDArray[np.int32],
    order: NDArray[np.int64],
    random: NDArray[np.uint64],
    epochs: int,
    weights: NDArray[np.int32],
    totals: NDArray[np.int64],
    shift: int,
    margin: int,
    projective: bool,
) -> None:
    step = 0
    for _ in range(epochs):
        shuffle(order, random)
        for index in order:
            step += 1
            start, end = starts[index], starts[index + 1]
            words, tags, heads = all_words[start:end], all_tags[start:end], all_heads[start:end]
            n = len(words) - 3
            scores = np.zeros((n + 1, n + 1), np.int64)
            score_arcs(words, tags, weights, shift, scores)
            for dependent in range(1, n + 1):
                for head in range(n + 1):
                    if heads[dependent + 1] != head:
                        scores[head, dependent] += margin
            found = best_projective_tree(scores) if projective else best_tree(scores)
            for dependent in range(1, n + 1):
                right, wrong = int(heads[dependent + 1]), int(found[dependent])
                if right != wrong:
                    _add_arc(words, tags, right, dependent, 1, step, weights, totals, shift)
                    _add_arc(words, tags, wrong, dependent, -1, step, weights, totals, shift)


@kernel
def _add_arc(
    words: NDArray[np.int32],
    tags: NDArray[np.int32],
    head: int,
    dependent: int,
    amount: int,
    step: int,
    weights: NDArray[np.int32],
    totals: NDArray[np.int64],
    shift: int,
) -> None:
    rows = np.empty(MOST_FEATURES, np.int64)
    left, right = min(head, dependent), max(head, dependent)
    between = np.empty(right - left + 1, np.int32)
    n_between = 0
    for place in range(left + 1, right + 1):
        n_between = extend_between(tags, left, place, between, n_between)
    size = arc_features(words, tags, head, dependent, between, n_between, shift, rows)
    for index in range(size):
        change(weights, totals, rows[index], amount, step)


def parse_by_arcs(treebank: Treebank, weights: NDArray[np.int64], *, projective: bool) -> NDArray[np.int32]:
    """Return the heads of all words, laid out like ``treebank.heads``."""
    heads = np.full(len(treebank.words), -1, np.int32)
    shift = 64 - (len(weights).bit_length() - 1)
    _parse(treebank.starts, treebank.words, treebank.tags, weights, shift, projective, heads)
    return heads


@kernel
def _parse(
    starts: NDArray[np.int64],
    all_words: NDArray[np.int32],
    all_tags: NDArray[np.int32],
    weights: NDArray[np.int64],
    shift: int,
    projective: bool,
    heads: NDArray[np.int32],
) -> None:
    for index in range(len(starts) - 1):
        start, end = starts[index], starts[index + 1]
        n = end - start - 3
        scores = np.zeros((n + 1, n + 1), np.int64)
        score_arcs(all_words[start:end], all_tags[start:end], weights, shift, scores)
        found = best_projective_tree(scores) if projective else best_tree(scores)
        for word in range(1, n + 1):
            heads[start + 1 + word] = found[word]
