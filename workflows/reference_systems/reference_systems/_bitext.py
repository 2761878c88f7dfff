"""Sentence pairs as numbers: a bitext laid out for EM, in one direction, and its translation probabilities.

In one direction the words of one side are *given* and generate those of the other. Every token that is generated has a row of
cells: one for the null word, which stands for "nothing there", then one for each given token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from pipeline.interfaces import TrainingItems

__all__ = ["Cells", "Lexicon", "SampledBitext", "lay_out", "normalise", "number_words", "sample_bitext"]

_NEVER_MET = 1e-12  # of two known words in no training pair, without a prior: possible, where nothing better is

Sentences = Sequence[tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Cells:
    """One direction of a bitext: rows of cells, a pair after the other.

    Parameters
    ----------
    given, generated : (pair,) int64
        Tokens on each side.
    starts : (pair + 1,) int64
        First cell of each pair; it has ``generated · (given + 1)`` of them.
    keys : (cell,) int64
        The pair of words as a number, or −1 where the given word is unknown, −2 where the generated one is.
    given_words : (cell,) int64
        Number of the given word; 0 is the null word, −1 an unknown one.
    """

    given: NDArray[np.int64]
    generated: NDArray[np.int64]
    starts: NDArray[np.int64]
    keys: NDArray[np.int64]
    given_words: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Probabilities t(generated | given) of the word pairs that met in training, and of those that did not.

    Parameters
    ----------
    given, generated : mapping of str to int
        Numbers of the words; those of given words begin at 1, for 0 is the null word.
    keys : (entry,) int64
        Numbers of the word pairs that met, sorted.
    values : (entry,) float64
    never_met : (given word,) float64
        Probability of any one known word that was never met with this given one.
    """

    given: Mapping[str, int]
    generated: Mapping[str, int]
    keys: NDArray[np.int64]
    values: NDArray[np.float64]
    never_met: NDArray[np.float64]

    def look_up(self, cells: Cells) -> NDArray[np.float64]:
        """Return the probability in each cell of any bitext.

        An unknown generated word says nothing: 1 in its whole row. An unknown given word generates every known word alike.
        """
        found = np.full(len(cells.keys), 1.0)
        found[cells.keys == -1] = 1.0 / max(len(self.generated), 1)
        known = np.flatnonzero(cells.keys >= 0)
        found[known] = self.never_met[cells.given_words[known]]
        if len(self.keys):
            entry = np.minimum(np.searchsorted(self.keys, cells.keys[known]), len(self.keys) - 1)
            met = self.keys[entry] == cells.keys[known]
            found[known[met]] = self.values[entry[met]]
        return found


@dataclass(frozen=True, eq=False)
class SampledBitext:
    """The pairs of a sample, each once.

    Parameters
    ----------
    source, target : sequence of tuple of str
    times : (pair,) float64
        How often each was drawn.
    """

    source: Sentences
    target: Sentences
    times: NDArray[np.float64]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a report is to say of it."""
        if any(source and target for source, target in zip(self.source, self.target, strict=True)):
            return ()
        return ("no pair of the sample has words on both sides: nothing was learnt, all words are unknown",)


def sample_bitext(items: TrainingItems, sample: NDArray[np.int64]) -> SampledBitext:
    """Return the pairs at the positions of a sample, in the order of the training set: EM counts repetitions, not copies."""
    positions, times = np.unique(sample, return_counts=True)
    source = [tuple(items.columns["source"][position]) for position in positions]
    target = [tuple(items.columns["target"][position]) for position in positions]
    return SampledBitext(source, target, times.astype(np.float64))


def number_words(sentences: Sentences, *, first: int) -> dict[str, int]:
    """Return words numbers in the order they are met.

    Examples
    --------
    >>> number_words([("a", "b"), ("b", "c")], first=1)
    {'a': 1, 'b': 2, 'c': 3}
    """
    distinct = dict.fromkeys(word for sentence in sentences for word in sentence)
    return dict(zip(distinct, range(first, first + len(distinct)), strict=True))


def lay_out(
    given: Sentences, generated: Sentences, given_numbers: Mapping[str, int], generated_numbers: Mapping[str, int]
) -> Cells:
    """Lay one direction of a bitext out in cells."""
    lengths = np.array([(len(a), len(b)) for a, b in zip(given, generated, strict=True)], dtype=np.int64).reshape(-1, 2)
    words, keys = [_nothing()], [_nothing()]
    for first, second in zip(given, generated, strict=True):
        row = np.array([0, *(given_numbers.get(word, -1) for word in first)], dtype=np.int64)
        column = np.array([generated_numbers.get(word, -1) for word in second], dtype=np.int64)
        across, down = np.tile(row, len(second)), np.repeat(column, len(row))
        words.append(across)
        keys.append(np.where(down < 0, -2, np.where(across < 0, -1, across * len(generated_numbers) + down)))
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum((lengths[:, 0] + 1) * lengths[:, 1])))
    return Cells(lengths[:, 0].copy(), lengths[:, 1].copy(), starts, np.concatenate(keys), np.concatenate(words))


def normalise(
    counts: NDArray[np.float64], given_words: NDArray[np.int64], *, n_given: int, n_generated: int, prior: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Turn expected counts of word pairs into t(generated | given), and what is left for pairs that never met.

    Without a prior this is the maximum of the likelihood. With one it is the variational Bayes of a symmetric Dirichlet prior,
    t = exp ψ(c(f, e) + α) / exp ψ(c(e) + α·V), which keeps rare words from explaining whatever stands beside them (D. Riley and
    D. Gildea 2012, Improving the IBM alignment models using variational Bayes, https://aclanthology.org/P12-2060).

    Parameters
    ----------
    counts : (entry,) float64
    given_words : (entry,) int64
        The given word of each entry.
    n_given, n_generated : int
        Words on each side; the null word is not counted.
    prior : float
        α, or 0.
    """
    totals = np.bincount(given_words, weights=counts, minlength=n_given + 1)
    if prior == 0.0:
        shares: NDArray[Any] = np.divide(counts, totals[given_words], out=np.zeros_like(counts), where=counts > 0.0)
        return shares, np.full(n_given + 1, _NEVER_MET)
    below = digamma(totals + prior * max(n_generated, 1))
    return np.exp(digamma(counts + prior) - below[given_words]), np.exp(digamma(prior) - below)


def _nothing() -> NDArray[np.int64]:
    return np.empty(0, dtype=np.int64)
