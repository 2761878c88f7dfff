"""Alignment where each token chooses for itself: IBM Model 1 and the diagonal Model 2, fitted both ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import TrainingItems
from reference_systems._alignment_kernels import diagonal_slope, link_posteriors, mark_best
from reference_systems._bitext import Cells, Lexicon, SampledBitext, Sentences, lay_out, normalise, number_words
from reference_systems._symmetrise import Links, symmetrise, to_links

__all__ = ["Direction", "TokenAlignment", "TokenModel", "count_words", "fit_token_aligner", "predict_links", "start_lexicon"]

_STEEPEST = 64.0  # a diagonal sharper than any bitext's: exp(−64/30) a token off in a sentence of 30


@dataclass(frozen=True)
class TokenModel:
    """What is to be fitted.

    Parameters
    ----------
    iterations : int
        Of EM.
    prior : float
        α of the Dirichlet prior of t(· | e), or 0.
    null : float
        Chance of the null word; below 0 it is one word among others, as in Model 1.
    tension : float
        λ at the start; 0 where all positions are alike.
    tune : bool
        Fit λ too.
    """

    iterations: int
    prior: float
    null: float = -1.0
    tension: float = 0.0
    tune: bool = False


@dataclass(frozen=True, eq=False)
class Direction:
    """A fitted direction.

    Parameters
    ----------
    lexicon : Lexicon
    null, tension : float
        Of the chances of positions.
    likelihoods : tuple of float
        Log-likelihood of the training bitext before each iteration of EM.
    """

    lexicon: Lexicon
    null: float
    tension: float
    likelihoods: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class TokenAlignment:
    """Both directions and what is to be said of them.

    Parameters
    ----------
    forward : Direction
        Each target token chooses a source token.
    reverse : Direction
        Each source token chooses a target token.
    notes : tuple of str
    """

    forward: Direction
    reverse: Direction
    notes: tuple[str, ...] = ()


def fit_token_aligner(bitext: SampledBitext, model: TokenModel) -> TokenAlignment:
    """Fit both directions."""
    forward = _fit_direction(bitext.source, bitext.target, bitext.times, model)
    return TokenAlignment(forward, _fit_direction(bitext.target, bitext.source, bitext.times, model), bitext.notes)


def start_lexicon(given: Sentences, generated: Sentences) -> tuple[Lexicon, Cells, NDArray[np.int64]]:
    """Return a lexicon in which all pairs of words that meet are alike, the cells, and the entry of each cell."""
    given_numbers, generated_numbers = number_words(given, first=1), number_words(generated, first=0)
    cells = lay_out(given, generated, given_numbers, generated_numbers)
    keys, entries = np.unique(cells.keys, return_inverse=True)
    alike = 1.0 / max(len(generated_numbers), 1)
    never_met = np.full(len(given_numbers) + 1, alike)
    return Lexicon(given_numbers, generated_numbers, keys, np.full(len(keys), alike), never_met), cells, entries


def count_words(
    lexicon: Lexicon,
    cells: Cells,
    entries: NDArray[np.int64],
    expected: NDArray[np.float64],
    times: NDArray[np.float64],
    *,
    prior: float,
) -> Lexicon:
    """Return the lexicon of the M-step from the expected links of the cells of each pair."""
    weights = expected * np.repeat(times, np.diff(cells.starts))
    counts: NDArray[Any] = np.bincount(entries, weights=weights, minlength=len(lexicon.keys))
    n_generated = len(lexicon.generated)
    values, never_met = normalise(
        counts,
        lexicon.keys // max(n_generated, 1),
        n_given=len(lexicon.given),
        n_generated=n_generated,
        prior=prior,
    )
    return Lexicon(lexicon.given, lexicon.generated, lexicon.keys, values, never_met)


def _fit_direction(given: Sentences, generated: Sentences, times: NDArray[np.float64], model: TokenModel) -> Direction:
    lexicon, cells, entries = start_lexicon(given, generated)
    tension, likelihoods = model.tension, []
    for _ in range(model.iterations):
        chances = lexicon.values[entries]
        posteriors, likelihood = link_posteriors(cells.given, cells.generated, cells.starts, times, chances, model.null, tension)
        likelihoods.append(float(likelihood))
        lexicon = count_words(lexicon, cells, entries, posteriors, times, prior=model.prior)
        if model.tune:
            tension = _best_tension(cells, times, posteriors)
    return Direction(lexicon, model.null, tension, tuple(likelihoods))


def _best_tension(cells: Cells, times: NDArray[np.float64], posteriors: NDArray[np.float64]) -> float:
    # The expected log-likelihood is concave in λ: its slope falls through zero once, and halving finds where.
    low, high = 0.0, _STEEPEST
    for _ in range(40):
        middle = (low + high) / 2
        slope = diagonal_slope(cells.given, cells.generated, cells.starts, times, posteriors, middle)
        low, high = (middle, high) if slope > 0.0 else (low, middle)
    return (low + high) / 2


def predict_links(model: TokenAlignment, items: TrainingItems, heuristic: str) -> Mapping[str, tuple[Links, ...]]:
    """Align each pair of a bitext both ways, and give the links chosen from the two."""
    source, target = items.columns["source"], items.columns["target"]
    forward, forward_starts = _mark(model.forward, source, target)
    reverse, reverse_starts = _mark(model.reverse, target, source)
    links = []
    for pair, (first, second) in enumerate(zip(source, target, strict=True)):
        there = forward[forward_starts[pair] : forward_starts[pair + 1]].reshape(len(second), len(first) + 1)[:, 1:]
        back = reverse[reverse_starts[pair] : reverse_starts[pair + 1]].reshape(len(first), len(second) + 1)[:, 1:]
        links.append(to_links(symmetrise(np.ascontiguousarray(there.T), np.ascontiguousarray(back), heuristic)))
    return {"link": tuple(links)}


def _mark(direction: Direction, given: Sentences, generated: Sentences) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    lexicon = direction.lexicon
    cells = lay_out(given, generated, lexicon.given, lexicon.generated)
    chances = lexicon.look_up(cells)
    once = np.ones(len(cells.given))
    posteriors, _ = link_posteriors(cells.given, cells.generated, cells.starts, once, chances, direction.null, direction.tension)
    return mark_best(cells.given, cells.generated, cells.starts, posteriors), cells.starts
