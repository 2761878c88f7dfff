"""Which pairs have no verdict: few graded scores, losses on few units, failures that other systems show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.cubes.declarations import UNDECIDED as FLAGS
from pipeline.inference.unit_diagnostics import undecided
from pipeline.inference.unit_diagnostics.undecided import UNDECIDED, UnitShape, explain_undecided, find_undecided
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.standard_errors.influence import leave_one_out, pair_moments


def measure_of(scores: NDArray[np.integer], *, higher_is_better: bool = True) -> Measure:
    """Return all pairs of (unit, system) scores."""
    statistics = np.stack([scores, np.ones_like(scores)], axis=2).astype(np.int64)
    pairs = np.stack(np.triu_indices(scores.shape[1], 1), axis=1).astype(np.int64)
    return Measure(statistics, lambda sums: sums[0] / sums[1], "ratio", higher_is_better, pairs, np.zeros(scores.shape[1], bool))


def reasons_of(scores: NDArray[np.integer], *, effective: float | None = None, **given: Any) -> list[str]:
    measure = measure_of(scores, **given)
    moments = pair_moments(leave_one_out(measure.statistics, measure.score), measure.pairs)
    shape = UnitShape.of(measure, observe(measure), moments, effective=effective)
    return [UNDECIDED[code] for code in find_undecided(shape)]


def graded(units: int, systems: int = 2, seed: int = 1) -> NDArray[np.int64]:
    return np.rint(700 + 50 * np.random.default_rng(seed).normal(size=(units, systems))).astype(np.int64)


def test_graded_scores_of_fewer_than_twenty_units_are_not_decided() -> None:
    assert reasons_of(graded(19)) == ["few units"]
    assert reasons_of(graded(20)) == [""]
    assert reasons_of(graded(40), effective=12.0) == [""]
    assert reasons_of(graded(40), effective=5.9) == ["few units"]


def test_right_and_wrong_answers_are_decided_with_any_number_of_units() -> None:
    wins = np.stack([np.arange(12) < 11, np.arange(12) < 2], axis=1).astype(np.int64)
    assert reasons_of(wins) == [""]
    half_a_point = wins.copy()
    half_a_point[0, 0] = 3
    assert reasons_of(half_a_point) == ["few units"]


def test_clusters_of_answers_are_graded() -> None:
    wins = np.stack([np.arange(12) < 11, np.arange(12) < 2], axis=1).astype(np.int64)
    measure = measure_of(wins)
    sizes = measure.statistics.copy()
    sizes[:, :, 1] = np.arange(1, 13)[:, None]
    clusters = Measure(sizes, measure.score, "ratio", True, measure.pairs, measure.keep)
    moments = pair_moments(leave_one_out(sizes, measure.score), measure.pairs)
    assert find_undecided(UnitShape.of(clusters, observe(clusters), moments, effective=12.0)).tolist() == [1]


@pytest.mark.parametrize("higher_is_better", [True, False])
@pytest.mark.parametrize("first", [True, False])
def test_losses_on_few_units_speak_against_a_gain_and_wins_do_not(higher_is_better: bool, first: bool) -> None:
    scores = graded(30)
    better = 1 if higher_is_better else -1
    system = 0 if first else 1
    scores[:, system] += 60 * better
    lost, won = scores.copy(), scores.copy()
    lost[4, system] -= 900 * better  # still ahead by 30 a unit
    won[4, system] += 900 * better
    assert reasons_of(lost, higher_is_better=higher_is_better) == ["rare losses"]
    assert reasons_of(won, higher_is_better=higher_is_better) == [""]


def test_one_loss_among_many_wins_is_a_verdict() -> None:
    # By McNemar's exact test p = 4e-8: nothing else can be behind it.
    wins = np.stack([np.arange(30) < 29, np.arange(30) == 29], axis=1).astype(np.int64)
    assert reasons_of(wins) == [""]


def test_a_failure_of_another_system_leaves_pairs_undecided_that_show_none() -> None:
    scores = graded(50, systems=4)
    assert reasons_of(scores) == [""] * 6
    scores[7, 3] = 0
    pairs = measure_of(scores).pairs
    assert reasons_of(scores)[:2] == ["failures of others"] * 2
    for reason, pair in zip(reasons_of(scores), pairs.tolist(), strict=True):
        assert (reason == "failures of others") == (3 not in pair)


def test_with_a_hundred_units_a_failure_elsewhere_changes_nothing() -> None:
    scores = graded(100, systems=3)
    scores[7, 2] = -5000  # one unit carries the variance
    assert reasons_of(scores)[0] == ""
    assert reasons_of(scores[:99])[0] == "failures of others"


def test_a_hopeless_system_without_failures_leaves_the_others_their_verdicts() -> None:
    scores = graded(50, systems=3)
    scores[:, 2] -= 500
    scores[:, :2] += np.arange(50)[:, None] * 20  # units are hard or easy for the first two
    assert reasons_of(scores) == ["", "", ""]


def test_a_further_system_never_gives_a_verdict_that_a_pair_did_not_have() -> None:
    rng = np.random.default_rng(5)
    for units in (12, 25, 60):
        for _ in range(40):
            scores = np.rint(10 * rng.standard_t(2, size=(units, 5))).astype(np.int64)
            some, every = reasons_of(scores[:, :4]), reasons_of(scores)
            old = dict(zip(map(tuple, measure_of(scores[:, :4]).pairs.tolist()), some, strict=True))
            new = dict(zip(map(tuple, measure_of(scores).pairs.tolist()), every, strict=True))
            assert all(new[pair] for pair, reason in old.items() if reason)


def test_pairs_that_nothing_is_known_of_are_decided() -> None:
    unknown, none = np.full(2, np.nan), np.zeros(2, np.bool_)
    assert find_undecided(UnitShape(30, 30.0, np.array([25, 25]), unknown, unknown, none)).tolist() == [0, 0]
    assert find_undecided(UnitShape(500, None, np.array([25, 25]), np.zeros(2), np.array([500.0, 3.0]), none)).tolist() == [0, 0]


def test_pairs_of_few_discordant_units_neither_show_failures_nor_are_held_by_those_of_others() -> None:
    shape = UnitShape(50, 50.0, np.array([19, 30]), np.zeros(2), np.array([40.0, 3.0]), np.zeros(2, np.bool_))
    assert find_undecided(shape).tolist() == [0, 0]
    shape = UnitShape(50, 50.0, np.array([19, 30]), np.zeros(2), np.array([3.0, 40.0]), np.zeros(2, np.bool_))
    assert find_undecided(shape).tolist() == [0, 0]


@pytest.mark.parametrize("reason", UNDECIDED[1:])
def test_every_reason_says_how_many_units_there_are_and_what_would_help(reason: str) -> None:
    words = explain_undecided(reason, units=1234)
    assert "n = 1,234" in words
    assert "would help" in words


def test_every_reason_has_a_flag_in_cubes() -> None:
    assert ("none", *(reason.replace(" ", "-") for reason in UNDECIDED[1:])) == FLAGS


@pytest.mark.parametrize("at_once", [1, 25, 2**18])
def test_one_size_is_told_of_all_pairs_as_of_each_by_itself(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(undecided, "_AT_ONCE", at_once)
    rng = np.random.default_rng(5)
    statistics = np.stack([rng.integers(0, 2, (12, 9)), np.ones((12, 9), np.int64)], axis=2)
    statistics[:, 3:5, 0] *= 3  # by as much, if not by one
    statistics[4, 5, 0] = 7
    statistics[:, 6:8, 1] = 2
    statistics[1, 8, 1] = 5
    pairs = np.stack(np.triu_indices(9, 1), axis=1)
    measure = Measure(statistics, lambda sums: sums[0] / sums[1], "ratio", True, pairs, np.zeros(9, bool))
    expected = []
    for first, second in pairs.tolist():
        moved = np.abs(statistics[:, first, 0] - statistics[:, second, 0])
        below = np.unique(statistics[:, [first, second], 1])
        expected.append(len(below) == 1 and len(np.unique(moved[moved > 0])) < 2)
    assert undecided._differ_by_one_size(measure, pairs).tolist() == expected
    assert 0 < sum(expected) < len(pairs)
