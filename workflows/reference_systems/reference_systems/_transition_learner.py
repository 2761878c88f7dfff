"""Learning and taking steps: the kernels of the transition-based parser.

A greedy parser and an averaged perceptron with a dynamic oracle (Goldberg and Nivre 2012, https://aclanthology.org/C12-1059):
after the first pass the learner mostly takes the steps it believes in, so that it learns to go on after mistakes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from reference_systems._dependencies import ROOT, Treebank
from reference_systems._hashed_weights import average, change, next_random, shuffle, start_learning
from reference_systems._transitions import (
    LEFT,
    N_FEATURES,
    SHIFT,
    allowed_steps,
    step_costs,
    transition_features,
)

__all__ = ["learn_steps", "parse_by_steps"]


def learn_steps(
    treebank: Treebank, sample: NDArray[np.int64], *, epochs: int, bits: int, margin: int, backwards: bool, seed: int
) -> NDArray[np.int64]:
    """Return the averaged weights of steps: ``2 ** bits`` rows of four, one not used, one row after the other."""
    weights, totals, order, random = start_learning(4 * 2**bits, sample, seed=seed, purpose=2 + backwards)
    steps = _learn(
        treebank.starts, treebank.words, treebank.tags, treebank.heads,
        order, random, epochs, weights, totals, 64 - bits, margin, backwards,
    )  # fmt: skip
    return average(weights, totals, max(1, steps))


@kernel
def _lay_out(entries: NDArray[np.int32], last: int, backwards: bool) -> NDArray[np.int32]:
    """Put nothing first and the root, ``last``, behind the tokens; from right to left if ``backwards``."""
    n = len(entries) - 3
    laid = np.zeros(n + 4, np.int32)
    for word in range(1, n + 1):
        laid[n + 1 - word if backwards else word] = entries[word + 1]
    laid[n + 1] = last
    return laid


@kernel
def _place(token: int, n: int, backwards: bool) -> int:
    """Return the place of a token that a sentence numbers from 1, with 0 the root; and the token at a place but the root's."""
    if token == 0:
        return n + 1
    return n + 1 - token if backwards else token


@kernel
def _attach(children: NDArray[np.int32], head: int, token: int) -> None:
    kin = children[head]
    if token < head:
        if kin[0] == 0 or token < kin[0]:
            kin[1], kin[0] = kin[0], token
        else:
            kin[1] = token
        kin[4] = min(kin[4] + 1, 3)
    else:
        if token > kin[2]:
            kin[3], kin[2] = kin[2], token
        else:
            kin[3] = token
        kin[5] = min(kin[5] + 1, 3)


@kernel
def _score(weights: NDArray[np.int32] | NDArray[np.int64], rows: NDArray[np.int64], scores: NDArray[np.int64]) -> None:
    scores[:] = 0
    for index in range(N_FEATURES):
        row = 4 * rows[index]
        scores[0] += weights[row]
        scores[1] += weights[row + 1]
        scores[2] += weights[row + 2]


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
    backwards: bool,
) -> int:
    step_number = 0
    rows = np.empty(N_FEATURES, np.int64)
    scores, costs, allowed = np.zeros(3, np.int64), np.zeros(3, np.int64), np.zeros(3, np.bool_)
    for epoch in range(epochs):
        shuffle(order, random)
        for index in order:
            start, end = starts[index], starts[index + 1]
            n = end - start - 3
            words = _lay_out(all_words[start:end], ROOT, backwards)
            tags = _lay_out(all_tags[start:end], ROOT, backwards)
            gold = np.zeros(n + 2, np.int64)
            for word in range(1, n + 1):
                gold[_place(word, n, backwards)] = _place(int(all_heads[start + 1 + word]), n, backwards)
            stack, children = np.zeros(n + 1, np.int64), np.zeros((n + 4, 6), np.int32)
            size, front = 0, 1
            while size or front <= n:
                step_number += 1
                allowed_steps(size, front, n, allowed)
                step_costs(stack, size, front, gold, costs)
                transition_features(words, tags, stack, size, front, children, shift, rows)
                _score(weights, rows, scores)
                least = np.int64(2**40)
                for step in range(3):
                    if allowed[step]:
                        least = min(least, costs[step])
                good, bad = -1, -1
                for step in range(3):
                    if not allowed[step]:
                        continue
                    if costs[step] == least:
                        if good < 0 or scores[step] > scores[good]:
                            good = step
                    elif bad < 0 or scores[step] > scores[bad]:
                        bad = step
                if bad >= 0 and scores[bad] + margin >= scores[good]:
                    for place in range(N_FEATURES):
                        change(weights, totals, 4 * rows[place] + good, 1, step_number)
                        change(weights, totals, 4 * rows[place] + bad, -1, step_number)
                taken = good
                if bad >= 0 and scores[bad] > scores[good] and epoch > 0 and next_random(random) % 10 > 0:
                    taken = bad
                size, front = _take(taken, stack, size, front, children)
    return step_number


@kernel
def _take(step: int, stack: NDArray[np.int64], size: int, front: int, children: NDArray[np.int32]) -> tuple[int, int]:
    """Take a step and return the new size of the stack and front of the buffer."""
    if step == SHIFT:
        stack[size] = front
        return size + 1, front + 1
    _attach(children, front if step == LEFT else stack[size - 2], stack[size - 1])
    return size - 1, front


def parse_by_steps(treebank: Treebank, weights: NDArray[np.int64], *, backwards: bool) -> NDArray[np.int32]:
    """Return the heads of all words, laid out like ``treebank.heads``."""
    heads = np.full(len(treebank.words), -1, np.int32)
    shift = 64 - (len(weights).bit_length() - 3)
    _parse(treebank.starts, treebank.words, treebank.tags, weights, shift, backwards, heads)
    return heads


@kernel
def _parse(
    starts: NDArray[np.int64],
    all_words: NDArray[np.int32],
    all_tags: NDArray[np.int32],
    weights: NDArray[np.int64],
    shift: int,
    backwards: bool,
    heads: NDArray[np.int32],
) -> None:
    rows = np.empty(N_FEATURES, np.int64)
    scores, allowed = np.zeros(3, np.int64), np.zeros(3, np.bool_)
    for index in range(len(starts) - 1):
        start, end = starts[index], starts[index + 1]
        n = end - start - 3
        words = _lay_out(all_words[start:end], ROOT, backwards)
        tags = _lay_out(all_tags[start:end], ROOT, backwards)
        stack, children = np.zeros(n + 1, np.int64), np.zeros((n + 4, 6), np.int32)
        size, front = 0, 1
        while size or front <= n:
            allowed_steps(size, front, n, allowed)
            transition_features(words, tags, stack, size, front, children, shift, rows)
            _score(weights, rows, scores)
            best = -1
            for step in range(3):
                if allowed[step] and (best < 0 or scores[step] > scores[best]):
                    best = step
            if best != SHIFT:
                head = front if best == LEFT else stack[size - 2]
                word = _place(int(stack[size - 1]), n, backwards)
                heads[start + 1 + word] = 0 if head == n + 1 else _place(int(head), n, backwards)
            size, front = _take(best, stack, size, front, children)
