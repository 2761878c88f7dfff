"""Windows change no quantile: what is in them is counted, and where a bin is not, all gains are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from pipeline.resampling import quantiles
from pipeline.resampling.quantile_windows import (
    BINS,
    HALF,
    SAMPLED,
    SHIFT,
    cover,
    find_windows,
    gather,
    locate,
    sample_of,
    share_in,
)
from pipeline.resampling.quantiles import gain_quantiles
from pipeline.resampling.rounded_quantiles import _search_all, _search_windows

KEPT = 20_000
PAIRS = np.array(list(combinations(range(4), 2)))
ASKED = np.array([0.025, 0.975, 0.0262, 0.9763, np.nan, 0.95])  # five of gains, the last of the distance
SHIFT_BY = 2**15 + 40


def make_steps(kind, seed=0):
    rng = np.random.default_rng(seed)
    values = {
        "smooth": lambda: rng.normal(scale=2500, size=(2, KEPT)),
        "lattice": lambda: 350 * (rng.binomial(380, 0.7, (2, KEPT)) - 266.0),
        "skewed": lambda: np.minimum(rng.exponential(1500, size=(2, KEPT)), 12_000) - 1500,
        "sorted": lambda: np.sort(
            rng.normal(scale=2500, size=(2, KEPT)) * [[1], [0.1]], axis=1
        ),  # a sample tells nothing of the rest
        "one": lambda: np.zeros((2, KEPT)),
    }[kind]()
    return np.clip(np.rint(values), -12_000, 12_000).astype(np.int16)


def room_for(kept, asked):
    eights = -(-kept // 8) * 8
    ends = np.empty(len(asked), np.int64), np.empty((2, len(asked)), np.int64), np.empty((2, len(asked)), np.int64)
    marks = np.zeros(BINS, np.int64), np.zeros(BINS, np.uint8), np.zeros(eights, np.uint8)
    return *ends, *marks, (np.empty(eights, np.int64), np.empty(eights, np.int64))


def bins_of(a, b):
    return (a.astype(np.int64) - b + SHIFT_BY) >> SHIFT


def search(find, a, b):
    ranks, lows, highs, counts, wanted, states, room = room_for(len(a), ASKED)
    size = find(a, b, SHIFT_BY, ASKED, 5, ranks, lows, highs, counts, wanted, states, room)
    assert not counts.any()  # for the next pair
    assert not wanted.any()
    return size, ranks.tolist(), lows.tolist(), highs.tolist(), room[0][: max(size, 0)].tolist(), room[1][: max(size, 0)].tolist()


@pytest.mark.parametrize("kind", ["smooth", "lattice", "skewed"])
@pytest.mark.parametrize("kept", [KEPT, KEPT - 3, 2500])
def test_windows_hold_the_bins_that_are_found_among_all_gains(kind, kept):
    found = 0
    for seed in range(20):
        a, b = make_steps(kind, seed)[:, :kept]
        in_windows = search(_search_windows, a, b)
        if in_windows[0] >= 0:
            found += 1
            assert in_windows == search(_search_all, a, b)
    assert found >= 15


@pytest.mark.parametrize("kind", ["sorted", "one"])
def test_bins_that_a_sample_does_not_tell_are_looked_for_among_all_gains(kind):
    assert search(_search_windows, *make_steps(kind))[0] == -1


def test_quantiles_have_the_same_bits_where_no_window_holds_them(monkeypatch):
    """All pairs are searched among all gains: those of replicates that are sorted."""
    monkeypatch.setattr(quantiles, "_find_quantiles", lambda order, *_: [][len(order)])
    scores = np.sort(np.random.default_rng(5).normal(size=(4, KEPT)), axis=1) * np.array([[1.0], [0.3], [2.0], [0.1]])
    delta = (scores[PAIRS[:, 0]] - scores[PAIRS[:, 1]]).mean(axis=1)
    p = [0.02, 0.97]
    found = gain_quantiles(scores, PAIRS, delta=delta, probabilities=np.tile(p, (6, 1)), distances=[0.95])
    gains = scores[PAIRS[:, 0]] - scores[PAIRS[:, 1]]
    assert found.gain.tolist() == [np.quantile(of, p).tolist() for of in gains]
    assert found.distance[:, 0].tolist() == [np.quantile(abs(of - d), 0.95) for of, d in zip(gains, delta, strict=True)]


@pytest.mark.parametrize("level", [0.02, 0.05, 0.07])
def test_gains_between_windows_are_nearer_than_a_distance_only_around_the_observed_gain(level, monkeypatch):
    """One window is far from δ and the other at it, with few gains between them, all of which are further than the distance."""
    monkeypatch.setattr(quantiles, "suits_sorting", lambda n: False)
    rng, kept = np.random.default_rng(3), 200_000
    gains = np.abs(rng.normal(scale=3.0, size=kept))
    far = rng.random(kept) < 0.06
    gains[far], gains[0] = rng.normal(-20, 0.3, far.sum()), 21.0
    gains[rng.choice(kept, 60, replace=False)] = rng.uniform(-18, -1, 60)
    scores = np.stack([gains, np.zeros(kept)])
    asked = {"delta": np.zeros(1), "probabilities": np.array([[0.03]]), "distances": [level]}
    found = gain_quantiles(scores, np.array([[0, 1]]), **asked)
    assert found.distance.tolist() == [[np.quantile(np.abs(gains), level)]]
    assert found.gain.tolist() == [[np.quantile(gains, 0.03)]]


def test_a_sample_is_an_eighth_within_bounds():
    assert [sample_of(kept) for kept in (1, 2000, 9000, 100_000, 10**6)] == [1, 2000, 2048, 12_500, 16_384]


def test_a_window_holds_its_quantile_as_often_as_it_is_said_to():
    """Of 10,000 quantiles 5 are expected to lie 3.5 deviations of their rank away or more: of these 400, six would be too many."""
    missed = 0
    for seed in range(100):
        a, b = make_steps("smooth", seed)
        size = sample_of(KEPT)
        lows, highs = np.empty(6, np.int64), np.empty(6, np.int64)
        find_windows(a[:size], b[:size], SHIFT_BY, ASKED, 5, lows, highs, np.empty(SAMPLED + 1, np.int64))
        assert (lows[4], highs[4]) == (1, 0)
        sought = np.quantile(bins_of(a, b), ASKED[:4], method="lower")
        missed += np.count_nonzero((sought < lows[:4]) | (sought > highs[:4]))
    assert missed <= 6


@pytest.mark.parametrize(
    "runs", [[[3800, 3900], [4300, 4400]], [[0, 3700], [4500, BINS - 1]], [[4000, 4100], [1, 0]], [[1, 0], [1, 0]]]
)
@pytest.mark.parametrize("kept", [KEPT, 4999, 8, 3, 1])
def test_what_is_gathered_is_in_the_runs_and_the_rest_is_counted(runs, kept):
    a, b = make_steps("smooth")[:, :kept]
    bins = bins_of(a, b)
    states, places, found = (np.zeros(-(-kept // 8) * 8, kind) for kind in (np.uint8, np.int64, np.int64))
    size, below, between = gather(a, b, SHIFT_BY, np.array(runs), states, places, found)
    (low, high), (other, end) = runs
    inside = (bins >= low) & (bins <= high) | (bins >= other) & (bins <= end)
    assert places[:size].tolist() == np.flatnonzero(inside).tolist()
    assert found[:size].tolist() == bins[inside].tolist()
    if low <= high:
        assert below == np.count_nonzero(bins < low)
        assert between == (np.count_nonzero((bins > high) & (bins < other)) if other <= end else 0)


def test_windows_are_covered_by_two_runs_with_the_widest_gap_between_them():
    def covered(*windows):
        lows, highs = np.ones((2, 4), np.int64), np.zeros((2, 4), np.int64)
        for place, (low, high) in enumerate(windows):
            lows[place % 2, place // 2], highs[place % 2, place // 2] = low, high
        runs = np.full((2, 2), -7)
        cover(lows, highs, runs)
        return runs.tolist()

    assert covered() == [[1, 0], [1, 0]]  # of a pair without quantiles no bin is wanted
    assert covered((5, 9)) == [[5, 9], [1, 0]]
    assert covered((50, 60), (5, 9), (58, 70)) == [[5, 9], [50, 70]]
    assert covered((5, 30), (7, 9), (31, 40)) == [[5, 40], [1, 0]]
    assert covered((5, 9), (20, 25), (100, 130), (110, 120)) == [[5, 25], [100, 130]]


def test_a_share_of_the_sample_is_no_less_than_that_of_the_runs():
    a, b = make_steps("smooth")
    before, ends = np.empty(SAMPLED + 1, np.int64), np.empty((2, 6), np.int64)
    find_windows(a[:4000], b[:4000], SHIFT_BY, ASKED, 5, *ends, before)
    bins = bins_of(a, b)[:4000]
    for runs in ([[3801, 3899], [4301, 4500]], [[4001, 4002], [1, 0]]):
        share = share_in(np.array(runs), before)
        exact = sum(np.mean((bins >= low) & (bins <= high)) for low, high in runs)
        wider = sum(np.mean((bins >= low - 8) & (bins <= high + 8)) for low, high in runs if low <= high)
        assert exact <= share <= wider


def test_a_rank_at_the_edge_of_a_window_is_not_located():
    counts = np.zeros(BINS, np.int64)
    counts[100:110] = 10
    assert locate(0.5, 201, counts, 60, 98, 112, False) == (10, 103, 105)  # rank 100: the first in bin 104
    assert locate(0.5, 201, counts, 100, 104, 112, False)[0] == -2  # the bin before it is not known
    assert locate(0.5, 201, counts, 60, 98, 104, False)[0] == -2  # nor the one after it
    assert locate(0.5, 201, counts, 101, 98, 112, False)[0] == -2
    assert locate(0.5, 201, counts, 0, 98, 112, False)[0] == -2
    assert locate(np.nan, 201, counts, 60, 98, 112, False) == (-1, 1, 0)
    counts[HALF - 10 : HALF + 10] = 5
    assert locate(0.5, 201, counts, 60, 1, 9, True) == (10, 4, 6)
    assert locate(0.0, 5, counts, 0, 0, 9, True) == (0, 0, 1)
