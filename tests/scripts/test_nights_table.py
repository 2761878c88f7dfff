"""The tables of `docs/nights.md`: losses are confirmed night by night, equal systems are equal, and the script prints both."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from nights_table import LEVELS, NIGHTS, alarms, gains, main, rules, simulate, tails


def test_a_loss_that_must_be_confirmed_is_one_on_nights_in_succession() -> None:
    t = np.array([[-9.0, 0.0, -9.0, -9.0, 9.0, -9.0]])
    levels = np.full(6, 0.05)
    assert alarms(t, levels, 1).tolist() == [[True, False, True, True, False, True]]
    assert alarms(t, levels, 2).tolist() == [[False, False, False, True, False, False]]
    assert alarms(t, levels, 1, both=True).tolist() == [[True, False, True, True, True, True]]


@pytest.mark.parametrize("share", [0.0, 0.9])
def test_gains_of_the_same_items_are_as_alike_from_night_to_night_as_is_said(share: float) -> None:
    t = simulate(np.random.default_rng(5), 300, share, 0.0)
    assert abs(np.corrcoef(t[:, 0], t[:, 1])[0, 1] - share) < 5 * (1 - share**2) / np.sqrt(300)  # a chance below 1e-6


def test_rules_share_out_one_alpha_but_the_first() -> None:
    sums = {name: float(levels.sum()) for name, levels, _ in rules()}
    assert sums.pop("every night at .05") == pytest.approx(NIGHTS * 0.05)
    assert all(0.03 < total <= 0.05 + 1e-12 for total in sums.values())


@pytest.mark.parametrize("kind", ["Gaussian", "right or wrong", "exponential", "total failures"])
def test_gains_of_equal_systems_have_a_mean_of_zero(kind: str) -> None:
    found = gains(np.random.default_rng(5), kind, 200, 2000)
    assert abs(found.mean()) < 5 * found.std() / np.sqrt(found.size)  # a chance of 6e-7 each


def test_t_keeps_small_levels_of_gaussian_gains_and_not_of_rare_failures() -> None:
    found = {(kind, items): times for kind, items, times in tails(np.random.default_rng(5), 1000) if items == 50}
    # 50 of 1000 are expected at .05, and 1.7 at .05/30: chances of other counts are below 1e-6.
    assert 0.4 < found["Gaussian", 50][0] < 1.8
    assert found["Gaussian", 50][1] * LEVELS[1] * 1000 < 12
    assert found["total failures", 50][1] * LEVELS[1] * 1000 >= 15


def test_the_script_prints_two_tables(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["nights_table.py", "--histories", "20"])
    main()
    first, second = (part.strip().splitlines() for part in capsys.readouterr().out.split("\n\n"))
    assert [len({row.count("|") for row in rows}) for rows in (first, second)] == [1, 1]
    assert (len(first), len(second)) == (2 + 4, 2 + 12)
    # A loss of .3 is four standard errors of 200 items: the first night of it is nearly always seen.
    assert first[2].split("|")[-2].strip() == "1"
