"""Bootstrap-t: against a replicate at a time, every multiset there is, and how often it covers where the percentile does not."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import factorial

import numpy as np
import pytest

from pipeline.inference.intervals.bootstrap_t import BOOTSTRAP_T, bootstrap_t
from pipeline.inference.intervals.replicate_intervals import INTERVAL_REASONS
from pipeline.resampling.draws import Draws, draw_units
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe

HOURS = (3, 5, 7, 18, 43, 85, 91, 98, 100, 130, 230, 487)
"""Between failures of an air-conditioner: Proschan 1963, doi:10.1080/00401706.1963.10490105; example of Davison and Hinkley."""


def ratio(sums):
    return 100.0 * (sums[0] / sums[1])


def make_measure(statistics, *, higher=True, form="ratio", pairs=None):
    systems = statistics.shape[1]
    pairs = np.stack(np.triu_indices(systems, 1), axis=1) if pairs is None else pairs
    return Measure(np.asarray(statistics, np.int64), ratio, form, higher, np.asarray(pairs, np.int64), np.zeros(systems, bool))


def own_denominators(rng, units, systems):
    return rng.integers(1, 30, (units, systems, 2))


def shared_denominators(rng, units, systems):
    c = rng.integers(0, 4, (units, 1)) + np.zeros((units, systems), np.int64)
    return np.stack([rng.binomial(c, 0.6), c], axis=2)


def both(rng, units, systems):
    statistics = shared_denominators(rng, units, systems)
    statistics[:, -1] += rng.integers(0, 3, (units, 2))
    return statistics


def highly_correlated(rng, units, systems):
    base = rng.integers(200_000, 900_000, (units, 1))
    n = base + rng.integers(-250, 251, (units, systems)) + 20 * np.arange(systems)
    assert np.corrcoef(n.T)[0, 1] > 0.999999
    return np.stack([n, np.full_like(n, 10**6)], axis=2)


def linear_error(sample, a, b):
    """The standard error of one gain by the definition: √(n/(n − 1) Σ(u_a − u_b)²)."""
    n = len(sample)
    u = [
        100 * (sample[:, s, 0] - sample[:, s, 0].sum() / sample[:, s, 1].sum() * sample[:, s, 1]) / sample[:, s, 1].sum()
        for s in (a, b)
    ]
    return np.sqrt(n / (n - 1) * np.sum((u[0] - u[1]) ** 2))


def plain_t(statistics, draws, pairs, *, replicates, sign):
    """(pair, replicate) t* and (pair,) t and se, one replicate and pair at a time."""
    samples = [statistics[draw_units(draws, r)] for r in range(replicates)]
    star, t, se = [], [], []
    for first, second in pairs:

        def gain(of, a=first, b=second):
            return sign * (ratio(of[:, a].sum(axis=0)) - ratio(of[:, b].sum(axis=0)))

        own = linear_error(statistics, first, second)
        star.append([(gain(of) - gain(statistics)) / linear_error(of, first, second) for of in samples])
        t.append(gain(statistics) / own)
        se.append(own)
    return np.array(star), np.array(t), np.array(se)


@pytest.mark.parametrize(
    ("make", "accuracy"), [(own_denominators, 1e-12), (shared_denominators, 1e-12), (both, 1e-12), (highly_correlated, 1e-9)]
)
@pytest.mark.parametrize("higher", [True, False])
def test_it_is_the_definition_a_replicate_at_a_time(make, accuracy, higher):
    """Of highly correlated pairs the plain definition is what has fewer digits."""
    statistics = make(np.random.default_rng(3), 25, 4)
    measure, draws, b = make_measure(statistics, higher=higher), Draws(9, 25, 25), 399
    seen = observe(measure)
    found = bootstrap_t(measure, seen, draws=draws, replicates=b, alpha=0.1, methods=BOOTSTRAP_T)
    star, t, se = plain_t(statistics, draws, measure.pairs, replicates=b, sign=1.0 if higher else -1.0)
    q = np.quantile(star, [0.05, 0.95], axis=1)
    one, all_of_them = (found.intervals[name] for name in BOOTSTRAP_T)
    assert (one.reason == 0).all()
    close = {"rtol": accuracy, "atol": accuracy * np.abs(se).max()}
    np.testing.assert_allclose([one.lo, one.hi], [seen.delta - q[1] * se, seen.delta - q[0] * se], **close)
    hits = np.minimum((star >= t[:, None]).sum(axis=1), (star <= t[:, None]).sum(axis=1))
    np.testing.assert_array_equal(found.p["studentised"], np.minimum(1, 2 * (hits + 1) / (b + 1)))
    largest = np.abs(star).max(axis=0)
    factor = np.quantile(largest, 0.9)
    np.testing.assert_allclose([all_of_them.lo, all_of_them.hi], [seen.delta - factor * se, seen.delta + factor * se], **close)
    hits = (largest[:, None] >= np.abs(t)).sum(axis=0)
    np.testing.assert_array_equal(found.p["simultaneous-studentised"], (hits + 1) / (b + 1))


def test_an_interval_and_its_p_say_the_same():
    """Over many gains and seeds: beyond one count at the border, 0 is left out exactly where p ≤ α."""
    rng, alpha, b = np.random.default_rng(12), 0.1, 399
    near = apart = 0
    for seed in range(30):
        c = rng.integers(1, 9, (40, 1)) + np.zeros((40, 6), np.int64)
        n = rng.binomial(c, np.array([0.5, 0.52, 0.55, 0.58, 0.6, 0.65]))
        measure = make_measure(np.stack([n, c], axis=2), higher=bool(seed % 2))
        found = bootstrap_t(measure, observe(measure), draws=Draws(seed, 40, 40), replicates=b, alpha=alpha, methods=BOOTSTRAP_T)
        for name, own in found.intervals.items():
            out = (own.lo > 0) | (own.hi < 0)
            step = (2 if name == "studentised" else 1) / (b + 1)
            border = np.abs(found.p[name] - alpha) <= step + 1e-12
            assert (out == (found.p[name] <= alpha))[~border].all()
            near += border.sum()
            apart += (out & ~border).sum()
    assert apart > 100
    assert near < 60


def test_a_family_leaves_out_who_has_no_interval_and_whom_it_does_not_test():
    rng = np.random.default_rng(2)
    statistics = np.ones((40, 5, 2), np.int64)
    statistics[:, :, 0] = rng.random((40, 5)) < 0.5
    statistics[:, 1] = statistics[:, 0]  # identical
    statistics[:, 2, 0] = statistics[:, 0, 0]
    statistics[:2, 2, 0] ^= 1  # 2 discordant units: 13 % of replicates have neither
    measure = make_measure(statistics)
    given = {"draws": Draws(2, 40, 40), "replicates": 1999, "methods": BOOTSTRAP_T}
    found = bootstrap_t(measure, observe(measure), **given)
    (one, family), pairs = found.intervals.values(), measure.pairs.tolist()
    assert INTERVAL_REASONS[family.reason[pairs.index([0, 1])]] == "identical"
    np.testing.assert_array_equal(one.reason > 0, family.reason > 0)
    wide = family.reason == 0
    assert wide.sum() >= 7
    middle = (one.hi[wide] - one.lo[wide]) < (family.hi[wide] - family.lo[wide])
    assert middle.all()
    assert np.array_equal(np.isnan(found.p["simultaneous-studentised"]), ~wide)
    tested = (measure.pairs == 3).any(axis=1)
    few = bootstrap_t(measure, observe(measure), member=tested, **given).intervals["simultaneous-studentised"]
    assert {INTERVAL_REASONS[code] for code in few.reason[~tested]} >= {"not in the family", "identical"}
    kept = wide & tested
    assert ((few.hi - few.lo)[kept] < (family.hi - family.lo)[kept]).all()
    nobody = bootstrap_t(measure, observe(measure), member=np.zeros(len(pairs), bool), **given)
    assert np.isnan(nobody.intervals["simultaneous-studentised"].lo).all()


def test_what_has_no_interval_says_why():
    statistics = np.ones((40, 4, 2), np.int64)
    statistics[:20, :, 0] = 0
    statistics[:, 1] = statistics[:, 0]  # identical
    statistics[:20, 2, 0] = 1  # 20 discordant
    statistics[:2, 3, 0] = 1  # 2 discordant: 13 % of replicates have neither, and no spread
    measure = make_measure(statistics, pairs=[[0, 1], [0, 2], [0, 3]])
    asked = {"draws": Draws(2, 40, 40), "methods": BOOTSTRAP_T}
    found = bootstrap_t(measure, observe(measure), replicates=2000, **asked)
    for own in found.intervals.values():
        assert [INTERVAL_REASONS[code] for code in own.reason] == ["identical", "", "undefined"]
        assert np.isnan(own.lo).tolist() == np.isnan(own.hi).tolist() == [True, False, True]
    few = bootstrap_t(measure, observe(measure), replicates=38, **asked).intervals
    assert INTERVAL_REASONS[few["studentised"].reason[1]] == "too few replicates"
    other = make_measure(statistics, form="general", pairs=[[0, 2]])
    for own in bootstrap_t(other, observe(other), **asked).intervals.values():
        assert INTERVAL_REASONS[own.reason[0]] == "not a ratio"
    single = make_measure(statistics[:1], pairs=[[0, 2]])
    assert np.isnan(bootstrap_t(single, observe(single), draws=Draws(2, 1, 1), replicates=99).intervals["studentised"].lo).all()
    with pytest.raises(ValueError, match="unknown methods"):
        bootstrap_t(measure, observe(measure), draws=Draws(2, 40, 40), methods=["bca"])
    with pytest.raises(ValueError, match="between 0 and 1"):
        bootstrap_t(measure, observe(measure), draws=Draws(2, 40, 40), alpha=1.0)


def test_a_score_that_is_often_undefined_is_infinitely_far_from_its_family_s_others():
    rng = np.random.default_rng(4)
    statistics = np.stack([rng.integers(0, 9, (12, 4)), rng.integers(1, 9, (12, 4))], axis=2)
    statistics[2:, 3] = 0  # one replicate in nine has neither of its units
    measure = make_measure(statistics)
    seen, asked = observe(measure), {"draws": Draws(2, 12, 12), "replicates": 1999, "methods": BOOTSTRAP_T}
    alone, with_it = bootstrap_t(measure, seen, alpha=0.1, **asked).intervals.values()
    own = (measure.pairs < 3).all(axis=1)
    without = bootstrap_t(measure, seen, alpha=0.1, member=own, **asked).intervals["simultaneous-studentised"]
    assert (without.reason[own] == 0).all()
    assert (alone.reason == 0).all()
    assert (alone.replicates[~own] < 0.9 * 1999).all()
    assert {INTERVAL_REASONS[code] for code in with_it.reason} == {"undefined"}


def test_errors_lost_in_rounding_are_said():
    """Denominators of 44 bits, squares beyond 2^53: a unit moves the difference by one in 2^44, and float64 cannot tell it."""
    rng = np.random.default_rng(2)
    c = rng.integers(2**43, 2**44, 30)
    moved = np.where(np.arange(30) == 7, 2**30, 0)
    statistics = np.stack([np.stack([c // 2, c], axis=1), np.stack([c // 2 - c // 4 + moved, c], axis=1)], axis=1)
    measure = make_measure(statistics)
    found = bootstrap_t(measure, observe(measure), draws=Draws(2, 30, 30), replicates=999).intervals["studentised"]
    assert INTERVAL_REASONS[found.reason[0]] == "rounding"


def every_multiset(values):
    """t* and its probability for each of the multisets of n values out of n: the bootstrap without Monte-Carlo error."""
    n, x = len(values), np.array(values, float)
    counts = np.array([np.bincount(own, minlength=n) for own in combinations_with_replacement(range(n), n)])
    log = np.array([sum(np.log(float(factorial(k))) for k in range(n + 1) if k == c) for c in range(n + 1)])
    chance = np.exp(np.log(float(factorial(n))) - log[counts].sum(axis=1) - n * np.log(n))
    mean = counts @ x / n
    variance = np.maximum(counts @ x**2 / n - mean**2, 0) / (n - 1)
    varied = (counts > 0).sum(axis=1) > 1
    # No single value is the mean: without spread t* is infinite.
    t = np.where(varied, (mean - x.mean()) / np.sqrt(np.where(varied, variance, 1)), np.copysign(np.inf, mean - x.mean()))
    order = np.argsort(t)
    return t[order], chance[order]


def check_every_multiset(values, replicates):
    """An end lies between exact quantiles at levels 5 standard errors to either side: a false alarm in 2e6, twice."""
    t, chance = every_multiset(values)
    assert chance.sum() == pytest.approx(1, abs=1e-9)
    n = len(values)
    statistics = np.ones((n, 2, 2), np.int64)
    statistics[:, 0, 0], statistics[:, 1, 0] = values, 0
    measure = make_measure(statistics)
    seen = observe(measure)
    found = bootstrap_t(measure, seen, draws=Draws(77, n, n), replicates=replicates, alpha=0.1).intervals["studentised"]
    se, below = 100 * np.std(values, ddof=1) / np.sqrt(n), np.cumsum(chance)
    for end, level in ((found.hi[0], 0.05), (found.lo[0], 0.95)):
        slack = 5 * np.sqrt(0.05 * 0.95 / replicates)
        near, far = (t[np.searchsorted(below, level + side * slack)] for side in (-1, 1))
        assert near - 1e-9 <= (seen.delta[0] - end) / se <= far + 1e-9
    return found


def test_it_is_within_monte_carlo_error_of_every_multiset_of_seven():
    check_every_multiset(HOURS[3:10], 40_000)


@pytest.mark.slow
@pytest.mark.statistical
def test_the_air_conditioner():
    """All 1 352 078 multisets of its twelve values; the mean is 108.1 hours, and the interval reaches far to the right."""
    found = check_every_multiset(HOURS, 200_000)
    lo, hi = found.lo[0] / 100, found.hi[0] / 100
    print(f"air-conditioner, 90 %: {lo:.1f} … {hi:.1f} hours")
    assert hi - np.mean(HOURS) > 2 * (np.mean(HOURS) - lo)


def misses(make, n, trials, replicates, seed):
    """How often the whole interval lies above and below the truth, studentised and percentile, of the same replicates."""
    rng, missed = np.random.default_rng(seed), np.zeros((2, 2), int)
    for batch in range(trials // 200):
        values = np.zeros((n, 201), np.int64)
        values[:, :200] = np.round(1e6 * make(rng, (n, 200)))
        statistics = np.stack([values, np.full((n, 201), 10**6)], axis=2)
        measure = make_measure(statistics, pairs=[[system, 200] for system in range(200)])
        draws = Draws(1000 * seed + batch, n, n)
        found = bootstrap_t(measure, observe(measure), draws=draws, replicates=replicates).intervals["studentised"]
        assert (found.reason == 0).all()
        units = np.stack([draw_units(draws, r) for r in range(replicates)])
        star = 100 * np.stack([values[own, :200].mean(axis=0) for own in units]) / 1e6
        lo, hi = np.quantile(star, [0.025, 0.975], axis=0)
        truth = 100.0
        missed += [[(found.lo > truth).sum(), (found.hi < truth).sum()], [(lo > truth).sum(), (hi < truth).sum()]]
    return missed / trials


def gaussian(rng, shape):
    return rng.normal(1, 1, shape)


def exponential(rng, shape):
    return rng.exponential(1, shape)


def test_it_covers_a_gaussian_mean_a_little():
    """400 trials: one standard error of .05 is .011; five of them are exceeded in one of 10^6."""
    share = misses(gaussian, 20, 400, 799, seed=5)[0].sum()
    assert abs(share - 0.052) < 5 * 0.011


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(("make", "n"), [*((gaussian, n) for n in (20, 30, 100)), *((exponential, n) for n in (20, 30, 50, 100))])
def test_coverage(make, n):
    """4000 trials: one standard error of .05 is .0035; the bound is five of them, once in 10^6. Skewed means: nearer to .05 than
    the percentile interval."""
    studentised, percentile = misses(make, n, 4000, 1999, seed=6)
    print(f"{make.__name__} n={n}: studentised {studentised}, percentile {percentile}")
    assert abs(studentised.sum() - 0.05) < 5 * 0.0035
    if make is exponential:
        assert abs(studentised.sum() - 0.05) < abs(percentile.sum() - 0.05)


@pytest.mark.slow
@pytest.mark.statistical
def test_all_intervals_of_a_family_cover_together():
    """Six skewed systems of one truth, 15 pairs, n = 40, 1000 trials: one standard error of .05 is .0069, the bound five."""
    rng, trials, n, missed = np.random.default_rng(8), 1000, 40, np.zeros(1, int)
    for trial in range(trials):
        values = np.round(1e6 * (rng.exponential(1, (n, 6)) + rng.exponential(1, (n, 1)))).astype(np.int64)
        measure = make_measure(np.stack([values, np.full_like(values, 10**6)], axis=2))
        found = bootstrap_t(
            measure, observe(measure), draws=Draws(trial, n, n), replicates=999, methods=["simultaneous-studentised"]
        ).intervals["simultaneous-studentised"]
        missed += bool(((found.lo > 0) | (found.hi < 0)).any())
    print(f"simultaneous-studentised: {missed[0] / trials}")
    assert abs(missed[0] / trials - 0.05) < 5 * 0.0069
