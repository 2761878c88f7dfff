"""Only what is asked for is computed, and what tails may cost is decided from sizes."""

from __future__ import annotations

import numpy as np
import pytest
from support import direct_measures as small

from pipeline.inference.direct.exact import exact_tests
from pipeline.inference.direct.tails import bootstrap_tails, choose_tails, tail_points
from pipeline.resampling.exact import pairs as exact_pairs
from pipeline.resampling.exact.batch import compare_short
from pipeline.resampling.exact.bootstrap import compress
from pipeline.resampling.exact.budget import OF_TAILS, QUICK, tails_budget
from pipeline.resampling.exact.lattice import count_points
from pipeline.resampling.observe import observe


def decimals(units=60, systems=4, seed=2):
    """Make scores of four decimals: their laws are too wide for direct sums."""
    rng = np.random.default_rng(seed)
    ease = rng.random((units, 1))
    scores = np.clip(0.6 * ease + 0.4 * rng.random((units, systems)) + 0.04 * np.arange(systems), 0, 1)
    return small.make_measure(small.over(np.round(scores * 10_000)))


def all_of(measure):
    return np.ones(len(measure.pairs), bool)


def refuse(*args, **options):
    raise AssertionError("nobody asked for this law")


def test_a_tail_of_decimal_scores_computes_no_law_of_swaps(monkeypatch):
    """Such a law took 14 of 15 parts of the time, and was thrown away."""
    measure = decimals()
    observed = observe(measure)
    whole = exact_tests(measure, observed)
    monkeypatch.setattr(exact_pairs, "sign_flip_chances", refuse)
    tails = bootstrap_tails(measure, observed, asked=all_of(measure), key=1, budget=QUICK)
    assert tails.p.tobytes() == whole["bootstrap"].p.tobytes()
    assert list(exact_tests(measure, observed, parts=["bootstrap"])) == ["bootstrap"]


def test_swaps_alone_compute_no_bootstrap(monkeypatch):
    measure = decimals()
    observed = observe(measure)
    whole = exact_tests(measure, observed)
    monkeypatch.setattr(exact_pairs, "bootstrap_chances", refuse)
    alone = exact_tests(measure, observed, parts=["sign-flip"])
    assert list(alone) == ["sign-flip"]
    assert alone["sign-flip"].p.tobytes() == whole["sign-flip"].p.tobytes()


@pytest.mark.parametrize("reach", [1, 4, 900])
def test_the_bits_of_an_event_do_not_know_what_else_is_asked_for(reach):
    rng = np.random.default_rng(reach)
    numerators = rng.integers(0, reach + 1, (120, 5))
    pairs = np.stack(np.triu_indices(5, 1), axis=1)
    both = exact_pairs.compare_pairs(numerators, pairs)
    resampled = exact_pairs.compare_pairs(numerators, pairs, events=["two_sided"])
    swapped = exact_pairs.compare_pairs(numerators, pairs, events=["sign_flip"])
    assert both.log10_high[:, :5].tobytes() == resampled.log10_high[:, :5].tobytes()
    assert both.log10_high[:, 5].tobytes() == swapped.log10_high[:, 5].tobytes()
    assert np.isnan(resampled.log10_low[:, 5]).all()
    assert np.isnan(swapped.log10_low[:, :5]).all()


def test_an_event_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="there are no events"):
        exact_pairs.compare_pairs(np.zeros((3, 2), np.int64), np.array([[0, 1]]), events=["above"])


@pytest.mark.parametrize(("values", "units"), [(2, 30), (2, 3000), (5, 200), (300, 30), (1000, 90), (10**6, 40)])
def test_what_a_law_costs_is_bounded_from_sizes(values, units):
    rng = np.random.default_rng(units)
    measure = small.make_measure(small.over(rng.integers(0, values, (units, 3)) + np.array([0, 0, values // 5])))
    observed = observe(measure)
    bounds = tail_points(measure, observed, np.arange(3))
    for bound, (a, b) in zip(bounds.tolist(), measure.pairs.tolist(), strict=True):
        d = measure.statistics[:, a, 0] - measure.statistics[:, b, 0]
        d = d if d.sum() >= 0 else -d
        law, step, lowest = compress(*np.unique(d, return_counts=True), draws=units)
        points = sum(count_points(law, (x - lowest) // step) for x in (0, 2 * int(d.sum())))
        assert min(points, 2 * OF_TAILS.points) <= bound
        # Short laws are summed value by value: thirty accuracies in thousandths took six times what their points foretold.
        assert min(points * len(law.atoms) // 4, 2**17) <= bound


def test_the_pairs_nearest_to_each_other_come_first_and_nobody_changes_a_number():
    measure = decimals(systems=6)
    observed = observe(measure)
    asked = all_of(measure)
    asked[3] = False
    each = int(tail_points(measure, observed, np.array([0]))[0])
    chosen = choose_tails(measure, observed, asked=asked, points=4 * each)
    away = np.where(asked, np.abs(observed.delta) / observed.se, np.inf)
    assert set(np.flatnonzero(chosen)) == set(np.argsort(away)[:4])
    some = bootstrap_tails(measure, observed, asked=chosen, key=1)
    every = bootstrap_tails(measure, observed, asked=asked, key=1)
    assert some.p[:, chosen].tobytes() == every.p[:, chosen].tobytes()
    assert not choose_tails(measure, observed, asked=asked, points=0).any()
    np.testing.assert_array_equal(choose_tails(measure, observed, asked=asked, points=2**62), asked)


def test_the_tails_of_a_leaderboard_of_answers_fit_and_those_of_decimal_scores_do_not():
    """A thousand pairs of 0/1 scores cost less than what a default run spends; fifty of decimal scores cost more."""
    budget = tails_budget(replicates=100_000, pairs=1326, is_full=True)
    assert budget == 2**23
    assert budget > 1326 * (805 // 8 + 2 * (24 * 15 * 2))
    assert 50 * 2 * OF_TAILS.points > budget > 30 * 2 * OF_TAILS.points
    assert tails_budget(replicates=10**6, pairs=10**6, is_full=True) == 10**12 // 256


def test_tails_that_nothing_shows_have_no_budget():
    """Reports and tables have those of the full size."""
    assert tails_budget(replicates=10**6, pairs=10**6, is_full=False) == 0


def test_a_tail_is_known_to_the_two_digits_it_is_shown_with_in_a_sixth_of_the_time():
    """Of decimals its law is too wide: an enclosure, which holds the much narrower one that a verdict would have."""
    measure = decimals(units=40)
    observed = observe(measure)
    tails, fine = (bootstrap_tails(measure, observed, asked=all_of(measure), key=1, budget=b) for b in (OF_TAILS, QUICK))
    known = np.isfinite(tails.p)
    assert known.any()
    assert (((tails.lo <= fine.lo) & (fine.hi <= tails.hi)) | (tails.lo == tails.hi))[known].all()
    assert np.max((tails.hi - tails.lo)[known] / tails.p[known]) < 0.01
    assert OF_TAILS.frequencies * 6 < QUICK.frequencies


def test_a_kernel_that_is_asked_for_nothing_counts_only():
    logs, gain, discordant = np.full((1, 6), np.nan), np.zeros(1, np.int64), np.zeros(1, np.int64)
    scores = np.array([[1, 1, 0], [0, 0, 0]])
    compare_short(scores, np.array([[0, 1]]), 1, True, False, False, logs, gain, discordant)
    assert (gain[0], discordant[0]) == (2, 2)
    assert np.isnan(logs).all()
