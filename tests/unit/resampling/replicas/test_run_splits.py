"""Ways to part runs are listed once each, or drawn by address, all with the same chance."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom

from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.splits import count_splits, draw_subsets, split_runs

FALSE_ALARM = 1e-6


def ways(key: int, runs: int, first: int, second: int, most: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    found = split_runs(Draws(key, 1, 1), runs, first=first, second=second, most=most)
    sides = zip(found.first.tolist(), found.second.tolist(), strict=True)
    return [(tuple(sorted(one)), tuple(sorted(other))) for one, other in sides]


def test_four_runs_have_three_pairs_of_halves() -> None:
    assert ways(1, 4, 2, 2, 3) == [((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))]


@pytest.mark.parametrize(("runs", "first", "second", "number"), [(3, 1, 1, 3), (5, 2, 2, 15), (5, 2, 3, 10), (6, 3, 3, 10)])
def test_all_ways_are_listed_once(runs: int, first: int, second: int, number: int) -> None:
    found = ways(1, runs, first, second, number)
    assert count_splits(runs, first, second) == number == len({frozenset(pair) for pair in found})
    assert all(len({*one, *other}) == first + second for one, other in found)
    assert split_runs(Draws(1, 1, 1), runs, first=first, second=second, most=number).enumerated


def test_more_ways_than_were_asked_for_are_drawn_by_address() -> None:
    one, same, other = (ways(key, 9, 3, 4, 200) for key in (5, 5, 6))
    assert one == same != other
    assert not split_runs(Draws(5, 1, 1), 9, first=3, second=4, most=200).enumerated
    assert all((len(a), len(b), len({*a, *b})) == (3, 4, 7) for a, b in one)


@pytest.mark.statistical
def test_every_way_has_the_same_chance() -> None:
    number = 14  # of 15: drawn
    drawn = Counter(
        frozenset(pair) for key in range(300) for pair in ways(key, 5, 2, 2, number)
    )  # 4200 draws; 15 ways and two sides, so each bound is at 1e-6 / 30
    assert len(drawn) == 15
    low, high = binom.ppf([FALSE_ALARM / 30, 1 - FALSE_ALARM / 30], 300 * number, 1 / 15)
    assert all(low <= count <= high for count in drawn.values())


@pytest.mark.statistical
@pytest.mark.parametrize("most", [3, 2])
def test_runs_are_paired_at_random(most: int) -> None:
    """All ways, and those that are drawn: run 0 meets each of the others as often."""
    met = Counter()
    for key in range(600):
        found = split_runs(Draws(key, 1, 1), 4, first=2, second=2, most=most)
        for one, other in zip(found.first.tolist(), found.second.tolist(), strict=True):
            met.update({*pair} - {0} == {1} for pair in zip(one, other, strict=True) if 0 in pair)
    low, high = binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], 600 * most, 1 / 3)
    assert low <= met[True] <= high


def test_subsets_have_no_run_twice_and_smaller_ones_are_part_of_larger_ones() -> None:
    small, large = (draw_subsets(Draws(3, 1, 1), 8, size=size, count=50) for size in (2, 5))
    assert all(len(set(row)) == 5 for row in large.tolist())
    assert np.array_equal(small, large[:, :2])
    assert len({tuple(row) for row in small.tolist()}) > 25  # of 56
    assert not np.array_equal(small, draw_subsets(Draws(4, 1, 1), 8, size=2, count=50))


@pytest.mark.parametrize(("first", "second"), [(0, 2), (3, 2)])
def test_groups_that_there_are_not_are_refused(first: int, second: int) -> None:
    with pytest.raises(ValueError, match=f"4 runs have no groups of {first} and {second}"):
        split_runs(Draws(1, 1, 1), 4, first=first, second=second, most=9)
    with pytest.raises(ValueError, match="4 runs have no subset of 5"):
        draw_subsets(Draws(1, 1, 1), 4, size=5, count=1)
