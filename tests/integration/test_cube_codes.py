"""The codes that cubes store are the positions that the modules which compute them mean."""

from __future__ import annotations

from typing import get_args

from pipeline.cubes import variables
from pipeline.inference import p_values
from pipeline.inference.direct import result
from pipeline.inference.intervals.bootstrap_t import BOOTSTRAP_T
from pipeline.inference.intervals.proportions import PROPORTIONS
from pipeline.inference.intervals.replicate_intervals import INTERVAL_REASONS
from pipeline.inference.intervals.replicate_intervals import METHODS as PLAIN_INTERVALS
from pipeline.report.pairs.cube_facts import MISSING_TAILS
from pipeline.study.resampling import IntervalName
from pipeline.tasks.collect.kept_scores import SIMULTANEOUS


def test_methods_of_p_values_have_one_code() -> None:
    assert variables.METHODS == result.METHODS


def test_reasons_of_intervals_have_one_code() -> None:
    assert tuple(name.replace(" ", "-").replace("/", "-") or "none" for name in INTERVAL_REASONS) == variables.INTERVAL_REASONS


def test_a_study_may_ask_for_every_interval_there_is() -> None:
    assert set(get_args(IntervalName)) == {*PLAIN_INTERVALS, SIMULTANEOUS, *BOOTSTRAP_T, *PROPORTIONS}


def test_reasons_of_p_values_have_one_code_and_those_of_counts_are_among_them() -> None:
    *computed, counted = variables.P_REASONS
    assert tuple(computed) == tuple(name.replace(" ", "-") or "none" for name in result.REASONS)
    assert {name.replace(" ", "-") or "none" for name in p_values.REASONS} - set(computed) == {counted}


def test_labels_of_p_values_have_one_code() -> None:
    assert tuple(name.replace(",", "").replace(" ", "-") or "none" for name in result.LABELS) == variables.P_LABELS


def test_no_meaning_has_a_space_in_it() -> None:
    flags = [variable.flags for variable in variables.VARIABLES.values() if variable.flags]
    assert len(flags) > 5
    assert all(len(" ".join(words).split()) == len(words) for words in flags)


def test_a_report_has_words_for_every_tail_that_is_missing() -> None:
    silent = {"none", "enough-replicates", "by-definition"}
    assert set(MISSING_TAILS) == set(variables.TAIL_REASONS) - silent
