"""Intervals: SciPy on the same resamples, R's figures, the p each belongs to, what is refused, and how often they cover."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from support.mmlu_data import read_mmlu

from pipeline.inference.intervals.compatible_intervals import Wins, compatible_intervals, simultaneous
from pipeline.inference.intervals.replicate_intervals import INTERVAL_REASONS, INVERTED_P, METHODS, bca_levels, intervals
from pipeline.inference.multiple_comparisons.studentised_max_t import studentised_max_t
from pipeline.inference.p_values import CONVENTIONS, p_values
from pipeline.inference.unit_diagnostics.few_units import expected_rejection
from pipeline.resampling.draws import Draws, draw_weights
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample
from pipeline.resampling.standard_errors.influence import leave_one_out, pair_moments

SCIPY = ("percentile", "basic", "bca")
PAIR = np.array([[0, 1]])


def score_ratio(sums):
    return sums[0] / sums[1]


def count(gains, delta):
    """Count as a pass does, by the definitions; of one pair with delta >= 0."""
    sums = [(gains < 0), (gains == 0), (gains < delta), (gains == delta), (gains == 2 * delta), (gains > 2 * delta)]
    return np.array([[*(int(of.sum()) for of in sums), -1, -1]])


def pass_over(statistics, *, replicates, higher=True, seed=5, units=None):
    """One pass of the package over all pairs: what `intervals` needs of it, and the scores that were kept."""
    systems = statistics.shape[1]
    pairs = np.stack(np.triu_indices(systems, 1), axis=1).astype(np.int64)
    measure = Measure(np.asarray(statistics, np.int64), score_ratio, "ratio", higher, pairs, np.ones(systems, bool))
    n = len(statistics)
    counted = resample(
        Draws(seed, n, n), [measure], cells=range(-(-replicates // 2**14)), replicates=replicates, keep_replicates=replicates
    )[0]
    seen = observe(measure)
    moments = pair_moments(leave_one_out(measure.statistics, score_ratio), pairs)
    given_ = {
        "delta": seen.delta,
        "identical": seen.identical,
        "se": seen.se,
        "higher_is_better": higher,
        "acceleration": moments.acceleration,
        "counts": counted.counts.sum(axis=1),
        "defined": replicates - counted.empty.sum(axis=1),
    }
    return counted.score, pairs, given_


def scipy_interval(data, statistic, gains, method, level=0.95, **options):
    """SciPy's interval of given replicates: it draws none of its own."""
    found = stats.bootstrap(
        data,
        statistic,
        paired=len(data) > 1,
        n_resamples=0,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=gains),
        method=method,
        confidence_level=level,
        **options,
    )
    return list(found.confidence_interval)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("higher", [True, False])
def test_scipy_agrees_on_the_same_resamples(level, higher):
    """Four systems with denominators of their own, so that ties are rare and rounded ones rarer."""
    statistics = np.random.default_rng(1).integers(1, 500, (45, 4, 2))
    scores, pairs, given_ = pass_over(statistics, replicates=5000, higher=higher)
    found = intervals(scores, pairs, **given_, alpha=1 - level, methods=SCIPY)
    sign = 1.0 if higher else -1.0

    def gain(n_a, c_a, n_b, c_b, axis):
        return sign * (n_a.sum(axis) / c_a.sum(axis) - n_b.sum(axis) / c_b.sum(axis))

    for row, (a, b) in enumerate(pairs):
        data = tuple(statistics[:, system, which].astype(float) for system in (a, b) for which in (0, 1))
        for method in SCIPY:
            expected = scipy_interval(data, gain, sign * (scores[a] - scores[b]), method, level)
            got = [found[method].lo[row], found[method].hi[row]]
            assert np.allclose(got, expected, rtol=1e-12, atol=1e-12), (method, row)
            assert found[method].reason[row] == 0


@pytest.mark.data
def test_scipy_agrees_on_real_columns_of_zeros_and_ones(data_dir):
    """The same replicates: all three to 1e-12, although most of the quantiles are ties."""
    right = read_mmlu(data_dir, models=5, items=400)
    scores, pairs, given_ = pass_over(np.stack([right, np.ones_like(right)], axis=2), replicates=4000)
    found = intervals(scores, pairs, **given_, methods=SCIPY)
    weights = draw_weights(Draws(5, 400, 400), 0, 4000).astype(np.int64)
    for row, (a, b) in enumerate(pairs):
        difference = right[:, a] - right[:, b]
        for method in SCIPY:
            # Sums of whole numbers divided once: SciPy sees the ties that the counts see.
            expected = scipy_interval((difference.astype(float),), np.mean, (weights @ difference) / 400, method)
            assert np.allclose([found[method].lo[row], found[method].hi[row]], expected, atol=1e-12), (method, row)


@pytest.mark.data
@pytest.mark.statistical
def test_scipy_agrees_on_real_columns_with_its_own_draws(data_dir):
    """Within 6 standard errors of a quantile from two times 9999 replicates, and a step of the lattice: one alarm in 10^7."""
    right, b = read_mmlu(data_dir, models=3, items=400), 9999
    scores, pairs, given_ = pass_over(np.stack([right, np.ones_like(right)], axis=2), replicates=b)
    found = intervals(scores, pairs, **given_, methods=SCIPY)
    z = stats.norm.ppf(0.975)
    # Of a quantile at .025 in units of se; BCa's level moves twice with z0, whose error is √(π/2b), and then some.
    plain = np.sqrt(2 * 0.025 * 0.975 / b) / stats.norm.pdf(z)
    for row, (a, other) in enumerate(pairs):
        difference = (right[:, a] - right[:, other]).astype(float)
        for method in SCIPY:
            expected = stats.bootstrap((difference,), np.mean, n_resamples=b, method=method, rng=11).confidence_interval
            error = np.hypot(plain, 2.5 * np.sqrt(np.pi / b)) if method == "bca" else plain
            got = np.array([found[method].lo[row], found[method].hi[row]])
            assert (np.abs(got - list(expected)) < 6 * error * given_["se"][row] + 1.001 / 400).all(), (method, row)


@pytest.mark.parametrize(("method", "lo", "hi"), [("basic", 23.77, 79.12), ("percentile", 28.86, 84.21), ("bca", 32.31, 91.43)])
@pytest.mark.statistical
def test_the_figures_of_r_are_met(method, lo, hi):
    """R's ``boot.ci`` of a mean, b = 10^6, as SciPy's own tests quote it, to their tolerance of .5 %.

    R's draws and ours err by .05 % at most (one standard error, of the upper end): no alarm in 10^10.
    """
    ten_times = [100, 120, 125, 125, 139, 150, 210, 220, 230, 340, 500, 810, 890, 1210, 1340, 2130]
    statistics = np.stack([np.stack([ten_times, np.zeros(16)]), np.full((2, 16), 10.0)]).transpose(2, 1, 0)
    scores, pairs, given_ = pass_over(statistics, replicates=1_000_000)
    found = intervals(scores, pairs, **given_, methods=[method])[method]
    assert [found.lo[0], found.hi[0]] == pytest.approx([lo, hi], rel=0.005)


def decide(gains, delta, alpha, methods=METHODS, other=0.0):
    """Intervals of one pair whose replicates are given: (lo, hi) by method."""
    found = intervals(
        np.stack([gains + other, np.full(len(gains), other)]),
        PAIR,
        delta=np.array([delta]),
        identical=np.array([False]),
        se=np.ones(1),
        alpha=alpha,
        methods=[method for method in methods if method != "bca"],
    )
    return {name: (one.lo[0], one.hi[0]) for name, one in found.items()}


@given(
    seed=st.integers(0, 2**31),
    b=st.integers(60, 400),
    delta=st.integers(1, 12),
    width=st.floats(0.5, 12),
    alpha=st.sampled_from([0.05, 0.1, 0.2, 0.37]),
    unit=st.sampled_from([1.0, 0.1, 1 / 7]),
)
@settings(max_examples=300, deadline=None)
def test_an_interval_leaves_zero_out_where_its_p_is_at_most_alpha(seed, b, delta, width, alpha, unit):
    """The statement of `INVERTED_P`, where ties with 0, δ and 2δ are the rule, and counted without the rounding of scores."""
    gains = np.round(np.random.default_rng(seed).normal(delta, width, b))
    ends = decide(gains * unit, delta * unit, alpha, other=50 * unit)
    counted = p_values(
        count(gains, delta), np.array([b]), delta=np.array([float(delta)]), identical=np.array([False]), sums=np.zeros((1, 3))
    )
    for method, inversion in INVERTED_P.items():
        if inversion is None:
            continue
        level = inversion.share * alpha
        h = level * (b - 1)
        for convention in inversion.conventions:
            hits = counted.hits[CONVENTIONS.index(convention), 0]
            counts_ties = convention in ("two-sided", "at-or-below-zero")
            out = ends[method][0] > 0 or (not counts_ties and ends[method][0] == 0)
            if hits <= np.floor(h + 1e-9) and abs(h - round(h)) > 1e-9:
                assert out, (method, convention)
            if hits > np.ceil(h - 1e-9):
                assert not out, (method, convention)
            p = hits / b
            if abs(level * b - round(level * b)) < 1e-9 and abs(p - level) > 1e-9:
                assert out == (p < level), (method, convention)
    # The basic interval has 0 outside, ends included, where ties count.
    hits = int((gains >= 2 * delta).sum())
    if abs(hits - alpha / 2 * (b - 1)) >= 1:
        assert (ends["basic"][0] > 0) == (hits < alpha / 2 * (b - 1))


@pytest.mark.parametrize(("tenth", "out"), [(1.0, True), (2.0, True), (30.0, False)])
def test_at_p_equal_to_alpha_the_interpolation_decides(tenth, out):
    """b = 200, α = .05, h = 9.95, ten hits: the half width is .05 of the tenth largest distance and .95 of the eleventh."""
    gains = 1.0 + np.concatenate([np.full(9, 30.0), [tenth, 0.9], np.zeros(189)])
    assert (np.abs(gains - 1.0) >= 1.0).sum() == 10
    lo, hi = decide(gains, 1.0, 0.05)["symmetric"]
    assert hi - 1.0 == pytest.approx(0.05 * tenth + 0.95 * 0.9)
    assert (lo > 0) == out


@pytest.mark.parametrize("higher", [True, False])
def test_swapping_the_systems_mirrors_every_interval(higher):
    statistics = np.random.default_rng(2).integers(1, 60, (30, 4, 2))
    scores, pairs, given_ = pass_over(statistics, replicates=3000, higher=higher)
    swapped = given_ | {"delta": -given_["delta"], "acceleration": -given_["acceleration"]}
    one, other = intervals(scores, pairs, **given_), intervals(scores, pairs[:, ::-1], **swapped)
    for method in METHODS:
        assert other[method].lo.tobytes() == (-one[method].hi).tobytes()
        assert other[method].hi.tobytes() == (-one[method].lo).tobytes()
        assert (one[method].lo < given_["delta"]).all()
        assert (one[method].hi > given_["delta"]).all()


def test_lower_is_better_is_the_same_as_negated_scores():
    statistics = np.random.default_rng(3).integers(1, 60, (30, 3, 2))
    scores, pairs, given_ = pass_over(statistics, replicates=2000, higher=False)
    negated = given_ | {"higher_is_better": True, "acceleration": -given_["acceleration"]}
    one, other = intervals(scores, pairs, **given_), intervals(-scores, pairs, **negated)
    for method in METHODS:
        assert one[method].lo.tobytes() == other[method].lo.tobytes()


def reasons(found):
    return {method: INTERVAL_REASONS[one.reason[0]] for method, one in found.items()}


def one_pair(gains, delta=1.0, *, identical=False, se=1.0, acceleration=0.0, counts=None, alpha=0.05):
    defined = np.asarray(gains)[~np.isnan(gains)]
    return intervals(
        np.stack([gains, np.zeros(len(gains))]),
        PAIR,
        delta=np.array([delta]),
        identical=np.array([identical]),
        se=np.array([se]),
        acceleration=np.array([acceleration]),
        counts=count(defined, delta) if counts is None else counts,
        defined=np.array([len(defined)]),
        alpha=alpha,
    )


def test_what_has_no_interval_says_why():
    gains = np.random.default_rng(4).normal(1, 1, 500)
    assert reasons(one_pair(gains)) == dict.fromkeys(METHODS, "")
    for expected, odd in {
        "identical": {"gains": np.zeros(500), "delta": 0.0, "identical": True, "se": 0.0, "acceleration": np.nan},
        "undefined": {"gains": np.full(500, np.nan), "acceleration": np.nan},
        "no standard error": {"gains": np.ones(500), "se": np.nan, "acceleration": np.nan},
        "no spread": {"gains": np.ones(500), "se": 1e-17, "acceleration": np.nan},
        "too few replicates": {"gains": gains[:18]},
    }.items():
        found = one_pair(**odd)
        assert reasons(found) == dict.fromkeys(METHODS, expected)
        assert all(np.isnan(one.lo).all() and np.isnan(one.hi).all() for one in found.values())
    assert reasons(one_pair(gains, np.nan, counts=count(gains, 1.0))) == dict.fromkeys(METHODS, "undefined")


def test_the_symmetric_interval_needs_half_the_replicates():
    """One replicate must lie beyond the quantile: 19 for α in one tail, 39 for α/2."""
    gains = np.random.default_rng(4).normal(1, 1, 39)
    assert set(reasons(one_pair(gains)).values()) <= {"", "too few replicates"}
    assert reasons(one_pair(gains))["percentile"] == ""
    assert reasons(one_pair(gains[:38]))["percentile"] == reasons(one_pair(gains[:38]))["basic"] == "too few replicates"
    assert reasons(one_pair(gains[:19]))["symmetric"] == ""
    assert reasons(one_pair(gains[:18]))["symmetric"] == "too few replicates"


def test_bca_alone_is_refused_where_its_corrections_are_undefined():
    gains = np.random.default_rng(4).normal(1, 1, 500)
    above, below = np.array([[0, 0, 0, 0, 0, 0, -1, -1]]), np.array([[0, 0, 500, 0, 0, 0, -1, -1]])
    for odd in ({"acceleration": np.nan}, {"acceleration": 0.6}, {"acceleration": -0.6}, {"counts": above}, {"counts": below}):
        found = reasons(one_pair(gains, **odd))
        assert found == dict.fromkeys(METHODS, "") | {"bca": "no correction"}
    # A level that the correction moves beyond the last replicate.
    assert reasons(one_pair(gains[:60], acceleration=0.2))["bca"] == "too few replicates"


def test_empty_replicates_are_left_out():
    gains = np.random.default_rng(5).normal(1, 1, 400)
    some = np.concatenate([gains[:100], [np.nan] * 50, gains[100:]])
    one, other = one_pair(gains), one_pair(some)
    for method in METHODS:
        assert (one[method].lo[0], one[method].hi[0]) == (other[method].lo[0], other[method].hi[0])
        assert other[method].replicates.tolist() == [400]


def test_corrections_come_from_all_replicates_and_quantiles_from_the_kept_ones():
    """z0 is read off the counts of the pass: keeping fewer replicates leaves the levels as they are."""
    statistics = np.random.default_rng(6).integers(1, 60, (25, 3, 2))
    scores, pairs, given_ = pass_over(statistics, replicates=6000)
    turned = np.where(given_["delta"] < 0, -given_["acceleration"], given_["acceleration"])
    levels = bca_levels(given_["counts"], given_["defined"], acceleration=turned, alpha=0.05)
    found = intervals(scores[:, :1000], pairs, **given_)["bca"]
    for row, (a, b) in enumerate(pairs):
        sign = -1.0 if given_["delta"][row] < 0 else 1.0
        ends = np.quantile(sign * (scores[a] - scores[b])[:1000], levels[row])
        assert sorted(sign * ends) == [found.lo[row], found.hi[row]]


def test_what_is_missing_or_unknown_is_refused():
    given_ = {"delta": np.ones(1), "identical": np.zeros(1, bool), "se": np.ones(1)}
    with pytest.raises(ValueError, match="bca needs acceleration"):
        intervals(np.zeros((2, 50)), PAIR, **given_)
    with pytest.raises(ValueError, match="unknown methods of intervals: bayes"):
        intervals(np.zeros((2, 50)), PAIR, **given_, methods=["bayes"])
    with pytest.raises(ValueError, match="alpha is between 0 and 1, not 5"):
        intervals(np.zeros((2, 50)), PAIR, **given_, alpha=5, methods=["basic"])
    with pytest.raises(ValueError, match="there are 1 pairs"):
        intervals(np.zeros((2, 50)), PAIR, **(given_ | {"se": np.ones(2)}), methods=["basic"])


def family_of(units, systems, seed, higher=True, replicates=1999, member=None):
    rng = np.random.default_rng(seed)
    graded = np.rint(64 * (rng.normal(size=(units, 1)) + rng.normal(size=(units, systems)) + np.linspace(0, 0.8, systems)))
    statistics = np.stack([graded, np.ones_like(graded)], axis=2).astype(np.int64)
    statistics[:, -1] = statistics[:, 0]
    pairs = np.stack(np.triu_indices(systems, 1), axis=1).astype(np.int64)
    measure = Measure(statistics, score_ratio, "ratio", higher, pairs, np.ones(systems, bool))
    seen, draws = observe(measure), Draws(seed, units, units)
    scores = resample(draws, [measure], cells=range(1), replicates=replicates, keep_replicates=replicates)[0].score
    return studentised_max_t(measure, seen, draws=draws, scores=scores, floor=np.zeros(len(pairs)), member=member), seen


@pytest.mark.parametrize("higher", [True, False])
def test_simultaneous_intervals_leave_zero_out_where_a_single_step_separates(higher):
    """What max-T reports steps down; (#(largest ≥ t) + 1)/(b + 1) ≤ α is its first step, of all pairs."""
    max_t, seen = family_of(80, 6, 1, higher)
    found = simultaneous(max_t, seen)
    there = found.reason == 0
    t = np.abs(seen.delta[there]) / max_t.se[there]
    p = ((max_t.largest[:, None] >= t).sum(axis=0) + 1) / 2000
    assert 1 <= (p <= 0.05).sum() < len(p)
    assert (((found.lo > 0) | (found.hi < 0))[there] == (p <= 0.05)).all()
    assert (max_t.p[there][p <= 0.05] <= 0.05).all()
    np.testing.assert_allclose((found.lo + found.hi)[there] / 2, seen.delta[there], atol=1e-9)
    assert [INTERVAL_REASONS[code] for code in found.reason[~there]] == ["identical"]  # the last system is a copy of the first


def test_simultaneous_intervals_say_why_there_is_none():
    assert INTERVAL_REASONS[simultaneous(*family_of(40, 3, 1, replicates=18)).reason[0]] == "too few replicates"
    member = np.array([True, True, False, False, False, False])
    max_t, seen = family_of(40, 4, 1, member=member)
    why = [INTERVAL_REASONS[code] for code in simultaneous(max_t, seen).reason]
    assert why == ["", "", "identical", "not in the family", "not in the family", "not in the family"]
    lost = replace(max_t, largest=np.append(max_t.largest[:-200], np.full(200, np.inf)))
    assert INTERVAL_REASONS[simultaneous(lost, seen).reason[0]] == "undefined"


def coverage(draw, truth, *, n, trials, b, seed):
    """Misses on either side of each method, of trials that are systems against one that always scores 0."""
    missed = {method: np.zeros(2, int) for method in METHODS}
    rng, batch = np.random.default_rng(seed), 250
    for _ in range(trials // batch):
        values = draw(rng, (batch, n))
        weights = draw_weights(Draws(int(rng.integers(2**60)), n, n), 0, b).astype(np.float64)
        gains, means = values @ weights.T / n, values.mean(axis=1)
        without = np.concatenate([(values.sum(axis=1, keepdims=True) - values) / (n - 1), np.zeros((1, n))])
        pairs = np.stack([np.arange(batch), np.full(batch, batch)], axis=1)
        moments = pair_moments(without, pairs)
        behind = means < 0
        below = ((gains < means[:, None]) != behind[:, None]).sum(axis=1)
        counts = np.zeros((batch, 8), np.int64)
        counts[:, 2] = below
        found = intervals(
            np.concatenate([gains, np.zeros((1, b))]), pairs, delta=means, identical=np.zeros(batch, bool), se=moments.se,
            acceleration=moments.acceleration, counts=counts, defined=np.full(batch, b),
        )  # fmt: skip
        for method, one in found.items():
            assert (one.reason == 0).all()
            missed[method] += [(one.lo > truth).sum(), (one.hi < truth).sum()]
    return {method: of / trials for method, of in missed.items()}


def check_gaussian(n, trials, b, seed):
    """Of a Gaussian mean all four miss as often as the theory has it, but for 5 binomial standard errors and .006."""
    missed = coverage(lambda rng, shape: rng.normal(0.3, 1.0, shape), 0.3, n=n, trials=trials, b=b, seed=seed)
    expected = expected_rejection(n)
    tolerance = 5 * np.sqrt(expected * (1 - expected) / trials) + 0.006
    for method, sides in missed.items():
        print(f"Gaussian n={n} {method}: misses {sides.sum():.4f}, expected {expected:.4f} ± {tolerance:.4f}; {sides}")
        assert abs(sides.sum() - expected) < tolerance, method


@pytest.mark.statistical
def test_intervals_of_a_gaussian_mean_cover_as_often_as_said():
    """False-alarm chance 4 · 6e-7 (5 standard errors); .006 is for b = 1000 and for levels shared by 250 trials."""
    check_gaussian(30, 1000, 1000, 7)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("n", [30, 100])
def test_coverage_of_a_gaussian_and_of_a_skewed_mean(n):
    """4000 trials: one standard error of a rate of .06 is .0038; false-alarm chance about 1e-6 a comparison."""
    trials = 4000
    check_gaussian(n, trials, 8192, 17)
    missed = coverage(lambda rng, shape: rng.exponential(1.0, shape) - 0.5, 0.5, n=n, trials=trials, b=8192, seed=18)
    for method, (above, under) in missed.items():
        print(f"exponential n={n} {method}: lo above the truth {above:.4f}, hi below it {under:.4f}, together {above + under:.4f}")
    # A mean of skewed values is missed on the side of the long tail, most by basic, least by BCa.
    uneven = {method: under - above for method, (above, under) in missed.items()}
    assert uneven["basic"] > uneven["percentile"] > uneven["bca"]
    assert missed["bca"].sum() < missed["percentile"].sum() + 5 * np.sqrt(0.06 / trials)


def test_an_interval_of_wins_beyond_all_levels_is_the_widest_that_has_one() -> None:
    """2Φ(−z) is 0 in a float from z = 39 on, and would have no interval."""
    wins = Wins(np.array([6]), np.array([0.01]), 100)
    widest, beyond, further = (
        compatible_intervals(
            np.array([0.04]), np.array([0.02]), critical=3.0, critical_of_wins=z, separated=np.array([False]), wins=wins
        )
        for z in (37.0, 60.0, 1e6)
    )
    assert widest.by_wins.all()
    assert -1 <= widest.lo[0] < widest.hi[0] <= 1
    for found in (beyond, further):
        assert (found.lo[0], found.hi[0]) == (widest.lo[0], widest.hi[0])
