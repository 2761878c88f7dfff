"""Configurations of the arc-hybrid system: its steps, their costs by the dynamic oracle, and its features.

A stack, a buffer whose last token is the root, and three steps (Kuhlmann, Gómez-Rodríguez and Satta 2011,
https://aclanthology.org/P11-1068): SHIFT moves the front b of the buffer to the stack; LEFT makes b the head of the top s
and RIGHT the token below s, and s leaves the stack.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from reference_systems._hashed_weights import bucket, find_row, join

__all__ = ["LEFT", "N_FEATURES", "RIGHT", "SHIFT", "allowed_steps", "step_costs", "transition_features"]

SHIFT, LEFT, RIGHT = 0, 1, 2
N_FEATURES = 85


@kernel
def allowed_steps(size: int, front: int, n: int, steps: NDArray[np.bool_]) -> None:
    """Say which steps may be taken with ``size`` tokens on the stack; the root, n + 1, takes one dependent, the last."""
    steps[SHIFT] = front <= n
    steps[LEFT] = size > 0 and (front <= n or size == 1)
    steps[RIGHT] = size > 1


@kernel
def step_costs(stack: NDArray[np.int64], size: int, front: int, gold: NDArray[np.int64], costs: NDArray[np.int64]) -> None:
    """Fill in how many gold arcs each step puts out of reach (Goldberg and Nivre 2013, doi:10.1162/tacl_a_00237).

    The system decomposes into arcs: of a tree without crossing arcs, all arcs that can be reached one by one can be reached
    together, so that the count is exact. Where arcs cross it is the count one by one. That the root takes one dependent is
    not counted: it leaves a choice to nobody, for it binds only when the root alone is in the buffer.

    Parameters
    ----------
    stack : int64
        Its first ``size`` entries are the stack, the top last.
    front : int
        First token of the buffer, n + 1 for the root.
    gold : (n + 2,) int64
        Heads of tokens 1 … n; the root is n + 1.
    costs : (3,) int64
        By step.
    """
    n = len(gold) - 2
    costs[:] = 0
    if size:
        top = stack[size - 1]
        below = stack[size - 2] if size > 1 else -1
        lost = 0
        for token in range(front, n + 1):
            if gold[token] == top:
                lost += 1
        costs[LEFT] = lost + (1 if gold[top] == below or gold[top] > front else 0)
        costs[RIGHT] = lost + (1 if gold[top] >= front else 0)
    if front <= n:
        for place in range(size):
            token = stack[place]
            if gold[token] == front:
                costs[SHIFT] += 1
            if place < size - 1 and gold[front] == token:
                costs[SHIFT] += 1


@kernel
def transition_features(
    words: NDArray[np.int32],
    tags: NDArray[np.int32],
    stack: NDArray[np.int64],
    size: int,
    front: int,
    children: NDArray[np.int32],
    shift: int,
    rows: NDArray[np.int64],
) -> None:
    """Write the rows of the features of a configuration.

    They are those of Zhang and Nivre (2011, https://aclanthology.org/P11-2033) that need no relations.

    Parameters
    ----------
    words, tags : (n + 4,) int32
        Nothing, tokens 1 … n, the root, nothing, nothing.
    stack, size, front
        As in `step_costs`.
    children : (n + 2, 6) int32
        Leftmost and second leftmost, rightmost and second rightmost dependents so far, 0 for none, and how many left, right.
    shift : int
        64 less the bits of a row.
    rows : (N_FEATURES,) int64
        Where to write.
    """
    s0 = stack[size - 1] if size > 0 else 0
    s1 = stack[size - 2] if size > 1 else 0
    s2 = stack[size - 3] if size > 2 else 0
    b0, b1, b2 = front, front + 1, front + 2
    if b1 >= len(words):
        b1 = 0
    if b2 >= len(words):
        b2 = 0
    s0w, s0t, s1w, s1t, s2w, s2t = words[s0], tags[s0], words[s1], tags[s1], words[s2], tags[s2]
    b0w, b0t, b1w, b1t, b2w, b2t = words[b0], tags[b0], words[b1], tags[b1], words[b2], tags[b2]
    s0l, s0l2, s0r, s0r2, s0nl, s0nr = children[s0]
    s1l, s1l2, s1r, s1r2, s1nl, s1nr = children[s1]
    b0l, b0l2, _, _, b0nl, _ = children[b0]
    near = bucket(b0 - s0) if s0 else 0
    far = bucket(s0 - s1) if s1 else 0
    s0lt, s0l2t, s0rt, s0r2t = tags[s0l], tags[s0l2], tags[s0r], tags[s0r2]
    s1lt, s1l2t, s1rt, s1r2t = tags[s1l], tags[s1l2], tags[s1r], tags[s1r2]
    b0lt, b0l2t = tags[b0l], tags[b0l2]
    rows[0] = join(0, s0w, s0t, 0, 0, 0)
    rows[1] = join(1, s0w, 0, 0, 0, 0)
    rows[2] = join(2, s0t, 0, 0, 0, 0)
    rows[3] = join(3, b0w, b0t, 0, 0, 0)
    rows[4] = join(4, b0w, 0, 0, 0, 0)
    rows[5] = join(5, b0t, 0, 0, 0, 0)
    rows[6] = join(6, b1w, b1t, 0, 0, 0)
    rows[7] = join(7, b1w, 0, 0, 0, 0)
    rows[8] = join(8, b1t, 0, 0, 0, 0)
    rows[9] = join(9, b2w, b2t, 0, 0, 0)
    rows[10] = join(10, b2w, 0, 0, 0, 0)
    rows[11] = join(11, b2t, 0, 0, 0, 0)
    rows[12] = join(12, s1w, s1t, 0, 0, 0)
    rows[13] = join(13, s1w, 0, 0, 0, 0)
    rows[14] = join(14, s1t, 0, 0, 0, 0)
    rows[15] = join(15, s2w, s2t, 0, 0, 0)
    rows[16] = join(16, s2t, 0, 0, 0, 0)
    rows[17] = join(17, s0w, s0t, b0w, b0t, 0)
    rows[18] = join(18, s0w, s0t, b0w, 0, 0)
    rows[19] = join(19, s0w, b0w, b0t, 0, 0)
    rows[20] = join(20, s0w, s0t, b0t, 0, 0)
    rows[21] = join(21, s0t, b0w, b0t, 0, 0)
    rows[22] = join(22, s0w, b0w, 0, 0, 0)
    rows[23] = join(23, s0t, b0t, 0, 0, 0)
    rows[24] = join(24, b0t, b1t, 0, 0, 0)
    rows[25] = join(25, s0w, s0t, s1w, s1t, 0)
    rows[26] = join(26, s0w, s0t, s1t, 0, 0)
    rows[27] = join(27, s0t, s1w, s1t, 0, 0)
    rows[28] = join(28, s0w, s1w, 0, 0, 0)
    rows[29] = join(29, s0t, s1t, 0, 0, 0)
    rows[30] = join(30, s1t, b0t, 0, 0, 0)
    rows[31] = join(31, s1w, b0w, 0, 0, 0)
    rows[32] = join(32, b0t, b1t, b2t, 0, 0)
    rows[33] = join(33, s0t, b0t, b1t, 0, 0)
    rows[34] = join(34, s1t, s0t, b0t, 0, 0)
    rows[35] = join(35, s2t, s1t, s0t, 0, 0)
    rows[36] = join(36, s0t, s0lt, b0t, 0, 0)
    rows[37] = join(37, s0t, s0rt, b0t, 0, 0)
    rows[38] = join(38, s0t, b0t, b0lt, 0, 0)
    rows[39] = join(39, s1t, s1rt, s0t, 0, 0)
    rows[40] = join(40, s1t, s1lt, s0t, 0, 0)
    rows[41] = join(41, s1t, s0t, s0lt, 0, 0)
    rows[42] = join(42, s1t, s0t, s0rt, 0, 0)
    rows[43] = join(43, s1t, s1rt, b0t, 0, 0)
    rows[44] = join(44, s1t, s0t, b0t, b1t, 0)
    rows[45] = join(45, s0w, b0t, b1t, 0, 0)
    rows[46] = join(46, s0t, b0w, b1t, 0, 0)
    rows[47] = join(47, s1t, s0w, b0t, 0, 0)
    rows[48] = join(48, s1w, s0t, b0t, 0, 0)
    rows[49] = join(49, s1t, s0t, b0w, 0, 0)
    rows[50] = join(50, s0w, near, 0, 0, 0)
    rows[51] = join(51, s0t, near, 0, 0, 0)
    rows[52] = join(52, b0w, near, 0, 0, 0)
    rows[53] = join(53, b0t, near, 0, 0, 0)
    rows[54] = join(54, s0w, b0w, near, 0, 0)
    rows[55] = join(55, s0t, b0t, near, 0, 0)
    rows[56] = join(56, s0t, s1t, far, 0, 0)
    rows[57] = join(57, s1w, s0t, far, 0, 0)
    rows[58] = join(58, s0w, s0nl, 0, 0, 0)
    rows[59] = join(59, s0t, s0nl, 0, 0, 0)
    rows[60] = join(60, s0w, s0nr, 0, 0, 0)
    rows[61] = join(61, s0t, s0nr, 0, 0, 0)
    rows[62] = join(62, s1w, s1nr, 0, 0, 0)
    rows[63] = join(63, s1t, s1nr, 0, 0, 0)
    rows[64] = join(64, s1t, s1nl, 0, 0, 0)
    rows[65] = join(65, b0w, b0nl, 0, 0, 0)
    rows[66] = join(66, b0t, b0nl, 0, 0, 0)
    rows[67] = join(67, s0t, words[s0l], s0lt, 0, 0)
    rows[68] = join(68, s0t, words[s0r], s0rt, 0, 0)
    rows[69] = join(69, s1t, words[s1r], s1rt, 0, 0)
    rows[70] = join(70, s1t, words[s1l], s1lt, 0, 0)
    rows[71] = join(71, b0t, words[b0l], b0lt, 0, 0)
    rows[72] = join(72, s0t, s0lt, s0l2t, 0, 0)
    rows[73] = join(73, s0t, s0rt, s0r2t, 0, 0)
    rows[74] = join(74, s1t, s1rt, s1r2t, 0, 0)
    rows[75] = join(75, s1t, s1lt, s1l2t, 0, 0)
    rows[76] = join(76, b0t, b0lt, b0l2t, 0, 0)
    rows[77] = join(77, s0w, s0lt, s0rt, 0, 0)
    rows[78] = join(78, s1w, s1lt, s1rt, 0, 0)
    rows[79] = join(79, b0w, b0lt, 0, 0, 0)
    rows[80] = join(80, tags[s0 - 1] if s0 else 0, s0t, b0t, 0, 0)
    rows[81] = join(81, tags[s0 + 1] if s0 else 0, s0t, b0t, 0, 0)
    rows[82] = join(82, s0t, tags[b0 - 1], b0t, 0, 0)
    rows[83] = join(83, s0t, s1t, b0t, near, far)
    rows[84] = join(84, 0, 0, 0, 0, 0)
    for index in range(N_FEATURES):
        rows[index] = find_row(rows[index], 0, shift)
