"""Small measures, and counts of their comparisons by definition: replicate by replicate, in int64."""

from __future__ import annotations

import functools

import numpy as np

from pipeline.metrics.bleu import Bleu
from pipeline.resampling.draws import draw_units
from pipeline.resampling.measures import Measure


def ratio(sums):
    return 100.0 * (sums[0] / sums[1])


def root_of_products(sums):
    return np.sqrt((sums[0] / sums[1]) * (sums[2] / sums[1]))


def all_pairs(systems):
    return np.stack(np.triu_indices(systems, 1), axis=1).astype(np.int64)


def make_measure(statistics, *, score=ratio, form="ratio", higher=True, pairs=None, keep=None, margin=None, follows=()):
    systems = statistics.shape[1]
    keep = np.zeros(systems, bool) if keep is None else keep
    pairs = all_pairs(systems) if pairs is None else np.asarray(pairs, np.int64).reshape(-1, 2)
    return Measure(np.asarray(statistics, np.int64), score, form, higher, pairs, keep, margin, follows)


def accuracy_statistics(units, systems, seed):
    rng = np.random.default_rng(seed)
    right = rng.random((units, 1)) + 0.3 * rng.normal(size=(units, systems)) < 0.6
    return np.stack([right, np.ones_like(right)], axis=2).astype(np.int64)


def shared_statistics(units, systems, seed, high=9):
    """Numerators over denominators that differ by unit and may be 0, the same for all systems."""
    rng = np.random.default_rng(seed)
    denominators = rng.integers(0, high, (units, 1)) + np.zeros((units, systems), np.int64)
    return np.stack([rng.binomial(denominators, 0.6), denominators], axis=2).astype(np.int64)


def own_statistics(units, systems, seed, width=2):
    """Statistics of which every system has its own, as precision or BLEU."""
    return np.random.default_rng(seed).integers(1, 30, (units, systems, width))


def bleu_measure(units=40, systems=5, seed=2, **options):
    """Measure plausible counts by BLEU; n-gram totals follow the length, and references are shared."""
    rng = np.random.default_rng(seed)
    reference = rng.integers(1, 30, units)
    statistics = np.zeros((units, systems, 10), np.int64)
    for s in range(systems):
        length = np.maximum(1, reference + rng.integers(-3, 3, units))
        statistics[:, s, 0], statistics[:, s, 1] = length, reference
        for k in range(4):
            statistics[:, s, 6 + k] = np.maximum(length - k, 0)
            statistics[:, s, 2 + k] = rng.binomial(statistics[:, s, 6 + k], (0.5 + 0.02 * s) ** (k + 1))
    metric = Bleu(**options)
    follows = tuple(metric.statistics.index(metric.follows[name]) if name in metric.follows else -1 for name in metric.statistics)
    return make_measure(statistics, score=metric.scorer((0,) * 10), form="general", follows=follows)


@functools.lru_cache(maxsize=8)
def samples_of(draws, first, stop):
    """Return the units that each replicate draws, one replicate at a time."""
    return np.stack([draw_units(draws, r) for r in range(first, stop)])


def recount(draws, measure, observed, pair, first, stop):
    """Count one pair by the definitions, a replicate at a time in int64 and float64: a dict of every result."""
    a, b = measure.pairs[pair]
    if observed.delta[pair] < 0:
        a, b = b, a
    samples = samples_of(draws, first, stop)
    sums_a, sums_b = (measure.statistics[:, s][samples].sum(axis=1).T for s in (a, b))
    direction = 1 if measure.higher_is_better else -1
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = direction * (measure.score(sums_a.astype(float)) - measure.score(sums_b.astype(float)))
    defined = np.isfinite(gain)
    delta, se = abs(observed.delta[pair]), observed.se[pair]
    tolerance = 2.0**-40 * (abs(observed.score[a]) + abs(observed.score[b]))
    if measure.form == "ratio" and np.array_equal(measure.statistics[:, a, 1], measure.statistics[:, b, 1]):
        total_a, total_b = measure.statistics[:, a].sum(axis=0).tolist(), measure.statistics[:, b].sum(axis=0).tolist()
        star = [direction * (x - y) for x, y in zip(sums_a[0].tolist(), sums_b[0].tolist(), strict=True)]
        whole = direction * (total_a[0] - total_b[0])
        crossed = [(d * total_a[1], whole * c) for d, c in zip(star, sums_a[1].tolist(), strict=True)]  # Python integers
        order = np.array([[(x > k * y) - (x < k * y) for k in range(3)] for x, y in crossed])
        extreme = np.array([abs(x - y) >= abs(y) for x, y in crossed])
    else:
        away = gain[:, None] - delta * np.arange(3)
        order = np.where(np.abs(away) <= tolerance, 0, np.sign(away))
        extreme = np.abs(gain - delta) >= delta - tolerance
    order, gain = order[defined], gain[defined]
    margins = [-1, -1]
    if measure.margin is not None:
        up, down = 2 * delta + measure.margin, 2 * delta - measure.margin
        margins = [np.sum(gain - up >= -tolerance), np.sum(gain - down <= tolerance)]
    bins = np.floor((gain - delta) / se * 4 + 2.0**-20) + 48 if se > 0 else np.full(len(gain), 48)
    return {
        "counts": [
            np.sum(order[:, 0] < 0), np.sum(order[:, 0] == 0), np.sum(order[:, 1] < 0), np.sum(order[:, 1] == 0),
            np.sum(order[:, 2] == 0), np.sum(order[:, 2] > 0), *margins,
        ],
        "empty": np.sum(~defined),
        "sums": [np.sum(gain - delta), np.sum((gain - delta) ** 2), np.sum(np.abs(gain))],
        "histogram": np.bincount(np.clip(bins, 0, 95).astype(int), minlength=96),
        "two-sided": np.sum(extreme[defined]),
    }  # fmt: skip


def assert_same_bits(one, other, pairs=slice(None), other_pairs=slice(None)):
    for name in ("counts", "sums", "histogram", "empty", "rule"):
        assert getattr(one, name)[pairs].tobytes() == getattr(other, name)[other_pairs].tobytes(), name
