"""Posteriors of links where each token looks at the one before: forward-backward recursions of the HMM aligner.

States of a target token are the source tokens, or the null word with the memory of the last source token that was linked; the
memory before the first link is a place before the sentence. A jump is the distance between two successive linked tokens.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pipeline.compiled import kernel

__all__ = ["hmm_posteriors"]


@kernel
def _fill_moves(moves: Any, jumps: Any, n_given: int, null: float) -> None:
    """Fill in the chances (memory, next token): memory 0 is the place before the sentence."""
    reach = (len(jumps) - 1) // 2
    for memory in range(n_given + 1):
        total = 0.0
        for token in range(n_given):
            jump = min(max(token + 1 - memory, -reach), reach)
            moves[memory, token] = jumps[jump + reach]
            total += jumps[jump + reach]
        for token in range(n_given):
            moves[memory, token] *= (1.0 - null) / total


@kernel
def _go_forward(
    linked: Any, silent: Any, scales: Any, moves: Any, chances: Any, first: int, n_given: int, n_rows: int, null: float
) -> None:
    """Fill in the scaled chances of the words so far and the state: ``linked`` (row, token), ``silent`` (row, memory)."""
    for row in range(n_rows):
        cell = first + row * (n_given + 1)
        total = 0.0
        for token in range(n_given):
            mass = 0.0
            if row == 0:
                mass = moves[0, token]
            else:
                mass = silent[row - 1, 0] * moves[0, token]
                for memory in range(1, n_given + 1):
                    mass += (linked[row - 1, memory - 1] + silent[row - 1, memory]) * moves[memory, token]
            linked[row, token] = mass * chances[cell + 1 + token]
            total += linked[row, token]
        for memory in range(n_given + 1):
            mass = 0.0
            if row == 0:
                mass = 1.0 if memory == 0 else 0.0
            else:
                mass = silent[row - 1, memory]
                if memory > 0:
                    mass += linked[row - 1, memory - 1]
            silent[row, memory] = mass * null * chances[cell]
            total += silent[row, memory]
        scales[row] = total
        if total > 0.0:
            linked[row, :n_given] /= total
            silent[row, : n_given + 1] /= total


@kernel
def hmm_posteriors(given: Any, generated: Any, starts: Any, times: Any, chances: Any, jumps: Any, null: float, weights: Any) -> Any:
    """Return the posterior of each cell, the expected jumps, and the log-likelihood of the bitext.

    p(f, a | e) = Π_j p(a_j | a_{j−1}) · t(f_j | e_{a_j}); a token moves to the null word with probability p₀ and keeps the memory,
    otherwise to source token i with p(i | i′) ∝ c(i − i′) among the tokens of the sentence.

    Parameters
    ----------
    given, generated, starts : 1-d int64
        As of `Cells`.
    times : (pair,) float64
    chances : (cell,) float64
        t(f | e).
    jumps : (2·reach + 1,) float64
        c(−reach) … c(reach); what jumps further counts as the last of its side.
    null : float
        p₀.
    weights : (cell,) float64
        What a jump counts that leads to this cell.
    """
    posteriors = np.zeros(len(chances))
    expected = np.zeros(len(jumps))
    reach = (len(jumps) - 1) // 2
    likelihood = 0.0
    for pair in range(len(given)):
        n_given, n_rows, first = given[pair], generated[pair], starts[pair]
        if n_rows == 0:
            continue
        if n_given == 0:  # nothing but the null word
            for row in range(n_rows):
                posteriors[first + row] = 1.0
                if chances[first + row] > 0.0:
                    likelihood += times[pair] * math.log(chances[first + row])
            continue
        moves = np.empty((n_given + 1, n_given))
        linked, silent, scales = np.empty((n_rows, n_given)), np.empty((n_rows, n_given + 1)), np.empty(n_rows)
        _fill_moves(moves, jumps, n_given, null)
        _go_forward(linked, silent, scales, moves, chances, first, n_given, n_rows, null)
        if scales.min() <= 0.0:
            continue  # the bitext is impossible for the model: it teaches nothing
        # What follows, by the memory a state leaves; both kinds of state with one memory see the same future.
        future, ahead = np.ones(n_given + 1), np.empty(n_given + 1)
        for row in range(n_rows - 1, -1, -1):
            cell = first + row * (n_given + 1)
            likelihood += times[pair] * math.log(scales[row])
            for memory in range(n_given + 1):
                posteriors[cell] += silent[row, memory] * future[memory]
            for token in range(n_given):
                posteriors[cell + 1 + token] = linked[row, token] * future[token + 1]
            for memory in range(n_given + 1):
                before = 0.0
                if row == 0:
                    before = 1.0 if memory == 0 else 0.0
                else:
                    before = silent[row - 1, memory]
                    if memory > 0:
                        before += linked[row - 1, memory - 1]
                ahead[memory] = null * chances[cell] * future[memory] / scales[row]
                for token in range(n_given):
                    step = moves[memory, token] * chances[cell + 1 + token] * future[token + 1] / scales[row]
                    ahead[memory] += step
                    jump = min(max(token + 1 - memory, -reach), reach)
                    expected[jump + reach] += times[pair] * before * step * weights[cell + 1 + token]
            future[:] = ahead
    return posteriors, expected, likelihood
