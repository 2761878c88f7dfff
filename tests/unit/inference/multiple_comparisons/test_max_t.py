"""Step-down max-T: by hand, against its definition, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.inference.multiple_comparisons.families import order_family
from pipeline.inference.multiple_comparisons.max_t import MaxT, StepDown
from pipeline.inference.multiple_comparisons.multiplicity import benjamini_hochberg, bonferroni, holm
from pipeline.inference.p_values import clopper_pearson
from pipeline.inference.unit_diagnostics.few_units import StudentTails
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample


def all_pairs(systems):
    return np.stack(np.triu_indices(systems, 1), axis=1)


def adjust(scores, observed, *, pairs=None, se=None, identical=None, **options) -> MaxT:
    pairs = all_pairs(len(observed)) if pairs is None else pairs
    delta = observed[pairs[:, 0]] - observed[pairs[:, 1]]
    identical = np.zeros(len(pairs), bool) if identical is None else identical
    family = order_family(
        pairs, score=observed, delta=delta, se=np.ones(len(pairs)) if se is None else se, identical=identical, **options
    )
    counts = StepDown(family)
    counts.add(scores)
    return counts.result()


def slow_max_t(scores, observed, pairs, se, side=None):
    """The definition, in plain NumPy: order, maxima over what is left, shares, running maximum."""
    delta = observed[pairs[:, 0]] - observed[pairs[:, 1]]
    centred = scores[pairs[:, 0]] - scores[pairs[:, 1]] - delta[:, None]
    sign = np.ones(len(pairs)) if side is None else side
    t, t_star = sign * delta / se, sign[:, None] * centred / se[:, None]
    if side is None:
        t, t_star = np.abs(t), np.abs(t_star)
    p, largest = np.empty(len(pairs)), 0.0
    for position, pair in enumerate(order := np.argsort(-t, kind="stable")):
        u = t_star[order[position:]].max(axis=0)
        there = ~np.isnan(t_star[order[position:]]).any(axis=0)
        largest = max(largest, ((u[there] >= t[pair]).sum() + 1) / (there.sum() + 1))
        p[pair] = largest
    return p


def gaussian(seed, systems, replicates, spread=2.0):
    rng = np.random.default_rng(seed)
    observed = rng.normal(size=systems) * spread
    return observed[:, None] + rng.normal(size=(systems, replicates)), observed, rng.uniform(0.7, 2.0, systems * (systems - 1) // 2)


def test_two_pairs_by_hand():
    """t = 3 and 1. The maxima of (2, 0), (0, 4), (1, ½), (3, 2) reach 3 twice; the second alone reaches 1 in (4, 2)."""
    pairs = np.array([[0, 1], [2, 3]])
    observed = np.array([3.0, 0.0, 1.0, 0.0])
    t_star = np.array([[2.0, 0.0, 1.0, 3.0], [0.0, 4.0, 0.5, 2.0]])
    scores = np.zeros((4, 4))
    scores[0], scores[2] = 3.0 + t_star[0], 1.0 - t_star[1]
    found = adjust(scores, observed, pairs=pairs)
    assert found.hits.tolist() == [2, 2]
    assert found.p.tolist() == [3 / 5, 3 / 5]
    assert found.replicates.tolist() == [4, 4]


@given(seed=st.integers(0, 2**31), systems=st.integers(2, 7), replicates=st.integers(1, 200), holes=st.sampled_from([0.0, 0.02]))
@settings(max_examples=80, deadline=None)
def test_it_is_the_definition(seed, systems, replicates, holes):
    scores, observed, se = gaussian(seed, systems, replicates)
    scores[np.random.default_rng(seed).random(scores.shape) < holes] = np.nan
    assert adjust(scores, observed, se=se).p.tolist() == slow_max_t(scores, observed, all_pairs(systems), se).tolist()


@given(seed=st.integers(0, 2**31), alternative=st.sampled_from(["better", "worse"]), baseline=st.integers(0, 4))
@settings(max_examples=40, deadline=None)
def test_one_side_against_a_baseline_is_the_definition(seed, alternative, baseline):
    scores, observed, se = gaussian(seed, 5, 150)
    pairs = all_pairs(5)
    chosen = (pairs == baseline).any(axis=1)
    side = np.where(pairs[chosen, 1] == baseline, 1.0, -1.0) * (1 if alternative == "better" else -1)
    found = adjust(scores, observed, se=se, baseline=baseline, alternative=alternative).p
    assert found[chosen].tolist() == slow_max_t(scores, observed, pairs[chosen], se[chosen], side).tolist()
    assert np.isnan(found[~chosen]).all()


@given(seed=st.integers(0, 2**31), cuts=st.lists(st.integers(0, 300), max_size=4).map(sorted))
@settings(max_examples=30, deadline=None)
def test_blocks_of_replicates_are_as_good_as_all_at_once(seed, cuts):
    scores, observed, se = gaussian(seed, 5, 300)
    family = order_family(
        all_pairs(5), score=observed, delta=np.subtract(*observed[all_pairs(5).T]), se=se, identical=np.zeros(10, bool)
    )
    counts = StepDown(family)
    for part in np.split(scores, cuts, axis=1):
        counts.add(part)
    whole = adjust(scores, observed, se=se)
    assert counts.result().p.tobytes() == whole.p.tobytes()
    assert counts.result().largest.tobytes() == whole.largest.tobytes()


@given(seed=st.integers(0, 2**31))
@settings(max_examples=30, deadline=None)
def test_swapping_systems_of_a_pair_and_the_order_of_pairs_change_no_bit(seed):
    scores, observed, se = gaussian(seed, 5, 200)
    observed[3] = observed[1]  # tied, not identical
    rng = np.random.default_rng(seed)
    pairs, order = all_pairs(5), rng.permutation(10)
    turned = np.where(rng.random(10)[:, None] < 0.5, pairs, pairs[:, ::-1])
    there = adjust(scores, observed, pairs=turned[order], se=se[order]).p
    assert there.tobytes() == adjust(scores, observed, se=se).p[order].tobytes()


def test_a_metric_where_less_is_better_has_the_same_p():
    scores, observed, se = gaussian(1, 5, 500)
    delta = -np.subtract(*observed[all_pairs(5).T])
    options = {"score": observed, "delta": delta, "se": se, "identical": np.zeros(10, bool), "higher_is_better": False}
    counts = StepDown(order_family(all_pairs(5), **options))
    counts.add(scores)
    assert counts.result().p.tobytes() == adjust(scores, observed, se=se).p.tobytes()
    sided = StepDown(order_family(all_pairs(5), **options, baseline=2, alternative="better"))
    sided.add(scores)
    mirrored = adjust(scores, observed, se=se, baseline=2, alternative="worse")
    assert sided.result().p.tobytes() == mirrored.p.tobytes()


@given(seed=st.integers(0, 2**31), units=st.floats(2, 500))
@settings(max_examples=40, deadline=None)
def test_with_few_units_it_is_the_definition_with_larger_replicates(seed, units):
    """t* reaches the corrected t where t*/z(t) · t reaches t: the definition knows no correction, its scores are stretched."""
    scores, observed, se = gaussian(seed, 2, 300)
    tails = StudentTails(units)
    t = abs(observed[0] - observed[1]) / se
    stretched = observed[:, None] + (scores - observed[:, None]) * (t / tails.to_replicates(t))
    assert adjust(scores, observed, se=se, tails=tails).hits.tolist() == adjust(stretched, observed, se=se).hits.tolist()


@given(seed=st.integers(0, 2**31), units=st.floats(2, 500))
@settings(max_examples=40, deadline=None)
def test_few_units_raise_every_p_and_change_no_order(seed, units):
    scores, observed, se = gaussian(seed, 5, 300)
    plain, few = adjust(scores, observed, se=se), adjust(scores, observed, se=se, tails=StudentTails(units))
    assert few.family.pair.tolist() == plain.family.pair.tolist()
    assert few.family.t.tobytes() == plain.family.t.tobytes()
    assert (few.hits >= plain.hits).all()
    assert (few.p >= plain.p).all()
    assert few.largest.tobytes() == plain.largest.tobytes()
    many = adjust(scores, observed, se=se, tails=StudentTails(1e15))
    assert many.p.tobytes() == plain.p.tobytes()


def test_a_side_is_corrected_on_both_sides_of_zero():
    scores, observed, se = gaussian(4, 4, 300)
    better, worse = (adjust(scores, observed, se=se, baseline=1, alternative=a, tails=StudentTails(9)) for a in ("better", "worse"))
    assert better.family.members.least.min() < 0 < better.family.members.least.max()
    np.testing.assert_allclose(better.family.members.least, -worse.family.members.least[::-1], atol=1e-9)


def with_copy(scores, observed, se, copied, tails=None):
    """Add a copy of a system; give what max-T says then, and which pair each pair repeats (-1: the two copies)."""
    systems = len(observed)
    more = all_pairs(systems + 1)
    original = np.where(more == systems, copied, more)
    place = {frozenset(pair): position for position, pair in enumerate(all_pairs(systems).tolist())}
    source = np.array([place.get(frozenset(pair), -1) for pair in original.tolist()])
    found = adjust(
        np.vstack([scores, scores[copied]]), np.append(observed, observed[copied]), pairs=more,
        se=np.where(source < 0, 0.0, se[source]), identical=source < 0, tails=tails,
    )  # fmt: skip
    return found, source


@given(seed=st.integers(0, 2**31), copied=st.integers(0, 4), ties=st.booleans(), units=st.sampled_from([None, 7.3, 100.0]))
@settings(max_examples=60, deadline=None)
def test_a_copy_of_a_system_changes_no_p_hit_or_bound_of_another_pair(seed, copied, ties, units):
    """New pairs repeat t and t* of the system they copy, and the pair of the two is no member: no maximum moves.

    Units are those of the test set: how few they are does not change. Only where other pairs have the very same t may the hits
    trade places; p does not.
    """
    scores, observed, se = gaussian(seed, 5, 200)
    if ties:
        scores, observed, se = np.round(scores), np.round(observed), np.ones(10)
    tails = None if units is None else StudentTails(units)
    before = adjust(scores, observed, se=se, tails=tails)
    after, source = with_copy(scores, observed, se, copied, tails)
    old = source >= 0
    assert after.p[~old].tolist() == [1.0]
    for name in ("p", "lo", "hi", "replicates", "hits")[: 4 if ties else 5]:
        assert getattr(after, name)[old].tobytes() == getattr(before, name)[source[old]].tobytes(), name


def test_a_copy_changes_what_is_adjusted_by_the_number_of_pairs():
    scores, observed, se = gaussian(3, 5, 200)
    delta = np.subtract(*observed[all_pairs(5).T])
    t_star = np.abs(np.subtract(*scores[all_pairs(5).T]) - delta[:, None])
    p = ((t_star >= np.abs(delta)[:, None]).sum(axis=1) + 1) / 201
    source = with_copy(scores, observed, se, 2)[1]
    for by_number in (holm, benjamini_hochberg, bonferroni):
        assert not np.array_equal(by_number(np.where(source < 0, 1.0, p[source]))[source >= 0], by_number(p)[source[source >= 0]])


def test_pairs_without_an_error_are_out_of_the_family_and_the_others_do_not_know_them():
    scores, observed, se = gaussian(5, 4, 400)
    observed[3] = observed[2]
    se[:3], identical = [0.0, np.nan, 1.0], np.array([False, False, False, False, False, True])
    found = adjust(scores, observed, se=se, identical=identical)
    assert found.p[[0, 5]].tolist() == [1.0, 1.0]
    assert np.isnan(found.p[1])
    assert found.replicates[[0, 1, 5]].tolist() == [0, 0, 0]
    members = np.array([2, 3, 4])
    alone = adjust(scores, observed, pairs=all_pairs(4)[members], se=se[members])
    assert alone.p.tobytes() == found.p[members].tobytes()
    assert (found.lo[0], found.hi[0]) == (1.0, 1.0)


def test_empty_replicates_count_for_no_pair_above_the_one_that_lacks_them():
    """System 2 is empty in 30 replicates; its pair has the smaller t, so that the larger one waits for it, and not the reverse."""
    scores, observed, _ = gaussian(6, 3, 100)
    observed = np.array([5.0, 0.0, 4.0])
    scores[2, :30] = np.nan
    pairs = np.array([[0, 1], [1, 2]])
    found = adjust(scores, observed, pairs=pairs)
    assert found.replicates.tolist() == [70, 70]
    observed[2] = 6.0
    assert adjust(scores, observed, pairs=pairs).replicates.tolist() == [100, 70]


def test_a_family_of_one_pair_is_its_two_sided_p_of_the_pass_ties_included():
    rng = np.random.default_rng(5)
    right = rng.random((40, 1)) + 0.3 * rng.normal(size=(40, 2)) < 0.6
    statistics = np.stack([right, np.ones_like(right)], axis=2).astype(np.int64)
    measure = Measure(statistics, lambda s: 100.0 * (s[0] / s[1]), "ratio", True, np.array([[0, 1]]), np.ones(2, bool))
    observed = observe(measure)
    counted = resample(Draws(9, 40, 40), [measure], cells=range(1), replicates=5000, keep_replicates=5000)[0]
    family = order_family(measure.pairs, score=observed.score, delta=observed.delta, se=observed.se, identical=observed.identical)
    counts = StepDown(family)
    counts.add(counted.score)
    below, at_zero, _, _, at_twice, above = counted.counts[0, 0, :6]
    assert at_zero + at_twice > 0
    assert counts.result().hits.tolist() == [below + at_zero + at_twice + above]


@pytest.mark.parametrize("factor", [1.0, 100.0])
def test_ties_of_a_tiny_gain_between_large_scores_are_counted(factor):
    """Three wins and two losses among 20 011 units: δ is a ten-thousandth of the scores, and ties are most of the count."""
    statistics = np.ones((20_011, 2, 2), np.int64)
    statistics[:2000, :, 0] = 0
    statistics[:3, 0, 0] = 1
    statistics[3:5, 1, 0] = 1
    measure = Measure(statistics, lambda s: factor * (s[0] / s[1]), "ratio", True, np.array([[0, 1]]), np.ones(2, bool))
    seen = observe(measure)
    counted = resample(Draws(9, 20_011, 20_011), [measure], cells=range(1), replicates=500, keep_replicates=500)[0]
    counts = StepDown(order_family(measure.pairs, score=seen.score, delta=seen.delta, se=seen.se, identical=seen.identical))
    counts.add(counted.score)
    below, at_zero, _, _, at_twice, above = counted.counts[0, 0, :6]
    assert at_zero + at_twice > 50
    assert counts.result().hits.tolist() == [below + at_zero + at_twice + above]


def test_bounds_are_those_of_clopper_and_pearson_made_monotone_and_hold_p():
    scores, observed, se = gaussian(11, 6, 400, spread=1.0)
    found = adjust(scores, observed, se=se)
    order = found.family.pair
    lo, hi = clopper_pearson(found.hits[order], found.replicates[order], 0.95)
    assert found.lo[order].tolist() == np.maximum.accumulate(lo).tolist()
    assert found.hi[order].tolist() == np.maximum.accumulate(hi).tolist()
    assert np.all((found.lo < found.p) & (found.p <= found.hi))


def test_at_two_thousand_replicates_holm_separates_none_of_105_pairs_and_max_t_most():
    """Holm's floor is 105/2001 = .0525 > .05; max-T's is 1/2001. With 10^6 Holm's floor is .0001."""
    rng = np.random.default_rng(15)
    observed = np.arange(15) * 3.0
    scores, pairs = observed[:, None] + rng.normal(size=(15, 2000)), all_pairs(15)
    se = np.full(105, np.sqrt(2.0))
    delta = np.subtract(*observed[pairs.T])
    hits = (np.abs(np.subtract(*scores[pairs.T]) - delta[:, None]) >= np.abs(delta)[:, None]).sum(axis=1)
    assert holm((hits + 1) / 2001).min() == pytest.approx(105 / 2001)
    found = adjust(scores, observed, se=se)
    assert found.p.min() == 1 / 2001
    assert (found.p <= 0.05).sum() > 80
    assert 105 / 1_000_001 < 0.05


def test_without_a_replicate_nothing_is_shown_and_without_a_member_nothing_is_counted():
    found = adjust(np.empty((3, 0)), np.array([9.0, 0.0, 1.0]))
    assert found.p.tolist() == [1.0] * 3
    assert (found.lo.tolist(), found.hi.tolist()) == ([0.0] * 3, [1.0] * 3)
    empty = adjust(np.zeros((2, 5)), np.zeros(2), identical=np.array([True]))
    assert empty.p.tolist() == [1.0]
    assert len(empty.family.pair) == 0


def test_scores_of_too_few_systems_are_refused():
    with pytest.raises(ValueError, match=r"\(2, 7\).* at least 3 systems"):
        adjust(np.zeros((2, 7)), np.array([2.0, 1.0, 0.0]))
