"""Exact procedures against enumeration: every convention, unequal denominators, few discordant units."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from support import direct_measures as small
from support.enumeration import bootstrap_law, bootstrap_p_values, chance, observed_gain, swap_law

from pipeline.inference.direct.exact import exact_tests
from pipeline.inference.direct.result import LABELS, METHODS, REASONS
from pipeline.inference.p_values import CONVENTIONS
from pipeline.procedures.direct import direct_tests
from pipeline.procedures.registry import PROCEDURES
from pipeline.resampling.exact.budget import Budget
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe

BOOTSTRAP = CONVENTIONS[:4]

DIRECT = [name for name, known in PROCEDURES.items() if not known.draws]


def units_of(measure, pair, observed):
    a, b = measure.pairs[pair] if observed.delta[pair] >= 0 else measure.pairs[pair][::-1]
    return [(tuple(row[a]), tuple(row[b])) for row in measure.statistics.tolist()]


def assert_enumerated(measure, observed):
    """Hold all four conventions of the bootstrap and the sign-flip to all samples and all swaps of each pair."""
    sign = 1 if measure.higher_is_better else -1
    found = exact_tests(measure, observed)
    for pair in np.flatnonzero(observed.delta != 0).tolist():
        units = units_of(measure, pair, observed)
        delta = observed_gain(units, sign=sign)
        p = bootstrap_p_values(bootstrap_law(units, sign=sign), delta)
        for name in BOOTSTRAP:
            assert found["bootstrap"].of(name)[pair] == pytest.approx(float(p[name]), rel=1e-9, abs=0), name
        flips = swap_law(units, sign=sign)
        one, other = chance(flips, delta.__le__), chance(flips, (-delta).__ge__)
        assert one == other
        assert found["sign-flip"].two_sided[pair] == pytest.approx(float(one + other), rel=1e-9)
        assert found["sign-flip"].one_sided[pair] == pytest.approx(float(one), rel=1e-9)


# Seven units have 823 543 samples, each summed in fractions.
@pytest.mark.parametrize("seed", [pytest.param(k, marks=pytest.mark.slow) if k % 4 == 3 else k for k in range(8)])
@pytest.mark.parametrize("higher", [True, False])
def test_unequal_denominators_agree_with_all_samples(seed, higher):
    rng = np.random.default_rng(seed)
    denominators = rng.integers(0 if seed % 3 == 0 else 1, 9, 4 + seed % 4)
    denominators[0] += 1
    measure = small.make_measure(small.over(rng.binomial(denominators[:, None], [0.7, 0.4, 0.5]), denominators), higher=higher)
    assert_enumerated(measure, observe(measure))


@pytest.mark.parametrize("seed", range(5))
def test_constant_denominators_agree_with_all_samples(seed):
    rng = np.random.default_rng(100 + seed)
    measure = small.make_measure(small.over(rng.integers(0, 2 + seed, (8, 3)), np.full(8, 1 + seed)))
    assert_enumerated(measure, observe(measure))


def test_eight_wins_and_four_losses_have_the_constants_of_the_design():
    measure = small.make_measure(small.coins(8, 4, 100))
    found = direct_tests(DIRECT, measure, observe(measure))
    assert found["exact-bootstrap"].p[:4, 0].round(4).tolist() == [0.0955, 0.3054, 0.0927, 0.1525]
    assert found["exact-sign-flip"].two_sided.round(4).tolist() == [0.3877]
    assert found["mcnemar-mid-p"].two_sided.tolist() == pytest.approx([float(Fraction(1093, 4096))])
    assert list(found) == list(DIRECT)


@pytest.mark.parametrize(
    ("wins", "losses", "one", "two", "below"), [(1, 0, 0.0702, 0.6126, 0.0), (2, 0, 0.0328, 0.2282, 0.0), (2, 1, None, None, None)]
)
def test_one_to_three_discordant_units_of_ten(wins, losses, one, two, below):
    measure = small.make_measure(small.coins(wins, losses, 10))
    observed = observe(measure)
    assert_enumerated(measure, observed)
    found = exact_tests(measure, observed)["bootstrap"]
    if one is not None:
        assert found.p[:3, 0].round(4).tolist() == [one, two, below]
        assert found.log10_p[2, 0] == -np.inf


def test_no_discordant_unit_and_equal_scores_have_p_by_definition():
    statistics = np.concatenate([small.coins(1, 1, 6), small.coins(1, 1, 6)[:, :1]], axis=1)  # the third is a copy of the first
    measure = small.make_measure(statistics)
    found = direct_tests(DIRECT, measure, observe(measure))
    for name, result in found.items():
        equal, copy = 0, 1
        assert result.reasons[copy] == "identical: no unit is discordant", name
        assert result.p[:2, copy].tolist() == [1, 1], name
        assert result.two_sided[equal] == pytest.approx(1.0), name
        assert np.isnan(result.one_sided[equal]), name
        assert [METHODS[code] for code in result.method[1, :2]] == ["definition"] * 2, name
        assert list(REASONS)[result.reason[equal]] == "no order", name


def test_a_p_below_the_smallest_float_keeps_its_logarithm():
    measure = small.make_measure(small.coins(3000, 12, 8000))
    found = direct_tests(DIRECT, measure, observe(measure))
    for name, result in found.items():
        assert np.isfinite(result.log10_p[:2, 0]).all(), name
        assert result.log10_p[1, 0] < -310, name
    assert found["exact-bootstrap"].two_sided[0] == found["mcnemar"].two_sided[0] == 0
    assert list(LABELS)[found["exact-bootstrap"].label[1, 0]] == "model tail"
    assert list(LABELS)[found["exact-sign-flip"].label[1, 0]] == ""  # its level is exact however far out


def test_scores_that_are_no_ratio_over_common_denominators_are_refused_in_words():
    measure = small.f1_measure(30, 1)
    f1 = exact_tests(measure, observe(measure))["bootstrap"]
    assert set(f1.reasons) == {"the denominators of the two systems differ"}
    bleu = small.bleu_measure(20, 2, 0.05)
    found = direct_tests(DIRECT, bleu, observe(bleu))
    for name, result in found.items():
        if not PROCEDURES[name].needs_ratio:
            assert np.isfinite(result.two_sided).all()
        else:
            assert set(result.reasons) == {"the score is not a ratio of sums over units"}
            assert (result.method == -1).all()
            assert np.isnan(result.p).all()


def test_systems_with_denominators_of_their_own_leave_the_others_their_p():
    statistics = small.over(np.random.default_rng(3).integers(0, 4, (12, 4)), np.full(12, 3))
    alone = small.make_measure(statistics[:, :3])
    statistics[0, 3, 1] = 5
    beside = small.make_measure(statistics)
    one = exact_tests(alone, observe(alone))["bootstrap"]
    found = exact_tests(beside, observe(beside))["bootstrap"]
    rows = [pair for pair, (_, b) in enumerate(beside.pairs.tolist()) if b < 3]
    assert found.p[:, rows].tobytes() == one.p.tobytes()
    assert [bool(reason) for reason in found.reasons] == [b == 3 for _, b in beside.pairs.tolist()]


@pytest.mark.slow
def test_integers_too_large_for_a_bootstrap_keep_their_sign_flip():
    numerators = np.random.default_rng(4).integers(0, 4 * 10**12, (2000, 3))
    numerators[:, 2] = numerators[:, 0]
    numerators[:30, 2] = 0
    measure = small.make_measure(small.over(numerators))
    found = exact_tests(measure, observe(measure))
    words = "sums of the statistics do not fit into 64 bits"
    assert found["bootstrap"].reasons == [words] * 3
    assert (found["bootstrap"].method == -1).all()
    flips = found["sign-flip"]
    assert flips.reasons == [""] * 3
    assert ((flips.lo[1] > 0) & (flips.lo[1] <= flips.hi[1]) & (flips.hi[1] <= 1)).all()
    assert flips.lo[1, 1] == flips.hi[1, 1] == pytest.approx(2.0**-29)  # thirty discordant units, all on one side


def test_swapping_a_pair_or_adding_a_copy_changes_no_p():
    rng = np.random.default_rng(5)
    denominators = rng.integers(1, 20, 60)
    statistics = small.over(rng.binomial(denominators[:, None], [0.6, 0.5, 0.55]), denominators)
    turned = small.make_measure(statistics, pairs=small.all_pairs(3)[:, ::-1])
    copied = small.make_measure(np.concatenate([statistics, statistics[:, :1]], axis=1), pairs=small.all_pairs(3))
    measure = small.make_measure(statistics)
    tests = [name for name in DIRECT if not name.startswith("mcnemar")]
    one, other, third = (direct_tests(tests, m, observe(m)) for m in (measure, turned, copied))
    for name in tests:
        assert np.isfinite(one[name].two_sided).all()
        for field in ("p", "log10_p", "lo", "hi", "method", "reason", "label"):
            assert getattr(one[name], field).tobytes() == getattr(other[name], field).tobytes(), name
            assert getattr(one[name], field).tobytes() == getattr(third[name], field).tobytes(), name


def test_beyond_the_budget_a_p_is_enclosed():
    rng = np.random.default_rng(6)
    numerators = rng.integers(0, 10**6, (300, 2)) + np.array([0, 3 * 10**4])
    measure = small.make_measure(small.over(numerators))
    observed = observe(measure)
    wide = exact_tests(measure, observed, budget=Budget(points=2**12, work=0, frequencies=2**12))["bootstrap"]
    close = exact_tests(measure, observed)["bootstrap"]
    assert (wide.lo < wide.hi)[:4].all()
    assert ((wide.lo <= close.hi) & (close.lo <= wide.hi))[:4].all()


def test_the_sign_flip_is_the_permutation_test_of_scipy():
    rng = np.random.default_rng(7)
    measure = small.make_measure(small.over(rng.integers(0, 9, (11, 3))))
    observed = observe(measure)
    found = exact_tests(measure, observed)["sign-flip"]
    for pair, (a, b) in enumerate(measure.pairs.tolist()):
        columns = measure.statistics[:, a, 0], measure.statistics[:, b, 0]
        asked = {"permutation_type": "samples", "n_resamples": np.inf, "vectorized": True}
        both = stats.permutation_test(columns, lambda x, y, axis: np.sum(x - y, axis=axis), **asked)
        assert found.two_sided[pair] == pytest.approx(both.pvalue, rel=1e-9)


@pytest.mark.data
def test_real_columns_agree_with_the_laws_of_wins_and_losses(mmlu):
    """The bootstrap total of wins less losses, convolved directly; the sign-flip is the binomial test."""
    measure = small.make_measure(small.over(mmlu))
    observed = observe(measure)
    found = exact_tests(measure, observed)
    n = len(mmlu)
    for pair in range(0, len(measure.pairs), 5):
        a, b = measure.pairs[pair] if observed.delta[pair] >= 0 else measure.pairs[pair][::-1]
        d = mmlu[:, a] - mmlu[:, b]
        wins, losses, gain = int((d > 0).sum()), int((d < 0).sum()), int(d.sum())
        k = np.arange(n + 1)
        # given that k draws are discordant, their wins are binomial
        discordant = stats.binom.pmf(k, n, (wins + losses) / n)
        share = wins / (wins + losses)
        above = float(discordant @ stats.binom.sf(np.floor((2 * gain + k) / 2), k, share))
        below = float(discordant @ stats.binom.cdf(np.ceil(k / 2) - 1, k, share))
        assert found["bootstrap"].one_sided[pair] == pytest.approx(above, rel=1e-8)
        assert found["bootstrap"].of("below-zero")[pair] == pytest.approx(below, rel=1e-8)
        assert found["sign-flip"].two_sided[pair] == pytest.approx(stats.binomtest(wins, wins + losses).pvalue, rel=1e-9)


def test_swaps_of_skewed_gains_reject_as_many_true_nulls_as_the_t_test() -> None:
    units, trials = 20, 1500
    gains = np.rint(64 * (np.random.default_rng(3).exponential(size=(units, trials)) - 1)).astype(np.int64)
    numerators = np.stack([gains, np.zeros_like(gains)], axis=2).reshape(units, 2 * trials)  # each pair beside the next
    statistics = np.stack([numerators, np.ones_like(numerators)], axis=2)
    pairs = np.arange(2 * trials).reshape(trials, 2)
    measure = Measure(statistics, lambda sums: sums[0] / sums[1], "ratio", True, pairs, np.ones(2 * trials, np.bool_))
    found = direct_tests(["exact-sign-flip", "paired-t"], measure, observe(measure))
    swaps, by_t = (np.mean(one.p[CONVENTIONS.index("two-sided")] <= 0.05) for one in found.values())
    # 8.0 % are expected of either, with a standard error of .7 %: a false alarm in 10^6.
    assert 0.046 < swaps < 0.114
    assert abs(swaps - by_t) < 0.02
