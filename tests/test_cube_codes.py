"""The codes that cubes store are the positions that the modules which compute them mean."""

from __future__ import annotations

from typing import get_args

from pipeline.cubes import variables
from pipeline.inference.direct import result
from pipeline.inference.intervals import INTERVAL_REASONS
from pipeline.inference.intervals import METHODS as PLAIN_INTERVALS
from pipeline.study.schema import IntervalName
from pipeline.tasks.kept import SIMULTANEOUS


def test_methods_of_p_values_have_one_code() -> None:
    assert variables.METHODS == result.METHODS


def test_reasons_of_intervals_have_one_code() -> None:
    assert tuple(name.replace(" ", "-") or "none" for name in INTERVAL_REASONS) == variables.INTERVAL_REASONS


def test_a_study_may_ask_for_every_interval_there_is() -> None:
    assert set(get_args(IntervalName)) == {*PLAIN_INTERVALS, SIMULTANEOUS}
