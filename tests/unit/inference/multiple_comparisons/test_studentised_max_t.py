"""Studentised step-down max-T: against plain NumPy, a replicate and pair at a time, and what a further system cannot do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from scipy.stats import t as student

from pipeline.inference.direct.exact import sign_flips_of_few
from pipeline.inference.multiple_comparisons.studentised_max_t import studentised_max_t
from pipeline.inference.unit_diagnostics.few_units import evidence_floor
from pipeline.resampling.address import cell_bounds
from pipeline.resampling.draws import Draws, draw_units
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample
from pipeline.resampling.strata import StratifiedDraws, draw_stratified_units

B = 499


def ratio(sums):
    return 10.0 * (sums[0] / sums[1])


def harmonic(sums):
    """A score that is no ratio: 2PR/(P + R) of three sums, as an F1."""
    return 2.0 * sums[0] / (sums[1] + sums[2])


def ratios(rng, units, systems):
    c = rng.integers(1, 9, (units, 1)) + np.zeros((units, systems), np.int64)
    return np.stack([rng.binomial(c, np.linspace(0.45, 0.7, systems)), c], axis=2)


def f1s(rng, units, systems):
    gold = rng.integers(2, 9, (units, 1)) + np.zeros((units, systems), np.int64)
    found = rng.integers(2, 9, (units, systems))
    return np.stack([rng.binomial(np.minimum(gold, found), np.linspace(0.6, 0.9, systems)), gold, found], axis=2)


accuracy = lambda sums: 10.0 * (sums[0] / sums[1])  # noqa: E731 - not the same object as `ratio`: its units score 0 or 1


def right(rng, units, systems):
    """Answers that are right or wrong: all systems give the same to many units, and two differ on one."""
    first, anew = rng.random((units, 1)) < 0.6, rng.random((units, systems)) < np.linspace(0.1, 0.6, systems)
    own = np.where(anew, rng.random((units, systems)) < np.linspace(0.4, 0.9, systems), first).astype(np.int64)
    own[:, 1] = own[:, 0]
    own[0, 1] ^= 1
    return np.stack([own, np.ones_like(own)], axis=2)


def measure_of(statistics, score, *, higher=True, stratum=None):
    systems = statistics.shape[1]
    pairs = np.stack(np.triu_indices(systems, 1), axis=1)
    form = "ratio" if score in (ratio, accuracy) else "general"
    return Measure(np.asarray(statistics, np.int64), score, form, higher, pairs, np.ones(systems, bool), stratum=stratum)


def decide(measure, draws, *, member=None, replicates=B, exact=True, **options):
    seen = observe(measure)
    cells = range(-(-replicates // cell_bounds(0, 10**9)[1]))
    scores = resample(draws, [measure], cells=cells, replicates=replicates, keep_replicates=replicates)[0].score
    flips = sign_flips_of_few(measure, seen) if exact else None
    floor = evidence_floor(seen.discordant, flips)
    return studentised_max_t(measure, seen, draws=draws, scores=scores, floor=floor, member=member, **options), floor


def jackknife(statistics, score):
    """(system, unit) influence values, such that n/(n − 1) Σ(u − mean u)² is the squared standard error."""
    n = len(statistics)
    without = np.array(
        [[score(np.delete(statistics[:, s], i, axis=0).sum(axis=0)) for i in range(n)] for s in range(statistics.shape[1])]
    )
    return -(without - without.mean(axis=1, keepdims=True)) * (n - 1) / n


def linear(statistics):
    n, c = statistics[:, :, 0].T, statistics[:, :, 1].T
    total = c.sum(axis=1, keepdims=True)
    return 10.0 * (n - n.sum(axis=1, keepdims=True) / total * c) / total


def plain_p(statistics, score, units_of, pairs, *, floor, stratum=None):
    """Step-down max-T by its definition, and p of each pair by itself."""
    groups = np.zeros(len(statistics), int) if stratum is None else stratum

    def error(u, group):
        total = 0.0
        for h in np.unique(group):
            own = u[group == h]
            total += len(own) / (len(own) - 1) * ((own - own.mean()) ** 2).sum() if len(own) > 1 else 0.0
        return np.sqrt(total)

    fixed = None if score in (ratio, accuracy) else jackknife(statistics, score)
    t, star, exact = [], [], np.full(len(pairs), np.nan)
    for k, (a, b) in enumerate(pairs):
        u = linear(statistics) if fixed is None else fixed
        se = error(u[a] - u[b], groups)
        delta = score(statistics[:, a].sum(axis=0)) - score(statistics[:, b].sum(axis=0))
        m = np.any(statistics[:, a] != statistics[:, b], axis=1).sum()
        row = []
        for units in units_of:
            of = statistics[units]
            v = linear(of) if fixed is None else fixed[:, units]
            gain = score(of[:, a].sum(axis=0)) - score(of[:, b].sum(axis=0))
            own = error(v[a] - v[b], groups[units])
            row.append(abs(gain - delta) / own if own > 1e-9 * se else np.inf)
        own = np.sort(row)[::-1]

        def reached_in(share, own=own):
            allowed = int(share * (len(own) + 1)) - 1
            return np.inf if allowed < 0 else own[allowed] * (1 + 1e-7) if allowed < len(own) else 0.0

        if m < 20 and score is accuracy:
            right = statistics[:, [a, b], 0]
            won = max((right[:, 0] > right[:, 1]).sum(), (right[:, 0] < right[:, 1]).sum())
            exact[k] = min(1.0, 2 * binom.sf(won - 1, m, 0.5))
            chance = np.array([law(won, m - won, len(statistics), least) for least in row])
            t.append(student.isf(exact[k] / 2, len(statistics) - 1))
            star.append(student.isf(np.maximum(chance, 2.0 ** (1 - m)) / 2, len(statistics) - 1) * (1 + 1e-12))
            continue
        t.append(min(abs(delta) / se, reached_in(floor[k]) if m < 20 else np.inf))
        star.append(np.minimum(row, reached_in(2.0 ** (1 - m)) if m < 20 else np.inf))
    t, star = np.array(t), np.array(star)
    order = np.argsort(-t, kind="stable")
    p, worst = np.empty(len(t)), 0.0
    for place, j in enumerate(order):
        reached = star[order[place:]].max(axis=0) >= t[j] - 1e-9
        worst = max(worst, (reached.sum() + 1) / (star.shape[1] + 1))
        p[j] = worst
    alone = ((star >= t[:, None] - 1e-9).sum(axis=1) + 1) / (star.shape[1] + 1)
    return np.fmax(p, exact), np.where(np.isnan(exact), alone, exact)


def law(wins, losses, n, least):
    """The chance that |t*| of a resample of n units is as large: of how many wins are drawn, and of the rest how many losses."""
    w, l = np.indices((n + 1, n + 1))  # noqa: E741
    chance = binom.pmf(w, n, wins / n) * binom.pmf(l, n - w, losses / (n - wins) if losses else 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(w - l - (wins - losses)) / np.sqrt((w + l - (w - l) ** 2 / n) * n / (n - 1))
    return chance[(np.nan_to_num(t, nan=np.inf) >= least - 1e-9) & (chance > 0)].sum()


@pytest.mark.parametrize(("make", "score"), [(ratios, ratio), (f1s, harmonic), (right, accuracy)])
@pytest.mark.parametrize(("higher", "n"), [(True, 30), (False, 30), (True, 12)])
def test_it_is_the_definition_a_replicate_and_pair_at_a_time(make, score, higher, n):
    """Of twelve units all pairs have caps."""
    statistics = make(np.random.default_rng(2), n, 4)
    measure, draws = measure_of(statistics, score, higher=higher), Draws(5, n, n)
    found, floor = decide(measure, draws)
    units = [draw_units(draws, r) for r in range(B)]
    p, alone = plain_p(statistics, score, units, measure.pairs, floor=floor)
    np.testing.assert_allclose(found.p, p, atol=1e-12)
    np.testing.assert_allclose(found.alone, alone, atol=1e-12)
    assert 1 / (B + 1) < found.p.min() < 0.32
    assert (found.alone <= found.p).all()
    assert (found.alone < found.p).any()
    assert found.replicates == B


@pytest.mark.parametrize(("make", "score"), [(ratios, ratio), (f1s, harmonic)])
def test_within_strata_spread_is_that_within_strata(make, score):
    rng = np.random.default_rng(4)
    statistics, stratum = make(rng, 24, 3), np.repeat(np.arange(4), 6)
    statistics[:, :, 0] += stratum[:, None] // 2  # strata differ: forgotten, se would be too large
    draws = StratifiedDraws(5, stratum)
    measure = measure_of(statistics, score, stratum=stratum)
    found, floor = decide(measure, draws)
    units = [np.sort(draw_stratified_units(draws, r)) for r in range(B)]
    plain, _ = plain_p(statistics, score, units, measure.pairs, stratum=stratum, floor=floor)
    np.testing.assert_allclose(found.p, plain, atol=1e-12)


def near_copies(rng, units):
    """Three systems, a copy of the first but for three units, and one whose scores are often undefined."""
    statistics = np.ones((units, 5, 2), np.int64)
    statistics[:, :3, 0] = rng.random((units, 3)) < np.array([0.45, 0.6, 0.8])
    statistics[:, 3] = statistics[:, 0]
    statistics[:3, 3, 0] ^= 1
    statistics[:, 4, 0] = rng.random(units) < 0.5
    statistics[3:, 4] = 0
    return statistics


@pytest.mark.parametrize("seed", range(12))
def test_a_further_system_never_lowers_a_p(seed):
    rng, units = np.random.default_rng(seed), 40
    statistics = near_copies(rng, units) if seed % 2 else f1s(rng, units, 5)
    score, draws = (ratio if seed % 2 else harmonic), Draws(seed, units, units)
    before = {}
    for systems in range(2, 6):
        measure = measure_of(statistics[:, :systems], score)
        p = decide(measure, draws)[0].p
        now = {tuple(pair): own for pair, own in zip(measure.pairs.tolist(), p, strict=True)}
        assert all(now[pair] >= own for pair, own in before.items())
        before = now


def test_a_near_copy_or_a_score_that_is_often_undefined_does_not_blind_the_family():
    """Every replicate without one of the three units that differ has no t*: 4 of 100 at 100 units, and 5 of 100 no score."""
    statistics = near_copies(np.random.default_rng(3), 100)
    measure = measure_of(statistics, ratio)
    found, floor = decide(measure, Draws(1, 100, 100), replicates=1999)
    p = {tuple(pair): own for pair, own in zip(measure.pairs.tolist(), found.p, strict=True)}
    assert p[0, 2] < 0.01
    assert max(p[0, 3], floor[measure.pairs.tolist().index([0, 3])]) >= 0.25
    assert p[0, 4] > 0.05


@pytest.mark.parametrize(("make", "score"), [(f1s, harmonic), (right, accuracy)])
def test_neither_memory_nor_the_order_of_pairs_changes_a_number(make, score):
    statistics = make(np.random.default_rng(8), 40, 6)
    measure, draws = measure_of(statistics, score), Draws(3, 40, 40)
    found, small = decide(measure, draws)[0], decide(measure, draws, memory_bytes=2**14)[0]
    np.testing.assert_array_equal(found.p, small.p)
    np.testing.assert_array_equal(found.largest, small.largest)
    turned = Measure(statistics, score, measure.form, True, measure.pairs[::-1].copy(), np.ones(6, bool))
    np.testing.assert_array_equal(decide(turned, draws)[0].p[::-1], found.p)


def test_pairs_outside_the_family_are_not_looked_at():
    statistics = ratios(np.random.default_rng(8), 40, 5)
    measure, draws = measure_of(statistics, ratio), Draws(3, 40, 40)
    member = (measure.pairs == 1).any(axis=1)
    some, every = decide(measure, draws, member=member)[0], decide(measure, draws)[0]
    assert np.isnan(some.p[~member]).all()
    assert (some.p[member] <= every.p[member]).all()
    assert (some.p[member] < every.p[member]).any()


def test_one_pair_has_the_p_of_the_symmetric_bootstrap_t():
    statistics = ratios(np.random.default_rng(1), 25, 2)
    measure, draws = measure_of(statistics, ratio), Draws(3, 25, 25)
    found = decide(measure, draws, exact=False)[0]
    u = linear(statistics)
    delta = ratio(statistics[:, 0].sum(axis=0)) - ratio(statistics[:, 1].sum(axis=0))
    t = abs(delta) / np.sqrt(25 / 24 * ((u[0] - u[1]) ** 2).sum())
    star = []
    for r in range(B):
        of = statistics[draw_units(draws, r)]
        v = linear(of)
        gain = ratio(of[:, 0].sum(axis=0)) - ratio(of[:, 1].sum(axis=0))
        star.append(abs(gain - delta) / np.sqrt(25 / 24 * ((v[0] - v[1]) ** 2).sum()))
    assert found.p[0] == pytest.approx((np.sum(np.array(star) >= t) + 1) / (B + 1), abs=1e-12)
    assert found.se[0] == pytest.approx(abs(delta) / t)
    np.testing.assert_allclose(found.largest, np.sort(star), rtol=1e-10, atol=1e-12)
