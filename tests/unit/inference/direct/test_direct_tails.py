"""Tails by tilting against exact laws and against counting; a tail states its own error, and keeps it."""

from __future__ import annotations

import numpy as np
import pytest
from support import direct_measures as small

from pipeline.inference.direct.exact import exact_tests
from pipeline.inference.direct.result import LABELS, METHODS
from pipeline.inference.direct.tails import bootstrap_tails, few_hits, tilted_tails
from pipeline.inference.p_values import CONVENTIONS, p_values
from pipeline.resampling.draws import Draws
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample

SIGMA = 5  # a false alarm in 1.7 million for one comparison
DEEP = [(15, 3, 60, -3), (32, 9, 100, -4), (44, 8, 120, -8), (50, 7, 120, -10), (60, 8, 150, -12)]
"""Wins, losses, units, decimal logarithm of the two-sided p or so."""


def all_of(measure):
    return np.ones(len(measure.pairs), bool)


@pytest.mark.statistical
@pytest.mark.parametrize(("wins", "losses", "units", "depth"), DEEP)
def test_tilting_finds_the_exact_tails_of_wins_and_losses(wins, losses, units, depth):
    """On a lattice with ties, from 1e-3 to 1e-12. False alarm 3e-6 for the four tails at five standard errors."""
    measure = small.make_measure(small.coins(wins, losses, units))
    observed = observe(measure)
    exact = exact_tests(measure, observed)["bootstrap"]
    assert abs(exact.log10_p[1, 0] - depth) < 1
    found = tilted_tails(measure, observed, asked=all_of(measure), key=31, draws=2**15)
    error = np.abs(found.p[:4, 0] / exact.p[:4, 0] - 1)
    assert (error < SIGMA * found.relative_error[:4, 0]).all()
    assert (error < 0.1).all()
    assert (found.relative_error[:4, 0] < 0.02).all()


@pytest.mark.statistical
@pytest.mark.parametrize("kind", ["bleu", "f1", "ratio"])
def test_tilting_agrees_with_counting_where_both_can(kind):
    """p about 1e-3 of scores that are not linear. False alarm 1e-5 for twelve comparisons at five standard errors."""
    measures = {
        "bleu": lambda: small.bleu_measure(150, 2, 0.012),
        "f1": lambda: small.f1_measure(80, 5),
        "ratio": lambda: ratio_measure(),
    }
    measure = measures[kind]()
    observed = observe(measure)
    units, replicates = len(measure.statistics), 2**18
    (counted,) = resample(Draws(77, units, units), [measure], cells=range(16), replicates=replicates)
    counts = counted.counts.sum(axis=1)
    plain = p_values(
        counts, np.full(len(counts), replicates), delta=observed.delta, identical=observed.identical, sums=counted.sums.sum(axis=1)
    )
    found = tilted_tails(measure, observed, asked=all_of(measure), key=5, draws=2**13)
    assert np.isfinite(found.p[:4]).all()
    assert (plain.p[0] < 0.01).any()
    variance = plain.p[:4] / replicates + (found.p * found.relative_error)[:4] ** 2 + 4 / replicates**2
    assert (np.abs(found.p[:4] - plain.p[:4]) < SIGMA * np.sqrt(variance)).all()


def ratio_measure():
    rng = np.random.default_rng(12)
    c = rng.integers(1, 30, 60)
    return small.make_measure(small.over(rng.binomial(c[:, None], [0.5, 0.55, 0.58]), c), higher=False)


@pytest.mark.parametrize("step", [0.03, 0.05])
def test_the_saddlepoint_alone_is_near_on_scores_without_a_lattice(step):
    measure = small.bleu_measure(200, 2, step)
    observed = observe(measure)
    drawn = bootstrap_tails(measure, observed, asked=all_of(measure), key=5)
    alone = bootstrap_tails(measure, observed, asked=all_of(measure), key=5, draws=0)
    usable = np.nanmin(drawn.log10_p, axis=0) > -30
    assert drawn.log10_p[1, usable].min() < -10
    np.testing.assert_allclose(alone.p[:4, usable] / drawn.p[:4, usable], 1, atol=0.25)
    assert {list(LABELS)[code] for code in alone.label[1, usable]} == {"saddlepoint"}
    assert np.isnan(alone.relative_error[:4, usable]).all()


def test_a_bent_score_far_out_has_the_error_of_a_straight_one():
    """At 1e-59 the influence of a unit is another one: full steps towards it go to and fro, and leave an error of .4 or more."""
    measure = small.bleu_measure(200, 2, 0.05)
    observed = observe(measure)
    found = bootstrap_tails(measure, observed, asked=np.array([False, True, False]), key=1, draws=2**14)
    assert found.log10_p[0, 1] == pytest.approx(-59.1, abs=0.3)
    assert found.relative_error[0, 1] < 0.2


def test_common_denominators_take_the_exact_law_and_others_a_tail():
    statistics = np.concatenate([small.coins(30, 6, 120), small.coins(30, 6, 120)[:, :1]], axis=1)
    statistics[5, 2, 1] = 2
    measure = small.make_measure(statistics)
    observed = observe(measure)
    found = bootstrap_tails(measure, observed, asked=np.array([True, False, True]), key=1)
    assert [METHODS[code] if code >= 0 else None for code in found.method[1]] == ["exact", None, "tail"]
    assert found.p[:4, 0].tobytes() == exact_tests(measure, observed)["bootstrap"].p[:4, 0].tobytes()
    assert found.reasons[1] == "not asked for"
    assert found.relative_error[1, 0] == 0 < found.relative_error[1, 2]
    assert (found.lo[:4, 2] < found.p[:4, 2]).all()
    assert (found.p[:4, 2] < found.hi[:4, 2]).all()
    np.testing.assert_allclose(10 ** found.log10_p[:4, 2], found.p[:4, 2], rtol=1e-12)


def test_a_tail_below_one_in_a_million_is_called_a_model_tail():
    measure = small.bleu_measure(200, 2, 0.03)
    observed = observe(measure)
    found = bootstrap_tails(measure, observed, asked=all_of(measure), key=5)
    labels = np.array(list(LABELS))[found.label[:4]]
    np.testing.assert_array_equal(labels == "model tail", found.p[:4] < 1e-6)
    assert 0 < (labels == "model tail").sum() < labels.size


def test_neither_other_pairs_nor_the_order_change_a_tail_and_the_key_does():
    measure = small.bleu_measure(60, 3, 0.03)
    turned = small.make_measure(measure.statistics, score=measure.score, form="general", pairs=measure.pairs[::-1, ::-1])
    one = bootstrap_tails(measure, observe(measure), asked=all_of(measure), key=9, draws=500)
    other = bootstrap_tails(turned, observe(turned), asked=all_of(turned), key=9, draws=500)
    np.testing.assert_array_equal(one.p, other.p[:, ::-1])
    alone = bootstrap_tails(measure, observe(measure), asked=np.array([False, True, False]), key=9, draws=500)
    np.testing.assert_array_equal(alone.p[:, 1], one.p[:, 1])
    again = bootstrap_tails(measure, observe(measure), asked=all_of(measure), key=10, draws=500)
    assert (again.p[:4] != one.p[:4]).all()
    narrow = bootstrap_tails(measure, observe(measure), asked=all_of(measure), key=9, draws=500, memory_bytes=1)
    np.testing.assert_allclose(narrow.p, one.p, rtol=1e-10)


def test_identical_and_equal_systems_have_no_tail():
    statistics = small.f1_measure(20, 3).statistics.copy()
    statistics[:, 1] = statistics[:, 0]
    statistics[:, 2] = statistics[::-1, 0]
    measure = small.make_measure(statistics)
    found = bootstrap_tails(measure, observe(measure), asked=all_of(measure), key=2, draws=100)
    assert found.reasons[0] == "identical: no unit is discordant"
    assert found.p[:2, 0].tolist() == [1, 1]
    assert found.two_sided.tolist() == [1, 1, 1]
    assert np.isnan(found.one_sided[1:]).all()


def test_p_is_given_that_there_is_a_score():
    measure = small.f1_measure(40, 5)
    observed = observe(measure)
    whole = tilted_tails(measure, observed, asked=all_of(measure), key=2, draws=200)
    half = tilted_tails(measure, observed, asked=all_of(measure), key=2, draws=200, defined=np.full(3, 0.8))
    np.testing.assert_allclose(half.p[0], whole.p[0] / 0.8, rtol=1e-12)


def test_a_threshold_out_of_reach_says_so():
    statistics = np.ones((6, 2, 2), np.int64) * 50
    statistics[:, 0, 0], statistics[:, 1, 0] = 50, np.arange(6)
    statistics[0, 1, 1] = 51
    measure = small.make_measure(statistics)
    found = bootstrap_tails(measure, observe(measure), asked=all_of(measure), key=2, draws=100)
    assert found.reasons == ["no tilted resample reaches the threshold"]
    assert np.isnan(found.p).all()


def test_ten_replicates_are_enough_to_count():
    counts = np.array([[2, 0, 0, 0, 3, 9, -1, -1], [4, 6, 0, 0, 0, 10, -1, -1], [0, 0, 0, 0, 0, 0, -1, -1]])
    found = p_values(counts, np.full(3, 1000), delta=np.ones(3), identical=np.array([False, False, True]), sums=np.zeros((3, 3)))
    few = few_hits(found)
    assert few[CONVENTIONS.index("one-sided")].tolist() == [True, False, False]
    assert few[CONVENTIONS.index("two-sided")].tolist() == [False, False, False]
    assert few[CONVENTIONS.index("below-zero")].tolist() == [True, True, False]
