"""Quantiles of gains: the bits of numpy.quantile, whatever the scores look like."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pipeline.compiled.small_work import FewSoFar
from pipeline.resampling import quantiles, sorted_quantiles
from pipeline.resampling.order_statistics import select_two
from pipeline.resampling.quantiles import gain_quantiles
from pipeline.resampling.rounded_quantiles import find_among_rounded, round_scores
from pipeline.resampling.standard_errors.influence import leave_one_out, pair_errors, pair_moments

KINDS = ("smooth", "ties", "constant", "spike", "heavy", "far", "one apart", "tiny", "huge")


@pytest.fixture(autouse=True)
def by_kernel_or_sorting(monkeypatch):
    """Every test by the kernels, unless it says otherwise: few gains are sorted in their place, with the same bits."""
    monkeypatch.setattr(sorted_quantiles, "_FEW", -1)
    monkeypatch.setattr(sorted_quantiles, "_is_little", lambda gains: False)
    monkeypatch.setattr(quantiles, "_FEWEST", 0)


def all_pairs(rows):
    return np.stack(np.triu_indices(rows, 1), axis=1).astype(np.int64)


def make_scores(kind, rows, kept, seed):
    """Scores of a kind that a bin of the wrong width, or one bin for all, would get wrong."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(rows, kept))
    return {
        "smooth": normal,
        "ties": np.round(normal) / 3,
        "constant": np.ones((rows, kept)) * rng.normal(size=(rows, 1)),
        "spike": np.where(rng.random((rows, kept)) < 0.001, 1e6, np.round(normal)),
        "heavy": rng.standard_cauchy((rows, kept)) ** 3,
        "far": normal + 1e9 * np.arange(rows)[:, None],
        "one apart": np.where(np.arange(kept) == kept - 1, 7.0, np.zeros((rows, kept)) + np.arange(rows)[:, None]),
        "tiny": normal * 1e-310,
        "huge": normal * 1e300,
    }[kind]


def expected(scores, pair, center, probabilities, distances):
    gains = scores[pair[0]] - scores[pair[1]]
    gains = gains[~np.isnan(gains)]
    if not len(gains):
        return np.full(len(probabilities), np.nan), np.full(len(distances), np.nan)
    return np.quantile(gains, probabilities), np.quantile(np.abs(gains - center), distances)


@given(
    kind=st.sampled_from(KINDS),
    rows=st.integers(2, 5),
    kept=st.integers(1, 3000),
    seed=st.integers(0, 2**31),
    empty=st.sampled_from([0.0, 0.1, 1.0]),
    off=st.sampled_from([0.0, 0.5, 50.0]),
    how=st.sampled_from(["sorted", "bins of floats", "bins of rounded scores"]),
)
@example(kind="smooth", rows=3, kept=1, seed=0, empty=0.0, off=0.0, how="bins of floats")
@example(kind="one apart", rows=3, kept=3000, seed=0, empty=0.0, off=0.0, how="bins of floats")
@example(kind="smooth", rows=3, kept=1, seed=0, empty=0.0, off=0.0, how="bins of rounded scores")
@example(kind="smooth", rows=3, kept=2999, seed=0, empty=0.0, off=0.5, how="bins of rounded scores")
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_quantiles_have_the_bits_of_numpy(kind, rows, kept, seed, empty, off, how):
    sorted_quantiles._FEW = 2**21 if how == "sorted" else -1
    quantiles._FEWEST = 0 if how == "bins of rounded scores" else 3001
    scores = make_scores(kind, rows, kept, seed)
    rng = np.random.default_rng(seed + 1)
    scores[0, rng.random(kept) < empty] = np.nan
    pairs = all_pairs(rows)[:, :: rng.choice([-1, 1])]
    gains = scores[pairs[:, 0]] - scores[pairs[:, 1]]
    middle = np.array([np.median(of[~np.isnan(of)]) if not np.isnan(of).all() else 0.0 for of in gains])
    delta = middle + off * np.abs(middle)
    probabilities = np.concatenate([rng.random((len(pairs), 4)), np.tile([0.0, 0.025, 0.5, 1.0], (len(pairs), 1))], axis=1)
    distances = [0.0, 0.5, 0.95, 1.0]
    found = gain_quantiles(scores, pairs, delta=delta, probabilities=probabilities, distances=distances)
    for row, pair in enumerate(pairs):
        gain, distance = expected(scores, pair, delta[row], probabilities[row], distances)
        assert np.array_equal(found.gain[row], gain, equal_nan=True)
        assert np.array_equal(found.distance[row], distance, equal_nan=True)
    assert found.replicates.tolist() == (~np.isnan(gains)).sum(axis=1).tolist()


@pytest.mark.parametrize(
    ("at_hand", "forms"),
    [(False, "ssssssk"), (True, "skkkkkk")],
)
def test_first_quantiles_do_not_wait_for_a_compiler(at_hand, forms, monkeypatch):
    used = []
    monkeypatch.setattr(sorted_quantiles, "is_at_hand", lambda *arguments: at_hand)
    monkeypatch.setattr(sorted_quantiles, "_is_little", FewSoFar(100, 160, at_hand=sorted_quantiles._is_at_hand))
    monkeypatch.setattr(quantiles, "sort_gains", lambda *arguments: used.append("s"))
    monkeypatch.setattr(quantiles, "find_among_rounded", lambda *arguments: used.append("k"))
    scores = np.zeros((3, 10))
    for pairs in (0, 3, 3, 3, 3, 3, 3):  # 10 gains each, 160 at most in all
        gain_quantiles(scores, all_pairs(3)[:pairs], delta=np.zeros(pairs), probabilities=np.zeros((pairs, 1)))
    assert "".join(used) == forms


def test_pairs_left_by_rounded_scores_are_sorted_where_they_are_few(monkeypatch):
    scores, pairs = np.random.default_rng(3).normal(size=(4, 20_000)), all_pairs(4)
    scores[3, 5] = np.nan
    asked = {"delta": np.zeros(6), "probabilities": np.tile([0.02, 0.97], (6, 1)), "distances": [0.95]}
    expected_of_all = gain_quantiles(scores, pairs, **asked)
    monkeypatch.setattr(sorted_quantiles, "_is_little", lambda gains: gains == 3 * 20_000)
    monkeypatch.setattr(quantiles, "_find_quantiles", None)
    found = gain_quantiles(scores, pairs, **asked)
    assert np.array_equal(found.gain, expected_of_all.gain)
    assert np.array_equal(found.distance, expected_of_all.distance)
    assert found.replicates.tolist() == expected_of_all.replicates.tolist()


def test_the_kernel_of_quantiles_is_known_by_the_types_it_is_called_with():
    scores = make_scores("smooth", 3, 3000, 3)
    gain_quantiles(scores, all_pairs(3), delta=np.zeros(3), probabilities=np.full((3, 1), 0.5), distances=[0.5])
    assert sorted_quantiles._is_at_hand()


def read_off_rounded(scores, monkeypatch):
    """Quantiles by rounded scores alone, beside those of numpy: an error where a pair is left to bins of floats."""
    monkeypatch.setattr(quantiles, "_find_quantiles", lambda order, *_: [][len(order)])
    pairs, p, distances = all_pairs(len(scores)), [0.02, 0.025, 0.97, 0.975], [0.95]
    delta = (scores[pairs[:, 0]] - scores[pairs[:, 1]]).mean(axis=1) + 0.01
    asked = {"delta": delta, "probabilities": np.tile(p, (len(pairs), 1)), "distances": distances}
    found = gain_quantiles(scores, pairs, **asked)
    by_numpy = [expected(scores, pair, center, p, distances) for pair, center in zip(pairs, delta, strict=True)]
    return [*zip(found.gain.tolist(), found.distance.tolist(), strict=True)], [(g.tolist(), d.tolist()) for g, d in by_numpy]


@pytest.mark.parametrize("apart", [0.0, 3.0])
def test_gains_of_many_values_are_found_among_rounded_scores(apart, monkeypatch):
    rng = np.random.default_rng(8)
    together = rng.normal(size=20_000)
    scores = np.stack([40 + apart * row + together + rng.normal(size=20_000) / (2 + row) for row in range(3)])
    found, by_numpy = read_off_rounded(scores, monkeypatch)
    assert found == by_numpy


def test_every_quantile_is_found_in_its_three_bins(monkeypatch):
    """One at a time, as more would be left to bins of floats; the number is odd, and its last gain the smallest."""
    monkeypatch.setattr(quantiles, "_find_quantiles", lambda order, *_: [][len(order)])
    gains = np.random.default_rng(11).normal(size=(2, 9999))
    gains[:, -1] = gains[0].min(), gains[1].max()
    pairs, p = np.tile([0, 1], (600, 1)), np.linspace(0, 1, 600)
    found = gain_quantiles(gains, pairs, delta=np.zeros(600), probabilities=p[:, None])
    assert found.gain[:, 0].tolist() == np.quantile(gains[0] - gains[1], p).tolist()
    assert (found.replicates == 9999).all()
    delta = np.linspace(-1, 1, 600)
    found = gain_quantiles(gains, pairs, delta=delta, probabilities=np.zeros((600, 0)), distances=[0.3])
    assert found.distance[:, 0].tolist() == [np.quantile(abs(gains[0] - gains[1] - d), 0.3) for d in delta]


def test_gains_of_a_lattice_are_found_among_rounded_scores(monkeypatch):
    """Every value comes again and again, and rounded gains of one value may be in two bins."""
    scores = np.random.default_rng(9).binomial(380, 0.7, (4, 20_000)) / 3.8
    found, by_numpy = read_off_rounded(scores, monkeypatch)
    assert found == by_numpy


@pytest.mark.parametrize("steps", [-29_000, -12_000, 7_990, 8_010, 12_000, 29_000])
@pytest.mark.parametrize(("p", "distances"), [([0.001, 0.999], []), ([], [0.999])])
def test_quantiles_beside_a_gain_that_is_far_from_all_have_the_bits_of_numpy(p, distances, steps):
    """Sixteen bits hold distances of gains that are 24 000 steps off from one that is no more than 8000 off."""
    scores = np.random.default_rng(12).random((2, 4000))
    delta = np.array([steps / 24_000])
    found = gain_quantiles(scores, all_pairs(2), delta=delta, probabilities=np.array([p]), distances=distances)
    gain, distance = expected(scores, (0, 1), delta[0], p, distances)
    assert (found.gain[0].tolist(), found.distance[0].tolist()) == (gain.tolist(), distance.tolist())


def test_scores_whose_floats_are_coarser_than_a_step_have_the_bits_of_numpy():
    """A gain is rounded by hundreds of steps where scores of one system are a quadrillion: its distance may be in any bin."""
    rng = np.random.default_rng(13)
    scores = np.stack([1e15 + rng.integers(0, 10, 4000), rng.normal(size=4000)])
    delta = 1e15 + np.linspace(-2, 12, 113)
    pairs, p, distances = np.tile([0, 1], (113, 1)), np.linspace(0, 1, 113), [0.1]
    found = gain_quantiles(scores, pairs, delta=delta, probabilities=p[:, None], distances=distances)
    by_numpy = [expected(scores, (0, 1), center, [q], distances) for center, q in zip(delta, p, strict=True)]
    assert found.gain.tolist() == [gain.tolist() for gain, _ in by_numpy]
    assert found.distance.tolist() == [distance.tolist() for _, distance in by_numpy]


def test_a_pair_of_few_values_is_left_to_bins_of_floats():
    """One outlier makes the steps so long that all other gains are in one bin."""
    scores = np.random.default_rng(10).normal(size=(3, 20_000))
    scores[2, 0] = 1e5
    rounded, pairs = round_scores(scores), all_pairs(3)
    left = np.zeros(3, np.bool_)
    room = np.full((3, 1), np.nan), np.full((3, 1), np.nan), left
    asked = np.zeros(3), np.full((3, 1), 0.5), np.array([0.95])
    find_among_rounded(rounded.steps, rounded.away(pairs, asked[0]), np.arange(3), scores, pairs, *asked, *room)
    assert left.tolist() == [True, True, True]


def test_many_pairs_keep_their_places():
    """Pairs are walked in another order than they come in."""
    scores = np.random.default_rng(3).normal(size=(20, 400)) * np.arange(1, 21)[:, None]
    pairs = np.random.default_rng(4).permutation(all_pairs(20))
    probabilities = np.random.default_rng(5).random((len(pairs), 2))
    delta = (scores[pairs[:, 0]] - scores[pairs[:, 1]]).mean(axis=1)
    found = gain_quantiles(scores, pairs, delta=delta, probabilities=probabilities, distances=[0.9])
    for row, pair in enumerate(pairs):
        gain, distance = expected(scores, pair, delta[row], probabilities[row], [0.9])
        assert (found.gain[row].tolist(), found.distance[row].tolist()) == (gain.tolist(), distance.tolist())


def test_pairs_have_the_same_quantiles_however_many_are_looked_at_together(monkeypatch):
    scores, pairs = make_scores("smooth", 12, 500, 3), all_pairs(12)
    asked = {"delta": np.zeros(len(pairs)), "probabilities": np.full((len(pairs), 1), 0.3), "distances": [0.95]}
    together = gain_quantiles(scores, pairs, **asked)
    monkeypatch.setattr(quantiles, "_AT_ONCE", 7 * 500)
    apart = gain_quantiles(scores, pairs, **asked)
    assert all(np.array_equal(getattr(together, name), getattr(apart, name)) for name in vars(together))
    assert np.isfinite(apart.gain).all()


def test_what_is_not_asked_for_or_undefined_has_no_quantile():
    scores = np.random.default_rng(6).normal(size=(2, 50))
    asked = np.array([[np.nan, -0.1, 1.1, 0.5]])
    found = gain_quantiles(scores, np.array([[0, 1]]), delta=np.array([np.nan]), probabilities=asked, distances=[0.5])
    assert np.isnan(found.gain[0]).tolist() == [True, True, True, False]
    assert np.isnan(found.distance).all()
    nothing = gain_quantiles(scores[:, :0], np.array([[0, 1]]), delta=np.zeros(1), probabilities=asked, distances=[0.5])
    assert np.isnan(nothing.gain).all()
    assert nothing.replicates.tolist() == [0]


@pytest.mark.parametrize("pairs", [[[0, 2]], [[-1, 0]]])
def test_a_pair_of_unknown_rows_is_refused(pairs):
    with pytest.raises(ValueError, match="pairs name rows"):
        gain_quantiles(np.zeros((2, 5)), np.array(pairs), delta=np.zeros(1), probabilities=np.zeros((1, 1)))


def test_shapes_that_do_not_agree_are_refused():
    with pytest.raises(ValueError, match="not of 1 pairs"):
        gain_quantiles(np.zeros((2, 5)), np.array([[0, 1]]), delta=np.zeros(2), probabilities=np.zeros((1, 1)))


def ratio(sums):
    return 100.0 * (sums[0] / sums[1])


@given(seed=st.integers(0, 2**31), units=st.integers(2, 60))
@example(seed=5962, units=2)  # a pair whose differences without each unit are the same but for rounding
@settings(max_examples=40, deadline=None)
def test_moments_are_those_of_the_leave_one_outs(seed, units):
    rng = np.random.default_rng(seed)
    statistics = rng.integers(1, 30, (units, 4, 2))
    jackknife, pairs = leave_one_out(statistics, ratio), all_pairs(4)
    found = pair_moments(jackknife, pairs)
    assert found.se.tobytes() == pair_errors(jackknife, pairs).tobytes()
    for row, (a, b) in enumerate(pairs):
        without = np.array([ratio((statistics.sum(axis=0) - own).T.astype(float)) for own in statistics])
        u = (without[:, a] - without[:, b]).mean() - (without[:, a] - without[:, b])
        if np.abs(u).max() < 1e-12 * np.abs(without).max():  # they differ by rounding alone: nothing is accelerated
            assert np.isnan(found.acceleration[row])
        else:
            assert found.acceleration[row] == pytest.approx(np.sum(u**3) / (6 * np.sum(u**2) ** 1.5), abs=1e-9)
    turned = pair_moments(jackknife, pairs[:, ::-1]).acceleration
    assert np.allclose(turned, -found.acceleration, atol=1e-9, equal_nan=True)


def test_without_spread_there_is_no_acceleration():
    """One system is .3 better in every unit: what differs between leave-one-outs is rounding."""
    statistics = np.ones((37, 3, 2), np.int64) * 10
    statistics[:, :, 0] = np.random.default_rng(0).integers(0, 7, (37, 1)) + np.array([0, 3, 3])
    found = pair_moments(leave_one_out(statistics, ratio), all_pairs(3))
    assert np.isnan(found.acceleration).all()
    assert (found.se < 1e-12).all()
    assert np.isnan(pair_moments(np.ones((2, 1)), all_pairs(2)).acceleration).all()
    assert np.isnan(pair_moments(np.array([[1.0, np.nan, 2.0], [0.0, 0.0, 0.0]]), all_pairs(2)).acceleration).all()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.1, 0.1 + 2**-55, 3.0, np.inf]), min_size=1, max_size=40), st.data())
def test_an_order_statistic_and_the_next_are_those_of_sorting(values, data):
    rank = data.draw(st.integers(0, len(values) - 1))
    ordered = sorted(values)
    assert select_two(np.array(values), rank) == (ordered[rank], ordered[min(rank + 1, len(values) - 1)])


def test_levels_that_are_asked_twice_are_answered_alike(monkeypatch):
    """Basic and percentile intervals are of the same quantiles, which are found once."""
    monkeypatch.setattr(quantiles, "_find_quantiles", None)  # no pair is left to it
    rng = np.random.default_rng(8)
    scores, pairs = rng.binomial(380, 0.6, (3, 9000)) / 380, all_pairs(3)
    asked = np.array(
        [[0.025, 0.975, 0.025, 0.975, 0.03, 0.025], [0.02, np.nan, 0.98, np.nan, 0.02, 0.98], [0.99, 0.01, 0.01, 0.99, 1.0, 1.0]]
    )
    found = gain_quantiles(scores, pairs, delta=np.zeros(3), probabilities=asked, distances=[0.95])
    for row, (first, second) in enumerate(pairs):
        gains = scores[first] - scores[second]
        known = np.isfinite(asked[row])
        assert found.gain[row, known].tolist() == np.quantile(gains, asked[row, known]).tolist()
        assert np.isnan(found.gain[row, ~known]).all()
        assert found.distance[row].tolist() == [np.quantile(np.abs(gains), 0.95)]
