"""The unit that a gain hangs on most, against jackknives that are done unit by unit in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.inference.direct.scores import gain_of_a_win
from pipeline.resampling.measures import Measure
from pipeline.resampling.standard_errors.influence import leave_one_out, pair_errors
from pipeline.resampling.standard_errors.leverage import pair_leverage

PAIRS = np.array([[0, 1], [1, 0], [0, 2]])


def measure(numerators: np.ndarray, denominators: np.ndarray | int = 1, *, factor: float = 1.0) -> Measure:
    statistics = np.stack([numerators, np.broadcast_to(denominators, numerators.shape)], axis=2).astype(np.int64)
    return Measure(statistics, lambda s: factor * s[0] / s[1], "ratio", True, PAIRS, np.zeros(3, bool))


def test_shares_and_gains_are_those_of_leaving_units_out_one_by_one() -> None:
    rng = np.random.default_rng(4)
    numerators, denominators = rng.integers(0, 40, (30, 3)), rng.integers(1, 9, (30, 3))
    numerators[17, 0] = 400
    given = measure(numerators, denominators)
    found = pair_leverage(leave_one_out(given.statistics, given.score), PAIRS)
    for k, (a, b) in enumerate(PAIRS.tolist()):
        rest = [np.delete(np.arange(30), i) for i in range(30)]
        gains = [
            numerators[r, a].sum() / denominators[r, a].sum() - numerators[r, b].sum() / denominators[r, b].sum() for r in rest
        ]
        squares = (np.array(gains) - np.mean(gains)) ** 2
        assert found.unit[k] == np.argmax(squares) == 17
        assert found.share[k] == pytest.approx(squares.max() / squares.sum(), rel=1e-12)
        assert found.without[k] == pytest.approx(gains[17], rel=1e-12)


def test_the_variance_that_is_left_is_that_of_the_other_units() -> None:
    """For means se² without the unit is n/(n − 2) · (1 − share · n/(n − 1)) of se²: what the report uses."""
    rng = np.random.default_rng(5)
    scores = np.round(rng.exponential(size=(20, 3)) * 100).astype(np.int64)
    given = measure(scores)
    left = leave_one_out(given.statistics, given.score)
    found, se = pair_leverage(left, PAIRS), pair_errors(left, PAIRS)
    for k, (a, b) in enumerate(PAIRS.tolist()):
        rest = np.delete(scores[:, a] - scores[:, b], found.unit[k])
        expected = rest.std(ddof=1) / np.sqrt(19)
        assert se[k] * np.sqrt(20 / 18 * (1 - found.share[k] * 20 / 19)) == pytest.approx(expected, rel=1e-9)


def test_within_strata_the_mean_is_that_of_the_stratum() -> None:
    x = np.array([0, 10, 100, 90, 0, 11])  # far from the others is not far from its stratum
    stratum = np.array([0, 1, 2, 2, 0, 1])
    numerators = np.stack([x, np.zeros(6, np.int64), np.zeros(6, np.int64)], axis=1)
    left = leave_one_out(measure(numerators).statistics, measure(numerators).score)
    found = pair_leverage(left, PAIRS, stratum=stratum)
    assert found.unit[0] in (2, 3)
    assert found.share[0] == pytest.approx(25 / 50.5, rel=1e-9)  # 5² twice, .5² twice, 0 twice


def test_a_unit_of_a_small_stratum_counts_for_more() -> None:
    """Two units half a point off count 2/1 times, three of which one is off by .6 count 3/2 times."""
    x = np.array([0, 10, 0, 0, 9])
    stratum = np.array([0, 0, 1, 1, 1])
    numerators = np.stack([x, np.zeros(5, np.int64), np.zeros(5, np.int64)], axis=1)
    left = leave_one_out(measure(numerators).statistics, measure(numerators).score)
    found = pair_leverage(left, PAIRS, stratum=stratum)
    within = [2 * 25, 2 * 25, 1.5 * 9, 1.5 * 9, 1.5 * 36]
    assert found.unit[0] == 4
    assert found.share[0] == pytest.approx(54 / sum(within), rel=1e-9)


def test_pairs_without_spread_have_no_such_unit() -> None:
    same = np.tile(np.arange(5)[:, None], (1, 3))
    found = pair_leverage(leave_one_out(measure(same).statistics, measure(same).score), PAIRS)
    assert np.isnan(found.share).all()
    assert (found.unit == -1).all()
    assert np.isnan(found.without).all()


def test_what_a_win_is_worth_gives_wins_and_losses_back() -> None:
    right = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 0]])
    given = measure(right, factor=100.0)
    assert gain_of_a_win(given).tolist() == [25.0, 25.0, 25.0]
    gain = 100 * (right[:, 0].mean() - right[:, 1].mean())
    assert gain == 25.0 * (2 - 1)
    assert gain_of_a_win(measure(5 * right)).tolist() == [1.25, 1.25, 1.25]  # 0 and 5 are two values too
    graded = right.copy()
    graded[0, 0] = 2
    assert np.isnan(gain_of_a_win(measure(graded))).tolist() == [True, True, True]
    unequal = np.tile(np.array([1, 1, 2, 1])[:, None], (1, 3))
    assert np.isnan(gain_of_a_win(measure(right, unequal))).all()
