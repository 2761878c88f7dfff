"""Shares of α add up to 1 at most, and looks at the same items by them are wrong no more often than α in a whole history."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from pipeline.inference.sequential.spending import Spending


@pytest.mark.parametrize("looks", [1, 7, 30])
def test_the_shares_of_a_period_are_equal_and_add_up_to_one(looks: int) -> None:
    shares = [Spending(looks).share(look) for look in range(1, looks + 1)]
    assert set(shares) == {1 / looks}


def test_endless_shares_fall_and_never_add_up_to_one() -> None:
    shares = [Spending(None).share(look) for look in range(1, 100_001)]
    assert all(a > b for a, b in pairwise(shares))
    # What is left is below the integral of 1/(2.11 n log² n) from the last look on.
    assert 0.9 < sum(shares) < sum(shares) + 1 / (2.11 * np.log(100_001)) < 1


def test_looks_are_counted_from_one_on() -> None:
    with pytest.raises(ValueError, match="at least one look"):
        Spending(0)
    with pytest.raises(ValueError, match="counted from 1"):
        Spending(30).share(0)


@pytest.mark.statistical
@pytest.mark.parametrize("looks", [30, None])
@pytest.mark.parametrize("share_of_items", [0.0, 0.9])
def test_thirty_nights_are_wrong_no_more_often_than_promised(looks: int | None, share_of_items: float) -> None:
    # Paired t-tests of 200 items, every night a new build that is as good; items of different nights are the same in part.
    histories, nights, items = 2000, 30, 200
    rng = np.random.default_rng(20261126)
    lasting = rng.normal(size=(histories, 1, items)) * np.sqrt(share_of_items)
    gains = lasting + rng.normal(size=(histories, nights, items)) * np.sqrt(1 - share_of_items)
    p = stats.ttest_1samp(gains, 0, axis=2).pvalue
    level = 0.05 * np.array([Spending(looks).share(night) for night in range(1, nights + 1)])
    wrong = int((p <= level).any(axis=1).sum())
    assert wrong <= stats.binom.isf(1e-6, histories, 0.05)
    # The same looks without any correction: the test is able to fail.
    assert (p <= 0.05).any(axis=1).sum() > stats.binom.isf(1e-6, histories, 0.05)
