"""Posteriors of links where each token chooses for itself: the E-step of IBM Model 1 and the diagonal Model 2."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pipeline.compiled import kernel

__all__ = ["agree", "diagonal_slope", "link_posteriors", "mark_best"]


@kernel
def _fill_prior(prior: Any, row: int, n_given: int, n_generated: int, null: float, tension: float) -> None:
    """Fill in the chances of the null word and of each given token, before any word is seen."""
    if n_given == 0:
        prior[0] = 1.0
        return
    if null < 0.0:  # Model 1: the null word is one more word, and all are alike
        prior[: n_given + 1] = 1.0 / (n_given + 1.0)
        return
    total = 0.0
    for column in range(n_given):
        prior[column + 1] = math.exp(-tension * abs((column + 1.0) / n_given - (row + 1.0) / n_generated))
        total += prior[column + 1]
    for column in range(n_given):
        prior[column + 1] *= (1.0 - null) / total
    prior[0] = null


@kernel
def link_posteriors(given: Any, generated: Any, starts: Any, times: Any, chances: Any, null: float, tension: float) -> Any:
    """Return the posterior of each cell, and the log-likelihood of the bitext.

    p(i | j) ∝ prior(i | j) · t(f_j | e_i), where the prior is 1 / (I + 1), or with a probability of null p₀ and a tension λ
    (1 − p₀) · exp(−λ·|i/I − j/J|) / Z.

    Parameters
    ----------
    given, generated, starts : 1-d int64
        As of `Cells`.
    times : (pair,) float64
    chances : (cell,) float64
        t(f | e).
    null : float
        p₀; below 0 for Model 1.
    tension : float
        λ.
    """
    posteriors = np.zeros(len(chances))
    likelihood = 0.0
    prior = np.empty(given.max() + 1 if len(given) else 1)
    for pair in range(len(given)):
        width = given[pair] + 1
        for row in range(generated[pair]):
            first = starts[pair] + row * width
            _fill_prior(prior, row, given[pair], generated[pair], null, tension)
            total = 0.0
            for column in range(width):
                posteriors[first + column] = prior[column] * chances[first + column]
                total += posteriors[first + column]
            if total > 0.0:
                for column in range(width):
                    posteriors[first + column] /= total
                likelihood += times[pair] * math.log(total)
    return posteriors, likelihood


@kernel
def diagonal_slope(given: Any, generated: Any, starts: Any, times: Any, posteriors: Any, tension: float) -> float:
    """Return the slope in λ of the expected log-likelihood: −|i/I − j/J| as expected less as the prior has it, summed."""
    slope = 0.0
    for pair in range(len(given)):
        width = given[pair] + 1
        for row in range(generated[pair]):
            first = starts[pair] + row * width
            linked, observed, total, expected = 0.0, 0.0, 0.0, 0.0
            for column in range(given[pair]):
                distance = abs((column + 1.0) / given[pair] - (row + 1.0) / generated[pair])
                weight = math.exp(-tension * distance)
                linked += posteriors[first + column + 1]
                observed -= posteriors[first + column + 1] * distance
                total += weight
                expected -= weight * distance
            if given[pair] > 0:
                slope += times[pair] * (observed - linked * expected / total)
    return slope


@kernel
def mark_best(given: Any, generated: Any, starts: Any, posteriors: Any) -> Any:
    """Mark the best cell of each row; the null word wins ties and is not marked, then the first given token."""
    marks = np.zeros(len(posteriors), dtype=np.bool_)
    for pair in range(len(given)):
        width = given[pair] + 1
        for row in range(generated[pair]):
            first = starts[pair] + row * width
            best = 0
            for column in range(1, width):
                if posteriors[first + column] > posteriors[first + best]:
                    best = column
            marks[first + best] = best > 0
    return marks


@kernel
def agree(given: Any, generated: Any, starts: Any, other_starts: Any, other: Any) -> Any:
    """Return what the other direction says of each cell: its posterior of the same link, and 1 of links to the null word."""
    turned = np.ones(starts[-1])
    for pair in range(len(given)):
        for row in range(generated[pair]):
            for column in range(given[pair]):
                cell = starts[pair] + row * (given[pair] + 1) + 1 + column
                turned[cell] = other[other_starts[pair] + column * (generated[pair] + 1) + 1 + row]
    return turned
