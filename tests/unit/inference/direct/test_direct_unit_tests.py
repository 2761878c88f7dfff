"""McNemar, sign, t and Wilcoxon for all pairs at once are SciPy's functions pair by pair."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats
from support import direct_measures as small
from support.enumeration import coin_p_values

from pipeline.inference.direct import unit_tests
from pipeline.inference.direct.result import LABELS, METHODS
from pipeline.inference.direct.unit_tests import log_binomial_tail, log_student_tail, mcnemar, sign_test, wilcoxon
from pipeline.procedures.direct import direct_tests
from pipeline.resampling.observe import observe


def paired_t(measure, observed):
    return direct_tests(["paired-t"], measure, observed)["paired-t"]


def columns(measure, observed, pair):
    """Return the units' scores of the two systems, the one that is ahead first and more being better."""
    a, b = measure.pairs[pair] if observed.delta[pair] >= 0 else measure.pairs[pair][::-1]
    sign = 1 if measure.higher_is_better else -1
    return sign * measure.statistics[:, a, 0], sign * measure.statistics[:, b, 0]


def midrank_p(d, side):
    """Return the p of signed midranks by multiplying polynomials, in doubled ranks."""
    ranks = np.rint(2 * stats.rankdata(np.abs(d))).astype(int)
    law = np.ones(1)
    for rank in ranks.tolist():
        factor = np.zeros(rank + 1)
        factor[[0, rank]] = 0.5
        law = np.convolve(law, factor)
    won = int(ranks[d > 0].sum())
    above, below = law[won:].sum(), law[: won + 1].sum()
    return above if side == "greater" else min(2 * min(above, below), 1.0)


def assert_scipy(measure, observed, tests):
    """Hold two-sided and one-sided p-values to SciPy's; returns the methods of Wilcoxon's test."""
    found = direct_tests(tests, measure, observed)
    for pair in np.flatnonzero(observed.delta != 0).tolist():
        one, other = columns(measure, observed, pair)
        d = one - other
        wins, trials = int((d > 0).sum()), int((d != 0).sum())
        for row, side in (("one-sided", "greater"), ("two-sided", "two-sided")):
            wanted = {
                "paired-t": stats.ttest_rel(one, other, alternative=side).pvalue,
                "sign": stats.binomtest(wins, trials, alternative=side).pvalue,
            }
            wanted["mcnemar"] = wanted["sign"]
            exact = trials <= 25 and len(set(np.abs(d[d != 0]).tolist())) == trials
            if exact or trials > 50:
                method = "exact" if exact else "asymptotic"
                wanted["wilcoxon"] = stats.wilcoxon(d[d != 0], alternative=side, method=method, zero_method="wilcox").pvalue
            else:
                wanted["wilcoxon"] = midrank_p(d[d != 0], side)
            for name in tests:
                # a pair that differs by one part in 10^9 of its scores has that much less of its standard error
                assert found[name].of(row)[pair] == pytest.approx(wanted[name], rel=1e-6 if name == "paired-t" else 1e-9), name
                assert 10 ** found[name].log10_p[1, pair] == pytest.approx(found[name].two_sided[pair], rel=1e-9)
            if "wilcoxon" in tests:
                assert METHODS[found["wilcoxon"].method[1, pair]] == ("exact" if trials <= 50 else "asymptotic")
    return found


@pytest.mark.parametrize(("units", "values"), [(3, 5), (12, 2), (20, 10**6), (30, 3), (70, 10**6), (200, 6)])
@pytest.mark.parametrize("higher", [True, False])
def test_random_scores(units, values, higher):
    rng = np.random.default_rng(units)
    base = rng.integers(0, values, (units, 1))
    scores = np.where(rng.random((units, 6)) < 0.6, base, rng.integers(0, values, (units, 6)))
    scores[:, 5] = scores[:, 4]
    scores[0, 5] += 1
    scores[1, 5] += 1
    measure = small.make_measure(small.over(scores, np.full(units, 7)), higher=higher)
    assert_scipy(measure, observe(measure), ["sign", "paired-t", "wilcoxon"])


def test_small_samples_take_wilcoxons_exact_law():
    scores = np.random.default_rng(8).integers(0, 10**9, (90, 4))
    scores[50:] = scores[50:, :1]
    measure = small.make_measure(small.over(scores))
    found = wilcoxon(measure, observe(measure))
    assert [METHODS[code] for code in found.method[1]] == ["exact"] * 6
    scores[50:52] += np.array([[3], [8]]) * np.arange(4)
    measure = small.make_measure(small.over(scores))
    found = wilcoxon(measure, observe(measure))
    assert [METHODS[code] for code in found.method[1]] == ["asymptotic"] * 6
    assert {list(LABELS)[code] for code in found.label[1]} == {"normal"}


@pytest.mark.data
def test_real_columns(mmlu):
    measure = small.make_measure(small.over(mmlu))
    assert_scipy(measure, observe(measure), ["mcnemar", "sign", "paired-t", "wilcoxon"])


@pytest.mark.parametrize(("wins", "losses"), [(1, 0), (2, 0), (1, 1), (5, 0), (4, 3), (8, 4), (7, 7)])
def test_mcnemar_and_its_mid_p_agree_with_fractions(wins, losses):
    measure = small.make_measure(small.coins(wins, losses, 20))
    observed = observe(measure)
    p = {name: float(value) for name, value in coin_p_values(wins, losses).items()}
    exact, mid = (mcnemar(measure, observed, mid_p=flag) for flag in (False, True))
    assert exact.two_sided[0] == pytest.approx(p["two-sided"], rel=1e-12)
    assert mid.two_sided[0] == pytest.approx(p["two-sided-mid-p"], rel=1e-12)
    if wins > losses:
        assert exact.one_sided[0] == pytest.approx(p["one-sided"], rel=1e-12)
        assert mid.one_sided[0] == pytest.approx(p["one-sided-mid-p"], rel=1e-12)
        assert list(LABELS)[mid.label[1, 0]] == "mid-p"


def test_mcnemar_wants_two_values_and_one_constant_denominator():
    three = small.make_measure(small.over([[0, 1, 0], [2, 0, 2], [1, 1, 0], [0, 0, 2]]))
    assert mcnemar(three, observe(three)).reasons == ["the scores of units are not of two values"] * 3
    halves = small.make_measure(small.over([[0, 5], [5, 0], [5, 0], [0, 0]]))
    assert mcnemar(halves, observe(halves)).two_sided.tolist() == [1.0]
    uneven = small.make_measure(small.over([[0, 1], [1, 0], [1, 0]], [1, 1, 2]))
    assert mcnemar(uneven, observe(uneven)).reasons == ["the score is not a mean of units: their denominators vary"]


def test_a_ratio_is_tested_by_its_jackknife_error_and_its_numerators():
    rng = np.random.default_rng(9)
    c = rng.integers(5, 40, 300)
    measure = small.make_measure(small.over(rng.binomial(c[:, None], [0.55, 0.5]), c))
    observed = observe(measure)
    one, other = columns(measure, observed, 0)
    d, total = one - other, c.sum()
    found = paired_t(measure, observed)
    assert list(LABELS)[found.label[1, 0]] == "jackknife t"
    linearised = d.sum() / total + len(c) * (d - d.sum() / total * c) / total
    assert found.two_sided[0] == pytest.approx(stats.ttest_1samp(linearised, 0).pvalue, rel=0.01)
    removed = (d.sum() - d) / (total - c)
    pseudo = d.sum() / total + (len(c) - 1) * (removed.mean() - removed)
    assert found.two_sided[0] == pytest.approx(stats.ttest_1samp(pseudo, 0).pvalue, rel=1e-8)
    ranks = wilcoxon(measure, observed)
    assert ranks.two_sided[0] == pytest.approx(stats.wilcoxon(d, method="asymptotic").pvalue, rel=1e-9)
    assert list(LABELS)[ranks.label[1, 0]] == "normal, numerators"
    assert list(LABELS)[sign_test(measure, observed).label[1, 0]] == "numerators"


def test_bleu_has_a_t_test_of_pseudo_values():
    measure = small.bleu_measure(80, 4, 0.02)
    observed = observe(measure)
    found = paired_t(measure, observed)
    total = measure.statistics.sum(axis=0)
    removed = measure.score((total - measure.statistics).transpose(2, 0, 1).astype(float))
    for pair, (a, b) in enumerate(measure.pairs.tolist()):
        gone = removed[:, a] - removed[:, b]
        pseudo = observed.delta[pair] + 79 * (gone.mean() - gone)
        assert found.two_sided[pair] == pytest.approx(stats.ttest_1samp(pseudo, 0).pvalue, rel=1e-8)
        side = "greater" if observed.delta[pair] > 0 else "less"
        assert found.one_sided[pair] == pytest.approx(stats.ttest_1samp(pseudo, 0, alternative=side).pvalue, rel=1e-8)


def test_what_has_no_t_says_why():
    flat = small.make_measure(small.over([[1, 0], [4, 3], [3, 2]], [1, 1, 1]))
    assert paired_t(flat, observe(flat)).reasons == ["all units differ by the same"]
    one = small.make_measure(small.over([[1, 0]]))
    assert paired_t(one, observe(one)).reasons == ["there is one unit"]
    hollow = small.make_measure(small.over([[1, 0], [0, 0]], [2, 0]))
    assert paired_t(hollow, observe(hollow)).reasons == ["a score is undefined without some unit"]
    empty = small.make_measure(small.over([[0, 0], [1, 0]], [0, 0]))
    assert sign_test(empty, observe(empty)).reasons == ["a score is undefined"]


def test_without_a_gain_a_sign_test_tells_of_nobody_ahead():
    """Nine small wins may weigh as much as one loss: the test has its own p, but there is no side to call better."""
    measure = small.make_measure(small.over([[1, 0]] * 9 + [[0, 9]]))
    # Nine or more of ten coins; the loss has the largest rank of ten, the wins share the others: 45 to 10.
    exact = {sign_test: 2 * 11 / 2**10, wilcoxon: stats.wilcoxon([1.0] * 9 + [-9.0], method=stats.PermutationMethod()).pvalue}
    for test, p in exact.items():
        found = test(measure, observe(measure))
        assert found.two_sided == pytest.approx([p])
        assert np.isnan(found.one_sided).all()
        assert METHODS[found.method[1, 0]] == "exact"
        assert found.reasons == ["the scores are equal: there is no order, and no one-sided p"]


def test_memory_changes_no_result():
    scores = np.random.default_rng(10).integers(0, 50, (40, 9))
    measure = small.make_measure(small.over(scores))
    observed = observe(measure)
    for test in (sign_test, wilcoxon):
        whole, pieces = test(measure, observed), test(measure, observed, memory_bytes=1)
        assert whole.log10_p.tobytes() == pieces.log10_p.tobytes()


def test_logarithms_of_tails_continue_where_floats_end():
    trials = np.array([900, 1000, 1080, 5000])
    np.testing.assert_allclose(log_binomial_tail(trials, trials), -trials * np.log(2), rtol=1e-13)  # all heads
    hits = np.arange(0, 1001, 50)
    wanted = stats.binom.logsf(hits - 1, 1000, 0.5)
    np.testing.assert_allclose(log_binomial_tail(hits, np.full(len(hits), 1000)), wanted, rtol=1e-11, atol=1e-13)
    # 2 P(X ≥ m − 1) = 2 (m + 1) / 2^m
    np.testing.assert_allclose(log_binomial_tail(trials - 1, trials), np.log(trials + 1) - trials * np.log(2), rtol=1e-12)
    t = np.array([0.0, 1.0, 5.0, 30.0])
    np.testing.assert_allclose(np.exp(log_student_tail(t, 200)), stats.t.sf(t, 200), rtol=1e-10)
    # of one degree of freedom P(T > t) is arctan(1/t)/π; far out a Gaussian is met from above
    assert log_student_tail(np.array([1e150]), 1)[0] == pytest.approx(-150 * np.log(10) - np.log(np.pi), rel=1e-12)
    far = log_student_tail(np.array([37.0, 45.0]), 10_000)
    assert far[1] < far[0] < -600
    np.testing.assert_allclose(far[1], stats.t.logpdf(45.0, 10_000) + np.log((1 + 45.0**2 / 1e4) / 45.0), rtol=1e-5)


def test_signed_ranks_with_ties_are_enumerated() -> None:
    rng = np.random.default_rng(8)
    rows = rng.choice([-3, -1, 0, 1, 2, 3], (40, 9), p=[0.1, 0.2, 0.2, 0.2, 0.2, 0.1])
    rows[0] = [1, 1, 1, 1, 1, 1, 1, -1, 0]
    rows = rows[np.count_nonzero(rows, axis=1) > 0]
    one, two, is_exact = unit_tests._rank_block(rows)
    assert is_exact.all()
    for row, above, both in zip(rows, np.exp(one), np.exp(two), strict=True):
        kept = row[row != 0]
        ranks = stats.rankdata(np.abs(kept))
        won = ranks[kept > 0].sum()
        laws = [
            sum(r for r, sign in zip(ranks, signs, strict=True) if sign) for signs in itertools.product([0, 1], repeat=len(kept))
        ]
        tails = np.mean(np.array(laws) >= won - 1e-9), np.mean(np.array(laws) <= won + 1e-9)
        assert above == pytest.approx(tails[0], rel=1e-12)
        assert both == pytest.approx(min(2 * min(tails), 1.0), rel=1e-12)
    # Seven wins against one loss: 9 of 256 outcomes, on either side.
    assert np.exp(two[0]) == pytest.approx(18 / 256)


def test_few_tied_units_reject_no_more_than_the_level() -> None:
    for m in (8, 19, 24, 31, 50):
        wins = np.arange(m + 1)
        rows = np.where(np.arange(m) < wins[:, None], 1, -1)
        _, two, is_exact = unit_tests._rank_block(rows)
        assert is_exact.all()
        level = stats.binom.pmf(wins, m, 0.5)[np.exp(two) <= 0.05].sum()
        assert level <= 0.05
