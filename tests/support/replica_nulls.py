"""Small sets of replicas, and every null computed by its definition."""

from __future__ import annotations

import numpy as np

from pipeline.resampling.draws import Draws, draw_units
from pipeline.resampling.replicas.outputs import Replicas
from pipeline.resampling.replicas.permutations import draw_permutations, draw_runs
from pipeline.resampling.replicas.shuffles import draw_shuffle
from pipeline.resampling.swaps import draw_swap


def ratio(sums):
    return 100.0 * (sums[0] / sums[1])


def root_of_products(sums):
    return np.sqrt((sums[0] / sums[1]) * (sums[2] / sums[1]))


def all_pairs(systems):
    return np.stack(np.triu_indices(systems, 1), axis=1).astype(np.int64)


def make_replicas(runs, units, *, kind="general", seed=1, higher=True, pairs=None):
    """Statistics of a linear ratio (shared denominators), of a ratio with own ones, or of a score that is no ratio."""
    rng = np.random.default_rng(seed)
    shared = rng.integers(1, 6, units)
    statistics = []
    for many in runs:
        if kind == "linear":
            denominators = np.broadcast_to(shared, (many, units))
            statistics.append(np.stack([rng.binomial(denominators, 0.6), denominators], axis=2))
        else:
            statistics.append(rng.integers(1, 12, (many, units, 2 if kind == "ratio" else 3)))
    score, form = (root_of_products, "general") if kind == "general" else (ratio, "ratio")
    pairs = all_pairs(len(runs)) if pairs is None else np.asarray(pairs, np.int64)
    return Replicas(tuple(array.astype(np.int64) for array in statistics), score, form, higher, pairs)


def mean_score(replicas, runs):
    """Average the scores of (run, unit, statistic) outputs."""
    return np.mean([replicas.score(run.sum(axis=0)[:, None].astype(float))[0] for run in runs])


def pooled_score(replicas, outputs):
    return replicas.score(outputs.sum(axis=0)[:, None].astype(float))[0]


def oriented_arrays(replicas, pair):
    """Return (run, unit, statistic) of the system with the higher score, and of the other."""
    a, b = (replicas.statistics[system] for system in replicas.pairs[pair])
    return (a, b) if mean_score(replicas, a) >= mean_score(replicas, b) else (b, a)


def permuted_gain(null, replicas, a, b, outcome):
    """Return δ° of one outcome of a null's permutation, straight from its definition."""
    runs_a, units = a.shape[:2]
    unit = np.arange(units)
    if null == "per-output":  # (run, unit) bool
        swap = np.asarray(outcome)[:, :, None]
        return mean_score(replicas, np.where(swap, b, a)) - mean_score(replicas, np.where(swap, a, b))
    if null == "r-of-2r":  # (unit, place) slot
        both, dealt = np.concatenate([a, b]), np.concatenate([a, b])
        for u in unit:
            dealt[np.asarray(outcome)[u], u] = both[:, u]
        return mean_score(replicas, dealt[:runs_a]) - mean_score(replicas, dealt[runs_a:])
    if null == "segment-block":  # (unit,) bool
        swap = np.asarray(outcome)[:, None]
        if len(a) == len(b):
            return mean_score(replicas, np.where(swap, b, a)) - mean_score(replicas, np.where(swap, a, b))
        a, b = a.mean(axis=0), b.mean(axis=0)
        return pooled_score(replicas, np.where(swap, b, a)) - pooled_score(replicas, np.where(swap, a, b))
    if null == "multeval":  # (unit, run) bool and permutation
        x, y = np.empty_like(a), np.empty_like(b)
        for u in unit:
            swapped, order = outcome[0][u], np.asarray(outcome[1][u])
            inverse = np.argsort(order)
            for run in range(runs_a):
                x[run, u] = (b if swapped[run] else a)[order[run], u]
                y[run, u] = (a if swapped[run] else b)[inverse[run], u]
        return pooled_score(replicas, x.sum(axis=0)) - pooled_score(replicas, y.sum(axis=0))
    runs_drawn_a, runs_drawn_b, units_drawn = outcome  # crossed
    return mean_score(replicas, a[runs_drawn_a][:, units_drawn]) - mean_score(replicas, b[runs_drawn_b][:, units_drawn])


def draw_outcome(null, key, replicate, runs_a, runs_b, units):
    """Draw the outcome of one replicate from the readable definitions of draws."""
    address = Draws(key, units, units)
    if null == "per-output":
        whole = -(-units // 64) * 64
        return draw_swap(Draws(key, whole * runs_a, whole * runs_a), replicate).reshape(runs_a, whole)[:, :units]
    if null == "r-of-2r":
        return draw_permutations(address, replicate, runs_a + runs_b)
    if null == "segment-block":
        return draw_swap(address, replicate)
    if null == "multeval":
        return draw_shuffle(address, replicate, runs_a)
    first, second = (draw_runs(address, replicate, 1, many, side=side)[0] for side, many in enumerate((runs_a, runs_b)))
    return first, second, draw_units(address, replicate)


def observed_gain(null, replicas, a, b):
    if null == "multeval":
        return pooled_score(replicas, a.sum(axis=0)) - pooled_score(replicas, b.sum(axis=0))
    if null == "segment-block" and len(a) != len(b):
        return pooled_score(replicas, a.mean(axis=0)) - pooled_score(replicas, b.mean(axis=0))
    return mean_score(replicas, a) - mean_score(replicas, b)


def is_hit(null, gain, delta):
    away = abs(gain - delta) if null == "crossed" else abs(gain)
    return away >= abs(delta) - 1e-9 * (1 + abs(delta))
