"""Small measures for procedures that draw nothing."""

from __future__ import annotations

import numpy as np

from pipeline.metrics.bleu import Bleu
from pipeline.resampling.measures import Measure


def percent(sums):
    return 100.0 * (sums[0] / sums[1])


def all_pairs(systems):
    return np.stack(np.triu_indices(systems, 1), axis=1).astype(np.int64)


def make_measure(statistics, *, score=percent, form="ratio", higher=True, pairs=None):
    statistics = np.asarray(statistics, np.int64)
    systems = statistics.shape[1]
    pairs = all_pairs(systems) if pairs is None else np.asarray(pairs, np.int64).reshape(-1, 2)
    return Measure(statistics, score, form, higher, pairs, np.zeros(systems, bool))


def over(numerators, denominators=None):
    """Put (unit, system) numerators over (unit,) denominators, 1 if not given."""
    numerators = np.asarray(numerators, np.int64)
    denominators = np.ones(len(numerators), np.int64) if denominators is None else np.asarray(denominators)
    return np.stack([numerators, np.broadcast_to(denominators[:, None], numerators.shape)], axis=2)


def coins(wins, losses, units):
    """Return 0/1 scores of two systems: so many units won by the first, so many by the second."""
    return over(np.repeat([[1, 0], [0, 1], [1, 1]], [wins, losses, units - wins - losses], axis=0))


def bleu_measure(units, seed, step, systems=3):
    """Measure plausible n-gram counts of systems that differ by ``step`` in how often a word is right."""
    rng = np.random.default_rng(seed)
    reference, ease = rng.integers(5, 40, units), 0.06 * rng.normal(size=units)
    statistics = np.zeros((units, systems, 10), np.int64)
    for s in range(systems):
        length = np.maximum(1, reference + rng.integers(-3, 3, units))
        statistics[:, s, 0], statistics[:, s, 1] = length, reference
        for k in range(4):
            statistics[:, s, 6 + k] = np.maximum(length - k, 0)
            chance = np.clip(0.5 + step * s + ease, 0.05, 0.95) ** (k + 1)
            statistics[:, s, 2 + k] = rng.binomial(statistics[:, s, 6 + k], chance)
    return make_measure(statistics, score=Bleu().scorer((0,) * 10), form="general")


def f1_measure(units, seed, systems=3):
    """Measure F1 of made-up chunks: twice the hits over gold plus predicted, a denominator of each system's own."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 5, (units, 1)) + np.zeros((units, systems), np.int64)
    predicted = np.maximum(gold + rng.integers(-1, 2, (units, systems)), 0)
    hits = rng.binomial(np.minimum(gold, predicted), np.linspace(0.7, 0.85, systems))
    return make_measure(np.stack([2 * hits, gold + predicted], axis=2))
