"""Gains counted many at a time: the counts, sums and bins of a loop over single replicates, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pipeline.compiled.sizes import GROUP
from pipeline.resampling.comparison.compare import Crossed, Tally, Thresholds, compare_crossed, compare_values
from pipeline.resampling.comparison.compare_few import compare_few
from pipeline.resampling.comparison.gain_counts import DOUBTS, ROOM, TILE, parts_of, sum_and_bin
from pipeline.resampling.measures import BINS, LANES

PAIRS = np.array([[0, 1], [0, 2], [1, 2], [2, 0], [3, 1], [0, 3]])
MIDDLE = 48.0 + 2.0**-20  # written out: a gain of δ is in the 49th bin although rounding may take a little from it


def plain_tally(gain: NDArray[np.float64], limits: Thresholds, row: int, lanes: NDArray[np.float64]) -> tuple[list[int], list[int]]:
    """Add the sums of one pair as they are defined, and return its counts and bins."""
    empty, low, high = np.isnan(gain), limits.low[row], limits.high[row]
    less, upto = [np.sum(gain < x) for x in low], [np.sum(gain <= x) for x in high]
    counts = [less[0], upto[0] - less[0], less[1], upto[1] - less[1], upto[2] - less[2], len(gain) - empty.sum() - upto[2]]
    gain = gain / limits.step[row]
    ends = [np.sum(gain >= limits.above[row]), np.sum(gain <= limits.below[row])] if len(limits.above) else [0, 0]
    shift = gain - limits.center[row]
    for start in range(0, len(gain), LANES):
        x, d = gain[start : start + LANES], shift[start : start + LANES]
        moved = np.where(np.isnan(d), 0.0, d)
        lanes[:, : len(x)] += np.where(np.isnan(x), 0.0, [moved, moved * moved, np.abs(x)])
    with np.errstate(invalid="ignore"):
        place = np.clip(np.nan_to_num(shift[~empty] * limits.bin_scale[row] + MIDDLE, nan=0.0), 0, BINS - 1)
    return [*map(int, counts), *map(int, ends)], np.bincount(place.astype(int), minlength=BINS).tolist()


def check(values: NDArray[np.float64], limits: Thresholds, batches: list[int]) -> None:
    """Hold what compares many gains, and what compares few, to the sums as they are defined."""
    expected = []
    for row in range(len(limits.pair)):
        lanes = np.zeros((3, LANES))
        with np.errstate(invalid="ignore", over="ignore"):
            gain = (values[limits.first[row]] - values[limits.second[row]])[: sum(batches)]
            expected.append((plain_tally(gain, limits, row, lanes), np.isnan(gain).sum(), lanes))
    check_one(compare_values, values, limits, batches, expected)
    check_one(compare_few, values, limits, batches, expected)


def check_one(
    compare: Callable[..., None], values: NDArray[np.float64], limits: Thresholds, batches: list[int], expected: list[Any]
) -> None:
    pairs = len(limits.pair)
    counts, histogram = np.zeros((pairs, 2, 8), np.int32), np.zeros((pairs, 2, BINS), np.uint16)
    tally = Tally(counts, histogram, np.zeros((pairs, 2), np.int32), np.zeros((pairs, 3, LANES)))
    start = 0
    for length in batches:
        compare(values[:, start : start + length], limits, tally, 1)
        start += length
    assert not counts[:, 0].any()
    assert not histogram[:, 0].any()
    for pair, (plain, empty, lanes) in zip(limits.pair, expected, strict=True):
        assert (counts[pair, 1].tolist(), histogram[pair, 1].tolist()) == plain
        assert tally.empty[pair, 1] == empty
        np.testing.assert_array_equal(tally.lanes[pair], lanes)


def thresholds(rng: np.random.Generator, *, delta: NDArray[np.float64], slack: float, margin: bool = False) -> Thresholds:
    exact = np.arange(3.0) * delta[:, None]
    first, second = (np.ascontiguousarray(side) for side in PAIRS.T)
    ends = (2 * delta + 0.4, 2 * delta - 0.4) if margin else (np.zeros(0), np.zeros(0))
    scale = 4.0 / rng.uniform(0.5, 2, len(PAIRS))
    numbers = rng.permutation(len(PAIRS)).astype(np.int64)
    return Thresholds(numbers, first, second, exact - slack, exact + slack, delta, scale, *ends, np.ones(len(PAIRS)))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    lattice=st.sampled_from([0.0, 1e-13, 0.001, 0.05, 0.5]),
    slack=st.sampled_from([0.0, 1e-12, 0.01, 3.0]),
    batches=st.lists(st.sampled_from([LANES, GROUP, GROUP + LANES, 1024, TILE, TILE + GROUP]), max_size=2),
    last=st.integers(1, TILE + 2 * GROUP),
    margin=st.booleans(),
)
def test_counts_sums_and_bins_are_those_of_single_replicates(
    seed: int, lattice: float, slack: float, batches: list[int], last: int, margin: bool
) -> None:
    rng = np.random.default_rng(seed)
    delta = rng.choice([0.0, 0.3, 1.0, 4.0], len(PAIRS)) * rng.uniform(0.5, 1, len(PAIRS))
    values = rng.normal(size=(4, sum(batches) + last))
    if lattice:  # ties, and near ties
        values, delta = lattice * np.rint(values / lattice), lattice * np.rint(delta / lattice)
    check(values, thresholds(rng, delta=delta, slack=slack, margin=margin), [*batches, last])


@pytest.mark.parametrize(
    "special", ["nan", "far", "no scale", "tiny scale", "huge scale", "steps", "undefined", "between", "overlapping", "strided"]
)
def test_gains_that_are_out_of_the_ordinary_are_counted_too(special: str) -> None:
    rng = np.random.default_rng(7)
    values, limits = rng.normal(size=(4, 3 * TILE)), thresholds(rng, delta=rng.uniform(0, 1, len(PAIRS)), slack=1e-12)
    match special:
        case "nan":
            values[1, TILE : TILE + 300 : 7] = np.nan
        case "far":  # beyond all bins on both sides, and thresholds there too
            values[:, ::50] *= 1e6
            limits = limits._replace(low=limits.low * 1e6, high=limits.high * 1e6)
        case "no scale":
            limits = limits._replace(bin_scale=np.zeros(len(PAIRS)))
        case "tiny scale":
            limits = limits._replace(bin_scale=np.full(len(PAIRS), 1e-310))
        case "huge scale":
            values[1, ::9] = values[0, ::9]  # with δ = 0: in the middle, however narrow a bin is
            limits = thresholds(rng, delta=np.zeros(len(PAIRS)), slack=0.0)
            limits = limits._replace(bin_scale=np.array([1e307, 1e306, 1e300, 1e308, 5e305, np.inf]))
        case "steps":
            limits = limits._replace(step=np.array([1.0, 3.0, 1.0, 7.0, 1.0, 1.0]))
        case "undefined":
            undefined = {name: getattr(limits, name).copy() for name in ("low", "high", "center")}
            for array in undefined.values():
                array[2] = np.nan
            limits = limits._replace(**undefined)
        case "between":  # two neighbouring integers, of which the upper one is low
            values, low = np.rint(5 * values), np.rint(5 * limits.low)
            limits = limits._replace(low=low, high=low - 1)
        case "overlapping":
            limits = limits._replace(high=limits.low - np.array([0.0, 0.0, 0.3]))
        case "strided":
            values = np.ascontiguousarray(values.T).T
    check(values, limits, [TILE, TILE, TILE - 3 * LANES])


def test_a_gain_of_the_observed_size_is_in_the_middle_bin_although_it_lost_a_rounding_error() -> None:
    rng = np.random.default_rng(1)
    limits = thresholds(rng, delta=np.full(len(PAIRS), 1.1), slack=1e-12)._replace(bin_scale=np.full(len(PAIRS), 4.0))
    values = np.zeros((4, GROUP + 5))
    values[0] = np.nextafter(1.1, 0)
    tally = Tally(
        np.zeros((6, 1, 8), np.int32), np.zeros((6, 1, BINS), np.uint16), np.zeros((6, 1), np.int32), np.zeros((6, 3, LANES))
    )
    compare_values(values, limits, tally, 0)
    above = np.isin(limits.first, 0)
    assert tally.histogram[limits.pair[above], 0, 48].tolist() == [GROUP + 5] * above.sum()


@pytest.mark.parametrize("strided", [False, True])
def test_pairs_over_one_denominator_have_the_sums_and_bins_of_their_scores(strided: bool) -> None:
    rng = np.random.default_rng(3)
    limits = thresholds(rng, delta=rng.uniform(0, 0.2, len(PAIRS)), slack=0.0, margin=True)
    denominators = rng.integers(90, 110, (4, TILE + GROUP + 9)).astype(float)
    numerators = np.rint(denominators * rng.uniform(0.2, 0.9, denominators.shape))
    denominators[:] = denominators[0]
    denominators[:, TILE + 5] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.where(denominators > 0, numerators / denominators, np.nan)
    if strided:  # replicates of a system do not lie side by side
        scores = np.ascontiguousarray(scores.T).T
    crossed = Crossed(limits.first, np.full(len(PAIRS), 100), np.arange(len(PAIRS)))
    tally = Tally(
        np.zeros((6, 1, 8), np.int32), np.zeros((6, 1, BINS), np.uint16), np.zeros((6, 1), np.int32), np.zeros((6, 3, LANES))
    )
    compare_crossed(numerators, denominators, scores, crossed, limits, tally, 0)
    for row, pair in enumerate(limits.pair):
        lanes, gain = np.zeros((3, LANES)), scores[limits.first[row]] - scores[limits.second[row]]
        counts, bins = plain_tally(gain, limits, row, lanes)
        assert tally.histogram[pair, 0].tolist() == bins
        assert tally.counts[pair, 0, 6:].tolist() == counts[6:]
        assert tally.empty[pair, 0] == 1
        np.testing.assert_array_equal(tally.lanes[pair], lanes)
        gained = (numerators[limits.first[row]] - numerators[limits.second[row]])[denominators[0] > 0]
        assert tally.counts[pair, 0, :2].tolist() == [np.sum(gained < 0), np.sum(gained == 0)]


def test_few_gains_of_many_are_doubtful() -> None:
    """What is quick must be taken: else all of this would hold and nothing be gained."""
    a, b = np.random.default_rng(4).normal(size=(2, TILE))
    room, lanes, histogram = np.zeros(ROOM, np.int64), np.zeros((3, LANES)), np.zeros(BINS, np.uint16)
    parts = [parts_of(k * 0.7 - 1e-12, k * 0.7 + 1e-12, 0.7, 2.8) for k in range(3)]
    limits, width = [low for low, _ in parts], max(high - low for low, high in parts)
    addresses = [array.ctypes.data for array in (a, b, lanes, histogram)]
    done, doubtful = sum_and_bin(*addresses[:2], TILE, 0.7, 2.8, *limits, width, *addresses[2:], room)
    assert (done, doubtful) == (TILE, sum(int(word).bit_count() for word in room[DOUBTS : DOUBTS + TILE // 64].view(np.uint64)))
    assert doubtful < 20
    assert histogram.sum() == TILE
